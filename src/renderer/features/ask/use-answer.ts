/**
 * The answer of one tab: asked for when the tab shows another question than it has answered, and kept current.
 *
 * An answer that came quickly is asked for again while "Refresh" is on and the knowledge changes; a slow one only says
 * that it has grown old.
 */
import { useCallback, useEffect, useEffectEvent } from 'react';
import { useLive } from '../../api/live.ts';
import { noteAsked } from '../../api/questions.ts';
import { useSession } from '../../api/session.tsx';
import { scopeKey } from '../../api/space.ts';
import { type Allowance, askOnce, raised, type ShownAnswer, usualAllowance } from './answer.ts';
import type { AskTab } from './ask-tabs.ts';
import { cancelRun, startRun, type TabRuns, useTabRuns } from './runs-store.ts';

/** Answers that took longer are not asked for again on their own, in milliseconds. */
const quickMs = 300;

export interface Asking {
  readonly runs: TabRuns;
  /** The shown answer may be out of date. */
  readonly isOld: boolean;
  again(): void;
  /** Asks again with ten times of what was not enough; null where there is no more. */
  raise(part: keyof Allowance): (() => void) | null;
  cancel(): void;
}

/** An answer that did not come because the service was away is asked for again once it is back. */
function useCurrency(runs: TabRuns, isLive: boolean, again: () => void): boolean {
  const version = useLive((live) => live.versions.answers);
  const { result, failure, runningSince } = runs.state;
  const isOld = result !== null && version !== runs.version;
  const wasAway = failure?.code === 'Unreachable' || failure?.code === 'NotReady';
  const onChange = useEffectEvent(() => {
    if (runningSince !== null) return;
    const isQuick = isOld && isLive && (result?.elapsedMs ?? 0) <= quickMs;
    if (isQuick || wasAway) again();
  });
  const isRunning = runningSince !== null;
  const hasChanged = isOld || (wasAway && version !== runs.version);
  useEffect(() => {
    if (hasChanged && !isRunning) onChange();
  }, [hasChanged, isRunning, version, isLive]);
  return isOld;
}

export function useAnswer(tab: AskTab, isLive: boolean): Asking {
  const session = useSession();
  const { endpoint, space } = session;
  const { question } = tab.shown;
  const isStoredOnly = tab.shown.stored === 'true';
  const runs = useTabRuns(endpoint, tab.id);
  const wanted = JSON.stringify([question, isStoredOnly, scopeKey(space.scope)]);

  const ask = useCallback(
    (allowance: Allowance, isNoted: boolean, known: ShownAnswer | null = null) => {
      if (question === undefined) return;
      startRun(endpoint, tab.id, wanted, allowance, async (signal) => {
        const answer = await askOnce(session, question, isStoredOnly, allowance, known, signal);
        if (isNoted && !signal.aborted) noteAsked(space, answer.question.text, answer.results.length);
        return answer;
      });
    },
    [endpoint, session, space, tab.id, question, isStoredOnly, wanted],
  );

  const onWanted = useEffectEvent(() => {
    if (question !== undefined && runs.asked !== wanted) ask(usualAllowance, true);
  });
  useEffect(() => onWanted(), [wanted, tab.id, endpoint]);

  const isOld = useCurrency(runs, isLive, () => ask(runs.allowance, false));
  return {
    runs,
    isOld,
    again: () => ask(runs.allowance, true),
    raise(part) {
      const more = raised(runs.allowance, part);
      const known = part === 'limit' && runs.asked === wanted ? runs.state.result : null;
      return more === null ? null : () => ask(more, true, known);
    },
    cancel: () => cancelRun(tab.id),
  };
}
