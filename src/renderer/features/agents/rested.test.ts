import { expect, test } from 'vitest';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { findRested, toldBy } from './rested.ts';

let count = 0;

/** Calls in the order of their making. */
function call(
  client: string,
  tool: string,
  given: ToolCallRecord['arguments'],
  part: Partial<ToolCallRecord> = {},
) {
  count += 1;
  const record: ToolCallRecord = {
    id: String(count),
    time: count * 1000,
    client,
    tool,
    arguments: given,
    argumentsCut: false,
    outcome: 'ok',
    elapsedMs: 1,
    resultChars: 1,
    result: '',
    database: 'default',
    tenant: 'default',
    requestId: `r${count}`,
    ...part,
  };
  return record;
}

function proofWith(...steps: Partial<ProofStep>[]): Proof {
  return {
    roots: [0],
    steps: steps.map((step, id) => ({
      id,
      atom: '',
      kind: 'fact',
      rule: null,
      ruleId: null,
      premises: [],
      scope: null,
      ...step,
    })),
  };
}

test('reads what was told in every form of the tool, and counts what it cannot read', () => {
  const told = toldBy(
    [
      call('A', 'tell', { predicate: 'p', args: ['a', 1] }),
      call('A', 'tell', { facts: [{ predicate: 'q', args: ['b'], truthVal: false }] }),
      call('A', 'tell', { text: 'r(c). s(?x) :- r(?x).' }),
      call('A', 'teach', { text: 't(?x) :- s(?x)' }),
      call('A', 'tell', { text: 'r(' }),
      call('A', 'tell', { text: 'long' }, { argumentsCut: true }),
      call('A', 'tell', { predicate: 'refused', args: ['a'] }, { outcome: 'error' }),
      call('B', 'tell', { predicate: 'other', args: ['a'] }),
    ].toReversed(),
    'A',
  );
  expect([...told.facts.keys()]).toEqual(['p(a, 1)', '-q(b)', 'r(c)']);
  expect(told.rules.size).toBe(2);
  expect(told.unread).toBe(2);
});

test('lists the answers whose proof uses what was told before, by whomever they were asked', async () => {
  const early = call('B', 'ask', { predicate: 'p', args: ['a'] });
  const tell = call('A', 'tell', { predicate: 'p', args: ['a'] });
  const teach = call('A', 'teach', { text: 'q(?x) :- p(?x)' });
  const asked = call('B', 'ask', { predicate: 'q', args: ['?x'] });
  const elsewhere = call('B', 'ask', { predicate: 'r', args: ['?x'] });
  const refused = call('B', 'ask', { predicate: 'gone', args: ['?x'] });
  const later = call('A', 'tell', { predicate: 'r', args: ['z'] });
  const log = [later, refused, elsewhere, asked, teach, tell, early];
  const proved: string[] = [];
  const found = await findRested(log, 'A', async ({ id }) => {
    proved.push(id);
    if (id === refused.id) return null;
    if (id === elsewhere.id) return proofWith({ atom: 'r(z)' });
    return proofWith({ atom: 'p(a)' }, { atom: 'q(a)', kind: 'rule', rule: 'q(?y) :- p(?y)', premises: [0] });
  });
  expect(proved).not.toContain(early.id);
  // r(z) was told after the question.
  expect(found.answers.map((answer) => [answer.call.id, answer.on])).toEqual([
    [asked.id, ['p(a)', 'q(?y) :- p(?y)']],
  ]);
  expect(found).toMatchObject({ told: 3, unread: 0, asked: 2, left: 1 });
});
