import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from '../testing/prng.ts';
import { listFactsQuerySchema } from '../contract/facts.ts';
import type { Engine } from '../operations/engine.ts';
import type { Import } from './importing.ts';
import { day, factInput, hour, openSession, startTime, testCaller } from '../testing/engine-fixtures.ts';

const caller = testCaller();

/** A fact as NDJSON has it. */
interface Stated {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly scope?: string;
}

async function exportedFacts(engine: Engine): Promise<Stated[]> {
  let text = '';
  const choice = { scope: null, unscoped: false, predicate: null, rules: false };
  await engine.export(caller, { choice, format: 'ndjson' }, async (part) => void (text += String(part)));
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Stated);
}

const atomsOf = (facts: readonly Stated[]): string[] =>
  facts.map(({ predicate, args, scope }) => `${predicate}(${args.join(', ')})${scope ?? ''}`);

test('undoes what an import updated of its own, and leaves facts of others alone', async () => {
  const { engine } = await openSession();
  await engine.tell(caller, factInput('p(old)'));
  const importing = engine.import(caller, false);
  await importing.assert([factInput('p(old)', { metadata: { importance: 1 } }), factInput('p(new)')]);
  await importing.assert([factInput('p(new)', { metadata: { source: 'again' } })]);
  await importing.end();
  expect(await engine.undoImport(caller, importing.id)).toMatchObject({ retracted: 1, kept: [] });
  expect(atomsOf(await exportedFacts(engine))).toEqual(['p(old)']);
});

test('neither retracts nor keeps a fact whose validity ended since', async () => {
  const { engine, clock } = await openSession();
  const importing = engine.import(caller, false);
  await importing.assert([factInput('p(a)', { ttl: hour }), factInput('p(b)')]);
  clock.advance(hour);
  expect(await engine.undoImport(caller, importing.id)).toMatchObject({ retracted: 1, kept: [] });
});

test('refuses a fact with ifGeneration if it changed since, even in the same import', async () => {
  for (const isDryRun of [false, true]) {
    const { engine } = await openSession();
    const { generation } = await engine.tell(caller, factInput('p(a)'));
    const importing = engine.import(caller, isDryRun);
    const batch = await importing.assert([
      factInput('p(a)', { ifGeneration: generation, metadata: { n: 1 } }),
      factInput('p(a)', { ifGeneration: generation, metadata: { n: 2 } }),
      factInput('p(b)', { validUntil: 5 }),
      factInput('p(b)', { validFrom: 7 }),
    ]);
    expect(batch).toMatchObject({ updated: 1, asserted: 2 });
    expect(batch.refused.map(({ index }) => index)).toEqual([1]);
  }
});

test('exports facts that are valid only later, and no expired ones', async () => {
  const { engine, clock } = await openSession();
  const now = clock.now();
  await engine.tell(caller, factInput('p(later)', { validFrom: now + hour }));
  await engine.tell(caller, factInput('p(ended)', { validUntil: now + hour / 2 }));
  clock.advance(hour / 2);
  expect(await exportedFacts(engine)).toEqual([{ predicate: 'p', args: ['later'], validFrom: now + hour }]);
});

test('counts and refuses in a dry run what the import then does, over random knowledge', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const prng = new Prng(seed);
    const { engine, clock } = await openSession();
    const randomFact = () => {
      const fields: Record<string, unknown> = {};
      if (prng.chance(0.2)) fields['scope'] = 's';
      if (prng.chance(0.2)) fields['validFrom'] = clock.now() + prng.below(10) * hour - 5 * hour;
      if (prng.chance(0.2)) fields['validUntil'] = clock.now() + prng.below(10) * hour - 3 * hour;
      if (prng.chance(0.1)) fields['validUntil'] = 'never';
      if (prng.chance(0.2)) fields['metadata'] = { n: prng.below(2) };
      if (prng.chance(0.1)) fields['ifGeneration'] = prng.below(2);
      return factInput(`${prng.chance(0.2) ? '-' : ''}p(${prng.below(6)})`, fields);
    };
    const batches = (count: number) =>
      Array.from({ length: count }, () => Array.from({ length: 1 + prng.below(12) }, randomFact));
    const fill = engine.import(caller, false);
    for (const batch of batches(3)) await fill.assert(batch);
    clock.advance(prng.below(3) * hour);
    const wanted = batches(3);
    const results: unknown[] = [];
    for (const isDryRun of [true, false]) {
      const before = await exportedFacts(engine);
      const importing: Import = engine.import(caller, isDryRun);
      const outcomes = [];
      for (const batch of wanted) {
        const { refused, ...counts } = await importing.assert(batch);
        outcomes.push({ ...counts, refused: refused.map(({ index }) => index) });
      }
      results.push(outcomes);
      if (isDryRun) expect(await exportedFacts(engine), `seed ${seed}`).toEqual(before);
    }
    expect(results[0], `seed ${seed}`).toEqual(results[1]);
  }
});

test('keeps the import of each fact after a restart, from the log and from a snapshot, and can undo it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'import-'));
  const copy = await mkdtemp(join(tmpdir(), 'import-'));
  onTestFinished(async () => {
    for (const each of [folder, copy]) await rm(each, { recursive: true });
  });
  const first = await openSession({ storageDir: folder, clock: new ManualClock(startTime) });
  const importing = first.engine.import(caller, false);
  const { id } = importing;
  await importing.assert([factInput('p(a)'), factInput('p(b)')]);
  await first.engine.tell(caller, factInput('p(b)', { metadata: { pinned: true } }));
  await cp(folder, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await first.engine.close();
  for (const storageDir of [folder, copy]) {
    const { engine } = await openSession({ storageDir, clock: new ManualClock(startTime) });
    const query = listFactsQuerySchema.parse({});
    const { facts } = await engine.facts(caller, query);
    expect(facts.map(({ importId }) => importId)).toEqual([id, id]);
    expect(await engine.undoImport(caller, id)).toMatchObject({ retracted: 1, kept: ['p(b)'] });
    await expect(engine.undoImport(testCaller({ tenant: 'other' }), id)).rejects.toMatchObject({
      code: 'NotFound',
    });
    await engine.close();
  }
});

test('repeats the answer of an undo with its idempotency key', async () => {
  const { engine } = await openSession();
  const importing = engine.import(caller, false);
  await importing.assert([factInput('p(a)')]);
  const keyed = testCaller({ idempotency: { key: 'k', fingerprint: 'f' } });
  const undone = await engine.undoImport(keyed, importing.id);
  await engine.tell(caller, factInput('p(a)'));
  expect(await engine.undoImport(keyed, importing.id)).toEqual(undone);
});

test('stores the answer of an import under its idempotency key for 24 hours', async () => {
  const { engine, clock } = await openSession();
  const importing = engine.import(caller, false);
  await importing.assert([factInput('p(a)')]);
  const generation = await importing.end();
  await importing.keep({ key: 'k', fingerprint: 'f' }, 'the answer');
  const trying = engine.import(caller, true);
  await trying.end();
  await trying.keep({ key: 'tried', fingerprint: 'f' }, 'the answer');
  await engine.tell(testCaller({ idempotency: { key: 'told', fingerprint: 'g' } }), factInput('p(b)'));
  clock.advance(day - 1);
  expect(engine.keptImport(caller, 'k')).toEqual({ fingerprint: 'f', answer: 'the answer' });
  expect(engine.keptImport(caller, 'told')).toEqual({ fingerprint: 'g', answer: null });
  expect(engine.keptImport(caller, 'tried')).toBeNull();
  expect(engine.keptImport(testCaller({ tenant: 'other' }), 'k')).toBeNull();
  expect(engine.keptImport(testCaller({ credential: 'another' }), 'k')).toBeNull();
  clock.advance(1);
  expect(engine.keptImport(caller, 'k')).toBeNull();
  expect(await engine.undoImport(caller, importing.id)).toMatchObject({ generation: generation + 2 });
});
