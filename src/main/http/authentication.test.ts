import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type {
  AuthenticationStatus,
  CreatedKey,
  KeyList,
  KeyView,
  WhoAmI,
} from '../../engine/contract/authentication.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import type { Environment } from '../base/config.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Keys, the bootstrap and permissions over HTTP: contract section 10. */

const password = 'a password that nobody guesses';
const apiKey = 'legacy-key';
const day = 86_400_000;
const bootstrapBody = { username: 'admin', password };
let service: ServiceUnderTest;

afterEach(() => service.close());

async function start(environment: Environment = {}): Promise<void> {
  service = await startServiceUnderTest({
    AUTH_ENABLED: 'true',
    SERVICE_ADMIN_PASS: password,
    ...environment,
  });
}

type Body = Record<string, unknown> | undefined;

async function call<Answer = Problem>(
  key: string | null,
  method: string,
  path: string,
  body?: Body,
  more = {},
) {
  const headers = { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...more };
  return service.call<Answer>(method, path, body, { headers });
}

async function bootstrapped(): Promise<CreatedKey> {
  return (await call<CreatedKey>(null, 'POST', '/auth/bootstrap', bootstrapBody)).body;
}

async function made(by: CreatedKey | string, input: Record<string, unknown>): Promise<CreatedKey> {
  const key = typeof by === 'string' ? by : by.key;
  const { status, body } = await call<CreatedKey>(key, 'POST', '/auth/keys', input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const status = async (): Promise<AuthenticationStatus> =>
  (await call<AuthenticationStatus>(null, 'GET', '/auth/status')).body;
const statusOf = async (key: string | null, method: string, path: string, body?: Body, more = {}) =>
  (await call(key, method, path, body, more)).status;
const fact = { predicate: 'p', args: ['a'] };

describe('with authentication off', () => {
  it('/auth/status and /auth/whoami answer and the rest of /auth returns 409', async () => {
    service = await startServiceUnderTest();
    expect(await status()).toEqual({ mode: 'disabled', bootstrapRequired: false });
    expect((await call<WhoAmI>(null, 'GET', '/auth/whoami')).body).toMatchObject({
      mode: 'disabled',
      id: null,
      role: 'admin',
    });
    await expectConflicts(null);
    for (let count = 0; count < 7; count++)
      expect(await statusOf(null, 'POST', '/auth/bootstrap', bootstrapBody)).toBe(409);
  });
});

describe('with API_KEY alone', () => {
  it('the key is an admin, /auth/status is public, and the rest of /auth returns 409', async () => {
    service = await startServiceUnderTest({ API_KEY: apiKey });
    expect(await status()).toEqual({ mode: 'legacy', bootstrapRequired: false });
    expect(await statusOf(null, 'GET', '/auth/whoami')).toBe(401);
    expect((await call<WhoAmI>(apiKey, 'GET', '/auth/whoami')).body).toMatchObject({
      mode: 'legacy',
      id: 'api-key',
      role: 'admin',
      databases: [],
      tenants: [],
    });
    await expectConflicts(apiKey);
  });
});

async function expectConflicts(key: string | null): Promise<void> {
  expect(await statusOf(key, 'POST', '/auth/bootstrap', bootstrapBody)).toBe(409);
  expect(await statusOf(key, 'POST', '/auth/keys', { role: 'reader' })).toBe(409);
  expect(await statusOf(key, 'GET', '/auth/keys')).toBe(409);
  expect(await statusOf(key, 'PATCH', '/auth/keys/x', {})).toBe(409);
  expect(await statusOf(key, 'DELETE', '/auth/keys/x')).toBe(409);
}

describe('the bootstrap', () => {
  it('is required first; until then every call that needs a credential returns 401', async () => {
    await start();
    expect(await status()).toEqual({ mode: 'rbac', bootstrapRequired: true });
    for (const [method, path] of [
      ['GET', '/rules'],
      ['GET', '/auth/whoami'],
      ['GET', '/auth/keys'],
      ['GET', '/metrics'],
      ['GET', '/openapi.json'],
      ['GET', '/events'],
      ['POST', '/mcp'],
      ['GET', '/mcp/sse'],
    ] as const) {
      const { status, headers } = await call('any-key', method, path);
      expect(status, path).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Bearer');
    }
    for (const path of ['/health', '/health/ready', '/', '/docs'])
      expect(await statusOf(null, 'GET', path), path).toBe(200);
  });

  it('returns 201 with an admin key, once', async () => {
    await start();
    const { status: code, body } = await call<CreatedKey>(null, 'POST', '/auth/bootstrap', bootstrapBody);
    expect(code).toBe(201);
    expect(body).toMatchObject({ role: 'admin', databases: [], tenants: [], expiresAt: null });
    expect(body.key.startsWith(body.prefix)).toBe(true);
    expect(await status()).toEqual({ mode: 'rbac', bootstrapRequired: false });
    expect(await statusOf(body.key, 'GET', '/rules')).toBe(200);
    expect(await statusOf(null, 'POST', '/auth/bootstrap', bootstrapBody)).toBe(409);
  });

  it('succeeds for only one of two simultaneous calls', async () => {
    await start();
    const tries = [1, 2, 3].map(() => statusOf(null, 'POST', '/auth/bootstrap', bootstrapBody));
    expect((await Promise.all(tries)).toSorted((one, other) => one - other)).toEqual([201, 409, 409]);
  });

  it('returns 401 for a wrong user or password, and 429 for the sixth attempt in a minute, right or wrong', async () => {
    await start();
    for (const body of [
      { username: 'admin', password: 'corollary-admin' },
      { username: 'root', password },
      { username: 'admin', password: `${password} ` },
      { username: '', password: '' },
      { username: 'admin', password: '' },
    ])
      expect(await statusOf(null, 'POST', '/auth/bootstrap', body)).toBe(401);
    const sixth = await call(null, 'POST', '/auth/bootstrap', bootstrapBody);
    expect(sixth.status).toBe(429);
    expect(Number(sixth.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await statusOf(null, 'POST', '/auth/bootstrap', { nonsense: 1 })).toBe(429);
    expect(await status()).toMatchObject({ bootstrapRequired: true });
  });

  it('counts concurrent attempts', async () => {
    await start();
    const wrong = { username: 'admin', password: 'x' };
    const codes = await Promise.all(
      Array.from({ length: 20 }, () => statusOf(null, 'POST', '/auth/bootstrap', wrong)),
    );
    expect(codes.filter((code) => code === 401)).toHaveLength(5);
    expect(codes.filter((code) => code === 429)).toHaveLength(15);
  });

  it('does not count invalid requests, and ignores Idempotency-Key', async () => {
    await start();
    for (let count = 0; count < 8; count++)
      expect(await statusOf(null, 'POST', '/auth/bootstrap', { username: 'admin' })).toBe(400);
    const again = { 'idempotency-key': 'k' };
    expect(await statusOf(null, 'POST', '/auth/bootstrap', bootstrapBody, again)).toBe(201);
    expect(await statusOf(null, 'POST', '/auth/bootstrap', bootstrapBody, again)).toBe(409);
  });

  it('accepts the built-in default password from a loopback peer', async () => {
    service = await startServiceUnderTest({ AUTH_ENABLED: 'true' });
    const body = { username: 'admin', password: 'corollary-admin' };
    expect(await statusOf(null, 'POST', '/auth/bootstrap', body)).toBe(201);
  });

  it('accepts SERVICE_ADMIN_USER and applies API_KEY_DEFAULT_EXPIRY_DAYS to its key', async () => {
    await start({ SERVICE_ADMIN_USER: 'Ünïcode', API_KEY_DEFAULT_EXPIRY_DAYS: '1.5' });
    expect(await statusOf(null, 'POST', '/auth/bootstrap', bootstrapBody)).toBe(401);
    const { body } = await call<CreatedKey>(null, 'POST', '/auth/bootstrap', {
      username: 'Ünïcode',
      password,
    });
    expect(body.expiresAt).toBe(body.createdAt + 1.5 * day);
  });

  it('is open again after the last admin key was revoked', async () => {
    await start();
    const first = await bootstrapped();
    expect(await statusOf(first.key, 'DELETE', `/auth/keys/${first.id}`)).toBe(200);
    expect(await statusOf(first.key, 'GET', '/rules')).toBe(401);
    expect(await status()).toMatchObject({ bootstrapRequired: true });
    expect((await bootstrapped()).id).not.toBe(first.id);
  });
});

describe('a start with the default password', () => {
  const warnings = () =>
    JSON.stringify(service.logged.filter(({ level }) => level === 'warn' || level === 'WARN'));

  it('logs a WARN on a bind beyond loopback and none on loopback', async () => {
    service = await startServiceUnderTest({ AUTH_ENABLED: 'true', HOST: '0.0.0.0' });
    expect(warnings()).toContain('SERVICE_ADMIN_PASS');
    expect(warnings()).not.toContain('authentication is off');
    await service.close();
    service = await startServiceUnderTest({ AUTH_ENABLED: 'true' });
    expect(warnings()).not.toContain('SERVICE_ADMIN_PASS');
    await service.close();
    await start({ HOST: '0.0.0.0' });
    expect(warnings()).not.toContain('SERVICE_ADMIN_PASS');
  });
});

describe('API_KEY together with AUTH_ENABLED', () => {
  it('accepts it as an admin key, and the bootstrap stays open until an admin key is created', async () => {
    await start({ API_KEY: apiKey });
    expect(await status()).toEqual({ mode: 'rbac', bootstrapRequired: true });
    expect((await call<WhoAmI>(apiKey, 'GET', '/auth/whoami')).body).toMatchObject({
      mode: 'rbac',
      role: 'admin',
    });
    await made(apiKey, { role: 'writer' });
    expect(await status()).toMatchObject({ bootstrapRequired: true });
    const admin = await made(apiKey, { role: 'admin' });
    expect(await status()).toMatchObject({ bootstrapRequired: false });
    expect(await statusOf(null, 'POST', '/auth/bootstrap', bootstrapBody)).toBe(409);
    for (const key of [apiKey, admin.key]) expect(await statusOf(key, 'GET', '/auth/keys')).toBe(200);
  });
});

describe('a key', () => {
  it('is shown once, with its role, restrictions, description and times', async () => {
    await start();
    const admin = await bootstrapped();
    const before = Date.now();
    const key = await made(admin, {
      role: 'writer',
      databases: ['default', 'two', 'two'],
      tenants: ['acme'],
      description: 'the importer',
      expiresInDays: 0.5,
    });
    expect(key).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^cor_/),
      prefix: key.key.slice(0, 12),
      role: 'writer',
      databases: ['default', 'two'],
      tenants: ['acme'],
      description: 'the importer',
      createdAt: expect.any(Number),
      expiresAt: key.createdAt + day / 2,
    });
    expect(key.createdAt).toBeGreaterThanOrEqual(before);
    const list = await call<KeyList>(admin.key, 'GET', '/auth/keys');
    expect(JSON.stringify(list.body)).not.toContain(key.key);
    expect(list.body.keys.map(({ id }) => id)).toEqual([admin.id, key.id]);
    const { key: _, ...shown } = key;
    expect(list.body.keys[1]).toEqual({ ...shown, lastUsedAt: null });
  });

  it('is accepted as Authorization: Bearer or X-API-Key, and records its last use', async () => {
    await start();
    const admin = await bootstrapped();
    const key = await made(admin, { role: 'reader' });
    const before = Date.now();
    expect(await statusOf(key.key, 'GET', '/rules')).toBe(200);
    expect(await statusOf(null, 'GET', '/rules', undefined, { 'x-api-key': key.key })).toBe(200);
    const { keys } = (await call<KeyList>(admin.key, 'GET', '/auth/keys')).body;
    expect(keys[1]?.lastUsedAt).toBeGreaterThanOrEqual(before);
  });

  it('that is mistyped, made up, empty or truncated returns 401 and appears in no answer or log', async () => {
    await start();
    const { key } = await bootstrapped();
    const mistyped = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    for (const shown of [
      mistyped,
      key.slice(0, -1),
      `${key}A`,
      key.toLowerCase(),
      'cor_',
      'x'.repeat(5000),
    ]) {
      const { status: code, body, headers } = await call(shown, 'GET', '/rules');
      expect(code).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Bearer');
      expect(JSON.stringify(body)).not.toContain(shown.slice(0, 20));
    }
    expect((await call(mistyped, 'GET', '/rules')).body.detail).toContain('mistyped');
    await call(key, 'GET', `/rules?key=${key}`);
    await call(null, 'POST', '/auth/bootstrap', { ...bootstrapBody, extra: 1 });
    const log = JSON.stringify(service.logged);
    for (const secret of [key, mistyped, password]) expect(log).not.toContain(secret);
  });

  it('without expiresInDays expires by API_KEY_DEFAULT_EXPIRY_DAYS if set, else never', async () => {
    await start({ API_KEY_DEFAULT_EXPIRY_DAYS: '30' });
    const admin = await bootstrapped();
    const key = await made(admin, { role: 'reader' });
    expect(key.expiresAt).toBe(key.createdAt + 30 * day);
    expect((await made(admin, { role: 'reader', expiresInDays: null })).expiresAt).not.toBeNull();
    expect((await made(admin, { role: 'reader', expiresInDays: 'never' })).expiresAt).toBeNull();
    await service.close();
    await start();
    expect((await made(await bootstrapped(), { role: 'reader' })).expiresAt).toBeNull();
  });

  it('that has expired returns 401 and can be extended', async () => {
    await start();
    const admin = await bootstrapped();
    const key = await made(admin, { role: 'reader', expiresInDays: 0.3 / 86_400 });
    await expect.poll(() => statusOf(key.key, 'GET', '/rules')).toBe(401);
    expect((await call(key.key, 'GET', '/rules')).body.detail).toContain('expired');
    const change = (body: Body) => call<KeyView>(admin.key, 'PATCH', `/auth/keys/${key.id}`, body);
    expect((await change({ expiresAt: 'never' })).body.expiresAt).toBeNull();
    expect(await statusOf(key.key, 'GET', '/rules')).toBe(200);
    expect((await change({ expiresAt: Date.now() - 1 })).status).toBe(200);
    expect(await statusOf(key.key, 'GET', '/rules')).toBe(401);
  });

  it('that was revoked returns 401 at once and leaves the list', async () => {
    await start();
    const admin = await bootstrapped();
    const key = await made(admin, { role: 'writer' });
    expect(await statusOf(key.key, 'POST', '/tell', fact)).toBe(200);
    const { status: code, body } = await call(admin.key, 'DELETE', `/auth/keys/${key.id}`);
    expect([code, body]).toEqual([200, { id: key.id, status: 'revoked' }]);
    expect(await statusOf(key.key, 'POST', '/tell', fact)).toBe(401);
    expect(await statusOf(admin.key, 'DELETE', `/auth/keys/${key.id}`)).toBe(404);
    const { keys } = (await call<KeyList>(admin.key, 'GET', '/auth/keys')).body;
    expect(keys.map(({ id }) => id)).toEqual([admin.id]);
  });

  it('changes only the fields that PATCH names', async () => {
    await start();
    const admin = await bootstrapped();
    const { key: text, ...key } = await made(admin, {
      role: 'writer',
      tenants: ['default'],
      description: 'old',
    });
    const change = async (body: Body) =>
      (await call<KeyView>(admin.key, 'PATCH', `/auth/keys/${key.id}`, body)).body;
    expect(await change({})).toEqual({ ...key, lastUsedAt: null });
    expect(await change({ description: 'new', tenants: null })).toMatchObject({
      description: 'new',
      tenants: ['default'],
    });
    expect(await statusOf(text, 'POST', '/tell', fact)).toBe(200);
    expect(await change({ tenants: ['other'] })).toMatchObject({ tenants: ['other'], description: 'new' });
    expect(await statusOf(text, 'POST', '/tell', fact)).toBe(403);
    expect(await change({ tenants: [] })).toMatchObject({ tenants: [] });
    expect(await statusOf(text, 'POST', '/tell', fact, { 'x-tenant-id': 'any' })).toBe(200);
  });

  it.each([
    [{}, 'role'],
    [{ role: 'root' }, 'role'],
    [{ role: 'public' }, 'role'],
    [{ role: 'reader', expiresInDays: 0 }, 'expiresInDays'],
    [{ role: 'reader', expiresInDays: -1 }, 'expiresInDays'],
    [{ role: 'reader', expiresInDays: 'soon' }, 'expiresInDays'],
    [{ role: 'reader', expiresInDays: 1e300 }, 'expiresInDays'],
    [{ role: 'reader', databases: ['..'] }, 'databases.0'],
    [{ role: 'reader', tenants: ['a b'] }, 'tenants.0'],
    [{ role: 'reader', tenants: 'default' }, 'tenants'],
    [{ role: 'reader', description: '\ud800' }, 'description'],
    [{ role: 'reader', key: 'mine' }, 'key'],
  ])('is not created from %j: 400 names %s', async (input, path) => {
    await start({ API_KEY: apiKey });
    const { status: code, body } = await call(apiKey, 'POST', '/auth/keys', input);
    expect([code, body.errors?.map((error) => error.path)]).toEqual([400, [path]]);
  });

  it('keeps its role: PATCH does not accept one', async () => {
    await start({ API_KEY: apiKey });
    const key = await made(apiKey, { role: 'reader' });
    expect(await statusOf(apiKey, 'PATCH', `/auth/keys/${key.id}`, { role: 'admin' })).toBe(400);
    expect(await statusOf(apiKey, 'PATCH', `/auth/keys/${key.id}`, { expiresAt: 1.5 })).toBe(400);
    expect(await statusOf(apiKey, 'PATCH', '/auth/keys/none', {})).toBe(404);
  });

  it('created with an Idempotency-Key is created once and shown again to the same request', async () => {
    await start();
    const admin = await bootstrapped();
    const again = { 'idempotency-key': 'once' };
    const first = await call<CreatedKey>(admin.key, 'POST', '/auth/keys', { role: 'reader' }, again);
    const second = await call<CreatedKey>(admin.key, 'POST', '/auth/keys', { role: 'reader' }, again);
    expect(second.body).toEqual(first.body);
    expect(await statusOf(admin.key, 'POST', '/auth/keys', { role: 'writer' }, again)).toBe(422);
    const { keys } = (await call<KeyList>(admin.key, 'GET', '/auth/keys')).body;
    expect(keys).toHaveLength(2);
  });
});

describe('/auth/whoami', () => {
  it("describes the credential of a key, except a replica's, which may use only the replication endpoints", async () => {
    await start();
    const admin = await bootstrapped();
    const restriction = { databases: ['default'], tenants: ['a', 'b'], description: 'mine' };
    for (const role of ['reader', 'writer', 'admin']) {
      const { key, ...made_ } = await made(admin, { role, ...restriction, expiresInDays: 1 });
      expect((await call<WhoAmI>(key, 'GET', '/auth/whoami')).body).toEqual({ mode: 'rbac', ...made_ });
    }
    const replica = await made(admin, { role: 'replica' });
    for (const path of ['/auth/whoami', '/auth/keys', '/rules', '/metrics', '/openapi.json', '/mcp/sse'])
      expect(await statusOf(replica.key, 'GET', path), path).toBe(403);
    expect(await statusOf(replica.key, 'GET', '/auth/status')).toBe(200);
  });
});

describe('a restricted admin', () => {
  it('creates, changes and revokes only keys within its restrictions', async () => {
    await start();
    const admin = await bootstrapped();
    const limited = await made(admin, { role: 'admin', databases: ['default', 'two'], tenants: ['a', 'b'] });
    const outside = await made(admin, { role: 'reader', databases: ['default'] });
    const make = (input: Record<string, unknown>) =>
      statusOf(limited.key, 'POST', '/auth/keys', { role: 'reader', ...input });
    expect(await make({})).toBe(403);
    expect(await make({ databases: ['default'] })).toBe(403);
    expect(await make({ tenants: ['a'] })).toBe(403);
    expect(await make({ databases: ['default', 'three'], tenants: ['a'] })).toBe(403);
    expect(await make({ databases: [], tenants: ['a'] })).toBe(403);
    const inside = await made(limited, { role: 'admin', databases: ['two'], tenants: ['b', 'a'] });

    const change = (id: string, body: Body) => statusOf(limited.key, 'PATCH', `/auth/keys/${id}`, body);
    for (const { id } of [admin, outside]) {
      expect(await change(id, { description: 'mine' })).toBe(403);
      expect(await statusOf(limited.key, 'DELETE', `/auth/keys/${id}`)).toBe(403);
    }
    expect(await change(inside.id, { tenants: [] })).toBe(403);
    expect(await change(inside.id, { databases: ['two', 'three'] })).toBe(403);
    expect(await change(inside.id, { tenants: ['a'] })).toBe(200);
    expect(await change(limited.id, { databases: [] })).toBe(403);

    const list = async (key: CreatedKey) =>
      (await call<KeyList>(key.key, 'GET', '/auth/keys')).body.keys.map(({ id }) => id);
    expect(await list(admin)).toEqual([admin.id, limited.id, outside.id, inside.id]);
    expect(await list(limited)).toEqual([limited.id, inside.id]);
    expect(await list(inside)).toEqual([inside.id]);
    expect(await statusOf(limited.key, 'DELETE', `/auth/keys/${inside.id}`)).toBe(200);
    expect(await statusOf(limited.key, 'DELETE', '/auth/keys/none')).toBe(404);
  });
});

describe('a reader', () => {
  const dry = { ...fact, dryRun: true };

  it('may preview writes but not execute them', async () => {
    await start();
    const admin = await bootstrapped();
    const reader = await made(admin, { role: 'reader' });
    await call(admin.key, 'POST', '/tell', fact);
    expect((await call(reader.key, 'POST', '/retract', dry)).body).toMatchObject({
      status: 'retracted',
      retracted: 1,
      dryRun: true,
    });
    for (const [path, body] of [
      ['/retract/pattern', { predicate: 'p', args: ['?x'] }],
      ['/memory/consolidate', {}],
      ['/memory/decay', { threshold: 0.1 }],
    ] as const) {
      expect(await statusOf(reader.key, 'POST', path, { ...body, dryRun: true }), path).toBe(200);
      expect(await statusOf(reader.key, 'POST', path, body), path).toBe(403);
      expect(await statusOf(reader.key, 'POST', path, { ...body, dryRun: false }), path).toBe(403);
    }
    const merge = { source: null, target: 'x', strategy: 'SOURCE_WINS', dryRun: true };
    expect(await statusOf(reader.key, 'POST', '/scope/merge', merge)).toBe(200);
    expect(await statusOf(reader.key, 'POST', '/tx/commit/none', { dryRun: true })).toBe(404);
    expect((await call(reader.key, 'POST', '/query', { predicate: 'p', args: ['?x'] })).body).toHaveLength(1);
  });

  it('gets 403 before any other error, unless the call is a dry run', async () => {
    await start({ MAX_REQUEST_BODY_BYTES: '1024' });
    const reader = await made(await bootstrapped(), { role: 'reader' });
    const long = JSON.stringify({ ...fact, metadata: 'x'.repeat(2000) });
    const raw = (body: string, headers = {}) =>
      service.call('POST', '/retract', body, {
        headers: { authorization: `Bearer ${reader.key}`, ...headers },
      });
    expect((await raw('{', {})).status).toBe(403);
    expect((await raw(JSON.stringify(dry), { 'content-type': 'text/plain' })).status).toBe(403);
    expect((await raw(long)).status).toBe(403);
    expect((await raw('[{"dryRun": true}]')).status).toBe(403);
    expect((await raw('{"dryRun": "true"}')).status).toBe(403);
    expect((await raw(JSON.stringify(fact), { 'x-database': 'none' })).status).toBe(403);
    expect((await raw(JSON.stringify(fact), { 'x-database': '..' })).status).toBe(403);
    expect((await raw(JSON.stringify(dry), { 'x-database': 'none' })).status).toBe(404);
    expect((await raw(JSON.stringify(dry), { 'x-database': '..' })).status).toBe(400);
    expect((await raw(JSON.stringify({ dryRun: true }))).status).toBe(400);
    expect(await statusOf(reader.key, 'POST', '/retract')).toBe(403);
  });
});

describe('a tenant-restricted credential', () => {
  it('gets 403 for rule changes, and its fork and scope deletion handle only facts', async () => {
    await start();
    const admin = await bootstrapped();
    const scoped = { scope: 's' };
    const rule = { text: 'q(?x) :- p(?x)', ...scoped };
    const taught = await call<{ id: string }>(admin.key, 'POST', '/teach', rule);
    await call(admin.key, 'POST', '/tell', { ...fact, ...scoped });
    const { key } = await made(admin, { role: 'writer', tenants: ['default'] });
    expect(await statusOf(key, 'POST', '/teach', rule)).toBe(403);
    expect(await statusOf(key, 'PUT', `/rules/${taught.body.id}`, { enabled: false })).toBe(403);
    expect(await statusOf(key, 'DELETE', `/rules/${taught.body.id}`)).toBe(403);
    expect((await call(key, 'POST', '/scope/fork', { source: 's', target: 't' })).body).toMatchObject({
      facts: 1,
      rules: 0,
    });
    expect(await statusOf(key, 'DELETE', '/scope/s')).toBe(200);
    const { rules } = (await call<{ rules: unknown[] }>(key, 'GET', '/rules')).body;
    expect(rules).toHaveLength(1);
  });

  it('imports facts, and each rule line fails with 403', async () => {
    await start();
    const admin = await bootstrapped();
    const { key } = await made(admin, { role: 'writer', tenants: ['default'] });
    const imported = async (query: string, type: string, text: string) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': type };
      const answer = await service.call<string>('POST', `/import${query}`, text, { headers });
      return answer;
    };
    const lines = [fact, { rule: 'q(?x) :- p(?x).' }, { predicate: 'p', args: ['b'] }];
    const ndjson = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    for (const [query, type, text] of [
      ['?dryRun=true', 'application/x-ndjson', ndjson],
      ['', 'application/x-ndjson', ndjson],
      ['', 'text/x-datalog', 'p(c).\nq(?x) :- p(?x).\np(d).'],
    ] as const) {
      const { status, body } = await imported(query, type, text);
      expect(status).toBe(200);
      expect(body).toMatchObject({ asserted: 2, rules: 0, failed: 1, errors: [{ line: 2 }] });
      expect(JSON.stringify(body)).toContain('403 Forbidden: rules serve all tenants');
    }
    const { rules } = (await call<{ rules: unknown[] }>(key, 'GET', '/rules')).body;
    expect(rules).toEqual([]);
  });
});

describe('open streams', () => {
  /** Resolves when the stream has ended, with everything it sent. */
  async function following(key: string): Promise<{ told: Promise<string> }> {
    const response = await fetch(`${service.address}/events`, {
      headers: { authorization: `Bearer ${key}`, 'x-tenant-id': 'default' },
    });
    expect(response.status).toBe(200);
    return { told: response.text() };
  }

  it('of a revoked key end and send nothing newer', async () => {
    await start();
    const admin = await bootstrapped();
    const key = await made(admin, { role: 'reader' });
    const { told } = await following(key.key);
    await call(admin.key, 'POST', '/tell', fact);
    await call(admin.key, 'DELETE', `/auth/keys/${key.id}`);
    await call(admin.key, 'POST', '/tell', { predicate: 'secret', args: [] });
    const text = await told;
    expect(text).toContain('p(a)');
    expect(text).not.toContain('secret');
  });

  it('of a key that expires or no longer covers the tenant end', async () => {
    await start();
    const admin = await bootstrapped();
    const short = await made(admin, { role: 'reader', expiresInDays: 0.4 / 86_400 });
    const moved = await made(admin, { role: 'reader' });
    const [one, other] = [await following(short.key), await following(moved.key)];
    await one.told;
    await call(admin.key, 'PATCH', `/auth/keys/${moved.id}`, { tenants: ['elsewhere'] });
    await other.told;
    expect(await statusOf(short.key, 'GET', '/events')).toBe(401);
    expect(await statusOf(moved.key, 'GET', '/events')).toBe(403);
  });

  it('of other keys continue', async () => {
    await start();
    const admin = await bootstrapped();
    const [stays, goes] = [await made(admin, { role: 'reader' }), await made(admin, { role: 'reader' })];
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const response = await fetch(`${service.address}/events`, {
      headers: { authorization: `Bearer ${stays.key}`, 'x-tenant-id': 'default' },
      signal: ending.signal,
    });
    const { told } = await following(goes.key);
    await call(admin.key, 'DELETE', `/auth/keys/${goes.id}`);
    await told;
    await call(admin.key, 'POST', '/tell', fact);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.includes('p(a)')) break;
    }
    expect(text).toContain('p(a)');
  });
});
