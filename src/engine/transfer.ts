/** The shapes in which an import is written and an export is read. */
import type { Idempotency } from './base/caller.ts';
import type { Metadata } from './contract/facts.ts';
import type { RuleInput } from './contract/rules.ts';
import type { ImportedFact } from './contract/transfer.ts';
import type { KeptRule } from './facts/rule-store.ts';

/** What became of one batch. */
export interface ImportedBatch {
  readonly asserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Those that were refused, by their places in the batch, ascending. */
  readonly refused: readonly { readonly index: number; readonly message: string }[];
}

/** One call at a time. What is thrown, where that is not said, ends the import: what was written before stays. */
export interface Import {
  readonly id: string;
  assert(facts: readonly ImportedFact[]): Promise<ImportedBatch>;
  /** Throws an EngineError where the rule cannot be taught; the import may go on. */
  teach(rule: RuleInput): Promise<void>;
  /** The generation after its last write. */
  end(): Promise<number>;
  /** After the end: keeps what the request was answered for when it comes again. A dry run keeps nothing. */
  keep(idempotency: Idempotency, answer: string): Promise<void>;
}

/** What is kept of an import, or of another write, under an idempotency key. */
export interface KeptImport {
  readonly fingerprint: string;
  /** null: the write was no import. */
  readonly answer: string | null;
}

/** A stored fact as it is asserted again; null: open bounds, no metadata. */
export interface ExportedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
  readonly metadata: Metadata | null;
}

export type ExportedRule = Pick<KeptRule, 'text' | 'scope' | 'name' | 'description' | 'enabled'>;

/** What is taken; `scope` and `unscoped` both absent: every scope. */
export interface ExportChoice {
  readonly scope: string | null;
  readonly unscoped: boolean;
  /** null: every predicate. */
  readonly predicate: string | null;
  readonly rules: boolean;
}

/** Takes the pieces one after the other; the next is made when what it returned has resolved. */
export interface ExportTaker {
  facts(facts: readonly ExportedFact[]): Promise<void>;
  rules(rules: readonly ExportedRule[]): Promise<void>;
}
