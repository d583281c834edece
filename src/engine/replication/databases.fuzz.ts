/**
 * Four nodes over a store of several logs that fails, from a seed, while databases are created, written and deleted at any of
 * them: nodes stop for longer than their lease and go on, or die, and statements on logs and their rows get lost, or come late.
 * In the end every acknowledged write is in the log of its database once, no refused one is; each database has an owner, and as
 * many nodes have it as are to; and these show what the logs say, and the others where it is.
 */
import { expect, it } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { compareText } from '../base/text-order.ts';
import { memoryBackend } from '../log/backend.ts';
import { decodeRecords } from '../log/codec.ts';
import type { LogRecord } from '../log/codec.ts';
import { StatementFailed } from '../log/postgres-connection.ts';
import { openShelfOf } from '../open-shelf.ts';
import type { Engine } from '../operations/engine.ts';
import type { Operation } from '../state/operation.ts';
import { sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { SimulatedStore } from '../testing/simulated-store.ts';

const runs = Number(process.env['NODE_SEEDS'] ?? (process.env['LONG'] === '1' ? 200 : 4));
const names = ['default', 'a', 'b'];
const stepsOfRun = 120;

interface Node {
  readonly engine: Engine;
  stop(): void;
  resume(): void;
}

/** What callers were told. */
interface Told {
  readonly stored: Map<string, string>;
  readonly refused: Set<string>;
  created: number;
  deleted: number;
}

it(`databases of nodes in a store that fails are what their logs say, in ${runs} runs`, async () => {
  const totals = { stored: 0, created: 0, deleted: 0, owners: 0, dead: 0 };
  for (let seed = 1; seed <= runs; seed++) {
    const { told, owners, dead } = await played(seed);
    totals.stored += told.stored.size;
    totals.created += told.created;
    totals.deleted += told.deleted;
    totals.owners += owners;
    totals.dead += dead;
  }
  // The runs reach what they are for.
  expect(Math.min(...Object.values(totals)), JSON.stringify(totals)).toBeGreaterThanOrEqual(runs / 4);
});

it('a look at all logs while the store cannot be asked changes nothing, and is no error', async () => {
  const store = new SimulatedStore(new Prng(1));
  const { engine } = await start(store, '0', 1);
  store.odds = 100;
  await engine.look();
  store.odds = 0;
  expect(engine.node('default')?.role).toBe('owner');
  await engine.close(0);
});

it('a node looks for a database that it does not know before it says that there is none: one look serves all', async () => {
  const store = new SimulatedStore(new Prng(1));
  const nodes = await Promise.all(['0', '1'].map((id) => start(store, id, 1)));
  const [{ engine: one }, { engine: other }] = nodes as [Node, Node];
  await one.createDatabase(caller('a'), 'a');
  await other.confirm('a');
  expect([other.hasDatabase('a'), other.copiesElsewhere('a')]).toEqual([true, ['0']]);
  const before = store.looks;
  await Promise.all(Array.from({ length: 1000 }, (_, at) => other.confirm(`none${at}`)));
  // The nodes look four times a second besides.
  expect(store.looks - before).toBeLessThan(500);
  expect(other.hasDatabase('none0')).toBe(false);
  store.odds = 100;
  await expect(other.confirm('b')).rejects.toMatchObject({ code: 'NoOwner' });
  store.odds = 0;
  await Promise.all(nodes.map(({ engine }) => engine.close(0)));
});

it(`owners are evened out among nodes that go on, in ${Math.ceil(runs / 4)} runs, and then stay`, async () => {
  for (let seed = 1; seed <= Math.ceil(runs / 4); seed++) {
    const prng = new Prng(seed);
    const store = new SimulatedStore(prng);
    const nodes = [await start(store, '0', 3)];
    const all = Array.from({ length: 5 }, (_, at) => `d${at}`);
    const told: Told = { stored: new Map(), refused: new Set(), created: 0, deleted: 0 };
    for (const name of all) await nodes[0]?.engine.createDatabase(caller(name), name);
    nodes.push(...(await Promise.all(['1', '2'].map((id) => start(store, id, 3)))));
    store.odds = prng.pick([0, 3]);
    const owned = (): number[] =>
      ['0', '1', '2'].map(
        (id) => [...store.logs].filter(([name, { server }]) => name !== '' && server.row.owner === id).length,
      );
    const isEven = (): boolean => Math.max(...owned()) < (all.length + 1) / 3 + 2;
    for (let step = 0; !isEven(); step++) {
      expect(step, `seed ${seed}: ${owned().join()}`).toBeLessThan(5000);
      await write(nodes, prng.pick(all), `e${seed}_${step}`, prng, told);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    store.settle();
    store.odds = 0;
    await settled(seed, nodes, store, 3);
    const epochs = (): number[] => Array.from(store.logs.values(), ({ server }) => server.row.epoch);
    const looked = async (): Promise<void> => {
      for (const until = store.looks + 12; store.looks < until; ) await turn();
    };
    // A move may have begun before they were even.
    await looked();
    const before = epochs();
    await looked();
    expect(epochs(), `seed ${seed}`).toEqual(before);
    await hold(seed, nodes, store, told);
    await Promise.all(nodes.map(({ engine }) => engine.close(0)));
  }
});

it('owners with open transactions stay until these end', async () => {
  const store = new SimulatedStore(new Prng(1));
  const { engine } = await start(store, '0', 3);
  const all = ['default', 'd0', 'd1', 'd2'];
  for (const name of all) if (name !== 'default') await engine.createDatabase(caller(name), name);
  const open = await Promise.all(all.map((name) => engine.begin(caller(name))));
  const others = await Promise.all(['1', '2'].map((id) => start(store, id, 3)));
  const owners = (): (string | null)[] => all.map((name) => store.logs.get(name)?.server.row.owner ?? null);
  await settled(1, [{ engine, stop() {}, resume() {} }, ...others], store, 3);
  for (const until = store.looks + 60; store.looks < until; ) await turn();
  expect(owners()).toEqual(['0', '0', '0', '0']);
  for (const [at, { id }] of open.entries()) await engine.rollback(caller(all[at] as string), id);
  // Three and one are even.
  await expect.poll(() => new Set(owners()).size, { timeout: 60_000 }).toBe(2);
  await Promise.all([engine, ...others.map((other) => other.engine)].map((each) => each.close(0)));
});

async function played(seed: number): Promise<{ told: Told; owners: number; dead: number }> {
  const prng = new Prng(seed);
  const store = new SimulatedStore(prng);
  const nodes: Node[] = [];
  const copies = prng.pick([1, 2, 2, 4]);
  nodes.push(...(await Promise.all(['0', '1', '2', '3'].map((id) => start(store, id, copies)))));
  store.odds = prng.pick([0, 3, 10]);
  const told: Told = { stored: new Map(), refused: new Set(), created: 0, deleted: 0 };
  const calls: Promise<void>[] = [];
  const stopped = new Set<number>();
  for (let step = 0; step < stepsOfRun; step++) {
    const at = prng.below(nodes.length);
    const { engine, stop, resume } = nodes[at] as Node;
    const choice = prng.below(20);
    const name = prng.pick(names);
    if (choice < 8) calls.push(write(nodes, name, `s${seed}_${step}`, prng, told));
    else if (choice < 11)
      calls.push(outcomeOf(engine.createDatabase(caller(name), prng.pick(['a', 'b'])), () => told.created++));
    else if (choice < 13) calls.push(remove(nodes, prng.pick(['a', 'b']), told));
    else if (choice === 13 && stopped.size < 1) {
      stop();
      stopped.add(at);
      store.living.delete(String(at));
    } else if (choice === 14 && stopped.delete(at)) {
      resume();
      store.living.add(String(at));
    } else if (choice === 15) store.living.delete(String(at));
    else if (choice === 16 && !stopped.has(at)) store.living.add(String(at));
    else for (let turns = prng.below(8); turns > 0; turns--) await turn();
  }
  // In every other run one stays dead.
  const isDead = seed % 2 === 0;
  if (isDead && stopped.size === 0) {
    nodes[0]?.stop();
    stopped.add(0);
    store.living.delete('0');
  }
  if (!isDead) for (const at of stopped) nodes[at]?.resume();
  for (const at of nodes.keys()) if (!isDead || !stopped.has(at)) store.living.add(String(at));
  const over = Promise.all(calls);
  if (!isDead) await over;
  store.settle();
  store.odds = 0;
  await settled(seed, nodes, store, copies);
  const owners = new Set(Array.from(store.logs.values(), ({ server }) => server.row.owner)).size - 1;
  const dead = isDead ? stopped.size : 0;
  for (const at of stopped) nodes[at]?.resume();
  await over;
  await settled(seed, nodes, store, copies);
  await hold(seed, nodes, store, told);
  await Promise.all(nodes.map(({ engine }) => engine.close(0)));
  return { told, owners, dead };
}

/** Waits until each database has an owner, and is at as many of the living nodes as it is to be at, and nowhere else. */
async function settled(
  seed: number,
  nodes: readonly Node[],
  store: SimulatedStore,
  copies: number,
): Promise<void> {
  const wanted = Math.min(copies, store.living.size);
  const where = () =>
    Array.from(store.logs).flatMap(([name, { server }]) => {
      if (name === '' || server.isEnded) return [];
      const holders = nodes.filter(
        ({ engine }, at) => store.living.has(String(at)) && engine.copiesElsewhere(name) === null,
      );
      const roles = holders.map(({ engine }) => engine.node(name)?.role ?? '').toSorted(compareText);
      return [[name, ...roles]];
    });
  const meant = () =>
    Array.from(store.logs).flatMap(([name, { server }]) =>
      name === '' || server.isEnded
        ? []
        : [[name, ...Array.from({ length: wanted - 1 }, () => 'copy' as const), 'owner']],
    );
  await expect
    .poll(() => JSON.stringify(where()) === JSON.stringify(meant()) || where(), {
      timeout: 60_000,
      message: `seed ${seed}`,
    })
    .toBe(true);
}

/** At the owner, as a node would pass it on; or at any, if none is known. */
function ownerOf(nodes: readonly Node[], name: string, prng: Prng): Engine {
  const owner = nodes.find(({ engine }) => engine.hasDatabase(name) && engine.node(name)?.role === 'owner');
  return (owner ?? prng.pick(nodes)).engine;
}

async function write(
  nodes: readonly Node[],
  name: string,
  mark: string,
  prng: Prng,
  told: Told,
): Promise<void> {
  const { tell } = sessionOf(ownerOf(nodes, name, prng), new ManualClock(startTime), caller(name));
  try {
    await tell(`w(${mark})`);
    told.stored.set(mark, name);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.code !== 'OutcomeUnknown') told.refused.add(mark);
  }
}

async function remove(nodes: readonly Node[], name: string, told: Told): Promise<void> {
  const owner = nodes.find(({ engine }) => engine.hasDatabase(name) && engine.node(name)?.role === 'owner');
  if (owner !== undefined)
    await outcomeOf(owner.engine.deleteDatabase(caller(name), name), () => told.deleted++);
}

async function outcomeOf(call: Promise<unknown>, onDone: () => void): Promise<void> {
  try {
    await call;
    onDone();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

/** Holds what was told, and what the nodes show once they have caught up, against the logs. */
async function hold(seed: number, nodes: readonly Node[], store: SimulatedStore, told: Told): Promise<void> {
  const kept = new Map<string, string[] | null>();
  for (const [name, { server }] of store.logs) {
    if (name === '') continue;
    const frames = [...server.frames.values()].toSorted((one, other) => one.first - other.first);
    const records = frames.flatMap(({ payload }) => [...decodeRecords(payload)]);
    expect(
      records.map(({ sequence }) => sequence),
      `seed ${seed} ${name}`,
    ).toEqual(records.map((_, at) => at + 1));
    const marks = marksOf(records);
    kept.set(name, folded(records));
    for (const [mark, database] of told.stored)
      if (database === name)
        expect(
          marks.filter((each) => each === mark),
          `seed ${seed} ${mark}`,
        ).toHaveLength(1);
    for (const mark of marks) expect(told.refused.has(mark), `seed ${seed} ${mark} was refused`).toBe(false);
  }
  for (const [at, { engine }] of nodes.entries())
    for (const [name, marks] of kept)
      await expect
        .poll(() => shownBy(engine, name, marks), {
          timeout: 60_000,
          message: `seed ${seed} node ${at} ${name}`,
        })
        .toEqual(marks);
}

async function shownBy(engine: Engine, name: string, marks: string[] | null): Promise<string[] | null> {
  try {
    if (!engine.hasDatabase(name)) return null;
    // The nodes that have it show it.
    if (engine.copiesElsewhere(name) !== null) return marks;
    await engine.confirm(name);
    const { results } = sessionOf(engine, new ManualClock(startTime), caller(name));
    return (await results('w(?x)')).toSorted();
  } catch (error) {
    if (error instanceof EngineError) return [error.code];
    throw error;
  }
}

function marksOf(records: readonly LogRecord[]): string[] {
  return records.flatMap(({ operation }) => {
    const { facts = [] } = operation as { facts?: readonly { args: readonly string[] }[] };
    return facts.map(({ args }) => args[0] ?? '');
  });
}

/** The atoms in the end; null: there is no database. */
function folded(records: readonly LogRecord[]): string[] | null {
  let marks: string[] | null = null;
  for (const record of records) {
    const { kind } = record.operation as Operation;
    if (kind === 'createDatabase') marks = [];
    else if (kind === 'deleteDatabase') marks = null;
    else marks?.push(...marksOf([record]).map((mark) => `w(${mark})`));
  }
  return marks?.toSorted() ?? null;
}

const caller = (database: string) => testCaller({ database, tenant: 'tenant' });

async function start(store: SimulatedStore, id: string, copies: number): Promise<Node> {
  let resume = (): void => {};
  let gate = Promise.resolve();
  const options = {
    key: null,
    now: () => startTime,
    random: (bytes: number) => new Uint8Array(bytes),
    onWarn: () => {},
    onAppend: () => {},
    pause: turn,
  };
  const node = store.node(id, () => gate, options);
  const onBug = (error: unknown): void => {
    if (!(error instanceof StatementFailed)) throw error;
  };
  const engine = await openShelfOf(
    node,
    { backend: memoryBackend(), lock: null },
    { clock: new ManualClock(startTime), onBug, copies, awaitedMs: 100, unevenMs: 100 },
  );
  return {
    engine,
    stop: () => {
      gate = new Promise((resolve) => {
        resume = resolve;
      });
    },
    resume: () => resume(),
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
