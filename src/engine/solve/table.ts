import type { Literal } from '../contract/language.ts';
import type { ScopeChoice } from '../facts/fact-store.ts';
import type { BodyAtom } from './compile-rule.ts';
import type { Derived } from './derived.ts';
import type { Assignment } from './join-order.ts';
import type { ViewRule } from './program.ts';

/** A relation in a view. */
export interface Relation {
  readonly view: ScopeChoice;
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
}

export interface Table extends Relation {
  readonly key: string;
  /** The relation's key, without the view. */
  readonly relation: string;
  readonly boundPositions: readonly number[];
  readonly freePositions: readonly number[];
  /** Tuples of the bound arguments for which answers are wanted. */
  readonly demand: Derived;
  readonly rows: Derived;
  /** Its rules with the tables their bodies read, the first created first; kept where proofs need them. */
  readonly rules: BuiltRule[];
  /** Relations that a rewriting added. */
  readonly extra: Derived[];
  /** How much of the demand is known to be answered in full. */
  settled: number;
}

/** A rule as a table reads it. */
export interface BuiltRule extends ViewRule {
  readonly atoms: readonly BodyAtom[];
  readonly assigned: ReadonlyMap<Literal, Assignment>;
}
