/** Statements as text in `tell` and `forget`, lists of facts, rules by text and id, and why not: through a client. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CreatedKey } from '../../engine/contract/authentication.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

type Given = Record<string, unknown>;

const admin = { 'X-API-Key': 'the-admin-key' };
let service: ServiceUnderTest;
let client: Client;
let headers: Record<string, string>;
let databases = 0;

beforeAll(async () => {
  service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: 'the-admin-key' });
});
afterAll(() => service.close());
beforeEach(async () => {
  const name = `statements-${++databases}`;
  await service.call('POST', '/databases', { name }, { headers: admin });
  headers = { 'X-Database': name };
  client = await connected(admin);
  return () => client.close();
});

async function connected(key: Record<string, string>): Promise<Client> {
  const made = new Client({ name: 'writer', version: '1' });
  const requestInit = { headers: { ...headers, ...key } };
  await made.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address), { requestInit }));
  return made;
}

async function call(name: string, given: Given, by = client) {
  const { content, structuredContent, isError = false } = await by.callTool({ name, arguments: given });
  const [said] = content;
  if (said?.type !== 'text') throw new Error('a text was expected');
  return { isError, text: said.text, content: (structuredContent ?? {}) as Given };
}

async function key(input: Given): Promise<Record<string, string>> {
  const { body } = await service.call<CreatedKey>('POST', '/auth/keys', input, { headers: admin });
  return { 'X-API-Key': body.key };
}

async function results(text: string): Promise<unknown> {
  return (await call('ask', { text })).content['results'];
}

async function generation(): Promise<unknown> {
  return (await call('ask', { text: 'nothing(?x)' })).content['generation'];
}

describe('tell with text', () => {
  it('stores a fact like its fields', async () => {
    const told = await call('tell', { text: 'parent(alice, "bob, the elder").' });
    expect(told).toMatchObject({ isError: false, content: { status: 'asserted' } });
    expect(told.text).toBe('Stored: parent(alice, "bob, the elder")');
    expect(
      (await call('tell', { predicate: 'parent', args: ['alice', 'bob, the elder'] })).content,
    ).toMatchObject({
      status: 'unchanged',
    });
  });

  it('stores several, with and without full stops, in one generation, and reports each', async () => {
    await call('tell', { text: 'a(1).' });
    const before = Number(await generation());
    const { content, text } = await call('tell', { text: '% said today\na(1)\na(2). -a(3).\na(2)' });
    expect(content).toMatchObject({ status: 'asserted', asserted: 2, unchanged: 2, generation: before + 1 });
    expect(text.split('\n')).toEqual([
      '2 stored, 2 already stored:',
      'Already stored, unchanged: a(1)',
      'Stored: a(2)',
      'Stored: -a(3)',
      'Already stored, unchanged: a(2)',
    ]);
  });

  it('stores facts and rules in one transaction, and returns the ids of the rules', async () => {
    const { content, text } = await call('tell', {
      text: 'p(a, b).\np(b, c).\nr(?x, ?z) :- p(?x, ?y), p(?y, ?z).\ns(?x) :- r(?x, ?_).',
    });
    expect(content).toMatchObject({ asserted: 4 });
    expect(text).toMatch(/^4 stored:\np\(a, b\)\np\(b, c\)\nr\(\?x, \?z\) :- .* \(id r[^)]+\)\ns\(\?x\)/);
    expect(await results('s(?x)')).toEqual(['s(a)']);
    expect((await call('tell', { text: 'p(a, b). s(?u) :- r(?u, ?_).' })).content).toMatchObject({
      status: 'unchanged',
      unchanged: 2,
    });
  });

  it('stores nothing if anything is wrong: a syntax error, an unsafe rule, an unstratifiable one', async () => {
    for (const bad of ['b(?y).', 'c(', 'd(?x) :- a(?y).', 'e(?x) :- a(?x), not e(?x).']) {
      const refused = await call('tell', { text: `a(1).\nf(?x) :- a(?x).\n${bad}` });
      expect(refused.isError, bad).toBe(true);
    }
    expect(await results('a(?x)')).toEqual([]);
    const rules = await service.call('GET', '/rules', undefined, { headers: { ...admin, ...headers } });
    expect(rules.body).toMatchObject({ rules: [] });
  });

  it('accepts scope and validity for its facts, and no validity for rules', async () => {
    await call('tell', { text: 'a(1). a(2).', scope: 'draft', ttl: 3_600_000 });
    const recalled = await call('recall', { scope: 'draft' });
    expect(recalled.content).toMatchObject({
      returned: 2,
      facts: [{ scope: 'draft', validUntil: expect.any(String) }, { atom: 'a(2)' }],
    });
    expect((await call('tell', { text: 'b(?x) :- a(?x).', ttl: 1000 })).text).toContain(
      '- ttl: is for facts',
    );
    expect((await call('tell', { text: 'a(1).', truthVal: false })).text).toContain('write - before');
  });

  it('keeps the metadata of stored facts and records the source of new ones', async () => {
    await call('tell', { predicate: 'a', args: ['1'], metadata: { note: 'kept' } });
    await call('tell', { text: 'a(1). a(2).' });
    const { body } = await service.call<{ facts: { metadata: unknown }[] }>('GET', '/facts', undefined, {
      headers: { ...admin, ...headers },
    });
    expect(body.facts.map(({ metadata }) => metadata)).toEqual([
      { source: 'writer', note: 'kept' },
      { source: 'writer' },
    ]);
  });

  it('requires permission to teach if it contains a rule, and otherwise stores nothing', async () => {
    const restricted = await connected(await key({ role: 'writer', tenants: ['default'] }));
    const reader = await connected(await key({ role: 'reader' }));
    for (const text of ['b(?x) :- a(?x).', 'a(1). b(?x) :- a(?x).'])
      expect((await call('tell', { text }, restricted)).text).toMatch(/^Forbidden: rules serve all tenants/);
    expect((await call('tell', { text: 'a(1). a(2).' }, reader)).text).toMatch(/^Forbidden: .*role writer/);
    expect(await results('a(?x)')).toEqual([]);
    expect((await call('tell', { text: 'a(1). a(2).' }, restricted)).isError).toBe(false);
    await restricted.close();
    await reader.close();
  });
});

describe('tell with facts', () => {
  it('stores all or none, each with its fields, and names an invalid one by its position', async () => {
    const good = [
      { predicate: 'a', args: ['1'] },
      { predicate: 'a', args: [2], truthVal: false },
    ];
    const refused = await call('tell', { facts: [...good, { predicate: 'a', args: ['?x'] }] });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('facts.2.args.0') });
    expect(await results('a(?x)')).toEqual([]);
    expect((await call('tell', { facts: good })).text).toBe('2 stored:\na(1)\n-a(2)');
  });

  it('stores thousands at once and reports the count', async () => {
    const facts = Array.from({ length: 5000 }, (_, index) => ({ predicate: 'n', args: [index] }));
    expect(await call('tell', { facts })).toMatchObject({
      isError: false,
      text: '5000 stored.',
      content: { asserted: 5000 },
    });
  });

  it('refuses more than the limit of a call, with the count', async () => {
    const facts = Array.from({ length: 100_001 }, (_, index) => ({ predicate: 'n', args: [index] }));
    const { isError, text } = await call('tell', { facts });
    expect(isError).toBe(true);
    expect(text).toContain('give 1 to 100,000 facts in one call');
  });
});

describe('forget with text', () => {
  beforeEach(async () => {
    await call('tell', { text: 'p(a, b). p(b, c). -p(a, b). q(a).\nr(?x, ?z) :- p(?x, ?y), p(?y, ?z).' });
    await call('ask', { text: 'r(?x, ?y)' });
  });

  it('retracts a fact with its sign, or what a pattern matches', async () => {
    expect((await call('forget', { text: 'p(a, b).' })).content).toMatchObject({
      retracted: 1,
      dependents: ['r(a, c)'],
    });
    expect(await results('-p(a, b)')).toEqual(['-p(a, b)']);
    expect((await call('forget', { text: 'p(?x, ?y)' })).content).toMatchObject({ retracted: 1 });
  });

  it('forgets a rule by its text, up to renaming of variables', async () => {
    const tried = await call('forget', { text: 'r(?a, ?c) :- p(?a, ?b), p(?b, ?c).', dryRun: true });
    expect(tried.text).toBe(
      'Would retract the rule r(?x, ?z) :- p(?x, ?y), p(?y, ?z)\nWould no longer hold, 1 conclusion:\nr(a, c)',
    );
    expect(await results('r(?x, ?y)')).toEqual(['r(a, c)']);
    const { text } = await call('forget', { text: 'r(?a, ?c) :- p(?a, ?b), p(?b, ?c)' });
    expect(text).toBe(
      'Retracted the rule r(?x, ?z) :- p(?x, ?y), p(?y, ?z)\nNo longer holding, 1 conclusion.',
    );
    expect(await results('r(?x, ?y)')).toEqual([]);
  });

  it('forgets a rule by its id, and lists the existing ones for an unknown id', async () => {
    const taught = await call('teach', { text: 's(?x) :- q(?x)' });
    const ruleId = taught.content['id'];
    expect((await call('forget', { ruleId })).content).toMatchObject({ status: 'retracted' });
    expect(await call('forget', { ruleId })).toMatchObject({
      isError: true,
      text: expect.stringContaining('RuleNotFound'),
    });
  });

  it('names similar rules for one that is not stored', async () => {
    const { isError, content, text } = await call('forget', {
      text: 'r(?x, ?z) :- p(?x, ?y), q(?y), p(?y, ?z)',
    });
    expect(isError).toBe(false);
    expect(content).toMatchObject({ status: 'absent' });
    const near = /^Hint: (\{.*?\}) is the rule r\(/m.exec(text)?.[1] ?? '{}';
    expect((await call('forget', JSON.parse(near) as Given)).content).toMatchObject({ status: 'retracted' });
  });

  it('removes several together or none, and reports each', async () => {
    const text = 'p(a, ?x). q(b). r(?x, ?z) :- p(?x, ?y), p(?y, ?z).';
    const tried = await call('forget', { text, dryRun: true });
    expect(tried.text).toContain(
      'Would retract: p(a, ?x) (1 fact)\nNot stored: q(b)\nWould retract: r(?x, ?z)',
    );
    expect(await results('p(a, ?x)')).toEqual(['p(a, b)']);
    const { content } = await call('forget', { text });
    expect(content).toMatchObject({
      status: 'retracted',
      retracted: 1,
      statements: [{ retracted: 1 }, { status: 'absent' }, { status: 'retracted' }],
    });
    expect(await results('r(?x, ?y)')).toEqual([]);
    expect((await call('forget', { text: 'q(a). p(' })).isError).toBe(true);
    expect(await results('q(?x)')).toEqual(['q(a)']);
  });

  it('requires permission to change rules', async () => {
    const restricted = await connected(await key({ role: 'writer', tenants: ['default'] }));
    for (const text of ['r(?x, ?z) :- p(?x, ?y), p(?y, ?z)', 'q(a). r(?x, ?z) :- p(?x, ?y), p(?y, ?z).'])
      expect((await call('forget', { text }, restricted)).text).toMatch(/^Forbidden/);
    expect(await results('q(?x)')).toEqual(['q(a)']);
    expect(await results('r(?x, ?y)')).toEqual(['r(a, c)']);
    await restricted.close();
  });

  it('can be previewed by a reader', async () => {
    const reader = await connected(await key({ role: 'reader' }));
    for (const text of ['q(a)', 'q(a). p(a, b).', 'r(?x, ?z) :- p(?x, ?y), p(?y, ?z)'])
      expect(await call('forget', { text, dryRun: true }, reader), text).toMatchObject({
        isError: false,
        content: { status: 'retracted', dryRun: true },
      });
    expect((await call('forget', { text: 'q(a). p(a, b).' }, reader)).text).toMatch(/^Forbidden/);
    await reader.close();
  });
});

describe('ask', () => {
  beforeEach(async () => {
    await call('tell', { text: 'p(a, b). p(b, c).\nr(?x, ?z) :- p(?x, ?y), p(?y, ?z).' });
  });

  it('accepts a question mark at the end', async () => {
    for (const text of ['r(a, ?x)?', 'r(a, ?x) ?', 'r(?y, ?x), p(?y, b)?', 'r(a, ?x)'])
      expect((await call('ask', { text })).content, text).toMatchObject({ count: 1 });
    expect((await call('ask', { text: 'p(a, ?x), ?x = ?y' })).content).toMatchObject({
      bindings: [{ x: 'b', y: 'b' }],
    });
  });

  it('says why not: the rules that would conclude it, with satisfied and missing premises', async () => {
    const given = { predicate: 'r', args: ['b', 'd'], whyNot: true };
    const { content, text } = await call('ask', given);
    expect(content).toMatchObject({
      count: 0,
      whyNot: [{ atom: 'r(b, d)', attempts: [{ missing: ['p(c, d)'] }] }],
    });
    expect(text).toContain('r(b, d) would follow by:\n- r(?x, ?z) :- p(?x, ?y), p(?y, ?z): missing p(c, d)');
    expect((await call('ask', { text: 'p(a, b), r(b, d)?', whyNot: true })).text).toContain(
      'missing p(c, d)',
    );
    expect((await call('ask', { text: 'r(d, ?x)', whyNot: true })).text).toContain(
      'put constants into r(d, ?x)',
    );
  });

  it('answers as usual if the goal follows', async () => {
    const { content } = await call('ask', { text: 'r(a, c)', whyNot: true });
    expect(content).toMatchObject({ results: ['r(a, c)'] });
    expect(content).not.toHaveProperty('whyNot');
  });
});

describe('the text of an overview', () => {
  const facts = Array.from({ length: 60 }, (_, index) => ({
    predicate: 'n',
    args: [index, `value ${index}`],
  }));

  it.each([
    ['recall', { maxFacts: 60 }, 'facts'],
    ['context', { maxFacts: 60 }, 'entries'],
  ])('of %s has every entry of the structured content at hardly lower cost', async (name, given, field) => {
    await call('tell', { facts });
    const { content, text } = await call(name, given);
    const entries = content[field] as { atom: string }[];
    expect(entries).toHaveLength(60);
    for (const { atom } of entries)
      expect(text.split('\n').some((line) => line.startsWith(`${atom} (`))).toBe(true);
    expect(JSON.stringify(content).length).toBeLessThan(text.length * 3);
  });

  it('of a window for goals contains everything that proves them', async () => {
    const chain = Array.from({ length: 30 }, (_, index) => `e(${index}, ${index + 1}).`).join(' ');
    await call('tell', { text: `${chain} c(?x, ?y) :- e(?x, ?y). c(?x, ?z) :- e(?x, ?y), c(?y, ?z).` });
    const { content, text } = await call('context', {
      goals: [{ predicate: 'c', args: ['0', '30'] }],
      maxFacts: 61,
    });
    expect(content).toMatchObject({ totalFactsIncluded: 60 });
    for (let index = 0; index < 30; index++)
      expect(text).toContain(`e(${index}, ${index + 1}) (goal relevant`);
  });
});
