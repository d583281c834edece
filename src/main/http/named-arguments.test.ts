import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import type { QueryResult, StoredFact } from '../../engine/contract/facts.ts';
import type { StoredRule } from '../../engine/contract/rules.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** Arguments by name over HTTP: contract section 14. */

let service: ServiceUnderTest;
let database = '';
let count = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

const livesIn = { arguments: [{ name: 'person' }, { name: 'city' }] };

beforeEach(async () => {
  database = `names-${++count}`;
  await service.call('POST', '/databases', { name: database });
  await call('PUT', '/predicates/lives_in/2', livesIn);
});

function call<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return service.call<Body>(method, path, body, { headers: { 'x-database': database, ...headers } });
}

interface Problem {
  readonly detail: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

it('conflicts of merges have them', async () => {
  const tell = (scope: string, truthVal: boolean) =>
    call('POST', '/tell', { predicate: 'lives_in', args: ['ann', 'york'], scope, truthVal });
  await tell('a', true);
  await tell('b', false);
  const { status, body } = await call<{ conflicts: object[] }>('POST', '/scope/merge', {
    source: 'a',
    target: 'b',
    strategy: 'REJECT',
  });
  expect(status).toBe(409);
  const named = { person: 'ann', city: 'york' };
  expect(body.conflicts).toMatchObject([{ named, source: { named }, target: { named } }]);
});

describe('arguments by name', () => {
  it('facts, patterns, questions, goals and rules take them in JSON', async () => {
    const fact = { predicate: 'lives_in', args: { city: 'boston', person: 'ann' } };
    expect((await call('POST', '/tell', fact)).body).toMatchObject({ atom: 'lives_in(ann, boston)' });
    const bob = { predicate: 'lives_in', args: { person: 'bob', city: 7 } };
    expect((await call('POST', '/assert/facts', [bob, { predicate: 'p', args: [] }])).status).toBe(200);
    const asked = await call<Answer>('POST', '/ask', { predicate: 'lives_in', args: { city: '?c' } });
    expect(asked.body.results).toEqual(['lives_in(ann, boston)', 'lives_in(bob, 7)']);
    expect(asked.body.bindings).toEqual([{ c: 'boston' }, { c: '7' }]);
    const found = await call<QueryResult>('POST', '/query', {
      predicate: 'lives_in',
      args: { person: 'bob' },
    });
    expect(found.body).toMatchObject([{ args: ['bob', '7'] }]);
    const rule = {
      head: { predicate: 'lives_in', args: { city: 'earth', person: '?p' } },
      body: [{ predicate: 'lives_in', args: { person: '?p', city: 'boston' } }],
    };
    expect((await call('POST', '/teach', rule)).body).toMatchObject({
      rule: 'lives_in(?p, earth) :- lives_in(?p, boston)',
    });
    const body = [{ predicate: 'lives_in', args: { city: 'earth', person: '?p' } }];
    expect((await call<Answer>('POST', '/ask', { body })).body.results).toEqual(['lives_in(ann, earth)']);
    const window = { goals: [{ predicate: 'lives_in', args: { person: 'ann', city: 'earth' } }] };
    expect((await call('POST', '/context/optimize', window)).body).toMatchObject({
      goals: [{ goal: 'lives_in(ann, earth)', status: 'proved' }],
    });
    const what = { assert: [{ predicate: 'lives_in', args: { person: 'eve', city: 'boston' } }] };
    expect(JSON.stringify((await call('POST', '/whatIf', what)).body)).toContain('lives_in(eve, earth)');
    const counted = { operation: 'COUNT', predicate: 'lives_in', args: { city: 'boston' } };
    expect((await call('POST', '/aggregate', counted)).body).toMatchObject({ result: 1 });
    const why = { predicate: 'lives_in', args: { person: 'ann', city: 'earth' }, mode: 'why' };
    expect((await call('POST', '/explain', why)).body).toMatchObject({ holds: true });
    expect(
      (await call('POST', '/retract/pattern', { predicate: 'lives_in', args: { city: '7' } })).body,
    ).toMatchObject({ retracted: 1 });
    expect(
      (await call('POST', '/retract', { predicate: 'lives_in', args: { person: 'ann', city: 'boston' } }))
        .body,
    ).toMatchObject({ retracted: 1, dependents: ['lives_in(ann, earth)'] });
  });

  it('questions, rules, constraints and validation take them in text', async () => {
    await call('POST', '/tell', { predicate: 'lives_in', args: ['ann', 'rome'] });
    const text = 'lives_in{city: ?c}, not lives_in{person: bob}';
    expect((await call<Answer>('POST', '/ask', { text })).body.results).toEqual([
      'lives_in(ann, rome), not lives_in(bob, ?_)',
    ]);
    const taught = await call<{ id: string }>('POST', '/teach', {
      text: 'home{x: ?x} :- lives_in{person: ?x}',
    });
    expect(taught.status).toBe(400);
    const rule = await call<{ id: string; rule: string }>('POST', '/teach', {
      text: 'home(?x) :- lives_in{person: ?x}',
    });
    expect(rule.body.rule).toBe('home(?x) :- lives_in(?x, ?_)');
    const constraint = { text: '!- lives_in{city: atlantis} "it sank"', name: 'n', mode: 'reject' };
    expect((await call('POST', '/constraints', constraint)).body).toMatchObject({
      constraint: '!- lives_in(?_, atlantis)',
    });
    expect((await call('GET', '/constraints')).body).toMatchObject({
      constraints: [{ description: 'it sank' }],
    });
    const supposed = { rules: [{ text: 'away(?x) :- lives_in{person: ?x}' }] };
    expect(JSON.stringify((await call('POST', '/whatIf', supposed)).body)).toContain('away(ann)');
    const checked = await call('POST', '/rules/validate', { text: 'p(?x) :- lives_in{persn: ?x}.' });
    expect(checked.body).toMatchObject({
      valid: false,
      diagnostics: [{ code: 'unknown_argument', startColumn: 19 }],
    });
  });

  it('refuses what fits no declaration with 400 and the place', async () => {
    const left = await call<Problem>('POST', '/tell', { predicate: 'lives_in', args: { person: 'ann' } });
    expect([left.status, left.body.detail]).toEqual([
      400,
      'args: a fact and the head of a rule need all arguments of lives_in: give city',
    ]);
    const town = { goals: [{ predicate: 'lives_in', args: { town: 'x' } }] };
    const unknown = await call<Problem>('POST', '/context/optimize', town);
    expect([unknown.status, unknown.body.errors[0]?.path]).toEqual([400, 'goals.0.args.town']);
    const none = await call<Problem>('POST', '/query', { predicate: 'likes', args: { person: 'x' } });
    expect([none.status, none.body.detail]).toEqual([400, expect.stringContaining('no arguments of likes')]);
    await call('PUT', '/predicates/lives_in/3', {
      arguments: [...livesIn.arguments, { name: 'since' }],
    });
    const several = await call<Problem>('POST', '/query', { predicate: 'lives_in', args: { person: 'x' } });
    expect([several.status, several.body.detail]).toEqual([
      400,
      expect.stringContaining('fit lives_in/2 and'),
    ]);
    const fact = { predicate: 'lives_in', args: { person: 'ann', city: 'rome' } };
    expect((await call('POST', '/tell', fact)).body).toMatchObject({ atom: 'lives_in(ann, rome)' });
    for (const args of ['ann', { person: {} }, { '?p': 'x' }, 3])
      expect((await call('POST', '/query', { predicate: 'lives_in', args })).status).toBe(400);
  });

  it('a rule keeps its positions when the declaration changes', async () => {
    await call('POST', '/tell', { predicate: 'lives_in', args: ['ann', 'rome'] });
    await call('POST', '/teach', { text: 'home(?c) :- lives_in{city: ?c}' });
    await call('PUT', '/predicates/lives_in/2', { arguments: [{ name: 'city' }, { name: 'person' }] });
    const { rules } = (await call<{ rules: StoredRule[] }>('GET', '/rules')).body;
    expect(rules.map(({ text }) => text)).toEqual(['home(?c) :- lives_in(?_, ?c)']);
    const renamed = await call<Answer>('POST', '/ask', { text: 'lives_in{city: ?c}' });
    expect(renamed.body.bindings).toEqual([{ c: 'ann' }]);
  });

  it('a transaction sees the declarations that it makes, and a refused name rolls it back', async () => {
    const { id } = (await call<{ id: string }>('POST', '/tx/begin')).body;
    const within = { 'x-transaction-id': id };
    await call('PUT', '/predicates/likes/2', { arguments: [{ name: 'who' }, { name: 'what' }] }, within);
    const fact = { predicate: 'likes', args: { what: 'tea', who: 'ann' } };
    expect((await call('POST', '/tell', fact, within)).body).toMatchObject({ atom: 'likes(ann, tea)' });
    expect((await call('POST', '/tell', fact)).status).toBe(400);
    const asked = await call<Answer>('POST', '/ask', { predicate: 'likes', args: { who: '?w' } }, within);
    expect(asked.body.results).toEqual(['likes(ann, tea)']);
    const refused = await call('POST', '/tell', { predicate: 'likes', args: { whom: 'x' } }, within);
    expect(refused.body).toMatchObject({ status: 400, transaction: 'rolled_back' });
  });

  it('answers have the arguments by name where they are declared', async () => {
    const named = { person: 'ann', city: 'rome' };
    await call('POST', '/tell', { predicate: 'lives_in', args: named });
    await call('POST', '/tell', { predicate: 'likes', args: ['ann', 'tea'] });
    const asked = await call<Answer>('POST', '/ask', { text: 'lives_in(?x, ?y)' });
    expect(asked.body.named).toEqual([named]);
    expect(
      (await call<Answer>('POST', '/ask', { text: 'lives_in(?x, ?y), likes(?x, ?z)' })).body.named,
    ).toBeUndefined();
    expect((await call<Answer>('POST', '/ask', { text: 'likes(?x, ?y)' })).body.named).toBeUndefined();
    expect(
      (await call<QueryResult>('POST', '/query', { predicate: 'lives_in', args: ['?x', '?y'] })).body,
    ).toEqual([{ predicate: 'lives_in', args: ['ann', 'rome'], named, truthVal: true }]);
    const { facts } = (await call<{ facts: StoredFact[] }>('GET', '/facts')).body;
    expect(facts.map((fact) => fact.named)).toEqual([undefined, named]);
    const recalled = await call<{ facts: { named?: object }[] }>(
      'GET',
      '/memory/context?predicates=lives_in',
    );
    expect(recalled.body.facts).toMatchObject([{ named }]);
    await call('PUT', '/predicates/likes/2', { arguments: [{ name: 'who' }, { name: 'what' }] });
    expect((await call<Answer>('POST', '/ask', { text: 'likes(?x, ?y)' })).body.named).toEqual([
      { who: 'ann', what: 'tea' },
    ]);
    await call('POST', '/teach', { text: 'lives_in(?x, earth) :- lives_in(?x, rome)' });
    const derived = await call<Answer>('POST', '/ask', { text: 'lives_in(ann, earth)' });
    expect(derived.body.named).toEqual([{ person: 'ann', city: 'earth' }]);
  });

  it('an import, an A2A message and free text take them, after the declaration that names them', async () => {
    const lines = [
      '{"predicate": "born", "args": {"who": "eve"}}',
      '{"declare": {"name": "born", "arity": 2, "arguments": [{"name": "who"}, {"name": "year"}]}}',
      '{"predicate": "born", "args": {"year": 1990, "who": "ann"}}',
      '{"rule": "adult(?x) :- born{who: ?x}"}',
      '{"constraint": "!- born{year: never}", "name": "n", "mode": "warn"}',
    ].join('\n');
    for (const dryRun of [true, false]) {
      const answer = await upload(`/import?dryRun=${dryRun}`, 'application/x-ndjson', lines);
      expect(answer).toMatchObject({ asserted: 1, rules: 1, constraints: 1, failed: 1 });
      expect(answer.errors).toMatchObject([
        { line: 1, message: expect.stringContaining('no arguments of born') },
      ]);
    }
    const program = ':declare made(thing, by)\nmade{by: ann, thing: cake}.\ngift(?x) :- made{thing: ?x}.\n';
    expect(await upload('/import', 'text/x-datalog', program)).toMatchObject({
      asserted: 1,
      rules: 1,
      failed: 0,
    });
    expect((await call<Answer>('POST', '/ask', { text: 'made(?x, ?y), gift(?x)' })).body.count).toBe(1);
    const ingested = await call('POST', '/context/ingest', { text: 'lives_in{city: rome, person: ian}.' });
    expect(ingested.body).toMatchObject({ extracted: [{ predicate: 'lives_in', args: ['ian', 'rome'] }] });
    const wrong = await call<Problem>('POST', '/context/ingest', { text: 'lives_in{town: rome}.' });
    expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringContaining('is called town')]);
  });
});

describe('agents', () => {
  const names = { person: 'ann', city: 'rome' };

  async function tool(name: string, given: object) {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const { body } = await call<{
      result: { isError?: boolean; content: { text: string }[]; structuredContent?: Record<string, unknown> };
    }>('POST', '/mcp', request);
    const { isError = false, content, structuredContent } = body.result;
    return { isError, text: content[0]?.text ?? '', content: structuredContent };
  }

  it('tools take them in fields, lists and text, and give them', async () => {
    expect((await tool('tell', { predicate: 'lives_in', args: names })).content).toMatchObject({
      atom: 'lives_in(ann, rome)',
    });
    const facts = [
      { predicate: 'lives_in', args: { person: 'bob', city: 'oslo' } },
      { predicate: 'lives_in', args: ['eve', 'oslo'] },
    ];
    expect((await tool('tell', { facts })).content).toMatchObject({
      statements: [{ atom: 'lives_in(bob, oslo)' }, { atom: 'lives_in(eve, oslo)' }],
    });
    const text = 'lives_in{city: rome, person: ian}. roman(?x) :- lives_in{city: rome, person: ?x}.';
    expect((await tool('tell', { text })).content).toMatchObject({
      statements: [{ atom: 'lives_in(ian, rome)' }, { rule: 'roman(?x) :- lives_in(?x, rome)' }],
    });
    expect(
      (await tool('ask', { predicate: 'lives_in', args: { city: 'rome', person: '?p' } })).content,
    ).toMatchObject({
      bindings: [{ p: 'ann' }, { p: 'ian' }],
      named: [names, { person: 'ian', city: 'rome' }],
    });
    expect((await tool('ask', { text: 'lives_in{person: zoe}?', whyNot: true })).content).toMatchObject({
      count: 0,
    });
    const goals = [{ predicate: 'lives_in', args: { person: 'ann' } }];
    expect((await tool('context', { goals })).content).toMatchObject({ goals: [{ status: 'proved' }] });
    const removed = await tool('forget', {
      text: 'lives_in{city: oslo}. roman(?x) :- lives_in{person: ?x, city: rome}.',
    });
    expect(removed.content).toMatchObject({ statements: [{ retracted: 2 }, { status: 'retracted' }] });
  });

  it('tools say which name was meant', async () => {
    const wrong = await tool('tell', { predicate: 'lives_in', args: { person: 'ann', cty: 'rome' } });
    expect([wrong.isError, wrong.text]).toEqual([true, expect.stringContaining('Did you mean city?')]);
    const text = await tool('ask', { text: 'lives_in{persn: ?x}' });
    expect([text.isError, text.text]).toEqual([true, expect.stringContaining('Did you mean person?')]);
  });

  it('a message over A2A takes them', async () => {
    const text = [
      'lives_in{city: rome, person: ann}.',
      'lives_in{person: ?who, city: rome}?',
      'lives_in{town: rome}?',
      'forget lives_in{person: ann}.',
      'forget lives_in{person: ann}',
    ].join('\n');
    const message = { role: 'user', kind: 'message', messageId: 'm', parts: [{ kind: 'text', text }] };
    const request = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
    const answered = JSON.stringify((await call('POST', '/a2a', request)).body);
    expect(answered).toContain('lives_in(ann, rome)');
    expect(answered).toContain('is called town');
    expect(answered).toContain('"retracted":1');
  });
});

async function upload(path: string, type: string, body: string) {
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { 'x-tenant-id': 'default', 'x-database': database, 'content-type': type },
    body,
  });
  const last = (await response.text()).trim().split('\n').at(-1) ?? '';
  return JSON.parse(last) as {
    asserted: number;
    failed: number;
    errors: { line: number; message: string }[];
  };
}

describe('answers say the names', () => {
  it('in proofs, violations, diffs, events and texts', async () => {
    const events = new AbortController();
    const stream = await fetch(`${service.address}/events`, {
      headers: { 'x-database': database, 'x-tenant-id': 'default' },
      signal: events.signal,
    });
    const named = { person: 'ann', city: 'york' };
    await call('POST', '/teach', { text: 'reachable(?p) :- lives_in(?p, ?_)' });
    const { body: first } = await call<{ generation: number }>('POST', '/tell', {
      predicate: 'p',
      args: ['1'],
    });
    await call('POST', '/tell', { predicate: 'lives_in', args: named });
    const question = { predicate: 'reachable', args: ['?p'], withProof: true };
    const { body: asked } = await call<Answer>('POST', '/ask', question);
    expect(asked.proof?.steps.map(({ atom, named: given }) => [atom, given])).toEqual([
      ['lives_in(ann, york)', named],
      ['reachable(ann)', undefined],
    ]);
    const why = { predicate: 'lives_in', args: named, mode: 'why' };
    expect((await call('POST', '/explain', why)).body).toMatchObject({ proof: { steps: [{ named }] } });
    await call('POST', '/constraints', { text: '!- lives_in(?p, york)', name: 'no york', mode: 'warn' });
    expect((await call('GET', '/violations')).body).toMatchObject({
      violations: [{ proof: { steps: [{ named }] } }],
    });
    await call('POST', '/tell', { predicate: 'lives_in', args: named, scope: 's' });
    expect((await call('POST', '/scope/diff', { source: 's', target: null })).body).toMatchObject({
      removed: [{ predicate: 'p' }],
    });
    await call('POST', '/tell', { predicate: 'lives_in', args: ['bob', 'rome'], scope: 's' });
    expect((await call('POST', '/scope/diff', { source: 's', target: null })).body).toMatchObject({
      added: [{ named: { person: 'bob', city: 'rome' } }],
    });
    const { body: last } = await call<{ generation: number }>('POST', '/retract', {
      predicate: 'p',
      args: ['1'],
    });
    expect(
      (await call('POST', '/history/diff', { from: first.generation, to: last.generation })).body,
    ).toMatchObject({ facts: { added: [{ named }, { named }, { named: { person: 'bob' } }] } });
    await call('POST', '/context/optimize', { sessionId: 'w' });
    await call('POST', '/retract', { predicate: 'lives_in', args: named });
    expect((await call('POST', '/context/diff', { sessionId: 'w' })).body).toMatchObject({
      removed: [{ named }],
    });
    expect((await call('POST', '/memory/context', { format: 'text' })).body).toMatchObject({
      text: '% lives_in(person, city)\nlives_in(bob, rome) (scope "s")\n',
    });
    let seen = '';
    const decoder = new TextDecoder();
    for await (const piece of stream.body ?? []) {
      seen += decoder.decode(piece, { stream: true });
      if (seen.includes('event: conclusion.withdrawn')) break;
    }
    events.abort();
    expect(seen).toContain('"atom":"lives_in(ann, york)","named":{"person":"ann","city":"york"}');
  });

  it('in hints about another arity', async () => {
    await call('POST', '/tell', { predicate: 'lives_in', args: ['ann', 'york'] });
    const { body } = await call<Answer>('POST', '/ask', { predicate: 'lives_in', args: ['ann'] });
    expect(body.hints?.[0]).toContain('known as lives_in{person, city}: for example lives_in(ann, york)');
  });

  it('in a transaction those that it declares', async () => {
    const { body: begun } = await call<{ id: string }>('POST', '/tx/begin');
    const within = { 'x-transaction-id': begun.id };
    await call('PUT', '/predicates/born/2', { arguments: [{ name: 'person' }, { name: 'year' }] }, within);
    await call('POST', '/tell', { predicate: 'born', args: { person: 'ann', year: 1990 } }, within);
    const question = { predicate: 'born', args: { person: 'ann' }, withProof: true };
    expect((await call('POST', '/ask', question, within)).body).toMatchObject({
      named: [{ person: 'ann', year: '1990' }],
      proof: { steps: [{ named: { person: 'ann', year: '1990' } }] },
    });
  });
});
