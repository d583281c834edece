import { useWrite } from '../../api/queries.ts';
import { noteGone } from '../../api/live.ts';
import type { ApiFailure } from '../../api/problem.ts';
import { formatAmount } from '../../ui/format.ts';
import { notifyDone } from '../../ui/notify.tsx';
import { rememberedAtomOf, type Remembered } from './remembered.ts';
import { useMeasured } from './use-measured.ts';

/** Restoring summaries. */
export interface Restoring {
  readonly isRunning: boolean;
  readonly failure: ApiFailure | null;
  restore(summary: Pick<Remembered, 'id' | 'predicate' | 'args' | 'negated'>): void;
}

/** Returns how to restore the facts of a summary. */
export function useRestoring(): Restoring {
  const { mutateAsync } = useWrite('restore');
  const { isRunning, failure, start } = useMeasured();

  function restore(summary: Parameters<Restoring['restore']>[0]): void {
    const { id } = summary;
    if (id === null || isRunning) return;
    start(
      async () => {
        const { restored, atoms } = await mutateAsync({ body: { id } });
        noteGone([id]);
        const outcome = `Restored ${formatAmount(restored, 'fact')} from ${rememberedAtomOf(summary)}`;
        return { kind: 'restore', outcome, list: 'Restored', atoms };
      },
      (outcome) => notifyDone(outcome),
    );
  }
  return { isRunning, failure, restore };
}
