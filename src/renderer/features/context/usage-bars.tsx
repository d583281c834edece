/** How much of the window is used: of its facts, its characters, and of each bucket. */
import { formatAmount, formatCount } from '../../ui/format.ts';
import styles from './context.module.css';
import type { ChosenWindow } from './use-window.ts';

interface UsageBarProps {
  label: string;
  used: number;
  /** null: there is none. */
  limit: number | null;
  /** Beside the numbers. */
  note?: string;
  title?: string;
}

function UsageBar({ label, used, limit, note, title }: UsageBarProps) {
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit);
  const words =
    limit === null ? `${formatCount(used)}, no limit` : `${formatCount(used)} of ${formatCount(limit)}`;
  return (
    <div className={styles.usage} {...(title === undefined ? {} : { title })}>
      <div className={styles.usageHead}>
        <span className={styles.usageLabel}>{label}</span>
        <span className="number">{words}</span>
      </div>
      <div
        className={styles.usageTrack}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit ?? Math.max(1, used)}
        aria-valuenow={limit === null ? used : Math.min(used, limit)}
        aria-valuetext={words}
      >
        <span className={styles.usageFill} style={{ width: `${share * 100}%` }} />
      </div>
      {note !== undefined && <span className={`dim number ${styles.usageNote}`}>{note}</span>}
    </div>
  );
}

function salienceNote(least: number | null, greatest: number | null): string {
  if (least === null || greatest === null) return 'empty';
  const [from, to] = [least.toFixed(2), greatest.toFixed(2)];
  return from === to ? `salience ${from}` : `salience ${from} – ${to}`;
}

/** What else is to be said of the window as a whole. */
function Counts({ chosen: { window } }: { chosen: ChosenWindow }) {
  const parts = [`${formatAmount(window.totalFactsAvailable, 'fact')} available`];
  if (window.goalDriven) parts.push('chosen for goals');
  if (window.deduplicationSavings > 0)
    parts.push(`${formatAmount(window.deduplicationSavings, 'duplicate')} left out`);
  if (window.contradictionsFound > 0)
    parts.push(
      `${formatAmount(window.contradictionsFound, 'contradiction')}, ${formatCount(window.contradictionsResolved)} resolved`,
    );
  return <p className={`dim number ${styles.counts}`}>{parts.join(' · ')}</p>;
}

export function UsageBars({ chosen }: { chosen: ChosenWindow }) {
  const { window, request } = chosen;
  const buckets = Object.entries(window.bucketStats);
  const predicatesOf = new Map((request.relevanceBuckets ?? []).map((each) => [each.name, each.predicates]));
  return (
    <section className={styles.usages} aria-label="What is used">
      <div
        className={styles.bars}
        {...(buckets.length > 6 ? { tabIndex: 0, role: 'group', 'aria-label': 'Bars' } : {})}
      >
        <UsageBar label="Facts" used={window.totalFactsIncluded} limit={request.maxFacts ?? null} />
        <UsageBar label="Characters" used={window.totalCharCount} limit={request.maxChars ?? null} />
        {buckets.map(([name, stats]) => (
          <UsageBar
            key={name}
            label={name}
            used={stats.factsIncluded}
            limit={stats.maxAllocation}
            note={salienceNote(stats.minSalience, stats.maxSalience)}
            title={(predicatesOf.get(name) ?? []).join(', ')}
          />
        ))}
      </div>
      <Counts chosen={chosen} />
    </section>
  );
}
