/**
 * How proofs were looked at: what was unfolded, where the cursor stood, which ways were chosen.
 *
 * Kept by statements and not by the numbers of steps, so that a proof that is made again, or with other ways, is found
 * as it was as far as it is the same. The last few survive a restart, unless one unfolded too much to be kept.
 */
import type { Proof } from '../../../engine/contract/inference.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { type Chosen, waysTo } from './alternatives.ts';
import { keyOfStep } from './proof-tree.ts';
import type { OutlineState } from './outline-keys.ts';

export interface Folds {
  readonly state: OutlineState;
  readonly chosen: Chosen;
}

/** As it is kept. */
export interface KeptFolds {
  readonly about: string;
  readonly active: string;
  /** `all`: every step that stands on others. */
  readonly unfolded: readonly string[] | 'all';
  readonly chosen: readonly (readonly [statement: string, way: number])[];
}

export function keptOf(about: string, proof: Proof, { state, chosen }: Folds): KeptFolds {
  const atomOf = new Map(proof.steps.map((step) => [keyOfStep(step.id), step.atom]));
  const foldable = proof.steps.filter((step) => step.premises.length > 0);
  const unfolded = foldable.filter((step) => state.unfolded.has(step.id));
  return {
    about,
    // A line that refers to a step has a key of its own; the step is what is found again.
    active: atomOf.get(state.active) ?? '',
    unfolded: unfolded.length === foldable.length ? 'all' : unfolded.map((step) => step.atom),
    chosen: proof.steps.flatMap((step) => {
      const way = chosen.get(step.id);
      return way === undefined ? [] : [[step.atom, way] as const];
    }),
  };
}

/** What was kept, in a proof that has some of the same statements. */
export function proofFoldsOf(kept: KeptFolds, proof: Proof): Folds {
  const ways = new Map(kept.chosen);
  const statements = kept.unfolded === 'all' ? null : new Set(kept.unfolded);
  const unfolded = new Set<number>();
  const chosen = new Map<number, number>();
  let active = keyOfStep(proof.roots[0] ?? 0);
  for (const step of proof.steps) {
    if (statements === null || statements.has(step.atom)) unfolded.add(step.id);
    if (step.atom === kept.active) active = keyOfStep(step.id);
    const way = ways.get(step.atom);
    if (way !== undefined && way < waysTo(step)) chosen.set(step.id, way);
  }
  return { state: { active, unfolded }, chosen };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isWay(value: unknown): value is [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && Number.isInteger(value[1]) && value[1] > 0;
}

/** What storage holds, as far as it can be understood. */
export function readFolds(value: unknown): KeptFolds[] | null {
  if (!Array.isArray(value)) return null;
  return (value as unknown[]).flatMap((item): KeptFolds[] => {
    if (typeof item !== 'object' || item === null) return [];
    const { about, active, unfolded, chosen } = item as Record<string, unknown>;
    if (typeof about !== 'string' || typeof active !== 'string') return [];
    if (unfolded !== 'all' && !isTexts(unfolded)) return [];
    if (!Array.isArray(chosen) || !chosen.every(isWay)) return [];
    return [{ about, active, unfolded, chosen }];
  });
}

const storageKey = 'corollary.proofs';
/** How many are remembered, how many of them are stored, and how many unfolded steps one of those may have. */
const greatestCount = 50;
const greatestStored = 12;
const greatestUnfolded = 1_000;
const saveMs = 2_000;

let remembered: Map<string, KeptFolds> | null = null;
let saving: ReturnType<typeof setTimeout> | undefined;

function all(): Map<string, KeptFolds> {
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
    ({ unfolded }) => unfolded === 'all' || unfolded.length <= greatestUnfolded,
  );
  writeStored(storageKey, small.slice(-greatestStored));
}

/** `about`: names the question and where it was asked. */
export function rememberFolds(about: string, proof: Proof, folds: Folds): void {
  const known = all();
  known.delete(about);
  known.set(about, keptOf(about, proof, folds));
  for (const oldest of known.keys()) {
    if (known.size <= greatestCount) break;
    known.delete(oldest);
  }
  saving ??= setTimeout(save, saveMs);
}

/** How a proof was looked at last; null where it was not. */
export function recallFolds(about: string, proof: Proof): Folds | null {
  const kept = all().get(about);
  return kept === undefined ? null : proofFoldsOf(kept, proof);
}
