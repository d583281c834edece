import type { AtomLiteral } from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { Consumer, Derived } from './derived.ts';
import type { ViewRule } from './program.ts';

/**
 * What an evaluation tells someone who watches it: the seam of `tracer.ts`, and nothing but types.
 *
 * A set of tables has at most one observer, from its making on. Rules are compiled with what they tell built into
 * their machines, so an evaluation that nobody watches pays a test for null at each demand and each match.
 */
export interface Observer {
  /** What it holds in memory, counted with the set. */
  readonly bytes: number;
  /** A table has been made: the rows of its demand are subgoals, its rows their answers. */
  table(table: ObservedTable): void;
  /** What is compiled from now on belongs to this rule; null: to a table's stored facts, or to the question. */
  compiling(rule: ViewRule | null): void;
  /** While compiling: what to call whenever a body demands a tuple of `target`, for the atom where it is one. */
  demands(source: Source, target: Derived, literal: AtomLiteral | null): Seen;
  /** While compiling: what to call for every match of a whole body, which makes a tuple of `target`. */
  concludes(source: Source, target: Derived): Seen;
  /** While compiling: the join to run in place of this one, which does the same. */
  timed(consumer: Consumer): Consumer;
  /** The work list has come to a level: everything lower is at its fixpoint. */
  reached(level: number): void;
  /** The question is a body: `answers` are wanted for the one tuple of `demand`. */
  question(demand: Derived, answers: Derived): void;
  /** The question has demanded a tuple of `demand`. */
  asked(demand: Derived, tuple: Int32Array): void;
}

/** Told with the tuple in its turn, after it was put where it belongs, and whether it was new there. */
export type Seen = (tuple: Int32Array, isNew: boolean) => void;

/** For whom a machine works: `registers` of `values` hold the tuple of `demand`, wherever it demands or concludes. */
export interface Source {
  readonly demand: Derived;
  readonly registers: readonly number[];
  readonly values: Int32Array;
}

export interface ObservedTable {
  readonly view: ScopeChoice;
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  readonly boundPositions: readonly number[];
  readonly demand: Derived;
  readonly rows: Derived;
}
