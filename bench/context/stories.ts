/**
 * Kinship stories: questions whose answer takes a chain of six to ten facts, among thousands of facts about others, and
 * asked as text with nothing but the two names.
 *
 * What they favour: names are spelled as stored, and the two people are linked by one chain, so that shortest paths find
 * its facts too. The people of a chain have facts that lead elsewhere, and other families have the same relations.
 */
import { Prng } from '../../src/engine/testing/prng.ts';
import type { StoredAtom } from './knowledge.ts';
import { oneOf, wordsOfSlot } from './vocabulary.ts';

export interface StoryQuestion {
  readonly text: string;
  /** The right answer. */
  readonly goal: StoredAtom;
  /** The facts of its chain: it follows from all of them and from nothing less. */
  readonly premises: readonly StoredAtom[];
}

export interface Stories {
  readonly name: string;
  readonly facts: readonly StoredAtom[];
  readonly rules: readonly string[];
  readonly questions: readonly StoryQuestion[];
}

/** Whether people of one family have a word in common, or every name is a word that occurs nowhere else. */
export type Names = 'shared words' | 'no shared words';

const atom = (predicate: string, ...args: string[]): StoredAtom => ({ predicate, args });

/** By what somebody is to the first person: what a parent, sibling, child, spouse of theirs is. */
const compositions: Readonly<Record<string, readonly (readonly [step: string, kin: string])[]>> = {
  parent: [
    ['parent', 'grandparent'],
    ['sibling', 'pibling'],
    ['child', 'sibling'],
  ],
  sibling: [
    ['parent', 'parent'],
    ['child', 'nibling'],
    ['spouse', 'sibling_in_law'],
    ['sibling', 'sibling'],
  ],
  child: [
    ['child', 'grandchild'],
    ['sibling', 'child'],
    ['spouse', 'child_in_law'],
  ],
  spouse: [
    ['child', 'child'],
    ['parent', 'parent_in_law'],
    ['sibling', 'sibling_in_law'],
  ],
  grandparent: [
    ['sibling', 'great_pibling'],
    ['child', 'pibling'],
    ['spouse', 'grandparent'],
  ],
  pibling: [
    ['child', 'cousin'],
    ['sibling', 'pibling'],
    ['parent', 'grandparent'],
    ['spouse', 'pibling'],
  ],
  great_pibling: [
    ['sibling', 'great_pibling'],
    ['spouse', 'great_pibling'],
  ],
  nibling: [
    ['sibling', 'nibling'],
    ['parent', 'sibling'],
  ],
  cousin: [
    ['sibling', 'cousin'],
    ['parent', 'pibling'],
  ],
  grandchild: [
    ['sibling', 'grandchild'],
    ['parent', 'child'],
  ],
  sibling_in_law: [
    ['child', 'nibling'],
    ['spouse', 'sibling'],
  ],
  parent_in_law: [
    ['spouse', 'parent_in_law'],
    ['child', 'sibling_in_law'],
  ],
  child_in_law: [
    ['child', 'grandchild'],
    ['spouse', 'child'],
  ],
};

/** The predicates by which a story tells a step: `mother(ann, bob)` says that Ann is the mother of Bob. */
const told: Readonly<Record<string, readonly string[]>> = {
  parent: ['mother', 'father'],
  sibling: ['sister', 'brother'],
  child: ['daughter', 'son'],
  spouse: ['wife', 'husband'],
};

const rules = [
  ...Object.entries(told).flatMap(([step, predicates]) =>
    predicates.flatMap((predicate) => [
      `told_${step}(?x, ?y) :- ${predicate}(?x, ?y)`,
      `${step}(?x, ?y) :- ${predicate}(?x, ?y)`,
    ]),
  ),
  ...Object.entries(compositions).flatMap(([kin, ways]) =>
    ways.map(([step, result]) => `${result}(?z, ?x) :- ${kin}(?y, ?x), told_${step}(?z, ?y)`),
  ),
];

const elsewhere = ['lives_in', 'works_at', 'owns', 'likes', 'met', 'studied'];

class StoryWriter {
  readonly facts: StoredAtom[] = [];
  readonly #prng: Prng;
  readonly #names: Names;
  readonly #taken = new Set<string>();
  #family = '';

  constructor(names: Names, seed: number) {
    this.#names = names;
    this.#prng = new Prng(seed);
  }

  /** A chain of `hops` facts, with facts of its people that lead elsewhere. */
  chain(hops: number): { readonly goal: StoredAtom; readonly premises: readonly StoredAtom[] } {
    this.#family = this.#word();
    const first = this.#person();
    let [kin, last] = ['', first];
    const premises: StoredAtom[] = [];
    for (let hop = 0; hop < hops; hop++) {
      const [step, result] =
        kin === ''
          ? ([oneOf(Object.keys(told), this.#prng), ''] as const)
          : oneOf(compositions[kin] ?? [], this.#prng);
      const next = this.#person();
      premises.push(this.#tell(step, next, last));
      [kin, last] = [result === '' ? step : result, next];
      if (this.#prng.below(2) === 0) this.#aside(next);
    }
    return { goal: atom(kin, last, first), premises };
  }

  /** A fact of the person that leads elsewhere. */
  #aside(person: string): void {
    if (this.#prng.below(3) === 0) this.#tell(oneOf(Object.keys(told), this.#prng), this.#person(), person);
    else this.facts.push(atom(oneOf(elsewhere, this.#prng), person, this.#thing()));
  }

  #thing(): string {
    const slot = oneOf(['city', 'company', 'animal', 'object', 'subject', 'book', 'dish'], this.#prng);
    return oneOf(wordsOfSlot(slot), this.#prng);
  }

  #tell(step: string, who: string, of: string): StoredAtom {
    const fact = atom(oneOf(told[step] ?? [], this.#prng), who, of);
    this.facts.push(fact);
    return fact;
  }

  #person(): string {
    for (;;) {
      const name =
        this.#names === 'shared words'
          ? `${oneOf(wordsOfSlot('name'), this.#prng)} ${this.#family}`
          : this.#word();
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }

  /** A made-up name of three or four syllables; in families with shared words, of a smaller number of families. */
  #word(): string {
    const [onsets, rhymes] = [
      'b d f g k l m n p r s t v z'.split(' '),
      'a e i o u an el or is ut'.split(' '),
    ];
    const count = this.#names === 'shared words' ? 2 : 4;
    let word = '';
    for (let syllable = 0; syllable < count; syllable++)
      word += oneOf(onsets, this.#prng) + oneOf(rhymes, this.#prng);
    return (word[0] as string).toUpperCase() + word.slice(1);
  }
}

const asked = [
  ([one, other]: readonly [string, string]) => `How is ${one} related to ${other}?`,
  ([one, other]: readonly [string, string]) => `What is ${one} to ${other}?`,
  ([one, other]: readonly [string, string]) =>
    `I met ${other} and ${one} yesterday. In what way are they family?`,
  ([one, other]: readonly [string, string]) => `Tell me the relation between ${other} and ${one}.`,
  ([one, other]: readonly [string, string], kin: string) => `Is ${one} the ${kin} of ${other}?`,
] as const;

/** `count` stories with a question each, of six to ten hops, among as many other facts as `distractors` says. */
export function stories(names: Names, count: number, distractors: number, seed: number): Stories {
  const prng = new Prng(seed + 1000);
  const writer = new StoryWriter(names, seed);
  const questions: StoryQuestion[] = [];
  for (let story = 0; story < count; story++) {
    const { goal, premises } = writer.chain(6 + (story % 5));
    const [one, other] = goal.args as unknown as readonly [string, string];
    const text = oneOf(asked, prng)([one, other], goal.predicate.replaceAll('_', ' '));
    questions.push({ text, goal, premises });
  }
  const own = writer.facts.length;
  while (writer.facts.length < own + distractors) writer.chain(6 + prng.below(5));
  return { name: names, facts: writer.facts, rules, questions };
}
