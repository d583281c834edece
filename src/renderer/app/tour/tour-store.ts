/** Progress of the tour, stored in this browser, so that it can be paused and resumed after a restart. */
import { create } from 'zustand';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';

/** The part of the tour's knowledge that existed before it began, so that cleaning up removes only the tour's own. */
export interface Before {
  /** Indexes into `tourFacts`. */
  readonly facts: readonly number[];
  /** Rule ids. */
  readonly rules: readonly string[];
}

/** A started tour. */
export interface TourProgress {
  readonly isOpen: boolean;
  /** From 0; equals the number of steps once all are done. */
  readonly step: number;
  readonly database: string;
  readonly tenant: string;
  readonly before: Before;
}

function isList<Value>(value: unknown, is: (entry: unknown) => entry is Value): value is Value[] {
  return Array.isArray(value) && value.every(is);
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Returns the stored progress; null if the value is none. */
export function readProgress(value: unknown): TourProgress | null {
  if (typeof value !== 'object' || value === null) return null;
  const { isOpen, step, database, tenant, before } = value as Readonly<Record<string, unknown>>;
  if (typeof isOpen !== 'boolean' || !isIndex(step) || !isText(database) || !isText(tenant)) return null;
  if (typeof before !== 'object' || before === null) return null;
  const { facts, rules } = before as Readonly<Record<string, unknown>>;
  if (!isList(facts, isIndex) || !isList(rules, isText)) return null;
  return { isOpen, step, database, tenant, before: { facts, rules } };
}

const storageKey = 'corollary.tour';

interface TourState {
  /** null if the tour never started or has ended. */
  readonly progress: TourProgress | null;
}

/** Store of the tour's progress. */
export const useTour = create<TourState>()(() => ({
  progress: readStoredState<TourProgress | null>(storageKey, readProgress, null),
}));

/** Sets and stores the progress; null ends the tour. */
export function setProgress(progress: TourProgress | null): void {
  if (progress === null) localStorage.removeItem(storageKey);
  else writeStored(storageKey, progress);
  useTour.setState({ progress });
}

function change(part: Partial<TourProgress>): void {
  const { progress } = useTour.getState();
  if (progress !== null) setProgress({ ...progress, ...part });
}

/** Moves to a step, counted from 0. */
export function goToStep(step: number): void {
  change({ step });
}

/** Pauses the tour. */
export function leaveTour(): void {
  change({ isOpen: false });
}

/** Resumes a paused tour. */
export function resumeTour(): void {
  change({ isOpen: true });
}
