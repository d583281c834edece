import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContextWindow } from '../../engine/contract/context.ts';
import type { FactDetail } from '../../engine/contract/facts.ts';
import { toldInBackup } from '../../engine/testing/told-backup.ts';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import type { ReplicationStatus } from '../../engine/contract/replication.ts';
import { callOf } from '../testing/calls-under-test.ts';
import type { Environment } from '../base/config.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Sentences of the contract's section on replication, over HTTP between whole services in folders of their own. */
let folder: string;
let running: ServiceUnderTest[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'replication-'));
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((service) => service.close()));
  await rm(folder, { recursive: true, force: true });
});

async function start(name: string, environment: Environment = {}): Promise<ServiceUnderTest> {
  const service = await startServiceUnderTest({ STORAGE_DIR: join(folder, name), ...environment });
  running.push(service);
  return service;
}

function follower(
  leader: string,
  name = 'follower',
  environment: Environment = {},
): Promise<ServiceUnderTest> {
  return start(name, {
    REPLICATION_MODE: 'FOLLOWER',
    LEADER_URL: leader,
    REPLICATION_POLL_INTERVAL_MS: '20',
    ...environment,
  });
}

async function caughtUp(leader: ServiceUnderTest, ...followers: ServiceUnderTest[]): Promise<void> {
  for (const each of followers)
    await until(
      async () =>
        each.engine.position().position === leader.engine.position().position &&
        each.engine.position().historyId === leader.engine.position().historyId &&
        (await readiness(each))[0] === 200,
    );
}

const question = { predicate: 'grandparent', args: ['?x', '?y'], withProof: true };

async function teach(service: ServiceUnderTest): Promise<void> {
  await service.call('POST', '/teach', { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)' });
  await service.call('POST', '/tell', {
    predicate: 'parent',
    args: ['ann', 'bob'],
    metadata: { source: 'a' },
  });
  await service.call('POST', '/assert/facts', {
    facts: [
      { predicate: 'parent', args: ['bob', 'cid'] },
      { predicate: 'parent', args: ['bob', 'dan'], scope: 'plan' },
    ],
  });
  await service.call('POST', '/retract', { predicate: 'parent', args: ['bob', 'nobody'] });
}

/** What a service reports of its knowledge, without measurements. */
async function answers(service: ServiceUnderTest): Promise<unknown[]> {
  const asked = await service.call<Record<string, unknown>>('POST', '/ask', question);
  const queried = await service.call('POST', '/query', { predicate: 'parent', args: ['?x', '?y'] });
  const listed = await service.call<{ facts: Record<string, unknown>[] }>('GET', '/facts?limit=100');
  const rules = await service.call<{ rules: Record<string, unknown>[] }>('GET', '/rules');
  const { elapsedMs: _, ...answer } = asked.body;
  const facts = listed.body.facts.map(({ salience: __, ...fact }) => fact);
  return [answer, queried.body, facts, rules.body.rules.map(({ fired: ___, ...rule }) => rule)];
}

async function statusOf(service: ServiceUnderTest): Promise<ReplicationStatus> {
  return (await service.call<ReplicationStatus>('GET', '/replication/status')).body;
}

async function readiness(service: ServiceUnderTest): Promise<[number, string]> {
  const { status, body } = await service.call<{ subsystems: { replication: string } }>(
    'GET',
    '/health/ready',
  );
  return [status, body.subsystems.replication];
}

/** Waits until a condition is true. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Stops the service and starts it again with this environment. */
async function again(
  service: ServiceUnderTest,
  name: string,
  environment: Environment = {},
): Promise<ServiceUnderTest> {
  await service.close();
  running = running.filter((each) => each !== service);
  return start(name, environment);
}

function warnings(service: ServiceUnderTest): unknown[] {
  return service.logged.filter(({ level }) => level === 'WARN').map(({ msg }) => msg);
}

describe('a follower', () => {
  it('catches up from empty by a snapshot and answers like its leader, ids and generations included', async () => {
    const leader = await start('leader');
    await teach(leader);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await until(async () => (await readiness(one))[0] === 200);
    expect(await answers(one)).toEqual(await answers(leader));
    expect(warnings(one)).toEqual([]);
  });

  it('applies later writes in the same order', async () => {
    const leader = await start('leader');
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await teach(leader);
    await leader.call('POST', '/databases', { name: 'other' });
    await leader.call('POST', '/scope/fork', { source: 'plan', target: 'copy' });
    await caughtUp(leader, one);
    expect(await answers(one)).toEqual(await answers(leader));
    expect((await one.call('GET', '/databases')).body).toEqual((await leader.call('GET', '/databases')).body);
  });

  it('reports its position, and its leader reports it too', async () => {
    const leader = await start('leader');
    await teach(leader);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await until(async () => (await statusOf(leader)).followers[0]?.position === 5);
    const { historyId, lastContactAt, ...rest } = await statusOf(one);
    expect(rest).toEqual({
      mode: 'FOLLOWER',
      state: 'streaming',
      leader: leader.address,
      position: 5,
      leaderPosition: 5,
      lagRecords: 0,
      lagMs: 0,
      lastError: null,
      epoch: 1,
      followers: [],
    });
    expect(lastContactAt).toBeTypeOf('number');
    const told = await statusOf(leader);
    expect(told).toMatchObject({
      mode: 'LEADER',
      state: 'leader',
      leader: null,
      position: 5,
      lagRecords: 0,
      historyId,
    });
    expect(told.followers).toMatchObject([{ address: '127.0.0.1', lagRecords: 0, lagMs: 0 }]);
    expect(told.followers[0]?.id).toMatch(new RegExp(`:${one.port}$`));
    const metrics = (await one.call<string>('GET', '/metrics')).body;
    expect(metrics).toMatch(/^service_replication_position 5$/m);
    expect((await leader.call<string>('GET', '/metrics')).body).toMatch(/^service_replication_followers 1$/m);
  });

  it('sends change events under the ids of its leader', async () => {
    const leader = await start('leader');
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await until(async () => (await readiness(one))[0] === 200);
    const seen = new Map([leader, one].map((service) => [service, [] as string[]]));
    for (const [service, ids] of seen)
      service.engine.subscribe(({ id, kind }) => void ids.push(`${id} ${kind}`));
    await teach(leader);
    await caughtUp(leader, one);
    expect(seen.get(one)).toEqual(seen.get(leader));
    expect(seen.get(one)?.length).toBeGreaterThan(3);
  });

  it('answers dry runs, and refuses only extractions that store', async () => {
    const leader = await start('leader');
    await teach(leader);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await until(async () => (await readiness(one))[0] === 200);
    const dry = { predicate: 'parent', args: ['ann', 'bob'], dryRun: true };
    expect((await one.call('POST', '/retract', dry)).body).toEqual(
      (await leader.call('POST', '/retract', dry)).body,
    );
    const text = { text: 'parent(eve, fay).' };
    expect((await one.call('POST', '/extract', text)).body).toMatchObject({ code: 'LlmUnavailable' });
    expect((await one.call('POST', '/extract', { ...text, assert: true })).body).toMatchObject({
      code: 'NotLeader',
    });
  });

  it('selects windows like its leader, and counts the use by questions locally', async () => {
    const leader = await start('leader');
    await teach(leader);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await until(async () => (await readiness(one))[0] === 200);
    const factsOf = async (service: ServiceUnderTest): Promise<{ id: string; uses: number }[]> => {
      const { facts } = (await service.call<{ facts: { id: string }[] }>('GET', '/facts')).body;
      const read = async ({ id }: { id: string }) => {
        const { body } = await service.call<FactDetail>('GET', `/facts/${id}`);
        return { id, uses: body.salienceBreakdown.uses };
      };
      return Promise.all(facts.map(read));
    };
    const windowOf = async (service: ServiceUnderTest): Promise<unknown> => {
      const goals = [{ predicate: 'grandparent', args: ['ann', '?who'] }];
      const { body } = await service.call<ContextWindow>('POST', '/context/optimize', { goals });
      return [body.relevantRules, body.entries.map(({ predicate, args }) => [predicate, args])];
    };
    expect(await windowOf(one)).toEqual(await windowOf(leader));
    const [ofLeader, ofFollower] = [await factsOf(leader), await factsOf(one)];
    await one.call('POST', '/query', { predicate: 'parent', args: ['?x', '?y'] });
    expect(await factsOf(leader)).toEqual(ofLeader);
    expect(await factsOf(one)).toEqual(ofFollower.map(({ id, uses }) => ({ id, uses: uses + 1 })));
  });

  it('continues from its last record after a restart', async () => {
    const leader = await start('leader');
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await teach(leader);
    await caughtUp(leader, one);
    await leader.call('POST', '/admin/snapshot');
    const settings = {
      REPLICATION_MODE: 'FOLLOWER',
      LEADER_URL: leader.address,
      REPLICATION_POLL_INTERVAL_MS: '20',
    };
    const back = await again(one, 'follower', settings);
    await leader.call('POST', '/tell', { predicate: 'parent', args: ['cid', 'eve'] });
    await caughtUp(leader, back);
    expect(await answers(back)).toEqual(await answers(leader));
    expect(back.engine.counters().records).toBe(1);
  });

  it('encrypts what it receives with a key of its own, and opens it again', async () => {
    const leader = await start('leader');
    await teach(leader);
    const sealed = { ENCRYPTION_KEY: 'ab'.repeat(32) };
    const one = await follower(leader.address, 'follower', sealed);
    await caughtUp(leader, one);
    const settings = { ...sealed, REPLICATION_MODE: 'FOLLOWER', LEADER_URL: leader.address };
    const back = await again(one, 'follower', settings);
    await until(async () => (await readiness(back))[0] === 200);
    expect(await answers(back)).toEqual(await answers(leader));
    expect(warnings(back)).toEqual([]);
  });

  it("starts over from a snapshot if the leader's log does not continue its own", async () => {
    const leader = await start('leader');
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await one.close();
    running = running.filter((each) => each !== one);
    await teach(leader);
    await leader.call('POST', '/admin/snapshot');
    const back = await follower(leader.address);
    await caughtUp(leader, back);
    expect(await answers(back)).toEqual(await answers(leader));
    expect(warnings(back)).toEqual([]);
  });

  it('stays ready while its leader is unreachable, and follows it when it is back', async () => {
    const leader = await start('leader');
    await teach(leader);
    const port = String(leader.port);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await until(async () => (await readiness(one))[1] === 'ready');
    const before = await answers(one);
    await leader.close();
    await until(async () => (await statusOf(one)).state === 'stale');
    expect(await readiness(one)).toEqual([200, 'stale']);
    expect((await statusOf(one)).lastError).toMatch(/leader/);
    expect(await answers(one)).toEqual(before);
    const back = await again(leader, 'leader', { PORT: port });
    await back.call('POST', '/tell', { predicate: 'parent', args: ['cid', 'eve'] });
    await caughtUp(back, one);
    await until(async () => (await readiness(one))[1] === 'ready');
    expect(await answers(one)).toEqual(await answers(back));
    expect((await statusOf(one)).lastError).toBe(null);
    expect(warnings(one)).toEqual([]);
  });

  it('serves its data after a restart while its leader is unreachable', async () => {
    const leader = await start('leader');
    await teach(leader);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    const before = await answers(leader);
    await leader.close();
    running = running.filter((each) => each !== leader);
    const back = await again(one, 'follower', { REPLICATION_MODE: 'FOLLOWER', LEADER_URL: leader.address });
    await until(async () => (await readiness(back))[0] === 200);
    expect(await readiness(back)).toEqual([200, 'stale']);
    expect(await answers(back)).toEqual(before);
  });

  it('is not ready before its first catch-up: it refuses calls and reports its status', async () => {
    const one = await follower('http://127.0.0.1:9');
    await until(async () => (await statusOf(one)).lastError !== null);
    expect(await readiness(one)).toEqual([503, 'off']);
    expect(await statusOf(one)).toMatchObject({
      state: 'connecting',
      position: 0,
      leaderPosition: null,
      lagMs: null,
    });
    expect((await one.call('GET', '/facts')).body).toMatchObject({ code: 'NotReady' });
  });

  it('starts over from a snapshot if the leader has another history, with one warning', async () => {
    const leader = await start('leader');
    await teach(leader);
    const port = String(leader.port);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    await leader.call('POST', '/tell', { predicate: 'gone', args: ['a'] });
    const other = await again(leader, 'another', { PORT: port });
    await other.call('POST', '/tell', { predicate: 'parent', args: ['new', 'one'] });
    await caughtUp(other, one);
    expect(await answers(one)).toEqual(await answers(other));
    const told = await statusOf(other);
    expect(warnings(one)).toEqual([expect.stringContaining(`another history (${told.historyId})`)]);
  });

  it('whose key is refused retries, is not ready, and reports the reason without the key', async () => {
    const leader = await start('leader', { API_KEY: 'key-of-leader' });
    const one = await follower(leader.address, 'follower', { REPLICATION_API_KEY: 'key-that-is-wrong' });
    await until(async () => (await statusOf(one)).state === 'refused');
    expect(await readiness(one)).toEqual([503, 'failed']);
    expect((await statusOf(one)).lastError).toMatch(/REPLICATION_API_KEY/);
    expect(warnings(one)).toHaveLength(1);
    expect(JSON.stringify([one.logged, leader.logged])).not.toContain('key-that-is-wrong');
  });

  it("follows with a key of the role replica, which opens nothing else, and receives its leader's keys", async () => {
    const admin = { headers: { 'x-api-key': 'key-of-leader' } };
    const leader = await start('leader', { AUTH_ENABLED: 'true', API_KEY: 'key-of-leader' });
    const made = async (role: string): Promise<string> =>
      (await leader.call<{ key: string }>('POST', '/auth/keys', { role }, admin)).body.key;
    const [replica, reader] = [await made('replica'), await made('reader')];
    const one = await follower(leader.address, 'follower', {
      AUTH_ENABLED: 'true',
      REPLICATION_API_KEY: replica,
    });
    await caughtUp(leader, one);
    await until(async () => (await readiness(one))[0] === 200);
    const shown = (key: string) => ({ headers: { 'x-api-key': key } });
    expect((await one.call('GET', '/facts', undefined, shown(reader))).status).toBe(200);
    expect((await leader.call('GET', '/facts', undefined, shown(replica))).status).toBe(403);
    for (const path of ['wal', 'snapshot', 'status'])
      expect((await leader.call('GET', `/replication/${path}`, undefined, shown(reader))).status).toBe(403);
    expect((await one.call('GET', '/replication/status', undefined, shown(replica))).status).toBe(200);
  });
});

describe('a write to a follower', () => {
  const writes = (Object.entries<OperationSpec>(operations) as [OperationName, OperationSpec][]).filter(
    ([, { kind }]) => kind === 'write',
  );

  it('returns 421 with the address of the leader, for every kind of write', async () => {
    const headers = { 'x-api-key': 'key-of-both' };
    const both = { AUTH_ENABLED: 'true', API_KEY: 'key-of-both', SERVICE_ADMIN_PASS: 'password' };
    const leader = await start('leader', both);
    const one = await follower(leader.address, 'follower', { ...both, REPLICATION_API_KEY: 'key-of-both' });
    let words = 0;
    const admin = { username: 'admin', password: 'password' };
    const at = { service: leader, headers, word: () => `word${++words}`, admin };
    await until(async () => (await readiness(one))[0] === 200);
    for (const [name] of writes) {
      const { method, path, body, headers: more } = await callOf[name](at);
      const sent = { headers: { ...headers, ...more } };
      await caughtUp(leader, one);
      const answer = await one.call<Record<string, unknown>>(method, path, body, sent);
      expect([answer.status, answer.body['leader']], name).toEqual([421, leader.address]);
    }
    expect(one.engine.position()).toEqual(leader.engine.position());
  });
});

describe('after writes of every kind', () => {
  const writes = (Object.entries<OperationSpec>(operations) as [OperationName, OperationSpec][]).filter(
    ([, { kind }]) => kind === 'write',
  );
  const headers = { 'x-api-key': 'key-of-both' };
  const both = { AUTH_ENABLED: 'true', API_KEY: 'key-of-both', SERVICE_ADMIN_PASS: 'password' };

  /** The whole content of a backup of the service. */
  async function logged({ address }: ServiceUnderTest): Promise<unknown> {
    const response = await fetch(`${address}/admin/backup`, { method: 'POST', headers });
    expect(response.status).toBe(200);
    return toldInBackup(new Uint8Array(await response.arrayBuffer()));
  }

  it("a follower has the leader's log, keys and idempotency keys, and answers from them as a leader", async () => {
    const leader = await start('leader', both);
    const one = await follower(leader.address, 'follower', { ...both, REPLICATION_API_KEY: 'key-of-both' });
    let words = 0;
    const admin = { username: 'admin', password: 'password' };
    const at = { service: leader, headers, word: () => `word${++words}`, admin };
    const answered: {
      name: string;
      repeat: (service: ServiceUnderTest) => Promise<unknown>;
      body: unknown;
    }[] = [];
    for (const [index, [name]] of writes.entries()) {
      const { method, path, body, headers: more } = await callOf[name](at);
      const sent = { headers: { ...headers, ...more, 'idempotency-key': `once-${name}` } };
      const answer = await leader.call(method, path, body, sent);
      await caughtUp(leader, one);
      if (index % stride === 0) expect(await logged(one), name).toEqual(await logged(leader));
      const repeat = async (service: ServiceUnderTest) =>
        comparable((await service.call(method, path, body, sent)).body);
      if (answer.status < 300) answered.push({ name, repeat, body: comparable(answer.body) });
    }
    const before = await logged(leader);
    expect(await logged(one)).toEqual(before);
    const promoted = await again(one, 'follower', both);
    expect(await logged(promoted)).toEqual(before);
    const others: string[] = [];
    for (const { name, repeat, body } of answered)
      if (!isDeepStrictEqual(await repeat(promoted), body)) others.push(name);
    expect(others).toEqual(answeredAnew);
    expect(answered.length).toBeGreaterThan(answeredAnew.length + 20);
    expect(await logged(promoted)).toEqual(before);
  });
});

/** Compares everything after every write if there is time, else after some. */
const stride = process.env['LONG'] === '1' ? 1 : 8;

/**
 * A restart ends these too, on any leader: consequences are computed after the write and not logged, transactions
 * belong to one process, salience depends on the current time, and of a key only the hash is stored.
 */
const answeredAnew = [
  'mergeEntities',
  'deleteRule',
  'beginTransaction',
  'rollbackTransaction',
  'mergeScopes',
  'contextOfTurns',
  'applyPackage',
  'deletePackage',
  'bootstrap',
  'createKey',
];

/** An answer without what is unknown after a restart: whether all dependents were reported. */
function comparable(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return { ...body, dependentsComplete: undefined };
}

describe('a follower that is started as a leader', () => {
  it('keeps all its data and accepts writes in a history of its own, which its old leader then follows', async () => {
    const leader = await start('leader');
    await teach(leader);
    const once = { headers: { 'idempotency-key': 'k1' } };
    const fact = { predicate: 'parent', args: ['once', 'only'] };
    const first = await leader.call('POST', '/tell', fact, once);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    const before = await answers(leader);
    const old = await statusOf(leader);
    const promoted = await again(one, 'follower', {});
    expect(await answers(promoted)).toEqual(before);
    const now = await statusOf(promoted);
    expect(now).toMatchObject({ mode: 'LEADER', state: 'leader', epoch: 2, position: old.position });
    expect(now.historyId).not.toBe(old.historyId);
    const repeated = await promoted.call('POST', '/tell', fact, once);
    expect([repeated.body, repeated.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
    await promoted.call('POST', '/tell', { predicate: 'parent', args: ['after', 'it'] });
    // The old leader wrote something that was never fetched.
    await leader.call('POST', '/tell', { predicate: 'lost', args: ['a'] });
    const settings = {
      REPLICATION_MODE: 'FOLLOWER',
      LEADER_URL: promoted.address,
      REPLICATION_POLL_INTERVAL_MS: '20',
    };
    const demoted = await again(leader, 'leader', settings);
    await caughtUp(promoted, demoted);
    expect(await answers(demoted)).toEqual(await answers(promoted));
    expect(warnings(demoted)).toEqual([expect.stringContaining('another history')]);
  });

  it('keeps its epoch over restarts, and does not follow the leader that it replaced', async () => {
    const leader = await start('leader');
    await teach(leader);
    const one = await follower(leader.address);
    await caughtUp(leader, one);
    let promoted = await again(one, 'follower', {});
    const { historyId } = await statusOf(promoted);
    promoted = await again(promoted, 'follower', {});
    expect(await statusOf(promoted)).toMatchObject({ epoch: 2, historyId });
    await promoted.call('POST', '/tell', { predicate: 'parent', args: ['after', 'it'] });
    const settings = { REPLICATION_MODE: 'FOLLOWER', LEADER_URL: leader.address };
    const back = await again(promoted, 'follower', settings);
    await until(async () => (await statusOf(back)).state === 'refused');
    expect((await statusOf(back)).lastError).toMatch(/epoch 1.*epoch 2/);
    const kept = { predicate: 'parent', args: ['after', '?x'] };
    expect((await back.call('POST', '/query', kept)).body).toHaveLength(1);
  });
});
