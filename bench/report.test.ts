import { expect, test } from 'vitest';
import { median } from './contestants/contestant.ts';
import { disagreements, figure, type Line, report } from './report.ts';

const outcome = (answers: number, solve: number) => ({ answers, solve, load: 0.5, peakBytes: 50e6 });

const line: Line = {
  workload: 'closure',
  title: 'a closure',
  kind: 'ask',
  size: 'full',
  cells: [
    { outcomes: [outcome(1234, 0.1), outcome(1234, 0.3), outcome(1234, 0.2)] },
    { outcomes: [outcome(1234, 1)] },
    { reason: 'over 120 s' },
  ],
};

test('shows medians in a table, and for the others the ratio to ours', () => {
  const text = report(['Corollary', 'Slow', 'Late'], [line]);
  expect(text).toContain('| a closure (1,234) | 0.200 | 1.00 (x5.00) | over 120 s |');
});

test('shows what a question takes by the clock beside its CPU time, of those that tell it', () => {
  const timed = (solve: number, wall: number) => ({ outcomes: [{ ...outcome(1234, solve), wall }] });
  const text = report(
    ['Corollary', 'Slow', 'Silent'],
    [{ ...line, cells: [timed(0.3, 0.1), timed(1, 1), { outcomes: [outcome(1234, 1)] }] }],
  );
  expect(text).toContain(
    '### The same by the clock, seconds\n\n|  | Corollary | Slow | Silent |\n| --- | ---: | ---: | ---: |\n| a closure | 0.100 | 1.00 (x10.0) | - |',
  );
  expect(report(['Corollary', 'Slow', 'Late'], [line])).not.toContain('by the clock');
});

test('names contestants that find different numbers of answers', () => {
  expect(disagreements(['A', 'B', 'C'], [line])).toEqual([]);
  const other = { ...line, cells: [{ outcomes: [outcome(1, 1)] }, { outcomes: [outcome(2, 1)] }] };
  expect(disagreements(['A', 'B'], [other])).toEqual(['closure, full: A 1, B 2']);
});

test('prints numbers to three digits', () => {
  expect([0, 0.00012345, 0.5, 12.345, 1234.5].map(figure)).toEqual([
    '0',
    '0.000123',
    '0.500',
    '12.3',
    '1235',
  ]);
});

test('takes the mean of the two middle values as the median of an even number', () => {
  expect([median([3, 1, 2]), median([4, 1, 3, 2])]).toEqual([2, 2.5]);
});
