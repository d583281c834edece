import { expect, test } from 'vitest';
import type { Line } from './report.ts';
import { targets, targetTable } from './targets.ts';
import { workloads } from './workloads/workloads.ts';

const cell = (solve: number, figures: Record<string, number> = {}) => ({
  outcomes: [{ answers: 1, load: 1, solve, peakBytes: null, figures }],
});

const line = (workload: string, ...cells: Line['cells']): Line => ({
  workload,
  title: workload,
  kind: 'ask',
  size: 'full',
  cells,
});

test('every target is one of a workload that there is', () => {
  const names = workloads.map(({ name }) => name);
  for (const { workload } of targets) expect(names).toContain(workload);
});

test('a target says by how much it is met or missed, of a peer that was measured', () => {
  const text = targetTable(['Corollary', 'SWI-Prolog'], [line('squares', cell(2), cell(3))]);
  expect(text).toContain('0 of 1 targets are met.');
  expect(text).toContain('| squares: question | x3 as fast as SWI-Prolog 3.00 s | 2.00 s | missed: x2.00 |');
});

test('where Soufflé was not measured its time is derived from that of SWI-Prolog, and said to be', () => {
  const text = targetTable(['Corollary', 'SWI-Prolog'], [line('five-way-join', cell(0.1), cell(0.82))]);
  expect(text).toContain(
    'at most x2 of Soufflé, derived from SWI-Prolog, 0.230 s | 0.100 s | met (0.217 of it)',
  );
  const measured = targetTable(
    ['Corollary', 'SWI-Prolog', 'Soufflé'],
    [line('five-way-join', cell(0.1), cell(0.82), cell(1))],
  );
  expect(measured).toContain('at most x2 of Soufflé 1.00 s');
});

test('what took microseconds is said in microseconds', () => {
  const text = targetTable(['Corollary'], [line('bound-left', cell(0.1), { reason: 'none' })]);
  expect(text).toContain('| bound-left: question | at most 0.150 s | 0.100 s | met (0.667 of it) |');
  const again = targetTable(['Corollary'], [line('bound-left', cell(0.1, { again: 10e-6 }))]);
  expect(again).toContain('| bound-left: again | at most 20.0 µs | 10.0 µs | met (0.500 of it) |');
});
