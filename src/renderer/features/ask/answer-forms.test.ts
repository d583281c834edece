import { describe, expect, test } from 'vitest';
import { readQuestion } from './answer.ts';
import {
  chartAxesOf,
  chartAxesText,
  columnKinds,
  fittingForms,
  graphAxesOf,
  graphAxesText,
  pivotAxesOf,
  pivotAxesText,
  timeOf,
} from './answer-forms.ts';
import { chartPoints, MAX_BARS, MAX_POINTS, MAX_SERIES } from './chart-points.ts';
import { MAX_PIVOT_COLUMNS, pivotTable } from './pivot.ts';

function kindsOf(text: string, bindings: Record<string, string>[]) {
  const read = readQuestion(text);
  if (!read.ok) throw new Error(read.message);
  return columnKinds({ question: read.question, bindings });
}

const rows = [
  { who: 'ada', city: 'Paris', day: '2025-01-02', n: '3' },
  { who: 'bob', city: 'Paris', day: '2025-01-01', n: '4.5' },
  { who: 'cy', city: 'Rome', day: '2025-01-02', n: '-1' },
];
const kinds = kindsOf('sale(?who, ?city, ?day, ?n)', rows);

describe('columns', () => {
  test('are numbers or dates if all their values are', () => {
    expect([...kinds].map(([name, { kind }]) => `${name} ${kind}`)).toEqual([
      'who text',
      'city text',
      'day date',
      'n number',
    ]);
    expect(kindsOf('p(?a)', [{ a: '1' }, { a: 'x' }]).get('a')?.kind).toBe('text');
    expect(kindsOf('p(?a)', []).get('a')?.kind).toBe('text');
  });

  test('that are dates mean UTC where they name no offset', () => {
    expect(timeOf('1970-01-02')).toBe(86_400_000);
    expect(timeOf('1970-01-01T01:00')).toBe(3_600_000);
    expect(timeOf('1970-01-01T01:00:00+01:00')).toBe(0);
    expect(timeOf('2025-13-01')).toBeNaN();
    expect(timeOf('2025')).toBeNaN();
  });

  test('decide which forms are offered', () => {
    expect(fittingForms(0)).toEqual(['table', 'text', 'json']);
    expect(fittingForms(1)).not.toContain('graph');
    expect(fittingForms(2)).toContain('graph');
  });
});

describe('settings', () => {
  test('are proposed by the columns, and read back from the address', () => {
    expect(graphAxesOf(undefined, kinds)).toEqual({ source: 'who', target: 'city', label: null });
    const graph = { source: 'city', target: 'who', label: 'day' };
    expect(graphAxesOf(graphAxesText(graph), kinds)).toEqual(graph);
    expect(chartAxesOf(undefined, kinds)).toEqual({
      kind: 'line',
      x: 'day',
      y: 'n',
      measure: 'sum',
      series: null,
    });
    for (const chart of [
      { kind: 'bar', x: 'city', y: null, measure: 'count', series: null },
      { kind: 'bar', x: 'city', y: 'n', measure: 'max', series: 'who' },
      { kind: 'scatter', x: 'day', y: 'n', measure: 'mean', series: 'city' },
    ] as const)
      expect(chartAxesOf(chartAxesText(chart), kinds)).toEqual(chart);
    expect(pivotAxesOf(undefined, kinds)).toEqual({
      rows: 'day',
      columns: 'city',
      measure: 'sum',
      value: 'n',
    });
    for (const pivot of [
      { rows: 'who', columns: null, measure: 'count', value: null },
      { rows: 'who', columns: 'day', measure: 'mean', value: 'n' },
    ] as const)
      expect(pivotAxesOf(pivotAxesText(pivot), kinds)).toEqual(pivot);
  });

  test('that name what the question does not have are not taken', () => {
    expect(graphAxesOf('source=gone target=who label=gone', kinds)).toEqual({
      source: 'city',
      target: 'who',
      label: null,
    });
    expect(chartAxesOf('kind=scatter x=who y=city', kinds)).toEqual({
      kind: 'scatter',
      x: 'day',
      y: 'n',
      measure: 'mean',
      series: null,
    });
    expect(chartAxesOf('kind=bar x=city series=city', kinds)?.series).toBeNull();
    expect(chartAxesOf('kind=line', kindsOf('p(?a)', [{ a: 'x' }]))?.kind).toBe('bar');
    expect(graphAxesOf('', kindsOf('p(?a)', [{ a: 'x' }]))).toBeNull();
    expect(pivotAxesOf('value=who of=sum', kinds)?.value).toBe('n');
  });
});

describe('a chart', () => {
  const one = { kind: 'bar', measure: 'sum', series: null } as const;

  test('has the greatest bar first, and dates and numbers in their order', () => {
    const bar = chartPoints(rows, { ...one, x: 'city', y: 'n' }, kinds);
    expect(bar).toMatchObject({ names: ['Paris', 'Rome'], xs: [0, 1], notDrawn: null });
    expect(bar.series).toEqual([{ name: null, ys: [7.5, -1] }]);
    const line = chartPoints(rows, { ...one, kind: 'line', x: 'day', y: 'n', measure: 'mean' }, kinds);
    expect(line.xs).toEqual([timeOf('2025-01-01'), timeOf('2025-01-02')]);
    expect(line.series).toEqual([{ name: null, ys: [4.5, 1] }]);
    const days = chartPoints(rows, { ...one, x: 'day', y: null, measure: 'count' }, kinds);
    expect(days).toMatchObject({ names: ['2025-01-01', '2025-01-02'], series: [{ ys: [1, 2] }] });
  });

  test('has a series for each value of a column, empty where the value has no answers', () => {
    const line = chartPoints(rows, { ...one, kind: 'line', x: 'day', y: 'n', series: 'city' }, kinds);
    expect(line.series).toEqual([
      { name: 'Paris', ys: [4.5, 3] },
      { name: 'Rome', ys: [null, -1] },
    ]);
    const bars = chartPoints(rows, { ...one, x: 'city', y: null, measure: 'count', series: 'day' }, kinds);
    expect(bars.names).toEqual(['Paris', 'Rome']);
    // Beside each other around the position of their name.
    expect(bars.xs.map((x) => Math.round(x * 10) / 10)).toEqual([-0.2, 0.2, 0.8, 1.2]);
    expect(bars.series.map(({ ys }) => ys)).toEqual([
      [1, null, null, null],
      [null, 1, null, 1],
    ]);
    const dots = chartPoints(rows, { ...one, kind: 'scatter', x: 'day', y: 'n', series: 'who' }, kinds);
    expect(dots.series.map(({ ys }) => ys.filter((y) => y !== null))).toEqual([[3], [4.5], [-1]]);
  });

  test('says what it does not draw', () => {
    const many = Array.from({ length: 50_000 }, (_, index) => ({ a: String(index), b: `n${index % 100}` }));
    const found = kindsOf('p(?a, ?b)', many);
    const bars = chartPoints(many, { ...one, x: 'b', y: null, measure: 'count' }, found);
    expect(bars.xs).toHaveLength(MAX_BARS);
    expect(bars.notDrawn).toBe('The 60 greatest of 100 values of ?b are drawn.');
    const points = chartPoints(many, { ...one, kind: 'scatter', x: 'a', y: 'a', measure: 'mean' }, found);
    expect(points.xs.length).toBeLessThanOrEqual(MAX_POINTS);
    expect(points.notDrawn).toMatch(/^One of 3 answers is drawn: /);
    const split = chartPoints(many, { ...one, kind: 'line', x: 'a', y: 'a', series: 'b' }, found);
    expect(split.series).toHaveLength(MAX_SERIES);
    expect(split.notDrawn).toBe('The 6 most frequent of 100 values of ?b are drawn.');
  });
});

describe('a pivot table', () => {
  test('measures each pair, each row, each column and all', () => {
    const table = pivotTable(rows, { rows: 'city', columns: 'day', measure: 'sum', value: 'n' });
    expect(table).toEqual({
      columns: ['2025-01-01', '2025-01-02'],
      rows: [
        { key: 'Paris', cells: [4.5, 3], total: 7.5 },
        { key: 'Rome', cells: [null, -1], total: -1 },
      ],
      totals: { key: 'All', cells: [4.5, 2], total: 6.5 },
      columnsLeftOut: 0,
    });
    const mean = pivotTable(rows, { rows: 'city', columns: null, measure: 'mean', value: 'n' });
    expect(mean.columns).toEqual([]);
    // The mean of all answers, not of the rows' means.
    expect(mean.totals.total).toBeCloseTo(6.5 / 3, 12);
  });

  test('adds up exactly what floating point would lose', () => {
    const tenths = Array.from({ length: 1_000 }, (_, index) => ({ a: 'x', n: index === 0 ? '1e16' : '0.1' }));
    const { totals } = pivotTable([...tenths, { a: 'x', n: '-1e16' }], {
      rows: 'a',
      columns: null,
      measure: 'sum',
      value: 'n',
    });
    expect(totals.total).toBeCloseTo(99.9, 9);
  });

  test('keeps the most frequent values as columns, and counts the others in the totals', () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ a: 'x', b: `c${index % 60}` }));
    const table = pivotTable(many, { rows: 'a', columns: 'b', measure: 'count', value: null });
    expect(table.columns).toHaveLength(MAX_PIVOT_COLUMNS);
    expect(table.columnsLeftOut).toBe(20);
    expect(table.totals.total).toBe(200);
  });
});
