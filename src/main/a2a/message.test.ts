/** The effect and the answer of a message to `/a2a`, from the official client of both revisions and by hand. */
import { randomUUID } from 'node:crypto';
import { type Message, type SendMessageRequest, Role } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import { operations } from '../../engine/contract/operations.ts';
import { ArgumentNames, systemOrigin } from '../../engine/index.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import type { A2aHost } from '../base/agent-host.ts';
import { carryOut } from './carry-out.ts';
import { maxItems, maxLineUnits, readItems } from './lines.ts';
import { earlierCardPath } from './mount.ts';
import { errorOf, exchanged, message, revisions, rpc, said } from './testing/conversation.ts';

let service: ServiceUnderTest;
beforeAll(async () => {
  // A small budget for derived tables, so that an endless question ends soon.
  service = await startServiceUnderTest({ MEMORY_BUDGET_BYTES: '20000000' });
});
afterAll(() => service.close());

/** Headers of a tenant that no other test uses. */
function fresh(): Record<string, string> {
  return { 'x-tenant-id': randomUUID() };
}

async function stored(predicate: string, headers: Record<string, string>, args = ['?x']): Promise<unknown[]> {
  const pattern = { predicate, args };
  return (await service.call<unknown[]>('POST', '/query', pattern, { headers })).body;
}

describe('a message of one line', () => {
  it.each(revisions)('stores a statement that ends in a full stop, in %s', async (revision) => {
    const headers = fresh();
    const { parts, ...rest } = await exchanged(
      service,
      revision,
      message(revision, 'likes(ann, tea).'),
      headers,
    );
    expect(rest).toEqual({
      ...(revision === '0.3' ? { kind: 'message', role: 'agent' } : { role: 'ROLE_AGENT' }),
      messageId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      contextId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
    });
    const text = 'asserted: likes(ann, tea)';
    const data = {
      status: 'asserted',
      atom: 'likes(ann, tea)',
      id: expect.any(String) as string,
      generation: expect.any(Number) as number,
    };
    const metadata = { line: 1 };
    expect(parts).toEqual(
      revision === '0.3'
        ? [
            { kind: 'text', text },
            { kind: 'data', data, metadata },
          ]
        : [
            { text, mediaType: 'text/plain' },
            { data, metadata, mediaType: 'application/json' },
          ],
    );
    expect((await said(service, 'likes(ann, tea).', headers, revision)).data).toEqual([
      { ...data, status: 'unchanged' },
    ]);
  });

  it('stores a single ground atom or rule without its full stop', async () => {
    const headers = fresh();
    const { data } = await said(
      service,
      'parent(ann, bob)\nolder(?x, ?y) :- parent(?x, ?y)\nolder(ann, ?who)',
      headers,
    );
    expect(data).toMatchObject([
      { status: 'asserted', atom: 'parent(ann, bob)' },
      { status: 'asserted', rule: 'older(?x, ?y) :- parent(?x, ?y)' },
      { results: ['older(ann, bob)'] },
    ]);
  });

  it('retracts facts, patterns and rules in order after "forget"', async () => {
    const headers = fresh();
    const rule = 'older(?x, ?y) :- parent(?x, ?y)';
    await said(service, `parent(ann, bob). parent(ann, cy). parent(bob, di).\n${rule}.`, headers);
    await said(service, 'older(ann, bob)?', headers);
    const { data, text } = await said(
      service,
      `forget parent(ann, bob).\nForget parent(ann, ?_)\nparent(?x, ?y)\nforget older(?a, ?b) :- parent(?a, ?b)\nforget ${rule}.`,
      headers,
    );
    expect(data).toMatchObject([
      { status: 'retracted', atom: 'parent(ann, bob)', retracted: 1, dependents: ['older(ann, bob)'] },
      { status: 'retracted', atom: 'parent(ann, ?_)', retracted: 1 },
      { results: ['parent(bob, di)'] },
      { status: 'retracted', rule },
      { status: 'absent', rule },
    ]);
    expect(text).toContain('retracted: parent(ann, bob)\n  no longer follows: older(ann, bob)');
    expect((await said(service, 'forget what I said', headers)).data).toMatchObject([
      { status: 'not_understood', detail: expect.stringContaining('forget parent(ann, bob).') as string },
    ]);
  });

  it('retracts exactly the statement, not its negation', async () => {
    const headers = fresh();
    await said(service, '-flies(tweety).', headers);
    expect((await said(service, 'forget flies(tweety).', headers)).data).toMatchObject([
      { status: 'absent', hints: [expect.stringContaining('-flies(tweety) is stored') as string] },
    ]);
    expect((await said(service, 'forget -flies(tweety)', headers)).data).toMatchObject([
      { status: 'retracted', atom: '-flies(tweety)' },
    ]);
  });

  it('returns hints for an empty result or a likely slip', async () => {
    const headers = fresh();
    await said(service, 'parent(ann, bob).', headers);
    const { data, text } = await said(
      service,
      'Parent(Ann, ?x)\nparent(ann).\nstop(X) :- parent(X, Y).',
      headers,
    );
    expect(data).toMatchObject([
      {
        results: [],
        hints: [
          expect.stringContaining('did you mean parent(ann, ?x)?') as string,
          expect.any(String) as string,
        ],
      },
      { status: 'asserted', hints: [expect.stringContaining('parent/2') as string] },
      { status: 'asserted', hints: [expect.stringContaining('stop(?x) :- parent(?x, ?y)') as string] },
    ]);
    expect(text).toContain('\n  hint: ');
  });

  it('stores an explicit negation', async () => {
    const headers = fresh();
    const { data, text } = await said(service, '-flies(tweety).', headers);
    expect(data).toMatchObject([{ status: 'asserted', atom: '-flies(tweety)' }]);
    expect(text).toBe('asserted: -flies(tweety)');
    expect((await said(service, '-flies(?x)', headers)).data).toMatchObject([
      { results: ['-flies(tweety)'] },
    ]);
  });

  it('stores a rule', async () => {
    const { data, text } = await said(service, 'older(?x, ?y) :- elder(?x, ?y).', fresh());
    const rule = 'older(?x, ?y) :- elder(?x, ?y)';
    expect(data).toMatchObject([{ status: 'asserted', rule, id: expect.any(String) as string }]);
    expect(text).toBe(`asserted: ${rule}`);
  });

  it.each(revisions)(
    'answers a line that ends in a question mark as /ask does with a proof, in %s',
    async (revision) => {
      const headers = fresh();
      await said(service, 'parent(ann, bob). parent(bob, cal).', headers);
      await said(service, 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).', headers);
      const { data, text } = await said(service, 'grandparent(?who, cal)?', headers, revision);
      const question = { predicate: 'grandparent', args: ['?who', 'cal'], withProof: true };
      const { body } = await service.call<Answer>('POST', '/ask', question, { headers });
      expect(body.results).toEqual(['grandparent(ann, cal)']);
      expect(body.proof?.steps).toHaveLength(3);
      expect(data).toEqual([{ ...body, elapsedMs: expect.any(Number) as number }]);
      expect(text).toBe('grandparent(?who, cal)? 1 answer\n  grandparent(ann, cal)');
    },
  );

  it('asks an atom with a variable and stores one without', async () => {
    const headers = fresh();
    await said(service, 'city(rome). city(oslo).', headers);
    const { data, text } = await said(service, 'city(?x)', headers);
    expect(data).toMatchObject([
      { results: ['city(oslo)', 'city(rome)'], proof: { roots: [0, 1], steps: [{}, {}] } },
    ]);
    expect(text).toBe('city(?x) 2 answers\n  city(oslo)\n  city(rome)');
    expect((await said(service, 'city(rome)', headers)).data).toMatchObject([{ status: 'unchanged' }]);
    expect((await said(service, 'city(rome)?', headers)).data).toMatchObject([{ results: ['city(rome)'] }]);
  });

  it('asks anything a body can: several atoms, negation, built-ins and aggregates', async () => {
    const headers = fresh();
    await said(service, 'age(ann, 41). age(bob, 7). pet(bob).', headers);
    const text = [
      'age(?x, ?n), ?n > 10?',
      'age(?x, ?n), not pet(?x)?',
      '?n = count { ?x : age(?x, ?_) }?',
      '?s = 40 + 2?',
    ].join('\n');
    expect((await said(service, text, headers)).data).toMatchObject([
      { results: ['age(ann, 41), 41 > 10'] },
      { results: ['age(ann, 41), not pet(ann)'] },
      { bindings: [{ n: '2' }] },
      { bindings: [{ s: '42' }] },
    ]);
  });

  it('returns an empty answer and says so if nothing matches', async () => {
    const { data, text } = await said(service, 'dragon(?x)?', fresh());
    expect(data).toMatchObject([{ results: [], count: 0, proof: { roots: [], steps: [] } }]);
    expect(text).toBe(
      'dragon(?x)? does not follow from anything known\n  hint: no fact and no rule has the predicate dragon',
    );
  });

  it.each([
    ['Ann is the mother of Bob.', 'tell with a full stop, as in'],
    ['Who is the mother of Bob?', 'tell with a full stop, as in'],
    ['Who?', 'tell with a full stop, as in'],
    ['hello', 'tell with a full stop, as in'],
    ['likes(?x, tea).', 'column 7: a fact is ground'],
    ['likes(ann, ).', 'column 12: '],
    ['likes(ann.', 'column 11: '],
    ['likes(ann)? yes.', 'column 11: '],
    ['likes(ann), cat?', 'every literal has its parentheses'],
    ['cat :- likes(ann).', 'every literal has its parentheses'],
    ['likes(ann, (x)?', 'column 12: '],
    ['See likes(ann, tea)', 'it ends with neither'],
    ['% likes(ann, tea).', 'tell with a full stop'],
    ['likes(ann, "?x").', 'column 12: '],
    ['likes(ann, \ud800).', ''],
  ])('answers natural language with how to write a statement: %s', async (line, reason) => {
    const { data, text } = await said(service, line, fresh());
    expect(data).toEqual([{ status: 'not_understood', detail: expect.stringContaining(reason) as string }]);
    expect(data[0]?.['detail']).toContain('as in parent(ann, bob). or');
    expect(text).toBe(`line 1 was not understood: ${String(data[0]?.['detail'])}`);
  });

  it(`refuses more than ${maxLineUnits} characters`, async () => {
    const headers = fresh();
    const long = (units: number) =>
      `long(a, ${'x'.repeat(50_000)}, ${'x'.repeat(units - 50_000 - 'long(a, , ).'.length)}).`;
    expect((await said(service, long(maxLineUnits), headers)).data).toMatchObject([{ status: 'asserted' }]);
    const { data, text } = await said(service, long(maxLineUnits + 1), headers);
    expect(data).toEqual([
      { status: 'not_understood', detail: `it has more than ${maxLineUnits} characters` },
    ]);
    expect(text.length).toBeLessThan(200);
    expect(await stored('long', headers, ['?x', '?y', '?z'])).toHaveLength(1);
  });
});

describe('a message of several lines', () => {
  it('executes the lines in order, with one data part for each statement and question', async () => {
    const headers = fresh();
    const text = 'seen(?x)?\r\nseen(a). seen(b).\n\n  seen(?x)  \rseen(c).';
    const { data, lines, text: words } = await said(service, text, headers);
    expect(data).toMatchObject([
      { results: [] },
      { status: 'asserted', atom: 'seen(a)' },
      { status: 'asserted', atom: 'seen(b)' },
      { results: ['seen(a)', 'seen(b)'] },
      { status: 'asserted', atom: 'seen(c)' },
    ]);
    expect(lines).toEqual([1, 2, 2, 4, 5]);
    expect(words.split('\n')).toEqual([
      'seen(?x)? does not follow from anything known',
      '  hint: no fact and no rule has the predicate seen',
      'asserted: seen(a)',
      'asserted: seen(b)',
      'seen(?x) 2 answers',
      '  seen(a)',
      '  seen(b)',
      'asserted: seen(c)',
    ]);
  });

  it('stores facts in order and reports a repeated fact as unchanged', async () => {
    const headers = fresh();
    const facts = Array.from({ length: 600 }, (_, index) => `order(${index % 500}).`);
    const { data } = await said(service, facts.join('\n'), headers);
    expect(data.map(({ atom }) => atom)).toEqual(facts.map((fact) => fact.slice(0, -1)));
    expect(data.map(({ status }) => status)).toEqual([
      ...Array<string>(500).fill('asserted'),
      ...Array<string>(100).fill('unchanged'),
    ]);
    const generations = data.slice(0, 500).map(({ generation }) => generation as number);
    expect(generations).toEqual(generations.toSorted((a, b) => a - b));
    expect(new Set(generations).size).toBe(500);
  });

  it('continues the line count across several text parts', async () => {
    const { parts } = await exchanged(
      service,
      '1.0',
      message('1.0', 'part(a).\npart(b).', 'part(?x)?'),
      fresh(),
    );
    expect(parts.map(({ metadata }) => metadata?.line)).toEqual([undefined, 1, 2, 3]);
    expect(parts[3]?.data).toMatchObject({ results: ['part(a)', 'part(b)'] });
  });

  it('executes the other lines if one is refused, and reports its code and detail', async () => {
    const headers = fresh();
    const { data, text } = await said(
      service,
      'kept(a).\nloose(?x) :- not bound(?x).\nnot bound(?x)?\nkept(b).',
      headers,
    );
    const unsafe = { status: 'failed', code: 'RuleException', errors: [{}], variables: ['?x'] };
    expect(data).toMatchObject([{ atom: 'kept(a)' }, unsafe, unsafe, { atom: 'kept(b)' }]);
    expect(data[1]?.['detail']).toContain('the rule is unsafe: nothing binds ?x');
    expect(text).toContain('line 2 failed: RuleException: the rule is unsafe');
    expect(await stored('kept', headers)).toHaveLength(2);
  });

  it('reports a question at its limit as 422 InferenceLimitExceeded in its own part', async () => {
    const headers = fresh();
    await said(service, 'number(0).\nnumber(?n) :- number(?m), ?n = ?m + 1.', headers);
    const [endless, small] = (await said(service, 'number(?n)?\nsmall(a).', headers)).data;
    expect(endless).toMatchObject({
      status: 'failed',
      code: 'InferenceLimitExceeded',
      limit: 'memory',
      elapsedMs: expect.any(Number) as number,
    });
    expect(small).toMatchObject({ status: 'asserted' });
  });

  it(`refuses more than ${maxItems} statements and questions as a whole`, async () => {
    const headers = fresh();
    const facts = (count: number) =>
      Array.from({ length: count }, (_, index) => `many(${index}).`).join('\n');
    const refused = await errorOf(
      service,
      rpc('SendMessage', { message: message('1.0', facts(maxItems + 1)) }),
      headers,
    );
    expect(refused).toMatchObject({
      code: -32602,
      message: expect.stringContaining(`at most ${maxItems}`) as string,
    });
    const line = 'many(a). '.repeat(maxItems / 2);
    const few = message('0.3', `${line}\n${line}`, 'many(b).');
    expect((await errorOf(service, rpc('message/send', { message: few }), headers)).code).toBe(-32602);
    expect(await stored('many', headers)).toEqual([]);
    const { data, text } = await said(service, `${'hm\n'.repeat(maxItems - 1)}many(a).`, headers);
    expect(data).toHaveLength(maxItems);
    expect(data.at(-1)).toMatchObject({ status: 'asserted', atom: 'many(a)' });
    expect(text).toMatch(/\nand \d+ more, in the data parts$/);
    expect(await stored('many', headers)).toHaveLength(1);
  });

  it('ignores blank lines and refuses a message of nothing else', async () => {
    for (const text of ['', '  \n\t\r\n'])
      expect(await errorOf(service, rpc('SendMessage', { message: message('1.0', text) }))).toMatchObject({
        code: -32602,
        message: expect.stringContaining('message is empty') as string,
      });
  });
});

describe('an answer with many results', () => {
  it('quotes only the beginning of a long question, cut between whole characters', async () => {
    const { text } = await said(service, `p(${'x'.repeat(197)}\u{1f600})?`, fresh());
    expect(text.split('\n')[0]).toBe(`p(${'x'.repeat(197)}… does not follow from anything known`);
  });

  it('stops evaluating once the answers to a message are long', async () => {
    const headers = fresh();
    await said(service, 'word(a). word(b).', headers);
    const { database, tenant } = { database: 'default', tenant: headers['x-tenant-id'] ?? '' };
    // The same operations by HTTP, for comparison.
    const host: A2aHost = {
      version: '1',
      logger: { error: (...given: unknown[]) => expect.fail(String(given)) } as unknown as A2aHost['logger'],
      needsCredential: () => false,
      callerOf: () => expect.fail('the caller is known'),
      argumentNames: () => new ArgumentNames([]),
      perform: async (name, _caller, input) =>
        (await service.call('POST', operations[name].path, input.body, { headers })).body,
    };
    const who = { credential: null, role: 'admin', databases: [], tenants: [], client: null } as const;
    const signal = new AbortController().signal;
    const caller = {
      ...who,
      database,
      tenant,
      transaction: null,
      idempotency: null,
      requestId: 'r',
      origin: systemOrigin,
      signal,
    };
    const items =
      (await readItems(
        'word(?x)?\nword(?x)?\nword(c).\nword(?x)?',
        () => Promise.resolve(),
        new ArgumentNames([]),
      )) ?? [];
    const kinds = async (limit: number) =>
      (await carryOut(host, caller, items, limit)).map(({ kind }) => kind);
    expect(await kinds(30)).toEqual(['answered', 'failed', 'told', 'failed']);
    expect(await kinds(1_000)).toEqual(['answered', 'answered', 'told', 'answered']);
    expect((await carryOut(host, caller, items, 0))[1]?.data).toMatchObject({
      status: 'failed',
      code: 'PayloadTooLarge',
      detail: expect.stringContaining('in another message') as string,
    });
  });

  it('puts all results into its data part and the first ones into its text part', async () => {
    const headers = fresh();
    const facts = Array.from({ length: 1500 }, (_, index) => ({ predicate: 'item', args: [index] }));
    await service.call('POST', '/assert/facts', { facts }, { headers });
    const { data, text } = await said(service, 'item(?x)?', headers);
    const { results, proof } = data[0] as unknown as Answer;
    expect(results).toHaveLength(1500);
    expect(proof?.roots).toHaveLength(1500);
    expect(text.split('\n')).toHaveLength(52);
    expect(text).toMatch(
      /^item\(\?x\)\? 1500 answers\n {2}item\(0\)\n[^]*\n {2}and 1450 more, in the data part$/,
    );
  });
});

describe('the official client', () => {
  const parent =
    'parent(ann, bob). parent(bob, cal).\ngrandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).';

  function request(text: string): SendMessageRequest {
    const part = {
      content: { $case: 'text', value: text } as const,
      metadata: undefined,
      filename: '',
      mediaType: '',
    };
    const given: Message = {
      messageId: randomUUID(),
      contextId: 'the-context',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [part],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    return { tenant: '', message: given, configuration: undefined, metadata: undefined };
  }

  it.each([
    ['1.0', undefined],
    ['0.3', earlierCardPath],
  ])('in %s finds the card, tells, asks, and reads results and proof', async (revision, path) => {
    const legacyCompat = { enabled: path !== undefined };
    const sent: string[] = [];
    const fetchImpl: typeof fetch = (input, init) => {
      if (typeof init?.body === 'string') sent.push((JSON.parse(init.body) as { method: string }).method);
      return fetch(input, init);
    };
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory({ legacyCompat, fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
    }).createFromUrl(service.address, path);
    const options = { serviceParameters: { 'X-Tenant-ID': `client-${revision}` } };
    await client.sendMessage(request(parent), options);
    const answer = await client.sendMessage(request('grandparent(ann, ?who)?'), options);
    expect(sent).toEqual(Array(2).fill(revision === '1.0' ? 'SendMessage' : 'message/send'));
    if (!('parts' in answer)) throw new Error('a task was answered');
    expect(answer.role).toBe(Role.ROLE_AGENT);
    expect(answer.contextId).toBe('the-context');
    expect(answer.parts.map(({ content }) => content?.$case)).toEqual(['text', 'data']);
    expect(answer.parts[0]?.content?.value).toBe('grandparent(ann, ?who)? 1 answer\n  grandparent(ann, cal)');
    expect(answer.parts[1]?.content?.value).toMatchObject({
      results: ['grandparent(ann, cal)'],
      proof: { roots: [2], steps: [{ kind: 'fact' }, { kind: 'fact' }, { kind: 'rule' }] },
    });
    const atClient = await said(service, 'parent(?x, ?y)', { 'x-tenant-id': `client-${revision}` });
    expect(atClient.data).toMatchObject([{ count: 2 }]);
  });
});

describe('tenant and database', () => {
  it('come from the headers and default to "default"', async () => {
    await service.call('POST', '/databases', { name: 'other' });
    const send = async (text: string, headers: Record<string, string>) => {
      const body = JSON.stringify(rpc('SendMessage', { message: message('1.0', text) }));
      const response = await fetch(`${service.address}/a2a`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
      expect(response.status).toBe(200);
    };
    await send('place(nowhere).', {});
    await send('place(acme).', { 'x-tenant-id': 'acme' });
    await send('place(other).', { 'x-database': 'other' });
    const places = async (headers: Record<string, string>) =>
      (await stored('place', headers)).map((fact) => (fact as { args: string[] }).args[0]);
    expect(await places({ 'x-tenant-id': 'default' })).toEqual(['nowhere']);
    expect(await places({ 'x-tenant-id': 'acme' })).toEqual(['acme']);
    expect(await places({ 'x-tenant-id': 'default', 'x-database': 'other' })).toEqual(['other']);
  });

  it('never come from the message: another tenant there is refused', async () => {
    const headers = fresh();
    const params = { message: message('1.0', 'wrong(place).'), tenant: 'elsewhere' };
    expect(await errorOf(service, rpc('SendMessage', params), headers)).toMatchObject({
      code: -32602,
      message: expect.stringContaining('X-Tenant-ID') as string,
    });
    expect(await stored('wrong', headers)).toEqual([]);
    const same = { ...params, tenant: headers['x-tenant-id'] };
    expect((await service.call('POST', '/a2a', rpc('SendMessage', same), { headers })).body).toHaveProperty(
      'result',
    );
  });
});
