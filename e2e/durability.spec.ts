/**
 * kill -9 under load: afterwards every acknowledged write is present, and no unacknowledged one is half present.
 *
 * Many writers tell, retract, teach, fork scopes, batch and commit transactions concurrently, some with an
 * Idempotency-Key, while snapshots are taken, until the process is killed at a random moment. The next start is
 * compared with the acknowledged writes, and keyed writes are repeated. A few rounds here, a hundred with LONG=1, or
 * ROUNDS.
 */
import { expect, test } from '@playwright/test';
import { readdirSync } from 'node:fs';
import type { FactOutcome, FactsOutcome, QueryResult } from '../src/engine/contract/facts.ts';
import type { RuleOutcome, StoredRule } from '../src/engine/contract/rules.ts';
import type { ScopeList } from '../src/engine/contract/scopes.ts';
import type { Committed, TransactionBegun } from '../src/engine/contract/transactions.ts';
import { ServiceProcess } from './service.ts';

const rounds = Number(process.env['ROUNDS'] ?? (process.env['LONG'] === '1' ? 100 : 3));
const writers = 12;
const batchSize = 50;
/** Minimum number of answers per round. */
const leastAnswered = 40;

/** What the clients know: acknowledged writes, and writes without a response. */
class Ledger {
  /** By fact: true acknowledged as stored, false as retracted, null unknown. */
  readonly facts = new Map<string, boolean | null>();
  /** By batch or commit: true acknowledged, null unknown. */
  readonly batches = new Map<string, true | null>();
  /** By rule text: its id, or null without a response. */
  readonly rules = new Map<string, string | null>();
  /** By forked scope: true acknowledged, null unknown. */
  readonly forks = new Map<string, true | null>();
  /** By idempotency key, also the fact's argument: the response, or null. */
  readonly once = new Map<string, FactOutcome | null>();
  greatestGeneration = 0;
  /** Number of snapshots, and the extent of the last one. */
  snapshots = 0;
  snapshotPosition = 0;
  answered = 0;

  saw(generation: number): void {
    this.answered++;
    this.greatestGeneration = Math.max(this.greatestGeneration, generation);
  }
}

class Killed extends Error {}

async function post<Output>(
  url: string,
  path: string,
  body: unknown,
  { transaction, key }: { readonly transaction?: string; readonly key?: string } = {},
): Promise<Output> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'x-tenant-id': 'load',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(transaction === undefined ? {} : { 'x-transaction-id': transaction }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
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
      if (index % 7 === 5) await writeOnce(url, ledger, `${name}-${index}`);
      else if (index % 11 === 6) await writeRule(url, ledger, `${name}-${index}`);
      else if (index % 11 === 7) await writeFork(url, ledger, `${name}-${index}`);
      else if (index % 5 === 4) await writeBatch(url, ledger, `${name}-${index}`);
      else if (index % 5 === 1) await writeCommit(url, ledger, `${name}-${index}`);
      else await writeFact(url, ledger, `${name}-${index}`, index % 3 === 2);
    }
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

/** Takes snapshots until the service is gone. */
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

/** Writes a fact with an idempotency key: a repetition must return the same response and store it once. */
async function writeOnce(url: string, ledger: Ledger, id: string): Promise<void> {
  const before = ledger.once.get(id) ?? null;
  ledger.once.set(id, before);
  const outcome = await post<FactOutcome>(url, '/tell', { predicate: 'once', args: [id] }, { key: id });
  expect(outcome.status).toBe('asserted');
  if (before !== null) expect(outcome).toEqual(before);
  ledger.saw(outcome.generation);
  ledger.once.set(id, outcome);
}

async function writeRule(url: string, ledger: Ledger, id: string): Promise<void> {
  const text = `taught_${id.replaceAll('-', '_')}(?x) :- never(?x)`;
  ledger.rules.set(text, null);
  const outcome = await post<RuleOutcome>(url, '/teach', { text });
  ledger.saw(outcome.generation);
  ledger.rules.set(text, outcome.id);
}

/** Forks a scope of five facts; the fork must have all five. */
async function writeFork(url: string, ledger: Ledger, id: string): Promise<void> {
  const source = `source-${id}`;
  const facts = Array.from({ length: 5 }, (_, row) => ({ predicate: 'forked', args: [row], scope: source }));
  await post(url, '/assert/facts', { facts });
  const target = `fork-${id}`;
  ledger.forks.set(target, null);
  ledger.saw((await post<{ generation: number }>(url, '/scope/fork', { source, target })).generation);
  ledger.forks.set(target, true);
}

/** Stores a batch's facts by three writes of one transaction. */
async function writeCommit(url: string, ledger: Ledger, id: string): Promise<void> {
  const facts = Array.from({ length: batchSize }, (_, row) => ({ predicate: 'batched', args: [id, row] }));
  const transaction = (await post<TransactionBegun>(url, '/tx/begin', {})).id;
  const [first, ...rest] = facts;
  await post(url, '/tell', first, { transaction });
  await post(url, '/assert/facts', { facts: rest.slice(0, 20) }, { transaction });
  await post(url, '/assert/facts', { facts: rest.slice(20) }, { transaction });
  ledger.batches.set(id, null);
  const { generation, operations } = await post<Committed>(url, `/tx/commit/${transaction}`, {});
  expect(operations).toBe(3);
  ledger.saw(generation);
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
  await compareRules(url, ledger);
  await compareForks(url, ledger);
  await repeatOnce(url, ledger);
  const probe = { predicate: 'probe', args: [String(Math.random())] };
  const { generation } = await post<{ generation: number }>(url, '/tell', probe);
  expect(generation).toBeGreaterThan(ledger.greatestGeneration);
  ledger.saw(generation);
}

async function get<Output>(url: string, path: string): Promise<Output> {
  const response = await fetch(url + path, { headers: { 'x-tenant-id': 'load' } });
  expect(response.status).toBe(200);
  return (await response.json()) as Output;
}

async function compareRules(url: string, ledger: Ledger): Promise<void> {
  const { rules } = await get<{ rules: StoredRule[] }>(url, '/rules');
  const ids = new Map(rules.map(({ text, id }) => [text, id]));
  const wrong = [...ledger.rules].filter(([text, id]) => id !== null && ids.get(text) !== id);
  expect(wrong).toEqual([]);
  expect([...ids.keys()].filter((text) => !ledger.rules.has(text))).toEqual([]);
}

async function compareForks(url: string, ledger: Ledger): Promise<void> {
  const { scopes } = await get<ScopeList>(url, '/scopes');
  const facts = new Map(scopes.map((scope) => [scope.name, scope.facts]));
  const wrong = [...ledger.forks].filter(([name, known]) =>
    known === true ? facts.get(name) !== 5 : ![5, undefined].includes(facts.get(name)),
  );
  expect(wrong).toEqual([]);
}

/** Repeats every keyed write without a response, and some with one. */
async function repeatOnce(url: string, ledger: Ledger): Promise<void> {
  const open = [...ledger.once].filter(([, outcome]) => outcome === null).map(([id]) => id);
  const answered = [...ledger.once.keys()].filter((id) => !open.includes(id)).slice(-20);
  for (const id of [...open, ...answered]) await writeOnce(url, ledger, id);
  const found = await stored(url, 'once', 1);
  const ids = found.map(({ args }) => args[0] ?? '');
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.sort()).toEqual([...ledger.once.keys()].sort());
}

test(`loses no acknowledged write over ${rounds} rounds of kill -9 under load`, async () => {
  test.setTimeout(rounds * 600_000);
  const service = new ServiceProcess({ LOG_LEVEL: 'WARN', HISTORY_DAYS: '0' });
  const ledger = new Ledger();
  try {
    for (let round = 0; round < rounds; round++) {
      await service.start();
      await compare(service.url, ledger);
      const writing = Array.from({ length: writers }, (_, writer) =>
        write(service.url, ledger, `${round}-${writer}`),
      );
      const snapshots = takeSnapshots(service.url, ledger);
      const enough = ledger.answered + leastAnswered;
      await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 700));
      // Even on a slow machine there is something to lose.
      while (ledger.answered < enough) await new Promise((resolve) => setTimeout(resolve, 10));
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
    // Without a history nothing stays beside the newest snapshot and what follows it.
    const names = readdirSync(service.storageDir).filter((name) => /\.(log|snapshot|tmp)$/.test(name));
    expect(names).toHaveLength(2);
    await service.start();
    await compare(service.url, ledger);
    expect(await service.stop()).toBe(0);
  } finally {
    await service.dispose();
  }
});
