import type { ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import { formatCount } from './format.ts';
import styles from './text-block.module.css';

/** In UTF-16 code units. */
const maxShown = 100_000;

interface BlockProps {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

interface TextBlockProps {
  title: string;
  text: string;
  /** Label of the copy button. */
  label: string;
  /** Shown beside the title. */
  note?: ReactNode;
}

/** Shows content under a title, with actions at its right. */
export function Block({ title, note, actions, children }: BlockProps) {
  return (
    <section className="flex-column gap-4 flat-text">
      <div className={`flex-row gap-8 ${styles.blockTitle}`}>
        <h3>{title}</h3>
        {note}
        <span className={styles.gap} />
        {actions}
      </div>
      {children}
    </section>
  );
}

/** Shows a text under a title with a copy button. A text too long to lay out is shown in part and copied whole. */
export function TextBlock({ title, text, label, note }: TextBlockProps) {
  return (
    <Block title={title} note={note} actions={<CopyButton text={text} label={label} />}>
      <CodeBlock label={title} text={text.slice(0, maxShown)} />
      {text.length > maxShown && (
        <p className="dim">
          The first {formatCount(maxShown)} of {formatCount(text.length)} characters; the copy has all.
        </p>
      )}
    </Block>
  );
}
