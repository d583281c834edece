import type { ChangeKind } from './contract/administration.ts';
import type { FactRow } from './facts/fact-store.ts';
import type { KeptRule } from './facts/rule-store.ts';
import type { MergePlan } from './merge-plan.ts';
import type { DatabaseState } from './state.ts';

/** What one row of a write became. */
export interface FactChange {
  readonly kind: Extract<ChangeKind, 'fact.asserted' | 'fact.retracted'>;
  readonly fact: FactRow;
}

/** What the write of one rule became. */
export interface RuleChange {
  readonly kept: KeptRule;
  /** The rule as it was, null where there was none. */
  readonly before: KeptRule | null;
  readonly status: 'asserted' | 'updated' | 'unchanged' | 'retracted';
  /** A rule taught again is `unchanged`, and may have been enabled or named all the same. */
  readonly isChange: boolean;
}

/** What applying a record came to: whatever feeds on changes works from it. */
export interface Report {
  readonly database: DatabaseState;
  /** null: not about one tenant. */
  readonly tenant: string | null;
  readonly generation: number;
  readonly asserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly changes: readonly FactChange[];
  /** The version of the last fact that was asserted, updated or found unchanged. */
  readonly fact: FactRow | null;
  /** Relations whose stored facts changed. */
  readonly touched: ReadonlySet<string>;
  readonly rules: readonly RuleChange[];
  /** What became of a whole scope; null: the write was about none. */
  readonly scope: ScopeChange | null;
}

/** What a write of a whole scope came to. */
export interface ScopeChange {
  /** The scope that was written; null: the facts without scope. */
  readonly name: string | null;
  readonly isChange: boolean;
  /** How many facts and rules were copied or deleted. */
  readonly facts: number;
  readonly rules: number;
  /** What a merge did; its rows are those of right before it. */
  readonly merge: MergePlan | null;
}

/** A report while it is made. */
export type Draft = { -readonly [Key in keyof Report]: Report[Key] } & {
  changes: FactChange[];
  touched: Set<string>;
  rules: RuleChange[];
};
