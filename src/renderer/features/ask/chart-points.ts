/** Answers as the points of a chart. Pure. */
import { compareNumbersFirst } from '../../../engine/language/numbers.ts';
import { formatCount } from '../../ui/format.ts';
import type { ShownAnswer } from './answer.ts';
import { type ChartAxes, type ColumnKinds, type Measure, timeOf } from './answer-forms.ts';
import { NumberTally } from './tally.ts';

/** Bars beyond this number could not be told apart. */
export const MAX_BARS = 60;
/** More points only make the same cloud darker. */
export const MAX_POINTS = 20_000;

/** More series could not be told apart. */
export const MAX_SERIES = 6;

/** One series of a chart. */
export interface ChartSeries {
  /** null: the only one. */
  readonly name: string | null;
  /** One for each x; null where it has no value. */
  readonly ys: readonly (number | null)[];
}

/** The points of a chart, x ascending. */
export interface ChartPoints {
  /** Numbers or epoch milliseconds; of bars, places around the position of their name. */
  readonly xs: readonly number[];
  readonly series: readonly ChartSeries[];
  /** The names of the bars, from position 0 on; null if x is a number or a time. */
  readonly names: readonly string[] | null;
  /** What of the answers is not drawn, as sentences; null if all is. */
  readonly notDrawn: string | null;
}

type Rows = ShownAnswer['bindings'];

function positionOf(text: string, isTime: boolean): number {
  return isTime ? timeOf(text) : Number(text);
}

interface SplitRows {
  readonly names: readonly (string | null)[];
  /** Index of the series of a row; -1: it has none. */
  readonly seriesOf: (row: Rows[number]) => number;
  readonly notDrawn: string | null;
}

/** The values of a column that have a series: the most frequent, in their order. */
function splitRows(rows: Rows, column: string | null): SplitRows {
  if (column === null) return { names: [null], seriesOf: () => 0, notDrawn: null };
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row[column] ?? '', (counts.get(row[column] ?? '') ?? 0) + 1);
  const names = [...counts]
    .sort(([left, count], [right, other]) => other - count || compareNumbersFirst(left, right))
    .slice(0, MAX_SERIES)
    .map(([name]) => name)
    .sort(compareNumbersFirst);
  const places = new Map(names.map((name, at) => [name, at]));
  const isAll = counts.size === names.length;
  return {
    names,
    seriesOf: (row) => places.get(row[column] ?? '') ?? -1,
    notDrawn: isAll
      ? null
      : `The ${MAX_SERIES} most frequent of ${formatCount(counts.size)} values of ?${column} are drawn.`,
  };
}

function sentences(...parts: readonly (string | null)[]): string | null {
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? null : said.join(' ');
}

/** Puts points of several series onto common places. */
function aligned(
  names: readonly (string | null)[],
  points: readonly { readonly x: number; readonly at: number; readonly y: number | null }[],
): Pick<ChartPoints, 'xs' | 'series'> {
  return {
    xs: points.map(({ x }) => x),
    series: names.map((name, index) => ({ name, ys: points.map(({ at, y }) => (at === index ? y : null)) })),
  };
}

function scatterPoints(rows: Rows, axes: ChartAxes, kinds: ColumnKinds): ChartPoints {
  const isTime = kinds.get(axes.x)?.kind === 'date';
  const y = axes.y ?? axes.x;
  const split = splitRows(rows, axes.series);
  const every = Math.max(1, Math.ceil(rows.length / MAX_POINTS));
  const chosen = rows.filter((_, index) => index % every === 0);
  const points = chosen
    .map((row) => ({
      x: positionOf(row[axes.x] ?? '', isTime),
      at: split.seriesOf(row),
      y: Number(row[y]),
    }))
    .filter(({ at }) => at >= 0)
    .sort((left, right) => left.x - right.x);
  return {
    ...aligned(split.names, points),
    names: null,
    notDrawn: sentences(
      every === 1
        ? null
        : `One of ${every} answers is drawn: ${formatCount(chosen.length)} of ${formatCount(rows.length)}.`,
      split.notDrawn,
    ),
  };
}

/** The values of one x: of all answers, and of each series. */
interface Group {
  readonly key: string;
  readonly all: NumberTally;
  readonly ofSeries: NumberTally[];
}

function grouped(rows: Rows, { x, y }: ChartAxes, { names, seriesOf }: SplitRows): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const at = seriesOf(row);
    if (at < 0) continue;
    const key = row[x] ?? '';
    let group = groups.get(key);
    if (group === undefined) {
      group = { key, all: new NumberTally(), ofSeries: names.map(() => new NumberTally()) };
      groups.set(key, group);
    }
    const value = y === null ? null : Number(row[y]);
    group.all.add(value);
    group.ofSeries[at]?.add(value);
  }
  return [...groups.values()];
}

/** The value of a series at one x; null without answers, which is no count of 0. */
const valueOf = (tally: NumberTally | undefined, measure: Measure) =>
  tally === undefined || tally.count === 0 ? null : tally.of(measure);

/** Of the distance between two names, this much is for bars. */
const GROUP_WIDTH = 0.8;

/** Returns the points of a chart. Bars of texts come with the greatest first, others in their order. */
export function chartPoints(rows: Rows, axes: ChartAxes, kinds: ColumnKinds): ChartPoints {
  if (axes.kind === 'scatter') return scatterPoints(rows, axes, kinds);
  const { measure } = axes;
  const kind = kinds.get(axes.x)?.kind ?? 'text';
  const split = splitRows(rows, axes.series);
  const groups = grouped(rows, axes, split);
  if (axes.kind === 'line') {
    const points = groups
      .map(({ key, ofSeries }) => ({ x: positionOf(key, kind === 'date'), ofSeries }))
      .sort((left, right) => left.x - right.x);
    return {
      xs: points.map(({ x }) => x),
      series: split.names.map((name, at) => ({
        name,
        ys: points.map(({ ofSeries }) => valueOf(ofSeries[at], measure)),
      })),
      names: null,
      notDrawn: split.notDrawn,
    };
  }
  const drawn = groups
    .toSorted(
      (left, right) =>
        (right.all.of(measure) ?? 0) - (left.all.of(measure) ?? 0) ||
        compareNumbersFirst(left.key, right.key),
    )
    .slice(0, MAX_BARS);
  if (kind !== 'text') drawn.sort((left, right) => compareNumbersFirst(left.key, right.key));
  const step = GROUP_WIDTH / split.names.length;
  const points = drawn.flatMap(({ ofSeries }, position) =>
    ofSeries.map((tally, at) => ({
      x: position + (at - (split.names.length - 1) / 2) * step,
      at,
      y: valueOf(tally, measure),
    })),
  );
  return {
    ...aligned(split.names, points),
    names: drawn.map(({ key }) => key),
    notDrawn: sentences(
      groups.length === drawn.length
        ? null
        : `The ${MAX_BARS} greatest of ${formatCount(groups.length)} values of ?${axes.x} are drawn.`,
      split.notDrawn,
    ),
  };
}
