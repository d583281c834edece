import { expect, test } from 'vitest';
import { colleaguesTalk, friendsTalk } from './conversations.ts';
import { questionKinds } from './dialogue-topics.ts';
import { retrievers } from './retrievers.ts';
import type { Candidate } from './selections.ts';
import { stories } from './stories.ts';

function candidate(predicate: string, ...args: string[]): Candidate {
  return { predicate, args, createdAt: 0, salience: 0, rendered: `${predicate}(${args.join(', ')})` };
}

const chain = [
  candidate('met', 'Ann', 'Bob'),
  candidate('met', 'Bob', 'Carol'),
  candidate('met', 'Carol', 'Dave'),
  candidate('likes', 'Ann', 'tea'),
  candidate('likes', 'Eve', 'milk'),
];

function first(name: string, question: string, count: number): readonly Candidate[] {
  const retriever = retrievers.find((each) => each.name === name);
  return retriever?.prepare(chain)(question, count) ?? [];
}

test('has conversations with questions of every kind, each with its answers among the facts', () => {
  for (const talk of [friendsTalk, colleaguesTalk]) {
    const { facts, questions } = talk(1, 4);
    expect(new Set(questions.map(({ kind }) => kind))).toEqual(new Set(questionKinds));
    for (const { text, answers } of questions) {
      expect(answers.length, text).toBeGreaterThan(0);
      for (const answer of answers) expect(facts).toContain(answer);
      expect(text).not.toMatch(/[{}[\]|]/);
    }
    expect(talk(1, 4)).toEqual(talk(1, 4));
  }
});

test('has stories of six to ten facts that link the two people of the question', () => {
  for (const names of ['shared words', 'no shared words'] as const) {
    const { facts, questions } = stories(names, 10, 100, 1);
    for (const { text, goal, premises } of questions) {
      for (const name of goal.args) expect(text).toContain(name);
      expect(premises.length).toBeGreaterThanOrEqual(6);
      expect(premises.length).toBeLessThanOrEqual(10);
      for (const premise of premises) expect(facts).toContain(premise);
      const [next, of] = [premises.map(({ args }) => args[0]), premises.map(({ args }) => args[1])];
      expect(of.slice(1)).toEqual(next.slice(0, -1));
    }
  }
});

test('ranks by words, paths and nearness to what a question names', () => {
  expect(first('BM25', 'Who likes tea?', 1)).toEqual([chain[3]]);
  expect(first('two hops', 'What about Eve?', 3)).toEqual([chain[4]]);
  expect(new Set(first('shortest paths', 'How do Ann and Dave know each other?', 3))).toEqual(
    new Set(chain.slice(0, 3)),
  );
  expect(first('PageRank', 'Ann', 5)).not.toContain(chain[4]);
  expect(first('fusion of these', 'Who likes tea?', 5)).toHaveLength(5);
});
