/** The result of POST /whatIf without the facts that the question itself retracts. */
import type { WhatIfResult } from '../../engine/contract/explanation.ts';
import { renderAtom } from '../../engine/language/print.ts';

interface SupposedAway {
  readonly predicate: string;
  readonly args: readonly string[];
  /** null or absent: both truth values. */
  readonly truthVal?: boolean | null | undefined;
}

/**
 * Returns the result with only conclusions in `lost`: a fact retracted by the hypothesis is not one, just as an
 * asserted one is not gained.
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
