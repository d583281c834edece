/**
 * The log of calls in this window: reads run one at a time, in the order requested; waiting reads of newer
 * calls are merged into one. A failed read keeps the loaded calls; the next success clears the failure.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { useStore } from 'zustand';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { useLive } from '../../api/live.ts';
import { ApiError, type ApiFailure, apiFailureOf, isCancelled } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { type FetchCalls, type HeldCalls, readFirst, readNewer, readOlder } from './call-log.ts';

interface CallLogState {
  /** null before the first response. */
  readonly held: HeldCalls | null;
  /** Why the log is not up to date; null: it is. */
  readonly failure: ApiFailure | null;
  /** True while older calls are being read. */
  readonly isReadingOlder: boolean;
}

interface CallLogStore {
  readonly store: StoreApi<CallLogState>;
  /** Marks the log as watched; returns the function that ends it and cancels the reads under way. */
  readonly open: () => () => void;
  /** Reads calls newer than those loaded. */
  readonly readOn: () => void;
  /** Reads the next page of older calls. */
  readonly readOlder: () => void;
  /**
   * Reads everything the service remembers. Errors: ApiError; AbortError once the log is no longer watched.
   */
  readonly readAll: () => Promise<readonly ToolCallRecord[]>;
}

/** A store of the log. `ask` fetches one page and rejects with an AbortError if the signal is aborted. */
export function createCallLog(
  ask: (page: Parameters<FetchCalls>[0], signal: AbortSignal) => ReturnType<FetchCalls>,
): CallLogStore {
  const store = createStore<CallLogState>()(() => ({ held: null, failure: null, isReadingOlder: false }));
  let turn: Promise<unknown> = Promise.resolve();
  let isWaiting = false;
  let looking = new AbortController();
  const fetchCalls: FetchCalls = (page) => ask(page, looking.signal);

  async function attempt(reading: (held: HeldCalls) => Promise<HeldCalls>): Promise<ApiFailure | null> {
    const { held } = store.getState();
    try {
      const next = await (held === null ? readFirst(fetchCalls) : reading(held));
      store.setState({ held: next, failure: null });
      return null;
    } catch (error) {
      const failure = apiFailureOf(error);
      if (!isCancelled(error)) store.setState({ failure });
      return failure;
    }
  }

  /** Resolves after the read, with its failure, or null. */
  function read(reading: (held: HeldCalls) => Promise<HeldCalls>): Promise<ApiFailure | null> {
    const mine = turn.then(() => {
      isWaiting = false;
      return attempt(reading);
    });
    turn = mine;
    return mine;
  }

  /** Reads older calls, if there are any; if none are left, it says nothing about the service's state. */
  function readOlderCalls(): Promise<ApiFailure | null> {
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

/**
 * How often the window polls for calls in other spaces, in milliseconds: the event stream does not cover
 * them.
 */
const elsewhereEveryMs = 4_000;
/** Minimum time between two reads of newer calls, in milliseconds. */
const restMs = 300;

/** The log of calls and the ways to read more of it. */
export type LoadedCallLog = CallLogState & Omit<CallLogStore, 'store' | 'open'>;

/** The log of calls of this window; `isReadable`: false if this user may not see the calls. */
export function useCallLog(isReadable: boolean): LoadedCallLog {
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

/** Calls `readOn` at once, after each event about a call, and periodically while the window is visible. */
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
