/**
 * The log of calls as one window holds it: what is read, in which order, and what went wrong.
 *
 * One reading at a time, in the order they were asked for; readings of newer calls that would wait behind one another are
 * one. A reading that fails leaves what was held, and the next that succeeds takes the failure back.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { ApiError, type ApiFailure, apiFailureOf, isCancelled } from '../../api/problem.ts';
import { type FetchCalls, type HeldCalls, readFirst, readNewer, readOlder } from './call-log.ts';

export interface CallLogState {
  /** null before the first answer. */
  readonly held: HeldCalls | null;
  /** Why it is not up to date; null: it is. */
  readonly failure: ApiFailure | null;
  /** Older calls are on their way. */
  readonly isReadingOlder: boolean;
}

export interface CallLogStore {
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

  /** Resolves once the reading is done, with why it failed. */
  function read(reading: (held: HeldCalls) => Promise<HeldCalls>): Promise<ApiFailure | null> {
    const mine = turn.then(() => {
      isWaiting = false;
      return attempt(reading);
    });
    turn = mine;
    return mine;
  }

  /** Reads older calls, where there are any: that none are left says nothing of the service now. */
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
