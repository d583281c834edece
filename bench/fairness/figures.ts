/** The figures of a scenario, their table, and whether they are within the promise. */
import { type Target, thousands, verdict } from '../http/figures.ts';
import { figure, table } from '../report.ts';
import type { Turns } from '../turns/monitor.ts';

/** The answers to one probe, in milliseconds from when it was due. */
export interface ProbeFigures {
  readonly p50: number;
  readonly p99: number;
  readonly sent: number;
  /** Answered with 2xx. */
  readonly served: number;
  /** Answered otherwise. */
  readonly refused: number;
  /** Not answered. */
  readonly failed: number;
}

/** What the load itself got. */
export interface LoadFigures {
  /** What one served request is, such as "questions". */
  readonly what: string;
  readonly served: number;
  readonly refused: number;
}

export interface Measurement {
  readonly scenario: string;
  readonly probes: Readonly<Record<string, ProbeFigures>>;
  readonly turn: Pick<Turns, 'cpuMs' | 'clockMs'>;
  readonly load: LoadFigures | null;
}

/** Summarizes latencies. */
export function summaryOf(
  latencies: readonly number[],
  counts: Pick<ProbeFigures, 'sent' | 'refused' | 'failed'>,
): ProbeFigures {
  const sorted = latencies.toSorted((one, other) => one - other);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), served: sorted.length, ...counts };
}

/** By nearest rank; NaN: there are no values. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** A row for each scenario: p50 and p99 of each probe, the longest turn, and what was served. */
export function fairnessTable(measurements: readonly Measurement[]): string {
  const names = Object.keys(measurements[0]?.probes ?? {});
  const header = [
    'ms, p50 / p99',
    ...names,
    'longest turn, CPU / clock',
    'probes served of sent',
    'load served (refused)',
  ];
  return table(
    header,
    measurements.map(({ scenario, probes, turn, load }) => {
      const all = names.flatMap((name) => probes[name] ?? []);
      const total = (pick: (probe: ProbeFigures) => number): string =>
        thousands(all.reduce((sum, probe) => sum + pick(probe), 0));
      return [
        scenario,
        ...all.map(({ p50, p99 }) => `${figure(p50)} / ${figure(p99)}`),
        `${figure(turn.cpuMs)} / ${figure(turn.clockMs)}`,
        `${total(({ served }) => served)} of ${total(({ sent }) => sent)}`,
        load === null
          ? '-'
          : `${thousands(load.served)} ${load.what}${load.refused > 0 ? ` (${thousands(load.refused)})` : ''}`,
      ];
    }),
  );
}

/** What a probe may wait at p99 beyond its idle figure, and what a turn may take, in milliseconds. */
const mostMs = 50;

/** A line for each promise that is not kept, and how many are. The first measurement is the idle one; `own` are the service's probes. */
export function verdicts(measurements: readonly Measurement[], own: readonly string[]): string[] {
  const [idle, ...loaded] = measurements;
  if (idle === undefined) return [];
  const beyondIdle = (name: string, { scenario, probes }: Measurement): Target => ({
    title: `${scenario}: p99 of ${name}, ms beyond idle,`,
    value: (probes[name]?.p99 ?? Number.NaN) - (idle.probes[name]?.p99 ?? 0),
    wanted: mostMs,
    isMost: true,
    print: figure,
  });
  const unserved = ({ scenario, probes }: Measurement): Target => ({
    title: `${scenario}: probes that were not served`,
    value: own.reduce((sum, name) => sum + (probes[name]?.sent ?? 0) - (probes[name]?.served ?? 0), 0),
    wanted: 0,
    isMost: true,
    print: thousands,
  });
  const turn = (measured: Measurement): Target => ({
    title: `${measured.scenario}: CPU time of the longest turn, ms,`,
    value: measured.turn.cpuMs,
    wanted: mostMs,
    isMost: true,
    print: figure,
  });
  const all = loaded
    .flatMap((each) => [...own.map((name) => beyondIdle(name, each)), unserved(each), turn(each)])
    .map(verdict);
  const missed = all.filter((line) => !line.startsWith('met'));
  return [...missed, `${all.length - missed.length} of ${all.length} met`];
}
