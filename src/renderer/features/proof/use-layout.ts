/** The layout of a diagram, from a worker. The previous diagram stays until the new one arrives. */
import { useEffect, useState } from 'react';
import type { ShownFailure } from '../../ui/notices.tsx';
import { type DiagramGraph, placedDiagram, type PlacedDiagram } from './diagram.ts';
import { proofLayout } from '../../ui/layout/layout-in-worker.ts';

/** Returns the failure to show for a diagram that could not be drawn. */
export function failureOfDiagram(error: unknown): ShownFailure {
  const detail = error instanceof Error ? error.message : String(error);
  return { title: 'The diagram could not be drawn', detail, requestId: '', errors: [] };
}

/** Returns the graph with its layout; rejects with a message for the user. */
export async function laidOut(graph: DiagramGraph, isDown = false): Promise<PlacedDiagram> {
  const nodes = graph.nodes.map(({ width, height }) => ({ width, height }));
  try {
    return placedDiagram(graph, await proofLayout({ nodes, edges: graph.edges, isDown }), isDown);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${why} The outline shows the same steps.`, { cause: error });
  }
}

interface LaidOut {
  readonly diagram: PlacedDiagram | null;
  readonly failure: ShownFailure | null;
  readonly again: () => void;
}

/** Returns the layout of a graph, to the right or from the top down, as it becomes available. */
export function useLaidOut(graph: DiagramGraph, isDown: boolean): LaidOut {
  const [diagram, setDiagram] = useState<PlacedDiagram | null>(null);
  const [failure, setFailure] = useState<ShownFailure | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isWanted = true;
    laidOut(graph, isDown).then(
      (placed) => {
        if (!isWanted) return;
        setDiagram(placed);
        setFailure(null);
      },
      (error: unknown) => {
        if (isWanted) setFailure(failureOfDiagram(error));
      },
    );
    return () => {
      isWanted = false;
    };
  }, [graph, isDown, tries]);
  return { diagram, failure, again: () => setTries((count) => count + 1) };
}
