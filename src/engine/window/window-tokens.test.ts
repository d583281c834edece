import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { optimizeInputSchema } from '../contract/context.ts';
import { recallInputSchema } from '../contract/memory.ts';
import { renderAtom } from '../language/print.ts';
import { type LinedEntry, readingOrder, linesOfFacts } from '../memory/fact-lines.ts';
import { type Fields, openSession, type Session } from '../testing/engine-fixtures.ts';

/** Windows within a number of tokens, and as text: contract section 13. */

function windowOf({ engine, caller }: Session, fields: Fields) {
  return engine.optimizeContext(caller, optimizeInputSchema.parse(fields));
}

const atOnce = async (): Promise<void> => {};

async function tokensOf(entries: readonly LinedEntry[]): Promise<number> {
  const lines = (await linesOfFacts(entries, atOnce)).split('\n').slice(0, -1);
  return lines.reduce((sum, line) => sum + countTokens(`${line}\n`), 0);
}

async function family(): Promise<Session> {
  const session = await openSession();
  await session.tellAll([
    'parent(alice, bob)',
    'parent(bob, carol)',
    'parent(carol, dora)',
    'likes(alice, "東京の喫茶店")',
    'likes(bob, 😀)',
    '-likes(carol, "a long walk, by the sea")',
  ]);
  await session.teach('ancestor(?x, ?y) :- parent(?x, ?y)');
  await session.teach('ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)');
  return session;
}

const goals = [{ predicate: 'ancestor', args: ['alice', 'dora'] }];

test('no window has more tokens than it may, and totalTokenCount says how many it has', async () => {
  const session = await family();
  for (const more of [{}, { goals }, { includeInferred: true }, { query: 'alice and dora', fill: true }])
    for (let maxTokens = 1; maxTokens < 140; maxTokens += 3) {
      const { entries, totalTokenCount } = await windowOf(session, { maxTokens, ...more });
      expect(totalTokenCount).toBeLessThanOrEqual(maxTokens);
      expect(totalTokenCount).toBe(await tokensOf(entries));
    }
});

test('needs says for how many tokens the proof of the first answer fits', async () => {
  const session = await family();
  const [goal] = (await windowOf(session, { goals })).goals;
  const maxTokens = goal?.needs?.tokens as number;
  const atoms = ['parent(alice, bob)', 'parent(bob, carol)', 'parent(carol, dora)'];
  const concluded = ['ancestor(carol, dora)', 'ancestor(bob, dora)', 'ancestor(alice, dora)'];
  const lines = [...atoms, ...concluded.map((atom) => `=> ${atom}`)];
  expect(maxTokens).toBe(lines.reduce((sum, line) => sum + countTokens(`${line}\n`), 0));
  const whole = await windowOf(session, { goals, maxTokens });
  expect(whole.goals).toMatchObject([{ status: 'proved', reason: null }]);
  expect(whole.entries).toHaveLength(6);
  const less = await windowOf(session, { goals, maxTokens: maxTokens - 1 });
  expect(less.goals).toMatchObject([{ status: 'premises', reason: 'budget' }]);
  const none = await windowOf(session, { goals, maxTokens: maxTokens - 1, proofs: 'whole' });
  expect(none.goals).toMatchObject([
    { status: 'does_not_fit', reason: 'budget', needs: { tokens: maxTokens } },
  ]);
});

test('all limits hold at once', async () => {
  const session = await family();
  const limits = { maxFacts: 4, maxChars: 60, maxTokens: 25, includeInferred: true };
  for (const field of Object.keys(limits)) {
    const { entries, totalCharCount, totalTokenCount } = await windowOf(session, {
      ...limits,
      [field]: null,
    });
    if (field !== 'maxFacts') expect(entries.length).toBeLessThanOrEqual(4);
    if (field !== 'maxChars') expect(totalCharCount).toBeLessThanOrEqual(60);
    if (field !== 'maxTokens') expect(totalTokenCount).toBeLessThanOrEqual(25);
  }
});

test('a fact that is too long is passed over, and a shorter one is taken', async () => {
  const session = await openSession();
  await session.tellAll([`note(n, "${'abc '.repeat(16_000)}")`, 'short(a)']);
  const { entries, omitted } = await windowOf(session, { maxTokens: 10, explainOmitted: true });
  expect(entries.map(renderAtom)).toEqual(['short(a)']);
  expect(omitted?.map(({ reason }) => reason)).toEqual(['budget']);
});

test('a shorter fact is looked for among the next thousand', async () => {
  const session = await openSession();
  const clocked = async (facts: string[]): Promise<void> => {
    await session.tellAll(facts);
    session.clock.advance(1000);
  };
  const long = Array.from({ length: 1100 }, (_, at) => `long(${at}, "too long for what is left")`);
  await clocked(['short(a)']);
  await clocked(long);
  await clocked(['short(b)']);
  const atoms = async (maxTokens: number | null): Promise<string[]> =>
    (await windowOf(session, { maxTokens, maxFacts: 2000 })).entries.map(renderAtom);
  expect(await atoms(10)).toEqual(['short(b)']);
  expect(await atoms(null)).toHaveLength(1102);
  await session.forgetPattern('long(?x, ?y)');
  expect(await atoms(10)).toEqual(['short(b)', 'short(a)']);
});

test('a text has every entry, conclusions after their premises', async () => {
  const session = await family();
  const { entries } = await windowOf(session, { includeInferred: true });
  const lines = (await linesOfFacts(entries, atOnce)).split('\n').slice(0, -1);
  expect(lines).toHaveLength(entries.length);
  for (const entry of entries) {
    const at = lines.indexOf(`${entry.provenance === null ? '' : '=> '}${renderAtom(entry)}`);
    expect(at, renderAtom(entry)).toBeGreaterThanOrEqual(0);
    for (const premise of entry.provenance?.premises ?? []) {
      const before = lines.findIndex((line) => line === premise || line === `=> ${premise}`);
      expect(before, `${premise} before ${renderAtom(entry)}`).toBeLessThan(at);
    }
  }
});

test('a line says the scope and the validity of a stored fact, and keeps to one line', async () => {
  const session = await openSession();
  await session.tell('p("two\\nlines")', { scope: 'draft', validUntil: Date.UTC(2100, 0, 1) });
  const { entries } = await windowOf(session, {});
  expect(await linesOfFacts(entries, atOnce)).toBe(
    'p("two\\nlines") (scope "draft", until 2100-01-01T00:00:00.000Z)\n',
  );
});

test('entries that are premises of each other keep an order', async () => {
  const entry = (name: string, premises: string[]): LinedEntry => ({
    predicate: name,
    args: [],
    negated: false,
    scope: null,
    validFrom: null,
    validUntil: null,
    provenance: premises.length === 0 ? null : { rule: 'r', premises },
  });
  const entries = [entry('a', ['b()']), entry('b', ['a()', 'c()']), entry('c', [])];
  const ordered = await readingOrder(entries, atOnce);
  expect(ordered.map(({ predicate }) => predicate)).toEqual(['c', 'b', 'a']);
});

test('recall keeps to its tokens, by salience or for a query', async () => {
  const session = await family();
  for (const query of [null, 'alice and dora'])
    for (const maxTokens of [5, 20, 45, 200]) {
      const input = recallInputSchema.parse({ maxTokens, query, includeInferred: true });
      const { facts } = await session.engine.recall(session.caller, input);
      expect(await tokensOf(facts)).toBeLessThanOrEqual(maxTokens);
      if (maxTokens > 5) expect(facts.length).toBeGreaterThan(0);
    }
});
