/**
 * What was evicted, consolidated and restored from this window, each with the memory before and after it.
 *
 * Kept for this window only: the service keeps no such list. What others do shows in the figures, not here.
 */
import { create } from 'zustand';
import type { MemoryStats } from '../../../engine/contract/memory.ts';

/** The part of the statistics that is compared. */
export type MemoryMoment = Pick<MemoryStats, 'facts' | 'histogram'>;

export interface MemoryRun {
  /** From 1, of this window. */
  readonly number: number;
  readonly kind: 'decay' | 'consolidate' | 'restore';
  readonly at: number;
  readonly database: string;
  readonly tenant: string;
  /** Where in the knowledge, in words. */
  readonly where: string;
  /** What came of it, in words. */
  readonly outcome: string;
  readonly before: MemoryMoment;
  /** null where it could not be read afterwards. */
  readonly after: MemoryMoment | null;
  /** What `atoms` are: `Evicted`. */
  readonly list: string;
  /** The first of them. */
  readonly atoms: readonly string[];
  readonly atomCount: number;
}

export type NewRun = Omit<MemoryRun, 'number' | 'atomCount'>;

export const mostRuns = 50;
export const mostAtoms = 1_000;

/** The runs with another one before them; the oldest beyond `mostRuns` go. */
export function withRun(runs: readonly MemoryRun[], run: NewRun): MemoryRun[] {
  const number = (runs[0]?.number ?? 0) + 1;
  const atoms = run.atoms.slice(0, mostAtoms);
  return [{ ...run, number, atoms, atomCount: run.atoms.length }, ...runs].slice(0, mostRuns);
}

interface RunsState {
  /** The latest first. */
  readonly runs: readonly MemoryRun[];
}

export const useMemoryRuns = create<RunsState>()(() => ({ runs: [] }));

export function noteRun(run: NewRun): void {
  useMemoryRuns.setState(({ runs }) => ({ runs: withRun(runs, run) }));
}
