/**
 * Summarizes measurements: medians over rounds, and of ratios between servers of the same round.
 *
 * A ratio compares consecutive measurements, so that a busy machine disturbs both sides; the median excludes the rounds
 * in which it disturbed only one.
 */
import { median } from '../contestants/contestant.ts';
import { figure, table } from '../report.ts';

/** One load on one server: the number of answers, and its cost. */
export interface Measured {
  readonly answered: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** A cell by the name of the server; each has the rounds in order. */
export type Rounds = ReadonlyMap<string, readonly Measured[]>;

export function perCpuSecond({ answered, cpuSeconds }: Measured): number {
  return answered / cpuSeconds;
}

export function perSecond({ answered, seconds }: Measured): number {
  return answered / seconds;
}

/** The median over the rounds of `server`'s figure over `other`'s; null if one took no part. */
export function ratioOf(
  rounds: Rounds,
  server: string,
  other: string,
  rate: (measured: Measured) => number,
): number | null {
  const theirs = rounds.get(other) ?? [];
  const ratios = (rounds.get(server) ?? []).flatMap((own, round) => {
    const opposite = theirs[round];
    return opposite === undefined ? [] : [rate(own) / rate(opposite)];
  });
  return ratios.length === 0 ? null : median(ratios);
}

/** The part of the CPU time of each answer of `server` that `without` does not need: 0.2 for a fifth; null as above. */
export function shareOf(rounds: Rounds, server: string, without: string): number | null {
  const ratio = ratioOf(rounds, server, without, perCpuSecond);
  return ratio === null ? null : 1 - ratio;
}

/** The target of a figure. */
export interface Target {
  readonly title: string;
  readonly value: number | null;
  readonly wanted: number;
  readonly isMost: boolean;
  readonly print: (value: number) => string;
}

/** `met`, `missed`, or why it is neither, with the figure and the target. */
export function verdict({ title, value, wanted, isMost, print }: Target): string {
  const bound = `${isMost ? 'at most' : 'at least'} ${print(wanted)}`;
  if (value === null) return `not measured: ${title} (${bound})`;
  const isMet = isMost ? value <= wanted : value >= wanted;
  return `${isMet ? 'met' : 'missed'}: ${title} is ${print(value)} (${bound})`;
}

/** A row: answers by server CPU-second and by second of each server, and the ratio to the first server's. */
function row(label: string, rounds: Rounds, servers: readonly string[]): string[] {
  const [own = ''] = servers;
  return [
    label,
    ...servers.map((server) => {
      const measured = rounds.get(server);
      if (measured === undefined || measured.length === 0) return '-';
      const rate = `${thousands(median(measured.map(perCpuSecond)))} / ${thousands(median(measured.map(perSecond)))}`;
      const ratio = server === own ? null : ratioOf(rounds, own, server, perCpuSecond);
      return ratio === null ? rate : `${rate} (${figure(ratio)})`;
    }),
  ];
}

/** Whole, with commas. */
export function thousands(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** The table of all cells as Markdown: by CPU-second / by second, in brackets the first server's ratio to it. */
export function rateTable(servers: readonly string[], cells: ReadonlyMap<string, Rounds>): string {
  return table(
    ['', ...servers],
    [...cells].map(([label, rounds]) => row(label, rounds, servers)),
  );
}
