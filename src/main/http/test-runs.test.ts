import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreatedKey } from '../../engine/contract/authentication.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import type { StoredTest, TestList, TestsOfWrite } from '../../engine/contract/stored-tests.ts';
import type { TestRun } from '../../engine/contract/tests.ts';
import type { TransactionBegun } from '../../engine/contract/transactions.ts';
import {
  type Answered,
  type ServiceUnderTest,
  startServiceUnderTest,
} from '../testing/service-under-test.ts';

/** Runs of tests kept in the service, and writes that they judge, over real HTTP: contract section 18. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: 'admin' });
});

afterAll(() => service.close());

interface Refusal {
  code: string;
  detail: string;
  tests: TestsOfWrite & { failures: TestRun['tests'] };
  transaction?: string;
}

/** A database of its own. */
class Client {
  static #count = 0;
  readonly database = `runs-${++Client.#count}`;

  static async open(): Promise<Client> {
    const client = new Client();
    await client.call('POST', '/databases', { name: client.database });
    return client;
  }

  call<Body>(method: string, path: string, body?: unknown, headers: object = {}): Promise<Answered<Body>> {
    return service.call<Body>(method, path, body, {
      headers: { 'x-database': this.database, 'x-api-key': 'admin', ...headers },
    });
  }

  /** Stores and tells what succeeds. */
  async know(text: string, tests = '', scope?: string): Promise<void> {
    const inScope = scope === undefined ? {} : { scope };
    for (const statement of text.split(/\.\s*/).filter((each) => each !== '')) {
      const [path, predicate = ''] = statement.includes(':-') ? ['/teach'] : ['/tell', statement];
      const [, name, args = ''] = /^(\w+)\((.*)\)$/.exec(predicate) ?? [];
      const body = path === '/teach' ? { text: statement } : { predicate: name, args: args.split(', ') };
      const { status } = await this.call('POST', path, { ...body, ...inScope });
      if (status !== 200) throw new Error(`${statement}: ${status}`);
    }
    if (tests === '') return;
    const { status } = await this.call('PUT', '/tests', { text: tests, ...inScope });
    if (status !== 200) throw new Error(`${tests}: ${status}`);
  }

  async run(body: object = {}, headers: object = {}): Promise<TestRun> {
    const answer = await this.call<TestRun>('POST', '/tests/run', body, headers);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  }

  /** The id of the oldest rule. */
  async ruleId(): Promise<string> {
    const { rules: all } = (await this.call<{ rules: { id: string }[] }>('GET', '/rules')).body;
    return all[0]?.id ?? '';
  }
}

const rules = 'parent(alma, nora). parent(nora, otto). grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)';
const grand = 'test "grand" { expect grandparent(alma, ?x) = otto. }';
const given = 'test "given" {\n  given parent(otto, paul).\n  expect grandparent(nora, ?x) = paul.\n}';
const none = 'test "none" { expect not grandparent(otto, ?_). }';

/** Of each test whether it passed. */
function passedOf({ tests }: TestRun): Record<string, boolean> {
  return Object.fromEntries(tests.map(({ name, passed }) => [name, passed]));
}

describe('POST /tests/run', () => {
  it('runs all stored tests over what is stored, and changes nothing', async () => {
    const client = await Client.open();
    await client.know(rules, `${grand} ${given} ${none}`);
    const run = await client.run({ coverage: true });
    expect(run).toMatchObject({ passed: 3, failed: 0, generation: 4 });
    expect(run.coverage).toMatchObject({ rules: 1, rulesExercised: 1 });
    const { body } = await client.call<{ results: string[] }>('POST', '/ask', {
      text: 'grandparent(nora, ?x)',
    });
    expect(body.results).toEqual([]);
  });

  it('runs tests by name and tests of a text, and says what failed, where and why', async () => {
    const client = await Client.open();
    await client.know(rules, `${grand} ${none}`);
    const run = await client.run({
      names: ['none'],
      text: '% a comment\ntest "wrong" {\n  expect grandparent(alma, ?x) = emil.\n}',
    });
    expect(passedOf(run)).toEqual({ none: true, wrong: false });
    expect(run.tests[1]).toMatchObject({
      line: 2,
      failures: [{ line: 3, column: 3, missing: ['emil'], unexpected: ['otto'] }],
    });
    expect(run.tests[1]?.failures[0]?.proof?.steps.map(({ atom }) => atom)).toContain('parent(nora, otto)');
    expect(run.tests[1]?.failures[0]?.attempts).not.toEqual([]);
  });

  it.each([
    [{ text: 'test "x" {\n  expect p(.\n}' }, 400, 'ValidationException'],
    [{ names: [] }, 400, 'ValidationException'],
    [{ names: ['nowhere'] }, 404, 'NotFound'],
    [{ scope: 's', unscoped: true }, 400, 'ValidationException'],
    [{ suppose: { withoutRules: ['r99'] } }, 404, 'RuleNotFound'],
    [{ suppose: { rules: [{ text: 'p(?x) :- q(?y)' }] } }, 422, 'RuleException'],
  ])('refuses %j', async (body, status, code) => {
    const client = await Client.open();
    expect(await client.call('POST', '/tests/run', body)).toMatchObject({ status, body: { code } });
  });

  it('lists the first 100 things of a text that are no tests, and counts the others', async () => {
    const client = await Client.open();
    const body = { text: 'p(a). '.repeat(500) };
    const { errors, detail } = (await client.call<Problem>('POST', '/tests/run', body)).body;
    expect([errors?.length, detail.endsWith('(and 499 more)')]).toEqual([100, true]);
  });

  it('runs each test in its own scope, or all in the one that is asked for', async () => {
    const client = await Client.open();
    await client.know('p(a)', 'test "of s" { given p(b). expect p(?x) = a, b. }', 's');
    await client.know('p(z)', 'test "of all" { expect p(?x) = a, z. }');
    expect(passedOf(await client.run())).toEqual({ 'of s': true, 'of all': true });
    expect(passedOf(await client.run({ scope: 's' }))).toEqual({ 'of s': true, 'of all': false });
    expect(passedOf(await client.run({ unscoped: true }))).toEqual({ 'of s': false, 'of all': false });
  });

  it('runs them over a supposed change', async () => {
    const client = await Client.open();
    await client.know(rules, `${grand} ${given}`);
    const id = await client.ruleId();
    const parent = (...args: string[]): object => ({ predicate: 'parent', args });
    const suppose = { retract: [parent('nora', 'otto')], assert: [parent('nora', 'emil')] };
    expect(passedOf(await client.run({ suppose }))).toEqual({ grand: false, given: false });
    expect(passedOf(await client.run({ suppose: { withoutRules: [id] } }))).toEqual({
      grand: false,
      given: false,
    });
    const other = 'grandparent(?x, ?z) :- parent(?y, ?z), parent(?x, ?y)';
    const replaced = { withoutRules: [id], rules: [{ text: other }] };
    const run = await client.run({ suppose: replaced, coverage: true });
    expect(passedOf(run)).toEqual({ grand: true, given: true });
    expect(run.coverage).toMatchObject({ rules: 1, rulesExercised: 1, uncovered: [] });
    expect(passedOf(await client.run())).toEqual({ grand: true, given: true });
  });

  it('runs them over the view of a transaction, with more supposed over it', async () => {
    const client = await Client.open();
    await client.know(rules, `${grand} test "two" { expect grandparent(alma, ?x) = emil, otto. }`);
    const { id } = (await client.call<TransactionBegun>('POST', '/tx/begin')).body;
    const within = { 'x-transaction-id': id };
    const emil = { predicate: 'parent', args: ['nora', 'emil'] };
    await client.call('POST', '/tell', emil, within);
    expect(passedOf(await client.run({}, within))).toEqual({ grand: false, two: true });
    expect(passedOf(await client.run({ suppose: { retract: [emil] } }, within))).toEqual({
      grand: true,
      two: false,
    });
    expect(passedOf(await client.run())).toEqual({ grand: true, two: false });
    // A failed run leaves it open.
    expect((await client.call('POST', `/tx/commit/${id}`)).status).toBe(200);
  });

  it('runs the tests as a transaction leaves them, and so does its commit', async () => {
    const client = await Client.open();
    await client.know(rules, `${grand} ${none}`);
    const { id } = (await client.call<TransactionBegun>('POST', '/tx/begin')).body;
    const within = { 'x-transaction-id': id };
    const text =
      'test "grand" { expect grandparent(alma, ?x) = emil, otto. } test "likes" { expect not likes(who: alma). }';
    await client.call('POST', '/tell', { predicate: 'parent', args: ['nora', 'emil'] }, within);
    await client.call(
      'PUT',
      '/declarations/likes/2',
      { arguments: [{ name: 'who' }, { name: 'whom' }] },
      within,
    );
    expect((await client.call('PUT', '/tests', { text }, within)).status).toBe(200);
    await client.call('DELETE', '/tests', { names: ['none'] }, within);
    expect(passedOf(await client.run({}, within))).toEqual({ grand: true, likes: true });
    expect(passedOf(await client.run({ names: ['likes'] }, within))).toEqual({ likes: true });
    expect(passedOf(await client.run())).toEqual({ grand: true, none: true });
    expect((await client.call('POST', `/tx/commit/${id}`, { runTests: true })).body).toMatchObject({
      status: 'committed',
      tests: { passed: 2, failed: 0 },
    });
  });

  it('fails each test that exceeds the limits, by name', async () => {
    const client = await Client.open();
    const endless = 'n(0). n(?y) :- n(?x), ?y = ?x + 1';
    await client.know(`${endless}. p(a)`, 'test "fine" { expect p(a). } test "endless" { expect n(-1). }');
    await client.call('PUT', '/tests', { text: 'test "after" { expect p(a). }' });
    const derivations = await client.run({ maxDerivations: 1000 });
    expect(passedOf(derivations)).toEqual({ fine: true, endless: false, after: true });
    const time = await client.run({ timeoutMs: 200 });
    expect(passedOf(time)).toMatchObject({ endless: false, after: false });
    expect(time.tests[2]?.failures[0]?.message).toContain('took all the time of the run');
  });

  it('fails a stored test that cannot be read any more, since an argument has lost its name', async () => {
    const client = await Client.open();
    const declared = { arguments: [{ name: 'person' }, { name: 'city' }] };
    await client.call('PUT', '/predicates/lives_in/2', declared);
    await client.know(
      'lives_in(ann, york)',
      'test "named" { expect lives_in{person: ann, city: ?c} = york. }',
    );
    expect(await client.run()).toMatchObject({ passed: 1 });
    await client.call('DELETE', '/predicates/lives_in/2');
    const { tests } = await client.run();
    expect(tests).toMatchObject([{ name: 'named', passed: false, failures: [{ line: 1 }] }]);
    expect(tests[0]?.failures[0]?.message).toContain('no arguments of lives_in are declared');
  });

  it("runs over the caller's tenant, for a reader and a credential of one tenant too", async () => {
    const client = await Client.open();
    await client.know(rules, grand);
    const keys = ['reader', 'writer'].map(async (role) => {
      const restriction = role === 'writer' ? { tenants: ['other'] } : {};
      const { body } = await client.call<CreatedKey>('POST', '/auth/keys', { role, ...restriction });
      return { 'x-api-key': body.key };
    });
    const [reader = {}, restricted = {}] = await Promise.all(keys);
    expect(await client.run({}, reader)).toMatchObject({ passed: 1, failed: 0 });
    expect(await client.run({}, { ...restricted, 'x-tenant-id': 'other' })).toMatchObject({
      passed: 0,
      failed: 1,
    });
    expect((await client.call('PUT', '/tests', { text: grand }, reader)).status).toBe(403);
    const own = { ...restricted, 'x-tenant-id': 'other' };
    expect((await client.call('PUT', '/tests', { text: grand }, own)).status).toBe(403);
    const lastOf = async (tenant: string): Promise<StoredTest['lastRun']> =>
      (await client.call<TestList>('GET', '/tests', undefined, { 'x-tenant-id': tenant })).body.tests[0]
        ?.lastRun;
    expect(await lastOf('default')).toMatchObject({ passed: true, generation: 4 });
    expect(await lastOf('other')).toMatchObject({ passed: false });
    await client.call('PUT', '/tests', { text: grand.replace('otto', 'emil') });
    expect(await lastOf('default')).toBeUndefined();
  });
});

describe('runTests: true', () => {
  it('refuses a rule under which a test fails, and answers how many passed otherwise', async () => {
    const client = await Client.open();
    await client.know(rules, `${grand} ${none}`);
    const wrong = { text: 'grandparent(?x, ?y) :- parent(?x, ?y)', runTests: true };
    const refused = await client.call<Refusal>('POST', '/teach', wrong);
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'TestsFailed', tests: { passed: 1, failed: 1 } },
    });
    expect(refused.body.detail).toContain('"grand"');
    expect(refused.body.tests.failures[0]).toMatchObject({
      name: 'grand',
      failures: [{ unexpected: ['nora'] }],
    });
    expect((await client.call<{ rules: unknown[] }>('GET', '/rules')).body.rules).toHaveLength(1);
    const right = { text: 'child(?x, ?y) :- parent(?y, ?x)', runTests: true };
    expect((await client.call('POST', '/teach', right)).body).toMatchObject({
      status: 'asserted',
      tests: { passed: 2, failed: 0 },
    });
    // A rule that is refused for itself is refused so.
    const unsafe = await client.call('POST', '/teach', { text: 'p(?x) :- q(?y)', runTests: true });
    expect(unsafe).toMatchObject({ status: 422, body: { code: 'RuleException' } });
  });

  it('judges changes and the deletion of a rule', async () => {
    const client = await Client.open();
    await client.know(rules, grand);
    const id = await client.ruleId();
    const update = { enabled: false, runTests: true };
    expect(await client.call('PUT', `/rules/${id}`, update)).toMatchObject({
      status: 422,
      body: { code: 'TestsFailed' },
    });
    expect(await client.call('DELETE', `/rules/${id}?runTests=true`)).toMatchObject({
      status: 422,
      body: { code: 'TestsFailed' },
    });
    expect((await client.call('PUT', `/rules/${id}`, { name: 'grand', runTests: true })).body).toMatchObject({
      status: 'updated',
      tests: { passed: 1, failed: 0 },
    });
    await client.call('DELETE', '/tests?name=grand');
    expect((await client.call('DELETE', `/rules/${id}?runTests=true`)).body).toMatchObject({
      status: 'retracted',
      tests: { passed: 0, failed: 0 },
    });
  });

  it('judges the commit of a transaction as a whole; its dry run tells', async () => {
    const client = await Client.open();
    await client.know(rules, grand);
    const begin = async (): Promise<string> =>
      (await client.call<TransactionBegun>('POST', '/tx/begin')).body.id;
    const id = await begin();
    const within = { 'x-transaction-id': id };
    await client.call('POST', '/tell', { predicate: 'parent', args: ['nora', 'emil'] }, within);
    const tried = await client.call('POST', `/tx/commit/${id}`, { dryRun: true, runTests: true });
    expect(tried).toMatchObject({
      status: 200,
      body: {
        dryRun: true,
        gained: 1,
        refused: 'TestsFailed',
        tests: { failed: 1, failures: [{ name: 'grand' }] },
      },
    });
    const refused = await client.call<Refusal>('POST', `/tx/commit/${id}`, { runTests: true });
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'TestsFailed', transaction: 'rolled_back', tests: { passed: 0, failed: 1 } },
    });
    const other = await begin();
    await client.call(
      'POST',
      '/tell',
      { predicate: 'parent', args: ['otto', 'emil'] },
      { 'x-transaction-id': other },
    );
    expect((await client.call('POST', `/tx/commit/${other}`, { runTests: true })).body).toMatchObject({
      status: 'committed',
      tests: { passed: 1, failed: 0 },
    });
    const third = await begin();
    const rule = { text: 'child(?x, ?y) :- parent(?y, ?x)', runTests: true };
    expect((await client.call('POST', '/teach', rule, { 'x-transaction-id': third })).status).toBe(400);
  });

  it('judges a merge over its plan; its dry run tells', async () => {
    const client = await Client.open();
    await client.know('likes(ann, tea)', 'test "tea" { expect likes(ann, ?x) = tea. }', 'plan');
    await client.call('POST', '/scope/fork', { source: 'plan', target: 'draft' });
    await client.know('likes(ann, milk)', '', 'draft');
    const merge = { source: 'draft', target: 'plan', strategy: 'SOURCE_WINS', runTests: true };
    const tried = await client.call('POST', '/scope/merge', { ...merge, dryRun: true });
    expect(tried).toMatchObject({
      status: 200,
      body: { added: 1, dryRun: true, refused: 'TestsFailed', tests: { passed: 0, failed: 1 } },
    });
    const refused = await client.call<Refusal>('POST', '/scope/merge', merge);
    expect(refused).toMatchObject({ status: 422, body: { code: 'TestsFailed' } });
    expect(refused.body.tests.failures[0]?.failures[0]).toMatchObject({ unexpected: ['milk'] });
    const { body } = await client.call<unknown[]>('POST', '/query', {
      predicate: 'likes',
      args: ['?x', '?y'],
      scope: 'plan',
    });
    expect(body).toHaveLength(1);
    await client.call('PUT', '/tests', {
      text: 'test "tea" { expect likes(ann, ?x) = milk, tea. }',
      scope: 'plan',
    });
    expect((await client.call('POST', '/scope/merge', merge)).body).toMatchObject({
      added: 1,
      tests: { passed: 1, failed: 0 },
    });
    expect((await client.call('POST', '/scope/merge', { ...merge, source: 'nowhere' })).status).toBe(404);
  });
});
