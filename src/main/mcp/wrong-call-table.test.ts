/**
 * Wrong calls that models make, through the official clients of both generations: the call that the error text suggests
 * does what was meant. The calls are taken from the text as a model would take them, and made.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { type Agent, connectAgent, statelessRevision, type ToolAnswer } from './testing/agent-clients.ts';

type Given = Record<string, unknown>;

let service: ServiceUnderTest;

/** The knowledge at the start of each case. */
const known = [
  'parent(alice, bob). parent(bob, carol). parent(bob, dave).',
  'lives_in(alice, "New York"). lives_in(bob, Rome). likes(alice, tea). likes(bob, coffee).',
  'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
].join('\n');

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

/** The expected state after the suggested calls. */
interface Outcome {
  /** The answers of the last call. */
  readonly results?: readonly string[];
  /** Derivable or stored. */
  readonly holds?: string;
  readonly holdsNot?: string;
  /** Occurs in the text of the last call. */
  readonly says?: string;
  /** Occurs in the text of the first. */
  readonly shows?: string;
}

type WrongCall = readonly [tool: string, given: Given, outcome: Outcome];

const children = { results: ['parent(bob, carol)', 'parent(bob, dave)'] };
const grandchildren = { results: ['grandparent(alice, carol)', 'grandparent(alice, dave)'] };
const told = { holds: 'likes(carol, tea)' };
const toldFalse = { holds: '-likes(carol, tea)', holdsNot: 'likes(carol, tea)' };
const forgotten = { holdsNot: 'likes(alice, tea)' };
const fact = { predicate: 'likes', args: ['carol', 'tea'] };

const table: readonly WrongCall[] = [
  // Stored or answered literally, although something else was meant.
  [
    'tell',
    { predicate: 'parent', args: ['alice'] },
    { shows: 'parent(alice, bob)', holdsNot: 'parent(alice)' },
  ],
  [
    'tell',
    { predicate: 'parent', args: ['alice', 'bob', 'carol'] },
    { shows: 'parent(alice, bob)', holdsNot: 'parent(alice, bob, carol)' },
  ],
  ['tell', { text: 'parent(alice).' }, { shows: 'parent(alice, bob)', holdsNot: 'parent(alice)' }],
  ['tell', { predicate: 'Likes', args: ['carol', 'tea'] }, told],
  ['tell', { predicate: 'not likes', args: ['carol', 'tea'] }, toldFalse],
  ['tell', { predicate: 'not', args: ['likes(carol, tea)'] }, toldFalse],
  ['tell', { text: 'not("likes(carol, tea)").' }, toldFalse],
  ['tell', { text: 'not likes(carol, tea).' }, toldFalse],
  ['tell', { text: 'not(likes(carol, tea))' }, toldFalse],
  ['tell', { predicate: 'not_likes', args: ['carol', 'tea'] }, toldFalse],
  ['ask', { predicate: 'parent', args: ['Bob', '?x'] }, children],
  ['ask', { text: 'parent(Bob, ?x)' }, children],
  [
    'ask',
    { predicate: 'lives_in', args: ['?who', "'New York'"] },
    { results: ['lives_in(alice, New York)'] },
  ],
  ['ask', { text: 'lives_in(?who, new york)' }, { results: ['lives_in(alice, New York)'] }],
  ['ask', { text: 'grandparent(?who)' }, { shows: 'grandparent/2' }],
  ['ask', { predicate: 'grandmother', args: ['alice', '?x'] }, grandchildren],
  ['ask', { predicate: 'grandparents', args: ['alice', '?x'] }, grandchildren],
  ['ask', { predicate: 'Parent', args: ['bob', '?x'] }, children],
  ['ask', { text: 'parent(bob, X)' }, children],
  ['ask', { predicate: 'parent', args: ['bob', '*'] }, { says: 'carol' }],
  ['ask', { predicate: 'parent', args: ['bob', '_'] }, { says: 'carol' }],
  ['ask', { text: 'not("likes(carol, coffee)")' }, { says: 'No answer' }],
  [
    'forget',
    { predicate: 'grandparent', args: ['alice', 'carol'] },
    { holdsNot: 'grandparent(alice, carol)' },
  ],
  ['forget', { text: 'grandparent(alice, carol).' }, { holdsNot: 'grandparent(alice, carol)' }],
  ['forget', { predicate: 'likes', args: ['Alice', '*'] }, forgotten],
  ['forget', { predicate: 'likes', args: ['Alice', 'tea'] }, forgotten],
  ['forget', { predicate: 'Likes', args: ['alice', 'tea'] }, forgotten],
  ['forget', { predicate: 'likes', args: ['alice', '"tea"'] }, forgotten],
  ['teach', { text: 'older(X, Y) :- parent(X, Y)' }, { holds: 'older(alice, bob)' }],

  // Plain words.
  ['recall', { query: 'Where does Alice live?' }, { says: 'lives_in(alice, New York)' }],
  ['recall', { topic: 'parents' }, { says: 'parent(alice, bob)' }],
  ['recall', { query: 'likes', limit: 5 }, { says: 'likes(alice, tea)' }],
  ['context', { query: 'What does bob like?', budget: 500 }, { says: 'likes(bob, coffee)' }],
  ['context', { query: 'the grandparent of carol', budget: 500 }, { says: 'grandparent(alice, carol)' }],
  ['recall', { query: 'the weather' }, { says: 'likes/2' }],

  ['ask', { question: 'Who are the grandparents of carol?' }, { says: 'grandparent(alice, carol)' }],
  ['ask', { text: 'where does bob live' }, { says: 'lives_in(bob, Rome)' }],

  // Differently spelt names for an overview.
  ['recall', { predicates: ['Likes'] }, { says: 'likes(alice, tea)' }],
  ['recall', { predicates: ['likes'], scope: 'default' }, { shows: 'there is no scope default' }],
  ['ask', { predicate: 'parent', args: ['bob', '?x'], scope: 'main' }, { shows: 'there is no scope main' }],
  [
    'context',
    { goals: [{ predicate: 'grandparents', args: ['alice', '?x'] }] },
    { says: 'grandparent(alice, carol)' },
  ],
  ['compress', { predicates: ['Likes'] }, { shows: 'likes' }],

  // Unknown tools.
  [
    'update',
    { predicate: 'lives_in', args: ['bob', 'Paris'] },
    { holds: 'lives_in(bob, Paris)', holdsNot: 'lives_in(bob, Rome)' },
  ],
  [
    'update',
    { old: 'likes(alice, tea)', new: 'likes(alice, milk)' },
    { holds: 'likes(alice, milk)', holdsNot: 'likes(alice, tea)' },
  ],
  ['search', { query: 'alice' }, { says: 'lives_in(alice, New York)' }],
  ['search_nodes', { query: 'Rome' }, { says: 'lives_in(bob, Rome)' }],
  ['query', { predicate: 'parent', args: ['bob', '?x'] }, children],
  ['remember', { text: 'likes(carol, tea).' }, told],
  ['store_fact', { fact: 'likes(carol, tea)' }, told],
  ['add', { subject: 'carol', predicate: 'likes', object: 'tea' }, told],
  ['delete', { predicate: 'likes', args: ['alice', 'tea'] }, forgotten],
  ['add_rule', { rule: 'older(?x, ?y) :- parent(?x, ?y)' }, { holds: 'older(alice, bob)' }],
  ['schema', {}, { says: 'parent/2' }],
  ['read_graph', {}, { says: 'parent(alice, bob)' }],
  ['why_not', { predicate: 'grandparent', args: ['carol', 'alice'] }, { says: 'missing' }],
  ['reacll', {}, { says: 'parent(alice, bob)' }],

  // Fields of other names and types.
  ['ask', { subject: 'bob', predicate: 'parent', object: '?x' }, children],
  ['ask', { query: 'parent(bob, ?x)' }, children],
  ['ask', { question: 'parent(bob, ?x)?' }, children],
  ['ask', { predicate: 'parent(bob, ?x)', args: [] }, children],
  ['ask', { predicate: 'parent', args: '["bob", "?x"]' }, children],
  ['ask', { predicate: 'parent', args: ['bob', '?'] }, { says: 'carol' }],
  ['ask', { predicate: 'parent', arguments: ['bob', '?x'] }, children],
  ['ask', { text: '?- parent(bob, ?x)' }, children],
  ['ask', { text: 'parent(bob, ?x) and parent(alice, bob)' }, { says: 'parent(bob, carol)' }],
  ['ask', { predicate: 'likes', args: ['alice', 'tea'], truthVal: false }, { says: 'likes(alice, tea)' }],
  ['ask', { text: 'older(?x, ?y) :- parent(?x, ?y)' }, { holds: 'older(alice, bob)' }],
  ['tell', { fact: 'likes(carol, tea)' }, told],
  ['tell', { facts: ['likes(carol, tea)', 'likes(dave, tea)'] }, { ...told, says: 'likes(dave, tea)' }],
  ['tell', { facts: [{ predicate: 'likes', arguments: ['carol', 'tea'] }] }, told],
  ['tell', { from: 'carol', relation: 'likes', to: 'tea' }, told],
  ['tell', { predicate: 'likes(carol, tea)' }, told],
  ['tell', { predicate: 'likes', args: { person: 'carol', drink: 'tea' } }, told],
  ['tell', { predicate: 'likes', args: 'carol, tea' }, told],
  ['tell', { ...fact, negated: 'true' }, toldFalse],
  ['tell', { ...fact, truth_val: false }, toldFalse],
  ['tell', { predicate: '-likes', args: ['carol', 'tea'] }, toldFalse],
  ['tell', { ...fact, confidence: 0.9 }, told],
  ['tell', { ...fact, ttl: '60000' }, told],
  ['tell', { arguments: fact }, told],
  ['tell', { text: 'carol likes tea.' }, told],
  ['tell', { text: 'parent(alice, ?x)' }, { results: ['parent(alice, bob)'] }],
  ['teach', { rule: 'older(?x, ?y) <- parent(?x, ?y)' }, { holds: 'older(alice, bob)' }],
  ['teach', { head: 'older(?x, ?y)', body: ['parent(?x, ?y)'] }, { holds: 'older(alice, bob)' }],
  ['teach', { text: 'if parent(?x, ?y) then older(?x, ?y)' }, { holds: 'older(alice, bob)' }],
  ['teach', { text: 'likes(carol, tea).' }, told],
  [
    'teach',
    { text: 'older(?x, ?y) :- parent(?x, ?y). elder(?x) :- older(?x, ?y).' },
    { holds: 'elder(alice)' },
  ],
  ['forget', { query: 'likes(alice, tea)' }, forgotten],
  ['forget', { fact: 'likes(alice, ?what)' }, forgotten],
  ['recall', { predicate: 'likes' }, { says: 'likes(alice, tea)' }],
  ['recall', { limit: '3' }, { says: '3 of' }],
  ['context', { goal: 'grandparent(alice, ?x)' }, { says: 'grandparent(alice, carol)' }],
  ['context', { goals: ['grandparent(alice, ?x)'], tokens: 500 }, { says: 'grandparent(alice, carol)' }],
  ['predicates', { filter: 'par' }, { says: 'parent/2' }],
];

/** The calls that the text suggests, in order; for a suggested atom, the tool called with it as text. */
function callsIn(tool: string, text: string): [tool: string, given: Given][] {
  const calls: [string, Given][] = [];
  for (const line of text.split('\n')) {
    const perhaps = /^Perhaps you mean: (\{.*\})$/.exec(line)?.[1];
    if (perhaps !== undefined) calls.push([tool, JSON.parse(perhaps) as Given]);
    const called = /[Cc]all (\w+) with (\{.*\})(?: and (?:tell|teach) that one\.)?$/.exec(line);
    if (called?.[1] !== undefined) calls.push([called[1], JSON.parse(called[2] ?? '{}') as Given]);
    const meant =
      /^Hint: .*(?:did you mean |explicit negation, use |store the fact, tell |as in )(.*?)\??$/.exec(
        line,
      )?.[1] ?? /^Hint: .*(?:retract (?:all of )?|depends on )(\S+\(.*?\))(?: (?:or|and) |$)/.exec(line)?.[1];
    if (meant !== undefined) calls.push([tool, callFor(tool, meant)]);
  }
  return calls;
}

/** What was meant, in the tool's field for it. */
function callFor(tool: string, meant: string): Given {
  if (tool === 'recall' || tool === 'compress') return { predicates: [meant] };
  if (tool !== 'context') return { text: meant };
  const [, predicate, args = ''] = /^(.*?)\((.*)\)$/.exec(meant) ?? [];
  return { goals: [{ predicate, args: args.split(', ') }] };
}

const clients = [
  { generation: 1, transport: 'Streamable HTTP', path: '/mcp', revision: '2025-11-25' },
  { generation: 2, transport: 'Streamable HTTP', path: '/mcp', revision: statelessRevision },
] as const;

describe.each(clients)('through the official client of generation $generation', (kind) => {
  let agent: Agent;
  let cases = 0;
  let headers: Record<string, string>;

  async function follows(text: string): Promise<boolean> {
    const { body } = await service.call<{ count: number }>('POST', '/ask', { text }, { headers });
    return body.count > 0;
  }

  it.each(table)('%s %j leads to what was meant', async (tool, given, outcome) => {
    const name = `wrong-${kind.generation}-${++cases}`;
    await service.call('POST', '/databases', { name });
    headers = { 'X-Database': name };
    agent = await connectAgent(kind, service.address, headers);
    try {
      // The client validates answers against the schemas that it received.
      await agent.listTools();
      expect(await agent.call('tell', { text: known })).toMatchObject({ isError: false });
      let last: ToolAnswer = await agent.call(tool, given);
      const seen = [last.text];
      const calls = callsIn(tool, last.text);
      for (const [next, meant] of calls) {
        last = await agent.call(next, meant);
        seen.push(`${next} ${JSON.stringify(meant)}: ${last.text}`);
        expect(last, seen.join('\n')).toMatchObject({ isError: false });
      }
      const story = seen.join('\n');
      expect(last.isError, story).toBe(false);
      const { results, holds, holdsNot, says, shows } = outcome;
      if (shows !== undefined) expect(seen[0]).toContain(shows);
      if (results !== undefined) expect(last.content['results'], story).toEqual(results);
      if (holds !== undefined) expect(await follows(holds), story).toBe(true);
      if (holdsNot !== undefined) expect(await follows(holdsNot), story).toBe(false);
      if (says !== undefined) expect(last.text, story).toContain(says);
    } finally {
      await agent.close();
    }
  });
});
