import type { Cleared, CreatedTenant } from '../contract/administration.ts';
import type { KeyView } from '../contract/authentication.ts';
import type { MergeConflict, Merged } from '../contract/scopes.ts';
import type { Consolidate, Decay, Restore } from './operation.ts';

/**
 * What a write came to, as plain JSON: all that its answer is made of beside the request itself.
 *
 * A live answer and the answer to a request that is repeated after a restart are made of it by the same functions, so
 * they say the same. What was found out only then, such as the conclusions that a retraction took away, is not in it.
 */
export type Outcome =
  | {
      readonly kind: 'facts';
      readonly asserted: number;
      readonly updated: number;
      readonly unchanged: number;
      /** Where one fact was written: its id. */
      readonly id: string | null;
      /** As the operation has it. */
      readonly note?: string;
      readonly generation: number;
    }
  | {
      readonly kind: 'retracted';
      readonly retracted: number;
      /** Where the fact was named by its id: the atom. */
      readonly atom: string | null;
      readonly generation: number;
    }
  | {
      readonly kind: 'undone';
      readonly retracted: number;
      /** The atoms of facts that were changed since the import, in the order of assertion. */
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
  | { readonly kind: 'created'; readonly createdAt: number }
  /** The keys that were made, changed or revoked, without what would let anybody in. */
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
      /** Absent in outcomes of before merges had the base of a fork. */
      readonly base?: Merged['base'];
      readonly ancestor?: Merged['ancestor'];
      /** Written out only where the request can be repeated. */
      readonly conflicts: readonly MergeConflict[];
      readonly generation: number;
    } & MergedCounts)
  | {
      readonly kind: 'committed';
      readonly operations: number;
      readonly asserted?: number;
      readonly unchanged?: number;
      /** As the operation has it. */
      readonly note?: string;
      readonly generation: number;
    }
  /** `answer` is null where the request cannot be repeated. */
  | { readonly kind: 'decayed'; readonly answer: Decay['answer']; readonly generation: number }
  | { readonly kind: 'consolidated'; readonly answer: Consolidate['answer']; readonly generation: number }
  | { readonly kind: 'restored'; readonly answer: Restore['answer']; readonly generation: number }
  /** There was nothing to write, and nothing was logged. */
  | { readonly kind: 'nothing'; readonly generation: number };

/** A key as answers tell of it. */
export type OutcomeKey = Omit<KeyView, 'lastUsedAt'>;

export type MergedCounts = Pick<Merged, 'added' | 'updated' | 'deleted' | 'kept' | 'resolved'>;

type Kind = Outcome['kind'];

/** The outcome as one of this kind. */
export function outcomeAs<Name extends Kind>(outcome: Outcome, kind: Name): Extract<Outcome, { kind: Name }> {
  if (outcome.kind !== kind)
    throw new Error(`assertion failed: the outcome is one of ${kind}, not of ${outcome.kind}`);
  return outcome as Extract<Outcome, { kind: Name }>;
}

export function createdPart(outcome: Outcome): Pick<CreatedTenant, 'createdAt'> {
  return { createdAt: outcomeAs(outcome, 'created').createdAt };
}

export function clearedPart(outcome: Outcome): Omit<Cleared, 'status'> {
  const { facts, rules, generation } = outcomeAs(outcome, 'cleared');
  return { facts, rules, generation };
}
