import { IconAlertTriangle } from '@tabler/icons-react';
import { formatAmount, formatCount } from '../../ui/format.ts';
import styles from './schema.module.css';

interface ViolationCountProps {
  count: number;
  /** The count is a lower bound. */
  isLeast: boolean;
}

/** Shows a number of violations, with a sign if there are any. */
export function ViolationCount({ count, isLeast }: ViolationCountProps) {
  if (count === 0) return <span className="dim number">{isLeast ? '–' : '0'}</span>;
  const least = isLeast ? ' or more' : '';
  return (
    <span className="text-bad number" title={`${formatAmount(count, 'violation')}${least}`}>
      <IconAlertTriangle size={13} className={styles.sign ?? ''} aria-hidden />
      {formatCount(count)}
      {isLeast && '+'}
    </span>
  );
}
