/** The result of an import, and its undo. */
import { Button } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import type { ImportOutcome, Undoing } from './import-run.ts';
import { failuresText, partialImportWords } from './outcome-words.ts';
import { idOf, type ImportEntry, lookAgain, undo } from './transfer-store.ts';
import styles from './transfer.module.css';

/** Shows the counts of an import or check, and the rows that failed. */
function Counts({ outcome, wouldBe }: { outcome: ImportOutcome; wouldBe: boolean }) {
  const { asserted, updated, unchanged, rules, failed } = outcome;
  const counts = [
    { label: wouldBe ? 'would be asserted' : 'asserted', count: asserted, isShown: true },
    { label: wouldBe ? 'would be updated' : 'updated', count: updated, isShown: updated > 0 },
    { label: 'known already', count: unchanged, isShown: unchanged > 0 },
    { label: wouldBe ? 'rules would be taught' : 'rules taught', count: rules, isShown: rules > 0 },
    { label: wouldBe ? 'would fail' : 'failed', count: failed, isShown: true },
  ];
  return (
    <dl className={styles.counts}>
      {counts
        .filter(({ isShown }) => isShown)
        .map(({ label, count }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd
              className={`number ${label.endsWith('fail') || label === 'failed' ? (count > 0 ? 'text-bad' : '') : ''}`}
            >
              {formatCount(count)}
            </dd>
          </div>
        ))}
    </dl>
  );
}

function Failures({ outcome, wouldBe }: { outcome: ImportOutcome; wouldBe: boolean }) {
  const { errors, failed } = outcome;
  if (errors.length === 0) return null;
  const what = wouldBe ? 'would fail' : 'failed';
  return (
    <>
      <div className="flex-row spread gap-8">
        <span className={styles.small}>
          {errors.length < failed
            ? `The first ${formatCount(errors.length)} of ${formatAmount(failed, 'row')} that ${what}`
            : `${formatAmount(failed, 'row')} that ${what}`}
        </span>
        <CopyButton text={() => failuresText(outcome)} label="Copy the rows that failed" />
      </div>
      <div
        className={`${styles.tablePlace} ${styles.failures}`}
        tabIndex={0}
        role="region"
        aria-label="Rows that failed"
      >
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Line</th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {errors.map(({ line, message }, index) => (
              // A line can fail more than once.
              <tr key={`${line} ${index}`}>
                <td className="number">{line}</td>
                <td className={styles.message}>{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const longestKept = 100;

/** Shows the button that undoes an import. */
export function UndoButton({ entry, size }: { entry: ImportEntry; size?: 'compact-xs' }) {
  const client = useQueryClient();
  const { undoing } = entry;
  if (idOf(entry) === null || undoing.kind === 'undone') return null;
  return (
    <Button
      variant="default"
      {...(size === undefined ? {} : { size })}
      leftSection={<IconArrowBackUp size={14} aria-hidden />}
      loading={undoing.kind === 'running'}
      aria-label={`Undo the import of ${entry.plan.file.name}`}
      onClick={() => void undo(client, entry)}
    >
      {size === undefined ? 'Undo this import' : 'Undo'}
    </Button>
  );
}

function Undone({ undoing, hasRules }: { undoing: Undoing; hasRules: boolean }) {
  if (undoing.kind === 'failed') return <ProblemNotice failure={undoing.failure} />;
  if (undoing.kind !== 'undone') return null;
  const { retracted, kept } = undoing.undone;
  return (
    <div role="status">
      <p>
        Undone: {formatAmount(retracted, 'fact')} retracted
        {kept.length > 0 &&
          `; ${formatAmount(kept.length, 'fact')} kept, since ${kept.length === 1 ? 'it was' : 'they were'} changed after the import`}
        .{hasRules && ' Rules that it taught stay.'}
      </p>
      {kept.length > 0 && (
        <ul className={styles.kept} tabIndex={0} aria-label="Facts that were kept">
          {kept.slice(0, longestKept).map((atom) => (
            <li key={atom}>
              <CodeText text={atom} />
            </li>
          ))}
          {kept.length > longestKept && <li>and {formatAmount(kept.length - longestKept, 'other')}</li>}
        </ul>
      )}
    </div>
  );
}

/** Shows the result of an import. */
export function ImportResult({ entry }: { entry: ImportEntry }) {
  const { state, undoing, plan } = entry;
  if (state.kind === 'done') {
    const { outcome } = state;
    return (
      <div className={styles.outcome}>
        <h3 role="status">{plan.isDryRun ? 'Checked; nothing was stored' : `Imported ${plan.file.name}`}</h3>
        <Counts outcome={outcome} wouldBe={plan.isDryRun} />
        <Failures outcome={outcome} wouldBe={plan.isDryRun} />
        <Undone undoing={undoing} hasRules={outcome.rules > 0} />
      </div>
    );
  }
  if (state.kind !== 'ended') return null;
  const { failure, left } = state;
  const what = plan.isDryRun ? 'check' : 'import';
  return (
    <>
      {failure !== null && <ProblemNotice failure={failure} />}
      {(failure === null || !plan.isDryRun) && (
        <div className={styles.outcome}>
          {failure === null && <h3 role="status">The {what} was cancelled</h3>}
          {!plan.isDryRun && <p>{partialImportWords(left)}</p>}
          {left.kind === 'unknown' && (
            <div>
              <Button variant="default" onClick={() => void lookAgain(entry)}>
                Look again
              </Button>
            </div>
          )}
          <Undone undoing={undoing} hasRules={false} />
        </div>
      )}
    </>
  );
}
