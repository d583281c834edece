/** A text as it is, under a title, to be copied. What is too long to be laid out is shown in part, and copied whole. */
import type { ReactNode } from 'react';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCount } from '../../ui/format.ts';
import styles from './agents.module.css';

/** In UTF-16 code units. */
const mostShown = 100_000;

interface TextBlockProps {
  title: string;
  text: string;
  /** What the button that copies it is called. */
  label: string;
  note: ReactNode;
}

export function TextBlock({ title, text, label, note }: TextBlockProps) {
  return (
    <section className={styles.block}>
      <div className={styles.blockTitle}>
        <h3>{title}</h3>
        {note}
        <span className={styles.gap} />
        <CopyButton text={text} label={label} />
      </div>
      <pre className="mono" tabIndex={0} aria-label={title}>
        {text.slice(0, mostShown)}
      </pre>
      {text.length > mostShown && (
        <p className="dim">
          The first {formatCount(mostShown)} of {formatCount(text.length)} characters; the copy has all.
        </p>
      )}
    </section>
  );
}
