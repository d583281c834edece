/**
 * The answers as a graph of entities, which unfold by the stored facts about them.
 *
 * A listbox for assistive technology: one tab stop, arrows go to the nearest node in their direction, Enter unfolds. The
 * layout runs in a worker; nodes that were there stay about where they were.
 */
import { ActionIcon, Button, Loader } from '@mantine/core';
import { IconMaximize, IconMinus, IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useState,
} from 'react';
import { renderConstant } from '../../../engine/language/print.ts';
import { type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { useSession, type WorkbenchSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { formatAmount } from '../../ui/format.ts';
import { Tooltip } from '../../ui/tooltip.tsx';
import { EmptyState, PaneProblem, ProblemNotice } from '../../ui/notices.tsx';
import { networkLayout } from '../../ui/layout/layout-in-worker.ts';
import type { NetworkLayout } from '../../ui/layout/network-layout.ts';
import { type GraphAxes, graphAxesOf, graphAxesText } from './answer-forms.ts';
import styles from './ask.module.css';
import {
  answerGraph,
  degreesOf,
  type EntityGraph,
  type AnswerLink,
  knownLinks,
  nodeToward,
  withKnownLinks,
} from './entity-graph.ts';
import { type GraphPointing, type Placed, type Point, useGraphView } from './use-graph-view.ts';
import { ColumnChoice, FormFrame, type FormProps } from './form-settings.tsx';

const nodeHeight = 28;
const letterWidth = 7.4;
const longestName = 26;

function shownName(name: string): string {
  const text = name === '' ? '(empty)' : name;
  return text.length <= longestName ? text : `${text.slice(0, longestName - 1)}…`;
}

function widthOf(name: string): number {
  return Math.ceil(shownName(name).length * letterWidth) + 24;
}

function placedGraph(graph: EntityGraph, { centres, width, height }: NetworkLayout): Placed {
  const at = (index: number): Point => ({ x: centres[index * 2] ?? 0, y: centres[index * 2 + 1] ?? 0 });
  return { graph, centres: new Map(graph.nodes.map((node, index) => [node, at(index)])), width, height };
}

/** Returns the graph laid out, each layout beginning with the one before. */
function usePlaced(graph: EntityGraph) {
  const [placed, setPlaced] = useState<Placed | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [tries, setTries] = useState(0);
  const layOut = useEffectEvent(async () => {
    const placeOf = new Map(graph.nodes.map((node, index) => [node, index]));
    const edges = graph.links.flatMap(({ from, to }) => {
      const [start, end] = [placeOf.get(from), placeOf.get(to)];
      return start === undefined || end === undefined ? [] : [{ from: start, to: end }];
    });
    // A graph that has nothing of the one before begins anew.
    const known =
      placed !== null && graph.nodes.some((node) => placed.centres.has(node)) ? placed.centres : null;
    const nodes = graph.nodes.map((node) => ({
      width: widthOf(node),
      height: nodeHeight,
      at: known?.get(node),
    }));
    return placedGraph(graph, await networkLayout({ nodes, edges }));
  });
  useEffect(() => {
    let isWanted = true;
    layOut().then(
      (laid) => {
        if (!isWanted) return;
        setPlaced(laid);
        setFailure(null);
      },
      (error: unknown) => {
        if (isWanted) setFailure({ ...apiFailureOf(error), title: 'The graph could not be drawn' });
      },
    );
    return () => {
      isWanted = false;
    };
  }, [graph, tries]);
  return { placed, failure, again: () => setTries((count) => count + 1) };
}

/** Where a line from the centre of a box towards a point leaves the box. */
function leaving(from: Point, to: Point, width: number, height: number): Point {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const share = Math.min(
    width / 2 / Math.max(1e-6, Math.abs(dx)),
    height / 2 / Math.max(1e-6, Math.abs(dy)),
    0.5,
  );
  return { x: from.x + dx * share, y: from.y + dy * share };
}

interface LinkLineProps {
  link: AnswerLink;
  from: Point;
  to: Point;
  isNear: boolean;
  isLabelled: boolean;
  /** Another link goes the other way: both are bent, so that both are seen. */
  isBent: boolean;
  arrow: string;
}

function LinkLine({ link, from, to, isNear, isLabelled, isBent, arrow }: LinkLineProps) {
  const look = `${styles.link} ${isNear ? styles.linkNear : ''}`;
  const label = link.labels.slice(0, 3).join(', ') + (link.labels.length > 3 ? ', …' : '');
  const isLoop = link.from === link.to;
  const start = leaving(from, to, widthOf(link.from), nodeHeight);
  const end = leaving(to, from, widthOf(link.to) + 8, nodeHeight + 8);
  const bend = isBent ? 18 : 0;
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const middle = {
    x: (from.x + to.x) / 2 - ((to.y - from.y) / length) * bend,
    y: (from.y + to.y) / 2 + ((to.x - from.x) / length) * bend,
  };
  const top = from.y - nodeHeight / 2;
  const path = isLoop
    ? `M${from.x - 10} ${top}C${from.x - 26} ${top - 34} ${from.x + 26} ${top - 34} ${from.x + 10} ${top - 4}`
    : `M${start.x} ${start.y}Q${middle.x + (middle.x - (from.x + to.x) / 2)} ${middle.y + (middle.y - (from.y + to.y) / 2)} ${end.x} ${end.y}`;
  return (
    <>
      <path className={look} d={path} markerEnd={`url(#${arrow})`} />
      {isLabelled && label !== '' && (
        <text
          className={styles.linkLabel}
          x={isLoop ? from.x : middle.x}
          y={isLoop ? top - 28 : middle.y - 3}
        >
          {label.length > 40 ? `${label.slice(0, 39)}…` : label}
        </text>
      )}
    </>
  );
}

/** What is read about one entity at most. */
const MOST_FACTS = 1_000;

/** What unfolding found. */
interface Unfolded {
  readonly entity: string;
  readonly links: readonly AnswerLink[];
  readonly alone: readonly string[];
  /** There may be more facts than were read. */
  readonly isCut: boolean;
}

async function readAbout({ call, space }: WorkbenchSession, entity: string): Promise<Unfolded> {
  const { scope, unscoped } = scopeFieldsOf(space.scope);
  const query = {
    q: renderConstant(entity),
    scope,
    unscoped: unscoped === true ? ('true' as const) : undefined,
    limit: String(MOST_FACTS),
  };
  const { facts, nextCursor } = await call('listFacts', { query });
  return { entity, ...knownLinks(entity, facts), isCut: nextCursor !== null };
}

/** The graph with what the user unfolded. */
function useUnfolding(answered: EntityGraph) {
  const session = useSession();
  const [state, setState] = useState<{ of: EntityGraph; unfolded: readonly Unfolded[] }>({
    of: answered,
    unfolded: [],
  });
  const [reading, setReading] = useState<string | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const unfolded = useMemo(() => (state.of === answered ? state.unfolded : []), [state, answered]);
  const graph = useMemo(
    () => unfolded.reduce((before, { entity, links }) => withKnownLinks(before, entity, links), answered),
    [answered, unfolded],
  );

  async function toggle(entity: string): Promise<void> {
    setFailure(null);
    if (unfolded.some((each) => each.entity === entity)) {
      setState({ of: answered, unfolded: unfolded.filter((each) => each.entity !== entity) });
      return;
    }
    setReading(entity);
    try {
      const found = await readAbout(session, entity);
      setState((before) => ({
        of: answered,
        unfolded: [...(before.of === answered ? before.unfolded : []), found],
      }));
    } catch (error) {
      setFailure(apiFailureOf(error));
    } finally {
      setReading(null);
    }
  }
  return { graph, unfolded, reading, failure, toggle: (entity: string) => void toggle(entity) };
}

const arrows: Readonly<Record<string, Point>> = {
  ArrowRight: { x: 1, y: 0 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowDown: { x: 0, y: 1 },
  ArrowUp: { x: 0, y: -1 },
};

/** The links of a node, for screen readers. */
function linksInWords(node: string, links: readonly AnswerLink[]): string {
  const own = links.filter(({ from, to }) => from === node || to === node);
  const said = own.slice(0, 5).map(({ from, to, labels }) => {
    const label = labels.length === 0 ? 'linked' : labels.slice(0, 3).join(' and ');
    return from === node ? `${label} to ${to}` : `${label} from ${from}`;
  });
  const more = own.length > said.length ? [`and ${own.length - said.length} more`] : [];
  return [formatAmount(own.length, 'link'), ...said, ...more].join(', ');
}

interface GraphKeys extends Pick<GraphPointing, 'show' | 'fit' | 'zoom'> {
  placed: Placed;
  current: string | null;
  onActive: (node: string) => void;
  onToggle: (node: string) => void;
}

/** Returns what keys do in the graph. */
function graphKeys({ placed, current, onActive, onToggle, show, fit, zoom }: GraphKeys) {
  const { graph, centres } = placed;
  function goTo(node: string | null | undefined): void {
    if (node === null || node === undefined) return;
    onActive(node);
    const at = centres.get(node);
    if (at !== undefined) show(at);
  }
  return (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || current === null) return;
    const { key } = event;
    const direction = arrows[key];
    if (direction !== undefined) goTo(nodeToward(current, direction, centres));
    else if (key === 'Home') goTo(graph.nodes[0]);
    else if (key === 'End') goTo(graph.nodes.at(-1));
    else if (key === 'Enter') onToggle(current);
    else if (key.toLowerCase() === 'f') fit();
    else if (key.toLowerCase() === 'z') zoom(event.shiftKey ? 0.8 : 1.25);
    else return;
    event.preventDefault();
  };
}

interface LinkLinesProps {
  graph: EntityGraph;
  centres: Placed['centres'];
  /** The node under the cursor. */
  current: string | null;
  arrow: string;
}

/** Above this number of links only those of the node under the cursor have labels. */
const maxLabelled = 60;

const LinkLines = memo(function LinkLines({ graph, centres, current, arrow }: LinkLinesProps) {
  const pairs = useMemo(
    () => new Set(graph.links.map(({ from, to }) => JSON.stringify([from, to]))),
    [graph],
  );
  return graph.links.map((link) => {
    const [from, to] = [centres.get(link.from), centres.get(link.to)];
    const isNear = link.from === current || link.to === current;
    return from === undefined || to === undefined ? null : (
      <LinkLine
        key={JSON.stringify([link.from, link.to])}
        {...{ link, from, to, isNear, arrow }}
        isLabelled={graph.links.length <= maxLabelled || isNear}
        isBent={pairs.has(JSON.stringify([link.to, link.from]))}
      />
    );
  });
});

interface NodeBoxProps {
  id: string;
  node: string;
  place: { readonly at: Point; readonly position: number; readonly of: number };
  links: readonly AnswerLink[];
  isUnfolded: boolean;
  /** The answers have it; otherwise facts added it. */
  isOwn: boolean;
  isActive: boolean;
  onActive: (node: string) => void;
  onToggle: (node: string) => void;
}

function NodeBox({ id, node, place, links, isUnfolded, isOwn, isActive, onActive, onToggle }: NodeBoxProps) {
  const { at, position, of } = place;
  const width = widthOf(node);
  const look = [styles.node, isOwn ? '' : styles.nodeKnown, isActive ? styles.nodeActive : ''].join(' ');
  return (
    <g
      id={id}
      role="option"
      aria-selected={isActive}
      aria-posinset={position}
      aria-setsize={of}
      aria-label={`${node}, ${linksInWords(node, links)}${isUnfolded ? ', unfolded' : ''}`}
      className={look}
      transform={`translate(${at.x - width / 2} ${at.y - nodeHeight / 2})`}
      onClick={() => onActive(node)}
      onDoubleClick={() => onToggle(node)}
    >
      <title>{node}</title>
      <rect width={width} height={nodeHeight} rx={nodeHeight / 2} />
      <text x={width / 2} y={18}>
        {shownName(node)}
      </text>
    </g>
  );
}

interface DrawingProps {
  placed: Placed;
  answered: EntityGraph;
  unfolded: readonly Unfolded[];
  active: string | null;
  onActive: (node: string) => void;
  onToggle: (node: string) => void;
}

function Drawing({ placed, answered, unfolded, active, onActive, onToggle }: DrawingProps) {
  const { graph, centres } = placed;
  const id = useId();
  const { ref, view, fit, zoom, show, dragging } = useGraphView(placed);
  const own = useMemo(() => new Set(answered.nodes), [answered]);
  const current = active !== null && centres.has(active) ? active : (graph.nodes[0] ?? null);
  const position = current === null ? -1 : graph.nodes.indexOf(current);

  const onKeyDown = graphKeys({ placed, current, onActive, onToggle, show, fit, zoom });
  return (
    <div className={styles.graph}>
      <div
        ref={ref}
        role="listbox"
        tabIndex={0}
        aria-label="Graph of the answers"
        {...(position < 0 ? {} : { 'aria-activedescendant': `${id}-${position}` })}
        className={styles.canvas}
        onKeyDown={onKeyDown}
        {...dragging}
      >
        {view !== null && (
          <svg role="presentation" width="100%" height="100%">
            <defs>
              <marker
                id={`${id}-arrow`}
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                orient="auto"
              >
                <path className={styles.arrow} d="M0 0L8 4L0 8z" />
              </marker>
            </defs>
            <g role="presentation" transform={`translate(${view.x} ${view.y}) scale(${view.k})`}>
              <LinkLines graph={graph} centres={centres} current={current} arrow={`${id}-arrow`} />
              {graph.nodes.map((node, index) => {
                const at = centres.get(node);
                return at === undefined ? null : (
                  <NodeBox
                    key={node}
                    id={`${id}-${index}`}
                    place={{ at, position: index + 1, of: graph.nodes.length }}
                    node={node}
                    links={graph.links}
                    isUnfolded={unfolded.some(({ entity }) => entity === node)}
                    isOwn={own.has(node)}
                    isActive={node === current}
                    onActive={onActive}
                    onToggle={onToggle}
                  />
                );
              })}
            </g>
          </svg>
        )}
      </div>
      <ZoomButtons zoom={zoom} fit={fit} />
    </div>
  );
}

function ZoomButton({
  label,
  keys,
  onClick,
  children,
}: {
  label: string;
  keys: string;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <Tooltip label={`${label} (${keys})`}>
      <ActionIcon size={26} aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

function ZoomButtons({ zoom, fit }: Pick<GraphPointing, 'zoom' | 'fit'>) {
  return (
    <div role="group" aria-label="Zoom" className={styles.zoom}>
      <ZoomButton label="Zoom out" keys="Shift+Z" onClick={() => zoom(0.8)}>
        <IconMinus size={15} aria-hidden />
      </ZoomButton>
      <ZoomButton label="Zoom in" keys="Z" onClick={() => zoom(1.25)}>
        <IconPlus size={15} aria-hidden />
      </ZoomButton>
      <ZoomButton label="Fit into the view" keys="F" onClick={() => fit()}>
        <IconMaximize size={15} aria-hidden />
      </ZoomButton>
    </div>
  );
}

interface NodeDetailProps {
  node: string;
  graph: EntityGraph;
  unfolded: Unfolded | undefined;
  isReading: boolean;
  onToggle: () => void;
}

/** The node under the cursor: its name, its links, and what unfolding found. */
function NodeDetail({ node, graph, unfolded, isReading, onToggle }: NodeDetailProps) {
  const degree = degreesOf(graph.links).get(node) ?? 0;
  return (
    <section className={styles.nodeDetail} aria-label="Entity">
      <strong className="mono truncate">{node === '' ? '(empty)' : node}</strong>
      <span className="dim number">{formatAmount(degree, 'link')}</span>
      {unfolded !== undefined && (
        <span className="dim" role="status">
          {unfolded.links.length === 0 && unfolded.alone.length === 0 && 'No stored fact has it.'}
          {unfolded.alone.length > 0 && `Also: ${unfolded.alone.join(', ')}. `}
          {unfolded.isCut && 'Only the first facts that mention it were read.'}
        </span>
      )}
      <span className="to-right flex-row gap-8">
        <Button size="compact-xs" variant="default" loading={isReading} onClick={onToggle}>
          {unfolded === undefined ? 'Unfold what is known' : 'Fold'}
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          renderRoot={(props) => <Link to="/facts" search={{ q: renderConstant(node) }} {...props} />}
        >
          Its facts
        </Button>
      </span>
    </section>
  );
}

function Settings({ kinds, axes, onAxes }: Pick<FormProps, 'kinds' | 'onAxes'> & { axes: GraphAxes }) {
  const columns = [...kinds.keys()];
  const change = (part: Partial<GraphAxes>) => onAxes(graphAxesText({ ...axes, ...part }));
  return (
    <>
      <ColumnChoice
        label="From"
        value={axes.source}
        columns={columns}
        onChoose={(source) =>
          source !== null && change({ source, ...(source === axes.target ? { target: axes.source } : {}) })
        }
      />
      <ColumnChoice
        label="To"
        value={axes.target}
        columns={columns.filter((name) => name !== axes.source)}
        onChoose={(target) => target !== null && change({ target })}
      />
      <ColumnChoice
        label="Label"
        value={axes.label}
        columns={columns.filter((name) => name !== axes.source && name !== axes.target)}
        none="None"
        onChoose={(label) => change({ label })}
      />
    </>
  );
}

/** Shows the answers as a graph of entities. */
export function GraphView({ answer, kinds, axes: said, onAxes, onMore }: FormProps) {
  const axes = useMemo(() => graphAxesOf(said, kinds), [said, kinds]);
  const answered = useMemo(
    () => (axes === null ? { nodes: [], links: [], notDrawn: null } : answerGraph(answer.bindings, axes)),
    [answer, axes],
  );
  const { graph, unfolded, reading, failure: readFailure, toggle } = useUnfolding(answered);
  const { placed, failure, again } = usePlaced(graph);
  const [active, setActive] = useState<string | null>(null);
  if (axes === null) return <EmptyState title="Nothing to link">A graph needs two columns.</EmptyState>;
  const current = active !== null && graph.nodes.includes(active) ? active : (graph.nodes[0] ?? null);
  return (
    <FormFrame
      answer={answer}
      settings={<Settings kinds={kinds} axes={axes} onAxes={onAxes} />}
      notDrawn={graph.notDrawn}
      onMore={onMore}
    >
      <div className="flex-column full-height">
        {readFailure !== null && <ProblemNotice failure={readFailure} />}
        <div className="rest-height">
          {failure !== null ? (
            <PaneProblem failure={failure} onRetry={again} />
          ) : placed === null ? (
            <Loader size={18} aria-label="Laying out" className={styles.loading ?? ''} />
          ) : (
            <Drawing
              placed={placed}
              answered={answered}
              unfolded={unfolded}
              active={active}
              onActive={setActive}
              onToggle={toggle}
            />
          )}
        </div>
        {current !== null && (
          <NodeDetail
            node={current}
            graph={graph}
            unfolded={unfolded.find(({ entity }) => entity === current)}
            isReading={reading === current}
            onToggle={() => toggle(current)}
          />
        )}
      </div>
    </FormFrame>
  );
}
