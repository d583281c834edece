import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  ConstraintOutcome,
  StoredConstraint,
  ConstraintViolation,
} from '../../engine/contract/constraints.ts';
import type { ViolationList } from '../../engine/contract/violations.ts';
import type { FactOutcome } from '../../engine/contract/facts.ts';
import type { TransactionBegun } from '../../engine/contract/transactions.ts';
import type { ImportDone } from '../../engine/contract/transfer.ts';
import {
  type Answered,
  type ServiceUnderTest,
  startServiceUnderTest,
} from '../testing/service-under-test.ts';

/** Constraints over real HTTP: contract section 14. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

interface Refusal {
  code: string;
  detail: string;
  violations: ConstraintViolation[];
  violationCount: number;
}

/** `expect(got).toEqual(wanted)`, for methods. */
function expectSame(got: unknown, wanted: unknown, about = ''): void {
  expect(got, about).toEqual(wanted);
}

/** A database of its own. */
class Client {
  static #count = 0;
  readonly database = `constraints-${++Client.#count}`;

  static async open(): Promise<Client> {
    const client = new Client();
    await service.call('POST', '/databases', { name: client.database });
    return client;
  }

  call<Body>(method: string, path: string, body?: unknown, headers: object = {}): Promise<Answered<Body>> {
    return service.call<Body>(method, path, body, {
      headers: { 'x-database': this.database, ...headers },
    });
  }

  async tell(predicate: string, args: readonly string[] = [], fields: object = {}): Promise<FactOutcome> {
    const { status, body } = await this.call<FactOutcome>('POST', '/tell', { predicate, args, ...fields });
    expectSame(status, 200);
    return body;
  }

  async forbid(text: string, fields: object = {}): Promise<string> {
    const { status, body } = await this.call<ConstraintOutcome>('POST', '/constraints', {
      text,
      name: text,
      mode: 'reject',
      ...fields,
    });
    expectSame(status, 200);
    return body.id;
  }

  async expectRefused(method: string, path: string, body?: unknown, headers: object = {}): Promise<Refusal> {
    const answer = await this.call<Refusal>(method, path, body, headers);
    const wanted = [422, 'ConstraintViolated'];
    expectSame([answer.status, answer.body.code], wanted, JSON.stringify(answer.body));
    expectSame(answer.body.violationCount, answer.body.violations.length);
    for (const { proof, instance } of answer.body.violations)
      expectSame(proof?.steps[proof.roots[0] ?? -1]?.atom, instance);
    return answer.body;
  }
}

const age = '!- adult(?x), age(?x, ?a), ?a < 18';

describe('constraints', () => {
  it('are added with the reason after the body as description, listed, changed and deleted', async () => {
    const client = await Client.open();
    const added = await client.call<ConstraintOutcome>('POST', '/constraints', {
      text: `${age} "an adult is of age".`,
      name: 'of age',
      mode: 'warn',
    });
    expect(added.body).toEqual({ status: 'asserted', id: 'c1', constraint: age, generation: 1 });
    const again = await client.call<ConstraintOutcome>('POST', '/constraints', {
      text: age,
      name: 'of age',
      mode: 'warn',
    });
    expect(again.body).toMatchObject({ status: 'unchanged', id: 'c1', generation: 1 });
    const changed = await client.call<ConstraintOutcome>('PUT', '/constraints/c1', { mode: 'reject' });
    expect(changed.body).toMatchObject({ status: 'updated', id: 'c1', generation: 2 });
    const listed = await client.call<{ constraints: StoredConstraint[] }>('GET', '/constraints');
    expect(listed.body.constraints).toMatchObject([
      { id: 'c1', text: age, name: 'of age', description: 'an adult is of age', mode: 'reject', scope: null },
    ]);
    expect((await client.call('DELETE', '/constraints/c1')).body).toEqual({
      status: 'retracted',
      id: 'c1',
      generation: 3,
    });
    expect((await client.call<Refusal>('DELETE', '/constraints/c1')).status).toBe(404);
  });

  it('lists what is violated, page by page, of one constraint or of a predicate', async () => {
    const client = await Client.open();
    const id = await client.forbid(age, { mode: 'warn' });
    await client.forbid('!- p(?x), not q(?x)', { mode: 'warn' });
    for (const name of ['ann', 'bob']) {
      await client.tell('adult', [name]);
      await client.tell('age', [name, '12']);
    }
    await client.tell('p', ['a'], { scope: 's' });
    const list = async (query: string): Promise<ViolationList> =>
      (await client.call<ViolationList>('GET', `/violations?${query}`)).body;
    expect(await list('limit=1')).toMatchObject({
      truncated: true,
      total: 3,
      violations: [{ constraint: id }],
    });
    expect((await list('predicate=q')).violations).toMatchObject([{ scope: 's', bindings: { x: 'a' } }]);
    expect((await list(`constraint=${id}&proof=false`)).violations).toMatchObject([
      { bindings: { x: 'ann', a: '12' }, proof: null },
      { bindings: { x: 'bob', a: '12' }, proof: null },
    ]);
    expect((await list('kind=constraint')).total).toBe(3);
    expect((await client.call('GET', '/violations?constraint=c99')).status).toBe(404);
    expect((await client.call('GET', '/violations?limit=0')).status).toBe(400);
  });

  it('refuse unsafe bodies, other texts and unknown fields', async () => {
    const client = await Client.open();
    const refused = async (body: object): Promise<[number, string]> => {
      const answer = await client.call<Refusal>('POST', '/constraints', { name: 'n', mode: 'warn', ...body });
      return [answer.status, answer.body.detail];
    };
    expect((await refused({ text: '!- not p(?x)' }))[0]).toBe(422);
    expect((await refused({ text: 'p(?x) :- q(?x)' }))[1]).toContain('a constraint is !-');
    expect((await refused({ text: '!- p(?x)', unscoped: true }))[0]).toBe(400);
    expect((await refused({ text: '!- p(?x)', mode: 'shout' }))[0]).toBe(400);
  });
});

describe('constraints in a transaction', () => {
  const begin = async (client: Client): Promise<{ path: string; headers: object }> => {
    const { body } = await client.call<TransactionBegun>('POST', '/tx/begin');
    return { path: `/tx/commit/${body.id}`, headers: { 'x-transaction-id': body.id } };
  };
  const idsOf = async (client: Client): Promise<string[]> =>
    (await client.call<{ constraints: StoredConstraint[] }>('GET', '/constraints')).body.constraints.map(
      ({ id }) => id,
    );
  const forbidden = { text: '!- p(?x)', name: 'no p', mode: 'reject' };

  it('are added, changed and deleted with its commit', async () => {
    const client = await Client.open();
    const kept = await client.forbid('!- q(?x)');
    const gone = await client.forbid('!- r(?x)');
    const { path, headers } = await begin(client);
    const added = await client.call('POST', '/constraints', forbidden, headers);
    expect(added.body).toEqual({ status: 'pending', constraint: '!- p(?x)' });
    const changed = await client.call('PUT', `/constraints/${kept}`, { mode: 'warn' }, headers);
    expect(changed.body).toEqual({ status: 'pending', constraint: '!- q(?x)' });
    const deleted = await client.call('DELETE', `/constraints/${gone}`, undefined, headers);
    expect(deleted.body).toEqual({ status: 'pending', constraint: '!- r(?x)' });
    await client.tell('p', ['a'], { scope: 'other' });
    expect(await idsOf(client)).toEqual([kept, gone]);
    await client.expectRefused('POST', path, { dryRun: true });
    await client.call('POST', '/retract', { predicate: 'p', args: ['a'], scope: 'other' });
    expect((await client.call<object>('POST', path)).body).toMatchObject({
      status: 'committed',
      operations: 3,
    });
    expect(await idsOf(client)).toEqual([kept, expect.stringMatching(/^c\d+$/)]);
    await client.expectRefused('POST', '/tell', { predicate: 'p', args: ['a'] });
    await client.tell('q', ['a']);
    await client.tell('r', ['a']);
  });

  it('refuse its own facts, and are then not added either', async () => {
    const client = await Client.open();
    const { path, headers } = await begin(client);
    await client.call('POST', '/tell', { predicate: 'p', args: ['a'] }, headers);
    await client.call('POST', '/constraints', forbidden, headers);
    await client.expectRefused('POST', path);
    expect(await idsOf(client)).toEqual([]);
  });

  it('are added once: not twice by it, and not after another has added the same', async () => {
    const client = await Client.open();
    const twice = await begin(client);
    await client.call('POST', '/constraints', forbidden, twice.headers);
    expect((await client.call('POST', '/constraints', forbidden, twice.headers)).status).toBe(409);
    const late = await begin(client);
    await client.call('POST', '/constraints', forbidden, late.headers);
    const id = await client.forbid(forbidden.text);
    expect((await client.call('POST', late.path)).status).toBe(409);
    expect(await idsOf(client)).toEqual([id]);
    const again = await begin(client);
    await client.call('DELETE', `/constraints/${id}`, undefined, again.headers);
    expect((await client.call('POST', '/constraints', forbidden, again.headers)).status).toBe(200);
    expect((await client.call('POST', again.path)).status).toBe(200);
    expect(await idsOf(client)).not.toEqual([id]);
  });

  it('are refused where another changed or deleted them, where none has the id, and as dry runs', async () => {
    const client = await Client.open();
    const id = await client.forbid('!- q(?x)');
    const late = await begin(client);
    await client.call('PUT', `/constraints/${id}`, { mode: 'warn' }, late.headers);
    await client.call('DELETE', `/constraints/${id}`);
    // Its later writes are still judged with what it changed.
    expect((await client.call('POST', '/constraints', forbidden, late.headers)).status).toBe(200);
    expect((await client.call('POST', late.path)).status).toBe(409);
    const nowhere = await begin(client);
    expect((await client.call('DELETE', '/constraints/c0', undefined, nowhere.headers)).status).toBe(404);
    const dry = await begin(client);
    const tried = { ...forbidden, dryRun: true };
    expect((await client.call('POST', '/constraints', tried, dry.headers)).status).toBe(400);
    expect(await idsOf(client)).toEqual([]);
  });
});

describe('a write that would begin a violation is refused', () => {
  it('by /tell, /assert/facts, and retractions of each kind', async () => {
    const client = await Client.open();
    await client.tell('anchor', ['x']);
    const { id } = await client.tell('kept', ['a']);
    await client.forbid('!- bad(?x)');
    await client.forbid('!- anchor(?_), not kept(a)');
    await client.expectRefused('POST', '/tell', { predicate: 'bad', args: ['x'] });
    const several = [
      { predicate: 'bad', args: ['x'] },
      { predicate: 'bad', args: ['y'] },
    ];
    expect((await client.expectRefused('POST', '/assert/facts', several)).violationCount).toBe(2);
    await client.expectRefused('POST', '/retract', { predicate: 'kept', args: ['a'] });
    await client.expectRefused('POST', '/retract', { predicate: 'kept', args: ['a'], dryRun: true });
    await client.expectRefused('POST', '/retract/pattern', { predicate: 'kept', args: ['?x'] });
    await client.expectRefused('DELETE', `/facts/${id}`);
    expect((await client.call('POST', '/query', { predicate: '?p', args: [] })).status).toBe(400);
    expect((await client.call('POST', '/query', { predicate: 'bad', args: ['?x'] })).body).toEqual([]);
  });

  it('by changes of rules and constraints', async () => {
    const client = await Client.open();
    await client.tell('p', ['a']);
    await client.forbid('!- bad(?x)');
    const rule = await client.call<{ id: string }>('POST', '/teach', { text: 'good(?x) :- p(?x)' });
    await client.expectRefused('POST', '/teach', { text: 'bad(?x) :- p(?x)' });
    await client.expectRefused('PUT', `/rules/${rule.body.id}`, { text: 'bad(?x) :- p(?x)' });
    const id = await client.forbid('!- p(?x), not good(?x)');
    await client.expectRefused('DELETE', `/rules/${rule.body.id}`);
    await client.expectRefused('POST', '/constraints', { text: '!- good(?x)', name: 'none', mode: 'reject' });
    await client.expectRefused('PUT', `/constraints/${id}`, { text: '!- p(?x), good(?x)' });
  });

  it('by a commit, which is rolled back, and by its dry run, which is not', async () => {
    const client = await Client.open();
    await client.forbid('!- bad(?x)');
    const { body } = await client.call<TransactionBegun>('POST', '/tx/begin');
    const inside = { 'x-transaction-id': body.id };
    await client.call('POST', '/tell', { predicate: 'bad', args: ['x'] }, inside);
    await client.expectRefused('POST', `/tx/commit/${body.id}`, { dryRun: true });
    const refused = await client.expectRefused('POST', `/tx/commit/${body.id}`);
    expect(refused).toMatchObject({ transaction: 'rolled_back' });
    expect((await client.call('POST', `/tx/commit/${body.id}`)).status).toBe(409);
  });

  it('by merges and deletions of scopes', async () => {
    const client = await Client.open();
    await client.tell('left', ['a'], { scope: 'one' });
    await client.tell('right', ['a'], { scope: 'two' });
    await client.forbid('!- left(?x), right(?x)');
    await client.forbid('!- not left(?_)', { scope: 'one' });
    const merge = { source: 'one', target: 'two', strategy: 'KEEP_BOTH' };
    await client.expectRefused('POST', '/scope/merge', merge);
    await client.expectRefused('POST', '/scope/merge', { ...merge, dryRun: true });
    await client.expectRefused('DELETE', '/scope/one');
  });

  it('by consolidation and restoring', async () => {
    const client = await Client.open();
    const seen = async (): Promise<void> => {
      for (const day of ['1', '2', '3'])
        await client.tell('seen', ['bird', day], { metadata: { episode: true } });
    };
    await seen();
    const consolidate = { predicates: ['seen'] };
    const id = await client.forbid('!- seen_summary(?x, ?n)');
    await client.expectRefused('POST', '/memory/consolidate', consolidate);
    await client.expectRefused('POST', '/memory/consolidate', { ...consolidate, dryRun: true });
    await client.call('DELETE', `/constraints/${id}`);
    await client.call('POST', '/memory/consolidate', consolidate);
    await client.forbid('!- seen(?x, ?d)');
    const { body } = await client.call<{ facts: { id: string }[] }>('GET', '/facts?predicate=seen_summary');
    await client.expectRefused('POST', '/memory/restore', { id: body.facts[0]?.id });
  });

  it('by texts that are read: turns, ingestion, extraction', async () => {
    const client = await Client.open();
    await client.forbid('!- bad(?x)');
    await client.expectRefused('POST', '/context', { turns: ['bad(x).'] });
    await client.expectRefused('POST', '/context/ingest', { text: 'bad(x).' });
    const before = await client.call<Refusal>('POST', '/extract', { text: 'bad(x).', assert: true });
    // Without a provider it reads nothing.
    expect(before.body.code).toBe('LlmUnavailable');
  });
});

describe('an import', () => {
  async function textOf(client: Client, method: string, path: string, body?: string, type?: string) {
    const headers = { 'x-database': client.database, 'x-tenant-id': 'default' };
    const given = body === undefined ? {} : { body };
    const typed = type === undefined ? {} : { 'content-type': type };
    const sent = { method, headers: { ...headers, ...typed }, ...given };
    return (await fetch(service.address + path, sent)).text();
  }
  async function upload(client: Client, text: string, type = 'application/x-ndjson'): Promise<ImportDone> {
    const answer = await textOf(client, 'POST', '/import', text, type);
    return JSON.parse(answer.trim().split('\n').at(-1) as string) as ImportDone;
  }

  it('is judged after its last line: what it newly asserted is retracted', async () => {
    const client = await Client.open();
    await client.forbid('!- left(?x), right(?x)');
    await client.tell('left', ['a']);
    const lines = [
      { predicate: 'left', args: ['a'] },
      { predicate: 'right', args: ['a'] },
      { predicate: 'other', args: ['b'] },
    ];
    const done = await upload(client, lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(done).toMatchObject({ refused: 'ConstraintViolated', violationCount: 1, asserted: 2 });
    expect(done.violations).toMatchObject([{ instance: 'left(a), right(a)' }]);
    const facts = await client.call<{ total: number }>('GET', '/facts');
    expect(facts.body.total).toBe(1);
    // The violation may come and go between its lines.
    const fine = await upload(client, JSON.stringify({ predicate: 'right', args: ['b'] }));
    expect(fine.refused).toBeUndefined();
    expect((await client.call<{ total: number }>('GET', '/facts')).body.total).toBe(2);
  });

  it('takes back what an export wrote, constraints included', async () => {
    const client = await Client.open();
    await client.tell('p', ['a']);
    await client.forbid(age, { name: 'of age', description: 'so it is', scope: 's' });
    await client.forbid('!- q(?x)', { mode: 'warn' });
    const list = async (of: Client): Promise<object[]> =>
      (await of.call<{ constraints: StoredConstraint[] }>('GET', '/constraints')).body.constraints.map(
        ({ id: _, createdAt: __, ...rest }) => rest,
      );
    const exported = await textOf(client, 'GET', '/export');
    const other = await Client.open();
    expect(await upload(other, exported)).toMatchObject({ constraints: 2, failed: 0 });
    expect(await list(other)).toEqual(await list(client));
    expect(await upload(other, exported)).toMatchObject({ constraints: 2, failed: 0 });
    expect(await list(other)).toEqual(await list(client));
    const text = await textOf(client, 'GET', '/export?format=datalog');
    expect(text).toBe(`p(a).\n${age} "so it is".\n!- q(?x).\n`);
    const third = await Client.open();
    await upload(third, text, 'text/x-datalog');
    expect(await list(third)).toMatchObject([
      { text: age, name: 'so it is', mode: 'warn' },
      { text: '!- q(?x)', name: '!- q(?x)', mode: 'warn' },
    ]);
  });

  it('reports a constraint that is refused as a bad line', async () => {
    const client = await Client.open();
    await client.tell('p', ['a']);
    const lines = ['{"constraint": "!- p(?x)", "name": "none", "mode": "reject"}', '{"constraint": "!- p("}'];
    const done = await upload(client, lines.join('\n'));
    expect(done).toMatchObject({ failed: 2 });
    expect(done.errors[0]).toMatchObject({ line: 1 });
    expect(done.errors[0]?.message).toContain('would violate the constraint');
  });

  it('is undone only as far as constraints allow', async () => {
    const client = await Client.open();
    const { id } = await upload(client, JSON.stringify({ predicate: 'config', args: ['on'] }));
    await client.tell('p', ['a']);
    await client.forbid('!- not config(?_)');
    await client.expectRefused('POST', `/import/${id}/undo`);
  });
});
