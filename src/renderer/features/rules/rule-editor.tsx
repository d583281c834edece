/**
 * The editor of the Rules view: new statements that are taught, or one stored rule that is saved.
 *
 * Teaching goes statement by statement, so that one that is refused does not hold up those before it; what is
 * left to teach stays in the editor.
 */
import { Button, TextInput } from '@mantine/core';
import { IconDeviceFloppy, IconSchool, IconX } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { renderRule } from '../../../engine/logic/print.ts';
import { invalidate, topics } from '../../api/live.ts';
import { failureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, scopeFieldsOfStored, scopeLabel } from '../../api/space.ts';
import type { CodeEditorHandle } from '../../editor/code-editor.tsx';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.tsx';
import { formatAmount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Keys } from '../../ui/tags.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { ProblemList } from './problem-list.tsx';
import styles from './rules.module.css';
import { type Lesson, lessonOf, ruleForEditor } from './teaching.ts';
import { useValidation } from './use-validation.ts';

/** Teaches a lesson. Resolves with what was new and what was known. */
function useTeach() {
  const { call, space, endpoint } = useSession();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ facts, rules }: Lesson) => {
      const scope = scopeFieldsOf(space.scope);
      const done = { facts: 0, rules: 0, known: 0 };
      if (facts.length > 0) {
        const outcome = await call('assertFacts', {
          body: { facts: facts.map((fact) => ({ ...fact, ...scope })) },
        });
        done.facts = outcome.asserted;
        done.known += outcome.updated + outcome.unchanged;
      }
      for (const rule of rules) {
        const outcome = await call('assertRule', { body: { text: renderRule(rule), ...scope } });
        if (outcome.status === 'asserted') done.rules += 1;
        else done.known += 1;
      }
      return done;
    },
    onSettled: () => invalidate(client, endpoint, topics),
  });
}

function outcomeText({ facts, rules, known }: { facts: number; rules: number; known: number }): string {
  const parts = [
    rules > 0 ? formatAmount(rules, 'rule') : null,
    facts > 0 ? formatAmount(facts, 'fact') : null,
  ].filter((part) => part !== null);
  const learnt = parts.length === 0 ? 'Nothing new' : `Learnt ${parts.join(' and ')}`;
  return known === 0 ? learnt : `${learnt}; ${known} known already`;
}

/** New statements. */
export function NewRules() {
  const { space } = useSession();
  const [text, setText] = useDraft(`rules.${space.database}.${space.tenant}`);
  const diagnostics = useValidation(text);
  const teach = useTeach();
  const editor = useRef<CodeEditorHandle>(null);
  const lesson = lessonOf(text);
  const hasErrors = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  const isReady = lesson.isReady && !hasErrors;

  function onTeach(): void {
    if (!isReady || teach.isPending) return;
    teach.mutate(lesson, {
      onSuccess: (done) => {
        setText('');
        notifyDone(outcomeText(done));
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
          <Button
            leftSection={<IconSchool size={14} aria-hidden />}
            rightSection={<Keys keys="Mod+Enter" look="plain" />}
            disabled={!isReady}
            loading={teach.isPending}
            onClick={onTeach}
          >
            Teach
          </Button>
        </>
      }
    >
      <div className={styles.editor}>
        <div className={styles.code}>
          <LazyCodeEditor
            label="New rules and facts"
            placeholder={'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).'}
            value={text}
            onChange={setText}
            diagnostics={diagnostics}
            onSubmit={onTeach}
            handle={editor}
            autoFocus
          />
        </div>
        {teach.error !== null && (
          <div className={styles.notice}>
            <ProblemNotice failure={failureOf(teach.error)} />
          </div>
        )}
        <ProblemList
          diagnostics={diagnostics}
          onGoTo={(line, column) => editor.current?.reveal(line, column)}
        />
      </div>
    </PaneFrame>
  );
}

/** One stored rule. */
export function EditRule({ rule, onClose }: { rule: StoredRule; onClose: () => void }) {
  const stored = ruleForEditor({ head: rule.head, body: rule.body });
  const [text, setText] = useState(stored);
  const [name, setName] = useState(rule.name ?? '');
  const [description, setDescription] = useState(rule.description ?? '');
  // The rule itself is a duplicate of what is stored: that is no problem here.
  const diagnostics = useValidation(text).filter((diagnostic) => diagnostic.code !== 'duplicate');
  const save = useWrite('updateRule');
  const editor = useRef<CodeEditorHandle>(null);
  const lesson = lessonOf(text);
  const [only, second] = lesson.rules;
  const isOneRule = lesson.isReady && only !== undefined && second === undefined && lesson.facts.length === 0;
  const isChanged = text !== stored || name !== (rule.name ?? '') || description !== (rule.description ?? '');

  useEffect(() => {
    if (!isChanged) setText(stored);
    // Somebody else changed the rule: shown where nothing is being written.
  }, [stored]);

  function onSave(): void {
    if (!isOneRule || !isChanged) return;
    save.mutate(
      {
        params: { id: rule.id },
        body: {
          text: renderRule(only),
          name,
          description,
          ...scopeFieldsOfStored(rule.scope),
          enabled: rule.enabled,
        },
      },
      {
        onSuccess: ({ status }) => {
          notifyDone(status === 'unchanged' ? 'The rule was like that already' : 'Saved');
          onClose();
        },
      },
    );
  }

  return (
    <PaneFrame
      scroll="own"
      label="Rule"
      title={<h1 className={styles.viewTitle}>Rule</h1>}
      actions={
        <>
          <Button variant="default" leftSection={<IconX size={14} aria-hidden />} onClick={onClose}>
            {isChanged ? 'Discard' : 'Close'}
          </Button>
          <Button
            leftSection={<IconDeviceFloppy size={14} aria-hidden />}
            rightSection={<Keys keys="Mod+Enter" look="plain" />}
            disabled={!isOneRule || !isChanged}
            loading={save.isPending}
            onClick={onSave}
          >
            Save
          </Button>
        </>
      }
    >
      <div className={styles.editor}>
        <div className={styles.names}>
          <TextInput
            aria-label="Name"
            placeholder="Name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            aria-label="Description"
            placeholder="Description"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
        </div>
        <div className={styles.code}>
          <LazyCodeEditor
            label="Rule"
            value={text}
            onChange={setText}
            diagnostics={diagnostics}
            onSubmit={onSave}
            handle={editor}
            autoFocus
          />
        </div>
        {(save.error !== null || (lesson.isReady && !isOneRule)) && (
          <div className={styles.notice}>
            {save.error !== null ? (
              <ProblemNotice failure={failureOf(save.error)} />
            ) : (
              <span className="dim">Here stands one rule. New ones are taught with the rule closed.</span>
            )}
          </div>
        )}
        <ProblemList
          diagnostics={diagnostics}
          onGoTo={(line, column) => editor.current?.reveal(line, column)}
        />
      </div>
    </PaneFrame>
  );
}
