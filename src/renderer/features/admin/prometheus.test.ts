import { describe, expect, test } from 'vitest';
import { quantileOf, readMetrics, sumOf } from './prometheus.ts';

describe('samples', () => {
  test('have a name, labels and a number; comments and empty lines are skipped', () => {
    expect(
      readMetrics('# HELP a What it is\n# TYPE a counter\na 3\n\nb{x="1",y="two"} -1.5e3 1700000000\n'),
    ).toEqual([
      { name: 'a', labels: {}, value: 3 },
      { name: 'b', labels: { x: '1', y: 'two' }, value: -1500, at: 1700000000 },
    ]);
  });

  test('keep quotes, braces, commas and line breaks in labels', () => {
    expect(readMetrics('a{x="a \\"b\\", {c}\\\\\\n=",} 1')).toEqual([
      { name: 'a', labels: { x: 'a "b", {c}\\\n=' }, value: 1 },
    ]);
  });

  test('may be NaN or infinite', () => {
    expect(readMetrics('a NaN\na +Inf\na -Inf\r\na .5').map(({ value }) => value)).toEqual([
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      0.5,
    ]);
  });

  for (const line of ['a', 'a one', 'a{x=1} 1', 'a{x="1" 1', '3a 1', 'a{x="1"y="2"} 1', 'a 0x10', '<html>'])
    test(`are rejected with the line number: ${line}`, () => {
      expect(() => readMetrics(`ok 1\n${line}\n`)).toThrow('line 2 of the metrics');
    });

  test('are summed over the matching series', () => {
    const samples = readMetrics('a{of="x"} 1\na{of="y"} 2\nb 4');
    expect(sumOf(samples, 'a')).toBe(3);
    expect(sumOf(samples, 'a', { of: 'y' })).toBe(2);
    expect(sumOf(samples, 'a', { of: 'z' })).toBeNull();
    expect(sumOf(samples, 'c')).toBeNull();
  });
});

function histogram(buckets: readonly (readonly [string, number])[]): string {
  return buckets.map(([bound, count]) => `h_bucket{le="${bound}"} ${count}`).join('\n');
}

describe('a quantile', () => {
  test('is linear within its bucket', () => {
    const samples = readMetrics(
      histogram([
        ['1', 10],
        ['2', 30],
        ['+Inf', 30],
      ]),
    );
    expect(quantileOf(samples, 'h', 0.5)).toEqual({ value: 1.25, isAtLeast: false });
    expect(quantileOf(samples, 'h', 1)).toEqual({ value: 2, isAtLeast: false });
    expect(quantileOf(samples, 'h', 0)).toEqual({ value: 0, isAtLeast: false });
  });

  test('beyond the last bound is at least that', () => {
    const samples = readMetrics(
      histogram([
        ['1', 1],
        ['+Inf', 10],
      ]),
    );
    expect(quantileOf(samples, 'h', 0.95)).toEqual({ value: 1, isAtLeast: true });
  });

  test('skips empty buckets', () => {
    const samples = readMetrics(
      histogram([
        ['1', 0],
        ['2', 0],
        ['3', 4],
        ['+Inf', 4],
      ]),
    );
    expect(quantileOf(samples, 'h', 0)).toEqual({ value: 2, isAtLeast: false });
  });

  test('covers all series, in any order of lines', () => {
    const samples = readMetrics(
      'h_bucket{le="+Inf",t="a"} 2\nh_bucket{le="1",t="a"} 2\nh_bucket{le="1",t="b"} 0\nh_bucket{le="+Inf",t="b"} 2',
    );
    expect(quantileOf(samples, 'h', 0.25)).toEqual({ value: 0.5, isAtLeast: false });
    expect(quantileOf(samples, 'h', 0.9)).toEqual({ value: 1, isAtLeast: true });
  });

  test('of no series is null', () => {
    expect(quantileOf(readMetrics(histogram([['+Inf', 0]])), 'h', 0.5)).toBeNull();
    expect(quantileOf([], 'h', 0.5)).toBeNull();
  });
});
