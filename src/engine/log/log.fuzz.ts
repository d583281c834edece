/**
 * Power cuts: random programs of appends, snapshots, restarts and full disks on the backend that loses power, cut at a
 * random moment with a random legal outcome, and again during the start after that.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { crashBackend, type CrashBackend } from '../testing/crash-backend.ts';
import {
  covered,
  logOptions,
  logRecord,
  nextRecords,
  sequencesPart,
  sequences,
  upTo,
} from '../testing/log-fixtures.ts';
import type { Log } from './log.ts';
import { openLog } from './open-log.ts';
import type { MemoryBackend } from './backend.ts';

const RUNS = process.env['LONG'] === '1' ? 20_000 : 300;

type Command =
  | { readonly kind: 'append'; readonly writers: number; readonly records: number }
  | { readonly kind: 'full'; readonly written: number }
  /** `writers` append while it is written, unless it fails after this many bytes. */
  | { readonly kind: 'snapshot'; readonly writers: number; readonly failsAfter: number | null }
  | { readonly kind: 'restart' };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      writers: fc.integer({ min: 1, max: 4 }),
      records: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('full' as const), written: fc.integer({ min: 0, max: 900 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('snapshot' as const),
      writers: fc.integer({ min: 0, max: 3 }),
      failsAfter: fc.option(fc.integer({ min: 0, max: 500 }), { freq: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

/** For every moment: the number of records acknowledged by then. */
interface Run {
  readonly disk: CrashBackend;
  readonly answered: { steps: number; sequence: number }[];
}

async function run(commands: readonly Command[], seed: number): Promise<Run> {
  const disk = crashBackend();
  const answered: Run['answered'] = [];
  const prng = new Prng(seed);
  const open = async (): Promise<Log> =>
    (await openLog(disk, logOptions({ segmentBytes: 900, groupBytes: 400 }, prng.next()))).log;
  let log = await open();
  const append = async (records: number): Promise<void> => {
    const batch = nextRecords(log, records);
    await log.append(batch);
    answered.push({ steps: disk.steps, sequence: batch.at(-1)?.sequence ?? 0 });
  };
  const snapshot = async ({ writers, failsAfter }: Extract<Command, { kind: 'snapshot' }>): Promise<void> => {
    await log.beginSegment();
    const covers = { sequence: log.lastSequence, time: log.lastSequence };
    if (failsAfter !== null) disk.faults = failing(failsAfter);
    const put = log.putSnapshot(covers, sequencesPart(covers.sequence));
    if (failsAfter === null) await Promise.all([put, ...Array.from({ length: writers }, () => append(1))]);
    else await expect(put).rejects.toMatchObject({ code: 'StorageUnavailable' });
    disk.faults = () => null;
  };
  for (const each of commands) {
    if (each.kind === 'append')
      await Promise.all(Array.from({ length: each.writers }, () => append(each.records)));
    else if (each.kind === 'restart') log = await open();
    else if (each.kind === 'snapshot') await snapshot(each);
    else {
      disk.faults = (step, bytes) =>
        step === 'write' ? { code: 'ENOSPC', written: Math.min(each.written, bytes - 1) } : null;
      await expect(append(2)).rejects.toMatchObject({ code: 'StorageUnavailable' });
      disk.faults = () => null;
    }
  }
  await log.close();
  return { disk, answered };
}

/** A disk that is full after this many more bytes. */
function failing(after: number): CrashBackend['faults'] {
  let room = after;
  return (step, bytes) => {
    if (step !== 'write') return step === 'rename' ? { code: 'EIO' } : null;
    if (bytes > room) return { code: 'ENOSPC', written: room };
    room -= bytes;
    return null;
  };
}

async function recovered(backend: MemoryBackend | CrashBackend, seed: number): Promise<number[]> {
  const { log } = await openLog(backend, logOptions({}, seed));
  const { before, records } = await covered(log);
  expect(records).toEqual(records.map((_, index) => logRecord(before.length + index + 1)));
  expect((await backend.list()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  return [...before, ...sequences(records)];
}

describe('a power cut at any moment', () => {
  it('loses no acknowledged record, invents none, and never prevents the next start', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 1, maxLength: 12 }),
        fc.integer(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (commands, seed, moment, secondMoment) => {
          const { disk, answered } = await run(commands, seed);
          const prng = new Prng(seed);
          const choose = (outcomes: number): number => prng.below(outcomes);
          const steps = Math.round(moment * disk.steps);
          const left = disk.afterPowerCut(steps, choose);
          const safe = Math.max(
            0,
            ...answered.filter((each) => each.steps <= steps).map((each) => each.sequence),
          );
          const all = Math.max(0, ...answered.map((each) => each.sequence));

          const files = new Map((await left.list()).map((name) => [name, left.contents(name)]));
          const second = crashBackend(files);
          const found = await recovered(second, seed);
          expect(found).toEqual(upTo(found.length));
          expect(found.length).toBeGreaterThanOrEqual(safe);
          expect(found.length).toBeLessThanOrEqual(all);

          // A second power cut while that start cuts off the torn tail, or right after.
          const leftAgain = second.afterPowerCut(Math.round(secondMoment * second.steps), choose);
          const foundAgain = await recovered(leftAgain, seed);
          expect(foundAgain.length).toBeGreaterThanOrEqual(safe);
          const settled = await recovered(
            second.afterPowerCut(second.steps, () => 0),
            seed,
          );
          expect(settled).toEqual(found);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
