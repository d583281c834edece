/** The answers as a chart. Screen readers get its extremes; the table has every value. */
import { useElementSize } from '@mantine/hooks';
import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { EmptyState } from '../../ui/notices.tsx';
import { useShownTheme } from '../../ui/theme-choice.ts';
import { locale } from '../../ui/texts.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import {
  type ChartAxes,
  chartAxesOf,
  chartAxesText,
  type ChartKind,
  chartKinds,
  type ColumnKinds,
  measures,
} from './answer-forms.ts';
import styles from './ask.module.css';
import { type ChartPoints, chartPoints } from './chart-points.ts';
import { Choice, ColumnChoice, FormFrame, type FormProps, numberColumns } from './form-settings.tsx';
import { measureInWords, measureWords } from './pivot-view.tsx';

const kindWords: Readonly<Record<ChartKind, string>> = { bar: 'Bars', line: 'Line', scatter: 'Scatter' };

interface SettingsProps extends Pick<FormProps, 'kinds' | 'onAxes'> {
  axes: ChartAxes;
}

function Settings({ kinds, axes, onAxes }: SettingsProps) {
  const change = (part: Partial<ChartAxes>) => onAxes(chartAxesText({ ...axes, ...part }));
  const numbers = numberColumns(kinds);
  const ordered = [...kinds].filter(([, { kind }]) => kind !== 'text').map(([name]) => name);
  const fits: Readonly<Record<ChartKind, boolean>> = {
    bar: true,
    line: ordered.length > 0,
    scatter: ordered.length > 1 && numbers.length > 0,
  };
  return (
    <>
      <Choice
        label="Chart"
        value={axes.kind}
        options={chartKinds
          .filter((kind) => fits[kind])
          .map((kind) => ({ value: kind, label: kindWords[kind] }))}
        // The columns of another kind of chart are proposed anew where these do not fit it.
        onChoose={(value) => change({ kind: chartKinds.find((kind) => kind === value) ?? 'bar' })}
      />
      <ColumnChoice
        label="Across"
        value={axes.x}
        columns={axes.kind === 'bar' ? [...kinds.keys()] : ordered}
        onChoose={(x) => x !== null && change({ x })}
      />
      <ColumnChoice
        label="Up"
        value={axes.y}
        columns={numbers}
        {...(axes.kind === 'scatter' ? {} : { none: 'Number of answers' })}
        onChoose={(y) => change({ y, measure: axes.measure === 'count' ? 'sum' : axes.measure })}
      />
      <ColumnChoice
        label="A series for each"
        value={axes.series}
        columns={[...kinds.keys()].filter((name) => name !== axes.x && name !== axes.y)}
        none="One series"
        onChoose={(series) => change({ series })}
      />
      {axes.kind !== 'scatter' && axes.y !== null && (
        <Choice
          label="By"
          value={axes.measure}
          options={measures.map((measure) => ({ value: measure, label: measureWords[measure] }))}
          onChoose={(value) => change({ measure: measures.find((known) => known === value) ?? 'sum' })}
        />
      )}
    </>
  );
}

/** What is drawn upwards, in words. */
function upInWords({ y, measure }: ChartAxes): string {
  return y === null
    ? 'number of answers'
    : measure === 'count'
      ? 'number of answers'
      : `${measureWords[measure].toLowerCase()} of ?${y}`;
}

/** The chart in a sentence: its kind, how much it shows, and where it is least and greatest. */
export function chartInWords(axes: ChartAxes, points: ChartPoints, kinds: ColumnKinds): string {
  const isTime = kinds.get(axes.x)?.kind === 'date';
  const { series } = points;
  const known = series.flatMap(({ name, ys }) =>
    ys.flatMap((value, index) => (value === null ? [] : [{ value, index, name }])),
  );
  const [first] = known;
  const what = axes.kind === 'bar' ? 'Bar chart' : axes.kind === 'line' ? 'Line chart' : 'Scatter chart';
  const up = axes.kind === 'scatter' ? `?${axes.y}` : upInWords(axes);
  if (first === undefined) return `${what} of ${up} across ?${axes.x}: nothing to draw`;
  let [least, greatest] = [first, first];
  for (const point of known) {
    if (point.value < least.value) least = point;
    if (point.value > greatest.value) greatest = point;
  }
  const ends = [greatest, least].map(({ value, index, name }) => {
    const place = placeInWords(points, index, isTime);
    return `${measureInWords(value)} at ${name === null ? place : `${place}, ${name}`}`;
  });
  const of =
    axes.series === null ? '' : ` in ${formatAmount(series.length, 'series', 'series')} by ?${axes.series}`;
  return `${what} of ${up} across ?${axes.x}${of}: ${formatCount(known.length)} values, greatest ${ends[0]}, least ${ends[1]}`;
}

const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 3 });

/** A number beside an axis: large ones in short, since there is little room. */
function axisFormat(value: number): string {
  return Math.abs(value) < 1e6 ? measureInWords(value) : compact.format(value);
}

function shorter(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

interface PlotLook {
  readonly axes: ChartAxes;
  readonly points: ChartPoints;
  readonly isTime: boolean;
  readonly size: { readonly width: number; readonly height: number };
}

/** Distances of the lines of an axis of whole numbers: a count of 0.5 means nothing. */
const wholeSteps = Array.from({ length: 15 }, (_, power) =>
  [1, 2, 5].map((factor) => factor * 10 ** power),
).flat();

/** The colours of series, by their variables: readable on every surface. */
const seriesColours = [
  '--accent',
  '--code-variable',
  '--good',
  '--code-keyword',
  '--computed',
  '--text-dim',
] as const;

/** The dashes of lines, so that colour alone tells none apart. */
const seriesDashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 4], [4, 2]] as const;

function seriesOptions(
  kind: ChartKind,
  points: ChartPoints,
  colour: (name: string) => string,
): uPlot.Series[] {
  const isOne = points.series.length === 1;
  return points.series.map((_, at) => {
    const stroke = colour(seriesColours[at] ?? '--text-dim');
    if (kind === 'bar')
      return {
        fill: stroke,
        stroke,
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars?.({ size: [isOne ? 0.7 : 0.92, 60] }) ?? (() => null),
      };
    if (kind === 'line')
      return {
        stroke,
        width: 1.5,
        dash: [...(seriesDashes[at] ?? [])],
        spanGaps: true,
        points: { show: points.xs.length < 200, size: 5, fill: stroke },
      };
    return { stroke, paths: () => null, points: { show: true, size: 4, width: 0, fill: stroke } };
  });
}

function optionsOf({ axes, points, isTime, size }: PlotLook): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const [dim, line] = [colour('--text-dim'), colour('--line')];
  const { names } = points;
  const ys = points.series.flatMap((series) => series.ys);
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const grid = { stroke: line, width: 1 };
  const lowest = Math.min(0, ...ys.filter((value) => value !== null).slice(0, 1));
  const shared = { stroke: dim, font, grid, ticks: grid };
  const fromZero = axes.kind === 'bar';
  const room =
    names === null
      ? Number.POSITIVE_INFINITY
      : Math.max(3, Math.floor((size.width - 80) / Math.max(1, names.length) / 7));
  const isUpright = room < 5;
  // The names leave most of a low pane to the bars.
  const below = Math.round(Math.min(100, Math.max(40, size.height * 0.35)));
  return {
    ...size,
    legend: { show: false },
    padding: [12, 16, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { show: axes.kind !== 'bar' } },
    scales: {
      x:
        names === null
          ? { time: isTime }
          : { time: false, range: () => [-0.6, Math.max(0, names.length - 1) + 0.6] },
      y: fromZero
        ? {
            range: (_self, least, most) => [Math.min(0, least ?? lowest), Math.max(0, most ?? 1) * 1.05 || 1],
          }
        : {},
    },
    axes: [
      names === null
        ? shared
        : {
            ...shared,
            splits: () => names.map((_, index) => index),
            values: (_self, splits) =>
              splits.map((at) => shorter(names[at] ?? '', isUpright ? Math.floor(below / 8) : room)),
            // Long lists of names stand upright.
            ...(isUpright ? { rotate: -90, size: below } : {}),
          },
      {
        ...shared,
        size: 70,
        values: (_self, splits) => splits.map((value) => axisFormat(value)),
        ...(ys.every((value) => value === null || Number.isInteger(value)) ? { incrs: wholeSteps } : {}),
      },
    ],
    series: [{}, ...seriesOptions(axes.kind, points, colour)],
  };
}

function Plot({ axes, points, kinds }: { axes: ChartAxes; points: ChartPoints; kinds: ColumnKinds }) {
  const scheme = useShownTheme();
  const { ref: measured, width, height } = useElementSize();
  const container = useRef<HTMLDivElement>(null);
  const under = useRef<HTMLDivElement>(null);
  const isTime = points.names === null && kinds.get(axes.x)?.kind === 'date';
  useEffect(() => {
    if (container.current === null || width === 0 || height === 0) return undefined;
    const options = optionsOf({ axes, points, isTime, size: { width, height: Math.max(80, height - 24) } });
    const xs = isTime ? points.xs.map((time) => time / 1_000) : [...points.xs];
    const made = new uPlot(
      {
        ...options,
        hooks: {
          setCursor: [
            (plot) => {
              const { idx } = plot.cursor;
              if (under.current === null) return;
              under.current.textContent =
                idx === null || idx === undefined ? '' : valuesInWords(points, idx, isTime);
            },
          ],
        },
      },
      [xs, ...points.series.map(({ ys }) => [...ys])],
      container.current,
    );
    return () => made.destroy();
  }, [axes, points, isTime, width, height, scheme]);
  return (
    <div className={styles.chart}>
      {points.series.length > 1 && <Legend kind={axes.kind} points={points} />}
      <div ref={measured} className={styles.plot} role="img" aria-label={chartInWords(axes, points, kinds)}>
        <div ref={container} />
      </div>
      {/* What the pointer is at; the label of the chart and the table say the same to others. */}
      <div ref={under} className={`number dim ${styles.under}`} aria-hidden />
    </div>
  );
}

function placeInWords({ names, xs }: ChartPoints, index: number, isTime: boolean): string {
  const x = xs[index] ?? 0;
  return names?.[Math.round(x)] ?? (isTime ? new Date(x).toISOString().slice(0, 10) : measureInWords(x));
}

/** What all series have at a place. */
function valuesInWords(points: ChartPoints, index: number, isTime: boolean): string {
  const values = points.series.flatMap(({ name, ys }) => {
    const value = ys[index] ?? null;
    if (name === null) return [measureInWords(value)];
    return value === null ? [] : [`${name} ${measureInWords(value)}`];
  });
  return `${placeInWords(points, index, isTime)}: ${values.join(', ')}`;
}

/** The names of the series, each beside its mark. */
function Legend({ kind, points }: { kind: ChartKind; points: ChartPoints }) {
  return (
    <ul className={styles.legend} aria-label="Series">
      {points.series.map(({ name }, at) => (
        <li key={name}>
          <svg width="20" height="10" aria-hidden>
            {kind === 'line' ? (
              <line
                x2="20"
                y1="5"
                y2="5"
                strokeWidth="2"
                strokeDasharray={seriesDashes[at]?.join(' ')}
                stroke={`var(${seriesColours[at] ?? '--text-dim'})`}
              />
            ) : (
              <rect x="5" width="10" height="10" fill={`var(${seriesColours[at] ?? '--text-dim'})`} />
            )}
          </svg>
          <span className="truncate">{name === '' ? '""' : name}</span>
        </li>
      ))}
    </ul>
  );
}

/** Shows the answers as bars, a line or points. */
export function ChartView({ answer, kinds, axes: said, onAxes, onMore }: FormProps) {
  const axes = useMemo(() => chartAxesOf(said, kinds), [said, kinds]);
  const points = useMemo(
    () => (axes === null ? null : chartPoints(answer.bindings, axes, kinds)),
    [answer, axes, kinds],
  );
  if (axes === null || points === null)
    return <EmptyState title="Nothing to draw">The answers have no columns.</EmptyState>;
  return (
    <FormFrame
      answer={answer}
      settings={<Settings kinds={kinds} axes={axes} onAxes={onAxes} />}
      notDrawn={points.notDrawn}
      onMore={onMore}
    >
      <Plot axes={axes} points={points} kinds={kinds} />
    </FormFrame>
  );
}
