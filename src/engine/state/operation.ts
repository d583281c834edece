import type { KeyRole } from '../contract/authentication.ts';
import type { Metadata } from '../contract/facts.ts';
import type { Rule } from '../contract/language.ts';
import type { Consolidated, ConsolidatedValue, Decayed, Restored } from '../contract/memory.ts';
import type { MergeStrategy, Resolution } from '../contract/scopes.ts';
import type { FactIdentity, FactPattern, FactToStore, ScopeChoice } from '../store/fact-store.ts';

/**
 * What can be done to the state: the operations that records of the log hold. They are plain JSON.
 *
 * The shape of an operation that was ever logged stays readable for good.
 */
export type Operation =
  | { readonly kind: 'createDatabase'; readonly name: string }
  | {
      readonly kind: 'assert';
      readonly tenant: string;
      readonly facts: readonly FactToStore[];
      readonly ifGeneration?: number;
      /** The import that it is a part of. */
      readonly importId?: string;
      /** What the import is answered when its request is repeated; in its last operation, absent elsewhere. */
      readonly note?: string;
    }
  /** What the import asserted is retracted where nobody else changed it since. */
  | { readonly kind: 'undoImport'; readonly tenant: string; readonly importId: string }
  | {
      readonly kind: 'retract';
      readonly tenant: string;
      readonly pattern: FactPattern;
      readonly ifGeneration?: number;
    }
  | { readonly kind: 'retractById'; readonly tenant: string; readonly id: string }
  | { readonly kind: 'teach'; readonly rule: RuleToStore }
  | { readonly kind: 'updateRule'; readonly id: string; readonly rule: RuleToStore }
  | { readonly kind: 'forgetRule'; readonly id: string }
  | Commit
  | ForkScope
  | MergeScopes
  | {
      readonly kind: 'deleteScope';
      readonly tenant: string;
      readonly scope: string;
      readonly withRules: boolean;
    }
  | Decay
  | Consolidate
  | Restore
  | { readonly kind: 'createTenant'; readonly tenant: string }
  /** `nuke`: it remains, without its facts. */
  | { readonly kind: 'deleteTenant' | 'nukeTenant'; readonly tenant: string }
  /** Its facts and rules go; `delete`: the database itself too. */
  | { readonly kind: 'deleteDatabase' | 'nukeDatabase' }
  | KeyOperation;

/** What is done to keys. They belong to no database: the one that the record names is `default`. */
export type KeyOperation =
  | { readonly kind: 'createKey'; readonly key: KeyToStore }
  | { readonly kind: 'updateKey'; readonly id: string; readonly change: KeyChange }
  | { readonly kind: 'revokeKey'; readonly id: string }
  /** All that have the role admin. */
  | { readonly kind: 'revokeAdminKeys' };

/** A key as it is kept: never the key itself. */
export interface KeyToStore {
  readonly id: string;
  /** How it begins. */
  readonly prefix: string;
  /** SHA-256 of the key, 64 hexadecimal digits. */
  readonly hash: string;
  readonly role: KeyRole;
  /** Empty: no restriction. */
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
  readonly description: string | null;
  /** Epoch milliseconds; null: never. */
  readonly expiresAt: number | null;
}

/** What is absent stays as it was. */
export type KeyChange = Partial<Pick<KeyToStore, 'databases' | 'tenants' | 'description' | 'expiresAt'>>;

export type RuleOperation = Extract<Operation, { kind: 'teach' | 'updateRule' | 'forgetRule' }>;

/** A transaction: what it retracts, then what it asserts, then what it does to rules, in one generation. */
export interface Commit {
  readonly kind: 'commit';
  readonly tenant: string;
  readonly retract: readonly FactIdentity[];
  readonly assert: readonly FactToStore[];
  readonly rules: readonly RuleOperation[];
  /** How many writes it was made of. */
  readonly operations: number;
  /** What its request is answered with when it is repeated, beside the counts; absent: nothing. */
  readonly note?: string;
}

/**
 * What decay, consolidation and restoring do to memory. What they chose, by what is observed of uses too, is logged by
 * the numbers of facts: they are given in the order of assertion, so every replica gives the same. `answer` is what the
 * request was answered, without the generation; null where it cannot be repeated.
 */
export interface Decay {
  readonly kind: 'decay';
  readonly tenant: string;
  /** Where ends of validity are remembered no longer. */
  readonly scope: ScopeChoice;
  /** The facts that are evicted. */
  readonly facts: readonly number[];
  readonly answer: Omit<Decayed, 'generation'> | null;
}

/** Facts are retracted, and summaries asserted that stand for them. */
export interface Consolidate {
  readonly kind: 'consolidate';
  readonly tenant: string;
  readonly retract: readonly number[];
  readonly summaries: readonly SummaryToStore[];
  /** The facts that the summaries stand for: those of the first summary, then those of the second, and so on. */
  readonly values: readonly ConsolidatedValue[];
  readonly answer: Omit<Consolidated, 'generation'> | null;
}

export interface SummaryToStore extends FactIdentity {
  /** Its metadata but for `consolidated`. */
  readonly metadata: Metadata;
  /** As in `metadata.consolidated`. */
  readonly from: string;
  readonly position: number;
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

/** A summary is retracted, and facts that it stood for asserted. */
export interface Restore {
  readonly kind: 'restore';
  readonly tenant: string;
  readonly summary: number;
  readonly facts: readonly FactToRestore[];
  readonly answer: Omit<Restored, 'generation'> | null;
}

export interface FactToRestore extends FactToStore {
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** null is for the facts without scope. */
export interface ForkScope {
  readonly kind: 'forkScope';
  readonly tenant: string;
  readonly source: string | null;
  readonly target: string | null;
  /** False: facts alone. */
  readonly withRules: boolean;
  /** The fork remembers what it was made of. Absent where a program logged it that did not know how. */
  readonly hasBase?: true;
}

export interface MergeScopes {
  readonly kind: 'mergeScopes';
  readonly tenant: string;
  readonly source: string | null;
  readonly target: string | null;
  readonly strategy: MergeStrategy;
  /** null: there is none; a scope's name; or what the fork remembers. */
  readonly base: string | null | { readonly fork: true };
  readonly resolutions: readonly Resolution[];
  /**
   * How differences are settled. 2: a fact to be added whose opposite the target holds is a conflict, and of a pair of
   * opposites each side is compared with all that the base holds of the atom. Absent: as before that was so.
   */
  readonly revision?: 2;
}

export interface RuleToStore {
  /** null: as it was. */
  readonly rule: Rule | null;
  readonly scope: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly enabled: boolean | null;
}

export const operationVersion = 1;
