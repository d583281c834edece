/** What an import or a check came to: counts, and the rows that failed. */
import { formatAmount, formatCount } from '../../ui/format.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { ImportOutcome } from './import-run.ts';
import { failuresText } from './outcome-words.ts';
import styles from './transfer.module.css';

export function Counts({ outcome, wouldBe }: { outcome: ImportOutcome; wouldBe: boolean }) {
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
              className={`number ${label.endsWith('fail') || label === 'failed' ? (count > 0 ? styles.bad : '') : ''}`}
            >
              {formatCount(count)}
            </dd>
          </div>
        ))}
    </dl>
  );
}

export function Failures({ outcome, wouldBe }: { outcome: ImportOutcome; wouldBe: boolean }) {
  const { errors, failed } = outcome;
  if (errors.length === 0) return null;
  const what = wouldBe ? 'would fail' : 'failed';
  return (
    <>
      <div className={styles.failuresTitle}>
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
