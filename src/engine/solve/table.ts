import type { AggregateLiteral, AtomLiteral, Literal } from '../contract/language.ts';
import type { ScopeChoice } from '../facts/fact-store.ts';
import type { BitTable } from './bit-table.ts';
import type { Barrier, BodyAtom, CompilerContext, GroupSource, UpkeepRule } from './compile-rule.ts';
import type { Filter } from './join-order.ts';
import type { Program, ViewRule } from './program.ts';
import type { Derived, Support, Watcher } from './derived.ts';
import type { Justifications } from './justifications.ts';

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
  /** What works its rows out where they are held as rows of bits, else null. */
  bits: BitTable | null;
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

/** What compiling a body needs of the set of tables that it is compiled for. */
export interface TableSpace {
  readonly program: Program;
  readonly withHeights: boolean;
  /** True where rules need not be followed as they were taught: neither heights nor an observer count their steps. */
  readonly mayRewrite: boolean;
  /** True where what is derived is kept true when facts change. */
  readonly isKept: boolean;
  readonly justifications: Justifications;
  /** Has the rule look after the rows that it concludes. Returns how to end that. */
  keepRule(support: Support, rule: UpkeepRule): () => void;
  /** Has the watcher told of stored facts of the relation that come and go. Returns how to end that. */
  watchStored(relation: string, watcher: Watcher): () => void;
  isDerived(view: ScopeChoice, relation: string): boolean;
  table(relation: Relation, boundPositions: readonly number[]): Table;
  /** True where the values that `from` takes are certain to be most of those that `asked` can have. */
  coversMost(from: Argument, asked: Argument): boolean;
  estimate(view: ScopeChoice, literal: AtomLiteral, bound: ReadonlySet<string>): number;
  context(view: ScopeChoice, isQuestion: boolean): CompilerContext;
}
