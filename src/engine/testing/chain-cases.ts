/**
 * Random knowledge with long rule bodies: variables that are bound early and not needed later, so that joins
 * reach the same bindings of the others repeatedly (`datalog/join/seen-bindings.ts`).
 *
 * Bodies are chains over few nodes with many edges, with filters between the atoms, recursion in the middle,
 * and heads that keep one end, both or none. Some conclusions are stored as well.
 */
import type { Prng } from './prng.ts';
import { type Flavour, type RandomCase, randomFacts, scopedRule, type Vocabulary } from './generators.ts';

const binary = ['edge', 'edge', 'edge', 'road', 'road', 'road', 'link', 'far'];
const nodes = ['?a', '?b', '?c', '?d', '?e', '?f'];

/** Filters that may follow an atom whose second node is `?y`. */
const filters = [
  'not mark(?y)',
  '?y != b',
  '?a != ?y',
  'mark(?y)',
  'not link(?y, ?_)',
  '?n = count{?u : edge(?y, ?u)}, ?n < 3',
];

export function chainCase(prng: Prng, flavour: Flavour): RandomCase {
  const vocabulary = chainVocabulary(prng, flavour);
  const facts = randomFacts(prng, vocabulary, flavour);
  const texts = [
    `link(?x, ?y) :- edge(?x, ?y), road(?y, ?x)`,
    chainRule(prng, 'far', ['edge', 'road', 'link']),
    chainRule(prng, 'end', ['edge', 'road', 'link', 'far']),
    chainRule(prng, 'pair', ['edge', 'far', 'link', 'pair']),
    chainRule(prng, 'some', ['road', 'far', 'pair', 'end']),
  ].filter((_, at) => at < 2 || prng.chance(0.8));
  const rules = texts.map((text) => scopedRule(prng, text, vocabulary));
  return { vocabulary, facts, rules };
}

function chainVocabulary(prng: Prng, flavour: Flavour): Vocabulary {
  const relations = [
    ...binary.map((predicate) => ({ predicate, arity: 2 })),
    ...['mark', 'end', 'some'].map((predicate) => ({ predicate, arity: 1 })),
    { predicate: 'pair', arity: 2 },
  ];
  const constants = [...'abcdefgh'].slice(0, 3 + prng.below(flavour.constants));
  return { relations, constants, scopes: flavour.scopes ? ['s', 't'] : [] };
}

const arities: Readonly<Record<string, number>> = { end: 1, some: 1 };

/** A rule whose body is a chain of three to five atoms over these relations. */
function chainRule(prng: Prng, head: string, relations: readonly string[]): string {
  const length = 3 + prng.below(3);
  const literals: string[] = [];
  for (let at = 0; at < length; at++) {
    const relation = prng.pick(relations);
    const [from, to] = [nodes[at] as string, nodes[at + 1] as string];
    literals.push(
      arities[relation] === 1 ? `${relation}(${to}), edge(${from}, ${to})` : `${relation}(${from}, ${to})`,
    );
    if (prng.chance(0.2))
      literals.push(
        prng.pick(filters).replaceAll('?y', to).replaceAll('?n', `?n${at}`).replaceAll('?u', `?u${at}`),
      );
  }
  const ends = [nodes[0] as string, nodes[length] as string];
  const args = arities[head] === 1 ? prng.pick(ends) : ends.join(', ');
  return `${head}(${args}) :- ${literals.join(', ')}`;
}
