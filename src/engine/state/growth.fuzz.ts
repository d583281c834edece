/**
 * What quotas count: the amounts of a store are those of its facts at every moment, whatever was written, compacted and
 * counted in between; and `growthBy` predicts by how much every operation changes them.
 */
import { expect, test } from 'vitest';
import { runAtOnce } from '../base/slices.ts';
import { renderIdentity } from '../language/print.ts';
import type { FactStore } from '../store/fact-store.ts';
import { StoredAmounts } from '../store/stored-amounts.ts';
import { Prng } from '../testing/prng.ts';
import { RandomRecords } from '../testing/random-records.ts';
import { apply } from './apply.ts';
import { canGrow, growthBy } from './growth.ts';
import type { Operation } from './operation.ts';
import { type DatabaseState, State } from './state.ts';

const runs = process.env['LONG'] === '1' ? 1000 : 20;
const encoder = new TextEncoder();
const atOnce = { breathe: async (): Promise<void> => {} };

/** The amounts of a store, from the text of every fact. */
function counted(facts: FactStore, time: number): { facts: number; bytes: number } {
  const total = { facts: 0, bytes: 0 };
  for (const relation of facts.relations.values())
    for (let row = 0; row < relation.count; row++) {
      const fact = { relation, row };
      if (!facts.isStored(fact, time)) continue;
      const metadata = facts.metadataOf(fact);
      const text = Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata);
      total.facts++;
      total.bytes += encoder.encode(renderIdentity(facts.identityOf(fact)) + text).length;
    }
  return total;
}

/** True if the operation may be written as the service writes it: it forks onto a scope without facts. */
function isWritable(database: DatabaseState, operation: Operation, time: number): boolean {
  if (operation.kind !== 'forkScope') return true;
  const facts = database.tenants.get(operation.tenant)?.facts;
  const target = facts?.scopeNumber(operation.target) ?? -1;
  for (const relation of facts?.relations.values() ?? [])
    for (let row = 0; row < relation.count; row++)
      if (relation.columns[relation.arity]?.[row] === target && facts?.isStored({ relation, row }, time))
        return false;
  return true;
}

/** Facts that keys superseded in all runs. */
let superseded = 0;

async function run(seed: number): Promise<Set<string>> {
  const prng = new Prng(seed);
  const state = new State();
  const writer = new RandomRecords(prng, state);
  const predicted = new Set<string>();
  for (let written = 0; written < 150; written++) {
    const record = writer.next();
    const operation = record.operation as Operation;
    const database = state.databases.get(record.database);
    const tenant = 'tenant' in operation ? operation.tenant : null;
    const store = tenant === null ? undefined : database?.tenants.get(tenant)?.facts;
    const isPredictable =
      database !== undefined && canGrow(operation) && isWritable(database, operation, record.time);
    const growth = isPredictable ? runAtOnce(growthBy(database, operation, record.time)) : null;
    const before = store === undefined ? { facts: 0, bytes: 0 } : counted(store, record.time);
    const { supersededCount } = apply(state, record);
    superseded += supersededCount;
    if (prng.chance(0.1))
      for (const { tenants, generation } of state.databases.values())
        for (const { facts } of tenants.values()) facts.compact(facts.relations.keys(), generation);
    const after = database?.tenants.get(tenant ?? '')?.facts;
    if (growth !== null && after !== undefined && operation.kind !== 'teach') {
      const now = counted(after, record.time);
      const difference = { facts: now.facts - before.facts, bytes: now.bytes - before.bytes };
      const { facts, bytes } = growth;
      expect({ facts, bytes }, `seed ${seed}, ${JSON.stringify(operation)}`).toEqual(difference);
      predicted.add(operation.kind);
    }
    for (const { tenants } of state.databases.values())
      for (const { facts } of tenants.values()) {
        if (facts.amounts === null && prng.chance(0.8)) continue;
        const { facts: count, bytes } = await StoredAmounts.measured(facts, state.time, atOnce);
        expect({ facts: count, bytes }, `seed ${seed}, record ${record.sequence}`).toEqual(
          counted(facts, state.time),
        );
      }
  }
  return predicted;
}

test('quotas count what is stored, and what a write adds to it', { timeout: 3_600_000 }, async () => {
  const seed = Number(process.env['SEED'] ?? (process.env['LONG'] === '1' ? Date.now() % 1_000_000 : 1));
  const predicted = new Set<string>();
  // Few programs supersede anything: more of them run until one did.
  for (let at = 0; at < runs || (superseded === 0 && at < runs + 1000); at++)
    for (const kind of await run(seed + at)) predicted.add(kind);
  expect([...predicted].toSorted()).toEqual([
    'assert',
    'commit',
    'consolidate',
    'forkScope',
    'mergeScopes',
    'restore',
  ]);
  expect(superseded).toBeGreaterThan(0);
});
