import type { ReactNode } from 'react';
import styles from './pane.module.css';

interface PaneProps {
  title: ReactNode;
  /** Right of the title. */
  actions?: ReactNode;
  /** `panel`: the quieter surface of side panes. */
  tone?: 'panel';
  /** `own`: the content scrolls itself. */
  scroll?: 'own';
  label?: string;
  children: ReactNode;
}

/** Shows the title of a pane; `isWhole` if it is the view's title. */
export function PaneTitle({ isWhole, children }: { isWhole: boolean; children: ReactNode }) {
  return isWhole ? (
    <h1 className="pane-title no-wrap">{children}</h1>
  ) : (
    <h2 className="pane-title no-wrap">{children}</h2>
  );
}

/** Shows one pane of a view: a bar with title and actions, and its content. */
export function PaneFrame({ title, actions, tone, scroll, label, children }: PaneProps) {
  return (
    <section
      className={`${styles.pane} ${tone === 'panel' ? styles.panel : ''}`}
      {...(label === undefined ? {} : { 'aria-label': label })}
    >
      <div className={styles.header}>
        {typeof title === 'string' ? <PaneTitle isWhole={false}>{title}</PaneTitle> : title}
        <span className={styles.grow} />
        {actions}
      </div>
      <div className={`${styles.body} ${scroll === 'own' ? styles.fixed : ''}`}>{children}</div>
    </section>
  );
}
