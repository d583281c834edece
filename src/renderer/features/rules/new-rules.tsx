/**
 * New statements, taught from the editor.
 *
 * Teaching goes statement by statement, so that one that is refused does not hold up those before it. After a
 * refusal all stays in the editor: teaching what is known again changes nothing.
 */
import { Button, Tooltip } from '@mantine/core';
import { IconFlask, IconSchool } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { renderRule } from '../../../engine/logic/print.ts';
import { invalidate, topics } from '../../api/live.ts';
import { failureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeLabel } from '../../api/space.ts';
import { formatAmount } from '../../ui/format.ts';
import { Guarded } from '../../ui/guarded.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Keys } from '../../ui/tags.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { EditorBody } from './editor-body.tsx';
import styles from './rules.module.css';
import { type Lesson, lessonOf } from './teaching.ts';
import { useValidation } from './use-validation.ts';

interface Learnt {
  facts: number;
  rules: number;
  /** Statements that were known before. */
  known: number;
}

function useTeach() {
  const { call, space, endpoint } = useSession();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ facts, rules }: Lesson) => {
      const scope = scopeFieldsOf(space.scope);
      const learnt: Learnt = { facts: 0, rules: 0, known: 0 };
      if (facts.length > 0) {
        const body = { facts: facts.map((fact) => ({ ...fact, ...scope })) };
        const outcome = await call('assertFacts', { body }, { isWanted: true });
        learnt.facts = outcome.asserted;
        learnt.known += outcome.updated + outcome.unchanged;
      }
      for (const rule of rules) {
        const outcome = await call(
          'assertRule',
          { body: { text: renderRule(rule), ...scope } },
          { isWanted: true },
        );
        if (outcome.status === 'asserted') learnt.rules += 1;
        else learnt.known += 1;
      }
      return learnt;
    },
    onSettled: () => invalidate(client, endpoint, topics),
  });
}

function inWords({ facts, rules, known }: Learnt): string {
  const parts = [
    rules > 0 ? formatAmount(rules, 'rule') : null,
    facts > 0 ? formatAmount(facts, 'fact') : null,
  ].filter((part) => part !== null);
  const learnt = parts.length === 0 ? 'Nothing new' : `Learnt ${parts.join(' and ')}`;
  return known === 0 ? learnt : `${learnt}; ${known} known already`;
}

export function NewRules() {
  const { space } = useSession();
  const navigate = useNavigate();
  const [text, setText] = useDraft(`rules.${space.database}.${space.tenant}`);
  const diagnostics = useValidation(text);
  const teach = useTeach();
  const lesson = lessonOf(text);
  const hasErrors = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  const reason = useReason(lesson.rules.length > 0 ? 'assertRule' : 'assertFacts');
  const isReady = lesson.isReady && !hasErrors;

  function onTeach(): void {
    if (!isReady || reason !== null || teach.isPending) return;
    teach.mutate(lesson, {
      onSuccess: (learnt) => {
        setText('');
        notifyDone(inWords(learnt));
      },
    });
  }

  return (
    <PaneFrame
      scroll="own"
      label="New rules"
      title={<h1 className={styles.viewTitle}>New rules</h1>}
      actions={
        <>
          {space.scope.kind === 'named' && <span className="dim">into scope {scopeLabel(space.scope)}</span>}
          <Tooltip label="See what would follow, without teaching it">
            <Button
              variant="default"
              leftSection={<IconFlask size={14} aria-hidden />}
              disabled={!isReady}
              onClick={() => void navigate({ to: '/what-if', search: { add: text } })}
            >
              What if
            </Button>
          </Tooltip>
          <Guarded reason={reason}>
            <Button
              leftSection={<IconSchool size={14} aria-hidden />}
              rightSection={<Keys keys="Mod+Enter" look="plain" />}
              disabled={!isReady}
              loading={teach.isPending}
              onClick={onTeach}
            >
              Teach
            </Button>
          </Guarded>
        </>
      }
    >
      <div className={styles.editor}>
        <EditorBody
          label="New rules and facts"
          placeholder="grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)."
          text={text}
          onText={setText}
          diagnostics={diagnostics}
          onSubmit={onTeach}
          {...(teach.error === null ? {} : { notice: <ProblemNotice failure={failureOf(teach.error)} /> })}
        />
      </div>
    </PaneFrame>
  );
}
