import type { Cleared, CreatedTenant } from '../contract/administration.ts';
import type { KeyView } from '../contract/authentication.ts';
import type { MergeConflict, Merged } from '../contract/scopes.ts';
import type { Consolidate, Decay, Restore } from './operation.ts';

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
  | { readonly kind: 'created'; readonly createdAt: number }
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
      /** Included only if the request can be repeated. */
      readonly conflicts: readonly MergeConflict[];
      readonly generation: number;
    } & MergedCounts)
  | {
      readonly kind: 'committed';
      readonly operations: number;
      readonly asserted?: number;
      readonly unchanged?: number;
      /** Copied from the operation. */
      readonly note?: string;
      readonly generation: number;
    }
  /** `answer` is null if the request cannot be repeated. */
  | { readonly kind: 'decayed'; readonly answer: Decay['answer']; readonly generation: number }
  | { readonly kind: 'consolidated'; readonly answer: Consolidate['answer']; readonly generation: number }
  | { readonly kind: 'restored'; readonly answer: Restore['answer']; readonly generation: number }
  /** There was nothing to write and nothing was logged. */
  | { readonly kind: 'nothing'; readonly generation: number };

/** A key as answers show it. */
export type OutcomeKey = Omit<KeyView, 'lastUsedAt'>;

export type MergedCounts = Pick<Merged, 'added' | 'updated' | 'deleted' | 'kept' | 'resolved'>;

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
