/**
 * Facts in columns: records whose asserted facts are a block leave the state, the report and the snapshot that the same
 * records with a list leave.
 */
import { expect, test } from 'vitest';
import type { LogRecord } from '../log/codec.ts';
import { FactBlockBuilder } from '../store/fact-block.ts';
import { Prng } from '../testing/prng.ts';
import { RandomRecords } from '../testing/random-records.ts';
import { toldState } from '../testing/told-state.ts';
import { apply } from './apply.ts';
import type { Operation } from './operation.ts';
import type { Report } from './report.ts';
import { State } from './state.ts';
import { pinState } from './state-snapshot.ts';

const runs = process.env['LONG'] === '1' ? 1000 : 10;
const timeout = 3_600_000;

/** The record with the facts that it asserts in columns, as a part of a larger load. */
function inColumns(record: LogRecord, prng: Prng): LogRecord {
  const operation = record.operation as Operation;
  if (operation.kind !== 'assert') return record;
  const builder = new FactBlockBuilder();
  for (const fact of operation.facts) builder.add(fact);
  const following = prng.pick([0, 7, 100_000_000]);
  return { ...record, operation: { ...operation, facts: builder.built(following) } };
}

function toldReport(state: State, { database, changes, fact, ...report }: Report): unknown {
  const { asserted, updated, unchanged, superseded, supersededCount, outcome, generation } = report;
  const facts = database.tenants.get(report.tenant ?? '')?.facts;
  return {
    counts: [asserted, updated, unchanged, supersededCount, generation, state.sequence],
    superseded,
    outcome,
    fact: fact === null || facts === undefined ? null : [facts.idOf(fact), fact.row],
    changes: Array.from(changes, ({ kind, fact: { relation, row } }) => [kind, relation.predicate, row]),
    numbers: changes.numbers,
    relations: [...changes.relations],
  };
}

async function snapshotOf(state: State): Promise<Buffer> {
  const pin = pinState(state, () => new Map());
  const parts: Uint8Array[] = [];
  const all = pin.parts(
    async () => {},
    () => true,
  );
  for await (const { section, bytes } of all) parts.push(Buffer.from(section), bytes.slice());
  pin.release();
  const snapshot = Buffer.concat(parts);
  expect(snapshot.length).toBeGreaterThan(1000);
  return snapshot;
}

test('a write in columns is the write of the list', { timeout }, async () => {
  const seed = Number(process.env['SEED'] ?? (process.env['LONG'] === '1' ? Date.now() % 1_000_000 : 1));
  for (let at = 0; at < runs; at++) {
    const prng = new Prng(seed + at);
    const [listed, blocked] = [new State(), new State()];
    const records = new RandomRecords(prng, listed);
    for (let written = 0; written < 150; written++) {
      const record = records.next();
      const [expected, found] = [apply(listed, record), apply(blocked, inColumns(record, prng))];
      expect(toldReport(blocked, found), `seed ${seed + at}`).toEqual(toldReport(listed, expected));
    }
    expect(Buffer.compare(await snapshotOf(blocked), await snapshotOf(listed)), `seed ${seed + at}`).toBe(0);
    const everything = { dead: true, uses: true, boundaries: true, relations: true };
    expect(toldState(blocked, everything), `seed ${seed + at}`).toEqual(toldState(listed, everything));
  }
});
