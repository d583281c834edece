/** A workload: one program, one question and inputs of several sizes. */
import type { Relation, Row } from '../graphs.ts';
import type { BenchAtom, BenchRule } from '../program.ts';

/**
 * At `large` the best peer takes half a second, or as near to that as memory and loading allow: the engine's time is that of
 * its joins there, not that of V8's compiler.
 */
export const sizes = ['tiny', 'small', 'full', 'large'] as const;
export type Size = (typeof sizes)[number];

/** The names of contestants that run at `large`. */
export type Peer = 'DuckDB' | 'SQLite' | 'SWI-Prolog' | 'gringo';

/** The parameters of each size; without one of its own, `large` is as `full`. */
export type BySize = Readonly<Record<Exclude<Size, 'large'>, number>> & { readonly large?: number };

export const at = (parameters: BySize, size: Size): number => parameters[size] ?? parameters.full;

/** Everything after `SELECT count(*) FROM`; relations are tables with the columns x and y, unless they name others. */
export interface Sql {
  readonly with: string;
  readonly from: string;
  readonly indexes: readonly string[];
}

/**
 * - `ask`: one cold question.
 * - `change`: after it, remove one fact, ask again, put it back.
 * - `look-up`: after it, the same with its first argument bound to one key after the other.
 * - `reads`: the same with nothing asked before; its SQL reads the keys from the table `probe`.
 * - `load`: facts alone, and look-ups in them.
 * - `proof`: the proof of the goal, which has no variables.
 */
export type Kind = 'ask' | 'change' | 'look-up' | 'reads' | 'load' | 'proof';

export interface Workload {
  readonly name: string;
  readonly title: string;
  readonly kind: Kind;
  readonly rules: readonly BenchRule[] | ((size: Size) => readonly BenchRule[]);
  readonly goal: BenchAtom;
  /** A question that is asked before, off the clock. */
  readonly before?: BenchAtom;
  /** Our own engine is also asked for the proofs of all answers. */
  readonly withProofs?: boolean;
  /** null: it cannot be expressed in SQL. */
  readonly sql: Sql | null;
  /** True if only an engine that uses the question's constant can finish at full size. */
  readonly needsDemand: boolean;
  /**
   * This many scopes contain every fact, forked from one, and the question is asked in all of them; default 1.
   * Contestants without scopes have every fact once.
   */
  readonly scopes?: BySize;
  /**
   * The contestants that run at `large` beside ours: the others take ten times as long as the best of them, or longer.
   * Absent: the workload is not measured at `large`, since its best peer takes half a second at `full` or it is no join.
   */
  readonly largePeers?: readonly Peer[];
  build(size: Size): Relation[];
  /** Rows of the first relation that are removed and put back, or whose keys are looked up. */
  probes(relations: readonly Relation[], size: Size): Row[];
}

export function rulesOf({ rules }: Workload, size: Size): readonly BenchRule[] {
  return typeof rules === 'function' ? rules(size) : rules;
}

/** The default: a cold question that needs no demand and changes nothing. */
export const coldQuestion = {
  kind: 'ask',
  needsDemand: false,
  probes: (): Row[] => [],
} as const;

/** The peers of most workloads at `large`. */
export const databases: readonly Peer[] = ['DuckDB', 'SQLite'];

/** Whether the workload is measured at that size. */
export const hasSize = ({ largePeers }: Workload, size: Size): boolean =>
  size !== 'large' || largePeers !== undefined;
