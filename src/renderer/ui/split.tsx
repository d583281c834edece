import { Fragment, type ReactNode } from 'react';
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels';
import styles from './split.module.css';

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
