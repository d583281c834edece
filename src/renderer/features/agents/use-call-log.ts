/**
 * The log of calls of this window, read when the view opens and on whenever the service tells of a call.
 *
 * Calls in databases and tenants that the stream of changes is not about are found by asking every few seconds.
 */
import { useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { useStore } from 'zustand';
import { useLive } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { type CallLogState, type CallLogStore, createCallLog } from './call-log-store.ts';

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
