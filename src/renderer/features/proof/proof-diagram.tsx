import { ActionIcon, Loader } from '@mantine/core';
import { IconArrowDown, IconArrowRight, IconMaximize, IconMinus, IconPlus } from '@tabler/icons-react';
import { type KeyboardEvent, memo, type ReactNode, useId, useMemo, useRef } from 'react';
import type { OutlineRow } from '../../../proof/proof-tree.ts';
import { stepWords } from '../../../proof/step-words.ts';
import type { VariableBinding } from '../../../proof/substitution.ts';
import { PaneProblem } from '../../ui/notices.tsx';
import {
  diagramOf,
  nodeOfStep,
  type PlacedDiagram,
  type PlacedEdge,
  type PlacedNode,
  within,
} from './diagram.ts';
import styles from './diagram.module.css';
import {
  coloursOf,
  foldMark,
  foldSize,
  kindLine,
  type Shape,
  shapesOf,
  sizeOfNode,
  type StepNotes,
} from './node-drawing.ts';
import { useLaidOut } from './use-layout.ts';
import type { ProofDisplay } from './use-proof-display.ts';
import type { StepActions } from './step-actions.ts';
import { Minimap, platesOf } from './minimap.tsx';
import { inSteps, seen, useScreen, useViewport, type Viewport } from './use-viewport.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

function ShapeDrawing({ shape }: { shape: Shape }) {
  if (shape.kind === 'box') {
    const { x, y, width, height, radius, fill } = shape;
    return <rect x={x} y={y} width={width} height={height} rx={radius} style={{ fill: `var(${fill})` }} />;
  }
  const { x, y, size, isCode, isBold, spans } = shape;
  return (
    <text
      x={x}
      y={y}
      className={isCode ? styles.code : styles.words}
      style={{ fontSize: size, fontWeight: isBold ? 600 : 400 }}
    >
      {spans.map(({ text, colour }, index) => (
        // Runs are identified by position.
        // eslint-disable-next-line react/no-array-index-key
        <tspan key={index} style={{ fill: `var(${colour})` }}>
          {text}
        </tspan>
      ))}
    </text>
  );
}

/** The full content of a box, for screen readers. */
function labelOf(placed: PlacedNode, notes: StepNotes, bindings: readonly VariableBinding[]): string {
  const { row, uses } = placed.node;
  const { atom, rule } = row.step;
  const by = rule === null ? '' : ` by ${rule}`;
  const where = bindings.map(([variable, constant]) => `${variable} = ${constant}`).join(', ');
  const shared = uses > 1 ? `, used by ${uses} steps` : '';
  return `${atom}, ${kindLine(row, notes)}${by}${where === '' ? '' : `, with ${where}`}${shared}`;
}

interface DiagramBoxProps {
  id: string;
  placed: PlacedNode;
  notes: StepNotes;
  bindingsOf: ProofDisplay['bindingsOf'];
  isActive: boolean;
  isUnfolded: boolean;
  isMatch: boolean;
  isDown: boolean;
  onSelect: (row: OutlineRow) => void;
  onOpen: (row: OutlineRow) => void;
  onToggle: (row: OutlineRow) => void;
}

interface FoldMarkProps {
  placed: PlacedNode;
  mark: '+' | '−';
  isDown: boolean;
  onToggle: () => void;
}

function FoldMark({ placed, mark, isDown, onToggle }: FoldMarkProps) {
  const { width, height } = placed;
  const [x, y] = isDown ? [width / 2, height] : [width, height / 2];
  return (
    <g
      className={styles.fold}
      transform={`translate(${x} ${y})`}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <rect x={-13} y={-13} width={26} height={26} fill="transparent" />
      <circle r={foldSize / 2} />
      <path d={mark === '+' ? 'M-4 0h8M0 -4v8' : 'M-4 0h8'} />
    </g>
  );
}

const DiagramBox = memo(function DiagramBox(props: DiagramBoxProps) {
  const { id, placed, notes, bindingsOf, isActive, isUnfolded, isMatch } = props;
  const { width, height, node } = placed;
  const { row } = node;
  const bindings = bindingsOf(row.step);
  const mark = foldMark(row, isUnfolded);
  const { word } = coloursOf(stepWords[row.step.kind].tone);
  const look = [styles.box, isActive ? styles.active : '', isMatch ? styles.match : ''].join(' ');
  return (
    <g
      id={id}
      role="treeitem"
      aria-label={labelOf(placed, notes, bindings)}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isActive}
      {...(mark === null ? {} : { 'aria-expanded': isUnfolded })}
      className={look}
      transform={`translate(${placed.left} ${placed.top})`}
      onClick={() => props.onSelect(row)}
      onDoubleClick={() => props.onOpen(row)}
    >
      <title>{row.step.rule === null ? row.step.atom : `${row.step.atom}\n${row.step.rule}`}</title>
      {/* Shared steps and matches also differ in form, not only in colour. */}
      {node.uses > 1 && <rect className={styles.behind} x={4} y={4} width={width} height={height} rx={5} />}
      <rect className={styles.frame} width={width} height={height} rx={5} />
      <rect y={6} width={3} height={height - 12} style={{ fill: `var(${word})` }} />
      <svg width={width} height={height} role="presentation">
        {shapesOf(row, node, notes, bindings).map((shape, index) => (
          // Shapes are identified by position.
          // eslint-disable-next-line react/no-array-index-key
          <ShapeDrawing key={index} shape={shape} />
        ))}
      </svg>
      {mark !== null && (
        <FoldMark placed={placed} mark={mark} isDown={props.isDown} onToggle={() => props.onToggle(row)} />
      )}
    </g>
  );
});

/** Returns the graph of the unfolded steps. */
export function useDiagramGraph({ rows, chosen, hiddenUnder }: ProofDisplay) {
  const notes = useMemo((): StepNotes => ({ chosen, hiddenUnder }), [chosen, hiddenUnder]);
  const graph = useMemo(() => diagramOf(rows, (row) => sizeOfNode(row, notes)), [rows, notes]);
  return { notes, graph };
}

/** Below this scale, or with more boxes in view, text is not drawn. */
const minReadable = 0.3;
const maxBoxes = 350;
/** A pane this much higher than wide gets its premises below the conclusion. */
const tallFrom = 1.05;
/** Lines that a page key moves. */
const pageSize = 10;
/** Margin around the screen in which boxes are drawn, in pixels. */
const drawnAround = 120;

interface DrawnProps {
  id: string;
  display: ProofDisplay;
  actions: StepActions;
  notes: StepNotes;
  diagram: PlacedDiagram;
  view: Viewport;
  screen: { readonly width: number; readonly height: number };
}

/** Edges of a kind are one path: a step may have thousands of premises. */
const Edges = memo(function Edges({ edges, active }: { edges: readonly PlacedEdge[]; active: number }) {
  const isNear = ({ edge }: PlacedEdge) => edge.from === active || edge.to === active;
  const path = (of: (placed: PlacedEdge) => boolean) =>
    edges
      .filter(of)
      .map((placed) => placed.path)
      .join('');
  return (
    <g role="presentation" className={styles.edges}>
      <path d={path((placed) => !isNear(placed) && !placed.edge.isCircle)} />
      <path d={path((placed) => !isNear(placed) && placed.edge.isCircle)} className={styles.circle} />
      <path d={path((placed) => isNear(placed) && !placed.edge.isCircle)} className={styles.nearEdge} />
      <path
        d={path((placed) => isNear(placed) && placed.edge.isCircle)}
        className={`${styles.nearEdge} ${styles.circle}`}
      />
    </g>
  );
});

/** The far view: one path for all edges and one for the boxes of each kind. */
const Far = memo(function Far({ nodes, edges }: ReturnType<typeof within>) {
  return (
    <>
      <path className={styles.farEdges} d={edges.map(({ path }) => path).join('')} />
      {platesOf(nodes).map(([colour, path]) => (
        <path key={colour} className={styles.plate} d={path} style={{ fill: `var(${colour})` }} />
      ))}
    </>
  );
});

function Drawn({ id, display, actions, notes, diagram, view, screen }: DrawnProps) {
  const { state, found, active, bindingsOf } = display;
  // Quantized, so that a small move redraws nothing.
  const { left, top, width, height } = inSteps(seen(view, screen), drawnAround / view.k);
  const drawn = useMemo(
    () => within(diagram, { left, top, width, height }),
    [diagram, left, top, width, height],
  );
  const isFar = view.k < minReadable || drawn.nodes.length > maxBoxes;
  const cursor = nodeOfStep(diagram, active?.step.id ?? -1);
  // A screen reader still finds the cursor in it.
  const boxes = isFar || !drawn.nodes.some((node) => node === cursor) ? cursor : undefined;
  const shown = [...(isFar ? [] : drawn.nodes), ...(boxes === undefined ? [] : [boxes])];
  return (
    <g role="presentation" transform={`translate(${view.x} ${view.y}) scale(${view.k})`}>
      {isFar ? (
        <Far {...drawn} />
      ) : (
        <Edges edges={drawn.edges} active={diagram.nodeOf.get(active?.step.id ?? -1) ?? -1} />
      )}
      {shown.map((placed) => {
        const { row } = placed.node;
        const step = row.step.id;
        return (
          <DiagramBox
            key={step}
            id={`${id}-${step}`}
            placed={placed}
            notes={notes}
            bindingsOf={bindingsOf}
            isActive={placed === cursor}
            isUnfolded={state.unfolded.has(row.key)}
            isMatch={found?.matches.has(step) === true}
            isDown={diagram.isDown}
            onSelect={actions.select}
            onOpen={actions.open}
            onToggle={actions.toggle}
          />
        );
      })}
    </g>
  );
}

interface ZoomProps {
  scale: number;
  zoomIn: () => void;
  zoomOut: () => void;
  fit: () => void;
  isDown: boolean;
  turn: () => void;
}

function Zoom({ scale, zoomIn, zoomOut, fit, isDown, turn }: ZoomProps) {
  const button = (label: string, keys: string, icon: ReactNode, act: () => void) => (
    <Tooltip label={`${label} (${keys})`}>
      <ActionIcon size={26} aria-label={label} onClick={act}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <div role="group" aria-label="Zoom" className={styles.zoom}>
      {button('Zoom out', 'Shift+Z', <IconMinus size={15} aria-hidden />, zoomOut)}
      <span className={`number ${styles.scale}`}>{Math.round(scale * 100)}%</span>
      {button('Zoom in', 'Z', <IconPlus size={15} aria-hidden />, zoomIn)}
      {button('Fit into the view', 'F', <IconMaximize size={15} aria-hidden />, fit)}
      {isDown
        ? button('Lay out to the right', 'D', <IconArrowRight size={15} aria-hidden />, turn)
        : button('Lay out from the top down', 'D', <IconArrowDown size={15} aria-hidden />, turn)}
    </div>
  );
}

/**
 * Shows the diagram of a proof: an ARIA tree that draws only visible parts.
 *
 * One tab stop and the outline's keys; unfolded steps and cursor are shared with it. Zoomed far out, boxes become
 * plates without text, one path per kind.
 */
export function ProofDiagram({ display, actions }: { display: ProofDisplay; actions: StepActions }) {
  const { notes, graph } = useDiagramGraph(display);
  const ref = useRef<HTMLDivElement>(null);
  const pane = useScreen(ref);
  const { flow } = display.look;
  const isDown = flow === undefined ? pane !== null && pane.height > pane.width * tallFrom : flow === 'down';
  const { diagram, failure, again } = useLaidOut(graph, isDown);
  const id = useId();
  const active = display.active?.step.id ?? -1;
  const { view, screen, dragging, zoomIn, zoomOut, fit, centreOn } = useViewport(ref, diagram, active);

  const turn = () => display.setLook({ flow: isDown ? 'right' : 'down' });

  function onKeyDown(event: KeyboardEvent): void {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const key = event.key.toLowerCase();
    if (!isPlain || !/^[fzd]$/.test(key)) {
      actions.onKeyDown(event, pageSize);
      return;
    }
    event.preventDefault();
    if (key === 'd') turn();
    else if (key === 'f') fit();
    else if (event.shiftKey) zoomOut();
    else zoomIn();
  }

  if (failure !== null) return <PaneProblem failure={failure} onRetry={again} />;
  const isDrawn = diagram !== null && view !== null && screen !== null;
  const isCursorDrawn = diagram !== null && nodeOfStep(diagram, active) !== undefined;
  return (
    <div className={styles.frameOfAll}>
      <div
        ref={ref}
        role="tree"
        tabIndex={0}
        aria-label="Proof diagram"
        aria-busy={!isDrawn}
        {...(isCursorDrawn ? { 'aria-activedescendant': `${id}-${active}` } : {})}
        className={styles.diagram}
        onKeyDown={onKeyDown}
        {...dragging}
      >
        {isDrawn && (
          <svg role="presentation" className={styles.canvas}>
            <Drawn {...{ id, display, actions, notes, diagram, view, screen }} />
          </svg>
        )}
      </div>
      {isDrawn ? (
        <>
          <Minimap {...{ diagram, view, screen, centreOn }} />
          <Zoom scale={view.k} {...{ zoomIn, zoomOut, fit, isDown, turn }} />
        </>
      ) : (
        <div className={styles.loading}>
          <Loader size={18} aria-label="Laying out" />
        </div>
      )}
    </div>
  );
}
