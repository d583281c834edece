/**
 * The facts and questions of the HTTP benchmark, and the correct answers.
 *
 * People are a binary tree: the parent of each is known, and one rule defines grandparents. A person with two children
 * has two answers to /query, and four grandchildren, which are the answers to /ask. The same bodies go to every server.
 */

/** People with children in the tree; there are twice as many facts. */
const parents = 4096;
/** The number of different questions that take turns. */
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

/** The people whom each question finds, by code point. */
export function expectedAnswers(path: '/query' | '/ask'): string[][] {
  return askedAbout().map((number) => {
    const children = childrenOf(number);
    const found = path === '/query' ? children : children.flatMap(childrenOf);
    return found.map(person).sort();
  });
}

/** The people in the answer, by code point; of /query facts, of /ask rendered atoms. Throws if it is no such answer. */
export function namedIn(path: '/query' | '/ask', answer: unknown): string[] {
  if (path === '/query') return (answer as StoredFact[]).map(({ args }) => args[1]).sort();
  const { results } = answer as { results: string[] };
  return results.map((atom) => /^grandparent\(\w+, (\w+)\)$/.exec(atom)?.[1] ?? `not ${atom}`).sort();
}

let told = 0;

/** A new fact, as a body. */
export function newFact(): string {
  told += 1;
  return `{"predicate":"met","args":["n${told}","n${(told * 7919) % 1_000_003}"]}`;
}

/** New facts, as a body of /assert/facts. */
export function newFacts(count: number): Buffer {
  return Buffer.from(`{"facts":[${Array.from({ length: count }, newFact).join(',')}]}`);
}
