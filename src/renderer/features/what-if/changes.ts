/**
 * The changes that are tried, read from their texts into what POST /whatIf takes.
 *
 * Nothing is sent that cannot be read whole: every problem names the field it is in and its place there.
 */
import type { Atom } from '../../../engine/contract/language.ts';
import { parseProgram } from '../../../engine/language/parse.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { mostProblems, readPatterns } from '../../api/question-text.ts';
import type { ScopeSelection } from '../../api/space.ts';
import { scopeFieldsOf } from '../../api/space.ts';
import type { WhatIfSearch } from './what-if-search.ts';

interface ChangedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}

/** The changes as values. */
export interface Changes {
  readonly facts: readonly ChangedFact[];
  readonly retracted: readonly ChangedFact[];
  /** Rendered. */
  readonly rules: readonly string[];
  /** Ids. */
  readonly without: readonly string[];
  readonly goals: readonly Atom[];
}

/** What keeps a field from being read; empty where nothing does. */
export type ChangeProblems = Readonly<Record<'add' | 'retract' | 'goals', readonly string[]>>;

export interface ReadChanges {
  readonly changes: Changes;
  readonly problems: ChangeProblems;
  /** True where all can be read and something would change. */
  readonly isReady: boolean;
}

function factOf({ predicate, args, negated }: Atom): ChangedFact {
  return { predicate, args, truthVal: !negated };
}

function readStatements(text: string): { facts: ChangedFact[]; rules: string[]; problems: string[] } {
  const { statements, errors } = parseProgram(text, { maxErrors: mostProblems });
  return {
    facts: statements.flatMap((statement) => (statement.kind === 'fact' ? [factOf(statement.atom)] : [])),
    rules: statements.flatMap((statement) => (statement.kind === 'rule' ? [renderRule(statement.rule)] : [])),
    problems: errors.map(
      ({ range, message }) => `Line ${range.startLine}, column ${range.startColumn}: ${message}`,
    ),
  };
}

/** The ids of the rules to leave out, each once. */
export function idsOf(without: string | undefined): string[] {
  const ids = (without ?? '').split(',').map((id) => id.trim());
  return [...new Set(ids.filter((id) => id !== ''))];
}

export function readChanges(search: WhatIfSearch): ReadChanges {
  const added = readStatements(search.add ?? '');
  const retracted = readStatements(search.retract ?? '');
  const { patterns: goals, problems: goalProblems } = readPatterns(search.goals ?? '');
  const without = idsOf(search.without);
  const retractProblems =
    retracted.rules.length === 0
      ? retracted.problems
      : [...retracted.problems, 'Here stand facts. A rule is left out by choosing it below.'];
  const count = added.facts.length + added.rules.length + retracted.facts.length + without.length;
  const isWrong = added.problems.length + retractProblems.length + goalProblems.length > 0;
  return {
    changes: { facts: added.facts, rules: added.rules, retracted: retracted.facts, without, goals },
    problems: { add: added.problems, retract: retractProblems, goals: goalProblems },
    isReady: count > 0 && !isWrong,
  };
}

/**
 * The body of the request. What is added goes into the scope that is shown; what is taken away is taken from it,
 * or from every scope where all are shown.
 */
export function whatIfRequestOf({ facts, retracted, rules, without, goals }: Changes, scope: ScopeSelection) {
  const fields = scopeFieldsOf(scope);
  return {
    assert: facts.map((fact) => ({ ...fact, args: [...fact.args], ...fields })),
    retract: retracted.map((fact) => ({ ...fact, args: [...fact.args], ...fields })),
    rules: rules.map((text) => ({ text, ...fields })),
    withoutRules: [...without],
    ...(goals.length === 0 ? {} : { goals: [...goals] }),
    ...fields,
    timeoutMs: 60_000,
  };
}
