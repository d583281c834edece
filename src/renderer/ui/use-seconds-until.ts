/** A clock for what is awaited: it counts down, and runs only while there is something to wait for. */
import { useInterval } from '@mantine/hooks';
import { useEffect, useState } from 'react';

/** Whole seconds until `time`, an epoch of milliseconds, counted down; 0 for null and for what is past. */
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
