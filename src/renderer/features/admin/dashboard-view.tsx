/**
 * The dashboard: what needs attention, the numbers of the last minutes, and the storage.
 *
 * The numbers come from `/metrics`, read every few seconds while the view is visible. The window keeps
 * earlier readings while it is open; the service keeps those of the last day. Every chart is also available
 * in words and as a table.
 */
import { Loader, SegmentedControl } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useElementSize } from '@mantine/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { apiFailureOf } from '../../api/problem.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, PaneTitle, Split } from '../../ui/pane.tsx';
import { type ShownTheme, useShownTheme } from '../../ui/theme-choice.ts';
import styles from './dashboard.module.css';
import {
  dayMs,
  type MetricsNow,
  type MetricsReading,
  retentionMs,
  type Series,
  useDay,
  useMetrics,
  withGaps,
} from './history.ts';
import { useRefusal } from './rights.ts';
import { ServicePanel } from './service-panel.tsx';
import { type Attention, attentionOf, describeTile, seriesSummaryOf, type Tile, tilesOf } from './tiles.ts';

type Look = 'charts' | 'table';
type Span = 'minutes' | 'day';

function AttentionList({ found }: { found: readonly Attention[] }) {
  if (found.length === 0)
    return (
      <p className={`flex-row gap-8 ${styles.allWell}`} role="status">
        <IconCircleCheck size={16} aria-hidden /> Nothing needs attention.
      </p>
    );
  return (
    <ul
      className={`plain-list flex-column gap-6 ${styles.attention}`}
      aria-label="Needs attention"
      aria-live="polite"
    >
      {found.map(({ tone, title, detail }) => (
        <li key={title} className={styles[tone]}>
          {tone === 'bad' ? (
            <IconAlertTriangle size={16} aria-hidden />
          ) : (
            <IconInfoCircle size={16} aria-hidden />
          )}
          <span>
            <strong>{title}.</strong> {detail}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface TilesProps {
  tiles: readonly Tile[];
  readings: readonly MetricsReading[];
  /** How far back the charts go, in milliseconds. */
  spanMs: number;
}

function Charts({ tiles, readings, spanMs }: TilesProps) {
  const last = readings.at(-1)?.at ?? 0;
  // A chart of only a few seconds would exaggerate small changes.
  const from = Math.max(last - spanMs, Math.min(readings[0]?.at ?? last, last - 60_000));
  return (
    <ul className={`plain-list gap-12 ${styles.tiles}`}>
      {tiles.map((tile) => (
        <li key={tile.title} className={`flex-column boxed ${styles.tile}`} title={tile.hint}>
          <h2 className="label-title">{tile.title}</h2>
          <p className={`number truncate ${styles.value}`}>{tile.value}</p>
          <p className={`number truncate small-print ${styles.detail}`}>{tile.detail}</p>
          <Chart
            label={describeTile(tile)}
            from={from}
            {...withGaps(
              readings,
              tile.series.map(({ values }) => values),
            )}
          />
        </li>
      ))}
    </ul>
  );
}

function Table({ tiles }: { tiles: readonly Tile[] }) {
  const rows = tiles.flatMap((tile) =>
    tile.series.map(({ name, values }) => ({
      key: `${tile.title} ${name}`,
      title: tile.series.length === 1 ? tile.title : `${tile.title}: ${name}`,
      summary: seriesSummaryOf(values, tile.write),
    })),
  );
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Measure</th>
          <th scope="col">Now</th>
          <th scope="col">Least</th>
          <th scope="col">Mean</th>
          <th scope="col">Most</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, title, summary }) => (
          <tr key={key}>
            <th scope="row">{title}</th>
            <td className="number">{summary.now}</td>
            <td className="number">{summary.min}</td>
            <td className="number">{summary.mean}</td>
            <td className="number">{summary.max}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The time span of the readings, in words. */
function spanWords(readings: readonly MetricsReading[]): string {
  const [first, last] = [readings[0], readings.at(-1)];
  const span = first === undefined || last === undefined ? 0 : last.at - first.at;
  if (span < 60_000) return `the last ${Math.round(span / 1_000)} s`;
  if (span < 2 * 3_600_000) return `the last ${Math.round(span / 60_000)} min`;
  return `the last ${Math.round(span / 3_600_000)} h`;
}

function Numbers({ metrics }: { metrics: MetricsNow }) {
  const [look, setLook] = useState<Look>('charts');
  const [span, setSpan] = useState<Span>('minutes');
  const day = useDay(span === 'day', metrics);
  const { samples } = metrics;
  const { readings, error, retry } = span === 'day' ? day : metrics;
  const tiles = tilesOf(readings);
  return (
    <PaneFrame
      label="Dashboard"
      title={
        <>
          <PaneTitle isWhole>Dashboard</PaneTitle>
          <span className={`dim ${styles.span}`}>{readings.length > 0 && spanWords(readings)}</span>
        </>
      }
      actions={
        <>
          <SegmentedControl
            aria-label="How far back"
            value={span}
            onChange={(value) => setSpan(value === 'day' ? 'day' : 'minutes')}
            data={[
              { value: 'minutes', label: 'Last minutes' },
              { value: 'day', label: 'Last day' },
            ]}
          />
          <SegmentedControl
            aria-label="How numbers are shown"
            value={look}
            onChange={(value) => setLook(value === 'table' ? 'table' : 'charts')}
            data={[
              { value: 'charts', label: 'Charts' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </>
      }
    >
      <div className="flex-column gap-12 padded">
        {error !== null && <ProblemNotice failure={apiFailureOf(error)} onRetry={retry} />}
        {samples === null && error === null && readings.length === 0 && (
          <div className="flex-row gap-8 dim no-margin" role="status">
            <Loader size={16} aria-hidden /> Loading
          </div>
        )}
        {metrics.readings.length > 0 && error === null && (
          <AttentionList found={attentionOf(metrics.readings)} />
        )}
        {look === 'charts' ? (
          <Charts tiles={tiles} readings={readings} spanMs={span === 'day' ? dayMs : retentionMs} />
        ) : (
          <Table tiles={tiles} />
        )}
      </div>
    </PaneFrame>
  );
}

/** The dashboard beside the panel of the service. */
export function DashboardView() {
  const metrics = useMetrics();
  const isAdministered = useRefusal() === null;
  const panes: Pane[] = [
    { id: 'numbers', least: '420px', content: <Numbers metrics={metrics} /> },
    {
      id: 'service',
      size: '300px',
      least: '240px',
      content: <ServicePanel metrics={metrics} isAdministered={isAdministered} />,
    },
  ];
  return <Split id="dashboard" orientation="horizontal" label="Resize" panes={panes} />;
}

interface ChartProps {
  label: string;
  /** Epoch ms, one for each value. */
  times: readonly number[];
  series: readonly Series[];
  /** Epoch ms. */
  from: number;
}

function colours(): string[] {
  const style = getComputedStyle(document.documentElement);
  return ['--accent', '--text-dim'].map((name) => style.getPropertyValue(name).trim());
}

function optionsOf(width: number, height: number, count: number, scheme: ShownTheme): uPlot.Options {
  const [first = '', second = ''] = colours();
  const strokes = [first, second];
  return {
    width,
    height,
    class: scheme,
    padding: [4, 0, 2, 0],
    legend: { show: false },
    cursor: { show: false },
    axes: [{ show: false }, { show: false }],
    scales: {
      x: { time: true },
      // From 0 up, so that a line at the bottom means zero.
      y: { range: (_self, _least, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    series: [
      {},
      ...Array.from({ length: count }, (_, index) => ({
        stroke: strokes[index] ?? first,
        width: 1.5,
        ...(index === 0 ? { fill: `color-mix(in srgb, ${first} 14%, transparent)` } : { dash: [4, 3] }),
        points: { show: false },
        spanGaps: false,
      })),
    ],
  };
}

/**
 * A small chart of a tile's series over time, without axes; its tile shows the numbers and says them to
 * screen readers.
 */
function Chart({ label, times, series, from }: ChartProps) {
  const scheme = useShownTheme();
  const { ref: measured, width, height } = useElementSize();
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const count = series.length;

  useEffect(() => {
    if (container.current === null || width === 0 || height === 0) return;
    const made = new uPlot(optionsOf(width, height, count, scheme), [[]], container.current);
    plot.current = made;
    return () => {
      plot.current = null;
      made.destroy();
    };
  }, [width, height, count, scheme]);

  useEffect(() => {
    if (plot.current === null) return;
    const values = series.map((one) => [...one]);
    const to = times.at(-1) ?? from;
    plot.current.setData([times.map((time) => time / 1_000), ...values], false);
    plot.current.setScale('x', { min: from / 1_000, max: to / 1_000 });
  }, [times, series, from, width, height, count, scheme]);

  return (
    <div ref={measured} className={styles.chart} role="img" aria-label={label}>
      <div ref={container} />
    </div>
  );
}
