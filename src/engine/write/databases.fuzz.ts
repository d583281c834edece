import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { Prng } from '../testing/prng.ts';
import { listFactsQuerySchema } from '../contract/facts.ts';
import type { Engine } from '../operations/engine.ts';
import { idempotencyWindowMs } from '../state/idempotency.ts';
import { openEngine } from '../open-engine.ts';
import {
  factInput,
  hour,
  retractPatternInput,
  ruleInput,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';
import { overSeeds } from '../testing/twin.ts';

/**
 * Databases and tenants that are created, written, nuked and deleted, against a model of maps; every write with an
 * idempotency key, many of them sent again, with restarts in between: each takes effect once.
 */

interface ModelTenant {
  readonly createdAt: number;
  /** When the validity of each fact ends. */
  readonly facts: Map<string, number>;
}

interface ModelDatabase {
  readonly createdAt: number;
  generation: number;
  readonly tenants: Map<string, ModelTenant>;
  readonly rules: Map<string, string>;
}

class Model {
  readonly databases = new Map<string, ModelDatabase>();
  readonly gone = new Map<string, number>();
  time = startTime;

  constructor() {
    this.create('default');
  }

  create(name: string): void {
    const generation = this.gone.get(name) ?? 0;
    this.databases.set(name, { createdAt: this.time, generation, tenants: new Map(), rules: new Map() });
  }

  database(name: string): ModelDatabase {
    const database = this.databases.get(name);
    if (database === undefined) throw new EngineError('DatabaseNotFound', name);
    return database;
  }

  tenant(database: string, name: string): ModelTenant {
    const tenant = this.database(database).tenants.get(name);
    if (tenant === undefined) throw new EngineError('TenantNotFound', name);
    return tenant;
  }

  newTenant(): ModelTenant {
    return { createdAt: this.time, facts: new Map() };
  }

  isStored(tenant: ModelTenant, atom: string): boolean {
    return (tenant.facts.get(atom) ?? 0) > this.time;
  }

  count(tenant: ModelTenant): number {
    return [...tenant.facts.keys()].filter((atom) => this.isStored(tenant, atom)).length;
  }

  countAll({ tenants }: ModelDatabase): number {
    return [...tenants.values()].reduce((sum, tenant) => sum + this.count(tenant), 0);
  }
}

interface Wish {
  /** Its content, so that another operation with the same content is the same request. */
  readonly words: string;
  readonly database: string;
  readonly tenant: string;
  readonly send: (engine: Engine, caller: Caller) => Promise<object>;
  /** The expected answer, changing the model; throws the expected refusal. */
  readonly expect: (model: Model) => object;
}

type Part = Pick<Wish, 'send' | 'expect'> & { readonly what: string };

const databases = ['default', 'one', 'two'];
const tenants = ['t', 'u'];

function randomWish(prng: Prng): Wish {
  const database = prng.pick(databases);
  const tenant = prng.pick(tenants);
  const name = prng.pick(databases);
  const atom = `p${prng.below(2)}(${prng.pick(['a', 'b', 'c'])})`;
  const wishes: (() => Part)[] = [
    () => told(prng, database, tenant, atom),
    () => told(prng, database, tenant, atom),
    () => retracted(prng, database, tenant),
    () => taught(prng, database),
    () => forgotten(prng, database),
    () => created(name),
    () => createdTenant(name, tenant),
    () => cleared(prng.pick(['deleteTenant', 'nukeTenant']), name, tenant),
    () => cleared(prng.pick(['deleteDatabase', 'nukeDatabase']), name, tenant),
  ];
  const { what, ...rest } = prng.pick(wishes)();
  return { words: `${what} ${database} ${tenant}`, database, tenant, ...rest };
}

function told(prng: Prng, database: string, tenant: string, atom: string): Part {
  const ttl = prng.chance(0.3) ? 1 + prng.below(20) : null;
  return {
    what: `tell ${atom} ${ttl}`,
    send: (engine, caller) => engine.tell(caller, factInput(atom, ttl === null ? {} : { ttl })),
    expect: (model) => {
      const state = model.database(database);
      const kept = state.tenants.get(tenant) ?? model.newTenant();
      const until = model.isStored(kept, atom) ? (kept.facts.get(atom) as number) : null;
      const wanted = ttl === null ? (until ?? Number.POSITIVE_INFINITY) : model.time + ttl;
      const status = until === null ? 'asserted' : until === wanted ? 'unchanged' : 'updated';
      kept.facts.set(atom, wanted);
      state.tenants.set(tenant, kept);
      if (status !== 'unchanged') state.generation++;
      return { status, atom, generation: state.generation };
    },
  };
}

function retracted(prng: Prng, database: string, tenant: string): Part {
  const predicate = `p${prng.below(2)}`;
  return {
    what: `retract ${predicate}`,
    send: (engine, caller) => engine.forgetPattern(caller, retractPatternInput(`${predicate}(?x)`)),
    expect: (model) => {
      const state = model.database(database);
      const facts = state.tenants.get(tenant);
      const gone = [...(facts?.facts.keys() ?? [])].filter(
        (atom) => atom.startsWith(predicate) && facts !== undefined && model.isStored(facts, atom),
      );
      for (const atom of gone) facts?.facts.delete(atom);
      if (gone.length > 0) state.generation++;
      const status = gone.length > 0 ? 'retracted' : 'absent';
      return { status, retracted: gone.length, generation: state.generation };
    },
  };
}

function taught(prng: Prng, database: string): Part {
  const text = `q(?x) :- p${prng.below(3)}(?x)`;
  return {
    what: `teach ${text}`,
    send: (engine, caller) => engine.teach(caller, ruleInput({ text })),
    expect: (model) => {
      const state = model.database(database);
      const same = [...state.rules].find(([, rule]) => rule === text)?.[0];
      if (same !== undefined)
        return { status: 'unchanged', id: same, rule: text, generation: state.generation };
      const id = `r${++state.generation}`;
      state.rules.set(id, text);
      return {
        status: 'asserted',
        id,
        rule: text,
        etag: `"${id}-${state.generation}"`,
        generation: state.generation,
      };
    },
  };
}

function forgotten(prng: Prng, database: string): Part {
  const id = `r${1 + prng.below(8)}`;
  return {
    what: `forget ${id}`,
    send: (engine, caller) => engine.forgetRule(caller, id),
    expect: (model) => {
      const state = model.database(database);
      if (!state.rules.delete(id)) throw new EngineError('RuleNotFound', id);
      return { status: 'retracted', generation: ++state.generation };
    },
  };
}

function created(name: string): Part {
  return {
    what: `create ${name}`,
    send: (engine, caller) => engine.createDatabase(caller, name),
    expect: (model) => {
      if (model.databases.has(name)) throw new EngineError('Conflict', name);
      model.create(name);
      return { name, createdAt: model.time };
    },
  };
}

function createdTenant(name: string, tenant: string): Part {
  return {
    what: `create tenant ${name} ${tenant}`,
    send: (engine, caller) => engine.createTenant(caller, name, tenant),
    expect: (model) => {
      const state = model.database(name);
      if (state.tenants.has(tenant)) throw new EngineError('Conflict', tenant);
      state.tenants.set(tenant, model.newTenant());
      return { name: tenant, createdAt: model.time };
    },
  };
}

function cleared(
  kind: 'deleteTenant' | 'nukeTenant' | 'deleteDatabase' | 'nukeDatabase',
  name: string,
  tenant: string,
): Part {
  const isOfTenant = kind === 'deleteTenant' || kind === 'nukeTenant';
  return {
    what: `${kind} ${name} ${tenant}`,
    send: (engine, caller) => (isOfTenant ? engine[kind](caller, name, tenant) : engine[kind](caller, name)),
    expect: (model) => {
      const state = model.database(name);
      if (isOfTenant) {
        const kept = model.tenant(name, tenant);
        const facts = model.count(kept);
        if (facts > 0) state.generation++;
        kept.facts.clear();
        if (kind === 'deleteTenant') state.tenants.delete(tenant);
        return {
          status: kind === 'deleteTenant' ? 'deleted' : 'nuked',
          facts,
          rules: 0,
          generation: state.generation,
        };
      }
      if (kind === 'deleteDatabase' && name === 'default') throw new EngineError('Conflict', name);
      const facts = model.countAll(state);
      const rules = state.rules.size;
      if (kind === 'deleteDatabase') {
        model.databases.delete(name);
        model.gone.set(name, state.generation + 1);
        return { name, status: 'deleted', facts, rules };
      }
      if (facts + rules > 0) state.generation++;
      for (const { facts: kept } of state.tenants.values()) kept.clear();
      state.rules.clear();
      return { status: 'nuked', facts, rules, generation: state.generation };
    },
  };
}

/** A write that was made with a key, its time and its outcome. */
interface Made {
  readonly wish: Wish;
  readonly key: string;
  readonly time: number;
  readonly answer: object;
}

const sortedBy = <Item>(items: Item[], nameOf: (item: Item) => string): Item[] =>
  items.sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));

/** All lists of the engine and of the model are equal. */
async function expectAlike(engine: Engine, model: Model): Promise<void> {
  const caller = testCaller();
  const wanted = [...model.databases].map(([name, state]) => ({
    name,
    createdAt: state.createdAt,
    tenants: state.tenants.size,
    facts: model.countAll(state),
    rules: state.rules.size,
  }));
  const { databases: listed } = await engine.databases(caller);
  expect(listed).toEqual(sortedBy(wanted, ({ name }) => name));
  for (const [database, state] of model.databases) {
    const tenantsWanted = [...state.tenants].map(([name, tenant]) => ({
      name,
      createdAt: tenant.createdAt,
      facts: model.count(tenant),
    }));
    expect((await engine.tenants(caller, database)).tenants).toEqual(
      sortedBy(tenantsWanted, ({ name }) => name),
    );
    const rules = await engine.rules({ ...caller, database });
    expect(rules.map(({ id, text }) => [id, text])).toEqual([...state.rules]);
    for (const tenant of tenants) {
      const query = listFactsQuerySchema.parse({ limit: '1000' });
      const { facts } = await engine.facts({ ...caller, database, tenant }, query);
      const kept = state.tenants.get(tenant);
      const atoms = [...(kept?.facts.keys() ?? [])].filter(
        (atom) => kept !== undefined && model.isStored(kept, atom),
      );
      expect(facts.map(({ predicate, args }) => `${predicate}(${args.join(', ')})`).sort()).toEqual(
        atoms.sort(),
      );
    }
  }
}

/** The answer, or the code of the refusal. */
async function outcomeOf(call: () => object | Promise<object>): Promise<object | string> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof EngineError) return error.code;
    throw error;
  }
}

/** Sends the operation with the key, and expects what the model says: the earlier answer if the key is remembered. */
async function sendWish(
  engine: Engine,
  model: Model,
  wish: Wish,
  key: string,
  made: Map<string, Made>,
  ids: Set<string>,
): Promise<void> {
  const place = JSON.stringify([wish.database, wish.tenant, key]);
  const { database, tenant, words } = wish;
  const caller = testCaller({ database, tenant, idempotency: { key, fingerprint: words } });
  const before = made.get(place);
  const isRemembered = before !== undefined && model.time - before.time < idempotencyWindowMs;
  const wanted = await outcomeOf(() => {
    if (!isRemembered) return wish.expect(model);
    if (before.wish.words === words) return before.answer;
    throw new EngineError('IdempotencyMismatch', key);
  });
  const got = await outcomeOf(() => wish.send(engine, caller));
  if (typeof wanted === 'string') return expect(got, words).toBe(wanted);
  expect(got, `${words} with ${key}`).toMatchObject(wanted);
  if (isRemembered) return;
  const {
    dependents: _,
    dependentsCount: _count,
    dependentsComplete: _complete,
    // Depends on the time, and is not stored with the outcome of a write.
    hints: _hints,
    ...answer
  } = got as Record<string, unknown>;
  if (answer['status'] === 'asserted') {
    const id = `${database} ${String(answer['id'])}`;
    expect(ids.has(id), `${id} was assigned before`).toBe(false);
    ids.add(id);
  }
  // The same key is one of the youngest again.
  made.delete(place);
  made.set(place, { wish, key, time: model.time, answer });
}

async function runCase(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const storageDir = await mkdtemp(join(tmpdir(), 'corollary-databases-fuzz-'));
  const clock = new ManualClock(startTime);
  const onBug = (error: unknown): void => {
    throw error;
  };
  const open = (): Promise<Engine> => openEngine({ storageDir, clock, fsync: 'never', onBug });
  let engine = await open();
  const model = new Model();
  const made = new Map<string, Made>();
  const ids = new Set<string>();
  try {
    for (let step = 0; step < 60; step++) {
      if (prng.chance(0.4)) model.time += prng.chance(0.1) ? 13 * hour : prng.below(15);
      clock.set(model.time);
      if (prng.chance(0.08)) {
        await engine.close();
        engine = await open();
      }
      const earlier = [...made.values()];
      const again = earlier.length > 0 && prng.chance(0.3) ? prng.pick(earlier) : null;
      if (again !== null) await sendWish(engine, model, again.wish, again.key, made, ids);
      else {
        const key = prng.chance(0.1) && earlier.length > 0 ? prng.pick(earlier).key : `key-${step}`;
        await sendWish(engine, model, randomWish(prng), key, made, ids);
      }
      await expectAlike(engine, model);
    }
  } finally {
    await engine.close();
    await rm(storageDir, { recursive: true, force: true });
  }
}

test('applies every write once, however often it is sent, and lists the current state', async () => {
  await overSeeds({ name: 'databases', few: 12, many: 1000 }, runCase);
});
