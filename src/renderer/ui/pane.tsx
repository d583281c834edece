/** Panes of a view, their heads, and the split between two. */
import { ActionIcon } from '@mantine/core';
import { IconArrowsMaximize, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels';
import styles from './pane.module.css';
import { Tooltip } from './tooltip.tsx';

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
      <div className={`controls-bar to-end line-below on-panel ${styles.header}`}>
        {typeof title === 'string' ? <PaneTitle isWhole={false}>{title}</PaneTitle> : title}
        <span className={styles.grow} />
        {actions}
      </div>
      <div className={`${styles.body} ${scroll === 'own' ? styles.fixed : ''}`}>{children}</div>
    </section>
  );
}

interface DetailPaneProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Shows the side pane of a list's open item, with a close button. */
export function DetailPane({ title, onClose, children }: DetailPaneProps) {
  return (
    <PaneFrame
      title={title}
      tone="panel"
      label="Detail"
      actions={
        <Tooltip label="Close">
          <ActionIcon aria-label="Close the detail" onClick={onClose}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      }
    >
      {children}
    </PaneFrame>
  );
}

/** One pane of a split. */
export interface Pane {
  readonly id: string;
  /** Size in the syntax of the panes' library: `240px`, `30%`. */
  readonly size?: string;
  readonly least?: string;
  readonly content: ReactNode;
}

interface SplitProps {
  /** Storage key of the layout. */
  id: string;
  orientation: 'horizontal' | 'vertical';
  /** Accessible name of the separators. */
  label: string;
  panes: readonly Pane[];
}

/** Shows panes side by side or stacked, resizable by pointer and keyboard; sizes survive a restart. */
export function Split({ id, orientation, label, panes }: SplitProps) {
  const { defaultLayout, onLayoutChanged } = useDefaultLayout({
    id: `corollary.${id}`,
    panelIds: panes.map((pane) => pane.id),
    storage: localStorage,
  });
  return (
    <Group
      id={id}
      orientation={orientation}
      className="tall"
      resizeTargetMinimumSize={{ coarse: 24, fine: 12 }}
      onLayoutChanged={onLayoutChanged}
      {...(defaultLayout === undefined ? {} : { defaultLayout })}
    >
      {panes.map((pane, index) => (
        <Fragment key={pane.id}>
          {index > 0 && <Separator className={styles.separator} aria-label={label} />}
          <Panel
            id={pane.id}
            className={styles.part}
            {...(pane.size === undefined ? {} : { defaultSize: pane.size })}
            {...(pane.least === undefined ? {} : { minSize: pane.least })}
          >
            {pane.content}
          </Panel>
        </Fragment>
      ))}
    </Group>
  );
}

interface BesideActionsProps {
  /** Such as `the proof`. */
  what: string;
  /** The view that shows it alone. */
  to: '/proof' | '/why-not' | '/trace';
  question: string;
  /** Other search parameters of that view. */
  look?: Readonly<Record<string, string | undefined>>;
  onClose: () => void;
}

/** Shows the actions of an explanation beside other content: open it alone, close it. */
export function BesideActions({ what, to, question, look = {}, onClose }: BesideActionsProps) {
  return (
    <>
      <Tooltip label="Open on its own">
        <ActionIcon
          aria-label={`Open ${what} on its own`}
          renderRoot={(props) => <Link to={to} search={{ ...look, question }} {...props} />}
        >
          <IconArrowsMaximize size={15} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Close">
        <ActionIcon aria-label={`Close ${what}`} onClick={onClose}>
          <IconX size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </>
  );
}
