/** The layout of a diagram, from a worker. The previous diagram stays until the new one arrives. */
import { useEffect, useState } from 'react';
import type { ShownFailure } from '../../ui/notices.tsx';
import { type DiagramGraph, placedDiagram, type PlacedDiagram } from './diagram.ts';
import type { Layout, LayoutInput } from './layout.ts';
import type { ProofLayoutAnswer, ProofLayoutRequest } from './layout.worker.ts';
import LayoutWorker from './layout.worker.ts?worker';

interface Waiting {
  resolve(layout: Layout): void;
  reject(error: Error): void;
}

let worker: Worker | null = null;
let lastId = 0;
const waiting = new Map<number, Waiting>();

/** Returns the failure to show for a diagram that could not be drawn. */
export function failureOfDiagram(error: unknown): ShownFailure {
  const detail = error instanceof Error ? error.message : String(error);
  return { title: 'The diagram could not be drawn', detail, requestId: '', errors: [] };
}

/** Ends a failed worker; the next request starts another. */
function endWorker(failed: Worker, why: string): void {
  failed.terminate();
  if (worker === failed) worker = null;
  const error = new Error(`${why} The outline shows the same steps.`);
  for (const { reject } of waiting.values()) reject(error);
  waiting.clear();
}

function startWorker(): Worker {
  const started = new LayoutWorker();
  started.onmessage = (event: MessageEvent<ProofLayoutAnswer>) => {
    const { id, outcome } = event.data;
    if ('failure' in outcome) endWorker(started, `${outcome.failure}.`);
    else waiting.get(id)?.resolve(outcome.layout);
    waiting.delete(id);
  };
  started.onerror = () => endWorker(started, 'The layout worker did not start, or has ended.');
  return started;
}

/** Returns the graph with its layout; rejects with a message for the user. */
export async function laidOut(graph: DiagramGraph): Promise<PlacedDiagram> {
  worker ??= startWorker();
  lastId += 1;
  const id = lastId;
  const input: LayoutInput = {
    nodes: graph.nodes.map(({ width, height }) => ({ width, height })),
    edges: graph.edges,
  };
  const request: ProofLayoutRequest = { id, input };
  const answered = new Promise<Layout>((resolve, reject) => waiting.set(id, { resolve, reject }));
  worker.postMessage(request);
  return placedDiagram(graph, await answered);
}

interface LaidOut {
  readonly diagram: PlacedDiagram | null;
  readonly failure: ShownFailure | null;
  readonly again: () => void;
}

/** Returns the layout of a graph as it becomes available. */
export function useLaidOut(graph: DiagramGraph): LaidOut {
  const [diagram, setDiagram] = useState<PlacedDiagram | null>(null);
  const [failure, setFailure] = useState<ShownFailure | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isWanted = true;
    laidOut(graph).then(
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
  }, [graph, tries]);
  return { diagram, failure, again: () => setTries((count) => count + 1) };
}
