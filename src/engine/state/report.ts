import { FactChanges } from './fact-changes.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import type { KeyRecord } from './key-store.ts';
import type { MergePlan } from './merge-plan.ts';
import type { Outcome } from './outcome.ts';
import { DatabaseState, type TenantState } from './state.ts';

/** What the write of one rule became. */
export interface RuleChange {
  readonly after: RuleRecord;
  /** The rule as it was, null where there was none. */
  readonly before: RuleRecord | null;
  readonly status: 'asserted' | 'updated' | 'unchanged' | 'retracted';
  /** A rule taught again is `unchanged`, and may have been enabled or named all the same. */
  readonly isChange: boolean;
}

/** What went as a whole: the facts of tenants, and with them perhaps the rules of the database and the database itself. */
export interface ClearedTenants {
  /** The tenants by name, as they were. Nothing changes these any more. */
  readonly tenants: ReadonlyMap<string, TenantState>;
  readonly facts: number;
  readonly rules: number;
  readonly isDatabaseGone: boolean;
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
  readonly changes: FactChanges;
  /** The version of the last fact that was asserted, updated or found unchanged. */
  readonly fact: FactRow | null;
  readonly rules: readonly RuleChange[];
  /** null: nothing went as a whole. */
  readonly cleared: ClearedTenants | null;
  /** What became of a whole scope; null: the write was about none. */
  readonly scope: ScopeChange | null;
  /** The keys that were made or changed, as they are, or revoked, as they were. */
  readonly keys: readonly KeyRecord[];
  /** What its answer is made of. */
  readonly outcome: Outcome;
  /** True: the request was answered before. Nothing was changed now, and nothing but `outcome` tells of what was then. */
  readonly isRepeated: boolean;
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
export type Draft = { -readonly [Key in keyof Omit<Report, 'outcome'>]: Report[Key] } & {
  rules: RuleChange[];
  keys: KeyRecord[];
  /** null: as it follows from the rest. */
  outcome: Outcome | null;
};

/** The report of a request that was answered before: by what was kept of it. */
export function repeatedReport(database: string, outcome: Outcome): Report {
  return { ...newDraft(new DatabaseState(database, 0), null), outcome, isRepeated: true };
}

/** The report of a write that turned out to have nothing to write. */
export function nothingWritten(database: DatabaseState): Report {
  const { generation } = database;
  return { ...newDraft(database, null), outcome: { kind: 'nothing', generation } };
}

/** A report of a write to the database, null where it is not about one tenant, before anything has happened. */
export function newDraft(database: DatabaseState, tenant: string | null): Draft {
  return {
    database,
    tenant,
    generation: database.generation,
    asserted: 0,
    updated: 0,
    unchanged: 0,
    changes: new FactChanges(),
    fact: null,
    rules: [],
    scope: null,
    keys: [],
    cleared: null,
    outcome: null,
    isRepeated: false,
  };
}

/** How a record is applied in slices: see `applying`. */

/** Between two slices: there is `more` to do; or all is `ready`, and the next step shows it and reports. */
export type Slice = 'more' | 'ready';

/** Does what can be done unseen; what is returned does the rest, in one turn. */
export type Prepared<Result> = Generator<Slice, () => Result, undefined>;

/** Rows that are written between two slices. */
export const rowsInSlice = 256;
