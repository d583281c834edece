/** Lays out diagrams in a worker, so that a large one blocks nothing. */
import { type Layout, type LayoutInput, layOutProof } from './layout.ts';

/** Message to the worker. */
export interface ProofLayoutRequest {
  readonly id: number;
  readonly input: LayoutInput;
}

/** Reply of the worker. */
export interface ProofLayoutAnswer {
  readonly id: number;
  readonly outcome: { readonly layout: Layout } | { readonly failure: string };
}

function outcomeOf(input: LayoutInput): ProofLayoutAnswer['outcome'] {
  try {
    return { layout: layOutProof(input) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

self.onmessage = (event: MessageEvent<ProofLayoutRequest>) => {
  const { id, input } = event.data;
  const answer: ProofLayoutAnswer = { id, outcome: outcomeOf(input) };
  self.postMessage(answer);
};
