import { Button } from '@mantine/core';
import { IconSchool } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import { renderRule } from '../../../engine/language/print.ts';
import { recordAsserted, unknownFacts } from '../../api/asserted-facts.ts';
import { invalidate, topics } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeLabel } from '../../api/space.ts';
import { formatAmount } from '../../ui/format.ts';
import { Guarded } from '../../api/permitted.tsx';
import { RefusalShown, TestsFirst, useTestsFirst } from '../../editor/tests-first.tsx';
import { notifyDone, notifyHint } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import { EditorBody, useValidation } from './editor-body.tsx';
import { recordTaught } from './rule-steps.ts';
import { type Lesson, lessonOf } from './teaching.ts';
import { TryButton, TryPanel, useTryIsOpen, WithTry } from './try-panel.tsx';

/** Maximum number of hint messages at a time. */
const maxHintsShown = 3;

interface Learnt {
  facts: number;
  rules: number;
  /** Statements that were known already. */
  known: number;
  /** Likely mistakes in them. */
  hints: string[];
}

function useTeach() {
  const session = useSession();
  const { call, space, endpoint } = session;
  const client = useQueryClient();
  const runTests = useTestsFirst();
  return useMutation({
    mutationFn: async ({ facts, rules }: Lesson) => {
      const scope = scopeFieldsOf(space.scope);
      const learnt: Learnt = { facts: 0, rules: 0, known: 0, hints: [] };
      if (facts.length > 0) {
        const body = { facts: facts.map((fact) => ({ ...fact, ...scope })) };
        const unknown = await unknownFacts(session, body.facts);
        const outcome = await call('assertFacts', { body }, { isWanted: true });
        recordAsserted(
          session,
          `asserted ${formatAmount(facts.length, 'fact')}`,
          unknown,
          outcome.generation,
        );
        learnt.facts = outcome.asserted;
        learnt.known += outcome.updated + outcome.unchanged;
        learnt.hints.push(...(outcome.hints ?? []));
      }
      for (const rule of rules) {
        const outcome = await call(
          'assertRule',
          { body: { text: renderRule(rule), ...scope, runTests } },
          { isWanted: true },
        );
        if (outcome.status === 'asserted') {
          const plain = { name: null, description: null, enabled: true, scope: scope.scope ?? null };
          recordTaught(session, outcome, { text: outcome.rule, ...plain });
          learnt.rules += 1;
        } else learnt.known += 1;
        learnt.hints.push(...(outcome.hints ?? []));
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

interface NewRulesProps {
  /** The text and its setter. */
  draft: readonly [text: string, set: (text: string) => void];
}

/** Parses the text shortly after typing, so that a long one does not delay keystrokes. */
function useLesson(text: string): Lesson {
  const settling = useDeferredValue(text);
  return useMemo(() => lessonOf(settling), [settling]);
}

function tell(learnt: Learnt): void {
  notifyDone(inWords(learnt));
  for (const hint of new Set(learnt.hints.slice(0, maxHintsShown))) notifyHint(hint);
}

/** The scope that is taught into, and the ways to look before. */
function Before({ isTrying, onTry }: { isTrying: boolean; onTry: (isTrying: boolean) => void }) {
  const { scope } = useSession().space;
  return (
    <>
      {scope.kind === 'named' && <span className="dim">into scope {scopeLabel(scope)}</span>}
      <TestsFirst />
      <TryButton isOpen={isTrying} onOpen={onTry} />
    </>
  );
}

/**
 * Shows the editor that teaches new statements.
 *
 * It sends them one by one, so that a refused one does not block those before it. After a refusal the whole text
 * stays: teaching a known statement again changes nothing.
 */
export function NewRules({ draft: [text, setText] }: NewRulesProps) {
  const { space } = useSession();
  const [isTrying, setIsTrying] = useTryIsOpen();
  const { diagnostics, of } = useValidation(text);
  const teach = useTeach();
  const lesson = useLesson(text);
  const hasErrors = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  const reason = useReason(lesson.rules.length > 0 ? 'assertRule' : 'assertFacts');

  function onTeach(written: string): void {
    const whole = lessonOf(written);
    if (!whole.isReady || reason !== null || teach.isPending) return;
    // Errors of an older text block nothing: the service checks everything anyway.
    if (hasErrors && of === written) return;
    teach.mutate(whole, {
      onSuccess: (learnt) => {
        setText('');
        tell(learnt);
      },
    });
  }

  const editor = (
    <PaneFrame
      scroll="own"
      label="New rules"
      title={<h1 className="pane-title">New rules</h1>}
      actions={
        <>
          <Before isTrying={isTrying} onTry={setIsTrying} />
          <Guarded reason={reason}>
            <Button
              leftSection={<IconSchool size={14} aria-hidden />}
              rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
              disabled={!lesson.isReady || hasErrors}
              loading={teach.isPending}
              onClick={() => onTeach(text)}
            >
              Teach
            </Button>
          </Guarded>
        </>
      }
    >
      <div className="flex-column full-height">
        <EditorBody
          label="New rules and facts"
          placeholder="grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)."
          text={text}
          onText={setText}
          diagnostics={diagnostics}
          onSubmit={onTeach}
          {...(teach.error === null ? {} : { notice: <RefusalShown failure={apiFailureOf(teach.error)} /> })}
        />
      </div>
    </PaneFrame>
  );
  return (
    <WithTry
      editor={editor}
      isOpen={isTrying}
      panel={
        <TryPanel
          trial={{ text, scope: scopeFieldsOf(space.scope), instead: null }}
          hasErrors={hasErrors}
          whatIf={{ add: text }}
          onClose={() => setIsTrying(false)}
        />
      }
    />
  );
}
