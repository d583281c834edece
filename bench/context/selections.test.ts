import { expect, test } from 'vitest';
import { distractors, kinship, organisation } from './knowledge.ts';
import { bm25, type Candidate, graphWalk, mostSalient, newest, random, selections } from './selections.ts';

function candidate(predicate: string, args: string[], createdAt = 0, salience = 0): Candidate {
  return { predicate, args, createdAt, salience, rendered: `${predicate}(${args.join(', ')})` };
}

const facts = [
  candidate('parent', ['ada', 'ben'], 3, 0.1),
  candidate('parent', ['ben', 'cleo'], 1, 0.9),
  candidate('likes', ['ada', 'tea'], 4, 0.2),
  candidate('likes', ['dan', 'tea'], 2, 0.3),
];
const goal = { predicate: 'parent', args: ['ada', 'ben'] };

test('ranks facts that share the rarest words with the goal first by BM25', () => {
  const [first, ...others] = bm25.prepare(facts)(goal, 3);
  expect(first).toBe(facts[0]);
  expect(others).toContain(facts[1]);
  expect(others).not.toContain(facts[3]);
});

test('takes facts nearest to the constants of the goal first in a graph walk', () => {
  const near = graphWalk.prepare(facts)({ predicate: 'likes', args: ['dan'] }, 4);
  expect(near).toEqual([facts[3], facts[2], facts[0], facts[1]]);
});

test('selects the newest and the most salient facts by their values', () => {
  expect(newest.prepare(facts)(goal, 2)).toEqual([facts[2], facts[0]]);
  expect(mostSalient.prepare(facts)(goal, 2)).toEqual([facts[1], facts[3]]);
});

test('selects distinct facts at random, the same in every run', () => {
  const chosen = random.prepare(facts)(goal, 3);
  expect(new Set(chosen).size).toBe(3);
  expect(random.prepare(facts)(goal, 3)).toEqual(chosen);
});

test('selects all facts by every method if all fit', () => {
  for (const selection of selections) {
    const chosen = selection.prepare(facts)({ predicate: 'likes', args: ['dan'] }, 10);
    expect(chosen.length, selection.name).toBe(facts.length);
  }
});

test('creates distractors as new facts that share constants and predicates with the knowledge', () => {
  for (const knowledge of [kinship(1), organisation(2)]) {
    const added = distractors(knowledge, 500, 3);
    const keys = new Set([...knowledge.facts, ...added].map((fact) => JSON.stringify(fact)));
    expect(keys.size).toBe(knowledge.facts.length + 500);
    const constants = new Set(knowledge.facts.flatMap(({ args }) => args));
    const predicates = new Set(knowledge.facts.map(({ predicate }) => predicate));
    expect(added.filter(({ args }) => args.some((arg) => constants.has(arg))).length).toBeGreaterThan(300);
    expect(added.filter(({ predicate }) => predicates.has(predicate)).length).toBeGreaterThan(150);
    expect(distractors(knowledge, 500, 3)).toEqual(added);
  }
});
