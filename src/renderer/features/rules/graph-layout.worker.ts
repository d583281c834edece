/** Lays the graph out away from the main thread. */
import '../../ui/no-eval.ts';
import { layOut, type LayoutAnswer, type LayoutRequest } from './graph-layout.ts';

self.onmessage = (event: MessageEvent<LayoutRequest>) => {
  const { id, nodes, edges } = event.data;
  const answer: LayoutAnswer = { id, layout: layOut(nodes, edges) };
  self.postMessage(answer);
};
