/** A small chart of a tile's series over time, without axes: its tile has the numbers, and says them to those who do not see it. */
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Series } from './history.ts';
import styles from './dashboard.module.css';
import { type ShownTheme, useShownTheme } from '../../ui/theme-choice.ts';

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
      // From 0 up: a line that seems to fall to the ground has done so.
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

export function Chart({ label, times, series, from }: ChartProps) {
  const scheme = useShownTheme();
  const { ref: measured, width, height } = useElementSize();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const count = series.length;

  useEffect(() => {
    if (place.current === null || width === 0 || height === 0) return;
    const made = new uPlot(optionsOf(width, height, count, scheme), [[]], place.current);
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
      <div ref={place} />
    </div>
  );
}
