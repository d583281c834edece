/** Calls with common mistakes: each answer leads to the correct call in one step. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

type Answer = Record<string, unknown> & { hints?: string[]; detail?: string };

let service: ServiceUnderTest;
let headers: Record<string, string>;
let tenants = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
  await post('/teach', { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)' });
});
afterAll(() => service.close());
beforeEach(async () => {
  headers = { 'x-tenant-id': `careless-${++tenants}` };
  const facts = [
    ['parent', 'alice', 'bob'],
    ['parent', 'bob', 'carol'],
    ['lives_in', 'bob', 'New York'],
    ['likes', 'alice', 'tea'],
    ['phone', 'alice', '555-1234'],
  ].map(([predicate, ...args]) => ({ predicate, args }));
  await post('/assert/facts', { facts });
});

async function post(path: string, body: unknown): Promise<{ status: number; body: Answer }> {
  return service.call<Answer>('POST', path, body, { headers: headers ?? { 'x-tenant-id': 'careless' } });
}

const ask = (predicate: string, ...args: string[]): [string, object] => ['/ask', { predicate, args }];
const tell = (predicate: string, ...args: string[]): [string, object] => ['/tell', { predicate, args }];
const forget = (predicate: string, ...args: string[]): [string, object] => [
  args.some((each) => each.startsWith('?')) ? '/retract/pattern' : '/retract',
  { predicate, args },
];
const teach = (text: string): [string, object] => ['/teach', { text }];

const calls: [what: string, call: [path: string, body: object], leads: string][] = [
  ['another case of a constant', ask('parent', 'Alice', '?x'), 'parent(alice, ?x)'],
  ['capitals throughout', ask('parent', 'ALICE', '?x'), 'parent(alice, ?x)'],
  ['another case in a conclusion', ask('grandparent', 'Alice', '?who'), 'grandparent(alice, ?who)'],
  ['another case of the predicate', ask('Parent', 'alice', '?x'), 'parent(alice, ?x)'],
  ['camel case', ask('livesIn', 'bob', '?x'), 'lives_in(bob, ?x)'],
  ['hyphens', ask('lives-in', 'bob', '?x'), 'lives_in(bob, ?x)'],
  ['an arity after a slash', ask('parent/2', 'alice', '?x'), 'parent(alice, ?x)'],
  ['a plural', ask('parents', 'alice', '?x'), 'parent(alice, ?x)'],
  ['a letter too few', ask('grandparnt', 'alice', '?x'), 'grandparent(alice, ?x)'],
  ['a word around it', ask('is_parent_of', 'alice', '?x'), 'parent(alice, ?x)'],
  ['a name that is not there', ask('grandmother', 'alice', '?x'), 'grandparent(alice, ?x)'],
  ['single quotes', ask('lives_in', '?x', "'New York'"), 'lives_in(?x, New York)'],
  ['double quotes', ask('lives_in', '?x', '"New York"'), 'lives_in(?x, New York)'],
  ['typographic quotes', ask('lives_in', '?x', '“New York”'), 'lives_in(?x, New York)'],
  ['an underscore for a space', ask('lives_in', '?x', 'New_York'), 'lives_in(?x, New York)'],
  ['space at the end', ask('parent', 'alice ', '?x'), 'parent(alice, ?x)'],
  ['a full stop in a constant', ask('parent', 'alice', 'bob.'), 'parent(alice, bob)'],
  ['a question mark in a constant', ask('parent', 'alice', 'bob?'), 'parent(alice, bob)'],
  ['an argument too few', ask('grandparent', '?who'), 'grandparent/2'],
  ['an argument too many', ask('parent', 'alice', 'bob', '?x'), 'parent/2'],
  ['variables as in Prolog', ask('parent', 'X', 'Y'), 'parent(?x, ?y)'],
  ['a word that asks', ask('parent', 'alice', 'Who'), 'parent(alice, ?who)'],
  ['an underscore that matches anything', ask('parent', 'alice', '_'), 'parent(alice, ?_)'],
  ['an asterisk', ask('parent', 'alice', '*'), 'parent(alice, ?_)'],
  [
    'the opposite',
    ['/ask', { predicate: 'likes', args: ['alice', 'tea'], negated: true }],
    'likes(alice, tea)',
  ],
  ['an atom within not', ask('not', 'likes(alice, bob)'), '-likes(alice, bob)'],
  ['a text with another case', ['/ask', { text: 'parent(Alice, ?x), parent(?x, ?y)' }], 'parent(alice, ?x)'],
  ['a conclusion retracted', forget('grandparent', 'alice', 'carol'), 'parent(alice, bob)'],
  ['conclusions retracted', forget('grandparent', 'alice', '?x'), 'parent(alice, bob)'],
  ['a retraction in another case', forget('parent', 'Alice', 'Bob'), 'parent(alice, bob)'],
  ['a retraction with an asterisk', forget('parent', 'Alice', '*'), 'parent(alice, ?_)'],
  [
    'a retraction of the opposite',
    ['/retract', { predicate: 'likes', args: ['alice', 'tea'], truthVal: false }],
    'likes(alice, tea)',
  ],
  ['a pattern of another arity', forget('parent', '?x'), 'parent/2'],
  ['a fact with an argument too few', tell('parent', 'alice'), 'parent/2'],
  ['a fact with an argument too many', tell('parent', 'alice', 'bob', 'carol'), 'parent/2'],
  ['a fact as one constant', tell('fact', 'parent(alice, dave)'), 'parent(alice, dave)'],
  ['a fact within not', tell('not', 'likes(alice, bob)'), '-likes(alice, bob)'],
  ['not in the name', tell('not_likes', 'alice', 'bob'), '-likes(alice, bob)'],
  ['a fact of another case', tell('Parent', 'bob', 'dave'), 'parent(bob, dave)'],
  ['a constant of another case', tell('parent', 'Alice', 'dave'), 'parent(alice, dave)'],
  ['a constant with quotes', tell('parent', "'alice'", 'dave'), 'parent(alice, dave)'],
  ['a fact with variables as in Prolog', tell('parent', 'X', 'Y'), 'X is stored as a constant'],
  ['a name with not and a space', tell('not likes', 'alice', 'bob'), 'likes'],
  ['a rule as in Prolog', teach('stop(X) :- parent(X, Y)'), 'stop(?x) :- parent(?x, ?y)'],
  ['a rule of another case', teach('a(?x) :- Parent(?x, ?y)'), 'parent(?x, ?y)'],
  ['a rule with an argument too few', teach('b(?x) :- parent(?x)'), 'parent/2'],
  ['a rule with a constant of another case', teach('c(?x) :- likes(?x, Tea)'), 'likes(?x, tea)'],
];

describe('a call with a common mistake', () => {
  it("in a transaction gets hints from the transaction's own view", async () => {
    const begun = await post('/tx/begin', {});
    const within = { 'x-transaction-id': String(begun.body['id']), ...headers };
    const send = (path: string, body: unknown) =>
      service.call<Answer>('POST', path, body, { headers: within });
    expect((await send('/tell', { predicate: 'parent', args: ['alice'] })).body).toMatchObject({
      status: 'pending',
      hints: [expect.stringContaining('parent/2')],
    });
    expect((await send('/tell', { predicate: 'team', args: ['x', 'y'] })).body).not.toHaveProperty('hints');
    expect((await send('/tell', { predicate: 'team', args: ['x'] })).body.hints).toHaveLength(1);
    expect(
      (await send('/retract', { predicate: 'grandparent', args: ['alice', 'carol'] })).body,
    ).toMatchObject({
      status: 'pending',
      hints: [expect.stringContaining('parent(alice, bob)')],
    });
    expect((await send('/ask', { predicate: 'Team', args: ['?x', '?y'] })).body.hints?.[0]).toContain(
      'team(?x, ?y)',
    );
  });

  it('that lists facts gets hints', async () => {
    const list = async (query: string) =>
      (await service.call<Answer>('GET', `/facts?${query}`, undefined, { headers })).body;
    expect((await list('predicate=Parent')).hints?.[0]).toContain('parent');
    expect((await list('q=parent(alice,bob)')).hints?.[0]).toContain('parent(alice, bob)');
    expect(await list('predicate=parent')).not.toHaveProperty('hints');
  });

  // Rules are shared by all tenants: those taught here make the names in them known.
  it.each(calls)('leads to the correct one: %s', async (_, [path, body], leads) => {
    const { status, body: answer } = await post(path, body);
    const said = status === 200 ? (answer.hints ?? []).join('\n') : String(answer.detail);
    expect(said).toContain(leads);
    expect(answer.hints?.length ?? 0).toBeLessThanOrEqual(5);
  });
});
