import { expect, test } from 'vitest';
import type { Line } from './report.ts';
import { bestPeerTable, largeTargets, targets, targetTable } from './targets.ts';
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

test('refers to an existing workload in every target', () => {
  const names = workloads.map(({ name }) => name);
  for (const { workload } of [...targets, ...largeTargets]) expect(names).toContain(workload);
});

test('says by how much a target is met or missed against a measured peer', () => {
  const text = targetTable(['Corollary', 'SWI-Prolog'], [line('squares', cell(2), cell(3))], targets);
  expect(text).toContain('1 of 2 targets are met.');
  expect(text).toContain('| squares: question | x3 as fast as SWI-Prolog 3.00 s | 2.00 s | missed: x2.00 |');
});

test("derives Soufflé's time from SWI-Prolog's if it was not measured, and says so", () => {
  const text = targetTable(
    ['Corollary', 'SWI-Prolog'],
    [line('five-way-join', cell(0.1), cell(0.82))],
    targets,
  );
  expect(text).toContain(
    'at most x2 of Soufflé, derived from SWI-Prolog, 0.230 s | 0.100 s | met (0.217 of it)',
  );
  const measured = targetTable(
    ['Corollary', 'SWI-Prolog', 'Soufflé'],
    [line('five-way-join', cell(0.1), cell(0.82), cell(1))],
    targets,
  );
  expect(measured).toContain('at most x2 of Soufflé 1.00 s');
});

test('prints microseconds as microseconds', () => {
  const text = targetTable(['Corollary'], [line('bound-left', cell(0.1), { reason: 'none' })], targets);
  expect(text).toContain('| bound-left: question | at most 0.150 s | 0.100 s | met (0.667 of it) |');
  const again = targetTable(['Corollary'], [line('bound-left', cell(0.1, { again: 10e-6 }))], targets);
  expect(again).toContain('| bound-left: again | at most 20.0 µs | 10.0 µs | met (0.500 of it) |');
});

test('measures joins against the fastest peer, with an allowance if that one is short', () => {
  const contestants = ['Corollary', 'SWI-Prolog', 'DuckDB', 'gringo'];
  const peers = [cell(0.2), cell(0.01), cell(0)];
  const text = targetTable(
    contestants,
    [line('lubm-14', cell(0.12, { compiled: 0.012 }), ...peers)],
    targets,
  );
  expect(text).toContain(
    '| at most x3 of the best peer and 30.0 ms: DuckDB 10.0 ms | 0.120 s | missed: x2.00 |',
  );
  expect(text).toContain('| at most x1.5 of the best peer: DuckDB 10.0 ms | 12.0 ms | met (0.800 of it) |');
  const long = targetTable(contestants, [line('lubm-14', cell(1.2), cell(0.4), cell(0.8), cell(5))], targets);
  expect(long).toContain(
    '| lubm-14: question | at most x3 of the best peer: SWI-Prolog 0.400 s | 1.20 s | met',
  );
});

test('has a target for every workload that only asks', () => {
  const named = new Set(targets.map(({ workload }) => workload));
  const asking = workloads.filter(({ kind }) => kind === 'ask' || kind === 'reads');
  expect(asking.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
});

test('wants cyclic joins and closures of large inputs in half the time of the best peer, other joins in 1.5 times', () => {
  const contestants = ['Corollary', 'DuckDB', 'SQLite'];
  const cells = [cell(0.8, { compiled: 0.7 }), cell(0.5), cell(0.9)];
  const text = targetTable(
    contestants,
    [line('squares', ...cells), line('closure-grid', ...cells), line('five-way-join', ...cells)],
    largeTargets,
  );
  expect(text).toContain('2 of 4 targets are met.');
  expect(text).toContain('| squares: question | at most x0.5 of the best peer: DuckDB 0.500 s | 0.800 s |');
  expect(text).toContain('| closure-grid: question | at most x0.5 of the best peer');
  expect(text).toContain(
    '| five-way-join: compiled | at most x1.5 of the best peer: DuckDB 0.500 s | 0.700 s |',
  );
});

test('shows a question beside its best peer, with the ratio', () => {
  const text = bestPeerTable(
    ['Corollary', 'DuckDB', 'SQLite'],
    [
      line('squares', cell(0.8, { compiled: 0.7 }), cell(0.9), cell(0.5)),
      line('triangles', cell(0.8), { reason: 'left out' }, { reason: 'over 10 s' }),
    ],
  );
  expect(text).toContain('| squares | SQLite 0.500 | 0.800 (1.60) | 0.700 (1.40) |');
  expect(text).toContain('| triangles | - | 0.800 | - |');
});
