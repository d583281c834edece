/** Lays out the graph in a worker. */
import '../../ui/no-eval.ts';
import { layOutRules, type RuleLayoutAnswer, type RuleLayoutRequest } from './graph-layout.ts';

self.onmessage = (event: MessageEvent<RuleLayoutRequest>) => {
  const { id, nodes, edges } = event.data;
  const answer: RuleLayoutAnswer = { id, layout: layOutRules(nodes, edges) };
  self.postMessage(answer);
};
