/** Lays out diagrams away from the main thread, so that nothing waits for a large one. */
import { type Layout, type LayoutInput, layOut } from './layout.ts';

export interface LayoutRequest {
  readonly id: number;
  readonly input: LayoutInput;
}

export interface LayoutAnswer {
  readonly id: number;
  readonly outcome: { readonly layout: Layout } | { readonly failure: string };
}

function outcomeOf(input: LayoutInput): LayoutAnswer['outcome'] {
  try {
    return { layout: layOut(input) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

self.onmessage = (event: MessageEvent<LayoutRequest>) => {
  const { id, input } = event.data;
  const answer: LayoutAnswer = { id, outcome: outcomeOf(input) };
  self.postMessage(answer);
};
