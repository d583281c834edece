/** Answers as the points of a chart. Pure. */
import { compareNumbersFirst } from '../../../engine/language/numbers.ts';
import { formatCount } from '../../ui/format.ts';
import type { ShownAnswer } from './answer.ts';
import { type ChartAxes, type ColumnKinds, timeOf } from './answer-forms.ts';
import { NumberTally } from './tally.ts';

/** Bars beyond this number could not be told apart. */
export const MAX_BARS = 60;
/** More points only make the same cloud darker. */
export const MAX_POINTS = 20_000;

/** The points of a chart, x ascending. */
export interface ChartPoints {
  /** Positions from 0 for bars; numbers, or epoch milliseconds. */
  readonly xs: readonly number[];
  readonly ys: readonly (number | null)[];
  /** The names of the bars; null if x is a number or a time. */
  readonly names: readonly string[] | null;
  /** What of the answers is not drawn, as a sentence; null if all is. */
  readonly notDrawn: string | null;
}

function positionOf(text: string, isTime: boolean): number {
  return isTime ? timeOf(text) : Number(text);
}

function scatterPoints(rows: ShownAnswer['bindings'], axes: ChartAxes, kinds: ColumnKinds): ChartPoints {
  const isTime = kinds.get(axes.x)?.kind === 'date';
  const y = axes.y ?? axes.x;
  const every = Math.max(1, Math.ceil(rows.length / MAX_POINTS));
  const points = rows
    .filter((_, index) => index % every === 0)
    .map((row) => [positionOf(row[axes.x] ?? '', isTime), Number(row[y])] as const)
    .sort(([left], [right]) => left - right);
  return {
    xs: points.map(([x]) => x),
    ys: points.map(([, value]) => value),
    names: null,
    notDrawn:
      every === 1
        ? null
        : `One of ${every} answers is drawn: ${formatCount(points.length)} of ${formatCount(rows.length)}.`,
  };
}

function grouped(rows: ShownAnswer['bindings'], { x, y }: ChartAxes): Map<string, NumberTally> {
  const groups = new Map<string, NumberTally>();
  for (const row of rows) {
    const key = row[x] ?? '';
    const tally = groups.get(key) ?? new NumberTally();
    groups.set(key, tally);
    tally.add(y === null ? null : Number(row[y]));
  }
  return groups;
}

/** Returns the points of a chart. Bars of texts come with the greatest first, others in their order. */
export function chartPoints(rows: ShownAnswer['bindings'], axes: ChartAxes, kinds: ColumnKinds): ChartPoints {
  if (axes.kind === 'scatter') return scatterPoints(rows, axes, kinds);
  const kind = kinds.get(axes.x)?.kind ?? 'text';
  const all = [...grouped(rows, axes)].map(([key, tally]) => ({ key, value: tally.of(axes.measure) }));
  if (axes.kind === 'line') {
    const points = all
      .map(({ key, value }) => ({ x: positionOf(key, kind === 'date'), value }))
      .sort((left, right) => left.x - right.x);
    return {
      xs: points.map(({ x }) => x),
      ys: points.map(({ value }) => value),
      names: null,
      notDrawn: null,
    };
  }
  const greatestFirst = all.toSorted(
    (left, right) => (right.value ?? 0) - (left.value ?? 0) || compareNumbersFirst(left.key, right.key),
  );
  const drawn = greatestFirst.slice(0, MAX_BARS);
  if (kind !== 'text') drawn.sort((left, right) => compareNumbersFirst(left.key, right.key));
  return {
    xs: drawn.map((_, index) => index),
    ys: drawn.map(({ value }) => value),
    names: drawn.map(({ key }) => key),
    notDrawn:
      all.length === drawn.length
        ? null
        : `The ${MAX_BARS} greatest of ${formatCount(all.length)} values of ?${axes.x} are drawn.`,
  };
}
