/** The answers as a chart. Screen readers get its extremes; the table has every value. */
import { useElementSize } from '@mantine/hooks';
import { useEffect, useMemo, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { EmptyState } from '../../ui/notices.tsx';
import { useShownTheme } from '../../ui/theme-choice.ts';
import { locale } from '../../ui/texts.ts';
import { formatCount } from '../../ui/format.ts';
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
export function chartInWords(axes: ChartAxes, { xs, ys, names }: ChartPoints, kinds: ColumnKinds): string {
  const at = (index: number) =>
    names?.[index] ??
    (kinds.get(axes.x)?.kind === 'date'
      ? new Date(xs[index] ?? 0).toISOString().slice(0, 10)
      : measureInWords(xs[index] ?? null));
  const known = ys.flatMap((value, index) => (value === null ? [] : [{ value, index }]));
  const [first] = known;
  const what = axes.kind === 'bar' ? 'Bar chart' : axes.kind === 'line' ? 'Line chart' : 'Scatter chart';
  const up = axes.kind === 'scatter' ? `?${axes.y}` : upInWords(axes);
  if (first === undefined) return `${what} of ${up} across ?${axes.x}: nothing to draw`;
  let [least, greatest] = [first, first];
  for (const point of known) {
    if (point.value < least.value) least = point;
    if (point.value > greatest.value) greatest = point;
  }
  const ends = [greatest, least].map(({ value, index }) => `${measureInWords(value)} at ${at(index)}`);
  return `${what} of ${up} across ?${axes.x}: ${formatCount(known.length)} values, greatest ${ends[0]}, least ${ends[1]}`;
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

function optionsOf({ axes, points, isTime, size }: PlotLook): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const [accent, dim, line] = [colour('--accent'), colour('--text-dim'), colour('--line')];
  const { names, ys } = points;
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const grid = { stroke: line, width: 1 };
  const lowest = Math.min(0, ...ys.filter((value) => value !== null).slice(0, 1));
  const shared = { stroke: dim, font, grid, ticks: grid };
  const fromZero = axes.kind === 'bar';
  const room =
    names === null
      ? Number.POSITIVE_INFINITY
      : Math.max(3, Math.floor((size.width - 80) / Math.max(1, names.length) / 7));
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
            values: (_self, splits) => splits.map((at) => shorter(names[at] ?? '', room < 5 ? 12 : room)),
            // Long lists of names stand upright.
            ...(room < 5 ? { rotate: -90, size: 100 } : {}),
          },
      {
        ...shared,
        size: 70,
        values: (_self, splits) => splits.map((value) => axisFormat(value)),
        ...(ys.every((value) => value === null || Number.isInteger(value)) ? { incrs: wholeSteps } : {}),
      },
    ],
    series: [
      {},
      axes.kind === 'bar'
        ? {
            fill: accent,
            stroke: accent,
            width: 0,
            points: { show: false },
            paths: uPlot.paths.bars?.({ size: [0.7, 60] }) ?? (() => null),
          }
        : axes.kind === 'line'
          ? { stroke: accent, width: 1.5, points: { show: ys.length < 200, size: 5, fill: accent } }
          : { stroke: accent, paths: () => null, points: { show: true, size: 4, width: 0, fill: accent } },
    ],
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
              const value = idx === null || idx === undefined ? undefined : points.ys[idx];
              under.current.textContent =
                value === undefined || idx === null || idx === undefined
                  ? ''
                  : `${placeInWords(points, idx, isTime)}: ${measureInWords(value)}`;
            },
          ],
        },
      },
      [xs, [...points.ys]],
      container.current,
    );
    return () => made.destroy();
  }, [axes, points, isTime, width, height, scheme]);
  return (
    <div className={styles.chart}>
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
  return names?.[index] ?? (isTime ? new Date(x).toISOString().slice(0, 10) : measureInWords(x));
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
