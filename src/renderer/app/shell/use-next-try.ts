/** When the service takes another try. */
import { useMemo } from 'react';
import type { ApiFailure } from '../../api/problem.ts';
import { useSecondsUntil } from '../../ui/use-seconds-until.ts';

/** Seconds until another try makes sense, counted down from when the failure was first seen; 0: at once. */
export function useNextTry(failure: ApiFailure | null): number {
  const at = useMemo(() => {
    const seconds = failure?.retryAfterSeconds ?? null;
    return seconds === null ? null : Date.now() + seconds * 1_000;
  }, [failure]);
  return useSecondsUntil(at);
}
