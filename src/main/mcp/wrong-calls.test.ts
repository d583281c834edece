/** Calls of models that have not read the schema: each error says how to fix the call, and the fix works. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isWellFormed } from '../../engine/contract/language.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { mend } from './mend.ts';
import { takesArguments, tools } from './tools.ts';

type Given = Record<string, unknown>;

let service: ServiceUnderTest;
let client: Client;
let tenants = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
beforeEach(async () => {
  client = new Client({ name: 'model', version: '1' });
  const requestInit = { headers: { 'X-Tenant-ID': `models-${++tenants}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address), { requestInit }));
});
afterEach(() => client.close());
afterAll(() => service.close());

async function call(name: string, given: Given): Promise<{ isError: boolean; text: string }> {
  const result = await client.callTool({ name, arguments: given });
  const [content] = result.content;
  if (content?.type !== 'text') throw new Error('a text was expected');
  return { isError: result.isError === true, text: content.text };
}

const fact = { predicate: 'parent', args: ['alice', 'bob'] };
const question = { predicate: 'parent', args: ['alice', '?x'] };
const rule = { text: 'ancestor(?x, ?y) :- parent(?x, ?y)' };

/** What a model sends, and the suggested replacement. */
const plain: [tool: string, given: Given, meant: Given][] = [
  ['ask', { subject: 'alice', predicate: 'parent', object: '?x' }, question],
  ['tell', { subject: 'alice', predicate: 'parent', object: 'bob' }, fact],
  ['tell', { from: 'alice', relation: 'parent', to: 'bob' }, fact],
  ['tell', { fact: 'parent(alice, bob)' }, { text: 'parent(alice, bob)' }],
  [
    'tell',
    { facts: ['parent(alice, bob)', 'parent(bob, carol)'] },
    { text: 'parent(alice, bob). parent(bob, carol).' },
  ],
  ['tell', { statement: '-parent(alice, bob).' }, { text: '-parent(alice, bob).' }],
  ['tell', { text: 'not parent(alice, bob).' }, { text: '-parent(alice, bob).' }],
  ['tell', { text: 'not(parent(alice, bob))' }, { text: '-parent(alice, bob)' }],
  ['tell', { text: 'alice is a doctor.' }, { text: 'doctor(alice)' }],
  ['tell', { text: 'Alice likes tea' }, { text: 'likes(Alice, tea)' }],
  ['tell', { predicate: 'not parent', args: ['alice', 'bob'] }, { ...fact, truthVal: false }],
  ['tell', { predicate: 'parent(alice, bob)' }, fact],
  ['tell', { predicate: 'parent(alice, bob)', args: [] }, fact],
  ['tell', { predicate: '-parent', args: ['alice', 'bob'] }, { ...fact, truthVal: false }],
  ['tell', { predicate: 'parent', arguments: ['alice', 'bob'] }, fact],
  ['tell', { predicate: 'parent', args: '["alice", "bob"]' }, fact],
  ['tell', { predicate: 'parent', args: 'alice, bob' }, fact],
  ['tell', { predicate: 'parent', args: { parent: 'alice', child: 'bob' } }, fact],
  ['tell', { predicate: 'is parent of', args: ['a', 'b'] }, { predicate: 'is_parent_of', args: ['a', 'b'] }],
  ['tell', { ...fact, truthVal: 'false' }, { ...fact, truthVal: false }],
  ['tell', { ...fact, truth_val: false }, { ...fact, truthVal: false }],
  ['tell', { ...fact, truth: false }, { ...fact, truthVal: false }],
  ['tell', { ...fact, ttl: '60000' }, { ...fact, ttl: 60_000 }],
  ['tell', { ...fact, metadata: 'the chat' }, { ...fact, metadata: { source: 'the chat' } }],
  ['tell', { ...fact, source: 'the chat' }, { ...fact, metadata: { source: 'the chat' } }],
  ['tell', { ...fact, metadata: '{"a": 1}' }, { ...fact, metadata: { a: 1 } }],
  ['tell', { ...fact, valid_until: '2099-01-01' }, { ...fact, validUntil: '2099-01-01' }],
  ['tell', { arguments: fact }, fact],
  ['tell', { predicate: 'parent', args: 'alice, bob', scope: '', ttl: null, metadata: ' ' }, fact],
  ['ask', { query: 'parent(alice, ?x)' }, { text: 'parent(alice, ?x)' }],
  ['ask', { predicate: 'parent(alice, ?x)', args: [] }, question],
  ['ask', { ...question, limit: '5' }, { ...question, limit: 5 }],
  ['ask', { ...question, maxFacts: 5 }, { ...question, limit: 5 }],
  ['ask', { predicate: 'parent', args: ['alice', '?'] }, { predicate: 'parent', args: ['alice', '?x1'] }],
  ['ask', { predicate: 'parent', args: ['?the child'] }, { predicate: 'parent', args: ['?the_child'] }],
  ['ask', { text: '?- parent(alice, ?x)' }, { text: 'parent(alice, ?x)' }],
  ['ask', { text: 'parent(?x, ?y) and -at(?y)' }, { text: 'parent(?x, ?y), -at(?y)' }],
  ['ask', { body: ['parent(?x, ?y)', 'not at(?y)'] }, { text: 'parent(?x, ?y), not at(?y)' }],
  ['teach', { rule: rule.text }, rule],
  ['teach', { rule: 'ancestor(?x, ?y) <- parent(?x, ?y)' }, rule],
  ['teach', { text: 'if parent(?x, ?y) then ancestor(?x, ?y).' }, rule],
  ['teach', { head: 'ancestor(?x, ?y)', body: 'parent(?x, ?y)' }, rule],
  ['teach', { head: { predicate: 'ancestor', args: ['?x', '?y'] }, body: ['parent(?x, ?y)'] }, rule],
  ['teach', { conditions: ['parent(?x, ?y)'], conclusion: 'ancestor(?x, ?y)' }, rule],
  ['forget', { query: 'parent(alice, ?x)' }, { text: 'parent(alice, ?x)' }],
  ['forget', { ...fact, dry_run: 'true' }, { ...fact, dryRun: true }],
  ['recall', { predicates: 'parent, at' }, { predicates: ['parent', 'at'] }],
  ['recall', { limit: '10' }, { maxFacts: 10 }],
  ['context', { goal: 'parent(alice, ?x)' }, { goals: [question] }],
  ['context', { goals: ['parent(alice, ?x)'] }, { goals: [question] }],
  ['context', { goals: question }, { goals: [question] }],
  ['compress', { predicate: 'visited' }, { predicates: ['visited'] }],
  ['cleanup', { treshold: '0.05', dryRun: 'true' }, { threshold: 0.05, dryRun: true }],
];

describe('a wrong call with an obvious meaning', () => {
  it.each(plain)('is answered with the intended call, which works: %s %j', async (name, given, meant) => {
    const { isError, text } = await call(name, given);
    expect(isError).toBe(true);
    const said = /^Perhaps you mean: (.*)$/m.exec(text)?.[1] ?? 'null';
    expect(JSON.parse(said)).toEqual(meant);
    expect(await call(name, meant)).toMatchObject({ isError: false });
  });

  it('is not executed as intended: a guess changes nothing', async () => {
    await call('tell', { fact: 'parent(alice, bob)' });
    expect((await call('predicates', {})).text).not.toContain('parent/2');
  });
});

/** Unknowable values, and their replacements. */
const unclear: [tool: string, given: Given, advice: string][] = [
  ['tell', {}, 'predicate: is required'],
  ['tell', { predicate: 'parent', args: ['alice', '?x'] }, 'use teach for a rule'],
  ['tell', { predicate: 'parent', args: ['alice', ['bob', 'carol']] }, 'a separate argument'],
  ['tell', { predicate: 'parent', args: ['alice', null] }, 'what is not known is not told'],
  ['tell', { ...fact, validUntil: 'next week' }, '"2030-12-31"'],
  ['tell', { facts: [fact, { predicate: 'parent' }] }, 'facts.1.args'],
  ['tell', { text: 'Alice often goes to the market.' }, 'line 1, column 7'],
  ['tell', { text: 'hello' }, 'hello()'],
  ['tell', { text: 'a(b). c(?x).' }, 'line 1, column 9'],
  ['tell', { ...fact, text: 'a(b).' }, 'only one of'],
  ['ask', { question: 'Who are the children of alice?' }, 'it cannot be a sentence'],
  ['ask', { text: 'Who are the children of alice?' }, 'it cannot be a sentence'],
  ['ask', { predicate: '?p', args: ['alice'] }, 'predicates lists the existing ones'],
  ['ask', { predicate: 'parent' }, 'give args beside predicate'],
  ['ask', { predicate: 'parent', args: ['alice', null] }, 'use a variable'],
  ['teach', { text: 'parent(alice, bob)' }, 'Call tell with {"text":"parent(alice, bob)"}'],
  ['teach', { text: 'a(?x) :- b(?x). c(?x) :- d(?x).' }, 'Call tell with {"text":"a(?x)'],
  ['teach', { text: 'a(?x) :- b(?y)' }, 'nothing binds ?x'],
  ['teach', { text: 'p(?x) :- q(?x), not p(?x)' }, 'p/1 depends on not'],
  ['forget', { predicate: 'parent' }, '["?a", "?b"]'],
  ['forget', { id: 'f1-0' }, 'by predicate and args'],
  ['recall', { topic: 'the family' }, 'takes words as query. Call recall with {"query":"the family"}'],
  ['context', { question: 'the family' }, 'takes words as query. Call context with {"query":"the family"}'],
  ['cleanup', { threshold: 5 }, '<=1'],
  ['predicates', { filter: 'par' }, 'predicates takes no arguments'],
];

describe('a wrong call without an obvious meaning', () => {
  it.each(unclear)('is answered with what to do: %s %j', async (name, given, advice) => {
    const { isError, text } = await call(name, given);
    expect(isError).toBe(true);
    expect(text).toContain(advice);
    expect(text).not.toContain('Perhaps you mean');
    // The first words are the problem's code; the rest names the location once.
    expect(text).toMatch(/^(ValidationException|RuleException): /);
    expect(new Set(text.split('\n')).size).toBe(text.split('\n').length);
  });

  it('gets a short answer, whatever it made up', async () => {
    const { isError, text } = await call('tell', {
      ...fact,
      ['😀'.repeat(100_000)]: 1,
      [`a${'😀'.repeat(500)}`]: 1,
    });
    expect(isError).toBe(true);
    expect(text.length).toBeLessThan(1500);
    expect(isWellFormed(text)).toBe(true);
  });

  it('to an unknown tool gets the list of tools', async () => {
    expect(await call('weather', fact)).toEqual({
      isError: true,
      text: `There is no tool "weather". Tools: ${[...tools.keys()].join(', ')}.`,
    });
  });
});

describe('a variable in the notation of another language', () => {
  it('is pointed out if nothing follows, since it is a constant here', async () => {
    await call('tell', fact);
    for (const given of [{ predicate: 'parent', args: ['alice', 'X'] }, { text: 'parent(alice, X)' }])
      expect((await call('ask', given)).text).toContain(
        'X is a constant here: a variable begins with ?, as in parent(alice, ?x)',
      );
    expect((await call('ask', { predicate: 'parnet', args: ['alice', '?x'] })).text).toContain(
      'did you mean parent(alice, ?x)?',
    );
  });

  it('is pointed out in a rule without any other variable', async () => {
    expect((await call('teach', { text: 'old(X) :- born(X, 1900)' })).text).toContain(
      'as in old(?x) :- born(?x, 1900)',
    );
    expect((await call('teach', rule)).text).not.toContain('variable');
  });
});

describe('repairing a call', () => {
  const tell = tools.get('tell');
  if (tell === undefined) throw new Error('there is a tool tell');

  it('ignores calls that are long, deep or odd', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as unknown;
    for (const given of [
      { fact: `p(${'a'.repeat(100_000)})` },
      { predicate: 'p', args: Array.from({ length: 100_000 }, () => '["a"]') },
      { predicate: 'p', args: deep },
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field${index}`, 'x'])),
    ])
      expect(mend(tell, given)).toEqual({ call: null, hints: new Map() });
    expect(mend(tell, { constructor: 1, toString: 'x', valueOf: null }).call).toBeNull();
  });

  it('suggests only what the tool accepts, whatever was given', () => {
    const name = fc.constantFrom(
      'args',
      'predicate',
      'text',
      'head',
      'body',
      'goals',
      'subject',
      'object',
      'query',
      'negated',
      'metadata',
      'arguments',
      'valueOf',
      'limit',
      'rule',
    );
    const text = fc.constantFrom(
      'p(a, ?x)',
      '-p(a).',
      'a and b',
      'if a then b',
      'a(?x) <- b(?x)',
      '["a"]',
      '[',
      '{',
      'true',
      '7',
      '?',
      '? x',
      ' ',
      '(',
    );
    const value = fc.oneof(
      { weight: 4, arbitrary: text },
      { weight: 2, arbitrary: fc.array(text, { maxLength: 3 }) },
      fc.dictionary(name, text, { maxKeys: 2 }),
      fc.jsonValue({ maxDepth: 2 }),
    );
    let proposed = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...tools.values()),
        fc.dictionary(name, value, { maxKeys: 3 }),
        (tool, given) => {
          const { call } = mend(tool, given);
          if (call === null) return;
          proposed++;
          expect(takesArguments(tool.operation, call), JSON.stringify(call)).toBe(true);
        },
      ),
      { numRuns: 1500 },
    );
    expect(proposed).toBeGreaterThan(0);
  });

  it('leaves a valid call unchanged', () => {
    for (const tool of tools.values())
      expect(mend(tool, tool.example)).toEqual({ call: null, hints: new Map() });
  });

  it('suggests no call with an unknown field', () => {
    expect(mend(tell, { ...fact, metadata: '{"a": 1}', colour: 'red' }).call).toBeNull();
  });
});
