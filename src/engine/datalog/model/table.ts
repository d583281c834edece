import type { AggregateLiteral, AtomLiteral, Literal } from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { Filter } from '../../language/order.ts';
import type { ViewRule } from './program.ts';
import type { Consumer, Derived } from './derived.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import type { Reader } from './reader.ts';

/** A relation in a view. */
export interface Relation {
  readonly view: ScopeChoice;
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
}

/** An argument of a relation in a view. */
export interface Argument {
  readonly relation: Pick<Relation, 'predicate' | 'arity' | 'negated'>;
  readonly view: ScopeChoice;
  readonly position: number;
}

/** What computes the rows of a table as a bitset relation. */
export interface BitsetRows extends Consumer {
  readonly bytes: number;
  /** True if the bits take more memory than the rows that they stand for. */
  readonly isWasteful: boolean;
  /** The table has been emptied. */
  forget(): void;
}

/** What was derived of a relation for the bound arguments that were asked for: one table of a tabled evaluation. */
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
  /** Relations that its rules need beside it: where they wait, what they group, what a rewriting added. */
  readonly extra: Derived[];
  /** Computes its rows as a bitset relation; null: by its rules. */
  bits: BitsetRows | null;
  /** False where nothing that was asked since the rules last changed needed it: its rows are no known conclusions. */
  isKnown: boolean;
  /** How its rows come about: not yet, by its rules for the keys in its demand, or out of a table that binds less. */
  way: 'none' | 'keyed' | 'relaxed';
  /** From so many keys on it is looked at whether they are too many to derive for each. */
  nextLook: number;
  /** What ends the joins of its rules. What they concluded is looked after still. */
  readonly stops: (() => void)[];
  /** What takes its rules away altogether, once their joins have been ended. */
  readonly removals: (() => void)[];
}

/** A body with what its literals read. */
export interface BuiltBody {
  readonly view: ScopeChoice;
  readonly literals: readonly Literal[];
  readonly filters: readonly Filter[];
  readonly atoms: readonly BodyAtom[];
  readonly barriers: Map<Literal, Barrier>;
  readonly groups: Map<AggregateLiteral, BuiltGroup>;
}

/** The braces of an aggregate: their tuples are of `headTerms`, the shared variables and those before the colon. */
export interface BuiltGroup {
  readonly source: GroupSource;
  readonly headTerms: readonly string[];
  readonly body: BuiltBody;
}

/** A rule as a table reads it. */
export interface BuiltRule extends ViewRule {
  readonly body: BuiltBody;
}

/** An atom over stored facts. */
export interface StoredSource {
  readonly kind: 'stored';
  readonly find: (reader: Reader) => StoredRelation | null;
  readonly view: ScopeChoice;
}

/** An atom over a derived relation. */
export interface DerivedSource {
  readonly kind: 'derived';
  readonly rows: Derived;
  /** Where the atom is demanded, with the positions of its arguments that are bound by then. */
  readonly demand: Derived;
  readonly boundPositions: readonly number[];
}

/** A positive atom of a body with where its rows come from. */
export interface BodyAtom {
  readonly literal: AtomLiteral;
  readonly source: StoredSource | DerivedSource;
}

/**
 * The relation of an aggregate's tuples: the shared variables first, then those before the colon. One whose tuples are the
 * matches of a single atom has none, and reads what that reads: see `BodyCompiler`.
 */
export interface GroupSource {
  readonly kind: 'group';
  readonly rows: Derived;
  readonly demand: Derived;
  readonly shared: readonly string[];
}

/** What must be at its fixpoint before a filter can be done: the relation of an absence, the group of an aggregate. */
export type Barrier = DerivedSource | GroupSource;
