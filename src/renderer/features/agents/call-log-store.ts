/**
 * The log of calls as one window holds it: what is read, in which order, and what went wrong.
 *
 * One reading at a time, in the order they were asked for; readings of newer calls that would wait behind one another are
 * one. A reading that fails leaves what was held, and the next that succeeds takes the failure back.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { useStore } from 'zustand';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { useLive } from '../../api/live.ts';
import { ApiError, type Failure, failureOf, isCancelled } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { type FetchCalls, type HeldCalls, readFirst, readNewer, readOlder } from './call-log.ts';

interface CallLogState {
  /** null before the first answer. */
  readonly held: HeldCalls | null;
  /** Why it is not up to date; null: it is. */
  readonly failure: Failure | null;
  /** Older calls are on their way. */
  readonly isReadingOlder: boolean;
}

interface CallLogStore {
  readonly store: StoreApi<CallLogState>;
  /** Somebody looks; returns the way to stop, which gives up what is being read. */
  readonly open: () => () => void;
  /** Reads what is newer than what is held. */
  readonly readOn: () => void;
  /** Reads the next older calls. */
  readonly readOlder: () => void;
  /** Reads all that the service remembers. Errors: ApiError; AbortError where nobody looks any more. */
  readonly readAll: () => Promise<readonly ToolCallRecord[]>;
}

/** `ask`: one page of the service's log, which rejects with an AbortError when the signal is aborted. */
export function createCallLog(
  ask: (page: Parameters<FetchCalls>[0], signal: AbortSignal) => ReturnType<FetchCalls>,
): CallLogStore {
  const store = createStore<CallLogState>()(() => ({ held: null, failure: null, isReadingOlder: false }));
  let turn: Promise<unknown> = Promise.resolve();
  let isWaiting = false;
  let looking = new AbortController();
  const fetchCalls: FetchCalls = (page) => ask(page, looking.signal);

  async function attempt(reading: (held: HeldCalls) => Promise<HeldCalls>): Promise<Failure | null> {
    const { held } = store.getState();
    try {
      const next = await (held === null ? readFirst(fetchCalls) : reading(held));
      store.setState({ held: next, failure: null });
      return null;
    } catch (error) {
      const failure = failureOf(error);
      if (!isCancelled(error)) store.setState({ failure });
      return failure;
    }
  }

  /** Resolves once the reading is done, with why it failed. */
  function read(reading: (held: HeldCalls) => Promise<HeldCalls>): Promise<Failure | null> {
    const mine = turn.then(() => {
      isWaiting = false;
      return attempt(reading);
    });
    turn = mine;
    return mine;
  }

  /** Reads older calls, where there are any: that none are left says nothing of the service now. */
  function readOlderCalls(): Promise<Failure | null> {
    const { held } = store.getState();
    return held?.isWhole === true ? Promise.resolve(null) : read((now) => readOlder(now, fetchCalls));
  }

  return {
    store,
    open() {
      const mine = new AbortController();
      looking = mine;
      return () => mine.abort();
    },
    readOn() {
      if (isWaiting) return;
      isWaiting = true;
      void read((held) => readNewer(held, fetchCalls));
    },
    readOlder() {
      if (store.getState().isReadingOlder) return;
      store.setState({ isReadingOlder: true });
      void readOlderCalls().then(() => store.setState({ isReadingOlder: false }));
    },
    async readAll() {
      for (;;) {
        const failure = await readOlderCalls();
        if (looking.signal.aborted) throw new DOMException('given up', 'AbortError');
        if (failure !== null) throw new ApiError(failure);
        const { held } = store.getState();
        if (held === null || held.isWhole) return held?.calls ?? [];
      }
    },
  };
}

// HEAD use-call-log.ts: The log of calls of this window, read when the view opens and on whenever the service tells of a call. Calls in databases and tenants that the stream of changes is not about are found by asking every few seconds.

/** How often it is asked for calls elsewhere, in milliseconds. */
const elsewhereEveryMs = 4_000;
/** Between two readings of newer calls at least, in milliseconds. */
const restMs = 300;

export type CallLog = CallLogState & Omit<CallLogStore, 'store' | 'open'>;

/** `isReadable`: false where the calls are not for who is signed in. */
export function useCallLog(isReadable: boolean): CallLog {
  const { call } = useSession();
  const log = useMemo(
    () =>
      createCallLog(async ({ limit, before }, signal) => {
        const query = { limit: String(limit), before: before ?? undefined };
        return (await call('listMcpCalls', { query }, { signal })).calls;
      }),
    [call],
  );
  useEffect(() => log.open(), [log]);
  useFollowed(isReadable, log.readOn);
  const state = useStore(log.store);
  return { ...log, ...state };
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
