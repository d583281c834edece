import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AliasAdded, EntitiesMerged, EntityPage } from '../../engine/contract/entities.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import type { Searched } from '../../engine/contract/search.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Entities over real sockets; the service validates every answer against its schema. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

const get = <Body = EntityPage>(path: string, headers: Record<string, string> = {}) =>
  service.call<Body>('GET', `/entities/${path}`, undefined, { headers });

describe('GET /entities/:constant', () => {
  it.each([
    'ada',
    'a/b',
    'a%2Fb',
    '100%',
    '%',
    'Ærø 東京 🏔',
    '"quoted", (with) all',
    ' leading',
    'https://example.org/a?b=c#d',
    'alias',
    'merge',
    '3',
    'x'.repeat(5_000),
  ])('takes %.30j, percent-encoded', async (constant) => {
    await service.call('POST', '/tell', { predicate: 'named', args: [constant] });
    const { status, body } = await get(encodeURIComponent(constant));
    expect(status).toBe(200);
    expect(body.entity).toBe(constant);
    expect(body.facts.map(({ args }) => args)).toEqual([[constant]]);
  });

  it('answers like POST /entities', async () => {
    await service.call('POST', '/tell', { predicate: 'knows', args: ['ben', 'eve'], scope: 'draft' });
    await service.call('POST', '/teach', { text: 'known(?y) :- knows(?x, ?y)' });
    const got = await get('eve?scope=draft&infer=true&limit=5');
    const posted = await service.call<EntityPage>('POST', '/entities', {
      constant: 'eve',
      scope: 'draft',
      infer: true,
      limit: 5,
    });
    expect(got.body.conclusions.map(({ atom }) => atom)).toEqual(['known(eve)']);
    const timeless = ({ facts, ...rest }: EntityPage): unknown => ({
      ...rest,
      facts: facts.map(({ salience: _salience, ...fact }) => fact),
    });
    expect(timeless(posted.body)).toEqual(timeless(got.body));
  });

  it('is empty for an unknown constant, tenant and scope', async () => {
    const unknown = await get('nobody-at-all');
    expect([unknown.status, unknown.body.facts, unknown.body.nextOffset]).toEqual([200, [], null]);
    expect((await get('eve', { 'x-tenant-id': 'unborn' })).body.totals.facts).toBe(0);
    expect((await get('eve?scope=nowhere')).body.totals.facts).toBe(0);
  });

  it.each([
    ['%3Fx', 'constant'],
    ['%ED%A0%80', ''],
    ['eve?limit=0', 'limit'],
    ['eve?limit=100001', 'limit'],
    ['eve?offset=-1', 'offset'],
    ['eve?scope=a&unscoped=true', 'unscoped'],
    ['eve?inferr=true', 'inferr'],
    ['y'.repeat(17_000), ''],
  ])('refuses %.20j and says why', async (path, names) => {
    const { status, body } = await get<Problem>(path);
    expect(status).toBe(400);
    expect(body.detail).toContain(names);
  });
});

it('takes every constant in the body of POST /entities', async () => {
  for (const constant of ['', '.', '..', 'z'.repeat(65_536)]) {
    await service.call('POST', '/tell', { predicate: 'odd', args: [constant, 'other'] });
    const { body } = await service.call<EntityPage>('POST', '/entities', { constant });
    expect(body.facts.map(({ args }) => args[0])).toEqual([constant]);
  }
  const long = await service.call<Problem>('POST', '/entities', { constant: 'z'.repeat(65_537) });
  expect(long.status).toBe(400);
});

describe('an alias', () => {
  const headers = { 'x-tenant-id': 'alias-tests' };
  const post = <Body>(path: string, body: object) => service.call<Body>('POST', path, body, { headers });

  beforeAll(async () => {
    await post('/tell', { predicate: 'lives_in', args: ['ada_lovelace', 'london'] });
    await post('/tell', { predicate: 'parent', args: ['byron', 'ada_lovelace'], scope: 'draft' });
    await post<AliasAdded>('/entities/alias', { entity: 'ada_lovelace', alias: 'Countess of Lovelace' });
  });

  it.each(['where does the countess of lovelace live', '"Countess of Lovelace"'])(
    'is a mention of its entity in %j',
    async (text) => {
      const { body } = await post<Searched>('/search', { text });
      expect(body.mentions.flatMap(({ constants }) => constants)).toContain('ada_lovelace');
      expect(body.hits.map(({ atom }) => atom)).toContain('lives_in(ada_lovelace, london)');
    },
  );

  it('serves windows and recall by a query', async () => {
    const query = 'countess of lovelace';
    const { body: window } = await post<{ entries: { args: string[] }[] }>('/context/optimize', { query });
    expect(window.entries.map(({ args }) => args)).toContainEqual(['ada_lovelace', 'london']);
    const { body: recalled } = await post<{ facts: { args: string[] }[] }>('/memory/context', { query });
    expect(recalled.facts.map(({ args }) => args)).toContainEqual(['ada_lovelace', 'london']);
    const turns = ['What do we know of the Countess of Lovelace?'];
    const { body: context } = await post<{ facts: { args: string[] }[] }>('/context', { turns });
    expect(context.facts.map(({ args }) => args)).toContainEqual(['ada_lovelace', 'london']);
  });

  it('is hinted at where a question by it finds nothing, and changes no answer', async () => {
    const { body } = await post<Answer>('/ask', {
      predicate: 'lives_in',
      args: ['Countess of Lovelace', '?x'],
    });
    expect(body.results).toEqual([]);
    expect(body.hints).toEqual([
      'Countess of Lovelace is an alias of ada_lovelace, and facts are matched by text: ' +
        'did you mean lives_in(ada_lovelace, ?x)?',
    ]);
    const { body: listed } = await service.call<{ hints: string[] }>(
      'GET',
      '/facts?q=Countess%20of%20Lovelace',
      undefined,
      { headers },
    );
    expect(listed.hints[0]).toContain('did you mean ada_lovelace?');
    const { body: retracted } = await post<{ hints: string[] }>('/retract', {
      predicate: 'lives_in',
      args: ['Countess of Lovelace', 'london'],
    });
    expect(retracted.hints[0]).toContain('lives_in(ada_lovelace, london)');
  });

  it('is exported and imported', async () => {
    const exported = async (query: string): Promise<string> =>
      (await fetch(`${service.address}/export${query}`, { headers })).text();
    const text = await exported('');
    expect(text.split('\n')).toContain('{"alias":"Countess of Lovelace","entity":"ada_lovelace"}');
    expect(await exported('?predicate=parent')).not.toContain('Countess');
    const copy = { 'x-tenant-id': 'alias-copy', 'content-type': 'application/x-ndjson' };
    const body = `${text}{"alias":"london","entity":"ada_lovelace"}\n`;
    for (const dryRun of [true, false]) {
      const response = await fetch(`${service.address}/import?dryRun=${dryRun}`, {
        method: 'POST',
        headers: copy,
        body,
      });
      const answer = await response.text();
      expect(answer).toContain('"aliases":1');
      expect(answer).toContain('london is a constant of');
    }
    const { body: page } = await get(encodeURIComponent('Countess of Lovelace'), {
      'x-tenant-id': 'alias-copy',
    });
    expect(page).toMatchObject({ entity: 'ada_lovelace', aliases: ['Countess of Lovelace'] });
  });
});

describe('a merge', () => {
  it('is previewed, made and refused with a reason', async () => {
    const headers = { 'x-tenant-id': 'merge-tests' };
    const post = <Body>(path: string, body: object) => service.call<Body>('POST', path, body, { headers });
    await post('/tell', { predicate: 'parent', args: ['bobby', 'dora'] });
    const preview = await post<EntitiesMerged>('/entities/merge', {
      from: 'bobby',
      into: 'bob',
      dryRun: true,
    });
    expect(preview.body).toMatchObject({ facts: 1, joined: 0, dryRun: true });
    const merged = await post<EntitiesMerged>('/entities/merge', { from: 'bobby', into: 'bob' });
    expect(merged.body.rewritten[0]?.after.args).toEqual(['bob', 'dora']);
    const refused = await post<Problem>('/entities/merge', { from: 'x', into: 'bobby' });
    expect([refused.status, refused.body.code]).toEqual([409, 'Conflict']);
    expect(refused.body.detail).toContain('bobby is an alias of bob');
  });
});

describe('aliases in a transaction', () => {
  const begin = async (): Promise<Record<string, string>> => {
    const { body } = await service.call<{ id: string }>('POST', '/tx/begin');
    return { 'x-transaction-id': body.id };
  };
  const commit = (within: Record<string, string>) =>
    service.call('POST', `/tx/commit/${within['x-transaction-id']}`);
  const alias = (entity: string, name: string, within: Record<string, string> = {}) =>
    service.call('POST', '/entities/alias', { entity, alias: name }, { headers: within });

  it('are pending until it commits, then all are there', async () => {
    const within = await begin();
    const pending = { status: 'pending', entity: 'tx1', alias: 'Tx One' };
    expect((await alias('tx1', 'Tx One', within)).body).toMatchObject(pending);
    await alias('tx1', 'gone', within);
    const gone = { entity: 'tx1', alias: 'gone' };
    await service.call('DELETE', '/entities/alias', gone, { headers: within });
    expect((await get('tx1')).body.aliases).toEqual([]);
    expect((await commit(within)).status).toBe(200);
    expect((await get('tx1')).body.aliases).toEqual(['Tx One']);
  });

  it('are refused for what the transaction did, and roll it back', async () => {
    const within = await begin();
    const fact = { predicate: 'p', args: ['told in tx'] };
    await service.call('POST', '/tell', fact, { headers: within });
    const refused = await alias('tx2', 'told in tx', within);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: 'Conflict', transaction: 'rolled_back' });
  });

  it('can be of a constant that the transaction retracts', async () => {
    await service.call('POST', '/tell', { predicate: 'p', args: ['Tx Three'] });
    const within = await begin();
    const fact = { predicate: 'p', args: ['Tx Three'] };
    await service.call('POST', '/retract', fact, { headers: within });
    expect((await alias('tx3', 'Tx Three', within)).status).toBe(200);
    expect((await commit(within)).status).toBe(200);
    expect((await get('tx3')).body.aliases).toEqual(['Tx Three']);
  });

  it('conflict with what others gave since it began', async () => {
    const [within, other] = [await begin(), await begin()];
    await alias('tx4', 'Tx Four', within);
    await alias('Tx Four', 'chained', other);
    expect((await commit(within)).status).toBe(200);
    expect((await commit(other)).status).toBe(409);
    expect((await get('tx4')).body.aliases).toEqual(['Tx Four']);
  });
});
