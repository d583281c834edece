import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { MemoryReading } from '../commit/high-water-mark.ts';
import { traceInputSchema } from '../contract/explanation.ts';
import { noQuota, type Quota, type QuotaState } from '../contract/quotas.ts';
import { forkInputSchema, mergeInputSchema } from '../contract/scopes.ts';
import {
  factInput,
  hour,
  openSession,
  refusal,
  retractInput,
  ruleInput,
  type Session,
  testCaller,
} from '../testing/engine-fixtures.ts';
import { FactBlockBuilder } from '../store/fact-block.ts';
import { consolidateIn, decayIn, restoreIn, storedAtoms, summaryId } from '../testing/memory-calls.ts';

/** Quotas of databases and tenants, and the mark of memory: contract section 16. */

function limit({ engine, caller }: Session, quota: Partial<Quota>, tenant: string | null = caller.tenant) {
  return engine.setQuota(caller, caller.database, tenant, { ...noQuota, ...quota });
}

function quotaOf({ engine, caller }: Session, tenant: string | null = caller.tenant): Promise<QuotaState> {
  return engine.quota(caller, caller.database, tenant);
}

async function limited(quota: Partial<Quota>, options: Parameters<typeof openSession>[0] = {}) {
  const session = await openSession(options);
  await limit(session, quota);
  return session;
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-quotas-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The codes of the refusals; null for each that succeeded. */
async function codesOf(calls: readonly Promise<unknown>[]): Promise<(string | null)[]> {
  return Promise.all(
    calls.map((call) =>
      call.then(
        () => null,
        async (error: unknown) => (await refusal(Promise.reject(error))).code,
      ),
    ),
  );
}

test('refuses facts over the quota with 507 and says whose it is and how much is in use', async () => {
  const { tell, ...session } = await limited({ facts: 2 });
  await tell('p(a)');
  await tell('-p(a)', { scope: 'plan' });
  const refused = await refusal(tell('p(b)'));
  expect(refused).toMatchObject({ code: 'QuotaExceeded', status: 507 });
  expect(refused.members).toEqual({ quota: 'facts', of: 'tenant', allowed: 2, used: 2 });
  expect(refused.message).toContain('adds 1 fact to the 2 of the tenant tenant');
  expect((await quotaOf({ tell, ...session })).use).toMatchObject({ facts: 2, bytes: 'p(a)-p(a)'.length });
  expect(session.engine.counters()).toMatchObject({ writesOverQuota: 1 });
});

test('counts the UTF-8 bytes of rendered atoms and of metadata', async () => {
  const session = await limited({ bytes: 60 });
  await session.tell('p("a, b", é)', { metadata: { source: 'ü' } });
  const used = new TextEncoder().encode('p("a, b", é){"source":"ü"}').length;
  expect((await quotaOf(session)).use).toMatchObject({ facts: 1, bytes: used });
  const refused = await refusal(session.tell('p("a, b", é)', { metadata: { source: 'x'.repeat(60) } }));
  expect(refused.members).toEqual({ quota: 'bytes', of: 'tenant', allowed: 60, used });
  await session.tell('p("a, b", é)', { metadata: { source: 'u' } });
  expect((await quotaOf(session)).use).toMatchObject({ bytes: used - 1 });
});

test('lets a lowered quota refuse growth only', async () => {
  const session = await openSession();
  await session.tellAll(['p(a)', 'p(b)', 'p(c)'], { metadata: { importance: 0.5 } });
  await limit(session, { facts: 1, bytes: 1 });
  await session.tell('p(a)');
  await session.tell('p(a)', { metadata: { importance: 0.4 } });
  await session.tellAll(['p(a)', 'p(b)']);
  expect((await refusal(session.tell('p(d)'))).code).toBe('QuotaExceeded');
  await session.teach('q(?x) :- p(?x)');
  await session.forget('p(a)');
  await decayIn(session, { threshold: 1 });
  expect(await storedAtoms(session)).toEqual([]);
  expect((await refusal(session.tell('p(d)'))).members).toMatchObject({ quota: 'bytes', used: 0 });
  await limit(session, { facts: 1 });
  await session.tell('p(d)');
});

test('never lets two writes at once pass together', async () => {
  const session = await limited({ facts: 10 });
  const codes = await codesOf(Array.from({ length: 40 }, (_, at) => session.tell(`p(${at})`)));
  expect(codes.filter((code) => code === null)).toHaveLength(10);
  expect(codes.filter((code) => code === 'QuotaExceeded')).toHaveLength(30);
  expect((await quotaOf(session)).use.facts).toBe(10);
});

test('lets writes far below the quota share a commit', async () => {
  const session = await limited({ facts: 1000, bytes: 1_000_000 });
  await quotaOf(session);
  const before = session.engine.counters();
  await Promise.all(Array.from({ length: 50 }, (_, at) => session.tell(`p(${at})`)));
  const after = session.engine.counters();
  expect(after.records - before.records).toBe(50);
  expect(after.commits - before.commits).toBeLessThan(25);
});

test('holds the quotas of the tenant and of the database', async () => {
  const session = await limited({ facts: 3 });
  const other = session.as({ tenant: 'other' });
  await limit(session, { facts: 4 }, null);
  await session.tellAll(['p(a)', 'p(b)']);
  await other.tellAll(['p(a)', 'p(b)']);
  for (const each of [session, other])
    expect((await refusal(each.tell('p(c)'))).members).toMatchObject({ of: 'database', allowed: 4, used: 4 });
  await other.forget('p(a)');
  await session.tell('p(c)');
  expect((await refusal(session.tell('p(d)'))).members).toMatchObject({ of: 'tenant', used: 3 });
  expect((await quotaOf(session, null)).use.facts).toBe(4);
});

test('stores all facts of a write or none', async () => {
  const session = await limited({ facts: 3 });
  await session.tell('p(a)');
  expect((await refusal(session.tellAll(['p(a)', 'p(b)', 'p(c)', 'p(d)']))).code).toBe('QuotaExceeded');
  expect(await storedAtoms(session)).toEqual(['p(a)']);
  await session.tellAll(['p(a)', 'p(b)', 'p(b)', 'p(c)', 'p(c)']);
});

test('counts a fact no more when its validity has ended', async () => {
  const session = await limited({ facts: 2 });
  await session.tell('p(a)', { ttl: hour });
  await session.tell('p(b)', { ttl: 2 * hour });
  expect((await refusal(session.tell('p(c)'))).code).toBe('QuotaExceeded');
  session.clock.advance(hour);
  expect((await quotaOf(session)).use).toMatchObject({ facts: 1, bytes: 4 });
  await session.tell('p(c)');
  expect((await refusal(session.tell('p(a)'))).code).toBe('QuotaExceeded');
});

test('judges a transaction at its commit, as a whole, and leaves it open', async () => {
  const session = await limited({ facts: 2 });
  const { engine, caller } = session;
  await session.tellAll(['p(a)', 'p(b)']);
  const { id } = await engine.begin(caller);
  const within = engine.within({ ...caller, transaction: id });
  for (const text of ['p(c)', 'p(d)']) await within.tell(factInput(text));
  for (const isDryRun of [true, false])
    expect((await refusal(engine.commit(caller, id, isDryRun))).members).toEqual({
      quota: 'facts',
      of: 'tenant',
      allowed: 2,
      used: 2,
    });
  await within.forget(retractInput('p(a)'));
  expect((await refusal(engine.commit(caller, id, false))).code).toBe('QuotaExceeded');
  await session.forget('p(b)');
  expect(await engine.commit(caller, id, true)).toMatchObject({ dryRun: true });
  expect(await engine.commit(caller, id, false)).toMatchObject({ status: 'committed', operations: 3 });
  expect(await storedAtoms(session)).toEqual(['p(c)', 'p(d)']);
});

test('counts the copies of a fork and what a merge adds, in a dry run too', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  await session.tellAll(['p(a)', 'p(b)'], { scope: 'plan' });
  await limit(session, { facts: 3 });
  const fork = forkInputSchema.parse({ source: 'plan', target: 'copy' });
  expect((await refusal(engine.fork(caller, fork))).code).toBe('QuotaExceeded');
  await limit(session, { facts: 4 });
  await engine.fork(caller, fork);
  await session.forget('p(a)', { scope: 'copy' });
  await session.tell('p(c)', { scope: 'copy' });
  const merge = (dryRun: boolean) =>
    engine.merge(
      caller,
      mergeInputSchema.parse({ source: 'copy', target: null, strategy: 'REJECT', base: null, dryRun }),
    );
  for (const isDryRun of [true, false])
    expect((await refusal(merge(isDryRun))).members).toMatchObject({ allowed: 4, used: 4 });
  await limit(session, { facts: 6 });
  expect(await merge(true)).toMatchObject({ added: 2, dryRun: true });
  expect(await merge(false)).toMatchObject({ added: 2 });
});

test('judges what a text teaches, summaries, and facts restored from them', async () => {
  const session = await limited({ facts: 3 });
  const { engine, caller } = session;
  const learned = (texts: readonly string[]) =>
    engine.learn(caller, {
      facts: texts.map((text) => ({ ...factInput(text), metadata: { source: 'a text' } })),
      rules: [ruleInput({ text: 'q(?x) :- p(?x)' })],
      turns: null,
      note: null,
    });
  expect((await refusal(learned(['p(a)', 'p(b)', 'p(c)', 'p(d)']))).code).toBe('QuotaExceeded');
  expect(await engine.rules(caller)).toEqual([]);
  await session.tellAll(['seen(a, 1)', 'seen(a, 2)', 'seen(a, 3)']);
  await limit(session, { bytes: 1 });
  for (const dryRun of [true, false])
    expect((await refusal(consolidateIn(session, { dryRun, predicates: ['seen'] }))).members).toMatchObject({
      quota: 'bytes',
    });
  await limit(session, { facts: 1 });
  await consolidateIn(session, { predicates: ['seen'] });
  const id = await summaryId(session, 'seen_summary');
  expect((await refusal(restoreIn(session, id))).members).toMatchObject({ quota: 'facts', used: 1 });
});

test('stops an import at the first fact over the quota and keeps what it stored', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  await session.tell('p(a)');
  await limit(session, { facts: 3 });
  const facts = ['p(a)', 'p(b)', 'p(b)', 'p(c)', 'p(d)', 'p(e)'].map((text) => factInput(text));
  const batches = [];
  for (const isDryRun of [true, false]) {
    const importing = engine.import(caller, isDryRun);
    const batch = await importing.assert([...facts, factInput('p(f)', { validFrom: 2, validUntil: 1 })]);
    await importing.end();
    batches.push(batch);
    expect(batch).toMatchObject({
      asserted: 2,
      updated: 0,
      unchanged: 2,
      refused: [],
      stopped: { index: 4 },
    });
    expect(batch.stopped?.message).toContain('quota is 3');
  }
  expect(await storedAtoms(session)).toEqual(['p(a)', 'p(b)', 'p(c)']);
});

test('stops an import within facts in columns', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await limit(session, { facts: 3 });
  const builder = new FactBlockBuilder();
  for (const constant of ['a', 'b', 'b', 'c', 'd', 'e']) builder.addPlain('p', [constant], true, null);
  const importing = session.engine.import(session.caller, false);
  const stopped = { index: 4 };
  expect(await importing.assert(builder.built())).toMatchObject({ asserted: 2, unchanged: 2, stopped });
  await importing.end();
  expect(await storedAtoms(session)).toEqual(['p(a)', 'p(b)', 'p(c)']);
  expect(await session.engine.undoImport(session.caller, importing.id)).toMatchObject({ retracted: 2 });
});

test('has a quota that lasts through a restart, with a snapshot and without', async () => {
  const storageDir = await temporaryFolder();
  const session = await limited({ facts: 1, runningQuestions: 7 }, { storageDir });
  await limit(session, { bytes: 1000 }, null);
  await session.tell('p(a)');
  const use = { facts: 1, bytes: 4, runningQuestions: 0, questionsPerMinute: 0, openTransactions: 0 };
  const reopened = async (): Promise<void> => {
    // Copied while it is open, as a process that is killed leaves it.
    const copy = await temporaryFolder();
    await cp(storageDir, copy, { recursive: true, filter: (from) => !basename(from).startsWith('lock') });
    const again = await openSession({ storageDir: copy });
    expect(await quotaOf(again)).toEqual({ quota: { ...noQuota, facts: 1, runningQuestions: 7 }, use });
    expect(await quotaOf(again, null)).toEqual({ quota: { ...noQuota, bytes: 1000 }, use });
    expect((await refusal(again.tell('p(b)'))).members).toMatchObject({ of: 'tenant', quota: 'facts' });
  };
  await reopened();
  await session.engine.snapshot();
  await reopened();
});

test('replaces a quota as a whole, and deletes it with its tenant', async () => {
  const session = await limited({ facts: 1, bytes: 100 });
  expect((await limit(session, { bytes: 200 })).quota).toEqual({ ...noQuota, bytes: 200 });
  const { engine, caller } = session;
  await engine.nukeTenant(caller, 'default', 'tenant');
  expect((await quotaOf(session)).quota.bytes).toBe(200);
  await engine.deleteTenant(caller, 'default', 'tenant');
  expect((await refusal(quotaOf(session))).code).toBe('TenantNotFound');
  await session.tell('p(a)');
  expect((await quotaOf(session)).quota).toEqual(noQuota);
});

test('limits a tenant before its first write, and refuses what the credential does not cover', async () => {
  const session = await openSession();
  await limit(session, { facts: 0 }, 'later');
  expect((await session.engine.tenants(session.caller, 'default')).tenants).toMatchObject([
    { name: 'later', facts: 0 },
  ]);
  expect((await refusal(session.as({ tenant: 'later' }).tell('p(a)'))).code).toBe('QuotaExceeded');
  expect((await refusal(session.engine.quota(session.caller, 'nowhere', null))).code).toBe(
    'DatabaseNotFound',
  );
  const restricted = session.as({ tenants: ['one'] });
  expect((await refusal(limit(restricted, {}, 'later'))).code).toBe('Forbidden');
});

test('refuses questions and transactions over a quota until there is room', async () => {
  const session = await limited({ runningQuestions: 1, openTransactions: 1, questionsPerMinute: 3 });
  const { engine, caller, clock } = session;
  const end = engine.beginQuestion(caller);
  const refused = await refusal((async () => engine.beginQuestion(caller))());
  expect(refused).toMatchObject({ code: 'QuotaExceeded', status: 429 });
  expect(refused.members).toMatchObject({ quota: 'runningQuestions', used: 1, retryAfterSeconds: 1 });
  end();
  engine.beginQuestion(caller)();
  engine.beginQuestion(caller)();
  clock.advance(20_000);
  expect((await quotaOf(session)).use).toMatchObject({ runningQuestions: 0, questionsPerMinute: 3 });
  const often = await refusal((async () => engine.beginQuestion(caller))());
  expect(often.members).toMatchObject({ quota: 'questionsPerMinute', retryAfterSeconds: 40 });
  clock.advance(40_000);
  engine.beginQuestion(caller)();
  const { id } = await engine.begin(caller);
  expect((await refusal(engine.begin(caller))).members).toMatchObject({ quota: 'openTransactions', used: 1 });
  expect((await quotaOf(session)).use.openTransactions).toBe(1);
  await engine.rollback(caller, id);
  await engine.begin(caller);
  expect(engine.counters().questionsOverQuota).toBe(3);
});

test('limits the questions and transactions of all tenants together', async () => {
  const session = await openSession();
  await limit(session, { runningQuestions: 1, openTransactions: 1 }, null);
  const { engine, caller } = session;
  const end = engine.beginQuestion(caller);
  const other = testCaller({ tenant: 'other' });
  expect((await refusal((async () => engine.beginQuestion(other))())).members).toMatchObject({
    of: 'database',
  });
  end();
  engine.beginQuestion(other)();
  await engine.begin(caller);
  expect((await refusal(engine.begin(other))).members).toMatchObject({ of: 'database', allowed: 1 });
});

/** Memory that a test fills, with a mark at 1000 MB. */
function memory() {
  const megabyte = 1024 * 1024;
  const state = { used: 100, garbage: 0, now: 0, collections: 0, heapShare: 0 };
  const read = (): MemoryReading => ({
    resident: (state.used + state.garbage) * megabyte,
    residentMark: 1000 * megabyte,
    heap: 0,
    heapMark: 1000 * megabyte,
  });
  const gauge = {
    read,
    heapShare: () => state.heapShare,
    collect: () => {
      state.garbage = 0;
      state.collections++;
    },
    now: () => state.now,
  };
  return { state, gauge };
}

test('refuses growth at the high-water mark of memory, and nothing else', async () => {
  const { state, gauge } = memory();
  const session = await openSession({ memoryGauge: gauge });
  await session.tellAll(['p(a)', 'p(b)']);
  await session.teach('q(?x) :- p(?x)');
  Object.assign(state, { used: 1000, now: 1000 });
  const refused = await refusal(session.tell('p(c)'));
  expect(refused).toMatchObject({ code: 'QuotaExceeded', status: 507 });
  expect(refused.members).toMatchObject({ quota: 'memory', of: 'process', allowed: 1000 * 1024 * 1024 });
  expect(refused.message).toContain('MEMORY_LIMIT_BYTES');
  expect((await refusal(session.teach('r(?x) :- p(?x)'))).code).toBe('QuotaExceeded');
  await session.tell('p(a)');
  await session.teach('q(?x) :- p(?x)');
  expect(await session.results('q(?x)')).toEqual(['q(a)', 'q(b)']);
  await session.forget('p(a)');
  await session.engine.createTenant(session.caller, 'default', 'another');
  const importing = session.engine.import(session.caller, false);
  expect(await importing.assert([factInput('p(b)'), factInput('p(d)')])).toMatchObject({
    unchanged: 1,
    stopped: { index: 1 },
  });
  await importing.end();
  expect(session.engine.counters()).toMatchObject({ writesOverQuota: 0 });
  expect(session.engine.counters().writesOutOfMemory).toBeGreaterThan(1);
  Object.assign(state, { used: 900, now: 2000 });
  await session.tell('p(c)');
});

test('frees derived data and garbage before it refuses, and does not try again in vain', async () => {
  const { state, gauge } = memory();
  const session = await openSession({ memoryGauge: gauge });
  await session.tell('p(a)');
  await session.teach('q(?x) :- p(?x)');
  await session.results('q(?x)');
  Object.assign(state, { used: 800, garbage: 300, now: 1000 });
  await session.tell('p(b)');
  expect(state.collections).toBe(1);
  expect(session.engine.figures().derivedBytes).toBe(0);
  Object.assign(state, { used: 1000, now: 2000 });
  for (const text of ['p(c)', 'p(d)']) expect((await refusal(session.tell(text))).code).toBe('QuotaExceeded');
  expect(state.collections).toBe(2);
  await session.forget('p(a)');
  expect((await refusal(session.tell('p(c)'))).code).toBe('QuotaExceeded');
  expect(state.collections).toBe(3);
});

test('counts the bytes of writes that came after the last measurement', async () => {
  const { state, gauge } = memory();
  const session = await openSession({ memoryGauge: gauge });
  state.used = 999;
  await session.tell('p(a)');
  const long = Array.from({ length: 7 }, () => 'x'.repeat(60_000)).join(', ');
  expect((await refusal(session.tell(`p(${long})`))).code).toBe('QuotaExceeded');
  await session.tell('p(b)');
});

test('refuses questions that go on growing while the heap is nearly full, and no others', async () => {
  const { state, gauge } = memory();
  const session = await openSession({ memoryGauge: gauge });
  await session.tellAll(Array.from({ length: 40 }, (_, at) => `p(${'x'.repeat(30_000)}${at})`));
  await session.teach('q(?x, ?y) :- p(?x), p(?y)');
  await session.teach('r(a) :- p(?x)');
  const asked = { withProof: true, limit: 100, timeoutMs: 60_000 };
  state.heapShare = 0.9;
  const refused = await refusal(session.ask('q(?x, ?y)', asked));
  expect(refused).toMatchObject({ code: 'InferenceLimitExceeded', members: { limit: 'memory' } });
  const { caller, engine } = session;
  const input = { predicate: 'q', args: ['?x', '?y'], timeoutMs: 60_000 };
  expect(await refusal(engine.trace(caller, traceInputSchema.parse(input)))).toMatchObject({
    members: { limit: 'memory' },
  });
  expect(await refusal(session.list({ predicate: 'q', derived: 'true' }))).toMatchObject({
    members: { limit: 'memory' },
  });
  // A collection that was in vain is not repeated at once.
  expect(state.collections).toBe(1);
  expect(await session.results('r(?x)')).toEqual(['r(a)']);
  expect(await session.forgetPattern('p(?x)', { dependents: 'all' })).toMatchObject({
    retracted: 40,
    dependentsComplete: false,
  });
  expect(await session.results('q(?x, ?y)')).toEqual([]);
});
