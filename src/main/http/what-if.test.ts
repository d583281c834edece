import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WhatIfResult } from '../../engine/contract/explanation.ts';
import type { FactList, PredicateList } from '../../engine/contract/facts.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import type { RuleOutcome } from '../../engine/contract/rules.ts';
import {
  type Answered,
  type ServiceUnderTest,
  startServiceUnderTest,
} from '../testing/service-under-test.ts';

/** POST /whatIf over real HTTP; the service validates every answer against its schema. */
let service: ServiceUnderTest;
let ruleId: string;

beforeAll(async () => {
  service = await startServiceUnderTest();
  for (const args of [
    ['alice', 'bob'],
    ['bob', 'carol'],
  ])
    await service.call('POST', '/tell', { predicate: 'parent', args });
  const text = 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)';
  ruleId = (await service.call<RuleOutcome>('POST', '/teach', { text })).body.id;
});

afterAll(() => service.close());

function whatIf<Body = WhatIfResult>(body?: unknown): Promise<Answered<Body>> {
  return service.call<Body>('POST', '/whatIf', body);
}

it('returns what a change would gain and lose, and changes nothing', async () => {
  const look = async (): Promise<unknown> => [
    // Salience decays as time passes.
    (await service.call<FactList>('GET', '/facts')).body.facts.map((fact) => ({ ...fact, salience: null })),
    (await service.call('GET', '/rules')).body,
    (await service.call('GET', '/predicates')).body,
    (await service.call<Answer>('POST', '/ask', { predicate: 'nothing', args: [] })).body.generation,
  ];
  // Conclusions are counted in the background, whenever the service is idle for a moment.
  const areCounted = async (): Promise<boolean> => {
    const { body } = await service.call<PredicateList>('GET', '/predicates');
    return body.predicates.every(({ derivedComplete }) => derivedComplete);
  };
  await expect.poll(areCounted).toBe(true);
  const before = await look();
  const { status, body } = await whatIf({
    assert: [{ predicate: 'parent', args: ['carol', 3], ttl: 60_000 }],
    retract: [{ predicate: 'parent', args: ['alice', 'bob'] }],
    goals: [{ predicate: 'grandparent', args: ['?x', '?y'] }],
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    goals: [
      {
        goal: 'grandparent(?x, ?y)',
        before: ['grandparent(alice, carol)'],
        after: ['grandparent(bob, 3)'],
        gained: ['grandparent(bob, 3)'],
        lost: ['grandparent(alice, carol)'],
      },
    ],
  });
  expect(await look()).toEqual(before);
});

it('covers everything that the change can affect if no goal is given', async () => {
  const { body } = await whatIf({ retract: [{ predicate: 'parent', args: ['bob', 'carol'] }], goals: null });
  expect(body.goals.map(({ goal, lost }) => [goal, lost])).toEqual([
    ['grandparent(?x1, ?x2)', ['grandparent(alice, carol)']],
    ['parent(?x1, ?x2)', ['parent(bob, carol)']],
  ]);
});

it('can remove a rule and replace it', async () => {
  const { body } = await whatIf({
    withoutRules: [ruleId],
    rules: [
      {
        head: { predicate: 'elder', args: ['?x'] },
        body: [{ predicate: 'parent', args: ['?x', '?_'] }],
      },
    ],
  });
  expect(body.goals.map(({ goal, gained, lost }) => [goal, gained.length, lost.length])).toEqual([
    ['elder(?x1)', 2, 0],
    ['grandparent(?x1, ?x2)', 0, 1],
  ]);
});

it('rejects a request without a change', async () => {
  expect((await whatIf({})).body).toEqual({ goals: [] });
  expect(await whatIf()).toMatchObject({ status: 200, body: { goals: [] } });
});

it('shows nothing to another tenant', async () => {
  const asked = {
    assert: [{ predicate: 'q', args: ['a'] }],
    goals: [{ predicate: 'parent', args: ['?x', '?y'] }],
  };
  const headers = { 'x-tenant-id': 'somebody-else' };
  const { body } = await service.call<WhatIfResult>('POST', '/whatIf', asked, { headers });
  expect(body.goals).toMatchObject([{ before: [], after: [] }]);
});

it.each([
  ['an unknown field', { asserts: [] }, 'asserts'],
  ['a fact that is not ground', { assert: [{ predicate: 'p', args: ['?x'] }] }, 'assert.0.args.0'],
  ['a retraction that is not ground', { retract: [{ predicate: 'p', args: ['?x'] }] }, 'retract.0.args.0'],
  [
    'a retraction with what /retract does not take',
    { retract: [{ predicate: 'p', args: [], ttl: 1 }] },
    'ttl',
  ],
  ['a built-in as a goal', { goals: [{ predicate: '<', args: ['?x', '?y'] }] }, 'goals.0.predicate'],
  ['two choices of a scope', { scope: 's', unscoped: true }, 'unscoped'],
  ['a rule without a body', { rules: [{ head: { predicate: 'p', args: [] } }] }, 'rules.0.body'],
  ['a syntax error, with line and column', { rules: [{ text: 'p(?x) :-\n q(?x' }] }, 'line 2, column'],
  [
    'a validity that is reversed',
    { assert: [{ predicate: 'p', args: [], validFrom: 2, validUntil: 1 }] },
    'assert.0.validUntil',
  ],
])('returns 400: %s', async (_, body, named) => {
  const { status, body: problem } = await whatIf<{ code: string; detail: string; errors: unknown }>(body);
  expect(status).toBe(400);
  expect(problem.code).toBe('ValidationException');
  expect(JSON.stringify(problem)).toContain(named);
});

it('returns 400 without a tenant', async () => {
  const response = await fetch(`${service.address}/whatIf`, { method: 'POST' });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining('X-Tenant-ID') as string });
});

it('returns 404 for an unknown rule', async () => {
  expect(await whatIf({ withoutRules: ['r404'] })).toMatchObject({
    status: 404,
    body: { code: 'RuleNotFound' },
  });
});

it('returns 422 for an unsafe rule, naming the variable, and for unstratifiable rules, naming the cycle', async () => {
  const unsafe = await whatIf({ rules: [{ text: 'p(?x) :- q(?y)' }] });
  expect(unsafe).toMatchObject({ status: 422, body: { code: 'RuleException' } });
  expect(JSON.stringify(unsafe.body)).toContain('?x');
  const cycle = await whatIf({ rules: [{ text: 'parent(?x, ?y) :- p(?x, ?y), not grandparent(?x, ?y)' }] });
  expect(cycle).toMatchObject({ status: 422, body: { code: 'RuleException' } });
  expect(JSON.stringify(cycle.body)).toContain('grandparent/2');
});

it('returns 422 beyond a limit, naming it', async () => {
  const endless = {
    assert: [{ predicate: 'n', args: [0] }],
    rules: [{ text: 'n(?y) :- n(?x), ?y = ?x + 1' }],
  };
  expect(await whatIf({ ...endless, maxDerivations: 1000 })).toMatchObject({
    status: 422,
    body: { code: 'InferenceLimitExceeded', limit: 'maxDerivations' },
  });
  expect(await whatIf({ ...endless, maxDerivations: 1_000_000_000, timeoutMs: 50 })).toMatchObject({
    status: 422,
    body: { limit: 'timeoutMs', elapsedMs: expect.any(Number) as number },
  });
});
