import { DerivedMemory } from '../session/derived-memory.ts';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { unshared } from '../base/scheduler.ts';
import type { Caller } from '../base/caller.ts';
import { ruleUpdateSchema } from '../contract/rules.ts';
import { type Engine, createEngine } from '../operations/engine.ts';
import type { TransactionWrites } from './transactions.ts';
import { apply } from '../state/apply.ts';
import { State } from '../state/state.ts';
import { openLog } from '../log/open-log.ts';
import { crashBackend } from '../testing/crash-backend.ts';
import {
  askInput,
  factInput,
  gate,
  openSession,
  refusal,
  retractInput,
  retractPatternInput,
  ruleInput,
  type Session,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';
import { logOptions, logRecord } from '../testing/log-fixtures.ts';

/** Transactions: contract section 6. */

interface Open {
  readonly id: string;
  readonly caller: Caller;
  readonly within: TransactionWrites;
  tell(text: string, fields?: object): Promise<unknown>;
  results(text: string): Promise<string[]>;
  commit(dryRun?: boolean): ReturnType<Engine['commit']>;
}

async function begun({ engine, caller: plain }: Pick<Session, 'engine' | 'caller'>): Promise<Open> {
  const { id } = await engine.begin(plain);
  const caller = { ...plain, transaction: id };
  const within = engine.within(caller);
  return {
    id,
    caller,
    within,
    tell: (text, fields = {}) => within.tell(factInput(text, { ...fields })),
    results: async (text) => (await engine.ask(caller, askInput(text))).results,
    commit: (dryRun = false) => engine.commit(plain, id, dryRun),
  };
}

const fiveMinutes = 5 * 60_000;
const ascending = (left: number, right: number): number => left - right;

test('hides the writes of a transaction before its commit, and shows all of them after it', async () => {
  const session = await openSession();
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.tell('edge(a, b)');
  const open = await begun(session);
  expect(await open.tell('edge(b, c)')).toEqual({ status: 'pending', atom: 'edge(b, c)' });
  expect(await open.within.tellAll([factInput('edge(c, d)'), factInput('-edge(c, d)')])).toEqual({
    status: 'pending',
    facts: 2,
  });
  expect(await open.within.forget(retractInput('edge(a, b)'))).toEqual({
    status: 'pending',
    atom: 'edge(a, b)',
    retracted: 1,
  });
  const rule = ruleInput({ text: 'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)' });
  expect(await open.within.teach(rule)).toEqual({
    status: 'pending',
    rule: 'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)',
  });
  expect(await open.results('path(?x, ?y)')).toEqual(['path(b, c)', 'path(b, d)', 'path(c, d)']);
  expect(await session.results('path(?x, ?y)')).toEqual(['path(a, b)']);
  expect(await session.query('edge(?x, ?y)')).toHaveLength(1);
  expect(await open.commit()).toEqual({ id: open.id, status: 'committed', operations: 4, generation: 3 });
  expect(await session.results('path(?x, ?y)')).toEqual(['path(b, c)', 'path(b, d)', 'path(c, d)']);
});

test('publishes the net changes of a commit in one generation, and gives several rules ids of their own', async () => {
  const session = await openSession();
  await session.tell('p(old)');
  await session.teach('q(?x) :- p(?x)');
  const told: string[] = [];
  session.engine.subscribe(({ id, kind, tenant, data }) =>
    told.push(`${id.split('.')[0]} ${kind} ${tenant ?? 'all'} ${data.atom ?? data.id ?? ''}`),
  );
  const open = await begun(session);
  await open.tell('p(born and dead)');
  await open.within.forget(retractInput('p(born and dead)'));
  await open.tell('p(new)');
  await open.within.forget(retractInput('p(old)'));
  await open.within.updateRule('r2', ruleUpdateSchema.parse({ enabled: false }));
  await open.within.forgetRule('r2');
  await open.within.teach(ruleInput({ text: 'r(?x) :- p(?x)' }));
  await open.within.teach(ruleInput({ text: 's(?x) :- p(?x)' }));
  await open.commit();
  expect(told).toEqual([
    '3 fact.retracted tenant p(old)',
    '3 fact.asserted tenant p(new)',
    '3 rule.changed all r2',
    '3 rule.changed all r3',
    '3 rule.changed all r3-1',
  ]);
  expect((await session.engine.rules(session.caller)).map(({ id }) => id)).toEqual(['r3', 'r3-1']);
  expect(session.engine.counters()).toMatchObject({ factsAsserted: 2, factsRetracted: 1, facts: 1 });
});

test('withdraws conclusions from what a commit removes', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await session.teach('q(?x) :- p(?x)');
  await session.results('q(?x)');
  const withdrawn = new Promise((resolve) =>
    session.engine.subscribe(({ kind, data }) => {
      if (kind === 'conclusion.withdrawn') resolve([data.generation, data.atom]);
    }),
  );
  const open = await begun(session);
  await open.within.forget(retractInput('p(a)'));
  await open.commit();
  expect(await withdrawn).toEqual([3, 'q(a)']);
  expect(await session.results('q(?x)')).toEqual([]);
});

test('commits a transaction without writes, and keeps the generation', async () => {
  const session = await openSession();
  const { id, commit } = await begun(session);
  expect(await commit()).toEqual({ id, status: 'committed', operations: 0, generation: 0 });
});

test('makes a fact retracted and asserted in a transaction a new fact', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a)', { metadata: { from: 'before' } });
  const open = await begun(session);
  await open.within.forget(retractInput('p(a)'));
  await open.tell('p(a)');
  await open.commit();
  const { facts } = await session.list();
  expect(facts.map((fact) => [fact.id, fact.metadata])).toEqual([['f2-0', {}]]);
  expect(id).toBe('f1-0');
});

test('takes given fields from a repeated assertion, and keeps the rest', async () => {
  const session = await openSession();
  await session.tell('p(a)', { metadata: { kept: true } });
  const open = await begun(session);
  await open.tell('p(a)', { validFrom: 5 });
  await open.tell('p(a)', { ttl: 1000 });
  session.clock.advance(500);
  await open.commit();
  expect((await session.list()).facts).toMatchObject([
    { id: 'f1-0', validFrom: 5, validUntil: startTime + 1000, metadata: { kept: true } },
  ]);
});

test('counts a ttl from the call, not from the commit', async () => {
  const session = await openSession();
  const open = await begun(session);
  await open.tell('p(a)', { ttl: 1000 });
  session.clock.advance(1000);
  expect(await open.results('p(?x)')).toEqual([]);
  await open.commit();
  expect(await session.results('p(?x)')).toEqual([]);
});

test('keeps the creation time of a scope whose facts are all replaced by one commit', async () => {
  const session = await openSession();
  await session.tell('p(a)', { scope: 's' });
  session.clock.advance(1000);
  const open = await begun(session);
  await open.within.forget(retractInput('p(a)', { scope: 's' }));
  await open.tell('p(b)', { scope: 's' });
  await open.commit();
  const { scopes } = await session.engine.scopes(session.caller);
  expect(scopes).toMatchObject([{ name: 's', facts: 1, createdAt: startTime }]);
  await session.forget('p(b)', { scope: 's' });
  await session.tell('p(b)', { scope: 's' });
  expect((await session.engine.scopes(session.caller)).scopes).toMatchObject([
    { createdAt: startTime + 1000 },
  ]);
});

test('gives a deleted tenant that is recreated by a commit nothing of its past', async () => {
  const session = await openSession();
  const { generation } = await session.tell('p(a)');
  await session.engine.deleteTenant(session.caller, 'default', 'tenant');
  const open = await begun(session);
  await open.tell('p(b)');
  await open.commit();
  expect((await refusal(session.tell('p(a)', { ifGeneration: generation }))).code).toBe('Conflict');
});

test('retracts by a pattern what matches at the call, own writes included', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await session.tell('p(b)', { scope: 's' });
  const open = await begun(session);
  await open.tell('p(c)');
  await open.tell('p(a)', { metadata: { more: 1 } });
  expect(await open.within.forget(retractPatternInput('p(?x)'))).toMatchObject({ retracted: 3 });
  expect(await open.within.forget(retractPatternInput('p(?x)'))).toMatchObject({ retracted: 0 });
  await session.tell('p(later)');
  expect(await open.results('p(?x)')).toEqual(['p(later)']);
  await open.commit();
  expect(await session.results('p(?x)')).toEqual(['p(later)']);
});

test('returns what a retraction would remove in a dry run, and writes nothing', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  const open = await begun(session);
  expect(await open.within.forget(retractPatternInput('p(?x)', { dryRun: true }))).toEqual({
    status: 'pending',
    atom: 'p(?x)',
    retracted: 1,
    dryRun: true,
  });
  expect(await open.results('p(?x)')).toEqual(['p(a)']);
  expect(await open.commit()).toMatchObject({ operations: 0, generation: 1 });
});

test("retracts a fact by its id, in the transaction's version of it", async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a)');
  const open = await begun(session);
  await open.tell('p(a)', { metadata: { more: 1 } });
  expect(await open.within.forgetById(id)).toEqual({ status: 'pending', atom: 'p(a)' });
  await open.tell('p(a)');
  const refused = await refusal(open.within.forgetById(id));
  expect([refused.code, refused.members['transaction']]).toEqual(['FactNotFound', 'rolled_back']);
});

test.each<[string, string, (open: Open) => Promise<unknown>]>([
  [
    'an end of validity before its begin',
    'ValidationException',
    (open) => open.tell('p(a)', { validFrom: 9, validUntil: 5 }),
  ],
  [
    'an end before the begin that is stored',
    'ValidationException',
    (open) => open.tell('from(a)', { validUntil: startTime }),
  ],
  [
    'an end before the begin that it wrote itself',
    'ValidationException',
    async (open) => {
      await open.tell('p(b)', { validFrom: startTime + 9 });
      await open.tell('p(b)', { validUntil: startTime + 5 });
    },
  ],
  [
    'one bad fact of many',
    'ValidationException',
    (open) => open.within.tellAll([factInput('p(a)'), factInput('p(b)', { validFrom: 9, validUntil: 5 })]),
  ],
  ['a fact that changed since', 'Conflict', (open) => open.tell('from(a)', { ifGeneration: 0 })],
  [
    'a retraction of a fact that changed since',
    'Conflict',
    (open) => open.within.forget(retractInput('from(a)', { ifGeneration: 0 })),
  ],
  ['a fact that is not there', 'FactNotFound', (open) => open.within.forgetById('f99-0')],
  ['an unsafe rule', 'RuleException', (open) => open.within.teach(ruleInput({ text: 'p(?x) :- q(?y)' }))],
  [
    'a rule that does not parse',
    'ValidationException',
    (open) => open.within.teach(ruleInput({ text: 'p(?x' })),
  ],
  [
    'a rule that does not fit those that it taught',
    'RuleException',
    async (open) => {
      await open.within.teach(ruleInput({ text: 'win(?x) :- move(?x, ?y), lost(?y)' }));
      await open.within.teach(ruleInput({ text: 'lost(?x) :- move(?x, ?_), not win(?x)' }));
    },
  ],
  ['a rule that is not there', 'RuleNotFound', (open) => open.within.forgetRule('r99')],
  [
    'a rule that it has retracted',
    'RuleNotFound',
    async (open) => {
      await open.within.forgetRule('r2');
      await open.within.updateRule('r2', ruleUpdateSchema.parse({ enabled: false }));
    },
  ],
  [
    'a rule onto one that it taught',
    'Conflict',
    async (open) => {
      await open.within.teach(ruleInput({ text: 'taught(?x) :- p(?x)' }));
      await open.within.updateRule('r2', ruleUpdateSchema.parse({ text: 'taught(?y) :- p(?y)' }));
    },
  ],
])('rolls the whole transaction back for a refused write: %s', async (_what, code, write) => {
  const session = await openSession();
  await session.tell('from(a)', { validFrom: startTime + 1 });
  await session.teach('q(?x) :- p(?x)');
  const open = await begun(session);
  await open.tell('kept(no)');
  const refused = await refusal(write(open));
  expect([refused.code, refused.members['transaction']]).toEqual([code, 'rolled_back']);
  expect((await refusal(open.commit())).code).toBe('Conflict');
  expect((await refusal(open.tell('p(z)'))).members['transaction']).toBeUndefined();
  expect(await session.query('kept(?x)')).toEqual([]);
});

test('rolls nothing back for a failed question', async () => {
  const session = await openSession();
  await session.teach('n(?y) :- n(?x), ?y = ?x + 1');
  const open = await begun(session);
  await open.tell('n(0)');
  const refused = await refusal(session.engine.ask(open.caller, askInput('n(?x)', { maxDerivations: 1000 })));
  expect([refused.code, refused.members['transaction']]).toEqual(['InferenceLimitExceeded', undefined]);
  expect((await open.commit()).status).toBe('committed');
});

test('reports an ended transaction as a conflict, and an unknown one or another caller’s as not found', async () => {
  const session = await openSession();
  await session.engine.createDatabase(session.caller, 'other');
  const open = await begun(session);
  const codeOf = async (changes: Partial<Caller>, id = open.id): Promise<string> =>
    (await refusal(session.engine.commit({ ...session.caller, ...changes }, id, false))).code;
  expect(await codeOf({ tenant: 'another' })).toBe('TransactionNotFound');
  expect(await codeOf({ database: 'other' })).toBe('TransactionNotFound');
  expect(await codeOf({ credential: 'another' })).toBe('TransactionNotFound');
  expect(await codeOf({}, 'unheard-of')).toBe('TransactionNotFound');
  const { generation } = await open.commit();
  expect(generation).toBe(0);
  expect(await codeOf({})).toBe('Conflict');
  expect(await codeOf({ credential: 'another' })).toBe('TransactionNotFound');
  expect((await refusal(session.engine.rollback(session.caller, open.id))).code).toBe('Conflict');
  expect((await refusal(session.engine.ask(open.caller, askInput('p(?x)')))).code).toBe('Conflict');
});

test('rolls a transaction back after five minutes without use, and extends it with each use', async () => {
  const session = await openSession();
  const { clock, engine, caller } = session;
  expect((await engine.begin(caller)).expiresAt).toBe(startTime + fiveMinutes);
  const open = await begun(session);
  clock.advance(fiveMinutes - 1);
  await open.tell('p(a)');
  clock.advance(fiveMinutes - 1);
  expect(await open.results('p(?x)')).toEqual(['p(a)']);
  clock.advance(fiveMinutes - 1);
  await open.commit(true);
  clock.advance(fiveMinutes);
  expect((await refusal(open.commit())).code).toBe('Conflict');
  expect(await session.query('p(?x)')).toEqual([]);
});

test('lets the first committer win: a later one with the same fact or rule is refused, plain writes included', async () => {
  const session = await openSession();
  await session.tell('p(a)');
  await session.teach('q(?x) :- p(?x)');
  const rival = async (
    theirs: () => Promise<unknown>,
    ours: (open: Open) => Promise<unknown>,
  ): Promise<string> => {
    const open = await begun(session);
    await ours(open);
    await theirs();
    return open.commit().then(
      ({ status }) => status,
      (error: { code: string; members: object }) => `${error.code} ${JSON.stringify(error.members)}`,
    );
  };
  const conflict = 'Conflict {"transaction":"rolled_back"}';
  const update = (metadata: object) => (open: Open) => open.tell('p(a)', { metadata });
  expect(await rival(() => session.tell('p(a)', { metadata: { by: 1 } }), update({ by: 2 }))).toBe(conflict);
  expect(await rival(() => session.tell('p(a)', { metadata: { by: 3 } }), update({ by: 3 }))).toBe(
    'committed',
  );
  expect(await rival(() => session.tell('other(a)'), update({ by: 4 }))).toBe('committed');
  const forget = (open: Open) => open.within.forget(retractInput('p(a)'));
  expect(await rival(() => session.tell('p(a)', { metadata: { by: 5 } }), forget)).toBe(conflict);
  expect(await rival(() => session.forget('p(a)'), forget)).toBe(conflict);
  expect(
    await rival(
      () => session.tell('p(new)'),
      (open) => open.tell('p(new)'),
    ),
  ).toBe('committed');
  const bornAndDead = async (): Promise<void> => {
    await session.tell('p(brief)');
    await session.forget('p(brief)');
  };
  expect(await rival(bornAndDead, (open) => open.tell('p(brief)'))).toBe(conflict);
  const disable = (open: Open) => open.within.updateRule('r2', ruleUpdateSchema.parse({ enabled: false }));
  expect(await rival(() => session.changeRule('r2', { name: 'named' }), disable)).toBe(conflict);
  const teach = (open: Open) => open.within.teach(ruleInput({ text: 'new(?x) :- p(?x)' }));
  expect(await rival(() => session.teach('new(?x) :- p(?x)'), teach)).toBe('committed');
  const drop = async (): Promise<unknown> => session.engine.forgetRule(session.caller, 'r2');
  expect(await rival(drop, disable)).toBe(conflict);
  const { id } = await session.teach('gone(?x) :- p(?x)');
  const dropIt = async (): Promise<unknown> => session.engine.forgetRule(session.caller, id);
  expect(await rival(dropIt, (open) => open.within.teach(ruleInput({ text: 'gone(?x) :- p(?x)' })))).toBe(
    conflict,
  );
});

test('refuses conflicting rules at the commit, and at a question before it', async () => {
  const session = await openSession();
  const open = await begun(session);
  await open.within.teach(ruleInput({ text: 'win(?x) :- move(?x, ?y), not win2(?y)' }));
  await session.teach('win2(?x) :- win(?x)');
  expect((await refusal(open.results('win(?x)'))).code).toBe('RuleException');
  expect((await refusal(open.commit(true))).members['transaction']).toBeUndefined();
  const refused = await refusal(open.commit());
  expect([refused.code, refused.members['transaction']]).toEqual(['RuleException', 'rolled_back']);
});

test('reports in a dry run of a commit the conclusions gained and lost even if never requested, and changes nothing', async () => {
  const session = await openSession();
  await session.teach('q(?x) :- p(?x)');
  await session.tell('p(a)');
  const open = await begun(session);
  await open.within.forget(retractInput('p(a)'));
  await open.within.tellAll([factInput('p(b)'), factInput('p(c)')]);
  for (let time = 0; time < 2; time++)
    expect(await open.commit(true)).toEqual({
      id: open.id,
      status: 'committed',
      operations: 2,
      generation: 2,
      dryRun: true,
      gained: 2,
      lost: 1,
    });
  expect(await session.results('q(?x)')).toEqual(['q(a)']);
  await session.tell('p(a)', { metadata: { other: true } });
  expect((await refusal(open.commit(true))).code).toBe('Conflict');
  expect((await refusal(open.commit())).members['transaction']).toBe('rolled_back');
});

test('retains only versions that died since the oldest transaction began', async () => {
  const session = await openSession();
  const names = Array.from({ length: 400 }, (_, at) => `p(a${at})`);
  await session.tellAll(names);
  const early = await begun(session);
  await session.forgetPattern('p(?x)');
  await session.tellAll(names.slice(0, 10));
  const late = await begun(session);
  await session.forgetPattern('p(?x)');
  await session.tell('p(z)');
  // None of these was changed since it began.
  await late.tell('p(a300)');
  expect((await late.commit()).status).toBe('committed');
  await early.tell('p(a200)');
  expect((await refusal(early.commit())).code).toBe('Conflict');
  // No transaction is open any more: rows retracted long ago are compacted.
  await session.tell('p(y)');
  expect((await refusal(session.engine.fact(session.caller, 'f1-17'))).code).toBe('FactNotFound');
});

test('refuses a write of a transaction beyond 64 MiB, and rolls it back', async () => {
  const session = await openSession();
  const open = await begun(session);
  const metadata = { text: 'x'.repeat(60_000) };
  const facts = (batch: number) =>
    Array.from({ length: 100 }, (_, at) => factInput(`p(a${batch}, b${at})`, { metadata }));
  for (let batch = 0; batch < 11; batch++) await open.within.tellAll(facts(batch));
  const refused = await refusal(open.within.tellAll(facts(11)));
  expect([refused.code, refused.members['transaction']]).toEqual(['PayloadTooLarge', 'rolled_back']);
  expect((await refusal(open.commit())).code).toBe('Conflict');
});

test('refuses more than ten thousand abandoned transactions of a tenant, which are gone after five minutes', async () => {
  const session = await openSession();
  const { engine, caller, clock } = session;
  const first = await begun(session);
  await first.tell('p(a)');
  for (let count = 1; count < 10_000; count++) await engine.begin(caller);
  const refused = await refusal(engine.begin(caller));
  expect([refused.code, refused.members['retryAfterSeconds']]).toEqual(['RateLimited', 5]);
  expect((await engine.begin({ ...caller, tenant: 'another' })).status).toBe('open');
  expect(((await first.tell('p(b)')) as { status: string }).status).toBe('pending');
  clock.advance(fiveMinutes);
  expect((await engine.begin(caller)).status).toBe('open');
  expect((await refusal(first.commit())).code).toBe('Conflict');
});

test('lets exactly one of 64 clients win each concurrent commit over the same facts', async () => {
  const session = await openSession();
  const facts = Array.from({ length: 8 }, (_, at) => `seat(${at})`);
  await session.tellAll(facts);
  for (let round = 0; round < 5; round++) {
    const clients = await Promise.all(Array.from({ length: 64 }, () => begun(session)));
    const outcomes = await Promise.all(
      clients.map(async (open, client) => {
        const seat = facts[client % 8] as string;
        await open.tell(seat, { metadata: { round, client } });
        await open.tell(`taken(${round}, ${client})`);
        return open.commit().then(
          () => client,
          () => null,
        );
      }),
    );
    const winners = outcomes.filter((client) => client !== null);
    expect(winners.map((client) => client % 8).sort(ascending)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    const stored = (await session.list({ predicate: 'seat' })).facts;
    expect(stored.map(({ metadata }) => Number(metadata['client'])).sort(ascending)).toEqual(
      [...winners].sort(ascending),
    );
    const taken = await session.query(`taken(${round}, ?x)`);
    expect(taken.map(({ args }) => Number(args[1])).sort(ascending)).toEqual([...winners].sort(ascending));
  }
});

test('answers a question of a transaction in the state it was asked in, whatever is written meanwhile', async () => {
  const { pause, hold, release } = gate();
  const session = await openSession({ pause });
  await session.tellAll(Array.from({ length: 400 }, (_, at) => `edge(n${at}, n${at + 1})`));
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  const open = await begun(session);
  await open.tell('edge(n400, n401)');
  const held = hold();
  const asked = open.results('reach(?x, ?y)');
  await held;
  await open.tell('edge(n401, n402)');
  await session.forget('edge(n200, n201)');
  release();
  expect(await asked).toHaveLength((401 * 402) / 2);
  expect(await open.results('reach(n390, ?y)')).toHaveLength(12);
});

test('executes concurrent calls of one transaction one after the other', async () => {
  const session = await openSession();
  const open = await begun(session);
  const writes = Array.from({ length: 20 }, (_, at) => open.tell(`p(${at})`));
  const committed = open.commit();
  const late = refusal(open.tell('p(late)'));
  await Promise.all(writes);
  expect(await committed).toMatchObject({ operations: 20, generation: 1 });
  expect((await late).code).toBe('Conflict');
  expect(await session.query('p(?x)')).toHaveLength(20);
});

test('refuses a commit on a full disk and keeps it open, so that it can be retried', async () => {
  const backend = crashBackend();
  const { log } = await openLog(backend, logOptions());
  const state = new State();
  const first = { ...logRecord(1, { kind: 'createDatabase', name: 'default' }), time: startTime };
  await log.append([first], () => void apply(state, first));
  const engine = createEngine({
    state,
    log,
    openJournal: () => expect.unreachable('nothing is kept beside the log here'),
    lock: null,
    clock: new ManualClock(startTime),
    derived: new DerivedMemory(1e9, 1e9),
    snapshotIntervalMs: 3_600_000,
    decayIntervalMs: null,
    endedIntervalMs: null,
    leaderUrl: null,
    onWarn: () => {},
    tallies: new Map(),
    scheduler: unshared(() => new Promise((resolve) => void setImmediate(resolve))),
    onBug: (error) => {
      throw error;
    },
  });
  onTestFinished(() => engine.close());
  const open = await begun({ engine, caller: testCaller() });
  await open.tell('p(a)');
  backend.faults = (step) => (step === 'write' ? { code: 'ENOSPC' } : null);
  const refused = await refusal(open.commit());
  expect([refused.code, refused.members['transaction']]).toEqual(['StorageUnavailable', undefined]);
  expect(await open.results('p(?x)')).toEqual(['p(a)']);
  backend.faults = () => null;
  for (let attempt = 0; ; attempt++) {
    const outcome = await open.commit().then(
      ({ generation }) => generation,
      () => null,
    );
    if (outcome === null && attempt < 1000) {
      await new Promise((resolve) => void setTimeout(resolve, 10));
      continue;
    }
    expect(outcome).toBe(1);
    break;
  }
});
