/** A small picture of the whole diagram with the visible part framed; pressing or dragging in it moves the view. */
import { memo, type PointerEvent } from 'react';
import { stepWords } from '../../../proof/step-words.ts';
import type { PlacedDiagram, PlacedNode } from './diagram.ts';
import styles from './diagram.module.css';
import { coloursOf } from './node-drawing.ts';
import { seen, type Viewport } from './use-viewport.ts';

const most = { width: 168, height: 120 };

/** Returns all boxes of a kind as one path. */
export function platesOf(nodes: readonly PlacedNode[]): [colour: string, path: string][] {
  const paths = new Map<string, string[]>();
  for (const { node, left, top, width, height } of nodes) {
    const { word } = coloursOf(stepWords[node.row.step.kind].tone);
    const path = `M${Math.round(left)} ${Math.round(top)}h${width}v${height}h${-width}z`;
    const known = paths.get(word);
    if (known === undefined) paths.set(word, [path]);
    else known.push(path);
  }
  return [...paths].map(([colour, parts]) => [colour, parts.join('')]);
}

/** Larger than in proportion, so that a box of a large diagram is still a dot. */
function grown(nodes: readonly PlacedNode[], scale: number): PlacedNode[] {
  const least = 2 / scale;
  return nodes.map((node) => ({
    ...node,
    width: Math.max(node.width, least),
    height: Math.max(node.height, least),
  }));
}

const Plates = memo(function Plates({ diagram, scale }: { diagram: PlacedDiagram; scale: number }) {
  return platesOf(grown(diagram.nodes, scale)).map(([colour, path]) => (
    <path key={colour} d={path} style={{ fill: `var(${colour})` }} />
  ));
});

interface MinimapProps {
  diagram: PlacedDiagram;
  view: Viewport;
  screen: { readonly width: number; readonly height: number };
  /** Moves the view so that a point of the diagram is in its middle. */
  centreOn: (at: { x: number; y: number }) => void;
}

/** Shows the minimap if a part of the diagram is out of sight. Hidden from screen readers: the cursor's keys do more. */
export function Minimap({ diagram, view, screen, centreOn }: MinimapProps) {
  const part = seen(view, screen);
  const isAllSeen =
    part.left <= 0 &&
    part.top <= 0 &&
    part.left + part.width >= diagram.width &&
    part.top + part.height >= diagram.height;
  if (isAllSeen) return null;
  const scale = Math.min(most.width / diagram.width, most.height / diagram.height);
  const left = Math.max(0, part.left);
  const top = Math.max(0, part.top);
  function move(event: PointerEvent<SVGSVGElement>): void {
    const box = event.currentTarget.getBoundingClientRect();
    centreOn({ x: (event.clientX - box.left) / scale, y: (event.clientY - box.top) / scale });
  }
  return (
    <svg
      className={styles.minimap}
      aria-hidden
      data-testid="minimap"
      width={Math.max(4, diagram.width * scale)}
      height={Math.max(4, diagram.height * scale)}
      viewBox={`0 0 ${diagram.width} ${diagram.height}`}
      preserveAspectRatio="none"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        move(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event);
      }}
    >
      <Plates diagram={diagram} scale={scale} />
      <rect
        className={styles.minimapPart}
        x={left}
        y={top}
        width={Math.max(0, Math.min(diagram.width, part.left + part.width) - left)}
        height={Math.max(0, Math.min(diagram.height, part.top + part.height) - top)}
      />
    </svg>
  );
}
