/**
 * How long a snapshot takes, how long it blocks others, and how long a start takes with and without one.
 *
 * Facts are written once in batches and once one by one, into a folder of their own that is removed at the end. The
 * pause is the longest delay of a timer that was always due.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, type Engine, openEngine } from '../../src/engine/index.ts';
import { caller, fact } from '../calls.ts';

export interface SnapshotOptions {
  readonly facts: number;
  readonly batch: number;
  readonly metadata: boolean;
}

function edge(number: number, { metadata }: SnapshotOptions) {
  return fact('edge', [`node${number}`, `node${(number * 7919) % 1_000_003}`], {
    metadata: metadata ? { source: `file ${number % 100}`, confidence: 0.5 } : null,
  });
}

async function writeBatches(engine: Engine, options: SnapshotOptions): Promise<void> {
  for (let from = 0; from < options.facts; from += options.batch) {
    const count = Math.min(options.batch, options.facts - from);
    await engine.tellAll(
      caller,
      Array.from({ length: count }, (_, at) => edge(from + at, options)),
    );
  }
}

const writers = 256;

async function writeSingly(engine: Engine, options: SnapshotOptions): Promise<void> {
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < options.facts) {
      const number = next++;
      const request = { ...caller, requestId: crypto.randomUUID() };
      await engine.tell(request, { ...edge(number, options), ifGeneration: null });
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

async function timed<Result>(step: () => Promise<Result>): Promise<{ result: Result; seconds: number }> {
  const startedAt = performance.now();
  const result = await step();
  return { result, seconds: (performance.now() - startedAt) / 1000 };
}

/** The longest time, in milliseconds, that other work was blocked during the step. */
async function longestPause(step: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let lastAt = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - lastAt);
    lastAt = performance.now();
  }, 1);
  await step();
  clearInterval(timer);
  return longest;
}

async function measure(name: string, write: typeof writeSingly, options: SnapshotOptions): Promise<string> {
  const storageDir = mkdtempSync(join(tmpdir(), 'corollary-bench-'));
  // No scheduled snapshot.
  const open = (): Promise<Engine> =>
    openEngine({ storageDir, fsync: 'never', snapshotIntervalMs: 2 ** 31 - 1 });
  try {
    const first = await open();
    const written = await timed(() => write(first, options));
    await first.close(0);
    const fromLog = await timed(open);
    let bytes = 0;
    let elapsedMs = 0;
    const pause = await longestPause(async () => {
      ({ bytes, elapsedMs } = await fromLog.result.snapshot());
    });
    await fromLog.result.close(0);
    const fromSnapshot = await timed(open);
    assert(fromSnapshot.result.counters().facts === options.facts, 'not all facts are found again');
    await fromSnapshot.result.close(0);
    const figures = [written.seconds, fromLog.seconds, elapsedMs / 1000, fromSnapshot.seconds];
    const [writing, log, snapshot, restart] = figures.map((seconds) => seconds.toFixed(2));
    return `| ${name} | ${writing} | ${log} | ${snapshot} | ${pause.toFixed(0)} | ${(bytes / 2 ** 20).toFixed(1)} | ${restart} |`;
  } finally {
    rmSync(storageDir, { recursive: true, force: true });
  }
}

/** Measures both ways to write, and prints a table. */
export async function measureSnapshots(options: SnapshotOptions): Promise<void> {
  console.log(`${options.facts} facts; times in seconds, the pause in milliseconds, the size in MiB\n`);
  console.log('| written | writing | start from the log | snapshot | longest pause | size | start from it |');
  console.log('|---|---:|---:|---:|---:|---:|---:|');
  console.log(await measure('in batches', writeBatches, options));
  console.log(await measure('one by one', writeSingly, options));
}
