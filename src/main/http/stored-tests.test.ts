import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { History } from '../../engine/contract/history.ts';
import type { StoredTest, TestList, TestsStored } from '../../engine/contract/stored-tests.ts';
import type { TransactionBegun } from '../../engine/contract/transactions.ts';
import type { ImportDone } from '../../engine/contract/transfer.ts';
import {
  type Answered,
  type ServiceUnderTest,
  startServiceUnderTest,
} from '../testing/service-under-test.ts';

/** Tests kept in the service, over real HTTP: contract section 18. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

/** A database of its own. */
class Client {
  static #count = 0;
  readonly database = `tests-${++Client.#count}`;

  static async open(): Promise<Client> {
    const client = new Client();
    await service.call('POST', '/databases', { name: client.database });
    return client;
  }

  call<Body>(method: string, path: string, body?: unknown, headers: object = {}): Promise<Answered<Body>> {
    return service.call<Body>(method, path, body, { headers: { 'x-database': this.database, ...headers } });
  }

  /** The answer as text, and for an import its last line. */
  async transfer(path: string, type?: string, body?: string): Promise<{ text: string; done: ImportDone }> {
    const response = await fetch(`${service.address}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-tenant-id': 'default',
        'x-database': this.database,
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const last = text.trim().split('\n').at(-1) ?? '';
    return { text, done: (body === undefined ? null : JSON.parse(last)) as ImportDone };
  }

  async tests(): Promise<StoredTest[]> {
    return (await this.call<TestList>('GET', '/tests')).body.tests;
  }
}

const one = 'test "one" { expect p(a). }';
const two = 'test "two" {\n  given p(a), not q(b). % why\n  expect p(?x) = a.\n}';

describe('PUT /tests', () => {
  it('stores each test of a text under its name, and says what became of it', async () => {
    const client = await Client.open();
    const first = await client.call<TestsStored>('PUT', '/tests', {
      text: `% both\n${one}\n${two}`,
      scope: 's',
    });
    expect(first.body).toMatchObject({
      tests: [
        { name: 'one', status: 'asserted' },
        { name: 'two', status: 'asserted' },
      ],
      generation: 1,
    });
    const changed = one.replace('p(a)', 'not p(a)');
    const second = await client.call<TestsStored>('PUT', '/tests', { text: `${two} ${changed}`, scope: 's' });
    expect(second.body).toMatchObject({
      tests: [
        { name: 'two', status: 'unchanged' },
        { name: 'one', status: 'updated' },
      ],
      generation: 2,
    });
    const stored = await client.tests();
    expect(stored.map(({ name, text, scope }) => ({ name, text, scope }))).toEqual([
      { name: 'one', text: changed, scope: 's' },
      { name: 'two', text: two, scope: 's' },
    ]);
    expect(stored[1]?.updatedAt).toBe(stored[1]?.createdAt);
  });

  it('answers a dry run alike and stores nothing', async () => {
    const client = await Client.open();
    const { body } = await client.call('PUT', '/tests', { text: one, dryRun: true });
    expect(body).toEqual({ tests: [{ name: 'one', status: 'asserted' }], generation: 0, dryRun: true });
    expect(await client.tests()).toEqual([]);
  });

  it.each([
    [{ text: 'test "one" {\n  expect p(.\n}' }, 'text: line 2, column'],
    [{ text: 'p(a).' }, 'text: line 1, column 1: only tests can stand here'],
    [{ text: '% nothing' }, 'there is no test in it'],
    [{ text: `${one} ${one}` }, 'another test has this name'],
    [{ text: one, tests: [{ text: one }] }, 'give either text or tests'],
    [{ tests: [{ text: `${one} ${two}` }] }, 'tests.0.text: give the text of one test'],
    [{ tests: [{ name: 'three', text: one }] }, 'tests.0.name: the text names the test "one"'],
    [{ tests: [{ text: one }, { text: one, scope: 's' }] }, 'two of the tests have the name "one"'],
    [{ text: `test "${'x'.repeat(300)}" { expect p(a). }` }, 'the name of a test has 1 to 256 characters'],
    [{ text: `${one}${' '.repeat(9_000_000)}` }, 'text'],
  ])('refuses %j', async (body, message) => {
    const client = await Client.open();
    const { status, body: refused } = await client.call<{ detail: string }>('PUT', '/tests', body);
    expect(status).toBe(400);
    expect(refused.detail).toContain(message);
    expect(await client.tests()).toEqual([]);
  });

  it('takes at most 1000 tests at once, and a database keeps at most 10,000', async () => {
    const client = await Client.open();
    const some = (from: number, count: number): string =>
      Array.from({ length: count }, (_, at) => `test "${from + at}" { expect p(a). }`).join('\n');
    const many = await client.call<{ detail: string }>('PUT', '/tests', { text: some(0, 1001) });
    expect([many.status, many.body.detail]).toEqual([
      400,
      'text: one request stores at most 1000 tests: send several requests',
    ]);
    for (let at = 0; at < 10; at++) await client.call('PUT', '/tests', { text: some(at * 1000, 1000) });
    const last = await client.call('PUT', '/tests', { text: some(9999, 2) });
    expect(last).toMatchObject({
      status: 507,
      body: { code: 'QuotaExceeded', quota: 'tests', of: 'database', allowed: 10_000, used: 10_000 },
    });
    expect(await client.tests()).toHaveLength(10_000);
    expect((await client.call('PUT', '/tests', { text: some(9999, 1) })).status).toBe(200);
  });
});

describe('DELETE /tests', () => {
  it('takes the name in the query string, or names in the body; all or none', async () => {
    const client = await Client.open();
    await client.call('PUT', '/tests', { text: `${one} ${two} test "a, b" { expect p(a). }` });
    const missing = await client.call('DELETE', '/tests', { names: ['one', 'three'] });
    expect(missing).toMatchObject({ status: 404, body: { code: 'NotFound' } });
    expect((await client.call('DELETE', '/tests')).status).toBe(400);
    const tried = await client.call('DELETE', '/tests?name=one&dryRun=true');
    expect(tried.body).toEqual({
      tests: [{ name: 'one', status: 'retracted' }],
      generation: 1,
      dryRun: true,
    });
    expect((await client.call('DELETE', '/tests?name=a,%20b')).body).toEqual({
      tests: [{ name: 'a, b', status: 'retracted' }],
      generation: 2,
    });
    expect((await client.call('DELETE', '/tests?name=one', { names: ['one', 'two'] })).status).toBe(200);
    expect(await client.tests()).toEqual([]);
    expect((await client.call('GET', '/tests?name=one')).status).toBe(404);
  });
});

it('stores tests with a transaction; the first of two committers wins', async () => {
  const client = await Client.open();
  const { id } = (await client.call<TransactionBegun>('POST', '/tx/begin')).body;
  const within = { 'x-transaction-id': id };
  const pending = await client.call('PUT', '/tests', { text: one }, within);
  expect(pending.body).toEqual({ status: 'pending', tests: ['one'] });
  expect(await client.tests()).toEqual([]);
  await client.call('PUT', '/tests', { text: two });
  expect((await client.call('POST', `/tx/commit/${id}`)).status).toBe(200);
  expect((await client.tests()).map(({ name }) => name)).toEqual(['two', 'one']);
  const other = (await client.call<TransactionBegun>('POST', '/tx/begin')).body.id;
  await client.call('DELETE', '/tests?name=one', undefined, { 'x-transaction-id': other });
  await client.call('PUT', '/tests', { text: one.replace('p(a)', 'p(b)') });
  expect(await client.call('POST', `/tx/commit/${other}`)).toMatchObject({
    status: 409,
    body: { code: 'Conflict', transaction: 'rolled_back' },
  });
});

it('tells tests in the history, and a revert with rules takes them back', async () => {
  const client = await Client.open();
  await client.call('PUT', '/tests', { text: one });
  await client.call('PUT', '/tests', { text: one.replace('p(a)', 'p(b)') });
  const { generations } = (await client.call<History>('GET', '/history')).body;
  expect(generations.map(({ declarations }) => declarations)).toEqual([
    [{ kind: 'test', name: 'one', change: 'changed' }],
    [{ kind: 'test', name: 'one', change: 'added' }],
  ]);
  expect((await client.call('POST', '/history/revert', { generation: 2, rules: true })).status).toBe(200);
  expect((await client.tests())[0]?.text).toBe(one);
});

describe('an export', () => {
  const several = [
    'test "first" {\n  given lives_in(ann, york). % because\n  expect ?n = count { ?x : lives_in(?x, york) }.\n}',
    'test "second \\"two\\"" { expect p(?x) = {}. }',
    `test "long" {\n${'  given p(a).\n'.repeat(600)}  expect p(a).\n}`,
  ];

  it.each([
    ['ndjson', 'application/x-ndjson'],
    ['datalog', 'text/x-datalog'],
  ])('as %s goes back through an import', async (format, type) => {
    const client = await Client.open();
    await client.call('POST', '/tell', { predicate: 'p', args: ['z'] });
    await client.call('PUT', '/tests', { text: several.join('\n') });
    const { text } = await client.transfer(`/export?format=${format}`);
    const other = await Client.open();
    expect((await other.transfer('/import?dryRun=true', type, text)).done).toMatchObject({
      tests: 3,
      failed: 0,
    });
    expect(await other.tests()).toEqual([]);
    expect((await other.transfer('/import', type, text)).done).toMatchObject({ tests: 3, failed: 0 });
    expect((await other.tests()).map((each) => each.text)).toEqual(
      (await client.tests()).map((each) => each.text),
    );
    expect((await client.transfer(`/export?format=${format}&rules=false`)).text).not.toContain('test');
  });

  it('keeps the scope in NDJSON, and leaves out tests of other scopes', async () => {
    const client = await Client.open();
    await client.call('PUT', '/tests', { tests: [{ text: one, scope: 's' }, { text: two }] });
    expect((await client.transfer('/export?scope=s')).text).toBe(
      `${JSON.stringify({ test: one, scope: 's' })}\n`,
    );
    expect((await client.transfer('/export?unscoped=true')).text).toBe(`${JSON.stringify({ test: two })}\n`);
  });

  it('of statements around tests is read with them; a test that is none is a bad line', async () => {
    const client = await Client.open();
    const text = `p(a).\ntest "x" { expect p(a).\n} q(b).\ntest "y" {\n  expect p(.\n}\nr(c).\ntest "open" {\n expect p(a).\ntest "z" { expect r(c). } s(d).`;
    const { done } = await client.transfer('/import', 'text/x-datalog', text);
    expect(done).toMatchObject({ asserted: 4, tests: 2, failed: 2 });
    expect(done.errors.map(({ line }) => line)).toEqual([5, 8]);
    expect((await client.tests()).map(({ name }) => name)).toEqual(['x', 'z']);
  });
});

it('are of the database: every tenant lists them, another database does not', async () => {
  const client = await Client.open();
  await client.call('PUT', '/tests', { text: one });
  const elsewhere = await client.call<TestList>('GET', '/tests', undefined, { 'x-tenant-id': 'other' });
  expect(elsewhere.body.tests).toHaveLength(1);
  expect(await (await Client.open()).tests()).toEqual([]);
});

it('of two writes at once both are stored, each whole', async () => {
  const client = await Client.open();
  const texts = ['p(a)', 'p(b)'].map((goal) =>
    [one, two].map((text) => text.replace('p(', `${goal[0]}(`)).join(' '),
  );
  const answers = await Promise.all(
    texts.map((text, at) => client.call<TestsStored>('PUT', '/tests', { text, scope: `s${at}` })),
  );
  const statuses = answers.map(({ body }) => body.tests.map(({ status }) => status).join(' '));
  expect(new Set(statuses)).toEqual(new Set(['asserted asserted', 'updated updated']));
  const scopes = (await client.tests()).map(({ scope }) => scope);
  expect(new Set(scopes).size).toBe(1);
});
