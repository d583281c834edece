import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FactOutcome } from '../../engine/contract/facts.ts';
import type { RuleOutcome, StoredRule } from '../../engine/contract/rules.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { parseIfMatch } from './caller.ts';

/** ETag, If-Match and ifGeneration: contract sections 3 and 9. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

let count = 0;
const teach = () => service.call<RuleOutcome>('POST', '/teach', { text: `q${count++}(?x) :- p(?x)` });
const put = (id: string, body: object, ifMatch: string) =>
  service.call<RuleOutcome>('PUT', `/rules/${id}`, body, { headers: { 'if-match': ifMatch } });
const remove = (id: string, ifMatch: string) =>
  service.call('DELETE', `/rules/${id}`, undefined, { headers: { 'if-match': ifMatch } });

describe('the entity tag of a rule', () => {
  it('is in the answer and the ETag header when a rule is taught, changed or read', async () => {
    const taught = await teach();
    const { id, etag } = taught.body;
    expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    expect(taught.headers.get('etag')).toBe(etag);
    const read = await service.call<StoredRule>('GET', `/rules/${id}`);
    expect(read.headers.get('etag')).toBe(etag);
    expect(read.body).toMatchObject({ id, etag, enabled: true });
    const { rules } = (await service.call<{ rules: StoredRule[] }>('GET', '/rules')).body;
    expect(rules.find((rule) => rule.id === id)).toEqual(read.body);
    const changed = await service.call<RuleOutcome>('PUT', `/rules/${id}`, { name: 'n' });
    expect(changed.headers.get('etag')).toBe(changed.body.etag);
  });

  it('changes with every change of the rule, and with nothing else', async () => {
    const { id, etag } = (await teach()).body;
    const tagOf = async () => (await service.call<StoredRule>('GET', `/rules/${id}`)).body.etag;
    await teach();
    await service.call('POST', '/tell', { predicate: 'p', args: ['a'] });
    await service.call('POST', '/ask', { predicate: 'q0', args: ['?x'] });
    expect(await tagOf()).toBe(etag);
    expect((await put(id, { enabled: true }, '*')).body).toMatchObject({ status: 'unchanged', etag });
    const seen = new Set([etag]);
    for (const body of [{ enabled: false }, { name: 'n' }, { description: 'd' }, { enabled: true }]) {
      seen.add((await put(id, body, '*')).body.etag);
      expect(seen).toContain(await tagOf());
    }
    expect(seen.size).toBe(5);
  });

  it('is absent for an unknown rule: 404', async () => {
    const { status, body } = await service.call('GET', '/rules/none');
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'RuleNotFound' });
  });
});

describe('If-Match', () => {
  it('lets a rule be changed and deleted with its current tag, alone or among others, or with *', async () => {
    const { id, etag } = (await teach()).body;
    const named = await put(id, { name: 'a' }, etag);
    expect(named.status).toBe(200);
    expect((await put(id, { name: 'b' }, `"x", W/"y" ,${named.body.etag},`)).status).toBe(200);
    expect((await put(id, { name: 'c' }, '*')).status).toBe(200);
    const last = (await service.call<StoredRule>('GET', `/rules/${id}`)).body.etag;
    expect((await remove(id, last)).status).toBe(200);
  });

  it.each([
    ['the tag of an earlier version', (etag: string) => etag],
    ['a weak tag', (_: string, now: string) => `W/${now}`],
    ['tags of others', () => '"a", "b"'],
  ])('returns 412 and changes nothing if it is %s', async (_, headerOf) => {
    const { id, etag } = (await teach()).body;
    const now = (await put(id, { name: 'now' }, etag)).body.etag;
    for (const refused of [
      await put(id, { name: 'later' }, headerOf(etag, now)),
      await remove(id, headerOf(etag, now)),
    ])
      expect(refused).toMatchObject({ status: 412, body: { code: 'PreconditionFailed' } });
    expect((await service.call<StoredRule>('GET', `/rules/${id}`)).body).toMatchObject({
      name: 'now',
      etag: now,
    });
  });

  it('lets exactly one of many concurrent changes win', async () => {
    const { id, etag } = (await teach()).body;
    const names = Array.from({ length: 20 }, (_, at) => `name ${at}`);
    const answers = await Promise.all(names.map((name) => put(id, { name }, etag)));
    const statuses = answers.map(({ status }) => status).toSorted((left, right) => left - right);
    expect(statuses).toEqual([200, ...Array<number>(19).fill(412)]);
  });

  it('returns 404 for an unknown rule before anything else', async () => {
    expect((await put('none', { enabled: true }, '"a"')).status).toBe(404);
    expect((await remove('none', '*')).status).toBe(404);
  });

  it.each(['', ',', ' , ', 'a', '"a', '"a" "b"', '"a"x', '*, "a"', 'w/"a"', '"a", *'])(
    'rejects %j with 400',
    async (header) => {
      const { id } = (await teach()).body;
      const { status, body } = await put(id, { name: 'x' }, header);
      expect({ status, path: body }).toMatchObject({ status: 400, path: { errors: [{ path: 'If-Match' }] } });
    },
  );

  it('is parsed as the standard requires', () => {
    expect(parseIfMatch(' * ')).toBe('*');
    expect(parseIfMatch('"a,b", W/"c",, "" ,"!#~"')).toEqual(['"a,b"', '""', '"!#~"']);
    expect(parseIfMatch('W/"a"')).toEqual([]);
  });

  it('is checked before a 409 or 422', async () => {
    const { id, etag } = (await teach()).body;
    const other = (await service.call<RuleOutcome>('POST', '/teach', { text: `other(?x) :- p(?x)` })).body;
    expect((await put(id, { text: other.rule }, '"old"')).status).toBe(412);
    expect((await put(id, { text: other.rule }, etag)).status).toBe(409);
  });
});

describe('ifGeneration', () => {
  const fact = (ifGeneration?: number, more: object = {}) => ({
    predicate: 'g',
    args: [String(count)],
    ...(ifGeneration === undefined ? {} : { ifGeneration }),
    ...more,
  });
  const tell = async (body: object) => service.call<FactOutcome>('POST', '/assert/fact', body);

  it('lets a fact be written if it has not changed since, whatever else did', async () => {
    count++;
    const { generation } = (await tell(fact())).body;
    await tell({ predicate: 'else', args: [String(count)] });
    expect((await tell(fact(generation, { metadata: { n: 1 } }))).body.status).toBe('updated');
  });

  it.each([
    ['/assert/fact', 409],
    ['/tell', 409],
    ['/retract', 409],
    ['/forget', 409],
    ['/retract/pattern', 409],
  ])(
    'rejects %s with %i if the fact was changed, removed, or removed and added again',
    async (path, status) => {
      count++;
      const { generation } = (await tell(fact())).body;
      const write = () => service.call('POST', path, fact(generation));
      const updated = (await tell(fact(undefined, { metadata: { n: 1 } }))).body.generation;
      const first = await write();
      expect(first.status).toBe(status);
      expect(first.body.detail).toContain(`generation ${updated}`);
      await service.call('POST', '/retract', fact());
      expect((await write()).body.detail).toContain(`generation ${updated + 1}`);
      await tell(fact());
      expect((await write()).body.detail).toContain(`generation ${updated + 2}`);
      expect((await service.call('POST', path, fact(updated + 2))).status).toBe(200);
    },
  );

  it('rejects a pattern if a matching fact was added or changed; a removed one no longer matches', async () => {
    count++;
    const n = String(count);
    const of = (argument: string) => ({ predicate: 'h', args: [n, argument] });
    const { generation } = (await tell(of('a'))).body;
    const pattern = (ifGeneration: number) =>
      service.call('POST', '/retract/pattern', {
        predicate: 'h',
        args: [n, '?x'],
        ifGeneration,
        dryRun: true,
      });
    expect((await pattern(generation)).status).toBe(200);
    await tell({ predicate: 'h', args: ['elsewhere', 'b'] });
    expect((await pattern(generation)).status).toBe(200);
    const came = (await tell(of('b'))).body.generation;
    expect((await pattern(generation)).status).toBe(409);
    expect((await pattern(came)).status).toBe(200);
    await service.call('POST', '/retract', of('b'));
    expect((await pattern(came)).status).toBe(200);
    expect((await pattern(generation - 1)).status).toBe(409);
  });

  it('still works after compaction of removed facts', async () => {
    const facts = Array.from({ length: 2000 }, (_, at) => ({ predicate: 'bulk', args: [String(at)] }));
    const { generation } = (await service.call<{ generation: number }>('POST', '/assert/facts', { facts }))
      .body;
    await service.call('POST', '/retract/pattern', { predicate: 'bulk', args: ['?x'] });
    await tell({ predicate: 'bulk', args: ['kept'] });
    for (const [path, body] of [
      ['/assert/fact', { predicate: 'bulk', args: ['7'], ifGeneration: generation }],
      ['/retract', { predicate: 'bulk', args: ['7'], ifGeneration: generation }],
      ['/retract/pattern', { predicate: 'bulk', args: ['7'], ifGeneration: generation }],
    ] as const)
      expect((await service.call('POST', path, body)).status, path).toBe(409);
    const kept = { predicate: 'bulk', args: ['kept'], ifGeneration: generation + 2 };
    expect((await service.call('POST', '/retract', kept)).status).toBe(200);
  });
});

describe('If-Match in a transaction', () => {
  it('returns 412 for a rule that was changed since, and the transaction stays open', async () => {
    const { id, etag } = (await teach()).body;
    await put(id, { name: 'changed' }, etag);
    const begun = await service.call<{ id: string }>('POST', '/tx/begin');
    const transaction = { 'x-transaction-id': begun.body.id };
    const rename = (ifMatch: string) =>
      service.call<Record<string, unknown>>(
        'PUT',
        `/rules/${id}`,
        { name: 'mine' },
        {
          headers: { ...transaction, 'if-match': ifMatch },
        },
      );
    const refused = await rename(etag);
    expect({
      status: refused.status,
      code: refused.body.code,
      transaction: refused.body.transaction,
    }).toEqual({
      status: 412,
      code: 'PreconditionFailed',
      transaction: undefined,
    });
    const now = (await service.call<StoredRule>('GET', `/rules/${id}`)).body.etag;
    expect((await rename(now)).body).toMatchObject({ status: 'pending' });
    expect((await service.call('POST', `/tx/commit/${begun.body.id}`)).body).toMatchObject({ operations: 1 });
    expect((await service.call<StoredRule>('GET', `/rules/${id}`)).body.name).toBe('mine');
  });
});
