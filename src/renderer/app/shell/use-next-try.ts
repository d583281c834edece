import { useMemo } from 'react';
import type { ApiFailure } from '../../api/problem.ts';
import { useSecondsUntil } from '../../ui/use-seconds-until.ts';

/** Returns the seconds until a retry makes sense, counted down from the first sight of the failure; 0 means at once. */
export function useNextTry(failure: ApiFailure | null): number {
  const at = useMemo(() => {
    const seconds = failure?.retryAfterSeconds ?? null;
    return seconds === null ? null : Date.now() + seconds * 1_000;
  }, [failure]);
  return useSecondsUntil(at);
}
