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
import { neighboursOf, nodeInWords, type RelationGraph, type RelationNode } from './dependency-graph.ts';
import {
  type GraphLayout,
  isDirection,
  type LaidEdge,
  type LaidNode,
  nextNode,
  nodeHeight,
  nodeWidth,
  type RuleLayoutAnswer,
  type RuleLayoutRequest,
} from './graph-layout.ts';
import LayoutWorker from './graph-layout.worker.ts?worker';
import styles from './rules.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

/** A graph with its layout. */
interface LaidGraph {
  /** The graph of this layout. */
  readonly graph: RelationGraph;
  readonly layout: GraphLayout;
}

/** Returns the layout; `isFailed`: the worker failed and there is nothing to draw. */
export function useGraphLayout(graph: RelationGraph | null): { laid: LaidGraph | null; isFailed: boolean } {
  const [laid, setLaid] = useState<LaidGraph | null>(null);
  const [isFailed, setIsFailed] = useState(false);
  const worker = useRef<Worker | null>(null);
  const lastId = useRef(0);

  useEffect(() => {
    const started = new LayoutWorker();
    worker.current = started;
    return () => {
      worker.current = null;
      started.terminate();
    };
  }, []);

  useEffect(() => {
    const asked = worker.current;
    if (asked === null || graph === null) return;
    lastId.current += 1;
    const id = lastId.current;
    asked.onmessage = (event: MessageEvent<RuleLayoutAnswer>) => {
      if (event.data.id !== lastId.current) return;
      setIsFailed(false);
      setLaid({ graph, layout: event.data.layout });
    };
    asked.onerror = () => setIsFailed(true);
    const request: RuleLayoutRequest = {
      id,
      nodes: graph.nodes.map((node) => ({ id: node.id, stratum: node.stratum })),
      edges: graph.edges,
    };
    asked.postMessage(request);
  }, [graph]);

  return { laid, isFailed };
}

const margin = 16;
const minScale = 0.2;
const readableScale = 0.65;
const maxScale = 2;
const longestName = 22;

interface GraphDrawingProps {
  laid: LaidGraph;
  /** Id of the selected relation. */
  chosen: string | null;
  isMatch: (node: RelationNode) => boolean;
  onChoose: (id: string) => void;
}

function shortened(text: string): string {
  return text.length <= longestName ? text : `${text.slice(0, longestName - 1)}…`;
}

function countsOf({ facts, rules, isRecursive }: RelationNode): string {
  const isOff = rules.length > 0 && rules.every(({ enabled }) => !enabled);
  return [
    ...(facts > 0 || rules.length === 0 ? [`${facts} ${facts === 1 ? 'fact' : 'facts'}`] : []),
    ...(rules.length > 0 ? [`${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`] : []),
    ...(isRecursive ? ['recursive'] : []),
    ...(isOff ? ['off'] : []),
  ].join(' · ');
}

interface NodeProps {
  node: RelationNode;
  place: LaidNode;
  words: string;
  look: 'plain' | 'chosen' | 'beside' | 'aside';
  isStop: boolean;
  onChoose: () => void;
  onFocus: () => void;
}

function Node({ node, place, words, look, isStop, onChoose, onFocus }: NodeProps) {
  const kind = node.rules.length > 0 ? styles.concluded : styles.stored;
  return (
    <g
      role="button"
      tabIndex={isStop ? 0 : -1}
      aria-label={words}
      aria-pressed={look === 'chosen'}
      data-relation={node.id}
      className={`${styles.node} ${kind} ${styles[look]}`}
      transform={`translate(${place.x} ${place.y})`}
      onClick={onChoose}
      onFocus={onFocus}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onChoose();
      }}
    >
      <title>{node.id}</title>
      <rect width={nodeWidth} height={nodeHeight} rx={5} />
      <text x={10} y={14} className={styles.name}>
        {shortened(node.id)}
      </text>
      <text x={10} y={27} className={styles.counts}>
        {countsOf(node)}
      </text>
    </g>
  );
}

function Edge({ edge, isLit, isAside }: { edge: LaidEdge; isLit: boolean; isAside: boolean }) {
  const { path, completes, middle } = edge;
  const look = `${isLit ? styles.lit : ''} ${isAside ? styles.aside : ''}`;
  return (
    <g className={`${styles.edge} ${completes ? styles.completes : ''} ${look}`}>
      <path d={path} markerEnd={`url(#${isLit ? 'arrow-lit' : 'arrow'})`} />
      {completes && (
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

/** Ids of the selected relation and its neighbours; null without a selection. */
function useLit({ graph }: LaidGraph, chosen: string | null): ReadonlySet<string> | null {
  return useMemo(() => {
    if (chosen === null || !graph.nodes.some(({ id }) => id === chosen)) return null;
    const { premises, conclusions } = neighboursOf(graph, chosen);
    return new Set([chosen, ...premises.map(({ from }) => from), ...conclusions.map(({ to }) => to)]);
  }, [graph, chosen]);
}

/** The background: strata and edges. */
function Background({ layout, chosen }: { layout: LaidGraph['layout']; chosen: string | null }) {
  return (
    <>
      {layout.bands.map((band) => (
        <g key={band.stratum} className={styles.band}>
          <rect x={band.x} y={0} width={band.width} height={layout.height} rx={8} />
          <text x={band.x + 18} y={21}>
            Stratum {band.stratum}
          </text>
        </g>
      ))}
      {layout.edges.map((edge) => {
        const isLit = chosen !== null && (edge.from === chosen || edge.to === chosen);
        const key = `${edge.from} ${edge.to}`;
        return <Edge key={key} edge={edge} isLit={isLit} isAside={chosen !== null && !isLit} />;
      })}
    </>
  );
}

/**
 * Draws the graph of relations.
 *
 * One tab stop; arrows move to the nearest node in their direction, Enter and Space select, + - and 0 zoom. Each node
 * names its dependencies in text, and the list beside it has the same nodes.
 */
export function GraphDrawing({ laid, chosen, isMatch, onChoose }: GraphDrawingProps) {
  const { graph, layout } = laid;
  const { scroller, scale, fit, zoom } = useScale(layout.width, layout.height);
  const lit = useLit(laid, chosen);
  const [visited, setVisited] = useState<string | null>(null);
  const nodeOf = useMemo(() => new Map(graph.nodes.map((node) => [node.id, node])), [graph]);
  const stop = [visited, chosen].find((id) => id !== null && nodeOf.has(id)) ?? graph.nodes[0]?.id ?? null;

  function elementOf(id: string): SVGGElement | null {
    return scroller.current?.querySelector<SVGGElement>(`[data-relation=${CSS.escape(id)}]`) ?? null;
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
          aria-label="Graph of relations"
          width={(layout.width + 2 * margin) * scale}
          height={(layout.height + 2 * margin) * scale}
          viewBox={`${-margin} ${-margin} ${layout.width + 2 * margin} ${layout.height + 2 * margin}`}
        >
          <Arrows />
          <Background layout={layout} chosen={lit === null ? null : chosen} />
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
                words={nodeInWords(graph, node)}
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
