/**
 * Remembered display states of proofs: unfolded steps, cursor, chosen alternatives.
 *
 * Stored by statement rather than step id, so that they apply to a recomputed proof as far as it is the same. The last
 * few survive a restart unless too much is unfolded.
 */
import type { Proof } from '../../../engine/contract/inference.ts';
import type { FoldState } from '../../../proof/folds.ts';
import { keyOfStep } from '../../../proof/proof-tree.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { type Chosen, waysTo } from './shown-proof.ts';

/** Display state of a proof. */
export interface Folds {
  readonly state: FoldState;
  readonly chosen: Chosen;
  /** The steps of chains that have their own lines. */
  readonly apart: ReadonlySet<number>;
}

/** A display state as stored. */
export interface StoredFolds {
  readonly about: string;
  readonly active: string;
  /** `all`: every step with premises. */
  readonly unfolded: readonly string[] | 'all';
  readonly chosen: readonly (readonly [statement: string, way: number])[];
  readonly apart: readonly string[];
}

/** Returns the storable form of a display state. */
export function storedFoldsOf(about: string, proof: Proof, { state, chosen, apart }: Folds): StoredFolds {
  const atomOf = new Map(proof.steps.map((step) => [keyOfStep(step.id), step.atom]));
  const foldable = proof.steps.filter((step) => step.premises.length > 0);
  const unfolded = foldable.filter((step) => state.unfolded.has(keyOfStep(step.id)));
  return {
    about,
    // A reference has its own key; its step is what can be found again.
    active: atomOf.get(state.active) ?? '',
    unfolded: unfolded.length === foldable.length ? 'all' : unfolded.map((step) => step.atom),
    chosen: proof.steps.flatMap((step) => {
      const way = chosen.get(step.id);
      return way === undefined ? [] : [[step.atom, way] as const];
    }),
    apart: proof.steps.filter(({ id }) => apart.has(id)).map(({ atom }) => atom),
  };
}

/** Returns the stored state applied to a proof, as far as its statements match. */
export function proofFoldsOf(kept: StoredFolds, proof: Proof): Folds {
  const ways = new Map(kept.chosen);
  const statements = kept.unfolded === 'all' ? null : new Set(kept.unfolded);
  const unfolded = new Set<string>();
  const chosen = new Map<number, number>();
  const ofApart = new Set(kept.apart);
  const apart = new Set<number>();
  let active = keyOfStep(proof.roots[0] ?? 0);
  for (const step of proof.steps) {
    if (statements === null || statements.has(step.atom)) unfolded.add(keyOfStep(step.id));
    if (step.atom === kept.active) active = keyOfStep(step.id);
    if (ofApart.has(step.atom)) apart.add(step.id);
    const way = ways.get(step.atom);
    if (way !== undefined && way < waysTo(step)) chosen.set(step.id, way);
  }
  return { state: { active, unfolded }, chosen, apart };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isWay(value: unknown): value is [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && Number.isInteger(value[1]) && value[1] > 0;
}

/** Returns the stored states that can be read; null if the value is no list. */
export function readFolds(value: unknown): StoredFolds[] | null {
  if (!Array.isArray(value)) return null;
  return (value as unknown[]).flatMap((item): StoredFolds[] => {
    if (typeof item !== 'object' || item === null) return [];
    // States stored before chains were remembered have no `apart`.
    const { about, active, unfolded, chosen, apart = [] } = item as Record<string, unknown>;
    if (typeof about !== 'string' || typeof active !== 'string') return [];
    if (unfolded !== 'all' && !isTexts(unfolded)) return [];
    if (!Array.isArray(chosen) || !chosen.every(isWay) || !isTexts(apart)) return [];
    return [{ about, active, unfolded, chosen, apart }];
  });
}

const storageKey = 'corollary.proofs';
/** Maximum number of states, of stored states, and of unfolded steps per stored state. */
const maxCount = 50;
const maxStored = 12;
const maxUnfolded = 1_000;
const saveMs = 2_000;

let remembered: Map<string, StoredFolds> | null = null;
let saving: ReturnType<typeof setTimeout> | undefined;

function all(): Map<string, StoredFolds> {
  if (remembered === null) {
    remembered = new Map(readStoredState(storageKey, readFolds, []).map((kept) => [kept.about, kept]));
    window.addEventListener('pagehide', save);
  }
  return remembered;
}

function save(): void {
  clearTimeout(saving);
  saving = undefined;
  const small = [...all().values()].filter(
    ({ unfolded, apart }) =>
      (unfolded === 'all' || unfolded.length <= maxUnfolded) && apart.length <= maxUnfolded,
  );
  writeStored(storageKey, small.slice(-maxStored));
}

/** Remembers a state; `about` identifies the question and where it was asked. */
export function rememberFolds(about: string, proof: Proof, folds: Folds): void {
  const known = all();
  known.delete(about);
  known.set(about, storedFoldsOf(about, proof, folds));
  for (const oldest of known.keys()) {
    if (known.size <= maxCount) break;
    known.delete(oldest);
  }
  saving ??= setTimeout(save, saveMs);
}

/** Returns the last state of a proof; null if there is none. */
export function recallFolds(about: string, proof: Proof): Folds | null {
  const kept = all().get(about);
  return kept === undefined ? null : proofFoldsOf(kept, proof);
}
