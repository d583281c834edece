import { ActionIcon } from '@mantine/core';
import { IconMinus, IconPlus, IconZoomReset } from '@tabler/icons-react';
import {
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import styles from './band-drawing.module.css';
import { aroundOf, type BandGraph, type BandNode, neighboursOf } from './band-graph.ts';
import {
  type BandLayout,
  isDirection,
  type LaidEdge,
  type LaidNode,
  nextNode,
  nodeHeight,
  nodeWidth,
} from './layout/band-layout.ts';
import { bandLayout } from './layout/layout-in-worker.ts';
import { EmptyState } from './notices.tsx';
import { readStoredState, writeStored } from './stored-state.ts';
import { Tooltip } from './tooltip.tsx';

/** Larger graphs are not drawn. */
const maxDrawn = 400;

/** A graph with its layout. */
interface LaidGraph {
  readonly graph: BandGraph;
  readonly layout: BandLayout;
}

/** The layout as it becomes available, the one before until then; `isFailed`: there is nothing to draw. */
function useBandLayout(graph: BandGraph | null): { laid: LaidGraph | null; isFailed: boolean } {
  const [laid, setLaid] = useState<LaidGraph | null>(null);
  const [isFailed, setIsFailed] = useState(false);
  useEffect(() => {
    if (graph === null) return;
    let isWanted = true;
    const nodes = graph.nodes.map(({ id, band }) => ({ id, band }));
    bandLayout({ nodes, edges: graph.edges }).then(
      (layout) => {
        if (!isWanted) return;
        setIsFailed(false);
        setLaid({ graph, layout });
      },
      () => {
        if (isWanted) setIsFailed(true);
      },
    );
    return () => {
      isWanted = false;
    };
  }, [graph]);
  return { laid, isFailed };
}

const margin = 16;
const minScale = 0.2;
const readableScale = 0.65;
const maxScale = 2;
const longestName = 22;

interface LaidDrawingProps {
  laid: LaidGraph;
  label: string;
  /** Id of the selected node. */
  chosen: string | null;
  isMatch: (node: BandNode) => boolean;
  onChoose: (id: string) => void;
}

function shortened(text: string): string {
  return text.length <= longestName ? text : `${text.slice(0, longestName - 1)}…`;
}

interface NodeProps {
  node: BandNode;
  place: LaidNode;
  look: 'plain' | 'chosen' | 'beside' | 'aside';
  isStop: boolean;
  onChoose: () => void;
  onFocus: () => void;
}

function Node({ node, place, look, isStop, onChoose, onFocus }: NodeProps) {
  return (
    <g
      role="button"
      tabIndex={isStop ? 0 : -1}
      aria-label={node.words}
      aria-pressed={look === 'chosen'}
      data-node={node.id}
      className={`${styles.node} ${styles[node.look]} ${styles[look]}`}
      transform={`translate(${place.x} ${place.y})`}
      onClick={onChoose}
      onFocus={onFocus}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onChoose();
      }}
    >
      <title>{node.label}</title>
      <rect width={nodeWidth} height={nodeHeight} rx={5} />
      <text x={10} y={14} className={styles.name}>
        {shortened(node.label)}
      </text>
      <text x={10} y={27} className={styles.counts}>
        {node.note}
      </text>
    </g>
  );
}

function Edge({ edge, isLit, isAside }: { edge: LaidEdge; isLit: boolean; isAside: boolean }) {
  const { path, kind, middle } = edge;
  const arrow = isLit ? 'url(#arrow-lit)' : 'url(#arrow)';
  const look = `${isLit ? styles.lit : ''} ${isAside ? styles.aside : ''}`;
  return (
    <g className={`${styles.edge} ${kind === 'reads' ? '' : styles[kind]} ${look}`}>
      <path d={path} markerEnd={kind === 'shares' ? undefined : arrow} />
      {kind === 'completes' && (
        <text x={middle.x} y={middle.y - 4} textAnchor="middle">
          not, agg.
        </text>
      )}
    </g>
  );
}

/** The scale that shows everything if readable, and its setters. */
function useScale(width: number, height: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [scale, setScale] = useState(1);
  function fitFrom(least: number): void {
    const box = scroller.current;
    if (box === null || width === 0) return;
    const across = (box.clientWidth - 4) / (width + 2 * margin);
    const down = (box.clientHeight - 4) / (height + 2 * margin);
    setScale(Math.max(least, Math.min(1, across, down)));
  }
  const fit = () => fitFrom(minScale);
  // Readability first: the rest is reached by scrolling.
  const onNewSize = useEffectEvent(() => fitFrom(readableScale));
  useLayoutEffect(() => onNewSize(), [width, height]);
  const zoom = (factor: number) => setScale((now) => Math.max(minScale, Math.min(maxScale, now * factor)));
  return { scroller, scale, fit, zoom };
}

type Zooming = Pick<ReturnType<typeof useScale>, 'fit' | 'zoom'>;

function ZoomButtons({ fit, zoom }: Zooming) {
  return (
    <div className={styles.zoom}>
      <Tooltip label="Larger (+)">
        <ActionIcon variant="default" size={26} aria-label="Larger" onClick={() => zoom(1.25)}>
          <IconPlus size={14} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Smaller (-)">
        <ActionIcon variant="default" size={26} aria-label="Smaller" onClick={() => zoom(0.8)}>
          <IconMinus size={14} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Show all (0)">
        <ActionIcon variant="default" size={26} aria-label="Show all" onClick={fit}>
          <IconZoomReset size={14} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

function Arrows() {
  return (
    <defs>
      {(['arrow', 'arrow-lit'] as const).map((id) => (
        <marker
          key={id}
          id={id}
          viewBox="0 0 8 8"
          refX={7}
          refY={4}
          markerWidth={7}
          markerHeight={7}
          orient="auto-start-reverse"
        >
          <path d="M 0 0.5 L 8 4 L 0 7.5 z" className={id === 'arrow' ? styles.head : styles.headLit} />
        </marker>
      ))}
    </defs>
  );
}

/** Ids of the selected node and its neighbours; null without a selection. */
function useLit({ graph }: LaidGraph, chosen: string | null): ReadonlySet<string> | null {
  return useMemo(() => {
    if (chosen === null || !graph.nodes.some(({ id }) => id === chosen)) return null;
    const { premises, conclusions } = neighboursOf(graph, chosen);
    return new Set([chosen, ...premises.map(({ from }) => from), ...conclusions.map(({ to }) => to)]);
  }, [graph, chosen]);
}

/** The background: bands and edges. */
function Background({ laid: { graph, layout }, chosen }: { laid: LaidGraph; chosen: string | null }) {
  return (
    <>
      {layout.bands.map((band) => (
        <g key={band.band} className={styles.band}>
          <rect x={band.x} y={0} width={band.width} height={layout.height} rx={8} />
          <text x={band.x + 18} y={21}>
            {graph.titles.get(band.band)}
          </text>
        </g>
      ))}
      {layout.edges.map((edge) => {
        const isLit = chosen !== null && (edge.from === chosen || edge.to === chosen);
        const key = `${edge.from}\n${edge.to}`;
        return <Edge key={key} edge={edge} isLit={isLit} isAside={chosen !== null && !isLit} />;
      })}
    </>
  );
}

/**
 * The graph with its layout.
 *
 * One tab stop; arrows move to the nearest node in their direction, Enter and Space select, + - and 0 zoom. Each node
 * says in words what its edges are.
 */
function LaidDrawing({ laid, label, chosen, isMatch, onChoose }: LaidDrawingProps) {
  const { graph, layout } = laid;
  const { scroller, scale, fit, zoom } = useScale(layout.width, layout.height);
  const lit = useLit(laid, chosen);
  const [visited, setVisited] = useState<string | null>(null);
  const nodeOf = useMemo(() => new Map(graph.nodes.map((node) => [node.id, node])), [graph]);
  const stop = [visited, chosen].find((id) => id !== null && nodeOf.has(id)) ?? graph.nodes[0]?.id ?? null;

  function elementOf(id: string): SVGGElement | null {
    return scroller.current?.querySelector<SVGGElement>(`[data-node=${CSS.escape(id)}]`) ?? null;
  }
  const reveal = useEffectEvent((id: string) =>
    elementOf(id)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
  );
  useEffect(() => {
    if (chosen !== null) reveal(chosen);
  }, [chosen, layout]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const zooms: Record<string, () => void> = { '+': () => zoom(1.25), '-': () => zoom(0.8), '0': fit };
    const place = layout.nodes.find(({ id }) => id === stop);
    if (isDirection(key) && place !== undefined) {
      event.preventDefault();
      const next = nextNode(layout.nodes, place, key);
      if (next !== null) elementOf(next.id)?.focus();
      return;
    }
    zooms[key]?.();
  }

  return (
    <div className={styles.drawing}>
      <div ref={scroller} className={styles.scroller} role="presentation" onKeyDown={onKeyDown}>
        <svg
          role="group"
          aria-label={label}
          width={(layout.width + 2 * margin) * scale}
          height={(layout.height + 2 * margin) * scale}
          viewBox={`${-margin} ${-margin} ${layout.width + 2 * margin} ${layout.height + 2 * margin}`}
        >
          <Arrows />
          <Background laid={laid} chosen={lit === null ? null : chosen} />
          {layout.nodes.map((place) => {
            const node = nodeOf.get(place.id);
            if (node === undefined) return null;
            const isAside = !isMatch(node) || (lit !== null && !lit.has(node.id));
            const look =
              node.id === chosen ? 'chosen' : isAside ? 'aside' : lit === null ? 'plain' : 'beside';
            return (
              <Node
                key={node.id}
                node={node}
                place={place}
                look={look}
                isStop={node.id === stop}
                onChoose={() => onChoose(node.id)}
                onFocus={() => setVisited(node.id)}
              />
            );
          })}
        </svg>
      </div>
      <ZoomButtons fit={fit} zoom={zoom} />
    </div>
  );
}

interface BandDrawingProps extends Omit<LaidDrawingProps, 'laid'> {
  graph: BandGraph;
  /** Draws only what is connected to the selected node; so it is with a graph too large to read. */
  isAround: boolean;
  /** What the nodes are: relations. */
  noun: string;
}

/** Draws a graph in bands, laid out in a worker. A list beside it should have the same nodes. */
export function BandDrawing({ graph, isAround, noun, ...drawing }: BandDrawingProps) {
  const { chosen } = drawing;
  const drawn = useMemo(() => {
    const isKnown = chosen !== null && graph.nodes.some(({ id }) => id === chosen);
    const part = isKnown && (isAround || graph.nodes.length > maxDrawn) ? aroundOf(graph, chosen) : graph;
    return part.nodes.length > maxDrawn ? null : part;
  }, [graph, chosen, isAround]);
  const { laid, isFailed } = useBandLayout(drawn);
  if (drawn === null)
    return (
      <EmptyState title="Too large to draw">
        {chosen === null
          ? `There are ${graph.nodes.length} ${noun}. Choose one in the list to see what it is connected to.`
          : `${chosen} is connected to more than ${maxDrawn} ${noun}. Its direct dependencies are listed beside.`}
      </EmptyState>
    );
  if (isFailed)
    return (
      <EmptyState title="The graph could not be drawn">
        The list has everything that is in it. Reload the window to try again.
      </EmptyState>
    );
  if (laid === null) return <div className={styles.scroller} aria-busy />;
  return <LaidDrawing laid={laid} {...drawing} />;
}

/** Whether only what is around the selected node is drawn, as this browser keeps it under a key. */
export function useAround(key: string): [boolean, (isAround: boolean) => void] {
  const [isAround, setIsAround] = useState(() =>
    readStoredState(key, (value) => (typeof value === 'boolean' ? value : null), false),
  );
  return [
    isAround,
    (next) => {
      writeStored(key, next);
      setIsAround(next);
    },
  ];
}
