/** The history of the current space, for views. */
import { useQueryClient } from '@tanstack/react-query';
import { notifyDone } from '../ui/notify.tsx';
import { type ApiFailure } from './problem.ts';
import {
  type History,
  historyOf,
  move,
  nextStep,
  type HistoryStep,
  type HistoryDirection,
} from './history.ts';
import { invalidate, topics } from './live.ts';
import { useSession } from './session.tsx';

/** History and the actions on it. */
export interface HistoryActions extends History {
  /** The step to undo or redo; null if there is none. */
  readonly next: Readonly<Record<HistoryDirection, HistoryStep | null>>;
  /** Takes a step; returns the refusal, or null on success. */
  readonly take: (way: HistoryDirection) => Promise<ApiFailure | null>;
  readonly dismissFailure: () => void;
}

/** Longer than the change stream's batching, so that deleted facts are known before they would be fetched. */
const refreshMs = 250;

/** Returns the history of the current space. */
export function useHistory(): HistoryActions {
  const { space, endpoint } = useSession();
  const client = useQueryClient();
  const useStore = historyOf(space);
  const history = useStore();

  async function take(way: HistoryDirection): Promise<ApiFailure | null> {
    const step = await move(useStore, way);
    if (step?.kind === 'stored') {
      notifyDone(`${way === 'undo' ? 'Undone' : 'Redone'}: ${step.label}`);
      setTimeout(() => invalidate(client, endpoint, topics), refreshMs);
    }
    return useStore.getState().failure;
  }

  return {
    ...history,
    next: { undo: nextStep(history, 'undo'), redo: nextStep(history, 'redo') },
    take,
    dismissFailure: () => useStore.setState({ failure: null }),
  };
}
