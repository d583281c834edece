import type { ReactNode } from 'react';
import styles from './strip.module.css';

interface StripProps {
  label: string;
  /** `StripItem`s. */
  children: ReactNode;
  /** Shown below the values, such as their failure. */
  under?: ReactNode;
}

/** Shows a row of named values above a view. */
export function Strip({ label, children, under }: StripProps) {
  return (
    <section className="flex-column gap-8 fixed-size padded-8 line-below on-panel" aria-label={label}>
      <dl className={styles.items}>{children}</dl>
      {under}
    </section>
  );
}

/** Shows one value of a strip under its name. */
export function StripItem({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <div className={styles.item} title={hint}>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}
