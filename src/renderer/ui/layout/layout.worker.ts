/** Lays out diagrams in a worker, so that a large one blocks nothing. */
import { type BandInput, type BandLayout, layOutBands } from './band-layout.ts';
import { layOutNetwork, type NetworkInput, type NetworkLayout } from './network-layout.ts';
import { type Layout, type LayoutInput, layOutProof } from './proof-layout.ts';

/** What is laid out. */
export type LayoutJob =
  | { readonly kind: 'proof'; readonly input: LayoutInput }
  | { readonly kind: 'network'; readonly input: NetworkInput }
  | { readonly kind: 'bands'; readonly input: BandInput };

/** The layout of a job, of its kind. */
export type AnyLayout = Layout | NetworkLayout | BandLayout;

/** Message to the worker. */
export interface LayoutRequest {
  readonly id: number;
  readonly job: LayoutJob;
}

/** Reply of the worker. */
export interface LayoutReply {
  readonly id: number;
  readonly outcome: { readonly layout: AnyLayout } | { readonly failure: string };
}

function layoutOf(job: LayoutJob): AnyLayout {
  switch (job.kind) {
    case 'proof':
      return layOutProof(job.input);
    case 'network':
      return layOutNetwork(job.input);
    case 'bands':
      return layOutBands(job.input);
  }
}

function outcomeOf(job: LayoutJob): LayoutReply['outcome'] {
  try {
    return { layout: layoutOf(job) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

self.onmessage = (event: MessageEvent<LayoutRequest>) => {
  const { id, job } = event.data;
  const reply: LayoutReply = { id, outcome: outcomeOf(job) };
  self.postMessage(reply);
};
