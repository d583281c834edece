import type { Rule } from './contract/language.ts';
import type { MergeStrategy, Resolution } from './contract/scopes.ts';
import type { FactIdentity, FactPattern, FactToStore } from './facts/fact-store.ts';

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
    }
  | {
      readonly kind: 'retract';
      readonly tenant: string;
      readonly pattern: FactPattern;
      readonly ifGeneration?: number;
    }
  | { readonly kind: 'retractById'; readonly tenant: string; readonly id: string }
  | { readonly kind: 'teach'; readonly rule: RuleToKeep }
  | { readonly kind: 'updateRule'; readonly id: string; readonly rule: RuleToKeep }
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
  | { readonly kind: 'createTenant'; readonly tenant: string }
  /** `nuke`: it remains, without its facts. */
  | { readonly kind: 'deleteTenant' | 'nukeTenant'; readonly tenant: string }
  /** Its facts and rules go; `delete`: the database itself too. */
  | { readonly kind: 'deleteDatabase' | 'nukeDatabase' };

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

/** null is for the facts without scope. */
export interface ForkScope {
  readonly kind: 'forkScope';
  readonly tenant: string;
  readonly source: string | null;
  readonly target: string | null;
  /** False: facts alone. */
  readonly withRules: boolean;
}

export interface MergeScopes {
  readonly kind: 'mergeScopes';
  readonly tenant: string;
  readonly source: string | null;
  readonly target: string | null;
  readonly strategy: MergeStrategy;
  /** null: there is none. */
  readonly base: string | null;
  readonly resolutions: readonly Resolution[];
}

export interface RuleToKeep {
  /** null: as it was. */
  readonly rule: Rule | null;
  readonly scope: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly enabled: boolean | null;
}

export const operationVersion = 1;
