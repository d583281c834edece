/**
 * The log and the engine without HTTP: how much faster writers with a shared sync are, and how many durable facts the
 * engine stores per second.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, openEngine } from '../../src/engine/index.ts';
import type { LogRecord } from '../../src/engine/log/codec.ts';
import { openFileBackend } from '../../src/engine/log/file-backend.ts';
import { openLog } from '../../src/engine/log/open-log.ts';
import { caller, fact } from '../calls.ts';
import { median } from '../contestants/contestant.ts';
import { thousands, verdict } from '../http/figures.ts';
import { figure } from '../report.ts';

const writers = 64;
const wantedRatio = 10;
const wantedFacts = 200_000;
const factsInBatch = 10_000;
const batchWriters = 4;

async function inFolder<Result>(measure: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-bench-'));
  try {
    return await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A record as for one told fact. */
function record(sequence: number): LogRecord {
  const {
    unscoped: _unscoped,
    ttl: _ttl,
    ...told
  } = fact('met', [`n${sequence}`, `n${sequence % 1_000_003}`]);
  return {
    sequence,
    time: 1_700_000_000_000 + sequence,
    requestId: '7f0d8a52-6d1c-4d6e-9d55-0b8d1c1f7c11',
    actor: null,
    database: 'default',
    generation: sequence,
    version: 1,
    operation: { kind: 'assert', tenant: 'bench', facts: [told] },
  };
}

/** Records per second of many writers, each of which waits for its record to be durable. `groupBytes`: of the log. */
function recordsPerSecond(seconds: number, groupBytes: number | null): Promise<number> {
  return inFolder(async (folder) => {
    const { log } = await openLog(await openFileBackend(folder), {
      fsync: 'always',
      now: Date.now,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
      onWarn: (message) => console.error(message),
      ...(groupBytes === null ? {} : { groupBytes }),
    });
    const startedAt = performance.now();
    const until = startedAt + seconds * 1000;
    const write = async (): Promise<void> => {
      while (performance.now() < until) await log.append([record(log.nextSequence)]);
    };
    await Promise.all(Array.from({ length: writers }, write));
    const elapsed = (performance.now() - startedAt) / 1000;
    const { records, commits } = log.statistics();
    await log.close();
    assert(
      groupBytes === null ? commits < records : commits === records,
      'frames are not grouped as expected',
    );
    return records / elapsed;
  });
}

export async function measureGroupCommit({
  rounds,
  seconds,
}: {
  readonly rounds: number;
  readonly seconds: number;
}): Promise<void> {
  console.log(`\nThe log alone, ${writers} writers: records a second, each durable\n`);
  const shared: number[] = [];
  const alone: number[] = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await recordsPerSecond(seconds, 1));
    shared.push(await recordsPerSecond(seconds, null));
  }
  console.log(`  one sync a record: ${thousands(median(alone))}, group commit: ${thousands(median(shared))}`);
  const value = median(shared.map((each, round) => each / (alone[round] ?? Number.NaN)));
  const print = (ratio: number): string => `${figure(ratio)} times`;
  console.log(
    verdict({
      title: 'group commit over one sync a record',
      value,
      wanted: wantedRatio,
      isMost: false,
      print,
    }),
  );
}

export async function measureFacts({
  rounds,
  facts,
}: {
  readonly rounds: number;
  readonly facts: number;
}): Promise<void> {
  console.log(
    `\nThe engine alone: ${thousands(facts)} facts in batches of ${thousands(factsInBatch)}, each durable\n`,
  );
  const bySecond: number[] = [];
  const byCpu: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { seconds, cpuSeconds } = await inFolder((folder) => storeFacts(folder, facts));
    bySecond.push(facts / seconds);
    byCpu.push(facts / cpuSeconds);
    console.log(`  ${thousands(facts / seconds)} a second, ${thousands(facts / cpuSeconds)} a CPU-second`);
  }
  const title = 'durable facts a second';
  console.log(
    verdict({ title, value: median(bySecond), wanted: wantedFacts, isMost: false, print: thousands }),
  );
  console.log(`by CPU-second: ${thousands(median(byCpu))}`);
}

async function storeFacts(
  storageDir: string,
  facts: number,
): Promise<{ readonly seconds: number; readonly cpuSeconds: number }> {
  const engine = await openEngine({ storageDir, fsync: 'always', snapshotIntervalMs: 2 ** 31 - 1 });
  const batches = Array.from({ length: Math.ceil(facts / factsInBatch) }, (_, batch) =>
    Array.from({ length: factsInBatch }, (_unused, row) => {
      const number = batch * factsInBatch + row;
      return fact('met', [`n${number}`, `n${(number * 7919) % 1_000_003}`]);
    }),
  );
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const store = async (): Promise<void> => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop())
      await engine.tellAll({ ...caller, requestId: crypto.randomUUID() }, batch);
  };
  await Promise.all(Array.from({ length: batchWriters }, store));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  assert(engine.counters().facts >= facts, 'not all facts are stored');
  await engine.close(0);
  return { seconds, cpuSeconds: (user + system) / 1e6 };
}
