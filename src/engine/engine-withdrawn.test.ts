import { expect, test } from 'vitest';
import type { Change } from './engine.ts';
import { openSession } from './testing/engine-fixtures.ts';

/** The stream of changes tells of conclusions that a change withdrew (contract section 9). */

test('a retraction is followed by a conclusion.withdrawn for every known dependent', async () => {
  const session = await openSession();
  await session.tellAll(['parent(a, b)', 'parent(b, c)', 'parent(b, d)']);
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  await session.results('grandparent(?x, ?y)');
  const seen: Change[] = [];
  const stop = session.engine.subscribe((change) => seen.push(change));
  const { generation } = await session.forget('parent(a, b)');
  stop();
  expect(seen.map(({ kind, id, data }) => [kind, id, data.atom])).toEqual([
    ['fact.retracted', `${generation}.0`, 'parent(a, b)'],
    ['conclusion.withdrawn', `${generation}.1`, 'grandparent(a, c)'],
    ['conclusion.withdrawn', `${generation}.2`, 'grandparent(a, d)'],
  ]);
  expect(new Set(seen.map(({ data }) => data.requestId)).size).toBe(1);
});

test('deleting a rule withdraws what only it concluded', async () => {
  const session = await openSession();
  await session.tellAll(['bird(tweety)']);
  const { id } = await session.teach('flies(?x) :- bird(?x)');
  await session.results('flies(?x)');
  const seen: Change[] = [];
  const stop = session.engine.subscribe((change) => seen.push(change));
  await session.engine.forgetRule(session.caller, id);
  stop();
  expect(seen.map(({ kind, data }) => [kind, data.atom ?? data.rule])).toEqual([
    ['rule.changed', 'flies(?x) :- bird(?x)'],
    ['conclusion.withdrawn', 'flies(tweety)'],
  ]);
});
