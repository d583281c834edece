/**
 * kill -9 under load: after it every answered write is there, and no unanswered one is half there.
 *
 * Many writers tell, retract and batch at once, and snapshots are taken, until the process is killed at a random moment;
 * the next start is compared with what had been answered. A few rounds here, twenty with LONG=1.
 */
import { expect, test } from '@playwright/test';
import { readdirSync } from 'node:fs';
import type { FactsOutcome, QueryResult } from '../src/engine/contract/facts.ts';
import { ServiceProcess } from './service.ts';

const rounds = process.env['LONG'] === '1' ? 20 : 4;
const writers = 12;
const batchSize = 50;

/** What the clients know: answered for sure, or asked for without an answer. */
class Ledger {
  /** By fact: true it was answered as stored, false as retracted, null it may be either. */
  readonly facts = new Map<string, boolean | null>();
  /** By batch: true it was answered, null it may be there or not. */
  readonly batches = new Map<string, true | null>();
  greatestGeneration = 0;
  /** How many snapshots were taken, and what the last one covers. */
  snapshots = 0;
  snapshotPosition = 0;

  saw(generation: number): void {
    this.greatestGeneration = Math.max(this.greatestGeneration, generation);
  }
}

class Killed extends Error {}

async function post<Output>(url: string, path: string, body: unknown): Promise<Output> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'x-tenant-id': 'load',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Killed('no answer', { cause: error });
  });
  const text = await response.text().catch((error: unknown) => {
    throw new Killed('half an answer', { cause: error });
  });
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Output;
}

/** Writes until the service is gone. */
async function write(url: string, ledger: Ledger, name: string): Promise<void> {
  try {
    for (let index = 0; ; index++) {
      if (index % 5 === 4) await writeBatch(url, ledger, `${name}-${index}`);
      else await writeFact(url, ledger, `${name}-${index}`, index % 3 === 2);
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

/** Takes one snapshot after the other until the service is gone. */
async function takeSnapshots(url: string, ledger: Ledger): Promise<void> {
  try {
    for (;;) {
      const { position } = await post<{ position: number }>(url, '/admin/snapshot', undefined);
      expect(position).toBeGreaterThanOrEqual(ledger.snapshotPosition);
      ledger.snapshotPosition = position;
      ledger.snapshots++;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 200));
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

async function writeFact(url: string, ledger: Ledger, id: string, thenRetract: boolean): Promise<void> {
  const fact = { predicate: 'single', args: [id] };
  ledger.facts.set(id, null);
  ledger.saw((await post<{ generation: number }>(url, '/tell', fact)).generation);
  ledger.facts.set(id, true);
  if (!thenRetract) return;
  ledger.facts.set(id, null);
  ledger.saw((await post<{ generation: number }>(url, '/retract', fact)).generation);
  ledger.facts.set(id, false);
}

async function writeBatch(url: string, ledger: Ledger, id: string): Promise<void> {
  const facts = Array.from({ length: batchSize }, (_, row) => ({ predicate: 'batched', args: [id, row] }));
  ledger.batches.set(id, null);
  const outcome = await post<FactsOutcome>(url, '/assert/facts', { facts });
  expect(outcome.asserted).toBe(batchSize);
  ledger.saw(outcome.generation);
  ledger.batches.set(id, true);
}

async function stored(url: string, predicate: string, arity: number): Promise<QueryResult> {
  const args = ['?a', '?b'].slice(0, arity);
  return post<QueryResult>(url, '/query', { predicate, args });
}

async function compare(url: string, ledger: Ledger): Promise<void> {
  const singles = new Set((await stored(url, 'single', 1)).map(({ args }) => args[0]));
  const lost = [...ledger.facts].filter(([id, known]) => known === true && !singles.has(id));
  const back = [...ledger.facts].filter(([id, known]) => known === false && singles.has(id));
  expect({ lost, back }).toEqual({ lost: [], back: [] });
  expect([...singles].filter((id) => id === undefined || !ledger.facts.has(id))).toEqual([]);
  const rows = new Map<string, number>();
  for (const { args } of await stored(url, 'batched', 2))
    rows.set(args[0] ?? '', (rows.get(args[0] ?? '') ?? 0) + 1);
  expect([...rows.values()].filter((count) => count !== batchSize)).toEqual([]);
  expect([...ledger.batches].filter(([id, known]) => known === true && !rows.has(id))).toEqual([]);
  const probe = { predicate: 'probe', args: [String(Math.random())] };
  const { generation } = await post<{ generation: number }>(url, '/tell', probe);
  expect(generation).toBeGreaterThan(ledger.greatestGeneration);
  ledger.saw(generation);
}

test(`loses no answered write over ${rounds} rounds of kill -9 under load`, async () => {
  test.setTimeout(rounds * 20_000);
  const service = new ServiceProcess({ LOG_LEVEL: 'WARN' });
  const ledger = new Ledger();
  try {
    for (let round = 0; round < rounds; round++) {
      await service.start();
      await compare(service.url, ledger);
      const writing = Array.from({ length: writers }, (_, writer) =>
        write(service.url, ledger, `${round}-${writer}`),
      );
      const snapshots = takeSnapshots(service.url, ledger);
      await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 700));
      await service.kill();
      await Promise.all([...writing, snapshots]);
    }
    await service.start();
    await compare(service.url, ledger);
    const answered = [...ledger.facts.values(), ...ledger.batches.values()].filter((known) => known !== null);
    console.log(
      `${answered.length} answered writes and ${ledger.snapshots} snapshots over ${rounds} kills, none lost`,
    );
    expect(ledger.snapshots).toBeGreaterThan(0);
    expect(answered.length).toBeGreaterThan(rounds * 20);
    expect(await service.stop()).toBe(0);
    const names = readdirSync(service.storageDir).filter((name) => /\.(log|snapshot|tmp)$/.test(name));
    expect(names).toHaveLength(2);
    await service.start();
    await compare(service.url, ledger);
    expect(await service.stop()).toBe(0);
  } finally {
    await service.dispose();
  }
});
