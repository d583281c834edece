import type { AggregateLiteral, AtomLiteral, Literal } from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import type { Filter } from '../../language/order.ts';
import type { RelationShape, ViewRule } from './program.ts';
import type { Consumer, Derived } from './derived.ts';

/** A relation in a view. */
export interface Relation extends RelationShape {
  readonly view: ScopeChoice;
}

/** The relation of an atom, without a view. */
export function shapeOf({ predicate, args, negated }: AtomLiteral): RelationShape {
  return { predicate, arity: args.length, negated };
}

/** An argument of a relation in a view. */
export interface Argument {
  readonly relation: RelationShape;
  readonly view: ScopeChoice;
  readonly position: number;
}

/** Computes the rows of a table as a bitset relation. */
export interface BitsetRows extends Consumer {
  readonly bytes: number;
  /** True if the bits take more memory than the rows. */
  readonly isWasteful: boolean;
  /** The table has been emptied. */
  forget(): void;
}

/** The rows derived for a relation and the bound arguments that were demanded: one table, as in tabling. */
export interface Table extends Relation {
  readonly key: string;
  /** The relation's key, without the view. */
  readonly relation: string;
  readonly boundPositions: readonly number[];
  readonly freePositions: readonly number[];
  /** Tuples of the bound arguments for which answers are wanted. */
  readonly demand: Derived;
  readonly rows: Derived;
  /** Its rules with the tables that their bodies read, in order of creation; recorded if proofs need them. */
  readonly rules: BuiltRule[];
  /** Auxiliary relations of its rules: waiting rows, aggregate groups, relations added by a rewriting. */
  readonly extra: Derived[];
  /** Computes its rows as a bitset relation; null if its rules derive them. */
  bits: BitsetRows | null;
  /** False if no question since the rules last changed needed it: its rows are not known conclusions. */
  isKnown: boolean;
  /**
   * How its rows are derived: not yet, by its rules for the keys in its demand, or from a table with fewer
   * bound arguments.
   */
  way: 'none' | 'keyed' | 'generalized';
  /** Number of demanded keys at which to reconsider whether they are too many to derive one by one. */
  nextLook: number;
  /** True if it is to read stored facts of its relation as soon as there are any: for most derived relations there never are. */
  lacksStored: boolean;
  /** Ends the joins of its rules. Their conclusions are still maintained. */
  readonly stops: (() => void)[];
  /** Removes its rules, after their joins have ended. */
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

/**
 * The body of an aggregate; its tuples have the columns `headTerms`: the shared variables, then those before
 * the colon.
 */
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
}

/** An atom over a derived relation. */
export interface DerivedSource {
  readonly kind: 'derived';
  readonly rows: Derived;
  /** Where the atom is demanded, and which argument positions are bound at that point. */
  readonly demand: Derived;
  readonly boundPositions: readonly number[];
  /** True if the rule is demanded only when its rows, demanded whole, are complete. */
  readonly isComplete: boolean;
}

/** A positive atom of a body and the source of its rows. */
export interface BodyAtom {
  readonly literal: AtomLiteral;
  readonly source: StoredSource | DerivedSource;
  /** If its rows are all there when the join is planned: how many it is expected to have for each value of these columns. */
  readonly matching?: (positions: readonly number[]) => number;
}

/**
 * The relation of an aggregate's tuples: the shared variables first, then those before the colon. If the
 * tuples are the matches of a single atom, it has no relation of its own and reads the atom's: see
 * `BodyCompiler`.
 */
export interface GroupSource {
  readonly kind: 'group';
  readonly rows: Derived;
  readonly demand: Derived;
  readonly shared: readonly string[];
}

/**
 * What must be at its fixpoint before a filter is evaluated: the relation of a negated atom, the group of an
 * aggregate.
 */
export type Barrier = DerivedSource | GroupSource;

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
  table(table: Table): void;
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
