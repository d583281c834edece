/** The history of the space that is shown, as views use it. */
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

export interface HistoryActions extends History {
  /** The step that would be undone, or done again; null: there is none. */
  readonly next: Readonly<Record<HistoryDirection, HistoryStep | null>>;
  /** Answers why it was refused; null: it was not. */
  readonly take: (way: HistoryDirection) => Promise<ApiFailure | null>;
  readonly dismissFailure: () => void;
}

/** Longer than the stream of changes gathers, so that what is gone is known before it would be asked for. */
const refreshMs = 250;

export function useHistory(): HistoryActions {
  const { space, endpoint } = useSession();
  const client = useQueryClient();
  const useStore = historyOf(space);
  const history = useStore();

  async function take(way: HistoryDirection): Promise<ApiFailure | null> {
    const step = await move(useStore, way);
    if (step?.kind === 'stored') {
      notifyDone(`${way === 'undo' ? 'Undone' : 'Done again'}: ${step.label}`);
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
