import { expect, test } from 'vitest';
import { type ContextWindow, optimizeInputSchema } from '../contract/context.ts';
import { recallInputSchema } from '../contract/memory.ts';
import { renderAtom } from '../language/print.ts';
import { type Fields, longest, openSession, type Session } from '../testing/engine-fixtures.ts';
import { queryGoalsMs } from './window.ts';

/** Windows for a query in plain words: contract section 13. */

function windowOf(session: Session, fields: Fields): Promise<ContextWindow> {
  return session.engine.optimizeContext(session.caller, optimizeInputSchema.parse({ ...longest, ...fields }));
}

function atomsOf({ entries }: ContextWindow): string[] {
  return entries.map(renderAtom);
}

const chain = ['ida', 'jon', 'kim', 'leo', 'mia', 'ned', 'ole'];

/** A chain of parents among people who have nothing to do with it. */
async function openKin(): Promise<Session> {
  const session = await openSession();
  const parents = chain.slice(1).map((child, at) => `parent(${chain[at] as string}, ${child})`);
  const others = Array.from({ length: 300 }, (_, at) => `knows(other_${at}, other_${(at * 7) % 300})`);
  await session.tellAll([...parents, ...others, 'lives_in(ole, oslo)', 'likes(ida, oslo)']);
  await session.teach('ancestor(?x, ?y) :- parent(?x, ?y)');
  await session.teach('ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)');
  return session;
}

test('the names in a question are goals, whose proofs are whole', async () => {
  const window = await windowOf(await openKin(), { query: 'How is Ida related to Ole?', maxFacts: 20 });
  expect(window.mentions?.map(({ constants }) => constants)).toEqual([['ida'], ['ole']]);
  expect(window.goals.map(({ goal, status }) => [goal, status])).toEqual([['ancestor(ida, ole)', 'proved']]);
  expect(window.goalsLeftOut).toBe(0);
  const atoms = atomsOf(window);
  for (let at = 1; at < chain.length; at++) expect(atoms).toContain(`parent(${chain[at - 1]}, ${chain[at]})`);
  expect(atoms).toContain('lives_in(ole, oslo)');
  expect(atoms.some((atom) => atom.startsWith('knows'))).toBe(false);
});

test('a mentioned predicate narrows the goals, with one name where none with two holds', async () => {
  const session = await openKin();
  const window = await windowOf(session, { query: 'where does ole live?', maxFacts: 5 });
  expect(window.goals.map(({ goal }) => goal)).toEqual(['lives_in(ole, ?x2)']);
  expect(atomsOf(window)[0]).toBe('lives_in(ole, oslo)');
});

test('what has nothing of the query is left out as filtered, whatever room there is; what has, as over the budget', async () => {
  const session = await openKin();
  const reasons = async (fields: Fields): Promise<Map<string, string>> => {
    const { omitted = [] } = await windowOf(session, {
      query: 'Who likes Oslo?',
      explainOmitted: true,
      ...fields,
    });
    return new Map(omitted.map(({ atom, reason }) => [atom, reason]));
  };
  const roomy = await reasons({ maxFacts: 300 });
  expect(new Set(roomy.values())).toEqual(new Set(['filtered']));
  expect(roomy.get('knows(other_1, other_7)')).toBe('filtered');
  const narrow = await reasons({ maxFacts: 1 });
  expect(['likes(ida, oslo)', 'lives_in(ole, oslo)'].map((atom) => narrow.get(atom))).toContain('budget');
  expect(narrow.get('knows(other_1, other_7)')).toBe('filtered');
  const full = await reasons({ maxFacts: 20, fill: true });
  expect(new Set(full.values())).toEqual(new Set(['budget']));
});

test('every match that found no room is over the budget, also beyond those that a window of its size takes', async () => {
  const session = await openKin();
  const notes = Array.from({ length: 500 }, (_, at) => `note(day_${at}, "Rain is likely in spring")`);
  await session.tellAll(notes);
  const { omitted = [] } = await windowOf(session, {
    query: 'rain in spring',
    maxFacts: 1,
    explainOmitted: true,
  });
  const reasons = omitted.filter(({ atom }) => atom.startsWith('note(')).map(({ reason }) => reason);
  expect(reasons.length).toBeGreaterThan(100);
  expect(new Set(reasons)).toEqual(new Set(['budget']));
});

test('given goals precede those of the query and are listed once', async () => {
  const goals = [
    { predicate: 'parent', args: ['kim', '?c'] },
    { predicate: 'ancestor', args: ['ida', 'ole'] },
  ];
  const { goals: listed } = await windowOf(await openKin(), { goals, query: 'ida and ole' });
  expect(listed.map(({ goal }) => goal)).toEqual(['parent(kim, ?c)', 'ancestor(ida, ole)']);
});

test('a query that matches nothing leaves the window empty, unless it is to be filled', async () => {
  const session = await openKin();
  const empty = await windowOf(session, { query: 'quantum chromodynamics' });
  expect([empty.entries, empty.mentions, empty.goals]).toEqual([[], [], []]);
  const filled = await windowOf(session, { query: 'quantum chromodynamics', fill: true, maxFacts: 3 });
  expect(filled.entries).toHaveLength(3);
});

test('a session is asked again with its query', async () => {
  const session = await openKin();
  const query = 'where does ole live?';
  await windowOf(session, { query, sessionId: 's' });
  await session.tell('lives_in(ole, bergen)');
  const diff = await session.engine.diffContext(session.caller, {
    sessionId: 's',
    maxFacts: null,
    maxTokens: null,
    scope: null,
    unscoped: false,
    goals: null,
    query: null,
    format: null,
  });
  expect(diff.added?.map(({ predicate, args }) => [predicate, ...args])).toEqual([
    ['lives_in', 'ole', 'bergen'],
  ]);
});

test('recall takes a query too: what to read, with proofs', async () => {
  const session = await openKin();
  const recall = (fields: Fields) =>
    session.engine.recall(session.caller, recallInputSchema.parse({ ...longest, ...fields }));
  const recalled = await recall({ query: 'how is ida related to ole', maxFacts: 20 });
  expect(recalled.facts.map(renderAtom)).toContain('ancestor(ida, ole)');
  const concluded = recalled.facts.filter(({ provenance }) => provenance !== null).length;
  expect(concluded).toBeGreaterThan(0);
  expect(recalled.totalFacts).toBe(308 + concluded);
  const few = await recall({ query: 'how is ida related to ole', maxFacts: 6 });
  expect(few.facts.every(({ predicate }) => predicate === 'parent')).toBe(true);
  expect(await recall({ query: 'nothing of this' })).toMatchObject({ facts: [], returned: 0, mentions: [] });
});

test('gives the goals of a query two seconds, or most of the time that the request names', () => {
  expect([null, 1000, 60_000].map(queryGoalsMs)).toEqual([2000, 600, 36_000]);
});
