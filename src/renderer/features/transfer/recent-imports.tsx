import { formatAmount, formatRelative } from '../../ui/format.ts';
import { outcomeParts } from './outcome-words.ts';
import { UndoButton } from './import-result.tsx';
import { type ImportEntry, isRunning } from './transfer-store.ts';
import styles from './transfer.module.css';

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
