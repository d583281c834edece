/**
 * The answer of one tab: requested when the tab shows a question it has not answered, and refreshed.
 *
 * While "Refresh" is on, a change of the knowledge repeats questions that were answered quickly; slow answers
 * are only marked as outdated.
 */
import { useCallback, useEffect, useEffectEvent } from 'react';
import { useLive } from '../../api/live.ts';
import { noteAsked } from '../../api/questions.ts';
import { useSession } from '../../api/session.tsx';
import { scopeKey } from '../../api/space.ts';
import { type Allowance, askOnce, raised, type ShownAnswer, usualAllowance } from './answer.ts';
import type { AskTab } from './ask-tabs.ts';
import { cancelRun, startRun, type TabRuns, useTabRuns } from './runs-store.ts';

/** Answers that took longer, in milliseconds, are not repeated automatically. */
const quickMs = 300;

/** The state of a tab's question, and its actions. */
export interface Asking {
  readonly runs: TabRuns;
  /** The shown answer may be outdated. */
  readonly isOld: boolean;
  again(): void;
  /** Asks again with ten times the limit that was exceeded; null if it is at the maximum. */
  raise(part: keyof Allowance): (() => void) | null;
  cancel(): void;
}

/** Repeats outdated answers, and questions that failed while the service was unreachable. */
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

/** Answers the question of a tab. */
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
