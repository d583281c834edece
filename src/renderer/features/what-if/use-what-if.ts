/** Works out what the changes of the address would do; nothing is changed by it. */
import { useCallback, useEffect } from 'react';
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';
import { useSession } from '../../api/session.tsx';
import { withoutSupposedAway } from '../../api/supposed.ts';
import { type Run, useRun } from '../../api/use-run.ts';
import { readChanges, whatIfRequestOf } from './changes.ts';
import type { WhatIfSearch } from './what-if-search.ts';

export function useWhatIf({ add, retract, without, goals }: WhatIfSearch): Run<WhatIfResult> & {
  again(): void;
} {
  const { call, space } = useSession();
  const run = useRun<WhatIfResult>();
  const { start, clear } = run;
  const { scope } = space;
  const again = useCallback(() => {
    const { changes, isReady } = readChanges({ add, retract, without, goals });
    if (!isReady) return clear();
    const body = whatIfRequestOf(changes, scope);
    start(async (signal) => withoutSupposedAway(await call('whatIf', { body }, { signal }), body.retract));
  }, [call, scope, start, clear, add, retract, without, goals]);
  useEffect(() => again(), [again]);
  return { ...run, again };
}
