import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreatedKey, KeyRole } from '../../engine/contract/authentication.ts';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/**
 * Every endpoint by every role and restriction: the expected result follows from the operations table. Each call has an
 * unknown query parameter, so that a permitted call returns 400 and changes nothing.
 */
const apiKey = 'admin-of-the-test';
const here = { database: 'mine', tenant: 'me' };
const secret = 'zz-nobody-elses-business';
const roles = ['reader', 'writer', 'admin', 'replica'] as const;

const restrictions = {
  'no restriction': { databases: [], tenants: [] },
  'this database and tenant': { databases: [here.database], tenants: [here.tenant] },
  'another database': { databases: ['theirs'], tenants: [] },
  'another tenant': { databases: [], tenants: ['them'] },
} as const;
type Restriction = keyof typeof restrictions;

const places: readonly (readonly [string, OperationSpec])[] = Object.values<OperationSpec>(
  operations,
).flatMap((spec) =>
  [spec.path, ...(spec.aliases ?? [])].map((path) => [`${spec.method} ${path}`, spec] as const),
);

let service: ServiceUnderTest;
const keys = new Map<string, string>();

beforeAll(async () => {
  service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: apiKey });
  const asAdmin = (method: string, path: string, body: unknown, headers = {}) =>
    service.call<CreatedKey>(method, path, body, { headers: { 'x-api-key': apiKey, ...headers } });
  await asAdmin('POST', '/databases', { name: here.database });
  await asAdmin('POST', '/databases', { name: 'theirs' });
  for (const role of roles)
    for (const [name, restriction] of Object.entries(restrictions)) {
      const { body } = await asAdmin('POST', '/auth/keys', { role, ...restriction });
      keys.set(`${role} ${name}`, body.key);
    }
  for (const [database, tenant] of [
    ['theirs', here.tenant],
    [here.database, 'them'],
  ] as const) {
    const headers = { 'x-database': database, 'x-tenant-id': tenant };
    for (const predicate of ['parent', 'visited', secret]) {
      await asAdmin('POST', '/tell', { predicate, args: [secret, secret] }, headers);
    }
  }
});

afterAll(() => service.close());

/** A caller's permissions according to the contract. */
function expected(spec: OperationSpec, role: KeyRole, restriction: Restriction, isDry: boolean): number {
  if (spec.role === 'public') return 400;
  const rank = { reader: 1, writer: 2, admin: 3, replica: 0 };
  const needed = isDry && spec.dryRun !== undefined ? 'reader' : spec.role;
  const { databases, tenants } = restrictions[restriction];
  const isForReplicas = needed === 'replica';
  const hasRole = isForReplicas
    ? (role === 'admin' || role === 'replica') && databases.length + tenants.length === 0
    : rank[role] >= rank[needed];
  if (!hasRole) return 403;
  if (spec.isOfEverything === true && databases.length + tenants.length > 0) return 403;
  if ((spec.changesRules ?? spec.isOfAllTenants) === true && tenants.length > 0) return 403;
  const namesDatabase = spec.database || spec.pathNames !== undefined;
  const namesTenant = spec.tenant || spec.pathNames === 'tenant';
  if (namesDatabase && restriction === 'another database') return 403;
  if (namesTenant && restriction === 'another tenant') return 403;
  return 400;
}

async function statusOf(
  place: string,
  key: string | null,
  body: unknown,
  { takes, dryRun }: Pick<OperationSpec, 'takes' | 'dryRun'> = {},
): Promise<number> {
  const [method = '', path = ''] = place.split(' ');
  const address = path
    .replace('/databases/:name', `/databases/${here.database}`)
    .replace('/tenants/:id', `/tenants/${here.tenant}`)
    .replace(/:\w+/g, 'x');
  const takesBody = method !== 'GET' && method !== 'DELETE' && body !== undefined;
  const isDry = dryRun === 'query' && (body as { dryRun?: boolean }).dryRun === true;
  const query = isDry ? 'dryRun=true&matrix=1' : 'matrix=1';
  const { status } = await service.call(method, `${address}?${query}`, takesBody ? body : undefined, {
    headers: {
      ...(takes === undefined ? {} : { 'content-type': takes[0] ?? '' }),
      'x-database': here.database,
      'x-tenant-id': here.tenant,
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    },
  });
  return status;
}

describe.each(places)('%s', (place, spec) => {
  it('returns 401 without a key, unless it is public', async () => {
    expect(await statusOf(place, null, {})).toBe(spec.role === 'public' ? 400 : 401);
    expect(await statusOf(place, 'made-up', {})).toBe(spec.role === 'public' ? 400 : 401);
  });

  it('admits exactly the roles of the table', async () => {
    for (const isDry of spec.dryRun === undefined ? [false] : [false, true])
      for (const role of roles)
        for (const restriction of Object.keys(restrictions) as Restriction[]) {
          const key = keys.get(`${role} ${restriction}`) ?? '';
          const status = await statusOf(place, key, isDry ? { dryRun: true } : {}, spec);
          expect(status, `${role}, ${restriction}${isDry ? ', dry' : ''}`).toBe(
            expected(spec, role, restriction, isDry),
          );
        }
  });
});

/** As the contract words it, in addresses; without those that do not exist yet. */
const listed: Readonly<Record<Exclude<KeyRole, 'replica'>, string>> = {
  reader: `/ask, /query, /explain, /trace, /whatIf, /aggregate, /facts, /predicates, /scopes, /scope/diff, GET /rules,
    /rules/validate, /context/optimize, /context/diff, /context/summary, /context/session/clear, /memory/context,
    /memory/stats, /synthesize, /events, /export, /auth/whoami, GET /databases, GET /admin/databases/:name/tenants`,
  writer: `/tell, /assert/fact, /assert/facts, /retract, /retract/pattern, DELETE /facts/:id, /teach, /assert/rule,
    PUT /rules/:id, DELETE /rules/:id, /scope/fork, /scope/merge, DELETE /scope/:name, /tx/begin, /tx/commit/:id,
    /tx/rollback/:id, /context, /context/ingest, /extract, /import, /import/:id/undo, /memory/consolidate,
    /memory/decay, /memory/restore`,
  admin: `POST /databases, DELETE /databases/:name, /admin/databases/:name/nuke, POST /admin/databases/:name/tenants,
    DELETE /admin/databases/:name/tenants/:id, /admin/databases/:name/tenants/:id/nuke, /admin/snapshot, /admin/backup,
    /admin/storage, /admin/nodes, /admin/nodes/move, /admin/forget, /auth/keys,
    PATCH /auth/keys/:id, DELETE /auth/keys/:id`,
};

describe.each(Object.entries(listed))('the role %s', (role, paths) => {
  it.each(paths.split(/,\s+/))('is exactly what %s accepts', (place) => {
    const concerned = places.filter(([each]) => each === place || each.split(' ')[1] === place);
    expect(concerned).not.toEqual([]);
    for (const [, spec] of concerned) expect(spec.role).toBe(role);
  });
});

it('only health, readiness, status and the bootstrap need no credential', () => {
  const open = places.filter(([, { role }]) => role === 'public').map(([place]) => place);
  expect(open.toSorted()).toEqual([
    'GET /auth/status',
    'GET /health',
    'GET /health/ready',
    'POST /auth/bootstrap',
  ]);
});

describe.each(['/metrics', '/openapi.json'])('GET %s', (path) => {
  it('requires a credential of any role except replica', async () => {
    expect(await statusOf(`GET ${path}`, null, undefined)).toBe(401);
    for (const [name, key] of keys)
      expect(await statusOf(`GET ${path}`, key, undefined), name).toBe(
        name.startsWith('replica') ? 403 : 400,
      );
  });
});

describe('a key restricted to this database and tenant', () => {
  const examples = Object.entries<OperationSpec>(operations).filter(
    ([, { stream, pathNames, role }]) => stream === undefined && pathNames === undefined && role !== 'public',
  );

  it('is too little to see others: they exist for credentials that cover them', async () => {
    const headers = { 'x-database': 'theirs', 'x-tenant-id': here.tenant, 'x-api-key': apiKey };
    const { body } = await service.call<unknown>('GET', '/facts', undefined, { headers });
    expect(JSON.stringify(body)).toContain(secret);
  });

  it.each(examples)('learns nothing of others from %s', async (name, spec) => {
    const headers = {
      'x-database': here.database,
      'x-tenant-id': here.tenant,
      authorization: `Bearer ${keys.get('admin this database and tenant')}`,
    };
    const body = spec.body === undefined ? undefined : spec.example.body;
    const answer = await service.call<unknown>(spec.method, spec.path.replace(/:\w+/g, 'x'), body, {
      headers,
    });
    expect(answer.status).not.toBe(401);
    expect(JSON.stringify(answer.body)).not.toContain(secret);
    if (name === 'listDatabases') expect(answer.body).toMatchObject({ databases: [{ name: 'mine' }] });
  });
});
