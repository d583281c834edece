import { describe, expect, it } from 'vitest';
import { declarationInputSchema } from '../contract/declarations.ts';
import { maxSearchedText, searchInputSchema } from '../contract/search.ts';
import { ChainIndex } from '../store/chain-index.ts';
import { type Fields, openSession, type Session } from '../testing/engine-fixtures.ts';

/** The search: contract section 13. */

function search({ engine, caller }: Session, text: string, fields: Fields = {}) {
  return engine.search(caller, searchInputSchema.parse({ text, ...fields }));
}

/** The kind and text of each hit, in order. */
async function found(session: Session, text: string, fields: Fields = {}): Promise<string[]> {
  const { hits } = await search(session, text, fields);
  return hits.map(
    ({ kind, atom, rule, entity, predicate }) => `${kind} ${atom ?? rule ?? entity ?? predicate}`,
  );
}

async function family(): Promise<Session> {
  const session = await openSession();
  await session.tellAll([
    'parent(ann, bob)',
    'parent(bob, carol)',
    'lives_in(carol, new_york)',
    'lives_in(dave, "São Paulo")',
    'likes(dave, "black coffee")',
  ]);
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  return session;
}

it('adds few thousand rows to an index at once, before others run', async () => {
  const session = await openSession();
  await session.tellAll(Array.from({ length: 9000 }, (_, at) => `parent(ann, child${at})`));
  const together: number[] = [];
  const { takeIn } = ChainIndex.prototype;
  ChainIndex.prototype.takeIn = function (this: ChainIndex, ...given: Parameters<typeof takeIn>) {
    const before = this.rows;
    const isWhole = takeIn.apply(this, given);
    together.push(this.rows - before);
    return isWhole;
  };
  try {
    expect((await search(session, 'child77')).hits[0]?.atom).toBe('parent(ann, child77)');
  } finally {
    ChainIndex.prototype.takeIn = takeIn;
  }
  expect(together.reduce((sum, rows) => sum + rows)).toBe(2 * 9000);
  expect(Math.max(...together)).toBeLessThan(5000);
});

describe('mentions', () => {
  it.each([
    [
      'Where does Carol live?',
      [
        ['Carol', ['carol'], []],
        ['live', [], ['lives_in']],
      ],
    ],
    [
      'who lives in New York',
      [
        ['lives in', [], ['lives_in']],
        ['New York', ['new_york'], []],
      ],
    ],
    ['sao paulo', [['sao paulo', ['São Paulo'], []]]],
    [
      "Dave's black coffee",
      [
        ['Dave', ['dave'], []],
        ['black coffee', ['black coffee'], []],
      ],
    ],
    ['carrol', [['carrol', ['carol'], []]]],
    [
      'the parents of ann',
      [
        ['parents', [], ['parent']],
        ['ann', ['ann'], []],
      ],
    ],
    ['nobody here', []],
    ['"black coffee" and "nobody', [['black coffee', ['black coffee'], []]]],
    [
      "'carol' isn't 'dave's'",
      [
        ['carol', ['carol'], []],
        ['dave', ['dave'], []],
      ],
    ],
    [
      '"" “ann” `bob',
      [
        ['ann', ['ann'], []],
        ['bob', ['bob'], []],
      ],
    ],
  ])('finds what %j names', async (text, expected) => {
    const { mentions } = await search(await family(), text);
    expect(mentions.map(({ text: span, constants, predicates }) => [span, constants, predicates])).toEqual(
      expected,
    );
    for (const { start, end, text: span } of mentions) expect(text.slice(start, end)).toBe(span);
  });
});

describe('texts of the longest length', () => {
  const length = maxSearchedText;
  it.each([
    ['quotes that nothing closes', '“'.repeat(length)],
    ['quotes that close nothing', '"'.repeat(length)],
    ['apostrophes', " '".repeat(length / 2)],
    ['one long word', 'a'.repeat(length)],
    ['a number that is none in the end', `${'1.'.repeat(length / 2 - 1)}a`],
    ['names of two letters', 'aB'.repeat(length / 2)],
    ['words that nothing has', Array.from({ length: 5_000 }, (_, each) => `unknown${each}`).join(' ')],
    ['a name again and again', 'carol '.repeat(10_000)],
    ['Thai', 'ก'.repeat(length)],
    ['a lone surrogate', '\ud800'.repeat(length)],
  ])('are searched: %s', async (_, text) => {
    const session = await family();
    await session.tellAll(['said("x", "1.1.1a")']);
    const { mentions } = await search(session, text);
    expect(mentions.length).toBe(text.startsWith('carol') ? 10_000 : 0);
  });

  it('are tried as misspelt names only where a name can be as long', async () => {
    const session = await openSession();
    const long = 'x'.repeat(64);
    await session.tellAll([`p(${long})`]);
    const mentioned = async (text: string) => (await search(session, text)).mentions.length;
    expect(await mentioned(`${long.slice(1)}y`)).toBe(1);
    expect(await mentioned(`${long}x`)).toBe(0);
  });
});

describe('hits', () => {
  it('are what is mentioned, conclusions too', async () => {
    const session = await family();
    expect(await found(session, 'Is Ann a grandparent of Carol?', { limit: 1 })).toEqual([
      'conclusion grandparent(ann, carol)',
    ]);
    expect(await found(session, 'coffee')).toEqual(['fact likes(dave, black coffee)', 'entity black coffee']);
  });

  it('are nothing where no word matches, however salient the facts are', async () => {
    expect(await search(await family(), 'quantum chromodynamics')).toMatchObject({
      hits: [],
      mentions: [],
      matched: false,
    });
  });

  it('carry the rank by each signal, and their sum', async () => {
    const { hits } = await search(await family(), 'carol');
    for (const { score, why } of hits)
      expect(score).toBeCloseTo(
        why.reduce((sum, { rank }) => sum + 1 / (60 + rank), 0),
        12,
      );
    expect(hits[0]?.why.map(({ signal }) => signal)).toContain('mention');
  });

  it('are of the kinds, predicates and view that are asked for', async () => {
    const session = await family();
    await session.tell('parent(carol, eve)', { scope: 'plan' });
    expect(await found(session, 'carol', { kinds: ['entity'] })).toEqual(['entity carol']);
    expect(await found(session, 'carol', { predicates: ['lives_in'], kinds: ['fact'] })).toEqual([
      'fact lives_in(carol, new_york)',
    ]);
    expect(await found(session, 'eve')).toContain('fact parent(carol, eve)');
    expect(await found(session, 'eve', { unscoped: true })).toEqual([]);
  });

  it('follow every write', async () => {
    const session = await family();
    expect(await found(session, 'zanzibar')).toEqual([]);
    await session.tell('lives_in(ann, zanzibar)', { metadata: { note: 'an island of cloves' } });
    expect(await found(session, 'zanzibar')).toContain('fact lives_in(ann, zanzibar)');
    expect(await found(session, 'cloves')).toEqual(['fact lives_in(ann, zanzibar)']);
    await session.forget('lives_in(ann, zanzibar)');
    expect(await found(session, 'zanzibar')).toEqual([]);
  });
});

describe('turns of a conversation', () => {
  async function talked(): Promise<Session> {
    const session = await openSession();
    await session.tellAll([
      'said(s1, 1, "Ada: So where did you end up staying in Norway?")',
      'said(s1, 2, "Ben: In a tiny cabin near the lake.")',
      'said(s1, 3, "Ada: That sounds cold.")',
      'said(s1, 4, "Ben: We are thinking about the mountains next year.")',
      'said(s2, 1, "Cleo: My train was late again and nobody told us anything.")',
    ]);
    return session;
  }

  it('are hits beside a turn that has the words, after it', async () => {
    const hits = await found(await talked(), 'staying in Norway', { kinds: ['fact'] });
    expect(hits.slice(0, 2)).toEqual([
      'fact said(s1, 1, Ada: So where did you end up staying in Norway?)',
      'fact said(s1, 2, Ben: In a tiny cabin near the lake.)',
    ]);
    expect(hits.join()).not.toMatch(/mountains|train/);
  });

  it('are no neighbours where nothing but their order of writing joins them', async () => {
    const session = await openSession();
    await session.tellAll([
      'wrote(hemingway, "The Old Man and the Sea")',
      'wrote(woolf, "To the Lighthouse and back again")',
    ]);
    expect(await found(session, 'sea', { kinds: ['fact'] })).toEqual([
      'fact wrote(hemingway, The Old Man and the Sea)',
    ]);
  });

  it('are found by a number in them before the turns of this number', async () => {
    const session = await talked();
    await session.tell('said(s2, 2, "Dan: The ticket cost 4 euros.")');
    const [first] = await found(session, 'What cost 4 euros?', { kinds: ['fact'] });
    expect(first).toBe('fact said(s2, 2, Dan: The ticket cost 4 euros.)');
  });

  it('are ranked by their words and not by a difference in salience within a day', async () => {
    const session = await talked();
    for (let later = 5; later < 40; later++) {
      session.clock.advance(60_000);
      await session.tell(`said(s1, ${later}, "Ben: Some words about the lake number ${later}.")`);
    }
    const [first] = await found(session, 'a tiny cabin near the lake', { kinds: ['fact'] });
    expect(first).toBe('fact said(s1, 2, Ben: In a tiny cabin near the lake.)');
  });
});

describe('goals of a query', () => {
  it('are those that join two mentioned constants even if a verb is a predicate by chance', async () => {
    const session = await family();
    await session.tell('met(ann, dave)');
    expect(await found(session, 'I met Ann and Carol. How are they related?')).toContain(
      'conclusion grandparent(ann, carol)',
    );
  });
});

describe('declarations', () => {
  async function declared(): Promise<Session> {
    const session = await family();
    const { engine, caller } = session;
    const fields = {
      description: 'where somebody dwells',
      arguments: [{ name: 'inhabitant' }, { name: 'municipality', description: 'with its suburbs' }],
    };
    const declaration = { ...declarationInputSchema.parse(fields), name: 'lives_in', arity: 2 };
    await engine.declare(caller, declaration);
    return session;
  }

  it('make predicates and their facts found by the names of arguments', async () => {
    const session = await declared();
    const hits = await found(session, 'municipalities');
    expect(hits).toContain('predicate lives_in');
    expect(hits).toContain('fact lives_in(carol, new_york)');
    expect(hits).not.toContain('fact parent(ann, bob)');
    const { hits: ofBoth } = await search(session, 'municipality of Carol');
    expect(ofBoth[0]).toMatchObject({ atom: 'lives_in(carol, new_york)' });
    expect(ofBoth[0]?.why).toContainEqual({ signal: 'words', rank: 1, detail: 'municipality carol' });
  });

  it('make predicates, not facts, found by the words of descriptions', async () => {
    const session = await declared();
    expect(await found(session, 'suburbs')).toEqual(['predicate lives_in']);
    expect(await found(session, 'dwell')).toEqual(['predicate lives_in']);
  });

  it('count only while they are there', async () => {
    const session = await declared();
    await session.engine.withdraw(session.caller, { name: 'lives_in', arity: 2 });
    expect(await search(session, 'municipalities suburbs')).toMatchObject({ hits: [], matched: false });
  });
});

describe('a word that is being typed', () => {
  it('is found by its beginning, if the search is told so', async () => {
    const session = await family();
    expect(await search(session, 'caro')).toMatchObject({ hits: [], matched: false });
    const hits = await found(session, 'caro', { prefix: true });
    expect(hits).toContain('entity carol');
    expect(hits).toContain('fact parent(bob, carol)');
    expect(hits.some((hit) => hit.startsWith('rule'))).toBe(false);
    const [first] = (await search(session, 'caro', { prefix: true, kinds: ['entity'] })).hits;
    expect(first?.why).toContainEqual({ signal: 'words', rank: 1, detail: 'caro' });
  });

  it('may be the last of several, a predicate, or begin like a function word', async () => {
    const session = await family();
    await session.tell('knows(ann, theodor)');
    expect((await found(session, 'black cof', { prefix: true }))[0]).toBe('fact likes(dave, black coffee)');
    expect(await found(session, 'grandp', { prefix: true, kinds: ['predicate'] })).toEqual([
      'predicate grandparent',
    ]);
    expect(await found(session, 'the', { prefix: true, kinds: ['entity'] })).toEqual(['entity theodor']);
  });

  it('is no beginning after white space, or as one letter', async () => {
    const session = await family();
    for (const text of ['caro ', 'c'])
      expect(await search(session, text, { prefix: true })).toMatchObject({ hits: [], matched: false });
  });

  it('is found among terms that came after the order was made', async () => {
    const session = await openSession();
    const names = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => `known(name${from + at}x)`);
    for (const [from, to] of [
      [0, 5000],
      [5000, 5100],
      [5100, 11_000],
    ] as const) {
      await session.tellAll(names(from, to));
      const typed = `name${to - 1}`;
      const hits = await found(session, typed, { prefix: true, kinds: ['entity'] });
      expect(hits).toContain(`entity name${to - 1}x`);
    }
    const many = await found(session, 'name', { prefix: true, kinds: ['entity'], limit: 1000 });
    expect(many).toHaveLength(32);
  });

  it('counts as one word: another ending is no word more', async () => {
    const session = await openSession();
    await session.tellAll(['says(ann, "green house")', 'says(bob, "greenish hollow")']);
    const hits = await found(session, 'green ho', { prefix: true, kinds: ['fact'] });
    expect(hits[0]).toBe('fact says(ann, green house)');
  });
});
