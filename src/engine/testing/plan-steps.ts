/** Compares the plan of a question with the steps that answered it. */
import { expect } from 'vitest';
import type { PlanStep } from '../contract/plan.ts';

/**
 * Every table that was shown in both is derived by the same steps, and all that was asked for was planned, except where
 * the evaluation could not know before: a table that was given many keys is filled from a wider one, and a closure that
 * proved sparse by its rules.
 */
export function expectSameSteps(run: PlanStep, plan: PlanStep): void {
  expectSameOwnSteps(run, plan, 'the question');
  const planned = tablesOf(plan);
  const ran = tablesOf(run);
  const isOpen = [...ran.values()].some(
    ({ strategy, reason }) => strategy === 'generalized' || reason?.includes('proved') === true,
  );
  if (!isOpen) expect([...ran.keys()].sort()).toEqual([...planned.keys()].sort());
  for (const [name, table] of ran) {
    const twin = planned.get(name);
    if (twin !== undefined && table.strategy === twin.strategy && table.reason === twin.reason)
      expectSameOwnSteps(table, twin, name);
  }
}

/**
 * Compares the steps of one table. A join that may intersect atoms looks them up one by one until sorting pays, so that
 * it may have run in one way or in both: then only what it joins is compared.
 */
function expectSameOwnSteps(run: PlanStep, plan: PlanStep, name: string): void {
  const [ran, planned] = [ownSteps(run), ownSteps(plan)];
  const mayIntersect = [...ran, ...planned].some((line) => line.trim().startsWith('intersection '));
  if (!mayIntersect) expect(ran, name).toEqual(planned);
  else expect(joinedAtoms(run), name).toEqual(joinedAtoms(plan));
}

/** The atoms of every join of one table, each join once, in any order. */
function joinedAtoms(of: PlanStep): string[] {
  const joins = new Set<string>();
  const open = [...of.children];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    if (step.step === 'join') {
      const atoms = step.children
        .filter((child) => child.step === 'atom' || child.step === 'intersection')
        .flatMap(({ detail }) => detail.split(/(?<=\)), /));
      joins.add(`${step.detail}: ${atoms.sort().join(', ')}`);
    }
    if (step.step !== 'table') open.push(...step.children);
  }
  return [...joins].sort();
}

/** The tables that are shown, by what they are asked for. */
function tablesOf(plan: PlanStep): Map<string, PlanStep> {
  const found = new Map<string, PlanStep>();
  const open = [plan];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    if (step.step === 'table' && step.access !== 'reference')
      found.set(`${step.relation} ${step.detail}`, step);
    open.push(...step.children);
  }
  return found;
}

/** The steps of one table as lines, with the tables that they ask for by name. */
function ownSteps(of: PlanStep): string[] {
  const lines: string[] = [];
  const write = ({ step, detail, access, columns, strategy, children }: PlanStep, depth: number): void => {
    const isTable = step === 'table' && depth > 0;
    const how = isTable ? 'table' : [step, access, columns?.join(','), strategy].join(' ');
    lines.push(`${'  '.repeat(depth)}${how} ${detail}`);
    // Tables that were too deep are shown below the question, wherever they were first asked for.
    if (isTable && depth === 1) lines.pop();
    if (!isTable) for (const child of children) write(child, depth + 1);
  };
  write(of, 0);
  return lines;
}
