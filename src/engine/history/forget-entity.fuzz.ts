/**
 * Forgetting an entity, and nuking another tenant, in random programs with keys, scopes, transactions, imports, decay,
 * snapshots and restarts: at every retained generation the facts about others are what they were, with their ids, versions
 * and metadata, the pages of the history too, and no file has a byte of what was erased.
 */
import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { listFactsQuerySchema } from '../contract/facts.ts';
import { forgetEntitySchema, historyQuerySchema } from '../contract/history.ts';
import { consolidateInputSchema, decayInputSchema } from '../contract/memory.ts';
import { forkInputSchema, mergeInputSchema } from '../contract/scopes.ts';
import { memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import type { OpenedEngine } from '../open-part.ts';
import { EngineError } from '../base/errors.ts';
import {
  day,
  factInput,
  hour,
  retractInput,
  sessionOf,
  type Session,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';
import { overSeeds } from '../testing/twin.ts';

const timeout = 3_600_000;
/** Long enough that no checksum contains it. */
const secret = 'zz-the-secret-name-zz';
/** Of another tenant, which is nuked. */
const otherSecret = 'yy-another-name-yy';
const others = ['a', 'b', 'c'];

interface Listed {
  readonly id: string;
  readonly args: readonly string[];
  readonly [field: string]: unknown;
}

class World {
  readonly clock = new ManualClock(startTime);
  readonly backend = memoryBackend();
  readonly prng: Prng;
  readonly key: string | null;
  opened!: OpenedEngine;
  #requests = 0;
  /** What the tenant that is written to tells of. */
  #name = secret;

  constructor(prng: Prng) {
    this.prng = prng;
    this.key = prng.chance(0.3) ? '1f'.repeat(32) : null;
  }

  async open(): Promise<void> {
    this.opened = await openEngineOn(this.backend, null, {
      clock: this.clock,
      historyDays: 30,
      segmentBytes: 3000,
      snapshotIntervalMs: 2 ** 30,
      encryptionKey: this.key,
      pause: () => Promise.resolve(),
    });
  }

  async restart(): Promise<void> {
    await this.opened.engine.close(this.prng.chance(0.5) ? 10_000 : 0);
    await this.open();
  }

  session(tenant = 'default'): Session {
    const caller = { ...testCaller(), tenant, requestId: `r${++this.#requests}` };
    return sessionOf(this.opened.engine, this.clock, caller);
  }

  get generation(): number {
    return this.opened.state.databases.get('default')?.lastGeneration ?? 0;
  }

  constant(): string {
    return this.prng.chance(0.4) ? `"${this.#name}"` : this.prng.pick(others);
  }

  atom(): string {
    return `p${this.prng.below(3)}(${this.constant()}, ${this.constant()})`;
  }

  fields(): Record<string, unknown> {
    const { prng } = this;
    return {
      ...(prng.chance(0.4) ? { scope: prng.pick(['s', 't']) } : {}),
      ...(prng.chance(0.3) ? { metadata: { source: prng.below(3) } } : {}),
      ...(prng.chance(0.2) ? { ttl: hour } : {}),
    };
  }

  /** One random write; what the engine refuses is none. */
  async write(): Promise<void> {
    const { prng } = this;
    const tenant = prng.chance(0.15) ? 'other' : 'default';
    this.#name = tenant === 'other' ? otherSecret : secret;
    const session = this.session(tenant);
    const { engine, caller } = session;
    try {
      switch (prng.below(13)) {
        case 0:
          await session.forget(this.atom());
          return;
        case 1:
          await session.forgetPattern(`p${prng.below(3)}(?x, ${this.constant()})`);
          return;
        case 2:
          await engine.fork(caller, forkInputSchema.parse({ source: 's', target: prng.pick(['t', 'u']) }));
          return;
        case 3:
          await engine.merge(
            caller,
            mergeInputSchema.parse({
              source: prng.pick(['t', 'u']),
              target: 's',
              strategy: prng.pick(['SOURCE_WINS', 'TARGET_WINS']),
            }),
          );
          return;
        case 4:
          await engine.deleteScope(caller, prng.pick(['t', 'u']));
          return;
        case 5:
          await engine.decay(caller, decayInputSchema.parse({ threshold: 0.9 }));
          return;
        case 6:
          await engine.consolidate(caller, consolidateInputSchema.parse({ minOccurrences: 2 }));
          return;
        case 7:
          await session.teach(`q${prng.below(4)}(?x) :- p${prng.below(3)}(?x, ?_)`);
          return;
        case 8: {
          const { id } = await engine.begin(caller);
          const within = engine.within({ ...caller, transaction: id });
          for (let count = 0; count < 4; count++)
            if (prng.chance(0.6))
              await within.tell({ ...factInput(this.atom(), this.fields()), ifGeneration: null });
            else await within.forget(retractInput(this.atom()));
          await engine.commit(caller, id, false);
          return;
        }
        case 9:
          await engine.addAlias(caller, {
            entity: this.#name,
            alias: `${this.#name}-${prng.below(3)}`,
          });
          return;
        default:
          await session.tellAll([this.atom(), this.atom(), this.atom()], this.fields());
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  /** The facts of the tenant at a generation, by id; null: the history does not go back so far. */
  async factsAt(generation: number): Promise<Map<string, Listed> | null> {
    const { caller } = this.session();
    const moment = { asOf: null, asKnown: { kind: 'generation', generation } } as const;
    const found = new Map<string, Listed>();
    try {
      const query = listFactsQuerySchema.parse({ limit: '1000' });
      const { facts } = await this.opened.engine.facts({ ...caller, moment }, query);
      for (const { salience: _salience, ...fact } of facts as unknown as (Listed & { salience: unknown })[])
        found.set(fact.id, fact);
      return found;
    } catch (error) {
      if (error instanceof EngineError && error.code === 'HistoryGone') return null;
      throw error;
    }
  }

  /** By generation: what it changed, and how many changes it lost. */
  async pages(): Promise<Map<number, { facts: string[]; count: number }>> {
    const found = new Map<number, { facts: string[]; count: number }>();
    for (let cursor: string | null = null; ; ) {
      const query = historyQuerySchema.parse(cursor === null ? { limit: '100' } : { limit: '100', cursor });
      const page = await this.opened.engine.history(this.session().caller, query);
      for (const { generation, added, removed, changed, redacted } of page.generations)
        found.set(generation, {
          facts: [...added.facts, ...removed.facts, ...changed.facts],
          count: added.count + removed.count + changed.count + redacted,
        });
      cursor = page.nextCursor;
      if (cursor === null) return found;
    }
  }

  async filesWith(text: string): Promise<string[]> {
    const names = await this.backend.list();
    return names.filter((name) => Buffer.from(this.backend.contents(name)).includes(text));
  }
}

function isAbout({ args, metadata }: Listed): boolean {
  return JSON.stringify([args, metadata]).includes(secret);
}

test('everything else in the history stays as it was', { timeout }, () =>
  overSeeds({ name: 'forget', few: 1, many: 2000 }, async (seed) => {
    const world = new World(new Prng(seed));
    const { prng } = world;
    await world.open();
    if (prng.chance(0.7))
      await world.opened.engine.declare(world.session().caller, {
        name: 'p1',
        arity: 2,
        ...declarationInputSchema.parse({
          arguments: [{ name: 'who' }, { name: 'what' }],
          key: [prng.pick(['who', 'what'])],
          onConflict: prng.pick(['supersede', 'warn']),
        }),
      });
    for (let round = 0; round < 2; round++) {
      await world.session().tell('p0(a, a)');
      const steps = 12 + prng.below(15);
      for (let step = 0; step < steps; step++) {
        world.clock.advance(prng.pick([1000, hour, day]));
        await world.write();
        if (prng.chance(0.15)) await world.opened.engine.snapshot();
        if (prng.chance(0.1)) await world.restart();
      }
      const last = world.generation;
      const known: (Map<string, Listed> | null)[] = [];
      for (let generation = 0; generation <= last; generation++) known.push(await world.factsAt(generation));
      const pages = await world.pages();
      const { caller } = world.session();
      const input = { tenant: 'default', entity: secret };
      const preview = await world.opened.engine.forgetEntity(
        caller,
        forgetEntitySchema.parse({ ...input, dryRun: true }),
      );
      const isNuked = prng.chance(0.5) && world.opened.state.databases.get('default')?.tenants.has('other');
      if (isNuked) await world.opened.engine.nukeTenant(world.session().caller, 'default', 'other');
      const answer = await world.opened.engine.forgetEntity(
        world.session().caller,
        forgetEntitySchema.parse(input),
      );
      expect({ ...answer, dryRun: true, generation: 0 }).toEqual({ ...preview, generation: 0 });
      expect(await world.filesWith(secret)).toEqual([]);
      if (isNuked) expect(await world.filesWith(otherSecret)).toEqual([]);
      if (prng.chance(0.5)) await world.restart();
      for (let generation = 0; generation <= last; generation++) {
        const before = known[generation];
        const after = await world.factsAt(generation);
        expect(after === null).toBe(before === null);
        if (before === null || before === undefined || after === null) continue;
        const left = [...before.values()].filter((fact) => !isAbout(fact));
        expect([generation, [...after.values()]]).toEqual([generation, left]);
      }
      const afterPages = await world.pages();
      for (const [generation, { facts, count }] of pages) {
        const after = afterPages.get(generation);
        // A fact that one write ended and told again is one change that was erased, and none that is listed.
        expect(after?.count ?? 0).toBeGreaterThanOrEqual(count);
        expect(after?.facts ?? []).toEqual(facts.filter((fact) => !fact.includes(secret)));
      }
    }
    await world.opened.engine.close();
  }),
);
