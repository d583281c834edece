/**
 * The session's actions: storing its window, diffing it, clearing it. Results belong to the session's name.
 */
import { useState } from 'react';
import type { ContextWindow, WindowDiff } from '../../../engine/contract/context.ts';
import { useSession } from '../../api/session.tsx';
import { type RunState, useRun } from '../../api/use-run.ts';
import { notifyDone, notifyFailure } from '../../ui/notify.tsx';
import { apiFailureOf, isCancelled } from '../../api/problem.ts';
import { diffRequest, type WindowRequest } from './form.ts';

/** A diff with the session it belongs to. */
interface SessionDiff {
  readonly session: string;
  readonly diff: WindowDiff;
}

/** The actions of a session with their progress. */
export interface SessionWork {
  readonly diff: RunState<SessionDiff>;
  readonly keeping: RunState<ContextWindow>;
  readonly clearing: RunState<string>;
  /** Whether a diff uses the goals, facts and scope of the form instead of those of the stored window. */
  readonly isByForm: boolean;
  readonly setIsByForm: (isByForm: boolean) => void;
  readonly keep: () => void;
  readonly compare: () => void;
  readonly cancelCompare: () => void;
  readonly clear: () => void;
}

/** Reports success or failure as a notification, and passes it on. */
async function notified<Result>(work: Promise<Result>, done: (result: Result) => string): Promise<Result> {
  try {
    const result = await work;
    notifyDone(done(result));
    return result;
  } catch (error) {
    if (!isCancelled(error)) notifyFailure(apiFailureOf(error));
    throw error;
  }
}

/** The actions of the session named in the form; `onCompare` is called when a diff begins. */
export function useSessionWork(
  session: string | undefined,
  request: WindowRequest | null,
  onCompare: () => void,
): SessionWork {
  const { call } = useSession();
  const comparing = useRun<SessionDiff>();
  const keeping = useRun<ContextWindow>();
  const clearing = useRun<string>();
  const [isByForm, setIsByForm] = useState(false);

  function keep(): void {
    if (session === undefined || request === null) return;
    keeping.start((signal) =>
      notified(
        // It has entries, because no text was asked for.
        call(
          'optimizeContext',
          { body: { ...request, sessionId: session } },
          { signal },
        ) as Promise<ContextWindow>,
        ({ totalFactsIncluded }) => `Session '${session}' keeps a window of ${totalFactsIncluded} facts`,
      ),
    );
  }

  function compare(): void {
    if (session === undefined) return;
    onCompare();
    const body = diffRequest(session, isByForm ? request : null);
    comparing.start(async (signal) => {
      // Likewise: it has atoms.
      const diff = (await call('diffContext', { body }, { signal })) as WindowDiff;
      return { session, diff };
    });
  }

  function clear(): void {
    if (session === undefined) return;
    clearing.start((signal) =>
      notified(call('clearContextSession', { body: { sessionId: session } }, { signal }), (answer) => answer),
    );
    comparing.clear();
  }

  return {
    diff: comparing.state,
    keeping: keeping.state,
    clearing: clearing.state,
    isByForm,
    setIsByForm,
    keep,
    compare,
    cancelCompare: comparing.cancel,
    clear,
  };
}
