import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Why, WhyNot } from '../../engine/contract/explanation.ts';
import type { RuleOutcome } from '../../engine/contract/rules.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** POST /explain over real HTTP. The service under test validates every answer against its schema. */
let service: ServiceUnderTest;
let ruleId: string;

beforeAll(async () => {
  service = await startServiceUnderTest();
  for (const args of [
    ['alice', 'bob'],
    ['bob', 'carol'],
  ])
    await service.call('POST', '/tell', { predicate: 'parent', args });
  const rule = await service.call<RuleOutcome>('POST', '/teach', {
    text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
  });
  ruleId = rule.body.id;
});

afterAll(() => service.close());

it('explains why a fact is true', async () => {
  const question = { predicate: 'grandparent', args: ['alice', 'carol'], mode: 'why' };
  const { status, body } = await service.call<Why>('POST', '/explain', question);
  expect(status).toBe(200);
  expect(body).toMatchObject({ atom: 'grandparent(alice, carol)', holds: true, proof: { roots: [2] } });
  expect(body.proof.steps.map(({ atom }) => atom)).toEqual([
    'parent(alice, bob)',
    'parent(bob, carol)',
    'grandparent(alice, carol)',
  ]);
});

it('explains why a fact is not true', async () => {
  const question = { predicate: 'grandparent', args: ['alice', 'dave'], mode: 'whyNot' };
  const { status, body } = await service.call<WhyNot>('POST', '/explain', question);
  expect(status).toBe(200);
  expect(body).toEqual({
    atom: 'grandparent(alice, dave)',
    holds: false,
    attempts: [
      {
        rule: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
        ruleId,
        bindings: { x: 'alice', y: 'bob', z: 'dave' },
        satisfied: ['parent(alice, bob)'],
        missing: ['parent(bob, dave)'],
      },
    ],
    blockedBy: [],
  });
});

it('shows what blocks a conclusion', async () => {
  await service.call('POST', '/tell', { predicate: 'parent', args: ['bob', 'erin'], scope: 'other' });
  const late = { predicate: 'parent', args: ['bob', 'erin'], validFrom: '2999-01-01', unscoped: true };
  await service.call('POST', '/tell', late);
  const question = { predicate: 'grandparent', args: ['alice', 'erin'], mode: 'whyNot', unscoped: true };
  const { body } = await service.call<WhyNot>('POST', '/explain', question);
  expect(body.blockedBy).toEqual([
    {
      reason: 'not_yet_valid',
      detail: 'parent(bob, erin) without a scope is valid only from 2999-01-01T00:00:00.000Z on',
    },
    { reason: 'other_scope', detail: 'parent(bob, erin) is stored in scope other, not without a scope' },
  ]);
});

it.each([
  ['no mode', { predicate: 'p', args: [] }, 'mode'],
  ['a mode that is none', { predicate: 'p', args: [], mode: 'whynot' }, 'mode'],
  ['a variable in whyNot', { predicate: 'p', args: ['a', '?x'], mode: 'whyNot' }, 'args.1'],
  ['scope and unscoped', { predicate: 'p', args: [], mode: 'why', scope: 's', unscoped: true }, 'unscoped'],
  ['an unknown field', { predicate: 'p', args: [], mode: 'why', withProof: true }, 'withProof'],
  ['the name of a built-in', { predicate: '<', args: ['1', '2'], mode: 'whyNot' }, 'predicate'],
])('rejects %s with 400 that names the field', async (_, body, path) => {
  const answer = await service.call('POST', '/explain', body);
  expect(answer.status).toBe(400);
  expect(answer.body.code).toBe('ValidationException');
  expect(JSON.stringify(answer.body.errors)).toContain(path);
});

it('requires the tenant header', async () => {
  const question = { predicate: 'p', args: [], mode: 'why' };
  const { status, body } = await service.call('POST', '/explain', question, {
    headers: { 'x-tenant-id': '' },
  });
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'ValidationException' });
});

it('answers that nothing is true for an unknown tenant', async () => {
  const headers = { 'x-tenant-id': 'nobody' };
  const question = { predicate: 'grandparent', args: ['alice', 'carol'], mode: 'whyNot' };
  const { body } = await service.call<WhyNot>('POST', '/explain', question, { headers });
  expect(body).toMatchObject({
    holds: false,
    attempts: [{ satisfied: [], missing: ['parent(alice, ?y)', 'parent(?y, carol)'] }],
    blockedBy: [],
  });
});

it('returns 422 at its limits', async () => {
  await service.call('POST', '/teach', { text: 'n(?y) :- n(?x), ?y = ?x + 1' });
  await service.call('POST', '/teach', { text: 'done() :- n(?x), ?x < 0' });
  await service.call('POST', '/tell', { predicate: 'n', args: ['0'] });
  const question = { predicate: 'done', args: [], mode: 'whyNot', maxDerivations: 1000 };
  const { status, body } = await service.call('POST', '/explain', question);
  expect(status).toBe(422);
  expect(body).toMatchObject({ code: 'InferenceLimitExceeded', limit: 'maxDerivations' });
});
