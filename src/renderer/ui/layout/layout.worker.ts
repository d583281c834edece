/** Lays out diagrams in a worker, so that a large one blocks nothing. */
import { layOutNetwork, type NetworkInput, type NetworkLayout } from './network-layout.ts';
import { type Layout, type LayoutInput, layOutProof } from './proof-layout.ts';

/** What is laid out. */
export type LayoutJob =
  | { readonly kind: 'proof'; readonly input: LayoutInput }
  | { readonly kind: 'network'; readonly input: NetworkInput };

/** Message to the worker. */
export interface LayoutRequest {
  readonly id: number;
  readonly job: LayoutJob;
}

/** Reply of the worker. */
export interface LayoutReply {
  readonly id: number;
  readonly outcome: { readonly layout: Layout | NetworkLayout } | { readonly failure: string };
}

function outcomeOf(job: LayoutJob): LayoutReply['outcome'] {
  try {
    return { layout: job.kind === 'proof' ? layOutProof(job.input) : layOutNetwork(job.input) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

self.onmessage = (event: MessageEvent<LayoutRequest>) => {
  const { id, job } = event.data;
  const reply: LayoutReply = { id, outcome: outcomeOf(job) };
  self.postMessage(reply);
};
