/**
 * Random writes of facts under declared types and keys (backdated, in bulk, in transactions, retracted, with the clock
 * moving and restarts from the log and from snapshots) beside a naive model: a list of facts with their validity.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { factInputSchema, listFactsQuerySchema, retractInputSchema } from '../contract/facts.ts';
import { violationsQuerySchema } from '../contract/violations.ts';
import { openEngine } from '../open-engine.ts';
import { startTime, testCaller } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';

const runs = process.env['LONG'] === '1' ? 400 : 12;
const steps = 150;
const timeout = 3_600_000;

interface Fact {
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly from: number;
  readonly until: number;
}

interface Wish {
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly validFrom?: number | 'always';
  readonly validUntil?: number | 'never';
}

interface Declared {
  readonly key: readonly number[];
  readonly onConflict: 'warn' | 'supersede' | 'reject';
  readonly check: 'warn' | 'reject';
}

class Refused extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const always = Number.NEGATIVE_INFINITY;
const never = Number.POSITIVE_INFINITY;

/** What section 14 says, fact by fact. The third argument is a digit by its type. */
const maxForks = 3;

class Model {
  facts: Fact[] = [];
  declared: Declared | null = null;

  /** Stored: validity has not ended. */
  stored(now: number): Fact[] {
    return this.facts.filter(({ until }) => until > now);
  }

  /** Stores the wishes in their order, all or none; returns the atoms that were superseded. */
  store(wishes: readonly Wish[], now: number): string[] {
    const before = this.facts;
    const superseded: string[] = [];
    try {
      for (const { validFrom, validUntil } of wishes)
        if (typeof validFrom === 'number' && typeof validUntil === 'number' && validUntil <= validFrom)
          throw new Refused('ValidationException');
      for (const wish of wishes) this.#checkType(wish);
      for (const wish of wishes) superseded.push(...this.#store(wish, now));
      return superseded;
    } catch (error) {
      this.facts = before;
      throw error;
    }
  }

  #checkType({ args }: Wish): void {
    if (this.declared?.check === 'reject' && !/^\d$/.test(args[2] as string))
      throw new Refused('ShapeViolation');
  }

  #store(wish: Wish, now: number): string[] {
    const stored = this.stored(now);
    const same = stored.find((fact) => isSame(fact, wish)) ?? null;
    const given = wish.validFrom === 'always' ? always : wish.validFrom;
    let from = given ?? same?.from ?? always;
    const until = wish.validUntil === 'never' ? never : (wish.validUntil ?? same?.until ?? never);
    if (until <= from) throw new Refused('ValidationException');
    const superseded: string[] = [];
    const { declared } = this;
    const isKeyed =
      declared !== null && declared.onConflict !== 'warn' && declared.key.length > 0 && wish.truthVal;
    const isChanged = same === null || from !== same.from || until !== same.until;
    let { facts } = this;
    if (isKeyed && isChanged) {
      const rivals = stored.filter(
        (fact) =>
          fact !== same &&
          fact.truthVal &&
          fact.scope === wish.scope &&
          declared.key.every((at) => fact.args[at] === wish.args[at]),
      );
      const overlaps = (fact: Fact): boolean => fact.from < until && from < fact.until;
      if (declared.onConflict === 'reject') {
        if (rivals.some(overlaps)) throw new Refused('KeyConflict');
      } else {
        const isNew = same === null && given === undefined;
        if (isNew && until > now) {
          from = now;
          for (const rival of rivals.filter(overlaps)) from = Math.max(from, rival.from);
        }
        if (!isNew || until > now) {
          const found = rivals.filter(overlaps);
          if (found.some((rival) => rival.from > from)) throw new Refused('KeyConflict');
          superseded.push(...found.map(atomOf));
          facts = facts.flatMap((fact) => {
            if (!found.includes(fact)) return [fact];
            return fact.from === from ? [] : [{ ...fact, until: from }];
          });
        }
      }
    }
    const kept = facts.filter((fact) => !isSame(fact, wish));
    const { args, truthVal, scope } = wish;
    this.facts = [...kept, { args, truthVal, scope, from, until }];
    return superseded;
  }

  retract(wish: Wish, now: number): void {
    this.facts = this.facts.filter((fact) => !isSame(fact, wish) || fact.until <= now);
  }

  /** Values of the key with two facts at one instant, and facts of another type. */
  violations(now: number): { key: number; shape: number } {
    const stored = this.stored(now);
    if (this.declared === null) return { key: 0, shape: 0 };
    const { key } = this.declared;
    const groups = new Map<string, Fact[]>();
    for (const fact of stored) {
      const name = JSON.stringify([fact.scope, ...key.map((at) => fact.args[at])]);
      if (fact.truthVal && key.length > 0) groups.set(name, [...(groups.get(name) ?? []), fact]);
    }
    const isDouble = (group: Fact[]): boolean =>
      group.some((one, at) =>
        group.slice(at + 1).some((other) => one.from < other.until && other.from < one.until),
      );
    return {
      key: [...groups.values()].filter(isDouble).length,
      shape: stored.filter(({ args }) => !/^\d$/.test(args[2] as string)).length,
    };
  }
}

function isSame(left: Wish, right: Wish): boolean {
  return (
    left.truthVal === right.truthVal &&
    left.scope === right.scope &&
    left.args.every((text, at) => text === right.args[at])
  );
}

function atomOf({ args, truthVal }: Wish): string {
  return `${truthVal ? '' : '-'}at(${args.join(', ')})`;
}

function listed(fact: Fact): string {
  return JSON.stringify([atomOf(fact), fact.scope, String(fact.from), String(fact.until)]);
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'done';
  } catch (error) {
    if (error instanceof EngineError) return error.code;
    throw error;
  }
}

function modelCode(act: () => void): string {
  try {
    act();
    return 'done';
  } catch (error) {
    if (error instanceof Refused) return error.code;
    throw error;
  }
}

async function run(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const storageDir = await mkdtemp(join(tmpdir(), 'corollary-shape-fuzz-'));
  onTestFinished(() => rm(storageDir, { recursive: true, force: true }));
  const clock = new ManualClock(startTime);
  const open = () => openEngine({ storageDir, clock, fsync: 'never' });
  const caller = testCaller();
  const model = new Model();
  let engine = await open();
  let forks = 0;
  const instant = (): number => clock.now() + (prng.below(9) - 4) * 10;
  const wish = (): Wish => {
    const from = prng.below(5);
    const until = prng.below(5);
    return {
      args: [prng.pick(['a', 'b']), prng.pick(['x', 'y', 'z']), prng.pick(['1', '1', '1', '2', 'no'])],
      truthVal: prng.chance(0.9),
      scope: prng.pick([null, null, 's', ...(forks > 0 ? ['fork 1'] : [])]),
      ...(from === 0 ? { validFrom: instant() } : from === 1 ? { validFrom: 'always' as const } : {}),
      ...(until === 0 ? { validUntil: instant() } : until === 1 ? { validUntil: 'never' as const } : {}),
    };
  };
  const input = (each: Wish, as: 'fact' | 'retraction') =>
    as === 'fact'
      ? { predicate: 'at', ...each }
      : {
          predicate: 'at',
          args: each.args,
          truthVal: each.truthVal,
          ...(each.scope === null ? { unscoped: true } : { scope: each.scope }),
        };
  const factOf = (each: Wish) => factInputSchema.parse(input(each, 'fact'));
  const bulkOf = (each: Wish) => factOf(each);
  for (let step = 0; step < steps; step++) {
    const told = `seed ${seed}, step ${step}`;
    if (prng.chance(0.7)) clock.advance(prng.below(12));
    const now = clock.now();
    const kind = prng.below(23);
    if (kind < 2) {
      const key = prng.pick([[], [0], [0], [0, 1], [1]]);
      const onConflict = prng.pick(['warn', 'supersede', 'supersede', 'supersede', 'reject'] as const);
      const check = prng.pick(['warn', 'warn', 'reject'] as const);
      const names = ['who', 'where', 'level'];
      const declaration = declarationInputSchema.parse({
        arguments: names.map((name) => ({
          name,
          type: name === 'level' ? { oneOf: [...'0123456789'] } : 'entity',
        })),
        key: key.map((at) => names[at]),
        onConflict,
        check,
      });
      await engine.declare(caller, { name: 'at', arity: 3, ...declaration });
      model.declared = { key, onConflict, check };
    } else if (kind === 2 && model.declared !== null && prng.chance(0.3)) {
      await engine.withdraw(caller, { name: 'at', arity: 3 });
      model.declared = null;
    } else if (kind < 10) {
      const one = wish();
      let superseded: string[] = [];
      const code = modelCode(() => {
        superseded = model.store([one], now);
      });
      const telling = engine.tell(caller, factOf(one));
      expect(await codeOf(telling), `${told}: ${JSON.stringify(one)}`).toBe(code);
      if (code === 'done')
        expect(((await telling).superseded ?? []).map(({ atom }) => atom).sort(), told).toEqual(
          superseded.sort(),
        );
    } else if (kind < 13) {
      const some = Array.from({ length: 1 + prng.below(4) }, wish);
      const code = modelCode(() => void model.store(some, now));
      const outcome = await codeOf(engine.tellAll(caller, some.map(bulkOf)));
      // Where several facts are refused, the first reason that is found counts: types, validity, then keys.
      if (code === 'done' || outcome === 'done')
        expect(outcome, `${told}: ${JSON.stringify(some)}`).toBe(code);
    } else if (kind < 15) {
      const one = wish();
      model.retract(one, now);
      await engine.forget(caller, retractInputSchema.parse(input(one, 'retraction')));
    } else if (kind < 18) {
      await transaction(told, now);
    } else if (kind > 20) {
      await importing(told, now);
    } else if (kind === 20) {
      if (forks < maxForks) await fork(now);
    } else if (kind === 18) {
      await engine.close(prng.chance(0.5) ? 0 : undefined);
      engine = await open();
    } else if (prng.chance(0.2)) await engine.snapshot();
    await compare(told);
  }
  await engine.close(0);

  /** A bad line stores nothing and refuses no other; a dry run names the same lines. */
  async function importing(told: string, now: number): Promise<void> {
    const wishes = Array.from({ length: 1 + prng.below(5) }, wish);
    const dry = engine.import(caller, true);
    const { refused: wouldBe } = await dry.assert(wishes.map(bulkOf));
    const refused = wishes.flatMap((each, at) =>
      modelCode(() => void model.store([each], now)) === 'done' ? [] : [at],
    );
    const real = engine.import(caller, false);
    const batch = await real.assert(wishes.map(bulkOf));
    const about = `${told}: ${JSON.stringify(wishes)}`;
    expect(
      batch.refused.map(({ index }) => index),
      about,
    ).toEqual(refused);
    expect(
      wouldBe.map(({ index }) => index),
      `${about}, dry`,
    ).toEqual(refused);
    expect(await real.judged(), about).toBeNull();
    await real.end();
  }

  /** Copies what is stored as it is, doubles too. */
  async function fork(now: number): Promise<void> {
    const copied = model.stored(now).filter(({ scope }) => scope === 's');
    if (copied.length === 0) return;
    const target = `fork ${++forks}`;
    await engine.fork(caller, { source: 's', target });
    model.facts = [...model.facts, ...copied.map((fact) => ({ ...fact, scope: target }))];
  }

  /** Distinct facts, so that what a transaction nets is what it says. */
  async function transaction(told: string, now: number): Promise<void> {
    const { id } = await engine.begin(caller);
    const within = engine.within(testCaller({ transaction: id }));
    const wishes = new Map(
      Array.from({ length: 1 + prng.below(3) }, wish).map((each) => [
        JSON.stringify([each.args, each.truthVal, each.scope]),
        each,
      ]),
    );
    const retracted = prng.chance(0.3) ? wish() : null;
    const before = model.facts;
    const isRetracted = retracted !== null && ![...wishes.values()].some((each) => isSame(each, retracted));
    let outcome = 'done';
    if (isRetracted) await within.forget(retractInputSchema.parse(input(retracted, 'retraction')));
    for (const each of wishes.values()) {
      outcome = await codeOf(within.tell(factOf(each)));
      if (outcome !== 'done') break;
    }
    const code = modelCode(() => {
      if (isRetracted) model.retract(retracted, now);
      model.store([...wishes.values()], now);
    });
    if (code !== 'done') model.facts = before;
    if (outcome === 'done') outcome = await codeOf(engine.commit(caller, id, false));
    if (code === 'done' || outcome === 'done')
      expect(outcome, `${told}: ${JSON.stringify([retracted, ...wishes.values()])}`).toBe(code);
  }

  async function compare(told: string): Promise<void> {
    const { facts } = await engine.facts(
      caller,
      listFactsQuerySchema.parse({ predicate: 'at', limit: '1000' }),
    );
    const visible = facts.map(({ args, truthVal, scope, validFrom, validUntil }) =>
      listed({ args, truthVal, scope, from: validFrom ?? always, until: validUntil ?? never }),
    );
    const now = clock.now();
    const expected = model.stored(now);
    expect(visible.sort(), told).toEqual(expected.map(listed).sort());
    const { total } = await engine.violations(caller, violationsQuerySchema.parse({ kind: 'key' }));
    const { total: misfits } = await engine.violations(
      caller,
      violationsQuerySchema.parse({ kind: 'shape' }),
    );
    expect({ key: total, shape: misfits }, told).toEqual(model.violations(now));
  }
}

test(
  'facts under types and keys are those of a naive model, whatever the writes, restarts and clock',
  async () => {
    const only = Number(process.env['SEED'] ?? 0);
    if (only > 0) return run(only);
    for (let seed = 1; seed <= runs; seed++) await run(seed);
  },
  timeout,
);
