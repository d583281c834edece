import type { Declaration } from '../contract/declarations.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import type { TestRecord } from '../store/test-store.ts';
import type { KeyRole, KeyView } from '../contract/authentication.ts';
import type { Metadata, Superseded } from '../contract/facts.ts';
import type { Rule } from '../contract/language.ts';
import type { Consolidated, ConsolidatedValue, Decayed, Restored } from '../contract/memory.ts';
import type { Quota } from '../contract/quotas.ts';
import type { MergeStrategy, Resolution, MergeConflict, Merged } from '../contract/scopes.ts';
import type { ClockSetting } from '../base/clock.ts';
import type { FactsToStore } from '../store/fact-block.ts';
import type { FactIdentity, FactPattern, FactToStore, ScopeChoice } from '../store/fact-store.ts';
import type { NumberRun } from '../store/fact-numbers.ts';
import type { Cleared, CreatedTenant } from '../contract/administration.ts';

/**
 * The operations on the state that log records carry, as plain JSON.
 *
 * Every operation shape that was ever logged stays readable forever.
 */
export type Operation =
  | { readonly kind: 'createDatabase'; readonly name: string }
  | {
      readonly kind: 'assert';
      readonly tenant: string;
      /** A list in the log; the write of many facts has them in columns. */
      readonly facts: FactsToStore;
      readonly ifGeneration?: number;
      /** The import that it belongs to. */
      readonly importId?: string;
      /** The answer to a repeated import request; present only in the import's last operation. */
      readonly note?: string;
    }
  /** Retracts what the import asserted and no other write has changed since. */
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
  | ShapeOperation
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
  | MoveEnds
  | { readonly kind: 'createTenant'; readonly tenant: string }
  /** Of all tenants together if `tenant` is null; else of one, which is created if there is none. */
  | { readonly kind: 'setQuota'; readonly tenant: string | null; readonly quota: Quota }
  /** `nuke` removes the tenant's facts and keeps the tenant. */
  | { readonly kind: 'deleteTenant' | 'nukeTenant'; readonly tenant: string }
  | Forget
  | Redacted
  /** Removes facts and rules; `delete` removes the database too. */
  | { readonly kind: 'deleteDatabase' | 'nukeDatabase' }
  | KeyOperation;

/**
 * The operations on what stands beside facts and rules: declarations, constraints and tests, which belong to the database,
 * and aliases, which belong to a tenant.
 */
export type ShapeOperation =
  /** Adds the declaration of its name and arity, or replaces it. */
  | { readonly kind: 'declare'; readonly declaration: Declaration }
  | { readonly kind: 'withdraw'; readonly name: string; readonly arity: number }
  | { readonly kind: 'addConstraint'; readonly constraint: ConstraintToStore }
  /** Absent fields stay unchanged. */
  | {
      readonly kind: 'updateConstraint';
      readonly id: string;
      readonly constraint: Partial<ConstraintToStore>;
    }
  | { readonly kind: 'deleteConstraint'; readonly id: string }
  /** Adds the test of its name, or replaces it. */
  | { readonly kind: 'putTest'; readonly test: TestToStore }
  | { readonly kind: 'deleteTest'; readonly name: string }
  /** Changes nothing if the alias is the entity's already, or the removed one is not. */
  | {
      readonly kind: 'addAlias' | 'removeAlias';
      readonly tenant: string;
      readonly entity: string;
      readonly alias: string;
    };

/** A constraint to add. */
export type ConstraintToStore = Omit<ConstraintRecord, 'id' | 'createdAt' | 'changedIn'>;

/** A test to add. */
export type TestToStore = Pick<TestRecord, 'name' | 'text' | 'scope'>;

/** The operations on keys. Keys belong to no database; their records name `default`. */
export type KeyOperation =
  | { readonly kind: 'createKey'; readonly key: KeyToStore }
  | { readonly kind: 'updateKey'; readonly id: string; readonly change: KeyChange }
  | { readonly kind: 'revokeKey'; readonly id: string }
  /** Revokes all keys with the role admin. */
  | { readonly kind: 'revokeAdminKeys' };

/** A key as stored, without the secret itself. */
export interface KeyToStore {
  readonly id: string;
  /** The key's first characters. */
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

/** Absent fields stay unchanged. */
export type KeyChange = Partial<Pick<KeyToStore, 'databases' | 'tenants' | 'description' | 'expiresAt'>>;

export type RuleOperation = Extract<Operation, { kind: 'teach' | 'updateRule' | 'forgetRule' }>;

/**
 * A transaction: changes declarations, constraints, tests and aliases, retracts, then asserts, then changes rules, all in one
 * generation.
 */
export interface Commit {
  readonly kind: 'commit';
  readonly tenant: string;
  readonly retract: readonly FactIdentity[];
  /** Facts whose validity has ended are retracted too: they were never so. Absent: they stay. */
  readonly retractsEnded?: true;
  readonly assert: readonly FactToStore[];
  readonly rules: readonly RuleOperation[];
  /** Absent: none. Aliases are of the transaction's tenant. */
  readonly shape?: readonly ShapeOperation[];
  /** The facts are stored as they are: a key with `supersede` ends no other fact. Absent: it does. */
  readonly isExact?: true;
  /** The package that the transaction applies or takes away; absent: none. See `PackageRecord`. */
  readonly package?: PackageChange;
  /** Keys of what the package no longer holds although it may stay; absent: none. */
  readonly drops?: readonly string[];
  /** Keys of what is stored and the package holds too from now on, with their generations; absent: none. */
  readonly takes?: readonly (readonly [key: string, generation: number])[];
  /** Number of writes in the transaction. */
  readonly operations: number;
  /** The answer to a repeated request, beside the counts; absent: none. */
  readonly note?: string;
}

/** What becomes of a package beside what the transaction writes: it holds what that stores, and not what that takes away. */
export interface PackageChange {
  readonly name: string;
  readonly scope: string | null;
  /** The package is no more. */
  readonly isRemoved?: true;
}

/**
 * Decay, consolidation and restoring. What they selected (observed uses play a part) is logged by fact number; facts
 * are numbered in order of assertion, so every replica assigns the same numbers. `answer` is the answer to the request
 * without the generation; null if the request cannot be repeated.
 */
export interface Decay {
  readonly kind: 'decay';
  readonly tenant: string;
  /** Where remembered ends of validity are forgotten. */
  readonly scope: ScopeChoice;
  /** The facts to retract. */
  readonly facts: readonly number[];
  /** Facts whose validity has ended: they leave the present, and the past keeps them. */
  readonly ended?: readonly number[];
  /** Facts that the past need not keep any longer; then nothing else is done. */
  readonly dropped?: readonly number[];
  readonly answer: Omit<Decayed, 'generation'> | null;
}

/** Retracts facts and asserts summaries in their place. */
export interface Consolidate {
  readonly kind: 'consolidate';
  readonly tenant: string;
  readonly retract: readonly number[];
  readonly summaries: readonly SummaryToStore[];
  /** The values that the summaries replace: first those of the first summary, then those of the second, and so on. */
  readonly values: readonly ConsolidatedValue[];
  readonly answer: Omit<Consolidated, 'generation'> | null;
}

export interface SummaryToStore extends FactIdentity {
  /** Its metadata without `consolidated`. */
  readonly metadata: Metadata;
  /** As in `metadata.consolidated`. */
  readonly from: string;
  readonly position: number;
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

/** Retracts a summary and asserts facts that it replaced. */
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

/** The wall clock was set: ends of validity by a `ttl` move with it, see `PastFacts.moves`. */
export interface MoveEnds extends ClockSetting {
  readonly kind: 'moveEnds';
  readonly tenant: string;
}

/** Copies a scope. null stands for the facts without scope. */
export interface ForkScope {
  readonly kind: 'forkScope';
  readonly tenant: string;
  readonly source: string | null;
  readonly target: string | null;
  /** False: copies facts only. */
  readonly withRules: boolean;
  /** The fork records its base. Absent in operations logged by versions that did not support that. */
  readonly hasBase?: true;
}

/** Merges source into target. null stands for the facts without scope. */
export interface MergeScopes {
  readonly kind: 'mergeScopes';
  readonly tenant: string;
  readonly source: string | null;
  readonly target: string | null;
  readonly strategy: MergeStrategy;
  /** null: no base; a scope's name; or the recorded base of the fork. */
  readonly base: string | null | { readonly fork: true };
  readonly resolutions: readonly Resolution[];
  /**
   * Version of the merge rules. 2: adding a fact whose opposite is in the target is a conflict, and each side of a pair
   * of opposites is compared with everything that the base has of the atom. 3: as 2, and two facts with one value of a
   * declared key are a conflict. Absent: the earlier rules.
   */
  readonly revision?: 2 | 3;
  /**
   * What the merge did, if facts that were erased from the history since could have changed that by a key: then nothing is
   * compared again. Never logged by a write.
   */
  readonly exactly?: ExactMerge;
}

/** What a merge did to the facts of its target, with all of their validity and metadata. */
export interface ExactMerge {
  readonly isChange: boolean;
  readonly stored: readonly FactToStore[];
  readonly retracted: readonly FactIdentity[];
}

/**
 * Removes all facts about an entity, and its aliases. What is retained of them is erased with the next snapshot, and then
 * the names in this operation too.
 */
export interface Forget {
  readonly kind: 'forget';
  readonly tenant: string;
  /** The entity and its aliases, as they were resolved. */
  readonly names: readonly string[];
}

/**
 * What is left of an operation in the retained history after facts were erased from it. It makes the same generation as
 * before, and gives all other facts the ids, versions and times that they had. Never logged by a write.
 */
export interface Redacted {
  readonly kind: 'redacted';
  /** The kind of the original operation. */
  readonly of: string;
  /** null: the operation concerned no single tenant. */
  readonly tenant: string | null;
  /** The operation without what was erased; null: nothing is left. */
  readonly rest: Redactable | null;
  /** Whether the tenant existed after it. */
  readonly hasTenant: boolean;
  /** Whether it made a generation. */
  readonly isChange: boolean;
  /** Number of facts and aliases whose changes were erased. */
  readonly changes: number;
  /** The numbers of erased facts that it asserted, ascending. */
  readonly numbers: readonly NumberRun[];
  /** Other facts as it left them, if what was erased could change them, with all of their validity and metadata. */
  readonly also: readonly FactToStore[];
  /** Other facts that it ended, if what was erased could be the reason. */
  readonly gone: readonly FactIdentity[];
}

/** An operation that facts can be erased from. */
export type Redactable = Exclude<Operation, KeyOperation | Redacted | { readonly kind: 'createDatabase' }>;

/** A rule to add, or the fields to change in one. */
export interface RuleToStore {
  /** null: unchanged. */
  readonly rule: Rule | null;
  readonly scope: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly enabled: boolean | null;
}

/** The latest version of operations that this program reads. */
export const operationVersion = 6;

/** The first version of programs that can apply each of these kinds. */
const versionOfShape: Readonly<Record<ShapeOperation['kind'], number>> = {
  declare: 2,
  withdraw: 2,
  addConstraint: 2,
  updateConstraint: 2,
  deleteConstraint: 2,
  addAlias: 2,
  removeAlias: 2,
  putTest: 5,
  deleteTest: 5,
};

/** The first version whose programs can apply the operation. Without a declaration, all of them agree on facts. */
export function versionOf(operation: Operation): number {
  if (operation.kind === 'moveEnds') return 4;
  if (operation.kind === 'redacted')
    return Math.max(3, operation.rest === null ? 0 : versionOf(operation.rest));
  if (operation.kind === 'forget') return 3;
  if (isShapeOperation(operation)) return versionOfShape[operation.kind];
  if (operation.kind !== 'commit') return 1;
  if (operation.package !== undefined) return 6;
  const { shape = [], retractsEnded } = operation;
  let version = retractsEnded === true ? 3 : shape.length === 0 ? 1 : 2;
  for (const { kind } of shape) version = Math.max(version, versionOfShape[kind]);
  return version;
}

/** The name of the operation in the history. */
export function operationName(operation: Operation): string {
  if (operation.kind !== 'commit' || operation.package === undefined) return operation.kind;
  return operation.package.isRemoved === true ? 'deletePackage' : 'applyPackage';
}

/** Narrows an operation to those on declarations, constraints, tests and aliases. */
export function isShapeOperation(operation: { readonly kind: string }): operation is ShapeOperation {
  return Object.hasOwn(versionOfShape, operation.kind);
}

/**
 * The outcome of a write as plain JSON: everything its answer needs beside the request.
 *
 * The same functions build a live answer and the answer to a request repeated after a restart, so both say the same.
 * Not included is what only the live write found out, such as the conclusions withdrawn by a retraction.
 */
export type Outcome =
  | {
      readonly kind: 'facts';
      readonly asserted: number;
      readonly updated: number;
      readonly unchanged: number;
      /** The fact's id if exactly one fact was written. */
      readonly id: string | null;
      /** The first facts that were superseded by keys, and how many were; absent: none. */
      readonly superseded?: readonly Superseded[];
      readonly supersededCount?: number;
      /** Copied from the operation. */
      readonly note?: string;
      readonly generation: number;
    }
  | {
      readonly kind: 'retracted';
      readonly retracted: number;
      /** The atom if the fact was named by its id. */
      readonly atom: string | null;
      readonly generation: number;
    }
  | {
      readonly kind: 'undone';
      readonly retracted: number;
      /** The atoms of facts changed since the import, in order of assertion. */
      readonly kept: readonly string[];
      readonly generation: number;
    }
  | {
      readonly kind: 'rule';
      readonly id: string;
      readonly rule: string;
      readonly status: 'asserted' | 'updated' | 'unchanged' | 'retracted';
      /** The generation that last changed the rule. */
      readonly changedIn: number;
      readonly generation: number;
    }
  | {
      readonly kind: 'shape';
      readonly status: 'added' | 'updated' | 'unchanged' | 'removed';
      /** Of a constraint; null: the write concerned none. */
      readonly id: string | null;
      readonly generation: number;
    }
  | { readonly kind: 'created'; readonly createdAt: number }
  | { readonly kind: 'quota'; readonly quota: Quota }
  /** The keys that were created, changed or revoked, without their hashes. */
  | { readonly kind: 'keys'; readonly keys: readonly OutcomeKey[] }
  | {
      readonly kind: 'cleared';
      readonly facts: number;
      readonly rules: number;
      readonly generation: number;
    }
  | {
      readonly kind: 'scope';
      readonly facts: number;
      readonly rules: number;
      readonly generation: number;
    }
  | ({
      readonly kind: 'merged';
      /** Absent in outcomes from before merges recorded a fork's base. */
      readonly base?: Merged['base'];
      readonly ancestor?: Merged['ancestor'];
      /** Included only if the request can be repeated; null: too many to be kept. */
      readonly conflicts: readonly MergeConflict[] | null;
      readonly generation: number;
    } & MergedCounts)
  | {
      readonly kind: 'committed';
      readonly operations: number;
      readonly asserted?: number;
      readonly unchanged?: number;
      /** As of facts. */
      readonly superseded?: readonly Superseded[];
      readonly supersededCount?: number;
      /** Copied from the operation. */
      readonly note?: string;
      readonly generation: number;
    }
  /** `answer` is null if the request cannot be repeated, or the answer is too long to be kept. */
  | { readonly kind: 'decayed'; readonly answer: Decay['answer']; readonly generation: number }
  | { readonly kind: 'consolidated'; readonly answer: Consolidate['answer']; readonly generation: number }
  | { readonly kind: 'restored'; readonly answer: Restore['answer']; readonly generation: number }
  /** There was nothing to write and nothing was logged. */
  | { readonly kind: 'nothing'; readonly generation: number };

/** A key as answers show it. */
export type OutcomeKey = Omit<KeyView, 'lastUsedAt'>;

export type MergedCounts = Pick<Merged, 'added' | 'updated' | 'deleted' | 'kept' | 'resolved'>;

/** False: only that there was a write is kept of it for a repeated request, since its answer is too long. */
export function isKept(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'merged':
      return outcome.conflicts !== null;
    case 'decayed':
    case 'consolidated':
    case 'restored':
      return outcome.answer !== null;
    default:
      return true;
  }
}

type Kind = Outcome['kind'];

/** Narrows the outcome to this kind; throws if it is another. */
export function outcomeAs<Name extends Kind>(outcome: Outcome, kind: Name): Extract<Outcome, { kind: Name }> {
  if (outcome.kind !== kind)
    throw new Error(`assertion failed: the outcome is one of ${kind}, not of ${outcome.kind}`);
  return outcome as Extract<Outcome, { kind: Name }>;
}

/** The fields of an answer to a creation. */
export function createdPart(outcome: Outcome): Pick<CreatedTenant, 'createdAt'> {
  return { createdAt: outcomeAs(outcome, 'created').createdAt };
}

/** The fields of an answer to a deletion or a nuke. */
export function clearedPart(outcome: Outcome): Omit<Cleared, 'status'> {
  const { facts, rules, generation } = outcomeAs(outcome, 'cleared');
  return { facts, rules, generation };
}
