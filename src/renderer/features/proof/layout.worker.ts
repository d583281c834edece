/** Lays out diagrams away from the main thread, so that nothing waits for a large one. */
import { type Layout, type LayoutInput, layOutProof } from './layout.ts';

export interface ProofLayoutRequest {
  readonly id: number;
  readonly input: LayoutInput;
}

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
