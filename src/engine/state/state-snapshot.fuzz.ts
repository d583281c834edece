/**
 * Snapshots of random states: a snapshot that is read back, plus the records after it, gives the same state as all
 * records, whatever is written, compacted and used while the snapshot is written.
 */
import { expect, test } from 'vitest';
import { apply } from './apply.ts';
import { Prng } from '../testing/prng.ts';
import { State } from './state.ts';
import { pinState, readState } from './state-snapshot.ts';
import type { LogRecord } from '../log/codec.ts';
import { openLog } from '../log/open-log.ts';
import { memoryBackend, type MemoryBackend } from '../log/backend.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';
import { logOptions } from '../testing/log-fixtures.ts';
import { RandomRecords } from '../testing/random-records.ts';
import { toldState } from '../testing/told-state.ts';

const runs = process.env['LONG'] === '1' ? 1000 : 8;
const timeout = 3_600_000;
const pause = async (): Promise<void> => {};

/** A question used these facts, and a key. */
function noteUses({ databases, keys, time }: State, prng: Prng): void {
  for (const { id } of keys.all()) if (prng.chance(0.3)) keys.noteUse(id, time);
  for (const { tenants } of databases.values())
    for (const { facts, uses } of tenants.values())
      for (const relation of facts.relations.values())
        for (let row = 0; row < relation.count; row++)
          if (relation.isAlive(row) && prng.chance(0.3)) uses.note({ relation, row }, time, time);
}

function compact({ databases }: State): void {
  for (const { tenants, generation } of databases.values())
    for (const { facts } of tenants.values()) facts.compact(facts.relations.keys(), generation);
}

/** What happened to a state: a record was applied, facts were used, or relations compacted. */
type Event = LogRecord | { readonly usedBy: number } | 'compacted';

function happen(state: State, event: Event): void {
  if (event === 'compacted') compact(state);
  else if ('usedBy' in event) noteUses(state, new Prng(event.usedBy));
  else apply(state, JSON.parse(JSON.stringify(event)) as LogRecord);
}

function happened(events: readonly Event[]): State {
  const state = new State();
  for (const event of events) happen(state, event);
  return state;
}

async function reopened(backend: MemoryBackend, seed: number) {
  const { log } = await openLog(backend, logOptions({ segmentBytes: 5000 }, seed));
  const { state } = await readState(log, pause);
  for await (const record of log.read(state.sequence)) apply(state, record);
  return { log, state };
}

async function run(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const withDead = prng.chance(0.5);
  const backend = memoryBackend();
  const events: Event[] = [];
  const reference = new State();
  const writer = new RandomRecords(prng, reference);
  const fired = new Map([['r1', { fired: seed % 7 }]]);
  let { log } = await openLog(backend, logOptions({ segmentBytes: 5000 }, seed));
  let state = new State();
  const meet = (event: Event): void => {
    events.push(event);
    for (const each of [reference, state]) happen(each, event);
  };
  const write = async (count: number): Promise<void> => {
    for (let written = 0; written < count; written++) {
      const record = writer.next();
      await log.append([record], () => meet(record));
    }
  };
  for (let round = 0; round < 1 + prng.below(3); round++) {
    await write(1 + prng.below(60));
    meet({ usedBy: prng.next() });
    if (!withDead) meet('compacted');
    await log.beginSegment();
    const pin = pinState(state, () => fired);
    const before = events.length;
    const during = async function* (): AsyncGenerator<SnapshotPart> {
      for await (const part of pin.parts(pause, () => true)) {
        if (prng.chance(0.05)) await write(prng.below(4));
        if (!withDead && prng.chance(0.02)) meet('compacted');
        yield part;
      }
    };
    await log.putSnapshot(pin, during());
    pin.release();
    const snapshot = await readState(log, pause);
    expect(everythingTold(snapshot.state, withDead), `seed ${seed}, read`).toEqual(
      everythingTold(happened(events.slice(0, before)), withDead),
    );
    for (const tallies of snapshot.tallies.values()) expect([...tallies]).toEqual([...fired]);
    if (prng.chance(0.5)) await write(prng.below(30));
    await log.close();
    ({ log, state } = await reopened(backend, prng.next()));
  }
  await write(prng.below(20));
  await log.close();
  const last = await reopened(backend, prng.next());
  const told = everythingTold(reference, withDead);
  expect(everythingTold(state, withDead), `seed ${seed}, live`).toEqual(told);
  expect(everythingTold(last.state, withDead), `seed ${seed}, reopened`).toEqual(told);
}

test('restores from a snapshot and the records after it the same state as from all records', {
  timeout,
}, async () => {
  const seed = Number(process.env['SEED'] ?? (process.env['LONG'] === '1' ? Date.now() % 1_000_000 : 1));
  for (let at = 0; at < runs; at++) await run(seed + at);
});

/** Everything observable; retracted facts only if requested. */
function everythingTold(state: State, dead: boolean): unknown {
  return toldState(state, { dead, uses: true, boundaries: true, relations: true });
}
