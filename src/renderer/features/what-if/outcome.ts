/** What changes would do, as lines: by goal, or all together. */
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';

export type GoalOutcome = WhatIfResult['goals'][number];

export interface OutcomeRow {
  readonly change: 'gained' | 'lost' | 'unchanged';
  readonly atom: string;
  readonly goal: string;
}

/** How many conclusions the changes would add and take away; one that several goals show counts once. */
export function totalsOf(goals: readonly GoalOutcome[]): { gained: number; lost: number } {
  return {
    gained: new Set(goals.flatMap(({ gained }) => gained)).size,
    lost: new Set(goals.flatMap(({ lost }) => lost)).size,
  };
}

/** The lines of the goals: what is lost, what is gained, then, where wanted, what stays. Each in its order. */
export function outcomeRowsOf(goals: readonly GoalOutcome[], withUnchanged: boolean): OutcomeRow[] {
  const rows: OutcomeRow[] = [];
  for (const { goal, before, after, gained, lost } of goals) {
    for (const atom of lost) rows.push({ change: 'lost', atom, goal });
    for (const atom of gained) rows.push({ change: 'gained', atom, goal });
    if (!withUnchanged) continue;
    const stays = new Set(after);
    for (const atom of before) if (stays.has(atom)) rows.push({ change: 'unchanged', atom, goal });
  }
  return rows;
}
