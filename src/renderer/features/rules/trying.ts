/** What a text of the editor would add and take away: the request of it, and its answer as lines. */
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';
import { ruleProblems } from '../../../engine/language/check.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { type Lesson, lessonOf } from './teaching.ts';

/** What is tried: a text, in place of a stored rule or beside all there is. */
export interface RuleTrial {
  readonly text: string;
  readonly scope: { readonly scope?: string; readonly unscoped?: true };
  /** Id of the stored rule that the text would replace; null: it is new, or replaces one that is off. */
  readonly instead: string | null;
}

export interface TriedLine {
  readonly change: 'gained' | 'lost';
  readonly atom: string;
}

export interface RuleTrialResult {
  readonly lines: readonly TriedLine[];
  readonly gained: number;
  readonly lost: number;
}

function requestFor({ facts, rules }: Lesson, { scope, instead }: RuleTrial) {
  return {
    assert: facts.map((fact) => ({ ...fact, args: [...fact.args], ...scope })),
    rules: rules.map((rule) => ({ text: renderRule(rule), ...scope })),
    withoutRules: instead === null ? [] : [instead],
    ...scope,
    timeoutMs: 20_000,
  };
}

/** The body for POST /whatIf; null where the text cannot be read, says nothing, or has a rule that is not safe. */
export function ruleTrialRequestOf(trial: RuleTrial) {
  const lesson = lessonOf(trial.text);
  const isSafe = lesson.rules.every((rule) => ruleProblems(rule).length === 0);
  return lesson.isReady && isSafe ? requestFor(lesson, trial) : null;
}

/** What is lost, then what is gained, each once though several goals show it. */
export function triedOf({ goals }: WhatIfResult): RuleTrialResult {
  const lost = [...new Set(goals.flatMap((goal) => goal.lost))];
  const gained = [...new Set(goals.flatMap((goal) => goal.gained))];
  const lines = [
    ...lost.map((atom): TriedLine => ({ change: 'lost', atom })),
    ...gained.map((atom): TriedLine => ({ change: 'gained', atom })),
  ];
  return { lines, gained: gained.length, lost: lost.length };
}
