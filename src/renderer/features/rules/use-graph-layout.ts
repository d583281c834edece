/**
 * The layout of a graph, from a worker that lives as long as the graph is shown; the previous layout stays meanwhile.
 */
import { useEffect, useRef, useState } from 'react';
import type { RelationGraph } from './dependency-graph.ts';
import type { GraphLayout, RuleLayoutAnswer, RuleLayoutRequest } from './graph-layout.ts';
import LayoutWorker from './graph-layout.worker.ts?worker';

/** A graph with its layout. */
export interface LaidGraph {
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
