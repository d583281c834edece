/**
 * Parses the changes into the request of POST /whatIf.
 *
 * Only completely parsable changes are sent: every problem names its field and position.
 */
import type { Atom } from '../../../engine/contract/language.ts';
import { parseProgram } from '../../../engine/language/parse.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { maxProblems, readPatterns } from '../../api/question-text.ts';
import { type ScopeSelection, scopeFieldsOf } from '../../api/space.ts';
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
  /** As text. */
  readonly rules: readonly string[];
  /** Rule ids. */
  readonly without: readonly string[];
  readonly goals: readonly Atom[];
}

/** Problems of each field; empty if valid. */
export type ChangeProblems = Readonly<Record<'add' | 'retract' | 'goals', readonly string[]>>;

/** The parsed changes. */
export interface ReadChanges {
  readonly changes: Changes;
  readonly problems: ChangeProblems;
  /** True if everything can be parsed and something would change. */
  readonly isReady: boolean;
}

function factOf({ predicate, args, negated }: Atom): ChangedFact {
  return { predicate, args, truthVal: !negated };
}

function readStatements(text: string): { facts: ChangedFact[]; rules: string[]; problems: string[] } {
  const { statements, errors } = parseProgram(text, { maxErrors: maxProblems });
  return {
    facts: statements.flatMap((statement) => (statement.kind === 'fact' ? [factOf(statement.atom)] : [])),
    rules: statements.flatMap((statement) => (statement.kind === 'rule' ? [renderRule(statement.rule)] : [])),
    problems: errors.map(
      ({ range, message }) => `Line ${range.startLine}, column ${range.startColumn}: ${message}`,
    ),
  };
}

/** Returns the ids of the excluded rules, without duplicates. */
export function idsOf(without: string | undefined): string[] {
  const ids = (without ?? '').split(',').map((id) => id.trim());
  return [...new Set(ids.filter((id) => id !== ''))];
}

/** Parses the changes of a search. */
export function readChanges(search: WhatIfSearch): ReadChanges {
  const added = readStatements(search.add ?? '');
  const retracted = readStatements(search.retract ?? '');
  const { patterns: goals, problems: goalProblems } = readPatterns(search.goals ?? '');
  const without = idsOf(search.without);
  const retractProblems =
    retracted.rules.length === 0
      ? retracted.problems
      : [...retracted.problems, 'Write facts here. Choose the rules to leave out below.'];
  const count = added.facts.length + added.rules.length + retracted.facts.length + without.length;
  const isWrong = added.problems.length + retractProblems.length + goalProblems.length > 0;
  return {
    changes: { facts: added.facts, rules: added.rules, retracted: retracted.facts, without, goals },
    problems: { add: added.problems, retract: retractProblems, goals: goalProblems },
    isReady: count > 0 && !isWrong,
  };
}

/**
 * Returns the request body. Additions go into the current scope; retractions apply to it, or to every scope if all are
 * shown.
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
