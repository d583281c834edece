/** The effect of changes as lines, by goal or in total. */
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';

/** The outcome of a goal. */
export type GoalOutcome = WhatIfResult['goals'][number];

/** A line. */
export interface OutcomeRow {
  readonly change: 'gained' | 'lost' | 'unchanged';
  readonly atom: string;
  readonly goal: string;
}

/** Returns how many conclusions the changes add and remove; one shown by several goals counts once. */
export function totalsOf(goals: readonly GoalOutcome[]): { gained: number; lost: number } {
  return {
    gained: new Set(goals.flatMap(({ gained }) => gained)).size,
    lost: new Set(goals.flatMap(({ lost }) => lost)).size,
  };
}

/** Returns the lines of the goals: lost, gained, then, if wanted, unchanged, each in order. */
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
