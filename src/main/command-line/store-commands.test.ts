/** Everything of a folder moved into a store in a real PostgreSQL server, and back. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type PrivatePostgres,
  postgresMissing,
  postgresNotice,
  startPostgres,
} from '../../engine/testing/private-postgres.ts';
import { type Environment, parseConfig } from '../base/config.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { parseArguments } from './arguments.ts';
import { runStoreCommand } from './store-commands.ts';

const apiKey = { API_KEY: 'the-key-of-this-test', AUTH_ENABLED: 'true' };
const headers = { 'x-api-key': apiKey.API_KEY };

it.each([
  [[], /store takes/],
  [['import'], /store takes/],
  [['import', '--to', 'x'], /store takes/],
  [['export', '--to', 'x', '--from', 'y'], /store takes/],
  [['import', 'all', '--from', 'x'], /store takes/],
  [['sql', '--to', 'x'], /store takes/],
  [['restore', 'default', '--at', '3'], /store restore takes/],
  [['restore', 'default', '--at', 'now', '--as', 'b'], /number of a generation/],
  [['restore', 'default', '--at', '3', '--as', 'a b'], /--as/],
  [['export', '--to', 'x', '--as', 'b'], /are for store restore/],
  [['import', '--from', '/nowhere/at/all'], /there is no folder/],
])('refuses %j', async (words, message) => {
  const config = parseConfig({ STORE_URL: 'postgres://127.0.0.1:1/none' });
  const refused = runStoreCommand(parseArguments(['store', ...words]), config, () => {});
  await expect(refused).rejects.toThrow(message);
});

it('refuses without STORE_URL', async () => {
  const refused = runStoreCommand(
    parseArguments(['store', 'import', '--from', '.']),
    parseConfig({}),
    () => {},
  );
  await expect(refused).rejects.toThrow(/^STORE_URL: got nothing/);
});

describe.skipIf(postgresMissing !== null)(`a folder and a store${postgresNotice}`, () => {
  let server: PrivatePostgres;
  let folder: string;
  let url: string;
  let number = 0;
  const warnings: string[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), 'corollary-moved-'));
  });
  afterAll(async () => {
    await server.remove();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    warnings.length = 0;
    const name = `moved${number++}`;
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    url = server.url.replace(/postgres$/, name);
  });

  it.each([[{}], [{ ENCRYPTION_KEY: 'ab'.repeat(32) }]])(
    'hold the same after each move (%j)',
    async (more) => {
      const environment: Environment = { ...apiKey, ...more };
      const [from, to] = [join(folder, `from${number}`), join(folder, `to${number}`)];
      const first = await startServiceUnderTest({ ...environment, STORAGE_DIR: from });
      await fill(first);
      const before = await everything(first);
      await first.close();
      const moved = await run(['import', '--from', from], more);
      expect(moved[0]).toMatch(/^Moved 2 databases, 3 tenants, 4 facts and 1 rule from /);
      const node = await startServiceUnderTest({ ...environment, STORE_URL: url });
      expect(await everything(node)).toEqual(before);
      await expect(run(['export', '--to', to], more)).rejects.toThrow(/End all nodes first/);
      expect(await tell(node, 'p', ['later'])).toBe(before.generation + 1);
      const after = await everything(node);
      await node.close();
      await expect(run(['import', '--from', from], more)).rejects.toThrow(/not empty/);
      const back = await run(['export', '--to', to], more);
      expect(back[0]).toMatch(/^Moved 2 databases, 3 tenants, 5 facts and 1 rule from the store into /);
      await expect(run(['export', '--to', to], more)).rejects.toThrow(/not empty/);
      const last = await startServiceUnderTest({ ...environment, STORAGE_DIR: to });
      expect(await everything(last)).toEqual(after);
      await last.close();
    },
  );

  it('has a database as it was at a generation under another name, while a node runs', async () => {
    const node = await startServiceUnderTest({ ...apiKey, STORE_URL: url });
    await fill(node);
    const restored = (at: number, as: string) =>
      run(['restore', 'default', '--at', String(at), '--as', as], {});
    const names = async (database: string) => {
      const given = { headers: { ...headers, 'x-database': database } };
      return (await node.call('POST', '/ask', { text: 'r(?x)' }, given)).body.results;
    };
    // Generation 3: p(a), p(b) and p(c); 4 retracts p(b), 5 adds the rule.
    expect(await restored(3, 'before')).toEqual([
      'The database before has what default had at generation 3: 1 database, 2 tenants, 4 facts and 0 rules.',
    ]);
    // That no standby is synchronous is for whoever starts a node.
    expect(warnings).toEqual([]);
    await restored(5, 'after');
    await expect.poll(() => names('after')).toEqual(['r(a)', 'r(c)']);
    const listed = await node.call('GET', '/facts', undefined, {
      headers: { ...headers, 'x-database': 'before' },
    });
    expect((listed.body as unknown as { total: number }).total, JSON.stringify(listed.body)).toBe(3);
    expect(await tell(node, 'p', ['new'], { 'x-database': 'before' })).toBe(4);
    await expect(restored(3, 'before')).rejects.toThrow(/there is a database before/);
    await expect(restored(99, 'none')).rejects.toThrow(/has none of 99 yet/);
    // What two snapshots cover is not retained.
    for (const name of ['d', 'e']) {
      await tell(node, 'p', [name]);
      await node.call('POST', '/admin/snapshot', undefined, { headers });
    }
    await restored(7, 'late');
    await expect(restored(3, 'early')).rejects.toThrow(/does not retain that generation/);
    await node.close();
  });

  it('prints the statements of the tables, which a role uses that may create none', async () => {
    const statements = (
      await runStoreCommand(parseArguments(['store', 'sql']), parseConfig({}), () => {})
    ).join('\n');
    const client = new Client({ connectionString: url });
    await client.connect();
    const role = `few_rights_${number}`;
    const few = url.replace('postgres@', `${role}@`);
    await client.query(`CREATE ROLE ${role} LOGIN; REVOKE CREATE ON DATABASE moved${number - 1} FROM PUBLIC`);
    const lacking = await startServiceUnderTest({ STORE_URL: few }).catch((error: unknown) => String(error));
    expect(lacking).toMatch(/STORE_URL: Its user lacks a right [^\n]*"corollary store sql" prints[^\n]*$/);
    await client.query(statements);
    await client.query(`GRANT USAGE ON SCHEMA corollary TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA corollary TO ${role}`);
    await client.end();
    for (const name of ['a', 'b']) {
      const service = await startServiceUnderTest({ STORE_URL: few });
      expect((await service.call('POST', '/tell', { predicate: 'p', args: [name] })).status).toBe(200);
      await service.close();
    }
  });

  it('refuse an empty folder and another key, and leave the store empty', async () => {
    const from = join(folder, `from${number}`);
    const sealed = { ENCRYPTION_KEY: 'ab'.repeat(32) };
    const first = await startServiceUnderTest({ ...apiKey, ...sealed, STORAGE_DIR: from });
    await fill(first);
    await first.close();
    await expect(run(['import', '--from', from], {})).rejects.toThrow(/encrypted/);
    await expect(run(['import', '--from', folder], sealed)).rejects.toThrow(/The folder is empty/);
    expect(await readdir(from)).not.toContain('lock');
    await run(['import', '--from', from], sealed);
  });

  function run(words: readonly string[], environment: Environment): Promise<readonly string[]> {
    const config = parseConfig({ ...environment, STORE_URL: url });
    const onWarn = (message: string): void => void warnings.push(message);
    return runStoreCommand(parseArguments(['store', ...words]), config, onWarn);
  }
});

async function tell(
  service: ServiceUnderTest,
  predicate: string,
  names: readonly string[],
  space: Record<string, string> = {},
): Promise<unknown> {
  const facts = names.map((name) => ({ predicate, args: [name] }));
  const told = await service.call('POST', '/assert/facts', { facts }, { headers: { ...headers, ...space } });
  expect(told.status, JSON.stringify(told.body)).toBe(200);
  return told.body.generation;
}

async function fill(service: ServiceUnderTest): Promise<void> {
  await service.call('POST', '/databases', { name: 'other' }, { headers });
  await tell(service, 'q', ['a'], { 'x-database': 'other', 'x-tenant-id': 'acme' });
  await tell(service, 'q', ['b'], { 'x-tenant-id': 'acme' });
  await tell(service, 'p', ['a', 'b']);
  await tell(service, 'p', ['c']);
  await service.call('POST', '/retract', { predicate: 'p', args: ['b'] }, { headers });
  await service.call('POST', '/teach', { text: 'r(?x) :- p(?x)' }, { headers });
  await service.call('POST', '/auth/keys', { role: 'reader', description: 'kept' }, { headers });
  // A use, which is observed and not logged.
  await service.call('POST', '/ask', { text: 'r(a)' }, { headers });
}

/** What a client can see, but the times of answering. */
async function everything(service: ServiceUnderTest) {
  const get = async (path: string, more: Record<string, string> = {}) =>
    (await service.call('GET', path, undefined, { headers: { ...headers, ...more } })).body as Record<
      string,
      unknown
    >;
  const [facts, others, rules, databases, keys] = [
    await get('/facts?limit=100'),
    await get('/facts?limit=100', { 'x-database': 'other', 'x-tenant-id': 'acme' }),
    await get('/rules'),
    await get('/databases'),
    await get('/auth/keys'),
  ];
  const asked = (await service.call('POST', '/ask', { text: 'r(?x)' }, { headers })).body;
  const idsOf = (listed: Record<string, unknown>, name: string): unknown =>
    (listed[name] as { id: string; createdAt: number }[]).map(({ id, createdAt }) => ({ id, createdAt }));
  return {
    facts: idsOf(facts, 'facts'),
    others: idsOf(others, 'facts'),
    rules: idsOf(rules, 'rules'),
    keys: idsOf(keys, 'keys'),
    databases,
    results: asked.results,
    generation: asked.generation as number,
  };
}
