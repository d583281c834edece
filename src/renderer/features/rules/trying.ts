/** Trial of an editor text: its request and its result as lines. */
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';
import { ruleProblems } from '../../../engine/language/check.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { type Lesson, lessonOf } from './teaching.ts';

/** A text to try, in place of a stored rule or in addition to everything. */
export interface RuleTrial {
  readonly text: string;
  readonly scope: { readonly scope?: string; readonly unscoped?: true };
  /** Id of the stored rule that the text would replace; null if it is new or replaces a disabled one. */
  readonly instead: string | null;
}

/** One gained or lost conclusion. */
export interface TriedLine {
  readonly change: 'gained' | 'lost';
  readonly atom: string;
}

/** Result of a trial. */
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

/** Returns the body of POST /whatIf; null if the text is empty, cannot be parsed or has an unsafe rule. */
export function ruleTrialRequestOf(trial: RuleTrial) {
  const lesson = lessonOf(trial.text);
  const isSafe = lesson.rules.every((rule) => ruleProblems(rule).length === 0);
  return lesson.isReady && isSafe ? requestFor(lesson, trial) : null;
}

/** Returns lost, then gained conclusions, without duplicates among goals. */
export function triedOf({ goals }: WhatIfResult): RuleTrialResult {
  const lost = [...new Set(goals.flatMap((goal) => goal.lost))];
  const gained = [...new Set(goals.flatMap((goal) => goal.gained))];
  const lines = [
    ...lost.map((atom): TriedLine => ({ change: 'lost', atom })),
    ...gained.map((atom): TriedLine => ({ change: 'gained', atom })),
  ];
  return { lines, gained: gained.length, lost: lost.length };
}
