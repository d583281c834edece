import { expect, test } from 'vitest';
import { KeptFacts } from '../../testing/kept-facts.ts';

interface Case {
  readonly rules: readonly string[];
  readonly start: readonly string[];
  /** The fact to assert and retract in turn. */
  readonly change: (at: number) => string;
  readonly goal: string;
}

const pairs = 600;
/** At least half of this is garbage that awaits compaction. */
const mostBytes = 500_000;

const many = (atom: (at: number) => string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => atom(at));

const joined = ['q(?x, ?y) :- p(?x), s(?y)', 'r(?x) :- q(?x, ?y)'];

const cases: Record<string, Case> = {
  'the same fact': {
    rules: joined,
    start: many((at) => `s(n${at})`, 100),
    change: () => 'p(a)',
    goal: 'r(?x)',
  },
  'always another fact': {
    rules: joined,
    start: many((at) => `s(n${at})`, 100),
    change: (at) => `p(a${at})`,
    goal: 'r(?x)',
  },
  'what an absence keeps from counting': {
    rules: ['free(?x, ?y) :- room(?x), s(?y), not closed(all)'],
    start: ['closed(all)', ...many((at) => `s(n${at})`, 100)],
    change: (at) => `room(a${at})`,
    goal: 'free(?x, ?y)',
  },
  'what is grouped': {
    rules: ['many(?n) :- ?n = count { ?x, ?y : room(?x), s(?y) }, ?n > 1000'],
    start: many((at) => `s(n${at})`, 100),
    change: (at) => `room(a${at})`,
    goal: 'many(?n)',
  },
  'recursion of one kind': {
    rules: ['path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- path(?x, ?y), path(?y, ?z)'],
    start: many((at) => `edge(n${at}, n${at + 1})`, 16),
    change: () => 'edge(n16, n17)',
    goal: 'path(?x, ?y)',
  },
  'recursion that is rewritten': {
    rules: ['path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)'],
    start: many((at) => `edge(n${at}, n${at + 1})`, 40),
    change: () => 'edge(n0, n1)',
    goal: 'path(n0, ?y)',
  },
};

for (const [name, { rules, start, change, goal }] of Object.entries(cases))
  test(`incremental maintenance keeps its memory bounded over many changes: ${name}`, async () => {
    const kept = new KeptFacts(rules);
    for (const text of start) kept.tell(text);
    for (let at = 0; at < pairs; at++) {
      kept.tell(change(at));
      await kept.ask(goal, at % 10 === 0);
      kept.forget(change(at));
      await kept.ask(goal, at % 10 === 0);
      expect(kept.reasoner.bytes).toBeLessThan(mostBytes);
    }
  });
