import { expect, onTestFinished, test } from 'vitest';
import type { Change } from '../session/change-feed.ts';
import type { Consolidation } from '../contract/memory.ts';
import { day, hour, openSession, refusal, type Session, startTime } from '../testing/engine-fixtures.ts';
import { consolidateIn, decayIn, restoreIn, storedAtoms, summaryId } from '../testing/memory-calls.ts';

/** POST /memory/consolidate and /memory/restore: contract section 8. */

const days = ['2024-01-01', '2024-01-02', '2024-01-03', '2024-01-04'];

async function visits({ tellAll }: Session, count = 3, who = 'alice, paris'): Promise<void> {
  await tellAll(days.slice(0, count).map((date) => `visited(${who}, ${date})`));
}

/** Everything stored, in full, except what a fact gets anew when it is asserted again. */
async function contents({ list }: Session): Promise<unknown[]> {
  const { facts } = await list({ limit: '1000' });
  return facts
    .map(({ id: _id, updatedAt: _updatedAt, salience: _salience, ...fact }) => fact)
    .sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
}

test('turns an episodic pattern into a summary from which its facts can be restored', async () => {
  const session = await openSession();
  await session.tell('visited(alice, paris, 2024-01-02)', { metadata: { source: 'diary' } });
  session.clock.advance(1000);
  await session.tell('visited(alice, paris, 2024-01-01)', { validUntil: startTime + day });
  await session.tell('visited(alice, paris, 2024-01-03)', { validFrom: startTime + hour });
  await session.tell('visited(alice, rome, 2024-01-01)');
  const { generation } = await session.ask('nothing(?x)');
  const consolidated = {
    from: 'visited',
    position: 2,
    values: [
      { value: '2024-01-02', createdAt: startTime, metadata: { source: 'diary' } },
      { value: '2024-01-01', createdAt: startTime + 1000, validUntil: startTime + day },
      { value: '2024-01-03', createdAt: startTime + 1000, validFrom: startTime + hour },
    ],
    count: 3,
    first: startTime,
    last: startTime + 1000,
  };
  expect(await consolidateIn(session)).toEqual({
    patternsFound: 1,
    summariesCreated: 1,
    factsConsolidated: 3,
    summaries: [
      {
        atom: 'visited_summary(alice, paris, 3)',
        scope: null,
        support: 3,
        replaced: [
          'visited(alice, paris, 2024-01-01)',
          'visited(alice, paris, 2024-01-02)',
          'visited(alice, paris, 2024-01-03)',
        ],
        metadata: { consolidated },
      },
    ],
    skipped: [],
    generation: generation + 1,
  });
  const { facts } = await session.list();
  expect(facts).toMatchObject([
    { predicate: 'visited', args: ['alice', 'rome', '2024-01-01'] },
    { predicate: 'visited_summary', args: ['alice', 'paris', '3'], metadata: { consolidated } },
  ]);
});

test('changes nothing when run a second time', async () => {
  const session = await openSession();
  await visits(session, 4);
  // Not consolidated: at its own position it would be a pattern once the others are gone.
  await session.tellAll(['rome', 'oslo', 'lima'].map((city) => `visited(bob, ${city}, 2024-01-01)`));
  await session.tell('visited(carol, paris, 2024-01-01)', { metadata: { pinned: true } });
  const first = await consolidateIn(session);
  expect(first).toMatchObject({
    patternsFound: 1,
    summaries: [{ atom: 'visited_summary(alice, paris, 4)' }],
  });
  const before = await session.list();
  expect(await consolidateIn(session)).toEqual({
    patternsFound: 0,
    summariesCreated: 0,
    factsConsolidated: 0,
    summaries: [],
    skipped: [],
    generation: first.generation,
  });
  expect(await session.list()).toEqual(before);
});

test('adds even one new episode to an existing summary, which is reasserted with its new count', async () => {
  const session = await openSession();
  await visits(session);
  await consolidateIn(session);
  const id = await summaryId(session, 'visited_summary');
  session.clock.advance(day);
  await session.tell('visited(alice, paris, 2024-02-01)');
  expect(await consolidateIn(session)).toMatchObject({
    patternsFound: 1,
    summariesCreated: 1,
    factsConsolidated: 1,
    summaries: [
      {
        atom: 'visited_summary(alice, paris, 4)',
        support: 4,
        replaced: ['visited(alice, paris, 2024-02-01)'],
        metadata: { consolidated: { count: 4, first: startTime, last: startTime + day } },
      },
    ],
  });
  expect(await storedAtoms(session)).toEqual(['visited_summary(alice, paris, 4)']);
  expect(await summaryId(session, 'visited_summary')).not.toBe(id);
  expect((await session.list()).facts[0]?.createdAt).toBe(startTime + day);
});

test('adds a new episode at the position of its summary, whatever the current episodic position', async () => {
  const session = await openSession();
  await session.tellAll(days.slice(0, 3).map((date) => `at(${date}, home)`));
  await consolidateIn(session);
  await session.tellAll(['a', 'b', 'c', 'd', 'e'].map((place) => `at(2024-05-05, ${place})`));
  await session.tell('at(2024-05-06, home)');
  expect(await consolidateIn(session, { predicates: ['at'] })).toMatchObject({
    summaries: [
      { atom: 'at_summary(2024-05-05, 5)', metadata: { consolidated: { position: 1 } } },
      { atom: 'at_summary(home, 4)', metadata: { consolidated: { position: 0 } } },
    ],
  });
});

test('picks the position with the most distinct values over all stored facts, the last on a tie', async () => {
  const session = await openSession();
  const metadata = { episode: true };
  await session.tellAll(['p(a, x)', 'p(b, x)', 'p(c, x)'], { metadata });
  await session.tellAll(['q(a, x)', 'q(a, y)', 'q(a, z)', 'q(b, x)', 'q(c, x)'], { metadata });
  expect(await consolidateIn(session)).toMatchObject({
    summaries: [{ atom: 'p_summary(x, 3)' }, { atom: 'q_summary(a, 3)' }],
  });
});

test('counts a future fact as stored, and not an expired one', async () => {
  const session = await openSession();
  await session.tell('p(a, 1)', { ttl: 10 });
  await session.tell('p(a, 2)', { validFrom: startTime + day });
  await session.tell('p(a, 3)', { ttl: day });
  session.clock.advance(20);
  expect(await consolidateIn(session)).toMatchObject({ patternsFound: 0 });
  await session.tell('p(a, 4)', { ttl: day });
  expect(await consolidateIn(session)).toMatchObject({ summaries: [{ atom: 'p_summary(a, 3)' }] });
});

test('defaults to 3 for minOccurrences', async () => {
  const session = await openSession();
  await visits(session, 2);
  expect(await consolidateIn(session)).toMatchObject({ patternsFound: 0 });
  expect(await consolidateIn(session, { minOccurrences: 2 })).toMatchObject({ patternsFound: 1 });
});

test('groups facts only within one predicate, arity, scope and truth value', async () => {
  const session = await openSession();
  const { tell } = session;
  await tell('p(a, 2024-01-01)');
  await tell('p(a, 2024-01-02)');
  await tell('p(a, 2024-01-03)', { scope: 's' });
  await tell('-p(a, 2024-01-03)');
  await tell('p(a, b, 2024-01-03)');
  await tell('q(a, 2024-01-03)');
  await tell('p(2024-01-03)');
  expect(await consolidateIn(session)).toMatchObject({ patternsFound: 0 });
});

test('gives the summary the truth value and the scope of its facts', async () => {
  const session = await openSession();
  for (const scope of [null, 's', 't'])
    await session.tellAll(
      days.slice(0, 3).map((date) => `-seen(a, ${date})`),
      { scope },
    );
  expect(await consolidateIn(session, { scope: 's', dryRun: true })).toMatchObject({ patternsFound: 1 });
  expect(await consolidateIn(session, { unscoped: true })).toMatchObject({
    summaries: [{ atom: '-seen_summary(a, 3)', scope: null }],
  });
  expect(await consolidateIn(session)).toMatchObject({
    summaries: [
      { atom: '-seen_summary(a, 3)', scope: 's' },
      { atom: '-seen_summary(a, 3)', scope: 't' },
    ],
  });
  expect(await storedAtoms(session)).toEqual([
    '-seen_summary(a, 3)',
    '-seen_summary(a, 3) in s',
    '-seen_summary(a, 3) in t',
  ]);
});

test('consolidates only episodes without predicates: validity, metadata.episode, or values that are times', async () => {
  const session = await openSession();
  const { tellAll } = session;
  await tellAll(['plain(a, 1)', 'plain(a, 2)', 'plain(a, 3)']);
  await tellAll(['number(a, 1700000000)', 'number(a, 20240101)', 'number(a, 2024)']);
  await tellAll(['valid(a, 1)', 'valid(a, 2)', 'valid(a, 3)'], { validFrom: startTime - 1 });
  await tellAll(['ends(a, 1)', 'ends(a, 2)', 'ends(a, 3)'], { ttl: day });
  await tellAll(['marked(a, 1)', 'marked(a, 2)', 'marked(a, 3)'], { metadata: { episode: true } });
  await tellAll(['unmarked(a, 1)', 'unmarked(a, 2)', 'unmarked(a, 3)'], { metadata: { episode: 'true' } });
  await tellAll(['iso(a, "2024-01-01T10:00")', 'iso(a, 2024-01-02)', 'iso(a, 2024-01-03T00:00:00Z)']);
  await tellAll(['epoch(a, 1700000000000)', 'epoch(a, 1700000000001)', 'epoch(a, 1700000000002)']);
  await tellAll(['mixed(a, 2024-01-01)', 'mixed(a, 2024-01-02)', 'mixed(a, someday)']);
  const { summaries } = await consolidateIn(session);
  expect(summaries.map(({ atom }) => atom)).toEqual([
    'ends_summary(a, 3)',
    'epoch_summary(a, 3)',
    'iso_summary(a, 3)',
    'marked_summary(a, 3)',
    'valid_summary(a, 3)',
  ]);
  const named = await consolidateIn(session, { predicates: ['plain', 'mixed'] });
  expect(named.summaries.map(({ atom }) => atom)).toEqual(['mixed_summary(a, 3)', 'plain_summary(a, 3)']);
});

test('never consolidates a predicate in the body of an enabled rule, unless it is named', async () => {
  const session = await openSession();
  for (const predicate of ['read', 'absent', 'counted', 'off'])
    await session.tellAll(days.slice(0, 3).map((date) => `${predicate}(a, ${date})`));
  await session.teach('q(?x) :- read(?x, ?_)', { scope: 'elsewhere' });
  await session.teach('r(?x) :- p(?x), not absent(?x, ?_)');
  await session.teach('s(?n) :- ?n = count { ?y : counted(a, ?y) }');
  await session.teach('t(?x) :- off(?x, ?_)', { enabled: false });
  expect(await consolidateIn(session)).toMatchObject({ summaries: [{ atom: 'off_summary(a, 3)' }] });
  expect(await consolidateIn(session, { predicates: ['read', 'absent'] })).toMatchObject({
    summaries: [{ atom: 'absent_summary(a, 3)' }, { atom: 'read_summary(a, 3)' }],
  });
});

test('never consolidates summaries', async () => {
  const session = await openSession();
  for (const who of ['a', 'b', 'c', 'd']) await visits(session, who === 'd' ? 4 : 3, `${who}, paris`);
  expect(await consolidateIn(session)).toMatchObject({ patternsFound: 4 });
  expect(await consolidateIn(session, { predicates: ['visited_summary', 'visited'] })).toMatchObject({
    patternsFound: 0,
  });
});

test("consolidates facts that only share a summary's predicate name", async () => {
  const session = await openSession();
  await visits(session);
  await consolidateIn(session);
  const texts = ['x', 'y', 'z'].map((value) => `visited_summary(alice, paris, ${value})`);
  await session.tellAll(texts, { metadata: { episode: true } });
  expect(await consolidateIn(session)).toMatchObject({
    summaries: [{ atom: 'visited_summary_summary(alice, paris, 3)' }],
  });
});

test('counts pinned facts and keeps them', async () => {
  const session = await openSession();
  await visits(session, 3);
  await session.tell('visited(alice, paris, 2024-01-09)', { metadata: { pinned: true } });
  expect(await consolidateIn(session)).toMatchObject({
    factsConsolidated: 3,
    summaries: [{ atom: 'visited_summary(alice, paris, 4)', support: 4 }],
  });
  const after = ['visited(alice, paris, 2024-01-09)', 'visited_summary(alice, paris, 4)'];
  expect(await storedAtoms(session)).toEqual(after);
  expect(await consolidateIn(session)).toMatchObject({ patternsFound: 0 });
  await session.tell('visited(alice, paris, 2024-01-10)', { metadata: { pinned: true } });
  expect(await consolidateIn(session)).toMatchObject({
    factsConsolidated: 0,
    summaries: [{ atom: 'visited_summary(alice, paris, 5)', replaced: [] }],
  });
  await restoreIn(session, await summaryId(session, 'visited_summary'));
  expect(await session.query('visited(alice, paris, ?d)')).toHaveLength(5);
});

test('retracts facts with truth maintenance, and publishes events', async () => {
  const session = await openSession();
  await visits(session);
  await session.teach('known(?x) :- visited(?x, ?_, ?_)');
  expect(await session.results('known(?x)')).toEqual(['known(alice)']);
  const changes: Change[] = [];
  onTestFinished(session.engine.subscribe((change) => void changes.push(change)));
  await consolidateIn(session, { predicates: ['visited'] });
  expect(await session.results('known(?x)')).toEqual([]);
  await expect
    .poll(() => changes.map(({ kind, data }) => `${kind} ${data.atom}`))
    .toEqual([
      'fact.retracted visited(alice, paris, 2024-01-01)',
      'fact.retracted visited(alice, paris, 2024-01-02)',
      'fact.retracted visited(alice, paris, 2024-01-03)',
      'fact.asserted visited_summary(alice, paris, 3)',
      'conclusion.withdrawn known(alice)',
    ]);
});

test('returns the answer of the real call in a dry run, and changes nothing', async () => {
  const session = await openSession();
  await visits(session);
  const before = await session.list();
  const tried = await consolidateIn(session, { dryRun: true });
  expect(await session.list()).toEqual(before);
  const { generation, ...done } = await consolidateIn(session);
  expect(tried).toEqual({ ...done, generation: generation - 1, dryRun: true });
});

test('exempts metadata.consolidated from the size limit of metadata', async () => {
  const session = await openSession();
  const metadata = { note: 'x'.repeat(60_000) };
  for (const date of days) await session.tell(`p(a, ${date})`, { metadata });
  const before = await contents(session);
  await consolidateIn(session);
  expect(await storedAtoms(session)).toEqual(['p_summary(a, 4)']);
  await restoreIn(session, await summaryId(session, 'p_summary'));
  expect(await contents(session)).toEqual(before);
});

test('gives a summary the greatest importance and confidence of its facts', async () => {
  const session = await openSession();
  const { tell } = session;
  for (const [date, metadata] of [
    ['2024-01-01', { importance: 0.2, confidence: 0.5 }],
    ['2024-01-02', { importance: 0.3, confidence: 0.4 }],
    ['2024-01-03', { importance: 0.1, confidence: 0.1 }],
  ] as const)
    await tell(`low(a, ${date})`, { metadata });
  await visits(session);
  await tell('visited(alice, paris, 2024-01-05)', { metadata: { importance: 0.1, confidence: 0.1 } });
  expect(await consolidateIn(session)).toMatchObject({
    summaries: [
      { atom: 'low_summary(a, 3)', metadata: { importance: 0.3, confidence: 0.5 } },
      { atom: 'visited_summary(alice, paris, 4)', metadata: { consolidated: { count: 4 } } },
    ],
  });
  const [low, usual] = (await session.list()).facts;
  expect(low?.metadata).toMatchObject({ importance: 0.3 });
  expect(Object.keys(usual?.metadata ?? {})).toEqual(['consolidated']);
});

test('keeps metadata added to a summary when an episode joins', async () => {
  const session = await openSession();
  await visits(session);
  await consolidateIn(session);
  const [summary] = (await session.list()).facts;
  const metadata = { ...summary?.metadata, pinned: true, importance: 0.9, note: 'mine' };
  await session.tell('visited_summary(alice, paris, 3)', { metadata });
  await session.tell('visited(alice, paris, 2024-02-01)');
  expect(await consolidateIn(session)).toMatchObject({
    summaries: [{ metadata: { pinned: true, importance: 0.9, note: 'mine', consolidated: { count: 4 } } }],
  });
});

test('treats a summary changed to be inconsistent as an ordinary fact', async () => {
  const session = await openSession();
  await visits(session);
  await consolidateIn(session);
  const [summary] = (await session.list()).facts;
  const whole = summary?.metadata['consolidated'] as Consolidation;
  const [first] = whole.values;
  const broken: unknown[] = [
    null,
    'text',
    [],
    {},
    { ...whole, from: 'other' },
    { ...whole, from: 7 },
    { ...whole, position: 3 },
    { ...whole, position: -1 },
    { ...whole, position: 0.5 },
    { ...whole, values: [] },
    { ...whole, values: [first, first, first] },
    { ...whole, values: [...whole.values.slice(0, 2), null] },
    { ...whole, values: [...whole.values.slice(0, 2), { value: '?x', createdAt: 1 }] },
    { ...whole, values: [...whole.values.slice(0, 2), { value: 'x', createdAt: '1' }] },
    { ...whole, values: [...whole.values.slice(0, 2), { value: 'x', createdAt: 1, validFrom: null }] },
    {
      ...whole,
      values: [...whole.values.slice(0, 2), { value: 'x', createdAt: 1, validFrom: 2, validUntil: 2 }],
    },
    { ...whole, values: [...whole.values.slice(0, 2), { value: 'x', createdAt: 1, metadata: [] }] },
    { ...whole, count: 4 },
    { ...whole, first: null },
  ];
  const { id } = await session.tell('visited_summary(alice, paris, 3)');
  for (const consolidated of broken) {
    await session.tell('visited_summary(alice, paris, 3)', { metadata: { consolidated } });
    const { code, members } = await refusal(restoreIn(session, id));
    expect([code, members.errors]).toMatchObject(['ValidationException', [{ path: 'id' }]]);
  }
  await session.tell('visited_summary(alice, paris, 3)', { metadata: { consolidated: whole } });
  await session.tell('visited_summary(alice, paris, 4)', { metadata: { consolidated: whole } });
  await session.tell('other_summary(alice, paris, 3)', { metadata: { consolidated: whole } });
  const ids = (await session.list()).facts.map((fact) => fact.id ?? '');
  expect((await refusal(restoreIn(session, ids[0] ?? ''))).code).toBe('ValidationException');
  expect(await restoreIn(session, id)).toMatchObject({ restored: 3 });
});

test('never overwrites a fact under the name of the summary: its pattern is not consolidated', async () => {
  const session = await openSession();
  await visits(session);
  await session.tell('visited_summary(alice, paris, 3)', { metadata: { mine: true } });
  const left = {
    patternsFound: 1,
    summariesCreated: 0,
    skipped: [{ atom: 'visited_summary(alice, paris, 3)', scope: null, support: 3, reason: 'atom_taken' }],
  };
  expect(await consolidateIn(session)).toMatchObject(left);
  expect(await consolidateIn(session)).toMatchObject(left);
  expect(await storedAtoms(session)).toHaveLength(4);
  await session.tell('visited(alice, paris, 2024-06-06)');
  expect(await consolidateIn(session)).toMatchObject({ summariesCreated: 1, skipped: [] });
  expect(await storedAtoms(session)).toEqual([
    'visited_summary(alice, paris, 3)',
    'visited_summary(alice, paris, 4)',
  ]);
});

test('creates in the same call a summary for which another one makes room', async () => {
  const session = await openSession();
  const metadata = { episode: true };
  await session.tellAll(['p(a, 1)', 'p(a, 2)', 'p(a, 3)'], { metadata });
  await consolidateIn(session);
  // Now the first position is the episodic one, and the name of the summary of three is in use until it becomes one of
  // four.
  await session.tellAll(['p(x, a)', 'p(y, a)', 'p(z, a)', 'p(u, b)', 'p(v, b)', 'p(w, b)'], { metadata });
  await session.tell('p(a, 4)', { metadata });
  expect(await consolidateIn(session)).toMatchObject({
    summaries: [
      { atom: 'p_summary(a, 3)', metadata: { consolidated: { position: 0 } } },
      { atom: 'p_summary(a, 4)', metadata: { consolidated: { position: 1 } } },
      { atom: 'p_summary(b, 3)', metadata: { consolidated: { position: 0 } } },
    ],
    skipped: [],
  });
  expect(await consolidateIn(session)).toMatchObject({ patternsFound: 0 });
});

test('skips a predicate whose summary would have too long a name; 64 arguments are not too many', async () => {
  const session = await openSession();
  const long = 'p'.repeat(250);
  await session.tellAll(days.slice(0, 3).map((date) => `${long}(a, ${date})`));
  const constants = Array.from({ length: 63 }, (_, at) => `c${at}`).join(', ');
  await session.tellAll(days.slice(0, 3).map((date) => `wide(${constants}, ${date})`));
  expect(await consolidateIn(session)).toMatchObject({
    patternsFound: 2,
    summaries: [{ atom: `wide_summary(${constants}, 3)` }],
    skipped: [{ atom: `${long}_summary(a, 3)`, support: 3, reason: 'name_too_long' }],
  });
});

test('restores facts with their validity, metadata and age, and removes the summary', async () => {
  const session = await openSession();
  await session.tell('p(a, 2024-01-01)', { metadata: { source: 'x', importance: 1 }, scope: 's' });
  session.clock.advance(hour);
  await session.tell('p(a, 2024-01-02)', { validUntil: startTime + day, scope: 's' });
  await session.tell('p(a, "2024-01-03 10:00")', { validFrom: startTime + day, scope: 's' });
  const before = await contents(session);
  session.clock.advance(hour);
  await consolidateIn(session);
  const id = await summaryId(session, 'p_summary');
  session.clock.advance(hour);
  const { generation } = await session.ask('nothing(?x)');
  expect(await restoreIn(session, id)).toEqual({
    restored: 3,
    atoms: ['p(a, 2024-01-01)', 'p(a, 2024-01-02)', 'p(a, 2024-01-03 10:00)'],
    generation: generation + 1,
  });
  expect(await contents(session)).toEqual(before);
  expect((await refusal(restoreIn(session, id))).code).toBe('FactNotFound');
});

test('gives a restored fact its old age and a use at its return', async () => {
  const session = await openSession();
  await visits(session);
  session.clock.advance(2 * 366 * day);
  await consolidateIn(session);
  await restoreIn(session, await summaryId(session, 'visited_summary'));
  expect(await decayIn(session)).toMatchObject({ evicted: 0 });
  const [fact] = (await session.list()).facts;
  const detail = await session.engine.fact(session.caller, fact?.id ?? '');
  expect(detail).toMatchObject({
    createdAt: startTime,
    updatedAt: startTime + 2 * 366 * day,
    salienceBreakdown: { uses: 2, lastUsedAt: startTime + 2 * 366 * day },
  });
});

test('leaves a fact that was stored again meanwhile unchanged and uncounted', async () => {
  const session = await openSession();
  await visits(session);
  await consolidateIn(session);
  await session.tell('visited(alice, paris, 2024-01-02)', { metadata: { mine: true } });
  expect(await restoreIn(session, await summaryId(session, 'visited_summary'))).toMatchObject({
    restored: 2,
    atoms: ['visited(alice, paris, 2024-01-01)', 'visited(alice, paris, 2024-01-03)'],
  });
  const { facts } = await session.list();
  expect(facts.map(({ metadata }) => metadata)).toContainEqual({ mine: true });
  expect(facts).toHaveLength(3);
});

test("prefers a fact that came back over the summary's copy of it", async () => {
  const session = await openSession();
  await visits(session);
  await consolidateIn(session);
  session.clock.advance(hour);
  await session.tell('visited(alice, paris, 2024-01-02)', { metadata: { mine: true } });
  expect(await consolidateIn(session)).toMatchObject({
    factsConsolidated: 1,
    summaries: [
      {
        atom: 'visited_summary(alice, paris, 3)',
        metadata: {
          consolidated: {
            values: [
              { value: '2024-01-01' },
              { value: '2024-01-03' },
              { value: '2024-01-02', createdAt: startTime + hour, metadata: { mine: true } },
            ],
          },
        },
      },
    ],
  });
  expect(await storedAtoms(session)).toEqual(['visited_summary(alice, paris, 3)']);
});

test('restores a fact whose validity ended meanwhile as expired', async () => {
  const session = await openSession();
  await session.tellAll(
    days.slice(0, 3).map((date) => `p(a, ${date})`),
    { ttl: hour },
  );
  await consolidateIn(session);
  session.clock.advance(day);
  expect(await restoreIn(session, await summaryId(session, 'p_summary'))).toMatchObject({ restored: 3 });
  expect(await storedAtoms(session)).toEqual([]);
  expect(await decayIn(session)).toMatchObject({ expired: 3 });
});

test('returns FactNotFound for an unknown id and ValidationException for a fact that is no summary', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(a, 1)');
  expect((await refusal(restoreIn(session, id))).code).toBe('ValidationException');
  for (const unknown of ['f9-0', 'f1-7', 'nonsense', `${id} `])
    expect((await refusal(restoreIn(session, unknown))).code).toBe('FactNotFound');
  await session.forget('p(a, 1)');
  expect((await refusal(restoreIn(session, id))).code).toBe('FactNotFound');
  await visits(session);
  await consolidateIn(session);
  const summary = await summaryId(session, 'visited_summary');
  expect((await refusal(restoreIn(session.as({ tenant: 'other' }), summary))).code).toBe('FactNotFound');
});

test('restores a summary in a forked scope into that scope', async () => {
  const session = await openSession();
  const { engine, caller } = session;
  await session.tellAll(
    days.slice(0, 3).map((date) => `p(a, ${date})`),
    { scope: 's' },
  );
  await consolidateIn(session);
  await engine.fork(caller, { source: 's', target: 't' });
  const copy = (await session.list({ scope: 't' })).facts[0];
  await restoreIn(session, copy?.id ?? '');
  expect(await storedAtoms(session)).toEqual([
    'p(a, 2024-01-01) in t',
    'p(a, 2024-01-02) in t',
    'p(a, 2024-01-03) in t',
    'p_summary(a, 3) in s',
  ]);
});

test('returns the first answer for the same Idempotency-Key', async () => {
  const session = await openSession();
  await visits(session);
  const keyed = (key: string) => session.as({ idempotency: { key, fingerprint: 'f' } });
  const consolidated = await consolidateIn(keyed('c'));
  const id = await summaryId(session, 'visited_summary');
  expect(await consolidateIn(keyed('c'))).toEqual(consolidated);
  const restored = await restoreIn(keyed('r'), id);
  expect(restored).toMatchObject({ restored: 3 });
  expect(await restoreIn(keyed('r'), id)).toEqual(restored);
  expect(await consolidateIn(keyed('c'))).toEqual(consolidated);
  const nothing = await consolidateIn(keyed('n'), { scope: 'none' });
  expect(nothing).toMatchObject({ patternsFound: 0 });
  expect(await consolidateIn(keyed('n'), { scope: 'none' })).toEqual(nothing);
});

test('refuses to repeat under an Idempotency-Key what listed too many facts to be kept', async () => {
  const session = await openSession();
  const long = 'x'.repeat(1300);
  const atomOf = (_: unknown, at: number): string => `seen("${long}${at % 20}", ${1_700_000_000_000 + at})`;
  await session.tellAll(Array.from({ length: 2000 }, atomOf));
  const keyed = session.as({ idempotency: { key: 'c', fingerprint: 'f' } });
  const { factsConsolidated, summaries, generation } = await consolidateIn(keyed);
  expect([factsConsolidated, summaries.length]).toEqual([2000, 20]);
  await expect(consolidateIn(keyed)).rejects.toMatchObject({ code: 'Conflict', members: { generation } });
});

test('goes on if its caller disconnects, as every write', async () => {
  const session = await openSession();
  await visits(session);
  const gone = new AbortController();
  const consolidated = consolidateIn(session.as({ signal: gone.signal }));
  gone.abort();
  expect(await consolidated).toMatchObject({ summariesCreated: 1 });
});

test('affects no other tenant, whose rules still protect what they read', async () => {
  const session = await openSession();
  const other = session.as({ tenant: 'other' });
  await visits(session);
  await visits(other);
  expect(await consolidateIn(session)).toMatchObject({ patternsFound: 1 });
  expect(await storedAtoms(other)).toHaveLength(3);
  expect(await consolidateIn(session.as({ tenant: 'nobody' }))).toMatchObject({ patternsFound: 0 });
});

test('summarizes very many facts', async () => {
  const session = await openSession();
  const count = 5000;
  await session.tellAll(Array.from({ length: count }, (_, at) => `seen(a, ${1_700_000_000_000 + at})`));
  expect(await consolidateIn(session)).toMatchObject({ factsConsolidated: count });
  expect(await storedAtoms(session)).toEqual([`seen_summary(a, ${count})`]);
  expect(await restoreIn(session, await summaryId(session, 'seen_summary'))).toMatchObject({
    restored: count,
  });
  expect(await session.query('seen(a, ?t)')).toHaveLength(count);
});
