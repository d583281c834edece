import { useState } from 'react';
import type { MemoryStats } from '../../../engine/contract/memory.ts';
import { type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { scopeLabel } from '../../api/space.ts';
import { noteRun, type NewRun } from './memory-runs.ts';
import { askStats } from './use-memory.ts';

/** A measured write. */
export interface Measured {
  readonly isRunning: boolean;
  readonly failure: ApiFailure | null;
  /** Does the work, records its result as a run, then calls `onDone`. Failures go into `failure`. */
  start(
    work: () => Promise<Pick<NewRun, 'kind' | 'outcome' | 'list' | 'atoms'>>,
    onDone: (outcome: string) => void,
  ): void;
}

/** Returns a runner for writes that change much of the memory, with the figures before and after. */
export function useMeasured(): Measured {
  const session = useSession();
  const [isRunning, setIsRunning] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const { database, tenant, scope } = session.space;

  async function statsAfterwards(): Promise<MemoryStats | null> {
    try {
      return await askStats(session);
    } catch {
      // The write succeeded: the run is recorded without the figures after it.
      return null;
    }
  }

  const start: Measured['start'] = (work, onDone) => {
    async function measure(): Promise<void> {
      setIsRunning(true);
      setFailure(null);
      try {
        const before = await askStats(session);
        const run = await work();
        const after = await statsAfterwards();
        noteRun({ ...run, at: Date.now(), database, tenant, where: scopeLabel(scope), before, after });
        onDone(run.outcome);
      } catch (error) {
        setFailure(apiFailureOf(error));
      } finally {
        setIsRunning(false);
      }
    }
    void measure();
  };
  return { isRunning, failure, start };
}
