/**
 * The targets of the engine at full and at large size, and the table that says whether they are met.
 *
 * Targets are absolute or relative to a peer of the same run. Soufflé is not always available: if it was not measured
 * its time is derived from that of SWI-Prolog in the same run, by the ratio of both when they were measured on one
 * machine.
 */
import { median, type Outcome } from './contestants/contestant.ts';
import { figure, type Line, table } from './report.ts';
import { hasSize } from './workloads/workload.ts';
import { workloads } from './workloads/workloads.ts';

/** The ratio of Soufflé 2, interpreted, to SWI-Prolog 9, in CPU seconds, both measured on one machine. */
const souffleOfProlog: Readonly<Record<string, number>> = {
  'closure-left': 0.73 / 1.57,
  'closure-right': 0.39 / 3.21,
  'chain-right': 0.91 / 2.08,
  'bound-left': 0.22 / 0.71,
  'bound-right': 0.37 / 2.77,
  'same-generation': 0.46 / 1.18,
  'class-hierarchy': 0.41 / 1.84,
  'five-way-join': 0.23 / 0.82,
};

type Measure = (outcome: Outcome) => number | undefined;

interface Target {
  readonly workload: string;
  /** The measured figure; absent: the question. */
  readonly of?: readonly [name: string, measure: Measure];
  /** In CPU seconds, or in the unit of the figure. */
  readonly atMost?: number;
  /** The minimum ratio to the peer's speed. */
  readonly faster?: readonly [peer: string, times: number];
  /** At most so many times the time of the fastest peer. */
  readonly ofBest?: OfBest;
}

interface OfBest {
  readonly times: number;
  /** CPU seconds on top if that peer takes less than `shortPeer`. */
  readonly more: number;
}

/** CPU seconds. */
const shortPeer = 0.1;

const souffle = 'Soufflé';
const prolog = 'SWI-Prolog';
const figureOf = (name: string): readonly [string, Measure] => [name, ({ figures }) => figures?.[name]];

const closures = [
  'closure-left',
  'closure-right',
  'chain-right',
  'closure-double',
  'closure-grid',
  'closure-cycle',
];
const rest = [
  'class-hierarchy',
  'class-chain',
  'five-way-join',
  'skewed-join',
  'late-filter',
  'triangles',
  'triangles-skewed',
  'squares',
  'squares-skewed',
  'university',
  'mutual-recursion',
  'winning',
  'unreached',
  'reach-counts',
  'group-counts',
  'group-sum',
  'group-max',
];

/** Joins, rule sets and programs in the shapes that others use. */
const others = [
  'deep-hierarchy',
  'forked-join',
  'triangles-derived',
  'four-clique',
  'five-path',
  'lollipop',
  ...['1a', '2d', '6f', '8c', '16b', '17e', '25c', '33c'].map((name) => `movies-${name}`),
  ...Array.from({ length: 14 }, (_, at) => `lubm-${at + 1}`),
  'points-to',
  'call-graph',
  'many-rules',
];
const large = ['triangles-million', 'squares-million'];

const cold: OfBest = { times: 3, more: 0.03 };
const compiled: OfBest = { times: 1.5, more: 0 };
const halfOfBest: OfBest = { times: 0.5, more: 0 };

export const targets: readonly Target[] = [
  ...[...closures, 'same-generation'].flatMap((workload): Target[] => [
    { workload, faster: [souffle, 1] },
    { workload, faster: [prolog, 4] },
    { workload, faster: ['swipl-wasm', 12] },
    { workload, faster: ['N3.js', 12] },
  ]),
  ...rest.flatMap((workload): Target[] => [
    { workload, faster: [souffle, 0.5] },
    { workload, faster: [prolog, 3] },
  ]),
  ...[...closures, ...large].map((workload): Target => ({ workload, ofBest: halfOfBest })),
  ...[...rest, ...others].flatMap((workload): Target[] => [
    { workload, ofBest: cold },
    { workload, of: figureOf('compiled'), ofBest: compiled },
  ]),
  // So many questions that all but the first few are compiled.
  { workload: 'friends-of-friends', ofBest: compiled },
  { workload: 'bound-left', atMost: 0.15 },
  { workload: 'bound-left', of: figureOf('again'), atMost: 20e-6 },
  { workload: 'bound-right', atMost: 0.03 },
  ...['retract and ask', 'assert and ask'].flatMap((name): Target[] => [
    { workload: 'change-closure', of: figureOf(name), atMost: 0.01 },
    { workload: 'change-closure', of: figureOf(`${name}, p95`), atMost: 0.06 },
    { workload: 'change-bound', of: figureOf(name), atMost: 0.0005 },
  ]),
  { workload: 'load', of: ['load', ({ load }) => load], atMost: 2.5 },
  { workload: 'load', of: ['bytes a fact', ({ bytesPerFact }) => bytesPerFact], atMost: 150 },
  { workload: 'load', of: figureOf('one look-up'), atMost: 1 / 400_000 },
  { workload: 'proof', of: ['again', ({ solve }) => solve], atMost: 50e-6 },
  { workload: 'proof', of: figureOf('after a write'), atMost: 0.05 },
  ...['package-needs', 'package-breaks'].flatMap((workload): Target[] => [
    { workload, atMost: 0.3 },
    { workload, of: figureOf('with proofs'), atMost: 0.3 },
    { workload, of: figureOf('again'), atMost: 0.001 },
  ]),
];

/** Every workload that has the size `large`. */
export const largeTargets: readonly Target[] = workloads
  .filter((workload) => hasSize(workload, 'large'))
  .flatMap(({ name: workload }): Target[] =>
    closures.includes(workload) || /^(triangles|squares)/.test(workload)
      ? [{ workload, ofBest: halfOfBest }]
      : [
          { workload, ofBest: { ...cold, more: 0 } },
          { workload, of: figureOf('compiled'), ofBest: compiled },
        ],
  );

const question: readonly [string, Measure] = ['question', ({ solve }) => solve];

/** Median over the runs, or null if there is none. */
function medianOf(line: Line, contestant: number, measure: Measure): number | null {
  const cell = line.cells[contestant];
  if (cell === undefined || !('outcomes' in cell)) return null;
  const values = cell.outcomes.map(measure).filter((value) => value !== undefined);
  return values.length === 0 ? null : median(values);
}

/** CPU seconds of a peer, and whether they are derived; null: it was not measured. */
function peerTime(
  line: Line,
  contestants: readonly string[],
  peer: string,
): { readonly seconds: number; readonly isDerived: boolean } | null {
  const seconds = medianOf(line, contestants.indexOf(peer), question[1]);
  if (seconds !== null) return { seconds, isDerived: false };
  const part = souffleOfProlog[line.workload];
  const ofProlog = medianOf(line, contestants.indexOf(prolog), question[1]);
  if (peer !== souffle || part === undefined || ofProlog === null) return null;
  return { seconds: ofProlog * part, isDerived: true };
}

/** The fastest peer of the line, and its CPU seconds; null if none was measured, or all were too short for it. */
function bestPeer(
  line: Line,
  contestants: readonly string[],
): { readonly peer: string; readonly seconds: number } | null {
  const times = contestants.flatMap((peer, at) => {
    const seconds = at === 0 ? null : medianOf(line, at, question[1]);
    return seconds === null || seconds <= 0 ? [] : [{ peer, seconds }];
  });
  return times.toSorted((left, right) => left.seconds - right.seconds)[0] ?? null;
}

const duration = (seconds: number): string => {
  if (seconds >= 0.1) return `${figure(seconds)} s`;
  return seconds >= 1e-3 ? `${figure(seconds * 1e3)} ms` : `${figure(seconds * 1e6)} µs`;
};

const verdict = (measured: number, wanted: number): string =>
  measured <= wanted ? `met (${figure(measured / wanted)} of it)` : `missed: x${figure(measured / wanted)}`;

function targetRow(target: Target, line: Line, contestants: readonly string[]): string[] | null {
  const [name, measure] = target.of ?? question;
  const measured = medianOf(line, 0, measure);
  if (measured === null) return null;
  const shown = name.startsWith('bytes') ? figure : duration;
  const label = `${target.workload}: ${name}`;
  if (target.atMost !== undefined)
    return [label, `at most ${shown(target.atMost)}`, shown(measured), verdict(measured, target.atMost)];
  if (target.ofBest !== undefined) {
    const best = bestPeer(line, contestants);
    if (best === null) return null;
    const { times, more } = target.ofBest;
    const isShort = more > 0 && best.seconds < shortPeer;
    const what = `at most x${times} of the best peer${isShort ? ` and ${duration(more)}` : ''}`;
    const wanted = best.seconds * times + (isShort ? more : 0);
    return [
      label,
      `${what}: ${best.peer} ${duration(best.seconds)}`,
      duration(measured),
      verdict(measured, wanted),
    ];
  }
  const [peer, times] = target.faster ?? ['', 1];
  const time = peerTime(line, contestants, peer);
  if (time === null) return null;
  const wanted = time.seconds / times;
  const what = time.isDerived ? `${peer}, derived from ${prolog},` : peer;
  const factor = times >= 1 ? `x${times} as fast as` : `at most x${1 / times} of`;
  return [label, `${factor} ${what} ${duration(time.seconds)}`, shown(measured), verdict(measured, wanted)];
}

/** The table of the targets whose workloads and peers were measured; `contestants[0]` is our own engine. */
export function targetTable(
  contestants: readonly string[],
  lines: readonly Line[],
  wanted: readonly Target[],
): string {
  const byName = new Map(lines.map((line) => [line.workload, line]));
  const rows = wanted.flatMap((target) => {
    const line = byName.get(target.workload);
    const row = line === undefined ? null : targetRow(target, line, contestants);
    return row === null ? [] : [row];
  });
  const missed = rows.filter((row) => row.at(-1)?.startsWith('missed') === true).length;
  const counted = `${rows.length - missed} of ${rows.length} targets are met.`;
  return `${counted}\n\n${table(['', 'target', 'measured', ''], rows)}`;
}

/** Each question beside its best peer: CPU seconds, and in brackets the ratio to that peer. */
export function bestPeerTable(contestants: readonly string[], lines: readonly Line[]): string {
  const rows = lines.map((line) => {
    const best = bestPeer(line, contestants);
    const beside = (seconds: number | null): string => {
      if (seconds === null) return '-';
      return best === null ? figure(seconds) : `${figure(seconds)} (${figure(seconds / best.seconds)})`;
    };
    return [
      line.title,
      best === null ? '-' : `${best.peer} ${figure(best.seconds)}`,
      beside(medianOf(line, 0, question[1])),
      beside(medianOf(line, 0, figureOf('compiled')[1])),
    ];
  });
  return table(['', 'best peer', 'cold', 'compiled'], rows);
}
