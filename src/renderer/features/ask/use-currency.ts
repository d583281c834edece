/** Whether a shown answer is still that of the knowledge there is. */
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useLive } from '../../api/live.ts';
import type { RunState } from '../../api/use-run.ts';
import type { ShownAnswer } from './use-answer.ts';

/** Answers that took longer are not asked for again on their own, in milliseconds. */
const quickMs = 300;

/**
 * Asks again, through `again`, when what the answer stands on may have changed, where it is live and was quick.
 * True while the shown answer may be out of date.
 */
export function useCurrency(state: RunState<ShownAnswer>, isLive: boolean, again: () => void): boolean {
  const version = useLive((live) => live.versions.answers);
  const answeredAt = useRef(version);
  const [isOld, setIsOld] = useState(false);

  useEffect(() => {
    answeredAt.current = useLive.getState().versions.answers;
    setIsOld(false);
  }, [state.result]);

  const onChange = useEffectEvent(() => {
    const { result: answer, runningSince } = state;
    if (answer === null) return;
    if (isLive && answer.elapsedMs <= quickMs && runningSince === null) again();
    else setIsOld(true);
  });
  useEffect(() => {
    if (version !== answeredAt.current) onChange();
  }, [version]);
  return isOld;
}
