import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Trace } from '../../engine/contract/explanation.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** The service under test validates every answer against its schema. */
let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
  const facts = ['alice bob', 'bob carol'].map((pair) => ({ predicate: 'parent', args: pair.split(' ') }));
  await service.call('POST', '/assert/facts', { facts });
  await service.call('POST', '/teach', { text: 'ancestor(?x, ?y) :- parent(?x, ?y)' });
  await service.call('POST', '/teach', { text: 'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)' });
});

afterAll(() => service.close());

it('returns the trace of an inference with the fields of the contract', async () => {
  const { status, body } = await service.call<Trace>('POST', '/trace', {
    predicate: 'ancestor',
    args: ['alice', '?who'],
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ answers: 2, truncated: false });
  expect(body.elapsedMs).toBeGreaterThanOrEqual(0);
  expect(body.rules).toMatchObject([
    { ruleId: 'r2', rule: 'ancestor(?x, ?y) :- parent(?x, ?y)', fired: 2, derived: 2 },
    { ruleId: 'r3', rule: 'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)', fired: 1, derived: 1 },
  ]);
  expect(body.subgoals).toMatchObject([
    { goal: 'ancestor(alice, ?who)', calls: 1, answers: 2 },
    { goal: 'ancestor(bob, ?who)', calls: 1, answers: 1 },
    { goal: 'ancestor(carol, ?who)', calls: 1, answers: 0 },
  ]);
  expect(body.events[0]).toMatchObject({
    seq: 1,
    port: 'call',
    depth: 0,
    atom: 'ancestor(alice, ?who)',
    ruleId: null,
  });
  expect(body.events.at(-1)).toMatchObject({ port: 'fail', depth: 2, atom: 'ancestor(carol, ?who)' });
});

it.each([
  { text: 'ancestor(alice, ?who)' },
  { body: [{ predicate: 'ancestor', args: ['alice', '?who'] }] },
  { predicate: 'ancestor', args: ['alice', '?who'], scope: null, maxEvents: 100_000 },
])('accepts a question in each form that /ask accepts: %j', async (input) => {
  expect((await service.call<Trace>('POST', '/trace', input)).body.answers).toBe(2);
});

it('returns no answers if nothing matches', async () => {
  const { status, body } = await service.call<Trace>('POST', '/trace', { predicate: 'none', args: ['?x'] });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    answers: 0,
    rules: [],
    subgoals: [{ goal: 'none(?x)', calls: 1, answers: 0 }],
  });
});

it.each([
  [{ maxEvents: 0 }, 'maxEvents'],
  [{ maxEvents: 100_001 }, 'maxEvents'],
  [{ maxEvents: 1.5 }, 'maxEvents'],
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ limit: 1 }, 'limit'],
  [{ scope: 's', unscoped: true }, 'unscoped'],
  [{ text: 'p(?x)' }, 'predicate'],
])('rejects %j with 400 and names the field', async (fields, path) => {
  const { status, body } = await service.call<Problem>('POST', '/trace', {
    predicate: 'ancestor',
    args: ['?x', '?y'],
    ...fields,
  });
  expect(status).toBe(400);
  expect(JSON.stringify(body.errors)).toContain(path);
});

it('rejects a missing tenant, invalid JSON and an unsupported method', async () => {
  const asked = { predicate: 'ancestor', args: ['?x', '?y'] };
  const without = await fetch(`${service.address}/trace`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  });
  expect(without.status).toBe(400);
  expect(((await without.json()) as Problem).detail).toMatch(/X-Tenant-ID/i);
  const plain = { headers: { 'content-type': 'text/plain' } };
  expect((await service.call('POST', '/trace', JSON.stringify(asked), plain)).status).toBe(415);
  expect((await service.call('GET', '/trace')).status).toBe(405);
});

it('returns 422 with the limit that was exceeded', async () => {
  await service.call('POST', '/tell', { predicate: 'n', args: ['0'] });
  await service.call('POST', '/teach', { text: 'n(?y) :- n(?x), ?y = ?x + 1' });
  const { status, body } = await service.call('POST', '/trace', {
    predicate: 'n',
    args: ['?x'],
    maxDerivations: 1000,
  });
  expect(status).toBe(422);
  expect(body).toMatchObject({ code: 'InferenceLimitExceeded', limit: 'maxDerivations' });
});

it('writes a trace of many events in full', async () => {
  const facts = Array.from({ length: 300 }, (_, at) => ({ predicate: 'edge', args: [`${at}`, `${at + 1}`] }));
  await service.call('POST', '/assert/facts', { facts });
  await service.call('POST', '/teach', { text: 'reach(?x, ?y) :- edge(?x, ?y)' });
  await service.call('POST', '/teach', { text: 'reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)' });
  const { body } = await service.call<Trace>('POST', '/trace', { text: 'reach(?x, ?y)', maxEvents: 60_000 });
  expect(body).toMatchObject({ answers: 45_150, truncated: false });
  expect(body.events).toHaveLength(45_451);
});
