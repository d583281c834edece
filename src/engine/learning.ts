/**
 * What a text teaches, and what the language surfaces ask of the knowledge there is: shapes between engine and service.
 *
 * They are not on the wire. Whoever reads a text decides what it says; here it is only whole: all of it is stored, or
 * nothing.
 */
import type { Metadata } from './contract/facts.ts';
import type { RuleInput } from './contract/rules.ts';

/** A fact that a text states. */
export interface LearnedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  /** Where it comes from. A fact that is stored already keeps the metadata it has. */
  readonly metadata: Metadata;
}

export interface Learning {
  readonly facts: readonly LearnedFact[];
  readonly rules: readonly RuleInput[];
  /** What is to be known of the write where its request is repeated after a restart; null: nothing. */
  readonly note: string | null;
}

/** What became of it. */
export interface Learned {
  readonly asserted: number;
  readonly unchanged: number;
  readonly generation: number;
  readonly note: string | null;
}

/** A relation that the tenant has facts of in a view, or that a rule concludes there. */
export interface VocabularyEntry {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  /** Stored visible facts of the view. */
  readonly facts: number;
  /** Enabled rules that conclude it in the view. */
  readonly rules: number;
  /** One fact, rendered; null where none is stored. */
  readonly example: string | null;
}

/** Which facts a question or a window is about, as in every request. */
export interface ViewFields {
  readonly scope: string | null;
  readonly unscoped: boolean;
}

export interface AboutInput extends ViewFields {
  /** Natural language or statements: what it mentions is looked for. */
  readonly text: string;
  readonly maxFacts: number;
}
