import { expect, test } from 'vitest';
import { cpuSecondsIn } from '../measure.ts';
import { type Measured, perCpuSecond, rateTable, ratioOf, shareOf, verdict } from './figures.ts';

const measured = (answered: number, cpuSeconds: number): Measured => ({ answered, cpuSeconds, seconds: 2 });

const rounds = new Map([
  ['own', [measured(600, 1), measured(100, 1), measured(500, 1)]],
  ['bare', [measured(1000, 1), measured(1000, 1), measured(1000, 0.5)]],
]);

test('computes a ratio as the median of the rounds', () => {
  expect(ratioOf(rounds, 'own', 'bare', perCpuSecond)).toBe(0.25);
  expect(ratioOf(rounds, 'own', 'absent', perCpuSecond)).toBeNull();
});

test('computes a share of CPU as the part that the bare server does not need for an answer', () => {
  const durable = new Map([
    ['durable', [measured(800, 1)]],
    ['not', [measured(1000, 1)]],
  ]);
  expect(shareOf(durable, 'durable', 'not')).toBeCloseTo(0.2);
});

test('reports a target as met, missed or not measured', () => {
  const target = { title: 'it', wanted: 0.6, isMost: false, print: String };
  expect(verdict({ ...target, value: 0.6 })).toBe('met: it is 0.6 (at least 0.6)');
  expect(verdict({ ...target, value: 0.59 })).toBe('missed: it is 0.59 (at least 0.6)');
  expect(verdict({ ...target, value: 0.61, isMost: true })).toBe('missed: it is 0.61 (at most 0.6)');
  expect(verdict({ ...target, value: null })).toBe('not measured: it (at least 0.6)');
});

test('shows answers by CPU-second and second in the table, and the first server relative to the others', () => {
  const text = rateTable(['own', 'bare', 'absent'], new Map([['/query', rounds]]));
  expect(text.split('\n').at(-1)).toBe('| /query | 500 / 250 | 1,000 / 500 (0.250) | - |');
});

test('adds user and system time as CPU time, whatever the name of the program', () => {
  const fields = Array.from({ length: 50 }, (_, at) => at + 3).join(' ');
  expect(cpuSecondsIn(`12 (a ) b) ${fields}`)).toBe((14 + 15) / 100);
});
