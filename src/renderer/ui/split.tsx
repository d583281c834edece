/** Panes side by side or stacked, resized by pointer and keyboard; their sizes survive a restart. */
import { Fragment, type ReactNode } from 'react';
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels';
import styles from './split.module.css';

export interface Pane {
  readonly id: string;
  /** A size as the panes' library takes it: `240px`, `30%`. */
  readonly size?: string;
  readonly least?: string;
  readonly content: ReactNode;
}

interface SplitProps {
  /** Names the layout in storage. */
  id: string;
  orientation: 'horizontal' | 'vertical';
  /** What the separators are called for assistive technology. */
  label: string;
  panes: readonly Pane[];
}

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
      className={styles.group}
      resizeTargetMinimumSize={{ coarse: 24, fine: 12 }}
      onLayoutChanged={onLayoutChanged}
      {...(defaultLayout === undefined ? {} : { defaultLayout })}
    >
      {panes.map((pane, index) => (
        <Fragment key={pane.id}>
          {index > 0 && <Separator className={styles.separator} aria-label={label} />}
          <Panel
            id={pane.id}
            className={styles.panel}
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
