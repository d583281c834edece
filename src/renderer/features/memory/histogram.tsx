import { formatAmount, formatCount, formatShortCount } from '../../ui/format.ts';
import styles from './memory.module.css';

interface Bin {
  /** Salience; `from` inclusive, `to` exclusive except in the last bin. */
  readonly from: number;
  readonly to: number;
  readonly facts: number;
  /** Logarithmic, relative to `greatest`, 0 to 1. */
  readonly height: number;
  /** Share of the range below the threshold, 0 to 1. */
  readonly below: number;
}

/** The largest number of facts in a bin. */
function greatestOf(histogram: readonly number[]): number {
  return histogram.reduce((most, facts) => Math.max(most, facts), 0);
}

/**
 * Returns equally wide bins of a histogram over 0 to 1. Heights are logarithmic, so that ten facts show beside a million.
 * `greatest`: the number of facts of full height.
 */
export function binsOf(
  histogram: readonly number[],
  threshold: number,
  greatest: number = greatestOf(histogram),
): Bin[] {
  const count = histogram.length;
  return histogram.map((facts, index) => ({
    from: index / count,
    to: (index + 1) / count,
    facts,
    height: greatest === 0 ? 0 : Math.log1p(facts) / Math.log1p(greatest),
    below: Math.max(0, Math.min(1, threshold * count - index)),
  }));
}

/** Returns `0.45 to 0.5`. */
export function rangeLabel({ from, to }: Pick<Bin, 'from' | 'to'>): string {
  return `${Number(from.toFixed(4))} to ${Number(to.toFixed(4))}`;
}

/** Returns the bars as text for screen readers. */
export function describeBins(bins: readonly Bin[]): string {
  const filled = bins.filter(({ facts }) => facts > 0);
  if (filled.length === 0) return 'No facts.';
  return filled.map((bin) => `${rangeLabel(bin)}: ${formatCount(bin.facts)}`).join('; ');
}

function Bar({ bin, now }: { bin: Bin; now: Bin | undefined }) {
  const { facts, height, below } = bin;
  const facing = now === undefined ? '' : `, now ${formatCount(now.facts)}`;
  return (
    <div className={styles.barPlace} title={`${rangeLabel(bin)}: ${formatAmount(facts, 'fact')}${facing}`}>
      {now !== undefined && now.facts > 0 && (
        <div className={styles.nowBar} style={{ height: `max(2px, ${now.height * 100}%)` }} />
      )}
      {facts > 0 && (
        <div className={styles.bar} style={{ height: `max(2px, ${height * 100}%)` }}>
          <div className={styles.belowBar} style={{ width: `${below * 100}%` }} />
        </div>
      )}
    </div>
  );
}

interface HistogramProps {
  histogram: readonly number[];
  /** The histogram of now, outlined behind that of another time. */
  now?: readonly number[] | undefined;
  /** null draws no line. */
  threshold: number | null;
  /** What the bars count: `Salience of the facts`. */
  label: string;
  look?: 'small';
}

/** Shows facts by salience as bars, with the threshold as a line. */
export function Histogram({ histogram, now, threshold, label, look }: HistogramProps) {
  const greatest = Math.max(greatestOf(histogram), greatestOf(now ?? []));
  const bins = binsOf(histogram, threshold ?? 0, greatest);
  const before = now === undefined ? [] : binsOf(now, 0, greatest);
  return (
    <div className={`${styles.histogram} ${look === 'small' ? styles.smallHistogram : ''}`}>
      <span
        className={`${styles.greatest} dim number`}
        title="The number of facts of full height; heights are logarithmic"
        aria-hidden
      >
        {formatShortCount(greatest)}
      </span>
      <div className={styles.plot} role="img" aria-label={`${label}. ${describeBins(bins)}`}>
        {bins.map((bin, index) => (
          <Bar key={bin.from} bin={bin} now={before[index]} />
        ))}
        {threshold !== null && <div className={styles.line} style={{ left: `${threshold * 100}%` }} />}
      </div>
    </div>
  );
}

/** Shows the ticks below the bars. */
export function SalienceAxis() {
  return (
    <div className={`${styles.axis} dim number`} aria-hidden>
      {[0, 0.25, 0.5, 0.75, 1].map((tick) => (
        <span key={tick} style={{ left: `${tick * 100}%` }}>
          {tick}
        </span>
      ))}
    </div>
  );
}

/** Shows the same as a table. */
export function HistogramTable({ histogram, label }: { histogram: readonly number[]; label: string }) {
  return (
    <div className={styles.tablePlace} tabIndex={0} role="region" aria-label={label}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Salience</th>
            <th scope="col">Facts</th>
          </tr>
        </thead>
        <tbody>
          {binsOf(histogram, 0).map((bin) => (
            <tr key={bin.from}>
              <th scope="row" className="number">
                {rangeLabel(bin)}
              </th>
              <td className="number">{formatCount(bin.facts)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
