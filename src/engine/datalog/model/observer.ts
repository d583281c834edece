import type { AtomLiteral } from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { Consumer, Derived } from './derived.ts';
import type { ViewRule } from './program.ts';

/**
 * Receives the events of an evaluation: the interface between tables and `tracer.ts`, types only.
 *
 * A table set has at most one observer, for its whole life. The observer's callbacks are compiled into the
 * joins, so an unobserved evaluation pays one test for null at each demand and each match.
 */
export interface Observer {
  /** Memory that it takes, counted with the table set. */
  readonly bytes: number;
  /** A table has been made: the rows of its demand are subgoals, its rows their answers. */
  table(table: ObservedTable): void;
  /**
   * What is compiled from now on belongs to this rule; null: to a table's stored facts, or to the question.
   */
  compiling(rule: ViewRule | null): void;
  /**
   * During compilation: returns what to call whenever a body demands a tuple of `target`, for the given atom
   * if it is one.
   */
  demands(source: Source, target: Derived, literal: AtomLiteral | null): Seen;
  /**
   * During compilation: returns what to call for every match of a whole body, which makes a tuple of
   * `target`.
   */
  concludes(source: Source, target: Derived): Seen;
  /** During compilation: returns an equivalent join, to be run in place of this one. */
  timed(consumer: Consumer): Consumer;
  /** The work list has reached a level: everything lower is at its fixpoint. */
  reached(level: number): void;
  /** The question is a body: `answers` are wanted for the one tuple of `demand`. */
  question(demand: Derived, answers: Derived): void;
  /** The question has demanded a tuple of `demand`. */
  asked(demand: Derived, tuple: Int32Array): void;
}

/** Called in order with each tuple after its insertion, and whether it was new. */
export type Seen = (tuple: Int32Array, isNew: boolean) => void;

/**
 * The subgoal for which a machine works: `registers` of `values` have the tuple of `demand` whenever it
 * demands or concludes.
 */
export interface Source {
  readonly demand: Derived;
  readonly registers: readonly number[];
  readonly values: Int32Array;
}

/** A table as an observer sees it. */
export interface ObservedTable {
  readonly view: ScopeChoice;
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  readonly boundPositions: readonly number[];
  readonly demand: Derived;
  readonly rows: Derived;
}
