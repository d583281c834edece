/**
 * Random knowledge that is mostly closures: relations that tables compute as bitset relations, and rules that
 * read them.
 *
 * Every case has one closure over few nodes, by left, right or double recursion or by recursion at both ends,
 * over stored or derived edges with filters of every kind, and sometimes another closure over it; joins,
 * negation and aggregates read both. Facts are mostly edges, so that updates change the closures' inputs;
 * some conclusions are stored as well.
 */
import type { Prng } from './prng.ts';
import type { Rule } from '../contract/language.ts';
import { parseRule } from '../language/parse.ts';
import { type Flavour, type RandomCase, randomFact, factIdentity, type Vocabulary } from './generators.ts';
import type { ModelFact } from './naive-model.ts';

/** The steps of closures, from `?x` to `?y`. */
const steps = [
  'edge(?x, ?y)',
  'edge(?x, ?y)',
  'edge(?x, ?y)',
  'road(?x, ?y)',
  'edge(?y, ?x)',
  'link(?x, ?y)',
  'edge(?x, ?y), not mark(?y)',
  'edge(?x, ?y), ?x != ?y',
  'edge(?x, ?y), ?y != b',
  'edge(?x, ?y), ?n = count{?u : road(?y, ?u)}, ?n < 3',
  'mark(?y), ?x = a',
  'edge(?y, ?y), ?x = ?y',
];

/** Rules that conclude the closures' inputs. */
const below = [
  'link(?x, ?y) :- edge(?x, ?y), not road(?y, ?x)',
  'link(?x, ?y) :- road(?x, ?w), road(?w, ?y)',
];

/** Rules that read the closure `tc`. */
const above = [
  'far(?x, ?y) :- mark(?x), mark(?y), not tc(?x, ?y)',
  'far(?x, ?z) :- tc(?x, ?y), tc(?y, ?z), ?x != ?z',
  'far(?x, ?y) :- tc(?x, ?y), not edge(?x, ?y)',
  'far(?x, ?y) :- tc(?y, ?x), not up(?x, ?y)',
  'size(?x, ?n) :- mark(?x), ?n = count{?y : tc(?x, ?y)}',
  'size(?y, ?n) :- edge(?_, ?y), ?n = count{?x : tc(?x, ?y)}',
  'lone(?x) :- edge(?x, ?_), not tc(?x, ?x)',
  'lone(?x) :- tc(?x, ?x), mark(?x)',
  'lone(?x) :- mark(?x), not tc(?_, ?_)',
  'far(?x, ?x) :- mark(?x), not up(?_, ?_)',
];

export function closureCase(prng: Prng, flavour: Flavour): RandomCase {
  const vocabulary = closureVocabulary(prng, flavour);
  const facts = new Map<string, ModelFact>();
  for (let index = prng.below(flavour.facts); index >= 0; index--) {
    const fact = randomFact(prng, vocabulary, flavour);
    facts.set(factIdentity(fact), fact);
  }
  const texts = [...closure(prng, 'tc', prng.pick(steps)), ...below.filter(() => prng.chance(0.4))];
  if (prng.chance(0.4))
    texts.push(...closure(prng, 'up', prng.pick(['tc(?x, ?y)', 'tc(?y, ?x), edge(?x, ?_)'])));
  texts.push(...above.filter(() => prng.chance(0.4)));
  const rules = texts.map((text) => ({
    rule: ruleOf(text),
    scope: scopeOf(prng, vocabulary),
    enabled: true,
  }));
  return { vocabulary, facts: [...facts.values()], rules };
}

function closureVocabulary(prng: Prng, flavour: Flavour): Vocabulary {
  const names = ['edge', 'edge', 'edge', 'edge', 'road', 'link', 'tc', 'up', 'far', 'size'];
  const binary = names.map((predicate) => ({ predicate, arity: 2 }));
  const unary = ['mark', 'mark', 'lone'].map((predicate) => ({ predicate, arity: 1 }));
  const constants = [...'abcdefgh'].slice(0, 3 + prng.below(flavour.constants));
  return { relations: [...binary, ...unary], constants, scopes: flavour.scopes ? ['s', 't'] : [] };
}

function scopeOf(prng: Prng, { scopes }: Vocabulary): string | null {
  return scopes.length > 0 && prng.chance(0.2) ? prng.pick(scopes) : null;
}

/** The rules of a closure with this step. */
function closure(prng: Prng, name: string, step: string): string[] {
  const along = (from: string, to: string): string =>
    step.replace(/\?[xy]/g, (variable) => (variable === '?x' ? from : to));
  // From `?d` to `?c`, with variables of its own in aggregates.
  const behind = prng
    .pick(steps)
    .replace(/\?[xynu]/g, (variable) => ({ '?x': '?d', '?y': '?c', '?n': '?m' })[variable] ?? '?w');
  const recursion = prng.pick([
    `${name}(?a, ?b), ${along('?b', '?c')}`,
    `${along('?a', '?b')}, ${name}(?b, ?c)`,
    `${name}(?a, ?b), ${name}(?b, ?c)`,
    `${name}(?b, ?c), ${name}(?a, ?b)`,
    `${along('?a', '?b')}, ${name}(?b, ?d), ${behind}`,
  ]);
  const rules = [`${name}(?a, ?c) :- ${along('?a', '?c')}`, `${name}(?a, ?c) :- ${recursion}`];
  if (prng.chance(0.3)) rules.push(`${name}(?a, ?c) :- ${prng.pick(['road(?a, ?c)', 'mark(?a), mark(?c)'])}`);
  if (prng.chance(0.15)) rules.splice(0, 1);
  return rules;
}

function ruleOf(text: string): Rule {
  return parseRule(`${text}.`);
}
