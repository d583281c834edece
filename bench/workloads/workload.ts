/** What a workload is: one program, one question and inputs of three sizes. */
import type { Relation, Row } from '../graphs.ts';
import type { BenchAtom, BenchRule } from '../program.ts';

export const sizes = ['tiny', 'small', 'full'] as const;
export type Size = (typeof sizes)[number];

/** What is given for each size. */
export type BySize = Readonly<Record<Size, number>>;

/** Everything behind `SELECT count(*) FROM`; relations are tables with columns x and y. */
export interface Sql {
  readonly with: string;
  readonly from: string;
  readonly indexes: readonly string[];
}

/**
 * - `ask`: one cold question.
 * - `change`: after it, take one fact away, ask again, put it back.
 * - `look-up`: after it, the same with its first argument bound to one key after the other.
 * - `load`: facts alone, and look-ups of theirs.
 * - `proof`: the proof of the goal, which has no variables.
 */
export type Kind = 'ask' | 'change' | 'look-up' | 'load' | 'proof';

export interface Workload {
  readonly name: string;
  readonly title: string;
  readonly kind: Kind;
  readonly rules: readonly BenchRule[] | ((size: Size) => readonly BenchRule[]);
  readonly goal: BenchAtom;
  /** A question that is asked before, off the clock. */
  readonly before?: BenchAtom;
  /** Our own engine is asked for the proofs of all answers too. */
  readonly withProofs?: boolean;
  /** null: SQL has no words for it. */
  readonly sql: Sql | null;
  /** True where only an engine that follows the question's constant has a chance at full size. */
  readonly needsDemand: boolean;
  /**
   * So many scopes hold every fact, forked from one, and the question is put to all of them; 1 where it is left out.
   * Who knows no scopes has every fact once.
   */
  readonly scopes?: BySize;
  build(size: Size): Relation[];
  /** Rows of the first relation that are taken away and put back, or whose keys are looked up. */
  probes(relations: readonly Relation[], size: Size): Row[];
}

export function rulesOf({ rules }: Workload, size: Size): readonly BenchRule[] {
  return typeof rules === 'function' ? rules(size) : rules;
}

/** What most workloads are: a cold question that needs no demand and changes nothing. */
export const coldQuestion = { kind: 'ask', needsDemand: false, probes: (): Row[] => [] } as const;
