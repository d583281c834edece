import { Button, Group, Modal } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { invalidate, topics } from '../../api/live.ts';
import { Guarded } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { useRunAtOnce } from '../../api/use-run.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { consequencesInWords } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProblemNotice, Running } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { Tag } from '../../ui/tags.tsx';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import type { DocumentChange } from './document-changes.ts';
import { changeKnowledge, type KnowledgeChange, tryKnowledge } from './knowledge-step.ts';
import { blockOf, type DocumentRule } from './rule-document.ts';
import styles from './rules.module.css';

const words = { taught: 'new', changed: 'changed', removed: 'removed' } as const;
const tones = { taught: 'good', changed: 'warn', removed: 'bad' } as const;

function versionsOf(change: DocumentChange): { before: DocumentRule | null; after: DocumentRule | null } {
  if (change.kind === 'taught') return { before: null, after: change.entry };
  if (change.kind === 'removed') return { before: change.base, after: null };
  return { before: change.base, after: change.entry };
}

/** Returns changes of a document as changes of rules. */
export function ruleChangesOf(changes: readonly DocumentChange[]): KnowledgeChange {
  const rules = changes.map((change) => {
    const place = change.kind === 'taught' ? null : { id: change.base.id, etag: change.base.etag };
    return { place, ...versionsOf(change) };
  });
  return { rules, facts: [], since: null };
}

/** Returns `2 new, 1 changed and 1 removed`. */
export function ruleChangesInWords(changes: readonly DocumentChange[]): string {
  const kinds = ['taught', 'changed', 'removed'] as const;
  const parts = kinds.flatMap((kind) => {
    const count = changes.filter((change) => change.kind === kind).length;
    return count === 0 ? [] : [`${formatCount(count)} ${words[kind]}`];
  });
  const last = parts.pop() ?? 'no change';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}

/** Maximum number of changes shown; the rest is counted. */
const maxShown = 200;

/** A rule with its comments, line by line: each is highlighted alone. */
function BlockText({ rule }: { rule: DocumentRule }) {
  return blockOf(rule)
    .split('\n')
    .map((line, at) => (
      // The lines of one block never change places.
      <div key={`${at} ${line}`}>
        <CodeText text={line} />
      </div>
    ));
}

function ChangeLines({ change }: { change: DocumentChange }) {
  const { before, after } = versionsOf(change);
  return (
    <li className={styles.savedChange}>
      <Tag tone={tones[change.kind]}>{words[change.kind]}</Tag>
      <div className="flex-column gap-2 rest-width">
        {before !== null && (
          <del className={styles.versionBefore} aria-label="before">
            <BlockText rule={before} />
          </del>
        )}
        {after !== null && (
          <ins className={styles.versionAfter} aria-label="after">
            <BlockText rule={after} />
          </ins>
        )}
      </div>
    </li>
  );
}

interface SaveDialogProps {
  changes: readonly DocumentChange[];
  /** Number of comments that would be dropped. */
  dropped: number;
  /** Called once the changes are stored. */
  onSaved: () => Promise<void>;
  onClose: () => void;
}

/** Shows what saving the document would do, with its consequences, and saves it. */
export function SaveRulesDialog({ changes, dropped, onSaved, onClose }: SaveDialogProps) {
  const session = useSession();
  const client = useQueryClient();
  const reason = useReason('updateRule');
  useReturnedFocus();
  const trial = useRunAtOnce(
    useCallback(
      (signal: AbortSignal) => tryKnowledge(session, ruleChangesOf(changes), signal),
      [session, changes],
    ),
  );
  const save = useMutation({
    mutationFn: () =>
      changeKnowledge(session, `saved rules: ${ruleChangesInWords(changes)}`, ruleChangesOf(changes)),
    onSettled: () => invalidate(client, session.endpoint, topics),
  });
  const { result, failure, runningSince } = trial.state;
  function onSave(): void {
    save.mutate(undefined, {
      onSuccess: () => {
        notifyDone(`Saved: ${ruleChangesInWords(changes)}`);
        void onSaved();
      },
    });
  }
  return (
    <Modal opened onClose={onClose} title="Save the rules" size="xl">
      <div className="flex-column gap-12">
        <p className="no-margin">
          <strong>{ruleChangesInWords(changes)}</strong>, in one transaction. Undo takes all of it back.
          {dropped > 0 &&
            ` ${formatAmount(dropped, 'comment')} that ${dropped === 1 ? 'is' : 'are'} not directly above a rule will be lost.`}
        </p>
        <ul className={styles.savedChanges} aria-label="Changes" tabIndex={0}>
          {changes.slice(0, maxShown).map((change) => (
            <ChangeLines
              key={`${change.kind} ${change.kind === 'taught' ? change.entry.block.start : change.base.id}`}
              change={change}
            />
          ))}
          {changes.length > maxShown && (
            <li className={`dim ${styles.more}`}>and {formatCount(changes.length - maxShown)} more</li>
          )}
        </ul>
        {runningSince === null ? (
          <p role="status" className="number no-margin">
            {result !== null && consequencesInWords(result)}
          </p>
        ) : (
          <Running what="Working out what would follow" since={runningSince} onCancel={trial.cancel} />
        )}
        {save.error !== null ? (
          <ProblemNotice failure={apiFailureOf(save.error)} />
        ) : (
          failure !== null && <ProblemNotice failure={failure} onRetry={trial.again} />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Guarded reason={reason}>
            <Button data-autofocus loading={save.isPending} onClick={onSave}>
              Save
            </Button>
          </Guarded>
        </Group>
      </div>
    </Modal>
  );
}
