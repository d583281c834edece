import { expect, test } from 'vitest';
import { type HistoryDiff, historyDiffInputSchema } from '../contract/history-diff.ts';
import {
  hour,
  openSession,
  proofLines,
  refusal,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

const diff = ({ engine, caller }: Session, fields: object): Promise<HistoryDiff> =>
  engine.historyDiff(caller, historyDiffInputSchema.parse({ timeoutMs: 600_000, ...fields }));

/** Ann's permit ends after an hour; bob is retracted, and cid comes. */
async function office(): Promise<Session> {
  const session = await openSession();
  const { clock, tell, forget, teach } = session;
  const rule = await teach('enters(?x) :- permit(?x)');
  await tell('permit(ann)', { validUntil: startTime + hour });
  await tell('permit(bob)', { metadata: { note: 'old' } });
  clock.advance(2 * hour);
  await forget('permit(bob)');
  await tell('permit(cid)');
  await session.changeRule(rule.id, { name: 'doors' });
  return session;
}

test('tells facts and rules that came and went, and conclusions that flipped with their cause and proof', async () => {
  const session = await office();
  const found = await diff(session, { from: 3, to: 6, withProof: true });
  expect(found).toMatchObject({
    from: { generation: 3, time: startTime },
    to: { generation: 6, time: startTime + 2 * hour },
    facts: {
      added: [{ atom: 'permit(cid)', scope: null, validUntil: null }],
      removed: [{ atom: 'permit(bob)', metadata: { note: 'old' } }],
      changed: [],
    },
    rules: { added: [], removed: [], changed: [{ from: { name: null }, to: { name: 'doors' } }] },
    complete: true,
  });
  expect(found.flips.map(({ goal, atom, held, by }) => [goal, atom, held, by])).toEqual([
    ['enters(?x1)', 'enters(ann)', 'from', 'validity'],
    ['enters(?x1)', 'enters(bob)', 'from', 'change'],
    ['enters(?x1)', 'enters(cid)', 'to', 'change'],
  ]);
  const [ann] = found.flips;
  expect(ann?.proof === undefined ? [] : proofLines(ann.proof)).toEqual([
    '0 fact permit(ann)',
    '1 rule enters(ann) [0]',
  ]);
});

test('tells at once that a moment equals itself, even where its conclusions have no end', async () => {
  const session = await openSession();
  await session.teach('n(?y) :- n(?x), ?y = ?x + 1');
  const { generation } = await session.tell('n(0)');
  const found = await diff(session, { from: generation, to: generation });
  expect(found).toMatchObject({ flips: [], complete: true });
  expect(found.facts).toEqual({ added: [], removed: [], changed: [] });
});

test('compares in either order, and marks the start of a validity', async () => {
  const session = await office();
  const back = await diff(session, { from: 6, to: 3 });
  expect(back.facts.added.map(({ atom }) => atom)).toEqual(['permit(bob)']);
  expect(back.facts.removed.map(({ atom }) => atom)).toEqual(['permit(cid)']);
  expect(back.flips.map(({ atom, held, by }) => [atom, held, by])).toEqual([
    ['enters(cid)', 'from', 'change'],
    // By the knowledge of generation 6, ann's permit was valid then.
    ['enters(ann)', 'to', 'validity'],
    ['enters(bob)', 'to', 'change'],
  ]);
});

test('a fact whose validity was changed is changed, not added', async () => {
  const session = await openSession();
  await session.tell('permit(ann)');
  await session.tell('permit(ann)', { validUntil: startTime + hour });
  expect((await diff(session, { from: 1, to: 2 })).facts).toEqual({
    added: [],
    removed: [],
    changed: [
      {
        from: { atom: 'permit(ann)', scope: null, validFrom: null, validUntil: null, metadata: {} },
        to: { atom: 'permit(ann)', scope: null, validFrom: null, validUntil: startTime + hour, metadata: {} },
      },
    ],
  });
});

test('takes goals, predicates and a limit, and says when something is left out', async () => {
  const session = await office();
  const goals = [{ predicate: 'enters', args: ['bob'] }];
  expect((await diff(session, { from: 3, to: 6, goals })).flips.map(({ atom }) => atom)).toEqual([
    'enters(bob)',
  ]);
  const none = await diff(session, { from: 3, to: 6, predicates: ['likes'] });
  expect([none.facts.added, none.flips, none.complete]).toEqual([[], [], true]);
  const first = await diff(session, { from: 3, to: 6, limit: 1 });
  expect([first.flips.length, first.complete]).toEqual([1, false]);
  await session.teach('numbers(?y) :- numbers(?x), ?y = ?x + 1');
  await session.tell('numbers(1)');
  const endless = await diff(session, { from: 3, to: 8, maxDerivations: 1000 });
  expect([endless.flips.map(({ atom }) => atom), endless.complete]).toEqual([
    ['enters(ann)', 'enters(bob)', 'enters(cid)'],
    false,
  ]);
});

test('refuses a moment in the future, and answers about itself with nothing', async () => {
  const session = await office();
  expect((await refusal(diff(session, { from: 3, to: 7 }))).code).toBe('ValidationException');
  const same = await diff(session, { from: 6, to: new Date(session.clock.now()).toISOString() });
  expect([same.facts.added, same.flips, same.complete]).toEqual([[], [], true]);
});
