/** Names with their values, as a list of definitions: `dt` and `dd` in turn. */
import type { ReactNode } from 'react';
import styles from './pairs.module.css';

export function Pairs({ children }: { children: ReactNode }) {
  return <dl className={styles.pairs}>{children}</dl>;
}
