/**
 * Facts that are checked in columns: an import, its dry run and a write of a block have the outcome of the same facts as a
 * list, with validities, types and keys, some of which refuse them.
 */
import { expect, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { listFactsQuerySchema } from '../contract/facts.ts';
import type { ImportedFact } from '../contract/transfer.ts';
import { openEngine } from '../open-engine.ts';
import type { Engine } from '../operations/engine.ts';
import { type FactBlock, FactBlockBuilder } from '../store/fact-block.ts';
import { factInput, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { Prng } from '../testing/prng.ts';

const runs = process.env['LONG'] === '1' ? 1000 : 12;
const timeout = 3_600_000;
const caller = testCaller();
const words = ['a', 'b', 'c', 'oslo', 'bergen', 'é'];

function randomFact(prng: Prng): ImportedFact {
  const time = (): number => startTime + prng.pick([-500, -20, 0, 20, 60, 500, 5000]);
  return {
    ...factInput('p(a)'),
    predicate: prng.pick(['free', 'rejects', 'supersedes', 'other']),
    args: Array.from({ length: prng.chance(0.9) ? 2 : 1 }, () => prng.pick(words)),
    truthVal: prng.chance(0.9),
    scope: prng.pick([null, null, 's']),
    validFrom: prng.chance(0.3) ? prng.pick([time(), time(), 'always' as const]) : null,
    validUntil: prng.chance(0.3) ? prng.pick([time(), time(), 'never' as const]) : null,
    ttl: prng.chance(0.15) ? prng.pick([1, 30, 1000]) : null,
    metadata: prng.chance(0.3)
      ? prng.pick([{}, { source: 'x', confidence: 0.5 }, { note: 'é"\\', 1: [null] }])
      : null,
  };
}

function inColumns(facts: readonly ImportedFact[]): FactBlock {
  const builder = new FactBlockBuilder();
  for (const { predicate, args, truthVal, scope, validFrom, validUntil, ttl, metadata } of facts) {
    builder.add({
      predicate,
      args,
      truthVal,
      scope,
      ...(validFrom === null ? {} : { validFrom }),
      ...(validUntil === null ? {} : { validUntil }),
      ...(metadata === null ? {} : { metadata }),
    });
    if (ttl !== null) builder.giveTtl(ttl);
  }
  return builder.built();
}

async function openDeclared(prng: Prng, clock: ManualClock): Promise<Engine> {
  const engine = await openEngine({ storageDir: null, clock });
  const named = [
    { name: 'person', type: prng.pick(['any', { oneOf: ['a', 'b', 'c', 'é'] }]) },
    { name: 'city' },
  ];
  for (const [name, onConflict] of [
    ['rejects', 'reject'],
    ['supersedes', 'supersede'],
  ] as const) {
    const fields = { arguments: named, key: ['person'], onConflict, check: prng.pick(['reject', 'warn']) };
    await engine.declare(caller, { ...declarationInputSchema.parse(fields), name, arity: 2 });
  }
  return engine;
}

/** What a write did, without what differs between two engines. */
async function outcomeOf(write: Promise<object>): Promise<object> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof EngineError)
      return { code: error.code, message: error.message, members: error.members };
    throw error;
  }
}

async function stored(engine: Engine): Promise<unknown> {
  const query = listFactsQuerySchema.parse({ limit: '1000', sort: 'createdAt' });
  const { facts } = await engine.facts(caller, query);
  return facts.map((fact) => ({ ...fact, importId: fact.importId !== null }));
}

test('facts in columns are stored and refused as the same facts in a list are', { timeout }, async () => {
  const seed = Number(process.env['SEED'] ?? (process.env['LONG'] === '1' ? Date.now() % 1_000_000 : 1));
  for (let at = seed; at < seed + runs; at++) {
    const clock = new ManualClock(startTime);
    const [listed, blocked] = [
      await openDeclared(new Prng(at), clock),
      await openDeclared(new Prng(at), clock),
    ];
    const prng = new Prng(at);
    for (let step = 0; step < 8; step++) {
      clock.advance(prng.pick([0, 10, 100]));
      const told = `seed ${at}, step ${step}`;
      const facts = Array.from({ length: prng.pick([1, 5, 40, 300]) }, () => randomFact(prng));
      if (prng.chance(0.3)) {
        const few = facts.slice(0, 3);
        const expected = await outcomeOf(listed.tellAll(caller, few));
        expect(await outcomeOf(blocked.tellAll(caller, inColumns(few))), told).toEqual(expected);
      } else {
        const isDry = prng.chance(0.3);
        const expected = await outcomeOf(listed.import(caller, isDry).assert(facts));
        expect(await outcomeOf(blocked.import(caller, isDry).assert(inColumns(facts))), told).toEqual(
          expected,
        );
      }
      expect(await stored(blocked), told).toEqual(await stored(listed));
    }
    await Promise.all([listed.close(), blocked.close()]);
  }
});
