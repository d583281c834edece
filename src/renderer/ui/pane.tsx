/** Panes of a view, their heads, and the split between two. */
import { ActionIcon } from '@mantine/core';
import { IconArrowsMaximize, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import {
  createContext,
  Fragment,
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { Group, Panel, Separator, useDefaultLayout, usePanelRef } from 'react-resizable-panels';
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
    // What grows with its content shrinks again.
    onlySaveAfterUserInteractions: true,
  });
  const grown = useRef(new Map<string, number>());
  return (
    <Group
      id={id}
      orientation={orientation}
      className="tall"
      resizeTargetMinimumSize={{ coarse: 24, fine: 12 }}
      onLayoutChanged={(layout, meta) => {
        if (meta.isUserInteraction) grown.current.clear();
        onLayoutChanged(layout, meta);
      }}
      {...(defaultLayout === undefined ? {} : { defaultLayout })}
    >
      {panes.map((pane, index) => (
        <Fragment key={pane.id}>
          {index > 0 && <Separator className={styles.separator} aria-label={label} />}
          <Part pane={pane} isStacked={orientation === 'vertical'} grown={grown} />
        </Fragment>
      ))}
    </Group>
  );
}

interface PartProps {
  pane: Pane;
  isStacked: boolean;
  /** The heights of the panes that have grown, before they did, in pixels; empty once the user has chosen sizes. */
  grown: RefObject<Map<string, number>>;
}

function Part({ pane, isStacked, grown }: PartProps) {
  const panel = usePanelRef();
  const asked = useRef(new Map<string, number>());
  const outer = useContext(PaneHeight);
  const { id } = pane;
  const ask = useCallback<AskHeight>(
    (asker, height) => {
      if (height === null) asked.current.delete(asker);
      else asked.current.set(asker, height);
      if (panel.current === null) return;
      const { inPixels, asPercentage } = panel.current.getSize();
      const most = asPercentage === 0 ? 0 : (mostGrown * inPixels * 100) / asPercentage;
      const wanted = Math.min(most, Math.max(0, ...asked.current.values()));
      const before = grown.current.get(id) ?? inPixels;
      const next = Math.max(before, wanted);
      if (Math.abs(next - inPixels) < 1) return;
      if (next === before) grown.current.delete(id);
      else grown.current.set(id, before);
      panel.current.resize(`${next}px`);
    },
    [panel, grown, id],
  );
  return (
    <Panel
      id={id}
      panelRef={panel}
      className={styles.part}
      {...(pane.size === undefined ? {} : { defaultSize: pane.size })}
      {...(pane.least === undefined ? {} : { minSize: pane.least })}
    >
      <PaneHeight value={isStacked ? ask : outer}>{pane.content}</PaneHeight>
    </Panel>
  );
}

/** Asks for a height in pixels, or withdraws what was asked for. */
type AskHeight = (asker: string, height: number | null) => void;

const PaneHeight = createContext<AskHeight>(() => undefined);

/** A pane grows to at most this share of its split. */
const mostGrown = 0.6;

/**
 * Makes the stacked pane around it at least so high, in pixels, as long as the user has not moved its edge since; the pane
 * shrinks again with what it holds. null asks for nothing.
 */
export function usePaneHeight(height: number | null): void {
  const ask = useContext(PaneHeight);
  const id = useId();
  useEffect(() => ask(id, height), [ask, id, height]);
  useEffect(() => () => ask(id, null), [ask, id]);
}

interface GrowingAreaProps {
  /** What the content needs, in pixels. */
  height: number;
  /** As high as it is, below the content. */
  below?: ReactNode;
  children: ReactNode;
}

/** The rest of a pane, which grows until its content and all above and below it have room. */
export function GrowingArea({ height, below, children }: GrowingAreaProps) {
  const area = useRef<HTMLDivElement>(null);
  const under = useRef<HTMLDivElement>(null);
  const [around, setAround] = useState(0);
  useEffect(() => {
    const [inside, outside] = [area.current, under.current];
    const whole = inside?.closest('section');
    if (inside === null || outside === null || whole === null || whole === undefined) return undefined;
    const measured = new ResizeObserver(() => {
      const above = inside.getBoundingClientRect().top - whole.getBoundingClientRect().top;
      setAround(Math.ceil(above + outside.offsetHeight));
    });
    measured.observe(inside);
    measured.observe(outside);
    return () => measured.disconnect();
  }, []);
  usePaneHeight(around === 0 ? null : around + height);
  return (
    <>
      <div ref={area} className={styles.area}>
        {children}
      </div>
      <div ref={under} className="fixed-size">
        {below}
      </div>
    </>
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
