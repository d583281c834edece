import { formatAmount, formatCount } from '../../ui/format.ts';
import styles from './memory.module.css';

interface Bin {
  /** Salience; `from` inclusive, `to` exclusive except in the last bin. */
  readonly from: number;
  readonly to: number;
  readonly facts: number;
  /** Relative to the highest bin, 0 to 1. */
  readonly height: number;
  /** Share of the range below the threshold, 0 to 1. */
  readonly below: number;
}

/** Returns equally wide bins of a histogram over 0 to 1. */
export function binsOf(histogram: readonly number[], threshold: number): Bin[] {
  const count = histogram.length;
  const greatest = histogram.reduce((most, facts) => Math.max(most, facts), 0);
  return histogram.map((facts, index) => ({
    from: index / count,
    to: (index + 1) / count,
    facts,
    height: greatest === 0 ? 0 : facts / greatest,
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
  return filled.map((bin) => `${rangeLabel(bin)}: ${bin.facts}`).join('; ');
}

function Bar({ bin }: { bin: Bin }) {
  const { facts, height, below } = bin;
  return (
    <div className={styles.barPlace} title={`${rangeLabel(bin)}: ${formatAmount(facts, 'fact')}`}>
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
  /** null draws no line. */
  threshold: number | null;
  /** What the bars count: `Salience of the facts`. */
  label: string;
  look?: 'small';
}

/** Shows facts by salience as bars, with the threshold as a line. */
export function Histogram({ histogram, threshold, label, look }: HistogramProps) {
  const bins = binsOf(histogram, threshold ?? 0);
  const greatest = histogram.reduce((most, facts) => Math.max(most, facts), 0);
  return (
    <div className={`${styles.histogram} ${look === 'small' ? styles.smallHistogram : ''}`}>
      <span className={`${styles.greatest} dim number`} aria-hidden>
        {formatCount(greatest)}
      </span>
      <div className={styles.plot} role="img" aria-label={`${label}. ${describeBins(bins)}`}>
        {bins.map((bin) => (
          <Bar key={bin.from} bin={bin} />
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
