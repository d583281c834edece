/**
 * Random knowledge with rules that are mostly aggregates over a single atom, which read stored or derived
 * rows directly (`datalog/join/body-compiler.ts`), and some that need a relation of their own.
 *
 * The atoms are over stored edges, joins of them, a closure and other aggregates, with constants, repeated
 * variables, wildcards and several variables before the colon. Facts are mostly edges and numbers, so that updates
 * change what is counted.
 */
import type { Prng } from './prng.ts';
import { type Flavour, type RandomCase, randomFacts, scopedRule, type Vocabulary } from './generators.ts';

const below = [
  'link(?x, ?y) :- edge(?x, ?z), road(?z, ?y)',
  'tc(?x, ?y) :- edge(?x, ?y)',
  'tc(?x, ?z) :- tc(?x, ?y), edge(?y, ?z)',
  'trip(?x, ?z, ?y) :- way(?x, ?y, ?z), edge(?x, ?_)',
];

/** `R` and `S` are replaced by relations, `AGG` by an aggregate. */
const shapes = [
  'size(?x, ?n) :- mark(?x), ?n = AGG{?y : R(?x, ?y)}',
  'size(?x, ?n) :- R(?x, ?_), ?n = AGG{?y : R(?x, ?y)}',
  'size(?y, ?n) :- S(?_, ?y), ?n = AGG{?x : R(?x, ?y)}',
  'size(?x, ?n) :- mark(?x), ?n = AGG{?y : R(?y, ?y)}, ?m = count{?y : S(?x, ?y)}, ?n != ?m',
  'size(?x, ?n) :- mark(?x), ?n = count{?y : R(?x, ?y), mark(?y)}',
  'size(?x, ?n) :- mark(?x), ?n = count{?y : R(?y, ?_)}',
  'size(?x, ?n) :- R(?x, ?y), ?n = AGG{?y : S(?x, ?y)}',
  'all(?n) :- ?n = AGG{?x, ?y : R(?x, ?y)}',
  'size(?x, ?n) :- mark(?x), ?n = AGG{?y : way(?x, ?y, ?_)}',
  'size(?x, ?n) :- edge(?x, ?_), ?n = AGG{?y, ?z : way(?y, ?z, ?_)}, ?m = count{?y : way(?_, ?y, ?_)}, ?n != ?m',
  'all(?n) :- mark(?x), ?n = AGG{?y : trip(?x, ?_, ?y)}',
  'all(?n) :- ?n = AGG{?x : R(1, ?x)}, ?n > 0',
  'all(?x) :- mark(?x), 2 = count{?y : R(?x, ?y)}',
  'all(?x) :- R(?x, ?y), ?n = count{?z : S(?y, ?z)}, ?n = count{?z : S(?z, ?x)}',
];

/** Rules that read the conclusions of aggregates. */
const above = [
  'most(?x, ?n) :- mark(?x), ?n = AGG{?m, ?y : size(?y, ?m)}',
  'most(?x, ?n) :- size(?x, ?_), ?n = AGG{?m : size(?x, ?m)}',
];

export function aggregateCase(prng: Prng, flavour: Flavour): RandomCase {
  const vocabulary = aggregateVocabulary(prng, flavour);
  const facts = randomFacts(prng, vocabulary, flavour);
  const texts = [...below, ...shapes.filter(() => prng.chance(0.4)), ...above.filter(() => prng.chance(0.5))];
  const relation = (): string => prng.pick(['edge', 'road', 'link', 'tc', 'tc']);
  const rules = texts.map((text) => {
    const filled = text
      .replaceAll('R(', `${relation()}(`)
      .replaceAll('S(', `${relation()}(`)
      .replaceAll('AGG', prng.pick(['count', 'count', 'sum', 'min', 'max', 'avg']));
    return scopedRule(prng, filled, vocabulary);
  });
  return { vocabulary, facts, rules };
}

function aggregateVocabulary(prng: Prng, flavour: Flavour): Vocabulary {
  const binary = ['edge', 'edge', 'edge', 'road', 'road', 'link', 'tc', 'size', 'most'];
  const relations = [
    ...binary.map((predicate) => ({ predicate, arity: 2 })),
    ...['mark', 'mark', 'all'].map((predicate) => ({ predicate, arity: 1 })),
    ...['way', 'way', 'way'].map((predicate) => ({ predicate, arity: 3 })),
  ];
  const constants = ['1', '2', '-3', '2.5', 'a', '7', 'b', '10'].slice(0, 3 + prng.below(flavour.constants));
  return { relations, constants, scopes: flavour.scopes ? ['s', 't'] : [] };
}
