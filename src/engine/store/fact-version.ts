import type { Metadata } from '../contract/facts.ts';

/** When a fact is valid: from (inclusive) until (exclusive); infinite if open. */
export interface Bounds {
  readonly from: number;
  readonly until: number;
}

/** Everything that can differ between two versions of one fact. */
export interface FactVersion extends Bounds {
  /** null if there are none. */
  readonly metadata: Metadata | null;
}
