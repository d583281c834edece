/** The result of an import in words and figures, its undo, and the recent ones. */
import { Button } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Permitted } from '../../api/permitted.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount, formatCount, formatRelative } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import type { ImportOutcome, ImportState, PartialImport, Undoing } from './import-run.ts';
import type { ImportEntry } from './transfer-state.ts';
import { idOf, isRunning, lookAgain, undo } from './transfer-store.ts';
import styles from './transfer.module.css';

/** Returns the non-zero counts of an outcome. */
export function outcomeParts({ asserted, updated, unchanged, rules, failed }: ImportOutcome): string[] {
  const parts = [
    asserted > 0 && `${formatAmount(asserted, 'fact')} asserted`,
    updated > 0 && `${formatAmount(updated, 'fact')} updated`,
    unchanged > 0 && `${formatAmount(unchanged, 'fact')} known already`,
    rules > 0 && `${formatAmount(rules, 'rule')} taught`,
    failed > 0 && `${formatAmount(failed, 'row')} failed`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? ['nothing in it'] : parts;
}

/** Returns what an import that ended early has stored. */
export function partialImportWords(left: PartialImport): string {
  if (left.kind === 'unknown') return 'What it has stored could not be found out; it stays stored.';
  const { facts, isAtLeast } = left.stored;
  if (facts === 0) return 'It had asserted nothing new.';
  const amount = formatAmount(facts, 'fact');
  if (isAtLeast) return `More than ${amount} had been asserted by then, and stay stored until you undo it.`;
  return `${amount} had been asserted by then, and ${facts === 1 ? 'stays' : 'stay'} stored until you undo it.`;
}

/** Returns the failures as text to copy, one per line. */
export function failuresText({ errors }: ImportOutcome): string {
  return errors.map(({ line, message }) => `${line}\t${message}`).join('\n');
}

/** Returns the title of a finished import. */
export function outcomeTitle(state: ImportState, fileName: string): string {
  if (state.kind === 'done') return `Imported ${fileName}`;
  const isCancelled = state.kind === 'ended' && state.failure === null;
  return isCancelled ? `Cancelled ${fileName}` : `${fileName} broke off`;
}

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
    <dl className={`flex-wrap flex no-margin ${styles.counts}`}>
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
    <Permitted operation="undoImport">
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
    </Permitted>
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

/** Returns the result of an import on one line. */
export function entryWords({ state, undoing }: ImportEntry): string {
  if (undoing.kind === 'undone') {
    const { retracted, kept } = undoing.undone;
    return `undone: ${formatAmount(retracted, 'fact')} retracted${kept.length === 0 ? '' : `, ${kept.length} kept`}`;
  }
  if (undoing.kind === 'failed') return `not undone: ${undoing.failure.detail}`;
  if (state.kind === 'done') return outcomeParts(state.outcome).join(', ');
  if (state.kind !== 'ended') return 'running';
  const { failure, left } = state;
  const how = failure === null ? 'cancelled' : 'broke off';
  if (left.kind === 'unknown') return `${how}; what is stored is not known`;
  const { facts, isAtLeast } = left.stored;
  return `${how}, ${isAtLeast ? 'more than ' : ''}${formatAmount(facts, 'fact')} stored`;
}

/** Lists the imports of this window with result and undo. */
export function RecentImports({ entries }: { entries: readonly ImportEntry[] }) {
  const past = entries.filter((entry) => !isRunning(entry));
  if (past.length === 0) return null;
  const now = Date.now();
  return (
    <section className={`flex-column gap-6 ${styles.recent}`} aria-labelledby="recent-imports">
      <h3 id="recent-imports">Imports of this window</h3>
      <ul>
        {past.map((entry) => (
          <li key={entry.number}>
            <span className="truncate">{entry.plan.file.name}</span>
            <span className={`dim truncate ${styles.grow}`} title={entryWords(entry)}>
              {entryWords(entry)}
            </span>
            <span className="dim">{formatRelative(entry.startedAt, now)}</span>
            <UndoButton entry={entry} size="compact-xs" />
          </li>
        ))}
      </ul>
    </section>
  );
}
