import type { Metadata } from '../contract/facts.ts';

/** When a fact is valid: from, inclusive, until, exclusive; infinite where it is open. */
export interface Bounds {
  readonly from: number;
  readonly until: number;
}

/** All that can differ between two versions of one fact. */
export interface FactVersion extends Bounds {
  /** null: there is none. */
  readonly metadata: Metadata | null;
}
