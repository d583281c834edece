/**
 * One task of the service at a time, with a cancel that reports completion.
 *
 * A new task ends the running one, as does leaving the view. The previous result stays while a task runs, so that
 * nothing flickers. Nothing reruns automatically: `useIsOld` reports that a result is out of date.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { useLive } from './live.ts';
import { type ApiFailure, apiFailureOf, isCancelled } from './problem.ts';
import { useSession } from './session.tsx';

/** State of a task. */
export interface RunState<Result> {
  /** Start by `performance.now()`; null while nothing runs. */
  readonly runningSince: number | null;
  readonly result: Result | null;
  readonly failure: ApiFailure | null;
  /** Duration in milliseconds until the last task was cancelled. */
  readonly cancelledAfter: number | null;
}

/** A task with its controls. */
export interface Run<Result> {
  readonly state: RunState<Result>;
  /** Starts `work`, which must reject when the signal aborts. */
  start(work: (signal: AbortSignal) => Promise<Result>): void;
  cancel(): void;
  /** Cancels the task and clears the result. */
  clear(): void;
}

const idle = { runningSince: null, result: null, failure: null, cancelledAfter: null } as const;

/** Returns a task runner for the view. */
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
 * Runs `work` at once and whenever its identity changes; null runs nothing. `again` reruns it. Results of other work
 * are cleared.
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

/** Returns true once conclusions may have changed since `shown`, compared by identity, appeared. The past never changes. */
export function useIsOld(shown: unknown): boolean {
  const { moment } = useSession();
  const version = useLive((live) => live.versions.answers);
  const [seen, setSeen] = useState({ shown, version });
  if (seen.shown !== shown) setSeen({ shown, version });
  if (moment !== null) return false;
  return seen.shown === shown && shown !== null && shown !== undefined && version !== seen.version;
}
