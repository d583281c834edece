/**
 * Random knowledge with cyclic rule bodies: literals whose variables are all bound when a join reaches them
 * (`datalog/join/existence-step.ts`), and variables that several literals bind
 * (`datalog/join/intersection-step.ts`).
 *
 * Triangles, squares and complete graphs of four, over few nodes with many edges; some sides are derived,
 * some rules are recursive, some sides have a label, or a constant instead of a node. Some conclusions are
 * stored as well.
 */
import type { Prng } from './prng.ts';
import { type Flavour, type RandomCase, randomFacts, scopedRule, type Vocabulary } from './generators.ts';

const names = ['edge', 'edge', 'edge', 'edge', 'road', 'road', 'near', 'ring', 'tie'];
const filters = ['not mark(?y)', '?y != b', 'mark(?y)', 'not tie(?y, ?x)', '?x != ?y', 'not road(?x, ?y)'];

/**
 * Bodies by the nodes of their sides: triangle, square, complete graph of four, two triangles that share a
 * side.
 */
const shapes: readonly (readonly string[])[] = [
  ['xy', 'yz', 'zx'],
  ['xy', 'yz', 'xz'],
  ['xy', 'yx'],
  ['xy', 'yz', 'zw', 'wx'],
  ['xy', 'xz', 'xw', 'yz', 'yw', 'zw'],
  ['xy', 'yz', 'zx', 'yw', 'wx'],
];

export function cycleCase(prng: Prng, flavour: Flavour): RandomCase {
  const vocabulary = cycleVocabulary(prng, flavour);
  const facts = randomFacts(prng, vocabulary, flavour);
  const texts = [
    'near(?x, ?y) :- edge(?x, ?y), road(?y, ?x)',
    cycleRule(prng, 'near(?x, ?y)', ['edge', 'road']),
    cycleRule(prng, 'ring(?x, ?y)', ['edge', 'near', 'via']),
    cycleRule(prng, 'ring(?y, ?x)', ['edge', 'road', 'ring']),
    cycleRule(prng, 'corner(?x)', ['edge', 'near', 'ring', 'via']),
    cycleRule(prng, 'some(?x, ?y, ?z)', ['edge', 'edge', 'road', 'near']),
  ].filter((_, at) => at < 1 || prng.chance(0.7));
  const rules = texts.map((text) => scopedRule(prng, text, vocabulary));
  return { vocabulary, facts, rules };
}

/** Bodies whose sides are derived whole: copies of stored edges, their neighbours, a closure; some are stored as well. */
export function derivedCycleCase(prng: Prng, flavour: Flavour): RandomCase {
  const plain = cycleVocabulary(prng, flavour);
  const relations = [...plain.relations, { predicate: 'link', arity: 2 }, { predicate: 'way', arity: 2 }];
  const vocabulary = { ...plain, relations };
  const facts = randomFacts(prng, vocabulary, flavour);
  const texts = [
    'link(?x, ?y) :- edge(?x, ?y)',
    prng.pick(['link(?x, ?y) :- road(?y, ?x), not mark(?x)', 'link(?x, ?y) :- road(?x, ?z), road(?z, ?y)']),
    'way(?x, ?y) :- near(?x, ?y)',
    'way(?x, ?z) :- way(?x, ?y), near(?y, ?z)',
    cycleRule(prng, 'ring(?x, ?y)', ['link']),
    cycleRule(prng, 'corner(?x)', ['link', 'link', 'edge']),
    cycleRule(prng, 'corner(?y)', ['way']),
    cycleRule(prng, 'some(?x, ?y, ?z)', ['ring', 'ring', 'edge']),
    cycleRule(prng, 'some(?x, ?z, ?y)', ['link', 'way']),
  ].filter((_, at) => at < 1 || prng.chance(0.7));
  const rules = texts.map((text) => scopedRule(prng, text, vocabulary));
  return { vocabulary, facts, rules };
}

function cycleVocabulary(prng: Prng, flavour: Flavour): Vocabulary {
  const relations = [
    ...names.map((predicate) => ({ predicate, arity: 2 })),
    ...['mark', 'corner'].map((predicate) => ({ predicate, arity: 1 })),
    ...['via', 'some'].map((predicate) => ({ predicate, arity: 3 })),
  ];
  const constants = [...'abcdefgh'].slice(0, 3 + prng.below(flavour.constants));
  return { relations, constants, scopes: flavour.scopes ? ['s', 't'] : [] };
}

/**
 * A rule with a body of one of the shapes and these relations, shuffled, that binds the variables of the
 * head.
 */
function cycleRule(prng: Prng, head: string, relations: readonly string[]): string {
  const wanted = [...head.matchAll(/\?(\w)/g)].map(([, node]) => node as string);
  const shape = prng.pick(shapes.filter((sides) => wanted.every((node) => sides.join('').includes(node))));
  const literals = shape.map((side) => {
    const [from, to] = [...side].map((node) => `?${node}`) as [string, string];
    const relation = prng.pick(relations);
    return relation === 'via'
      ? `via(${prng.pick(['?l', 'a'])}, ${from}, ${to})`
      : `${relation}(${from}, ${to})`;
  });
  for (let at = literals.length - 1; at > 0; at--) {
    const other = prng.below(at + 1);
    [literals[at], literals[other]] = [literals[other] as string, literals[at] as string];
  }
  if (prng.chance(0.3)) literals.push(prng.pick(filters));
  const rule = `${head} :- ${literals.join(', ')}`;
  const open = [...'zw'].filter((node) => !wanted.includes(node));
  return prng.chance(0.1) && open.length > 0 ? rule.replaceAll(`?${prng.pick(open)}`, 'b') : rule;
}
