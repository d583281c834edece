import { expect, it } from 'vitest';
import type { PlanStep } from '../../../engine/contract/plan.ts';
import { misjudged, movedInPlan, planMarks, planRows } from './plan-rows.ts';

function step(detail: string, children: PlanStep[] = [], counted: Partial<PlanStep> = {}): PlanStep {
  return { step: 'join', detail, access: 'scan', estimatedRows: 1, children, ...counted };
}

const plan = step('root', [step('a', [step('b')], { elapsedMs: 3 }), step('c', [], { elapsedMs: 5 })], {
  step: 'question',
  elapsedMs: 9,
});
const details = (folded: readonly string[]) =>
  planRows(plan, new Set(folded)).map(({ step: { detail }, level }) => `${level} ${detail}`);

it('lists the steps depth first, without those below a folded one', () => {
  expect(details([])).toEqual(['1 root', '2 a', '3 b', '2 c']);
  expect(details(['0.0'])).toEqual(['1 root', '2 a', '2 c']);
});

it('marks the step that took the most time, not the question itself', () => {
  const { slowest, totalMs } = planMarks(plan);
  expect(slowest?.detail).toBe('c');
  expect(totalMs).toBe(17);
  expect(planMarks(step('root')).slowest).toBeNull();
});

it('says when rows were far from the estimate', () => {
  const at = (estimatedRows: number, rows?: number) =>
    misjudged(step('', [], { estimatedRows, ...(rows === undefined ? {} : { rows }) }));
  expect([at(10, 101), at(10, 100), at(1000, 99), at(1000, 100), at(1, 9), at(5)]).toEqual([
    'more',
    null,
    'fewer',
    null,
    null,
    null,
  ]);
});

it('moves by the keys of a tree', () => {
  const from = (key: string, active: string, folded: readonly string[] = []) => {
    const rows = planRows(plan, new Set(folded));
    const next = movedInPlan(key, { active, folded: new Set(folded) }, rows, 2);
    return next === null ? null : [next.active, ...next.folded];
  };
  expect(from('ArrowDown', '0')).toEqual(['0.0']);
  expect(from('PageDown', '0')).toEqual(['0.0.0']);
  expect(from('End', '0')).toEqual(['0.1']);
  expect(from('ArrowLeft', '0.0.0')).toEqual(['0.0']);
  expect(from('ArrowLeft', '0.0')).toEqual(['0.0', '0.0']);
  expect(from('ArrowRight', '0.0', ['0.0'])).toEqual(['0.0']);
  expect(from('Enter', '0.0', ['0.0'])).toEqual(['0.0']);
  expect(from('*', '0.0', ['0.0', '0'])).toEqual(['0.0']);
  expect(from('x', '0')).toBeNull();
});
