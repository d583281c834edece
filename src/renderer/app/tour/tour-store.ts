/** Progress of the tour, stored in this browser, so that it can be paused and resumed after a restart. */
import { create } from 'zustand';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { readProgress, type TourProgress } from './tour-progress.ts';

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
