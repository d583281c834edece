import styles from './admin.module.css';
import type { Reading } from './readings.ts';

/** Names with their values, one below the other. */
export function Readings({ readings }: { readings: readonly Reading[] }) {
  return (
    <dl className={styles.readings}>
      {readings.map(({ label, value, hint }) => (
        <div key={label} title={hint}>
          <dt>{label}</dt>
          <dd className="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
