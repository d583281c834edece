/**
 * The history of random programs against a naive model: the listing of everything stored after each write. What a
 * generation changed is the difference of two listings; a revert gives back the listing before its range, or names what
 * later generations touched; reverting the revert gives back the listing before it. The engine takes snapshots and is
 * opened anew in between, and the clock goes on for days.
 */
import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { historyQuerySchema, type History, revertInputSchema } from '../contract/history.ts';
import { memoryBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import type { OpenedEngine } from '../open-part.ts';
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

/** Everything stored of the tenant, by atom and scope: validity and metadata. */
type Listing = ReadonlyMap<string, { readonly atom: string; readonly version: string }>;

interface Step {
  readonly generation: number;
  readonly before: Listing;
  readonly after: Listing;
}

class World {
  readonly clock = new ManualClock(startTime);
  readonly backend = memoryBackend();
  readonly prng: Prng;
  #opened: OpenedEngine | null = null;
  session!: Session;

  constructor(prng: Prng) {
    this.prng = prng;
  }

  async open(): Promise<void> {
    await this.close();
    this.#opened = await openEngineOn(this.backend, null, {
      clock: this.clock,
      historyDays: 30,
      segmentBytes: 3000,
      snapshotIntervalMs: 2 ** 30,
      pause: () => Promise.resolve(),
    });
    this.session = sessionOf(this.#opened.engine, this.clock, testCaller());
  }

  async close(): Promise<void> {
    await this.#opened?.engine.close();
    this.#opened = null;
  }

  async listing(): Promise<Listing> {
    const listed = new Map<string, { atom: string; version: string }>();
    const { tenants } = this.#opened?.state.databases.get('default') ?? { tenants: new Map() };
    const facts = tenants.get(this.session.caller.tenant)?.facts;
    const now = this.clock.now();
    for (const relation of facts?.relations.values() ?? [])
      for (let row = 0; row < relation.count; row++) {
        if (!relation.isAlive(row)) continue;
        const { from, until } = relation.boundsOf(row);
        if (until <= now) continue;
        const { predicate, args, truthVal, scope } = facts.identityOf({ relation, row });
        const atom = `${truthVal ? '' : '-'}${predicate}(${args.join(', ')})`;
        const version = JSON.stringify([from, until, facts.metadataOf({ relation, row })]);
        listed.set(`${atom} ${scope}`, { atom, version });
      }
    return listed;
  }

  get generation(): number {
    return this.#opened?.state.databases.get('default')?.lastGeneration ?? 0;
  }

  atom(): string {
    const { prng } = this;
    return `${prng.chance(0.1) ? '-' : ''}p${prng.below(2)}(${prng.pick(['a', 'b', 'c'])}, ${prng.pick(['a', 'b', 'c', 'd'])})`;
  }

  fields(): Record<string, unknown> {
    const { prng } = this;
    return {
      ...(prng.chance(0.3) ? { scope: 's' } : {}),
      ...(prng.chance(0.3) ? { metadata: { source: prng.below(3) } } : {}),
      ...(prng.chance(0.2) ? { validFrom: startTime + prng.below(5) * day } : {}),
      ...(prng.chance(0.1) ? { validUntil: 'never' } : {}),
    };
  }

  /** One random write of the tenant. */
  async write(): Promise<void> {
    const { prng, session } = this;
    const { engine, caller } = session;
    switch (prng.below(8)) {
      case 0:
      case 1:
      case 2:
        await session.tell(this.atom(), this.fields());
        return;
      case 3:
        await session.tellAll([this.atom(), this.atom(), this.atom()], this.fields());
        return;
      case 4:
        await session.forget(this.atom().replace('-', ''));
        return;
      case 5:
        await session.forgetPattern(`p${prng.below(2)}(${prng.pick(['a', 'b'])}, ?x)`);
        return;
      case 6: {
        const { id } = await engine.begin(caller);
        const within = engine.within({ ...caller, transaction: id });
        for (let count = 0; count < 4; count++)
          if (prng.chance(0.6))
            await within.tell({ ...factInput(this.atom(), this.fields()), ifGeneration: null });
          else await within.forget(retractInput(this.atom().replace('-', '')));
        await engine.commit(caller, id, false);
        return;
      }
      default:
        await session.as({ tenant: 'other' }).tell(`secret(${prng.below(9)})`);
    }
  }
}

function changes({
  before,
  after,
}: Pick<Step, 'before' | 'after'>): Record<'added' | 'removed' | 'changed', string[]> {
  const sorted = (keys: string[], of: Listing): string[] => keys.map((key) => of.get(key)?.atom ?? '').sort();
  const added = [...after.keys()].filter((key) => !before.has(key));
  const removed = [...before.keys()].filter((key) => !after.has(key));
  const changed = [...after.keys()].filter(
    (key) => before.has(key) && before.get(key)?.version !== after.get(key)?.version,
  );
  return { added: sorted(added, after), removed: sorted(removed, before), changed: sorted(changed, after) };
}

function keysChanged(step: Pick<Step, 'before' | 'after'>): string[] {
  const { before, after } = step;
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => before.get(key)?.version !== after.get(key)?.version,
  );
}

async function wholeHistory(
  { session: { engine, caller } }: World,
  limit: number,
): Promise<History['generations']> {
  const found: History['generations'] = [];
  let cursor: string | undefined;
  for (;;) {
    const query = historyQuerySchema.parse({
      limit: `${limit}`,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const page = await engine.history(caller, query);
    expect(page.generations.length).toBeLessThanOrEqual(limit);
    found.push(...page.generations);
    if (page.nextCursor === null) return found;
    cursor = page.nextCursor;
  }
}

test('every generation lists what it changed, and a revert gives back what was before', {
  timeout,
}, async () => {
  await overSeeds({ name: 'history', few: 25, many: 3000 }, async (seed) => {
    const world = new World(new Prng(seed));
    await world.open();
    const steps: Step[] = [];
    const record = async (write: () => Promise<unknown>): Promise<void> => {
      const [before, generation] = [await world.listing(), world.generation];
      await write();
      if (world.generation > generation)
        steps.push({ generation: world.generation, before, after: await world.listing() });
    };
    for (let count = 0; count < 30; count++) {
      await record(() => world.write());
      if (world.prng.chance(0.15)) await world.session.engine.snapshot();
      if (world.prng.chance(0.1)) await world.open();
      if (world.prng.chance(0.3)) world.clock.advance(world.prng.below(8) * hour);
      if (steps.length === 0 || !world.prng.chance(0.25)) continue;
      await revertSome(world, steps, record);
    }
    const listed = await wholeHistory(world, 1 + world.prng.below(7));
    const expected = steps.filter((step) => keysChanged(step).length > 0).toReversed();
    expect(
      listed.map(({ generation, added, removed, changed }) => ({
        generation,
        added: added.facts.toSorted(),
        removed: removed.facts.toSorted(),
        changed: changed.facts.toSorted(),
      })),
    ).toEqual(expected.map((step) => ({ generation: step.generation, ...changes(step) })));
    expect(JSON.stringify(listed)).not.toContain('secret');
    await world.close();
  });
});

async function revertSome(
  world: World,
  steps: readonly Step[],
  record: (write: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const { prng } = world;
  const { engine, caller } = world.session;
  const first = prng.below(steps.length);
  const last = first + prng.below(steps.length - first);
  const [begin, end] = [steps[first] as Step, steps[last] as Step];
  const range = revertInputSchema.parse({ from: begin.generation - 1, to: end.generation });
  const inRange = new Set(steps.slice(first, last + 1).flatMap(keysChanged));
  const touched = new Set(
    steps
      .slice(last + 1)
      .flatMap(keysChanged)
      .filter((key) => inRange.has(key)),
  );
  const present = await world.listing();
  const tried = engine.revert(caller, { ...range, dryRun: true });
  if (touched.size > 0) {
    await expect(tried).rejects.toMatchObject({
      code: 'Conflict',
      members: { touched: { length: touched.size } },
    });
    await expect(engine.revert(caller, range)).rejects.toMatchObject({ code: 'Conflict' });
    expect(await world.listing()).toEqual(present);
    return;
  }
  const { dryRun, generation: _at, ...preview } = await tried;
  expect(dryRun).toBe(true);
  expect(await world.listing()).toEqual(present);
  let made = 0;
  await record(async () => {
    const { generation, ...done } = await engine.revert(caller, range);
    expect(done).toEqual(preview);
    made = done.status === 'reverted' ? generation : 0;
  });
  const wanted = new Map(present);
  for (const key of inRange) {
    const before = begin.before.get(key) ?? null;
    const old =
      steps
        .slice(first)
        .find((step) => keysChanged(step).includes(key))
        ?.before.get(key) ?? before;
    if (old === null || isOver(old.version, world.clock.now())) wanted.delete(key);
    else wanted.set(key, old);
  }
  expect(await world.listing()).toEqual(
    new Map([...wanted].filter(([, { version }]) => !isOver(version, world.clock.now()))),
  );
  if (made === 0 || !prng.chance(0.5)) return;
  await record(() => engine.revert(caller, revertInputSchema.parse({ generation: made })));
  expect(await world.listing()).toEqual(present);
}

function isOver(version: string, now: number): boolean {
  const [, until] = JSON.parse(version) as [unknown, number | null];
  return until !== null && until <= now;
}
