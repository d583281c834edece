/** What POST /whatIf answers, without what the question itself supposed away. */
import type { WhatIfResult } from '../../engine/contract/explanation.ts';
import { renderAtom } from '../../engine/language/print.ts';

interface SupposedAway {
  readonly predicate: string;
  readonly args: readonly string[];
  /** null and absent: both. */
  readonly truthVal?: boolean | null | undefined;
}

/**
 * The result with conclusions alone in `lost`: a fact that was supposed to be retracted is none, as one that was
 * supposed to be asserted is not gained.
 */
export function withoutSupposedAway(result: WhatIfResult, retracted: readonly SupposedAway[]): WhatIfResult {
  const atoms = new Set<string>();
  for (const { predicate, args, truthVal } of retracted)
    for (const negated of truthVal === null || truthVal === undefined ? [false, true] : [!truthVal])
      atoms.add(renderAtom({ predicate, args: [...args], negated }));
  if (atoms.size === 0) return result;
  const goals = result.goals.map((goal) => ({ ...goal, lost: goal.lost.filter((atom) => !atoms.has(atom)) }));
  return { ...result, goals };
}
