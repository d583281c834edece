import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/**
 * The order of errors, contract section 1: a request that deserves any two of them gets the earlier one. NotReady,
 * which precedes all, is in starting.test.ts and service.test.ts.
 */
const admin = 'admin-key';
const limit = 1024;
let service: ServiceUnderTest;
/** A service that allows three calls a minute for each credential: requests that should get 429 go there. */
let limited: ServiceUnderTest;
const keys = { outside: '', spent: '', 'spent, outside': '' };

beforeAll(async () => {
  const environment = { AUTH_ENABLED: 'true', API_KEY: admin, MAX_REQUEST_BODY_BYTES: String(limit) };
  service = await startServiceUnderTest(environment);
  limited = await startServiceUnderTest({ ...environment, RATE_LIMIT_PER_MINUTE: '3' });
  const headers = { 'x-api-key': admin };
  const keyOf = async (at: ServiceUnderTest, body: object) =>
    (await at.call<{ key: string }>('POST', '/auth/keys', body, { headers })).body.key;
  const elsewhere = { role: 'reader', databases: ['elsewhere'] };
  keys.outside = await keyOf(service, elsewhere);
  keys.spent = await keyOf(limited, { role: 'admin' });
  keys['spent, outside'] = await keyOf(limited, elsewhere);
  await service.call('POST', '/assert/fact', { predicate: 'p', args: ['a'] }, { headers });
});

afterAll(async () => {
  await service.close();
  await limited.close();
});

/** In the order of the contract; every request below deserves `own`. */
const refusals = {
  origin: [403, 'Forbidden'],
  route: [405, 'MethodNotAllowed'],
  credential: [401, 'Unauthenticated'],
  rate: [429, 'RateLimited'],
  permission: [403, 'Forbidden'],
  type: [415, 'UnsupportedMediaType'],
  size: [413, 'PayloadTooLarge'],
  names: [400, 'ValidationException'],
  database: [404, 'DatabaseNotFound'],
  body: [400, 'ValidationException'],
} as const;
type Flaw = keyof typeof refusals;

interface Target {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** The errors that it cannot return. */
  readonly without?: readonly Flaw[];
  readonly own: readonly [status: number, code: string];
  readonly type?: string;
}

const targets: readonly Target[] = [
  {
    method: 'POST',
    path: '/assert/fact',
    body: { predicate: 'p', args: ['a'], ifGeneration: 0 },
    own: [409, 'Conflict'],
  },
  { method: 'PUT', path: '/rules/none', body: { enabled: true }, own: [404, 'RuleNotFound'] },
  {
    method: 'POST',
    path: '/scope/fork',
    body: { source: 'none', target: 'some' },
    own: [404, 'ScopeNotFound'],
  },
  {
    method: 'GET',
    path: '/rules/none',
    own: [404, 'RuleNotFound'],
    without: ['type', 'size'],
  },
  {
    method: 'POST',
    path: '/databases',
    body: { name: 'default' },
    own: [409, 'Conflict'],
    without: ['names', 'database'],
  },
  {
    method: 'POST',
    path: '/import/none/undo',
    own: [404, 'NotFound'],
    without: ['type', 'size'],
  },
];

/** Spends what the key may do by now: a call is allowed again every 20 seconds. */
async function spend(key: string): Promise<void> {
  const headers = { 'x-api-key': key };
  while ((await limited.call('GET', '/auth/whoami', undefined, { headers })).status !== 429);
}

async function request(target: Target, flaws: readonly Flaw[]) {
  const has = (flaw: Flaw): boolean => flaws.includes(flaw);
  const key = has('credential')
    ? 'no-key'
    : has('rate')
      ? keys[has('permission') ? 'spent, outside' : 'spent']
      : has('permission')
        ? keys.outside
        : admin;
  const query = has('body') ? '?unheardOf=1' : '';
  const method = has('route') ? 'PATCH' : target.method;
  const body = target.body === undefined ? undefined : JSON.stringify(target.body);
  const sent = has('size') ? `${body ?? '{}'}${' '.repeat(limit)}` : body;
  const headers = {
    'x-api-key': key,
    ...(has('origin') ? { origin: 'http://foreign.example' } : {}),
    ...(has('type') ? { 'content-type': 'text/plain' } : {}),
    ...(has('names') ? { 'x-tenant-id': 'two words' } : {}),
    ...(has('database') ? { 'x-database': 'nowhere' } : {}),
  };
  // A wrong key has no limit of its own; that of its address is in credentials.test.ts.
  const isSpent = has('rate') && !has('credential');
  if (isSpent) await spend(key);
  return (isSpent ? limited : service).call(method, `${target.path}${query}`, sent, { headers });
}

describe.each(targets)('$method $path', (target) => {
  const order = (Object.keys(refusals) as Flaw[]).filter((flaw) => !target.without?.includes(flaw));

  it('returns the earlier of any two errors, and its own last', async () => {
    const pairs = order.flatMap((first, at) => [
      [first],
      ...order.slice(at + 1).map((second) => [first, second]),
    ]);
    const check = async (flaws: readonly Flaw[]): Promise<void> => {
      const { status, body } = await request(target, flaws);
      expect([status, body.code], flaws.join(' and ')).toEqual(refusals[flaws[0] as Flaw]);
    };
    await Promise.all(pairs.map(check));
    const own = await request(target, []);
    expect([own.status, own.body.code]).toEqual(target.own);
  });

  it('returns the remaining errors in order', async () => {
    for (let at = 0; at < order.length; at++) {
      const flaws = order.slice(at);
      const { status, body } = await request(target, flaws);
      expect([status, body.code], flaws.join(', ')).toEqual(refusals[flaws[0] as Flaw]);
    }
  });
});

it('returns 403 for a database or tenant outside the credential, whether it exists or not', async () => {
  for (const database of ['default', 'nowhere']) {
    const headers = { 'x-api-key': keys.outside, 'x-database': database };
    const { status, body } = await service.call('GET', '/rules', undefined, { headers });
    expect([status, body.code]).toEqual([403, 'Forbidden']);
  }
});
