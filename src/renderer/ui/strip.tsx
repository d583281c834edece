/** What stands over a view: a few values, each under its name, side by side as far as there is room. */
import type { ReactNode } from 'react';
import styles from './strip.module.css';

interface StripProps {
  label: string;
  /** `StripItem`s. */
  children: ReactNode;
  /** Below them, as what went wrong with them. */
  under?: ReactNode;
}

export function Strip({ label, children, under }: StripProps) {
  return (
    <section className={styles.strip} aria-label={label}>
      <dl className={styles.items}>{children}</dl>
      {under}
    </section>
  );
}

export function StripItem({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <div className={styles.item} title={hint}>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
