/**
 * What is stored and asked when HTTP is measured, and what counts as the right answer.
 *
 * People are a binary tree: the parent of each is known, and one rule makes grandparents. Whoever has two children has
 * two answers to /query, and four grandchildren, which are the answers to /ask. The same bodies go to every server.
 */

/** People with children in the tree; the facts are twice as many. */
const parents = 4096;
/** So many different questions take turns. */
const variety = 128;

export type Path = '/query' | '/ask' | '/tell';

export interface StoredFact {
  readonly predicate: string;
  readonly args: readonly [string, string];
}

export const rule = 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)';

function person(number: number): string {
  return `p${number}`;
}

function childrenOf(number: number): number[] {
  return [2 * number, 2 * number + 1];
}

/** A fact for each child of the first `count` people, two for each of them. */
export function familyTree(count = parents): StoredFact[] {
  return Array.from({ length: count }, (_, at) => at + 1).flatMap((number) =>
    childrenOf(number).map((child) => ({
      predicate: 'parent',
      args: [person(number), person(child)] as const,
    })),
  );
}

/** The people asked about: each has children who have children. */
function askedAbout(): number[] {
  return Array.from({ length: variety }, (_, at) => 1 + at * 7);
}

/** The questions that take turns, as bodies. */
export function questions(path: '/query' | '/ask'): string[] {
  const predicate = path === '/query' ? 'parent' : 'grandparent';
  return askedAbout().map((number) => JSON.stringify({ predicate, args: [person(number), '?who'] }));
}

/** Whom each question finds, by code point. */
export function expectedAnswers(path: '/query' | '/ask'): string[][] {
  return askedAbout().map((number) => {
    const children = childrenOf(number);
    const found = path === '/query' ? children : children.flatMap(childrenOf);
    return found.map(person).sort();
  });
}

/** Whom the answer names, by code point; of /query facts, of /ask rendered atoms. Throws where it is no such answer. */
export function namedIn(path: '/query' | '/ask', answer: unknown): string[] {
  if (path === '/query') return (answer as StoredFact[]).map(({ args }) => args[1]).sort();
  const { results } = answer as { results: string[] };
  return results.map((atom) => /^grandparent\(\w+, (\w+)\)$/.exec(atom)?.[1] ?? `not ${atom}`).sort();
}

let told = 0;

/** A fact that nobody has told yet, as a body. */
export function newFact(): string {
  told += 1;
  return `{"predicate":"met","args":["n${told}","n${(told * 7919) % 1_000_003}"]}`;
}

/** Facts that nobody has told yet, as a body of /assert/facts. */
export function newFacts(count: number): Buffer {
  return Buffer.from(`{"facts":[${Array.from({ length: count }, newFact).join(',')}]}`);
}
