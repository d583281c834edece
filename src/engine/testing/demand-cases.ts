/**
 * Random knowledge with recursion asked for many keys, so that tables are filled from tables with generalized
 * demand.
 *
 * There are more nodes than the threshold of generalization, and recursion of every kind over them, also with
 * two bound arguments. Rules ask for few of them and for most, in joins, under default negation and inside
 * aggregates, so that the same table is asked for few keys first and for many later, and vice versa.
 */
import type { Prng } from './prng.ts';
import { parseRule } from '../language/parse.ts';
import { type Flavour, type RandomCase, factIdentity, randomFact, type Vocabulary } from './generators.ts';
import type { ModelFact } from './naive-model.ts';

const recursions: readonly (readonly string[])[] = [
  ['path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)'],
  ['path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)'],
  ['path(?x, ?z) :- path(?x, ?y), path(?y, ?z)'],
  ['path(?x, ?z) :- path(?x, ?y), edge(?y, ?z), not mark(?z)'],
  ['path(?x, ?z) :- edge(?x, ?y), not road(?y, ?x), path(?y, ?z)'],
  ['path(?x, ?z) :- edge(?x, ?y), path(?y, ?z), ?n = count{?u : road(?y, ?u)}, ?n < 2'],
  ['path(?x, ?z) :- edge(?x, ?y), path(?y, ?w), road(?w, ?z)'],
  ['path(?x, ?y) :- edge(?x, ?z), back(?z, ?y)', 'back(?x, ?y) :- road(?x, ?z), path(?z, ?y)'],
  ['path(?x, ?y) :- path(?y, ?x)'],
];

const bases = [
  'path(?x, ?y) :- edge(?x, ?y)',
  'path(?x, ?y) :- edge(?x, ?y), not road(?x, ?y)',
  'path(?x, ?y) :- edge(?x, ?y), ?n = count{?u : road(?x, ?u)}, ?n < 3',
];

const labelled = [
  'via(?l, ?x, ?y) :- label(?l, ?x), edge(?x, ?y)',
  'via(?l, ?x, ?z) :- via(?l, ?x, ?y), edge(?y, ?z)',
];

/** Rules that demand the recursive relations, and other relations by all possible values. */
const readers = [
  'seen(?y) :- path(?_, ?y)',
  'seen(?y) :- edge(?_, ?y), not mark(?y)',
  'lone(?x) :- node(?x), not seen(?x)',
  'lone(?y) :- road(?_, ?y), seen(?y)',
  'far(?x, ?n) :- seen(?x), not lone(?x), ?n = count{?y : path(?x, ?y)}',
  'far(?x, ?y) :- node(?x), path(?x, ?y)',
  'far(?x, ?z) :- mark(?x), road(?x, ?y), path(?y, ?z)',
  'far(?x, ?y) :- road(?x, ?y), path(?x, ?y), path(?y, ?x)',
  'cut(?x, ?y) :- node(?x), node(?y), not path(?x, ?y)',
  'cut(?x, ?y) :- road(?x, ?y), not path(?y, ?x)',
  'lone(?x) :- node(?x), not path(?x, ?x)',
  'lone(?x) :- node(?x), not path(?_, ?x)',
  'size(?x, ?n) :- node(?x), ?n = count{?y : path(?x, ?y)}',
  'size(?x, ?n) :- mark(?x), ?n = count{?y : path(?y, ?x), road(?x, ?y)}',
  'far(?x, ?y) :- label(?l, ?x), via(?l, ?x, ?y)',
  'cut(?l, ?x) :- label(?l, ?_), node(?x), not via(?l, ?x, ?x)',
];

export function demandCase(prng: Prng, flavour: Flavour): RandomCase {
  const vocabulary = demandVocabulary(prng, flavour);
  const facts = new Map<string, ModelFact>();
  const keep = (fact: ModelFact): void => void facts.set(factIdentity(fact), fact);
  for (let index = prng.below(flavour.facts); index >= 0; index--)
    keep(randomFact(prng, vocabulary, flavour));
  const about = { truthVal: true, scope: null, validFrom: null, validUntil: null };
  const many = prng.chance(0.8) ? 0.9 : 0.3;
  for (const each of vocabulary.constants)
    if (prng.chance(many)) keep({ ...about, predicate: 'node', args: [each] });
  const texts = [prng.pick(bases), ...prng.pick(recursions)];
  if (prng.chance(0.2)) texts.push(...prng.pick(recursions));
  if (prng.chance(0.4)) texts.push(...labelled);
  texts.push(...readers.filter(() => prng.chance(0.4)));
  const rules = [...new Set(texts)].map((text) => ({
    rule: parseRule(`${text}.`),
    scope: vocabulary.scopes.length > 0 && prng.chance(0.15) ? prng.pick(vocabulary.scopes) : null,
    enabled: true,
  }));
  return { vocabulary, facts: [...facts.values()], rules };
}

function demandVocabulary(prng: Prng, flavour: Flavour): Vocabulary {
  const names = ['edge', 'edge', 'edge', 'road', 'road', 'label', 'path', 'far', 'cut', 'size'];
  const binary = names.map((predicate) => ({ predicate, arity: 2 }));
  const unary = ['node', 'mark', 'lone', 'seen'].map((predicate) => ({ predicate, arity: 1 }));
  const relations = [...binary, ...unary, { predicate: 'via', arity: 3 }];
  const constants = [...'abcdefghijklmnopqrstuvwx'].slice(0, 16 + prng.below(flavour.constants));
  return { relations, constants, scopes: flavour.scopes ? ['s', 't'] : [] };
}
