/** A contestant of the benchmark, and the result of one run of it. */
import { spawnSync } from 'node:child_process';
import { measure, type Measured } from '../measure.ts';
import type { Relation, Row } from '../graphs.ts';
import type { BenchRule } from '../program.ts';
import type { Workload } from '../workloads/workload.ts';

/** A workload with its rules and input made. `folder` is the contestant's own, for this run only. */
export interface Task {
  readonly workload: Workload;
  readonly rules: readonly BenchRule[];
  readonly relations: readonly Relation[];
  readonly probes: readonly Row[];
  /** How many scopes contain every fact. */
  readonly scopes: number;
  readonly folder: string;
  readonly timeoutMs: number;
}

/** What one run found and what it cost. Times are CPU seconds of all threads. */
export interface Outcome {
  /** Answers to the question; with changes and look-ups, summed over the first question and every further one. */
  readonly answers: number;
  /** Reading facts and rules. */
  readonly load: number;
  /**
   * The question; all questions with a key each; with changes, the median over (remove a fact, ask again); all look-ups; for a proof, the median over
   * its repetitions.
   */
  readonly solve: number;
  /** Of a single question: seconds by the clock, which is what its asker waits for. */
  readonly wall?: number;
  readonly peakBytes: number | null;
  /** For a load: memory per fact. */
  readonly bytesPerFact?: number;
  /** Figures of our own engine only, by name: CPU seconds, or seconds by the clock if the name ends in "wall". */
  readonly figures?: Readonly<Record<string, number>>;
}

export interface Contestant {
  readonly name: string;
  /** Version text, or null if the program is not installed. */
  version(): string | null;
  /** Why it does not take part in this workload, or null if it does. */
  declines(workload: Workload, rules: readonly BenchRule[]): string | null;
  run(task: Task): Promise<Outcome>;
}

/** A run that failed; `message` gives the reason in a few words, as the table shows it. */
export class RunFailure extends Error {}

/** First line of the program's version output, or null if it cannot be started. */
export function versionOf(command: string, args: readonly string[]): string | null {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  if (result.error !== undefined || result.status !== 0) return null;
  return result.stdout.split('\n')[0]?.trim() ?? '';
}

/** Runs the program and rejects a run that failed. */
export async function complete(
  command: string,
  args: readonly string[],
  options: { timeoutMs: number; input?: string },
): Promise<Measured> {
  const measured = await measure(command, args, options);
  if (measured.timedOut) throw new RunFailure(`over ${options.timeoutMs / 1000} s`);
  if (measured.exitCode !== 0)
    throw new RunFailure(`exit code ${measured.exitCode}: ${lastWords(measured.stderr)}`);
  return measured;
}

/** The end of a program's error output, on one line. */
function lastWords(text: string): string {
  return text
    .trim()
    .slice(-200)
    .replace(/[\s|]+/g, ' ');
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new Error('the median of nothing');
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** The 95th percentile. */
export function p95(values: readonly number[]): number {
  const value = [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1];
  if (value === undefined) throw new Error('the 95th percentile of nothing');
  return value;
}

/**
 * The report that a child process prints as its last line, as JSON; with `peakBytes` if it did more than is measured.
 */
export type ChildReport = Omit<Outcome, 'peakBytes'> & { readonly peakBytes?: number };

export function readReport(measured: Measured): Outcome {
  const line = measured.stdout.trimEnd().split('\n').at(-1) ?? '';
  if (!line.startsWith('{'))
    throw new RunFailure(`no report: ${lastWords(measured.stderr || measured.stdout)}`);
  const report = JSON.parse(line) as ChildReport;
  return { peakBytes: measured.peakBytes, ...report };
}
