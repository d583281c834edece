import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;
const admin = 'the-admin-of-the-test';

beforeAll(async () => {
  service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: admin });
});
afterAll(() => service.close());

interface Answer {
  readonly generation: number;
  readonly generations: readonly Record<string, unknown>[];
  readonly nextCursor: string | null;
  readonly id: string;
  readonly key: string;
  readonly code: string;
  readonly touched: readonly { what: string; generation: number }[];
  readonly lives: readonly Record<string, unknown>[];
  readonly status: string;
  readonly rules: readonly Record<string, unknown>[];
  readonly left: { readonly rules: number };
}

async function call(
  method: string,
  path: string,
  body: unknown,
  tenant: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Answer }> {
  const { status, body: answer } = await service.call<Answer>(method, path, body, {
    headers: { 'x-tenant-id': tenant, 'x-api-key': admin, ...headers },
  });
  return { status, body: answer };
}

const tell = async (tenant: string, predicate: string, args: string[], headers = {}): Promise<Answer> =>
  (await call('POST', '/tell', { predicate, args }, tenant, headers)).body;

test('the history names actor, surface, client and reason, newest first', async () => {
  const { key } = (await call('POST', '/auth/keys', { role: 'writer', description: 'robot' }, 'who')).body;
  await tell('who', 'p', ['a'], { 'x-client': 'importer/1.4', 'x-reason': encodeURIComponent('wegen Käse') });
  await tell('who', 'p', ['b'], { 'x-api-key': key, 'x-client': 'cli/0.1.0' });
  await call('POST', '/retract', { predicate: 'p', args: ['a'] }, 'who');
  const { generations } = (await call('GET', '/history', undefined, 'who')).body;
  expect(generations).toMatchObject([
    { operation: 'retract', removed: { count: 1, facts: ['p(a)'] }, added: { count: 0 }, surface: 'http' },
    { actor: { name: 'robot' }, surface: 'cli', client: 'cli/0.1.0', added: { count: 1, facts: ['p(b)'] } },
    { surface: 'http', client: 'importer/1.4', reason: 'wegen Käse', added: { count: 1, facts: ['p(a)'] } },
  ]);
  const byRobot = (await call('GET', '/history?actor=robot', undefined, 'who')).body.generations;
  expect(byRobot).toHaveLength(1);
  expect((await call('GET', '/history?surface=cli', undefined, 'who')).body.generations).toEqual(byRobot);
  expect((await call('GET', '/history?actor=nobody', undefined, 'who')).body.generations).toEqual([]);
});

test('filters by entity with its aliases, predicate, arguments, rule and moments; pages by cursor', async () => {
  const tenant = 'filters';
  const first = await tell(tenant, 'likes', ['ann', 'tea']);
  await tell(tenant, 'likes', ['bob', 'tea']);
  await call('POST', '/entities/alias', { entity: 'ann', alias: 'annie' }, tenant);
  await tell(tenant, 'owns', ['annie', 'cat']);
  const { id, generation } = (await call('POST', '/teach', { text: 'drinker(?x) :- likes(?x, tea)' }, tenant))
    .body;
  const listed = async (query: string): Promise<unknown[]> =>
    (await call('GET', `/history?${query}`, undefined, tenant)).body.generations.map(
      (entry) => (entry['added'] as { facts: string[] }).facts[0] ?? entry['rules'] ?? null,
    );
  expect(await listed('entity=ann')).toEqual(['owns(annie, cat)', 'likes(ann, tea)']);
  expect(await listed('predicate=likes')).toEqual(['likes(bob, tea)', 'likes(ann, tea)']);
  const args = encodeURIComponent(JSON.stringify(['?who', 'cat']));
  expect(await listed(`predicate=owns&args=${args}`)).toEqual(['owns(annie, cat)']);
  expect(await listed(`rule=${id}`)).toEqual([
    [{ id, rule: 'drinker(?x) :- likes(?x, tea)', change: 'added' }],
  ]);
  expect(await listed(`predicate=likes&after=${first.generation}`)).toEqual(['likes(bob, tea)']);
  expect(await listed(`predicate=likes&before=${first.generation + 1}`)).toEqual(['likes(ann, tea)']);
  expect(await listed('after=2100-01-01')).toEqual([]);
  expect(await listed(`before=${generation}&predicate=owns`)).toEqual(['owns(annie, cat)']);
  const seen: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await call(
      'GET',
      `/history?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
      undefined,
      tenant,
    );
    seen.push(...page.body.generations.map((entry) => entry['generation']));
    cursor = page.body.nextCursor;
  }
  const whole = (await call('GET', '/history', undefined, tenant)).body.generations;
  expect(seen).toEqual(whole.map((entry) => entry['generation']));
});

test('another tenant sees neither the facts nor the words of their writer', async () => {
  await tell('mine', 'secret', ['of mine'], { 'x-reason': 'my%20reason' });
  const { generations } = (await call('GET', '/history', undefined, 'yours')).body;
  expect(JSON.stringify(generations)).not.toContain('of mine');
  expect(JSON.stringify(generations)).not.toContain('my reason');
});

test.each([
  ['cursor=x', 'cursor'],
  ['limit=0', 'limit'],
  ['args=%5B%5D', 'args'],
  ['predicate=p&args=nonsense', 'args'],
  ['after=yesterday', 'after'],
  ['surface=radio', 'surface'],
  ['colour=red', 'colour'],
])('GET /history?%s is refused', async (query, path) => {
  const { status, body } = await call('GET', `/history?${query}`, undefined, 'refused');
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain(path);
});

test('the lives of a fact have ids, bounds and origins, also by the id of a retracted one', async () => {
  const tenant = 'lives';
  const one = await tell(tenant, 'p', ['a']);
  const update = { predicate: 'p', args: ['a'], metadata: { source: 'two' } };
  const two = (await call('POST', '/tell', update, tenant)).body;
  await call('DELETE', `/facts/${one.id}`, undefined, tenant);
  const three = await tell(tenant, 'p', ['a']);
  for (const id of [one.id, three.id]) {
    const { lives } = (await call('GET', `/facts/${id}/history`, undefined, tenant)).body;
    expect(lives).toMatchObject([
      {
        id: one.id,
        from: { generation: one.generation, surface: 'http' },
        to: { generation: two.generation },
      },
      { id: one.id, metadata: { source: 'two' }, to: { generation: two.generation + 1 } },
      { id: three.id, metadata: {}, to: null },
    ]);
  }
  expect((await call('GET', '/facts/f999-0/history', undefined, tenant)).status).toBe(404);
  expect((await call('GET', `/facts/${one.id}/history`, undefined, 'stranger')).status).toBe(404);
});

test('a revert takes back and gives back facts whose validity has ended: asOf sees what it leaves', async () => {
  const tenant = 'ended';
  const seen = async (): Promise<unknown> =>
    (await call('POST', '/query', { predicate: 'p', args: ['?x'], asOf: 500 }, tenant)).body;
  const told = { predicate: 'p', args: ['a'], validUntil: 1000, metadata: { n: 1 } };
  const { generation, id } = (await call('POST', '/tell', told, tenant)).body;
  const back = (await call('POST', '/history/revert', { generation }, tenant)).body;
  expect(back).toMatchObject({ status: 'reverted', removed: { count: 1, facts: ['p(a)'] } });
  expect(await seen()).toEqual([]);
  expect((await call('GET', `/facts/${id}/history`, undefined, tenant)).body.lives).toMatchObject([
    { id, to: { generation: back.generation } },
  ]);
  const again = (await call('POST', '/history/revert', { generation: back.generation }, tenant)).body;
  expect(again).toMatchObject({ status: 'reverted', added: { count: 1, facts: ['p(a)'] } });
  expect(await seen()).toMatchObject([{ predicate: 'p', args: ['a'] }]);
  expect(await call('POST', '/query', { predicate: 'p', args: ['?x'] }, tenant)).toMatchObject({ body: [] });
});

test('a revert gives facts back under new ids, can be tried and reverted, and lists what was touched', async () => {
  const tenant = 'revert';
  const told = { predicate: 'p', args: ['a'], metadata: { source: 'me' }, validUntil: '2090-01-01' };
  const first = (await call('POST', '/tell', told, tenant)).body;
  const { generation } = (await call('POST', '/retract', { predicate: 'p', args: ['a'] }, tenant)).body;
  const tried = (await call('POST', '/history/revert', { generation, dryRun: true }, tenant)).body;
  expect(tried).toMatchObject({ status: 'reverted', added: { facts: ['p(a)'] }, dryRun: true });
  const done = (await call('POST', '/history/revert', { generation }, tenant)).body;
  expect(done).toMatchObject({ added: { count: 1, facts: ['p(a)'] }, removed: { count: 0 } });
  const facts = async (): Promise<Record<string, unknown>[]> =>
    ((await call('GET', '/facts', undefined, tenant)).body as unknown as { facts: Record<string, unknown>[] })
      .facts;
  expect(await facts()).toMatchObject([
    { args: ['a'], metadata: { source: 'me' }, validUntil: Date.UTC(2090, 0, 1) },
  ]);
  expect((await facts())[0]?.['id']).not.toBe(first.id);
  const refused = await call('POST', '/history/revert', { generation: first.generation }, tenant);
  expect(refused.status).toBe(409);
  expect(refused.body.touched).toEqual([{ what: 'p(a)', generation }]);
  await call('POST', '/history/revert', { generation: done.generation }, tenant);
  expect(await facts()).toEqual([]);
  const nothing = await call(
    'POST',
    '/history/revert',
    { from: first.generation, to: first.generation },
    tenant,
  );
  expect(nothing.body.status).toBe('unchanged');
});

test('a superseded fact and a merge of entities are taken back whole', async () => {
  const tenant = 'whole';
  await call(
    'PUT',
    '/predicates/lives_at/2',
    { arguments: [{ name: 'who' }, { name: 'where' }], key: ['who'], onConflict: 'supersede' },
    tenant,
  );
  await tell(tenant, 'lives_at', ['ann', 'york']);
  const moved = await tell(tenant, 'lives_at', ['ann', 'leeds']);
  const reverted = await call('POST', '/history/revert', { generation: moved.generation }, tenant);
  expect(reverted.body).toMatchObject({ status: 'reverted' });
  const query = async (): Promise<unknown> =>
    (
      (await call('POST', '/query', { predicate: 'lives_at', args: ['?x', '?y'] }, tenant))
        .body as unknown as {
        args: string[];
      }[]
    ).map(({ args }) => args.join(' '));
  expect(await query()).toEqual(['ann york']);
  await tell(tenant, 'lives_at', ['annie', 'rome']);
  await call('POST', '/query', { predicate: 'lives_at', args: ['?x', '?y'] }, tenant);
  const merged = (await call('POST', '/entities/merge', { from: 'annie', into: 'anna' }, tenant)).body;
  expect(await query()).toEqual(['ann york', 'anna rome']);
  const back = (await call('POST', '/history/revert', { generation: merged.generation }, tenant)).body;
  expect(back).toMatchObject({
    added: { facts: ['lives_at(annie, rome)'] },
    removed: { facts: ['lives_at(anna, rome)'] },
  });
  expect(await query()).toEqual(['ann york', 'annie rome']);
  expect((await call('GET', '/entities/anna', undefined, tenant)).body).toMatchObject({ aliases: [] });
});

test('rules and declarations come back only with rules: true and the right to change them', async () => {
  const tenant = 'rules';
  const { id } = (await call('POST', '/teach', { text: 'r(?x) :- q(?x)', name: 'mine' }, tenant)).body;
  const { generation } = (await call('DELETE', `/rules/${id}`, undefined, tenant)).body;
  const left = (await call('POST', '/history/revert', { generation }, tenant)).body;
  expect(left).toMatchObject({ status: 'unchanged', left: { rules: 1 } });
  const { key } = (await call('POST', '/auth/keys', { role: 'writer', tenants: [tenant] }, tenant)).body;
  const forbidden = await call('POST', '/history/revert', { generation, rules: true }, tenant, {
    'x-api-key': key,
  });
  expect(forbidden.status).toBe(403);
  const done = (await call('POST', '/history/revert', { generation, rules: true }, tenant)).body;
  expect(done.rules).toEqual([{ id, rule: 'r(?x) :- q(?x)', change: 'added' }]);
  const { rules } = (await call('GET', '/rules', undefined, tenant)).body;
  expect(rules).toContainEqual(expect.objectContaining({ name: 'mine' }));
});

test.each([
  [{}, 'generation'],
  [{ generation: 1, from: 0, to: 1 }, 'generation'],
  [{ from: 1 }, 'generation'],
  [{ generation: 999_999 }, 'future'],
  [{ from: '2100-01-01', to: '2101-01-01' }, 'future'],
  [{ from: 3, to: 1 }, 'to'],
])('POST /history/revert %j is refused', async (body, word) => {
  const answer = await call('POST', '/history/revert', body, 'refused');
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toContain(word);
});

test('a request repeated with its Idempotency-Key gets the same answer and changes nothing', async () => {
  const tenant = 'again';
  const { generation } = await tell(tenant, 'p', ['a']);
  const headers = { 'idempotency-key': 'once' };
  const first = await call('POST', '/history/revert', { generation }, tenant, headers);
  const second = await call('POST', '/history/revert', { generation }, tenant, headers);
  expect(second.body).toEqual(first.body);
});

test('the storage tells what the history costs', async () => {
  const { body } = await call('GET', '/admin/storage', undefined, 'any');
  expect(body).toMatchObject({ history: { days: 30, since: null } });
});
