/**
 * One piece of work for the service at a time, with a cancel that says when it has cancelled.
 *
 * New work ends what runs. While it runs, the result before stays, so that nothing flickers; whoever leaves the
 * view ends it too. Nothing is done again behind one's back: `useIsOld` says when the result has grown old.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLive } from './live.ts';
import { type ApiFailure, apiFailureOf, isCancelled } from './problem.ts';

export interface RunState<Result> {
  /** A reading of `performance.now()`; null while nothing runs. */
  readonly runningSince: number | null;
  readonly result: Result | null;
  readonly failure: ApiFailure | null;
  /** Milliseconds after which the last work was cancelled. */
  readonly cancelledAfter: number | null;
}

export interface Run<Result> {
  readonly state: RunState<Result>;
  /** Begins `work`; its promise is to reject when the signal is aborted. */
  start(work: (signal: AbortSignal) => Promise<Result>): void;
  cancel(): void;
  /** Ends what runs, and forgets the result. */
  clear(): void;
}

const idle = { runningSince: null, result: null, failure: null, cancelledAfter: null } as const;

export function useRun<Result>(): Run<Result> {
  const [state, setState] = useState<RunState<Result>>(idle);
  const running = useRef<{ readonly controller: AbortController; readonly since: number } | null>(null);
  useEffect(() => () => running.current?.controller.abort(), []);

  const start = useCallback((work: (signal: AbortSignal) => Promise<Result>) => {
    running.current?.controller.abort();
    const mine = { controller: new AbortController(), since: performance.now() };
    running.current = mine;
    setState((before) => ({ ...before, runningSince: mine.since, cancelledAfter: null }));
    work(mine.controller.signal).then(
      (result) => {
        if (running.current !== mine) return;
        running.current = null;
        setState({ ...idle, result });
      },
      (error: unknown) => {
        if (running.current !== mine) return;
        running.current = null;
        if (isCancelled(error)) setState({ ...idle, cancelledAfter: performance.now() - mine.since });
        else setState({ ...idle, failure: apiFailureOf(error) });
      },
    );
  }, []);

  const cancel = useCallback(() => running.current?.controller.abort(), []);
  const clear = useCallback(() => {
    const before = running.current;
    running.current = null;
    before?.controller.abort();
    setState(idle);
  }, []);
  return { state, start, cancel, clear };
}

/**
 * Work that begins by itself, and anew whenever `work` is another (compared by identity); null: nothing is to be
 * done. `again` does the same once more. What was shown of other work goes.
 */
export function useRunAtOnce<Result>(
  work: ((signal: AbortSignal) => Promise<Result>) | null,
): Run<Result> & { again(): void } {
  const run = useRun<Result>();
  const { start, clear } = run;
  const again = useCallback(() => {
    if (work !== null) start(work);
  }, [work, start]);
  useEffect(() => {
    clear();
    again();
  }, [again, clear]);
  return { ...run, again };
}

/** True once conclusions may have changed since `shown` (compared by identity) came to be shown. */
export function useIsOld(shown: unknown): boolean {
  const version = useLive((live) => live.versions.answers);
  const [seen, setSeen] = useState({ shown, version });
  if (seen.shown !== shown) setSeen({ shown, version });
  return seen.shown === shown && shown !== null && shown !== undefined && version !== seen.version;
}
