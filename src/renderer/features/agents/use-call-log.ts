/**
 * The log of calls of this window: read when the view opens, and on whenever the service tells of a call.
 *
 * One reading at a time, in order. Calls in databases and tenants that the stream of changes is not about are found by
 * asking every few seconds. Older calls are read when somebody scrolls to them, or looks for something.
 */
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { useLive } from '../../api/live.ts';
import { ApiError, type Failure, failureOf, isCancelled } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { type FetchCalls, type HeldCalls, readFirst, readNewer, readOlder } from './call-log.ts';

/** How often it is asked for calls elsewhere, in milliseconds. */
const elsewhereEveryMs = 4_000;
/** Between two readings of newer calls at least, in milliseconds. */
const restMs = 300;

export interface CallLog {
  /** null before the first answer. */
  readonly held: HeldCalls | null;
  /** Why it is not up to date; null: it is. */
  readonly failure: Failure | null;
  /** Older calls are on their way. */
  readonly isReadingOlder: boolean;
  readonly readOlder: () => void;
  /** All that the service remembers. Errors as those of a call. */
  readonly readAll: () => Promise<readonly ToolCallRecord[]>;
  readonly retry: () => void;
}

type Reading = (held: HeldCalls | null) => Promise<HeldCalls>;

/** `isReadable`: false where the calls are not for who is signed in. */
export function useCallLog(isReadable: boolean): CallLog {
  const { call } = useSession();
  const [held, setHeld] = useState<HeldCalls | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isReadingOlder, setReadingOlder] = useState(false);
  const current = useRef<HeldCalls | null>(null);
  const turn = useRef<Promise<unknown>>(Promise.resolve());
  const closing = useRef(new AbortController());

  const fetchCalls = useCallback<FetchCalls>(
    async ({ limit, before }) => {
      const query = { limit: String(limit), before: before ?? undefined };
      return (await call('listMcpCalls', { query }, { signal: closing.current.signal })).calls;
    },
    [call],
  );

  /** Reads when the readings before it are done. Resolves once it is, or has failed. */
  const read = useCallback((reading: Reading): Promise<Failure | null> => {
    const mine = turn.current.then(async () => {
      if (closing.current.signal.aborted) return null;
      try {
        const next = await reading(current.current);
        current.current = next;
        setHeld(next);
        setFailure(null);
        return null;
      } catch (error) {
        if (isCancelled(error)) return null;
        const failed = failureOf(error);
        setFailure(failed);
        return failed;
      }
    });
    turn.current = mine;
    return mine;
  }, []);

  const isWaiting = useRef(false);
  const readOn = useCallback(() => {
    if (isWaiting.current) return;
    isWaiting.current = true;
    void read((before) => {
      isWaiting.current = false;
      return before === null ? readFirst(fetchCalls) : readNewer(before, fetchCalls);
    }).then(() => {
      isWaiting.current = false;
    });
  }, [read, fetchCalls]);

  const isReading = useRef(false);
  const older = useCallback(() => {
    if (isReading.current) return;
    isReading.current = true;
    setReadingOlder(true);
    void read(async (before) =>
      before === null ? readFirst(fetchCalls) : readOlder(before, fetchCalls),
    ).then(() => {
      isReading.current = false;
      setReadingOlder(false);
    });
  }, [read, fetchCalls]);

  const readAll = useCallback(async () => {
    for (;;) {
      const failed = await read((before) =>
        before === null ? readFirst(fetchCalls) : readOlder(before, fetchCalls),
      );
      if (failed !== null) throw new ApiError(failed);
      if (current.current === null || current.current.isWhole) return current.current?.calls ?? [];
    }
  }, [read, fetchCalls]);

  useEffect(() => {
    const mine = new AbortController();
    closing.current = mine;
    return () => mine.abort();
  }, []);
  useFollowed(isReadable, readOn);
  return { held, failure, isReadingOlder, readOlder: older, readAll, retry: readOn };
}

/** Has `readOn` called at once, when a call is told of, and every so often while the window is seen. */
function useFollowed(isReadable: boolean, readOn: () => void): void {
  const version = useLive((live) => live.versions.agents);
  const rest = useRef<ReturnType<typeof setTimeout> | null>(null);
  const onTold = useEffectEvent(() => {
    if (!isReadable || rest.current !== null) return;
    rest.current = setTimeout(() => {
      rest.current = null;
      readOn();
    }, restMs);
  });
  useEffect(() => {
    if (version > 0) onTold();
  }, [version]);
  useEffect(() => {
    if (!isReadable) return undefined;
    readOn();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') readOn();
    }, elsewhereEveryMs);
    return () => {
      clearInterval(timer);
      if (rest.current !== null) clearTimeout(rest.current);
      rest.current = null;
    };
  }, [isReadable, readOn]);
}
