import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { apply } from './apply.ts';
import { present } from '../base/assert.ts';
import { diffInputSchema, forkInputSchema, mergeInputSchema } from '../contract/scopes.ts';
import { type Operation, operationVersion } from './operation.ts';
import { State } from './state.ts';
import {
  type Fields,
  hour,
  openSession,
  refusal,
  second,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

/** Recorded bases of forks, and merges by them: contract section 7. */

function withScopes(session: Session) {
  const { engine, caller, list } = session;
  return {
    ...session,
    fork: (source: string | null, target: string | null) =>
      engine.fork(caller, forkInputSchema.parse({ source, target })),
    merge: (source: string | null, target: string | null, fields: Fields = {}) =>
      engine.merge(caller, mergeInputSchema.parse({ source, target, strategy: 'REJECT', ...fields })),
    drop: (name: string) => engine.deleteScope(caller, name),
    scopes: async () => (await engine.scopes(caller)).scopes,
    /** The atoms in a scope, in order. */
    held: async (scope: string | null): Promise<string[]> => {
      const where = scope === null ? { unscoped: 'true' } : { scope };
      const { facts } = await list({ ...where, limit: '1000' });
      return facts
        .map(({ predicate, args, truthVal }) => `${truthVal ? '' : '-'}${predicate}(${args.join(', ')})`)
        .sort();
    },
  };
}

type Scopes = ReturnType<typeof withScopes>;

async function openScopes(options: Parameters<typeof openSession>[0] = {}): Promise<Scopes> {
  return withScopes(await openSession(options));
}

/** Main with three roles, forked to draft; then main lost cy, and draft lost ann. */
async function lostOnBothSides(session: Scopes): Promise<void> {
  for (const who of ['ann', 'bob', 'cy']) await session.tell(`role(${who})`, { scope: 'main' });
  await session.fork('main', 'draft');
  await session.forget('role(cy)', { scope: 'main' });
  await session.forget('role(ann)', { scope: 'draft' });
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-forks-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('keeps facts retracted since on either side of a fork retracted, without naming the base', async () => {
  const session = await openScopes();
  await lostOnBothSides(session);
  const merged = await session.merge('draft', 'main');
  expect(merged).toMatchObject({ base: 'fork', added: 0, deleted: 1, conflicts: [] });
  expect(merged.ancestor).toEqual({ scope: 'main', generation: 4, time: startTime });
  expect(await session.held('main')).toEqual(['role(bob)']);
});

test('merges two-way without a base, also between a fork and its source', async () => {
  const session = await openScopes();
  await lostOnBothSides(session);
  expect(await session.merge('draft', 'main', { base: null })).toMatchObject({
    base: null,
    ancestor: null,
    added: 1,
    deleted: 0,
  });
  expect(await session.held('main')).toEqual(['role(ann)', 'role(bob)', 'role(cy)']);
});

test('keeps the base of a fork over a crash, a snapshot, compaction and a backup', async () => {
  const folder = await temporaryFolder();
  const clock = new ManualClock(startTime);
  const session = await openScopes({ storageDir: folder, clock });
  const metadata = { at: 'fork' };
  await session.tell('kept(a)', { scope: 'main', metadata });
  await lostOnBothSides(session);
  // Enough dead rows for the relation to be compacted more than once.
  for (let round = 0; round < 3; round++) {
    for (let at = 0; at < 300; at++) await session.tell(`role(x${at})`, { scope: 'main' });
    for (let at = 0; at < 300; at++) await session.forget(`role(x${at})`, { scope: 'main' });
  }
  await session.tell('kept(a)', { scope: 'draft', metadata: { at: 'draft' } });
  await session.tell('kept(a)', { scope: 'main', metadata: { at: 'main' } });
  const wanted = {
    base: 'fork',
    added: 0,
    deleted: 1,
    conflicts: [{ predicate: 'kept', fields: ['metadata'] }],
  };
  const tried = (on: Scopes) => on.merge('draft', 'main', { strategy: 'SOURCE_WINS', dryRun: true });
  expect(await tried(session)).toMatchObject(wanted);

  const killed = await temporaryFolder();
  await cp(folder, killed, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  expect(await tried(await openScopes({ storageDir: killed, clock }))).toMatchObject(wanted);

  await session.engine.snapshot();
  const snapshotted = await temporaryFolder();
  await cp(folder, snapshotted, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  const again = await openScopes({ storageDir: snapshotted, clock });
  expect(await tried(again)).toMatchObject(wanted);
  expect(await again.merge('draft', 'main', { strategy: 'SOURCE_WINS' })).toMatchObject(wanted);
  expect(await again.held('main')).toEqual(['kept(a)', 'role(bob)']);
});

test("makes the source's current facts the base of the pair at a merge, both ways", async () => {
  const session = await openScopes();
  const { tell, forget, fork, merge, held, clock } = session;
  await tell('p(a)', { scope: 'main' });
  await fork('main', 'draft');
  clock.advance(second);
  await tell('p(b)', { scope: 'draft' });
  const { generation } = await merge('draft', 'main');
  await forget('p(b)', { scope: 'main' });
  // It was in the pair's base: a fact that main retracted since does not come back.
  const back = await merge('draft', 'main', { dryRun: true });
  expect(back).toMatchObject({ added: 0, ancestor: { scope: 'draft', generation } });
  expect(await merge('main', 'draft')).toMatchObject({ added: 0, deleted: 1 });
  expect(await held('draft')).toEqual(['p(a)']);
});

test('moves the base even at a merge that changes nothing', async () => {
  const { tell, forget, fork, merge, held } = await openScopes();
  await tell('p(a)', { scope: 'main' });
  await fork('main', 'draft');
  await tell('p(b)', { scope: 'main' });
  const { generation } = await tell('p(b)', { scope: 'draft' });
  expect(await merge('draft', 'main')).toMatchObject({ added: 0, generation });
  await forget('p(b)', { scope: 'main' });
  expect(await merge('draft', 'main')).toMatchObject({ added: 0, ancestor: { scope: 'draft', generation } });
  expect(await held('main')).toEqual(['p(a)']);
});

test('gives two forks of one scope its facts at the earlier fork as base, even if the scope is gone', async () => {
  const { tell, forget, fork, merge, held, drop } = await openScopes();
  await tell('p(a)', { scope: 'main' });
  await tell('p(b)', { scope: 'main' });
  const { generation } = await fork('main', 'one');
  await forget('p(a)', { scope: 'main' });
  await tell('p(c)', { scope: 'main' });
  await fork('main', 'two');
  await forget('p(b)', { scope: 'one' });
  await drop('main');
  expect(await merge('two', 'one', { dryRun: true })).toMatchObject({
    base: 'fork',
    ancestor: { scope: 'main', generation },
    added: 1,
    deleted: 1,
  });
  await merge('two', 'one');
  expect(await held('one')).toEqual(['p(c)']);
});

test('has no base without a common fork: asking for it returns 400', async () => {
  const { tell, fork, merge } = await openScopes();
  await tell('p(a)', { scope: 'grandparent' });
  await fork('grandparent', 'parent');
  await fork('parent', 'child');
  expect(await merge('child', 'grandparent', { dryRun: true })).toMatchObject({ base: null, ancestor: null });
  const refused = await refusal(merge('child', 'grandparent', { base: 'fork' }));
  expect(refused.code).toBe('ValidationException');
  expect(refused.members.errors?.[0]?.path).toBe('base');
  // A merge of two scopes without a common fork records no base either.
  await merge('child', 'grandparent');
  expect((await refusal(merge('child', 'grandparent', { base: 'fork' }))).code).toBe('ValidationException');
});

test("ends a scope's ancestry when it is deleted or forked onto", async () => {
  const { tell, forget, fork, merge, drop } = await openScopes();
  const isByFork = async (source: string, target: string): Promise<boolean> =>
    (await merge(source, target, { dryRun: true })).base === 'fork';
  await tell('p(a)', { scope: 'main' });
  await tell('p(a)', { scope: 'other' });
  await fork('main', 'draft');
  expect(await isByFork('draft', 'main')).toBe(true);
  await drop('draft');
  await tell('p(b)', { scope: 'draft' });
  expect(await isByFork('draft', 'main')).toBe(false);
  await drop('draft');
  await fork('main', 'draft');
  await forget('p(a)', { scope: 'draft' });
  expect(await isByFork('draft', 'main')).toBe(true);
  await fork('other', 'draft');
  expect(await isByFork('draft', 'main')).toBe(false);
  expect(await isByFork('draft', 'other')).toBe(true);
  await drop('other');
  await tell('p(a)', { scope: 'other' });
  expect(await isByFork('draft', 'other')).toBe(false);
});

test('does not treat a deleted and recreated scope as the source of its earlier forks, which still share it', async () => {
  const { tell, forget, fork, merge, drop } = await openScopes();
  await tell('p(a)', { scope: 'main' });
  await tell('p(b)', { scope: 'main' });
  const { generation } = await fork('main', 'one');
  await fork('main', 'two');
  await drop('main');
  await tell('p(a)', { scope: 'main' });
  await forget('p(a)', { scope: 'one' });
  await fork('main', 'three');
  const tried = (source: string, target: string) => merge(source, target, { dryRun: true });
  expect(await tried('one', 'main')).toMatchObject({ base: null, added: 1 });
  expect(await tried('one', 'two')).toMatchObject({ ancestor: { scope: 'main', generation }, deleted: 1 });
  expect(await tried('one', 'three')).toMatchObject({ base: null });
  expect(await tried('three', 'main')).toMatchObject({ base: 'fork' });
});

test('keeps a source without any facts as the source of the fork', async () => {
  const { tell, forget, fork, merge, held } = await openScopes();
  await tell('p(a)', { scope: 'main' });
  await tell('p(b)', { scope: 'main' });
  await fork('main', 'draft');
  await forget('p(a)', { scope: 'main' });
  await forget('p(b)', { scope: 'main' });
  await tell('p(c)', { scope: 'draft' });
  expect(await merge('draft', 'main')).toMatchObject({ base: 'fork', added: 1 });
  expect(await held('main')).toEqual(['p(c)']);
});

test('drops facts that have expired since the fork from the base', async () => {
  const { tell, fork, merge, held, clock } = await openScopes();
  const validUntil = startTime + hour;
  await tell('p(a)', { scope: 'main', validUntil });
  await fork('main', 'draft');
  await tell('p(a)', { scope: 'draft', validUntil: 'never' });
  clock.advance(2 * hour);
  expect(await merge('draft', 'main')).toMatchObject({ base: 'fork', added: 1, conflicts: [] });
  expect(await held('main')).toEqual(['p(a)']);
});

test('drops them even if they were changed before they expired', async () => {
  const { tell, forget, fork, merge, held, clock } = await openScopes();
  await tell('p(a)', { scope: 'main', validUntil: startTime + hour });
  await fork('main', 'draft');
  await forget('p(a)', { scope: 'main' });
  await tell('p(a)', { scope: 'draft', validUntil: 'never' });
  expect((await refusal(merge('draft', 'main'))).code).toBe('Conflict');
  clock.advance(2 * hour);
  expect(await merge('draft', 'main')).toMatchObject({ base: 'fork', added: 1, conflicts: [] });
  expect(await held('main')).toEqual(['p(a)']);
});

test('takes over changes on one side since the fork, in either direction of the merge', async () => {
  const { tell, fork, merge, list } = await openScopes();
  const metadataIn = async (scope: string) => {
    const { facts } = await list({ scope });
    return Object.fromEntries(facts.map(({ predicate, metadata }) => [predicate, metadata['by']]));
  };
  for (const predicate of ['p', 'q', 'r'])
    await tell(`${predicate}(a)`, { scope: 'main', metadata: { by: 'fork' } });
  await fork('main', 'draft');
  await tell('p(a)', { scope: 'main', metadata: { by: 'main' } });
  await tell('q(a)', { scope: 'draft', metadata: { by: 'draft' } });
  expect(await merge('draft', 'main', { dryRun: true })).toMatchObject({ updated: 1, conflicts: [] });
  // It moves the base of another pair and leaves this one unchanged.
  await fork('main', 'other');
  await tell('r(a)', { scope: 'other', metadata: { by: 'other' } });
  await merge('other', 'main');
  expect(await merge('draft', 'main')).toMatchObject({ updated: 1, conflicts: [] });
  expect(await metadataIn('main')).toEqual({ p: 'main', q: 'draft', r: 'other' });
  expect(await merge('main', 'draft')).toMatchObject({ updated: 2, conflicts: [] });
  expect(await metadataIn('draft')).toEqual({ p: 'main', q: 'draft', r: 'other' });
});

test('says on request in a diff which side a merge takes of each difference', async () => {
  const session = await openScopes();
  const { tell, merge, engine, caller } = session;
  await lostOnBothSides(session);
  await tell('new(a)', { scope: 'draft' });
  for (const fact of ['s(1)', '-s(1)']) await tell(fact, { scope: 'draft' });
  await tell('s(1)', { scope: 'main' });
  const diff = (fields: Fields) =>
    engine.diff(caller, diffInputSchema.parse({ source: 'draft', target: 'main', ...fields }));
  const asked = await diff({ asMerge: true });
  expect(asked).toMatchObject({
    base: 'fork',
    ancestor: { scope: 'main', generation: 4 },
    added: [
      { predicate: 'new', merge: 'source' },
      { predicate: 'role', args: ['cy'], merge: 'target' },
      { predicate: 's', truthVal: false, merge: 'conflict', opposite: { truthVal: true, scope: 'main' } },
    ],
    removed: [{ predicate: 'role', args: ['ann'], merge: 'source' }],
  });
  expect(await diff({ asMerge: true, base: null })).toMatchObject({
    base: null,
    ancestor: null,
    added: [{ merge: 'source' }, { merge: 'source' }, { merge: 'conflict' }],
    removed: [{ merge: 'target' }],
  });
  // The answer omits what was not asked for.
  const plain = await diff({});
  expect(plain).not.toHaveProperty('base');
  expect(plain.added[0]).not.toHaveProperty('merge');
  expect((await refusal(diff({ base: 'fork' }))).code).toBe('ValidationException');
  expect(await merge('draft', 'main', { strategy: 'TARGET_WINS', dryRun: true })).toMatchObject({
    added: 1,
    deleted: 1,
    kept: 1,
  });
});

test('applies merges logged before opposites were a conflict as before', () => {
  const state = new State();
  const log: readonly Operation[] = [
    { kind: 'createDatabase', name: 'default' },
    {
      kind: 'assert',
      tenant: 'a',
      facts: [
        { predicate: 's', args: ['1'], truthVal: true, scope: 'main' },
        { predicate: 's', args: ['1'], truthVal: true, scope: 'draft' },
        { predicate: 's', args: ['1'], truthVal: false, scope: 'draft' },
      ],
    },
    { kind: 'forkScope', tenant: 'a', source: 'main', target: 'old', withRules: true },
    {
      kind: 'mergeScopes',
      tenant: 'a',
      source: 'draft',
      target: 'main',
      strategy: 'REJECT',
      base: null,
      resolutions: [],
    },
  ];
  const reports = log.map((operation, at) =>
    apply(state, {
      sequence: at + 1,
      time: startTime,
      requestId: 'r',
      actor: null,
      database: 'default',
      generation: 0,
      version: operationVersion,
      operation,
    }),
  );
  expect(reports.at(-1)?.outcome).toMatchObject({ added: 1, generation: 3 });
  const { facts } = present(state.database('default').tenants.get('a'), 'the tenant was written');
  expect(facts.find('s', ['1'], false, 'main')).not.toBeNull();
  // A fork of that time records no base, on any replica.
  expect(facts.mergeBases.baseOf(facts.scopeNumber('main'), facts.scopeNumber('old'))).toBeNull();
});

test('accepts and returns a scope named fork as an object', async () => {
  const { tell, merge } = await openScopes();
  await tell('p(a)', { scope: 'fork' });
  await tell('p(a)', { scope: 'main' });
  await tell('p(b)', { scope: 'draft' });
  const merged = await merge('draft', 'main', { base: { scope: 'fork' } });
  // Draft lacks p(a), which base and target have.
  expect(merged).toMatchObject({ base: { scope: 'fork' }, ancestor: null, added: 1, deleted: 1 });
  expect(await merge('draft', 'main', { base: { scope: 'draft' }, dryRun: true })).toMatchObject({
    base: 'draft',
  });
  expect((await refusal(merge('draft', 'main', { base: 'fork' }))).code).toBe('ValidationException');
});

test('lists scopes with the generation in which they were forked', async () => {
  const { tell, fork, scopes, drop } = await openScopes();
  await tell('p(a)', { scope: 'main' });
  const { generation } = await fork('main', 'draft');
  const forked = async () => (await scopes()).map(({ name, forkedAt }) => [name, forkedAt]);
  expect(await forked()).toEqual([
    ['draft', generation],
    ['main', null],
  ]);
  await drop('draft');
  await tell('p(a)', { scope: 'draft' });
  expect(await forked()).toEqual([
    ['draft', null],
    ['main', null],
  ]);
});

const strategies = ['SOURCE_WINS', 'TARGET_WINS', 'KEEP_BOTH', 'REJECT'] as const;

for (const [title, { source, target, base, after }] of Object.entries({
  'one against the other': {
    source: ['s(1)'],
    target: ['-s(1)'],
    base: null,
    after: { SOURCE_WINS: ['s(1)'], TARGET_WINS: ['-s(1)'], KEEP_BOTH: ['-s(1)', 's(1)'] },
  },
  'where source holds both': {
    source: ['s(1)', '-s(1)'],
    target: ['-s(1)'],
    base: null,
    after: { SOURCE_WINS: ['-s(1)', 's(1)'], TARGET_WINS: ['-s(1)'], KEEP_BOTH: ['-s(1)', 's(1)'] },
  },
  'told on both sides of a fork': {
    source: ['s(1)'],
    target: ['-s(1)'],
    base: [],
    after: { SOURCE_WINS: ['s(1)'], TARGET_WINS: ['-s(1)'], KEEP_BOTH: ['-s(1)', 's(1)'] },
  },
  'told in the fork beside what both have': {
    source: ['s(1)', '-s(1)'],
    target: ['s(1)'],
    base: ['s(1)'],
    after: { SOURCE_WINS: ['-s(1)', 's(1)'], TARGET_WINS: ['s(1)'], KEEP_BOTH: ['-s(1)', 's(1)'] },
  },
  'where both came from both, and each kept another': {
    source: ['s(1)'],
    target: ['-s(1)'],
    base: ['s(1)', '-s(1)'],
    after: { SOURCE_WINS: ['s(1)'], TARGET_WINS: ['-s(1)'], KEEP_BOTH: ['-s(1)', 's(1)'] },
  },
}))
  for (const strategy of strategies)
    test(`treats opposites as a conflict, ${title}: ${strategy}`, async () => {
      const { tell, forget, fork, merge, held } = await openScopes();
      await tell('other(a)', { scope: 'main' });
      for (const fact of base ?? []) await tell(fact, { scope: 'main' });
      if (base !== null) await fork('main', 'draft');
      const become = async (scope: string, facts: readonly string[]): Promise<void> => {
        for (const fact of base ?? []) if (!facts.includes(fact)) await forget(fact, { scope });
        for (const fact of facts) await tell(fact, { scope });
      };
      await become('draft', source);
      await become('main', target);
      const before = await held('main');
      if (strategy === 'REJECT') {
        const refused = await refusal(merge('draft', 'main'));
        expect(refused.code).toBe('Conflict');
        expect(refused.members['conflicts']).toMatchObject([{ predicate: 's', fields: ['truthVal'] }]);
        expect(await held('main')).toEqual(before);
        return;
      }
      const merged = await merge('draft', 'main', { strategy });
      expect(merged.conflicts).toMatchObject([
        { predicate: 's', source: { scope: 'draft' }, target: { scope: 'main' }, fields: ['truthVal'] },
      ]);
      expect(await held('main')).toEqual([...after[strategy], 'other(a)'].sort());
    });

test('treats a reversed fact in a fork as no conflict if the other side left it unchanged', async () => {
  const { tell, forget, fork, merge, held } = await openScopes();
  await tell('s(1)', { scope: 'main' });
  await fork('main', 'draft');
  await forget('s(1)', { scope: 'draft' });
  await tell('-s(1)', { scope: 'draft' });
  expect(await merge('draft', 'main')).toMatchObject({ conflicts: [], updated: 1 });
  expect(await held('main')).toEqual(['-s(1)']);
});
