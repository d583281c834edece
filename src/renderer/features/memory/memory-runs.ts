/**
 * Evictions, consolidations and restorations of this window, with the memory before and after each.
 *
 * Kept for this window only: the service has no such list. Changes by others appear in the figures only.
 */
import { create } from 'zustand';
import type { MemoryStats } from '../../../engine/contract/memory.ts';

/** The compared part of the statistics. */
export type MemoryMoment = Pick<MemoryStats, 'facts' | 'histogram'>;

/** One run. */
export interface MemoryRun {
  /** Number in this window, from 1. */
  readonly number: number;
  readonly kind: 'decay' | 'consolidate' | 'restore';
  readonly at: number;
  readonly database: string;
  readonly tenant: string;
  /** Place in the knowledge base, in words. */
  readonly where: string;
  /** Result in words. */
  readonly outcome: string;
  readonly before: MemoryMoment;
  /** null if it could not be read afterwards. */
  readonly after: MemoryMoment | null;
  /** Heading of `atoms`: `Evicted`. */
  readonly list: string;
  /** The first affected atoms. */
  readonly atoms: readonly string[];
  readonly atomCount: number;
}

/** A run before it is numbered. */
export type NewRun = Omit<MemoryRun, 'number' | 'atomCount'>;

/** Maximum number of runs kept. */
export const maxRuns = 50;
/** Maximum number of atoms kept per run. */
export const maxAtoms = 1_000;

/** Returns the runs with a new one in front; drops the oldest beyond `maxRuns`. */
export function withRun(runs: readonly MemoryRun[], run: NewRun): MemoryRun[] {
  const number = (runs[0]?.number ?? 0) + 1;
  const atoms = run.atoms.slice(0, maxAtoms);
  return [{ ...run, number, atoms, atomCount: run.atoms.length }, ...runs].slice(0, maxRuns);
}

interface RunsState {
  /** The latest first. */
  readonly runs: readonly MemoryRun[];
}

/** Store of the runs. */
export const useMemoryRuns = create<RunsState>()(() => ({ runs: [] }));

/** Records a run. */
export function noteRun(run: NewRun): void {
  useMemoryRuns.setState(({ runs }) => ({ runs: withRun(runs, run) }));
}
