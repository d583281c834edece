import { expect, test } from 'vitest';
import { logOptions, nextRecords, sequences, sequencesPart, upTo } from '../testing/log-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { type MemoryBackend, memoryBackend } from './backend.ts';
import { folderKeyOf } from './cipher.ts';
import type { LogRecord } from './codec.ts';
import { openLog } from './open-log.ts';
import { type Log, type LogOptions } from './log.ts';
import { segmentNames } from './recovery.ts';
import { DAY_MS } from './retention.ts';
import { snapshotNames } from './snapshot-reader.ts';

const start = 1_700_000_000_000;
const hours = 3_600_000;

/** A log in a folder, and a clock; every snapshot has the time at which it was put. */
class Days {
  readonly backend: MemoryBackend = memoryBackend();
  readonly #options: Partial<LogOptions>;
  now = start;
  log!: Log;
  /** Sequence and time of each snapshot. */
  readonly put: [number, number][] = [];

  constructor(options: Partial<LogOptions>) {
    this.#options = { segmentBytes: 1500, now: () => this.now, ...options };
  }

  async open(changes: Partial<LogOptions> = {}): Promise<void> {
    this.log = (await openLog(this.backend, logOptions({ ...this.#options, ...changes }))).log;
  }

  async write(count: number): Promise<void> {
    for (let at = 0; at < count; at++) await this.log.append(nextRecords(this.log, 1));
  }

  async snapshot(): Promise<void> {
    const sequence = await this.log.beginSegment();
    await this.log.putSnapshot({ sequence, time: this.now }, sequencesPart(sequence));
    if (this.put.at(-1)?.[0] === sequence) this.put.pop();
    this.put.push([sequence, this.now]);
  }
}

async function recordsAfter(log: Log, after: number): Promise<number[]> {
  const found: LogRecord[] = [];
  for await (const record of (await log.retained()).records(after)) found.push(record);
  return sequences(found);
}

for (const [kind, key] of [
  ['plain', null],
  ['encrypted', 'ab'.repeat(32)],
] as const)
  test(`a ${kind} folder answers for every moment of the retained days, with a snapshot a day`, async () => {
    const prng = new Prng(7);
    const days = new Days({ historyDays: 5, key: folderKeyOf(key) });
    await days.open();
    for (let step = 0; step < 90; step++) {
      await days.write(1 + prng.below(3));
      await days.snapshot();
      if (prng.chance(0.2)) {
        await days.log.close();
        await days.open();
      }
      const cutoff = days.now - 5 * DAY_MS;
      const { bases } = await days.log.retained();
      const [first] = bases;
      if (first === undefined) throw new Error('a log has a base');
      const isOld = ([, time]: [number, number]): boolean => time <= cutoff;
      // Old enough to answer for the beginning of the window; no other that is kept is nearer to it.
      expect(first.sequence === 0 || first.time <= cutoff).toBe(true);
      if (days.put.some(isOld)) expect(first.sequence).toBeGreaterThan(0);
      const firstOfDay = days.put.filter(
        ([, time], at) => Math.floor(time / DAY_MS) > Math.floor((days.put[at - 1]?.[1] ?? 0) / DAY_MS),
      );
      expect(firstOfDay.filter(isOld).every(([, time]) => time <= first.time)).toBe(true);
      expect(await recordsAfter(days.log, first.sequence)).toEqual(
        upTo(days.log.lastSequence).slice(first.sequence),
      );
      const times = bases.slice(1, -1).map(({ time }) => Math.floor(time / DAY_MS));
      expect(new Set(times).size).toBe(times.length);
      const { history } = days.log.statistics();
      const kept = await days.backend.list();
      expect(history.snapshots).toBe(snapshotNames(kept).length - 1);
      expect(history.since).toBe(first.sequence === 0 ? null : first.time);
      days.now += prng.below(12) * hours;
    }
    expect(days.now - start).toBeGreaterThan(15 * DAY_MS);
    await days.log.close();
  });

test('without days, a folder has the newest snapshot and the segments after it alone', async () => {
  const days = new Days({ historyDays: 0 });
  await days.open();
  for (let round = 0; round < 3; round++) {
    await days.write(10);
    await days.snapshot();
  }
  const names = await days.backend.list();
  expect([snapshotNames(names).length, segmentNames(names).length]).toEqual([1, 1]);
  expect(days.log.statistics().history).toEqual({ bytes: 0, snapshots: 0, segments: 0, since: days.now });
});

test('a folder that was opened with days loses its history when it is opened without', async () => {
  const days = new Days({ historyDays: 5 });
  await days.open();
  await days.write(10);
  await days.snapshot();
  await days.log.close();
  expect(segmentNames(await days.backend.list()).length).toBeGreaterThan(1);
  await days.open({ historyDays: 0 });
  expect(segmentNames(await days.backend.list())).toHaveLength(1);
});

test('the history of an older folder begins with its snapshot', async () => {
  const days = new Days({ historyDays: 0 });
  await days.open();
  await days.write(10);
  await days.snapshot();
  await days.write(3);
  await days.log.close();
  await days.open({ historyDays: 5 });
  const before = days.put[0]?.[0];
  days.now += hours;
  await days.snapshot();
  expect((await days.log.retained()).bases.map(({ sequence }) => sequence)).toEqual([before, 13]);
  expect(await recordsAfter(days.log, before ?? 0)).toEqual([11, 12, 13]);
});

test('damage in a retained file refuses no start', async () => {
  const days = new Days({ historyDays: 5 });
  await days.open();
  await days.write(20);
  await days.snapshot();
  await days.log.close();
  const [oldest] = segmentNames(await days.backend.list());
  const bytes = days.backend.contents(oldest ?? '');
  bytes.fill(7, 200);
  days.backend.put(oldest ?? '', bytes);
  await days.open();
  expect(days.log.lastSequence).toBe(20);
  await expect(recordsAfter(days.log, 0)).rejects.toThrow('does not verify');
});
