/** The result of an import in words and figures, its undo, and the recent ones. */
import { Button } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Permitted } from '../../api/permitted.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount, formatCount, formatRelative } from '../../ui/format.ts';
import { Banner, ProblemNotice } from '../../ui/notices.tsx';
import type { ImportOutcome, ImportPlan, ImportState, PartialImport, Undoing } from './import-run.ts';
import type { ImportEntry } from './transfer-state.ts';
import { idOf, isRunning, lookAgain, undo } from './transfer-store.ts';
import styles from './transfer.module.css';

/** Returns the non-zero counts of an outcome. */
export function outcomeParts(outcome: ImportOutcome): string[] {
  const { asserted, updated, unchanged, rules, declarations, constraints, aliases, failed } = outcome;
  const parts = [
    outcome.refusal !== null && 'refused: it violates constraints',
    asserted > 0 &&
      `${formatAmount(asserted, 'fact')} ${outcome.refusal === null ? 'asserted' : 'retracted again'}`,
    updated > 0 && `${formatAmount(updated, 'fact')} updated`,
    unchanged > 0 && `${formatAmount(unchanged, 'fact')} known already`,
    rules > 0 && `${formatAmount(rules, 'rule')} taught`,
    declarations > 0 && `${formatAmount(declarations, 'predicate')} declared`,
    constraints > 0 && `${formatAmount(constraints, 'constraint')} added`,
    aliases > 0 && `${formatAmount(aliases, 'alias', 'aliases')} given`,
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
  if (state.kind === 'done')
    return state.outcome.refusal === null ? `Imported ${fileName}` : `${fileName} was refused`;
  const isCancelled = state.kind === 'ended' && state.failure === null;
  return isCancelled ? `Cancelled ${fileName}` : `${fileName} broke off`;
}

/** Shows the counts of an import or check, and the rows that failed. */
function Counts({ outcome, wouldBe }: { outcome: ImportOutcome; wouldBe: boolean }) {
  const { asserted, updated, unchanged, rules, declarations, constraints, aliases, failed } = outcome;
  const isRefused = outcome.refusal !== null && !wouldBe;
  const counts = [
    {
      label: wouldBe ? 'would be asserted' : isRefused ? 'asserted, then retracted' : 'asserted',
      count: asserted,
      isShown: true,
    },
    { label: wouldBe ? 'would be updated' : 'updated', count: updated, isShown: updated > 0 },
    { label: 'known already', count: unchanged, isShown: unchanged > 0 },
    { label: wouldBe ? 'rules would be taught' : 'rules taught', count: rules, isShown: rules > 0 },
    {
      label: wouldBe ? 'would be declared' : 'declared',
      count: declarations,
      isShown: declarations > 0,
    },
    {
      label: wouldBe ? 'constraints would be added' : 'constraints added',
      count: constraints,
      isShown: constraints > 0,
    },
    { label: wouldBe ? 'aliases would be given' : 'aliases given', count: aliases, isShown: aliases > 0 },
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

/** Violations that are listed. */
const maxShown = 20;

/** Says why none of the facts stays, with what they violate. */
function Refusal({ outcome, wouldBe }: { outcome: ImportOutcome; wouldBe: boolean }) {
  const { refusal, isStopped } = outcome;
  if (refusal === null)
    return isStopped ? (
      <Banner>
        A quota {wouldBe ? 'would end' : 'ended'} the import at the last row that failed: what was before it{' '}
        {wouldBe ? 'would be' : 'is'} stored.
      </Banner>
    ) : null;
  const { violations, count } = refusal;
  const shown = violations.slice(0, maxShown);
  return (
    <>
      <Banner>
        {wouldBe ? 'The import would be refused' : 'The import was refused'}: its facts violate{' '}
        {formatAmount(count, 'constraint instance')}, and what it newly asserted{' '}
        {wouldBe ? 'would be' : 'was'} retracted. Change the file, or set the constraints to warn.
      </Banner>
      <ul className={styles.kept} tabIndex={0} aria-label="Violated constraints">
        {shown.map(({ constraint, name, scope, instance }) => (
          <li key={`${constraint} ${scope} ${instance}`}>
            {name}: <CodeText text={instance} />
          </li>
        ))}
        {count > shown.length && <li>and {formatAmount(count - shown.length, 'other')}</li>}
      </ul>
    </>
  );
}

/** Lists what of a class model became neither declaration nor constraint. */
function LeftOut({ leftOut }: ImportOutcome) {
  if (leftOut.length === 0) return null;
  return (
    <>
      <span className={styles.small}>
        Of the class model, this became neither declaration nor constraint; its triples are facts:
      </span>
      <ul className={styles.kept} tabIndex={0} aria-label="Left out of the class model">
        {leftOut.map((what, at) => (
          // Two parts may be described alike.
          <li key={`${at} ${what}`}>{what}</li>
        ))}
      </ul>
    </>
  );
}

const longestKept = 100;

/** Shows the button that undoes an import. */
export function UndoButton({ entry, size }: { entry: ImportEntry; size?: 'compact-xs' }) {
  const client = useQueryClient();
  const { undoing } = entry;
  const isRefused = entry.state.kind === 'done' && entry.state.outcome.refusal !== null;
  if (idOf(entry) === null || isRefused || undoing.kind === 'undone') return null;
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

/** What of an import an undo leaves, in words; null: nothing. */
function stayingWords(
  { rules, declarations, constraints, aliases }: ImportOutcome,
  plan: ImportPlan,
): string | null {
  const kinds = [
    rules > 0 && 'rules',
    (declarations > 0 || plan.declaration !== null) && 'declarations',
    constraints > 0 && 'constraints',
    aliases > 0 && 'aliases',
  ].filter((kind) => kind !== false);
  return kinds.length === 0 ? null : `Its ${kinds.join(', ')} stay.`;
}

function Undone({ undoing, staying }: { undoing: Undoing; staying: string | null }) {
  if (undoing.kind === 'failed') return <ProblemNotice failure={undoing.failure} />;
  if (undoing.kind !== 'undone') return null;
  const { retracted, kept } = undoing.undone;
  return (
    <div role="status">
      <p>
        Undone: {formatAmount(retracted, 'fact')} retracted
        {kept.length > 0 &&
          `; ${formatAmount(kept.length, 'fact')} kept, since ${kept.length === 1 ? 'it was' : 'they were'} changed after the import`}
        .{staying !== null && ` ${staying}`}
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
        <h3 role="status">
          {plan.isDryRun ? 'Checked; nothing was stored' : outcomeTitle(state, plan.file.name)}
        </h3>
        <Counts outcome={outcome} wouldBe={plan.isDryRun} />
        <Refusal outcome={outcome} wouldBe={plan.isDryRun} />
        <Failures outcome={outcome} wouldBe={plan.isDryRun} />
        <LeftOut {...outcome} />
        <Undone undoing={undoing} staying={stayingWords(outcome, plan)} />
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
          <Undone undoing={undoing} staying={null} />
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
