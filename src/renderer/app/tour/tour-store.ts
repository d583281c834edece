/** How far the tour was taken, in this browser: it can be left, and taken up again after a restart. */
import { create } from 'zustand';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { readProgress, type TourProgress } from './tour-progress.ts';

const storageKey = 'corollary.tour';

interface TourState {
  /** null: never taken, or ended. */
  readonly progress: TourProgress | null;
}

export const useTour = create<TourState>()(() => ({
  progress: readStoredState<TourProgress | null>(storageKey, readProgress, null),
}));

export function setProgress(progress: TourProgress | null): void {
  if (progress === null) localStorage.removeItem(storageKey);
  else writeStored(storageKey, progress);
  useTour.setState({ progress });
}

function change(part: Partial<TourProgress>): void {
  const { progress } = useTour.getState();
  if (progress !== null) setProgress({ ...progress, ...part });
}

export function goToStep(step: number): void {
  change({ step });
}

/** Leaves the tour where it is, to be taken up again. */
export function leaveTour(): void {
  change({ isOpen: false });
}

export function resumeTour(): void {
  change({ isOpen: true });
}
