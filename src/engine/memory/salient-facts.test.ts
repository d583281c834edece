import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { FactToStore } from '../store/fact-store.ts';
import { salientFacts } from './salient-facts.ts';
import { FactWorld } from '../testing/fact-world.ts';
import { day } from '../testing/engine-fixtures.ts';

/** Cases that the random histories of the fuzz rarely reach: blocks of rows of which readers know different amounts. */

function emptyWorld(): FactWorld {
  return new FactWorld(new Prng(1));
}

function fact(name: string, fields: Partial<FactToStore> = {}): FactToStore {
  return { predicate: 'p', args: [name], truthVal: true, scope: null, ...fields };
}

/** Stores the facts in one generation. */
function tell(world: FactWorld, facts: readonly FactToStore[]): void {
  for (const each of facts) world.facts.store(each, world.database.lastGeneration + 1, world.time);
  world.database.advance(world.time, 'request');
}

function tellNames(world: FactWorld, count: number, nameOf: (at: number) => string): void {
  tell(
    world,
    Array.from({ length: count }, (_, at) => fact(nameOf(at))),
  );
}

function use(world: FactWorld, name: string, time = world.time): void {
  const found = world.facts.find('p', [name], true, null);
  if (found === null) throw new Error(`there is no p(${name})`);
  world.uses.note(found, world.database.timeOf(world.facts.assertedIn(found)), time);
}

async function names(context: ReadContext, most: number): Promise<string[]> {
  const found: string[] = [];
  for await (const each of salientFacts(context, { kind: 'all' }, () => true, most)) {
    found.push(context.tenant.facts.argsOf(each.fact)[0] ?? '');
    if (found.length === most) break;
  }
  return found;
}

const padded = (at: number): string => `n${String(at).padStart(6, '0')}`;

test("does not apply a later reader's bounds to a reader of an earlier time", async () => {
  const world = emptyWorld();
  tellNames(world, 2000, padded);
  use(world, padded(1500), world.time);
  const early = world.context();
  world.time += 300 * day;
  tell(world, [fact('newer', { metadata: { confidence: 0.9 } })]);
  expect(await names(world.context(), 2)).toEqual(['newer', padded(1500)]);
  expect(await names(early, 2)).toEqual([padded(1500), padded(0)]);
});

test('shows a reader from before an update the old version with its current uses', async () => {
  const world = emptyWorld();
  tellNames(world, 3000, padded);
  world.time += day;
  const early = world.context();
  await names(early, 2);
  tell(world, [fact(padded(2500), { metadata: { confidence: 0.01 } })]);
  use(world, padded(2500));
  expect(await names(early, 2)).toEqual([padded(2500), padded(0)]);
  expect(await names(world.context(), 2)).toEqual([padded(0), padded(1)]);
});

test('finds a fact that joins a block of equals before the earlier ones', async () => {
  const world = emptyWorld();
  tellNames(world, 2500, (at) => padded(at + 10));
  expect(await names(world.context(), 3)).toEqual([padded(10), padded(11), padded(12)]);
  tell(world, [fact(padded(5)), fact(padded(11_000))]);
  expect(await names(world.context(), 3)).toEqual([padded(5), padded(10), padded(11)]);
});

test('finds a use in a block whose bounds are mostly known', async () => {
  const world = emptyWorld();
  tellNames(world, 5000, padded);
  world.time += day;
  use(world, padded(4000));
  world.time += 30 * day;
  expect(await names(world.context(), 2)).toEqual([padded(4000), padded(0)]);
  use(world, padded(4321), world.time - 1);
  use(world, padded(4000), world.time - 30 * day + 1);
  expect(await names(world.context(), 3)).toEqual([padded(4321), padded(4000), padded(0)]);
});

test('returns a fact that is used meanwhile exactly once', async () => {
  const world = emptyWorld();
  tellNames(world, 2000, padded);
  const found: string[] = [];
  for await (const { fact: each } of salientFacts(world.context(), { kind: 'all' }, () => true, 16)) {
    const name = world.facts.argsOf(each)[0] ?? '';
    found.push(name);
    if (found.length === 10) for (const at of [3, 1999]) use(world, padded(at));
  }
  expect(found).toHaveLength(2000);
  expect(new Set(found).size).toBe(2000);
  expect(found.indexOf(padded(1999))).toBe(16);
});

test('finds all facts of a scope that has few among many', async () => {
  const world = emptyWorld();
  tellNames(world, 5000, padded);
  tell(world, [fact('b', { scope: 's' }), fact('a', { scope: 's' })]);
  world.time += day;
  tellNames(world, 5000, (at) => `later${at}`);
  const found: string[] = [];
  for await (const each of salientFacts(world.context(), { kind: 'scope', scope: 's' }, () => true))
    found.push(world.facts.argsOf(each.fact)[0] ?? '');
  expect(found).toEqual(['a', 'b']);
});
