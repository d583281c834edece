import { useInterval } from '@mantine/hooks';
import { useEffect, useState } from 'react';

/**
 * Returns the whole seconds until `time` in epoch milliseconds, counted down; 0 for null or the past. The timer runs
 * only while counting.
 */
export function useSecondsUntil(time: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  const { start, stop } = useInterval(() => setNow(Date.now()), 500);
  useEffect(() => {
    if (time === null) return undefined;
    setNow(Date.now());
    start();
    return stop;
  }, [time, start, stop]);
  return time === null ? 0 : Math.max(0, Math.ceil((time - now) / 1_000));
}
