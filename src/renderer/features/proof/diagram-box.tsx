/** One step in the diagram: an item of a tree, drawn as a box. */
import { memo } from 'react';
import type { OutlineRow } from './proof-tree.ts';
import styles from './diagram.module.css';
import {
  coloursOf,
  foldMark,
  foldSize,
  kindLine,
  type Shape,
  shapesOf,
  type StepNotes,
} from './node-drawing.ts';
import type { PlacedNode } from './placed-diagram.ts';
import { type VariableBinding, wordOf } from './step-words.ts';
import type { LookedAt } from './use-looked-at.ts';

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
        // Spans have no identity but their place.
        // eslint-disable-next-line react/no-array-index-key
        <tspan key={index} style={{ fill: `var(${colour})` }}>
          {text}
        </tspan>
      ))}
    </text>
  );
}

/** The whole of what a box says, for those who do not see it. */
function labelOf(placed: PlacedNode, notes: StepNotes, bindings: readonly VariableBinding[]): string {
  const { row, uses } = placed.node;
  const { atom, rule } = row.step;
  const by = rule === null ? '' : ` by ${rule}`;
  const where = bindings.map(([variable, constant]) => `${variable} = ${constant}`).join(', ');
  const shared = uses > 1 ? `, stands under ${uses} steps` : '';
  return `${atom}, ${kindLine(row, notes)}${by}${where === '' ? '' : `, with ${where}`}${shared}`;
}

interface DiagramBoxProps {
  id: string;
  placed: PlacedNode;
  notes: StepNotes;
  bindingsOf: LookedAt['bindingsOf'];
  isActive: boolean;
  isUnfolded: boolean;
  isMatch: boolean;
  onSelect: (row: OutlineRow) => void;
  onOpen: (row: OutlineRow) => void;
  onToggle: (row: OutlineRow) => void;
}

function FoldMark({ placed, mark, onToggle }: { placed: PlacedNode; mark: '+' | '−'; onToggle: () => void }) {
  const { width, height } = placed;
  return (
    <g
      className={styles.fold}
      transform={`translate(${width} ${height / 2})`}
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

export const DiagramBox = memo(function DiagramBox(props: DiagramBoxProps) {
  const { id, placed, notes, bindingsOf, isActive, isUnfolded, isMatch } = props;
  const { width, height, node } = placed;
  const { row } = node;
  const bindings = bindingsOf(row.step);
  const mark = foldMark(row, isUnfolded);
  const { word } = coloursOf(wordOf(row.step).tone);
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
      {/* What is shared or searched for shows it by its form, too. */}
      {node.uses > 1 && <rect className={styles.behind} x={4} y={4} width={width} height={height} rx={5} />}
      <rect className={styles.frame} width={width} height={height} rx={5} />
      <rect y={6} width={3} height={height - 12} style={{ fill: `var(${word})` }} />
      <svg width={width} height={height} role="presentation">
        {shapesOf(row, node, notes, bindings).map((shape, index) => (
          // Shapes have no identity but their place.
          // eslint-disable-next-line react/no-array-index-key
          <ShapeDrawing key={index} shape={shape} />
        ))}
      </svg>
      {mark !== null && <FoldMark placed={placed} mark={mark} onToggle={() => props.onToggle(row)} />}
    </g>
  );
});
