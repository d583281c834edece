/**
 * Random knowledge for the tests that compare with the naive model: facts, rules, questions, streams of updates.
 *
 * Everything comes from one seeded generator, so that a seed identifies a case. The rules pass the checks of a client's
 * rules (safety, stratification) and have finite models: arithmetic that could grow without end is bounded by a
 * comparison. The vocabularies are small on purpose: constants and relations meet often, and recursion of every kind,
 * cycles in the data, repeated variables, constants in heads and bodies, and predicates without arguments all occur.
 */
import type { Prng } from './prng.ts';
import type { Atom, AtomLiteral, Literal, Rule } from '../contract/language.ts';
import { ruleProblems } from '../language/check.ts';
import { parseRule } from '../language/parse.ts';
import { negativeCycles, type ScopedRule } from '../language/stratify.ts';
import type { ModelFact, ModelRule, ModelView } from './naive-model.ts';

/** What may occur, and how much. */
export interface Flavour {
  readonly facts: number;
  readonly rules: number;
  readonly relations: number;
  readonly constants: number;
  readonly maxArity: number;
  readonly negation: boolean;
  readonly comparisons: boolean;
  readonly defaultNegation: boolean;
  readonly arithmetic: boolean;
  readonly aggregates: boolean;
  readonly scopes: boolean;
  readonly validity: boolean;
  readonly disabledRules: boolean;
  /** Rules conclude from earlier relations of the vocabulary, and negate those. */
  readonly layered: boolean;
  /** Nearly all updates are of facts: derived tuples live long. */
  readonly steadyRules: boolean;
}

/** Positive rules over unscoped facts; other flavours add features to this. */
export const plainFlavour: Flavour = {
  facts: 24,
  rules: 7,
  relations: 5,
  constants: 5,
  maxArity: 3,
  negation: false,
  comparisons: false,
  defaultNegation: false,
  arithmetic: false,
  aggregates: false,
  scopes: false,
  validity: false,
  disabledRules: false,
  layered: false,
  steadyRules: false,
};

/** The whole language. */
export const richFlavour: Flavour = {
  ...plainFlavour,
  facts: 40,
  rules: 9,
  negation: true,
  comparisons: true,
  defaultNegation: true,
  arithmetic: true,
  aggregates: true,
  scopes: true,
  validity: true,
  disabledRules: true,
};

interface Relation {
  readonly predicate: string;
  readonly arity: number;
}

/** The names in one random case. */
export interface Vocabulary {
  readonly relations: readonly Relation[];
  readonly constants: readonly string[];
  readonly scopes: readonly string[];
}

/** The times used for validity: `time` of a case is one of them. */
export const momentCount = 6;

const awkwardConstants = ['1', '1.0', '2', '10', '-1', 'a, b', '', '007', '¿', 'é', '0.5', 'x y'];
const variables = ['?x', '?y', '?z', '?w'];
const signs = ['<', '<=', '>', '>=', '=', '!='];
const operations = ['+', '-', '*', '/', 'mod'];
const aggregateNames = ['count', 'sum', 'min', 'max', 'avg'] as const;

export function randomVocabulary(prng: Prng, flavour: Flavour): Vocabulary {
  const relations: Relation[] = [];
  for (let index = 0; index < flavour.relations; index++) {
    // Two arities under one name are two relations.
    const predicate = index > 0 && prng.chance(0.2) ? `p${index - 1}` : `p${index}`;
    const arity = Math.min(flavour.maxArity, prng.pick([0, 1, 1, 1, 2, 2, 2, 2, 2, 3]));
    if (!relations.some((each) => each.predicate === predicate && each.arity === arity))
      relations.push({ predicate, arity });
  }
  const constants = Array.from({ length: flavour.constants }, (_, index) => {
    if (flavour.arithmetic && prng.chance(0.5)) return String(prng.below(5));
    return prng.chance(0.3) ? prng.pick(awkwardConstants) : String.fromCharCode(97 + index);
  });
  return { relations, constants: [...new Set(constants)], scopes: flavour.scopes ? ['s', 't'] : [] };
}

function randomScope(prng: Prng, vocabulary: Vocabulary): string | null {
  return vocabulary.scopes.length > 0 && prng.chance(0.6) ? prng.pick(vocabulary.scopes) : null;
}

/** As many as the flavour says, minus duplicates. */
export function randomFacts(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): ModelFact[] {
  const facts = new Map<string, ModelFact>();
  for (let index = flavour.facts; index > 0; index--) {
    const fact = randomFact(prng, vocabulary, flavour);
    facts.set(factIdentity(fact), fact);
  }
  return [...facts.values()];
}

/** The rule of the text, sometimes in a scope. */
export function scopedRule(prng: Prng, text: string, { scopes }: Vocabulary): ModelRule {
  const rule = parseRule(`${text}.`);
  return { rule, scope: scopes.length > 0 && prng.chance(0.2) ? prng.pick(scopes) : null, enabled: true };
}

/** A fact that probably exists already, in the same or another scope. */
export function randomFact(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): ModelFact {
  const relation = prng.pick(vocabulary.relations);
  const validity = randomValidity(prng, flavour);
  return {
    predicate: relation.predicate,
    args: Array.from({ length: relation.arity }, () => prng.pick(vocabulary.constants)),
    truthVal: !(flavour.negation && prng.chance(0.2)),
    scope: randomScope(prng, vocabulary),
    ...validity,
  };
}

/** The same atom, perhaps in another scope, and valid at other times. */
function randomCopy(prng: Prng, vocabulary: Vocabulary, flavour: Flavour, fact: ModelFact): ModelFact {
  return { ...fact, scope: randomScope(prng, vocabulary), ...randomValidity(prng, flavour) };
}

function randomValidity(prng: Prng, flavour: Flavour): Pick<ModelFact, 'validFrom' | 'validUntil'> {
  const from = flavour.validity && prng.chance(0.3) ? prng.below(momentCount) : null;
  const until = flavour.validity && prng.chance(0.3) ? (from ?? 0) + 1 + prng.below(momentCount) : null;
  return { validFrom: from, validUntil: until };
}

function randomTerm(prng: Prng, vocabulary: Vocabulary, names: readonly string[]): string {
  if (prng.chance(0.08)) return prng.pick(vocabulary.constants);
  return prng.chance(0.06) ? '?_' : prng.pick(names);
}

function randomAtom(
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  names: readonly string[],
): AtomLiteral {
  const relation = prng.pick(vocabulary.relations);
  return {
    predicate: relation.predicate,
    args: Array.from({ length: relation.arity }, () => randomTerm(prng, vocabulary, names)),
    negated: flavour.negation && prng.chance(0.2),
    naf: false,
  };
}

function builtin(predicate: string, ...args: string[]): AtomLiteral {
  return { predicate, args, negated: false, naf: false };
}

/** An operand: mostly a variable, else a constant of the case or a small number. */
function randomOperand(prng: Prng, vocabulary: Vocabulary): string {
  if (prng.chance(0.7)) return prng.pick(variables);
  return prng.chance(0.5) ? prng.pick(vocabulary.constants) : String(prng.below(4));
}

/** Arithmetic whose result stays below a bound, so that recursion through it ends. */
function randomArithmetic(prng: Prng, vocabulary: Vocabulary): Literal[] {
  const result = prng.pick(['?r', ...variables]);
  const literal = builtin(
    prng.pick(operations),
    randomOperand(prng, vocabulary),
    randomOperand(prng, vocabulary),
    result,
  );
  return [literal, builtin('<', result, '6'), builtin('>', result, '-3'), builtin('mod', result, '1', '0')];
}

function randomAggregate(prng: Prng, vocabulary: Vocabulary, flavour: Flavour, depth: number): Literal {
  const local = ['?u', '?v', ...variables.slice(0, 2)];
  const body: Literal[] = Array.from({ length: 1 + prng.below(2) }, () =>
    randomAtom(prng, vocabulary, flavour, local),
  );
  if (prng.chance(0.3))
    body.push({ ...randomAtom(prng, vocabulary, flavour, local), naf: flavour.defaultNegation });
  if (flavour.comparisons && prng.chance(0.3))
    body.push(builtin(prng.pick(signs), '?u', randomOperand(prng, vocabulary)));
  if (depth > 0 && prng.chance(0.15)) body.push(randomAggregate(prng, vocabulary, flavour, depth - 1));
  return {
    aggregate: prng.pick(aggregateNames),
    result: prng.pick(depth === 1 ? ['?n', '?x'] : ['?m', '?v']),
    over: prng.chance(0.3) ? ['?u', '?v'] : ['?u'],
    body,
  };
}

/** The extra literals of a body: built-ins, negations, aggregates according to the flavour. */
function randomExtras(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): Literal[] {
  const extras: Literal[] = [];
  if (flavour.comparisons && prng.chance(0.25))
    extras.push(builtin(prng.pick(signs), randomOperand(prng, vocabulary), randomOperand(prng, vocabulary)));
  if (flavour.defaultNegation && prng.chance(0.25))
    extras.push({ ...randomAtom(prng, vocabulary, flavour, variables), naf: true });
  if (flavour.arithmetic && prng.chance(0.2)) extras.push(...randomArithmetic(prng, vocabulary));
  if (flavour.aggregates && prng.chance(0.2)) extras.push(randomAggregate(prng, vocabulary, flavour, 1));
  return extras;
}

function shuffle<T>(prng: Prng, items: T[]): T[] {
  for (let index = items.length - 1; index > 0; index--) {
    const other = prng.below(index + 1);
    [items[index], items[other]] = [items[other] as T, items[index] as T];
  }
  return items;
}

/** The classic shapes of recursion over binary relations. */
function randomRecursion(prng: Prng, vocabulary: Vocabulary): Rule | null {
  const binary = vocabulary.relations.filter((relation) => relation.arity === 2);
  if (binary.length === 0) return null;
  const [t, e] = [prng.pick(binary).predicate, prng.pick(binary).predicate];
  const atom = (predicate: string, ...args: string[]): AtomLiteral => ({
    predicate,
    args,
    negated: false,
    naf: false,
  });
  const bodies: AtomLiteral[][] = [
    [atom(t, '?x', '?y'), atom(e, '?y', '?z')],
    [atom(e, '?x', '?y'), atom(t, '?y', '?z')],
    [atom(t, '?x', '?y'), atom(t, '?y', '?z')],
    [atom(e, '?w', '?x'), atom(t, '?w', '?y'), atom(e, '?y', '?z')],
    [atom(e, '?z', '?x')],
    [atom(e, '?x', '?z')],
  ];
  return { head: atomOf(atom(t, '?x', '?z')), body: prng.pick(bodies) };
}

function atomOf({ predicate, args, negated }: Atom): Atom {
  return { predicate, args, negated };
}

/**
 * A rule whose head comes after everything it reads, except itself: many together make a tall tower of recursions,
 * negations over them and aggregates over those.
 */
function randomLayeredRule(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): Rule {
  const { relations } = vocabulary;
  const top = 1 + prng.below(relations.length - 1);
  const own: Vocabulary = { ...vocabulary, relations: relations.slice(top, top + 1) };
  const lower: Vocabulary = { ...vocabulary, relations: relations.slice(0, top) };
  for (;;) {
    const body: Literal[] = [randomAtom(prng, lower, flavour, variables)];
    for (const from of [own, lower])
      if (prng.chance(0.4)) body.push(randomAtom(prng, from, flavour, variables));
    if (flavour.defaultNegation && prng.chance(0.5))
      body.push({ ...randomAtom(prng, lower, flavour, variables), naf: true });
    if (flavour.aggregates && prng.chance(0.4)) body.push(randomAggregate(prng, lower, flavour, 1));
    if (prng.chance(0.3)) body.push(...randomExtras(prng, lower, flavour));
    const head = atomOf(randomAtom(prng, own, flavour, [...variables, '?n']));
    if (ruleProblems({ head, body }).length === 0) return { head, body: shuffle(prng, body) };
  }
}

/** A safe rule; the caller must check whether it conflicts with the others. */
export function randomRule(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): Rule {
  const recursion = prng.chance(0.35) ? randomRecursion(prng, vocabulary) : null;
  if (recursion !== null) return recursion;
  if (flavour.layered && vocabulary.relations.length > 1) return randomLayeredRule(prng, vocabulary, flavour);
  for (;;) {
    const atoms: Literal[] = Array.from({ length: 1 + prng.below(3) }, () =>
      randomAtom(prng, vocabulary, flavour, variables),
    );
    const body = shuffle(prng, [...atoms, ...randomExtras(prng, vocabulary, flavour)]);
    const head = atomOf(randomAtom(prng, vocabulary, flavour, [...variables, '?n', '?r']));
    if (ruleProblems({ head, body }).length === 0) return { head, body };
  }
}

/** A rule that can be added to the others, or null if a few tries found none. */
export function randomRuleBeside(
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  others: readonly ModelRule[],
): ModelRule | null {
  for (let attempt = 0; attempt < 20; attempt++) {
    const rule: ModelRule = {
      rule: randomRule(prng, vocabulary, flavour),
      scope: prng.chance(0.5) ? null : randomScope(prng, vocabulary),
      enabled: !(flavour.disabledRules && prng.chance(0.1)),
    };
    const together: ScopedRule[] = [...others, rule].map((each, index) => ({ ...each, id: String(index) }));
    if (negativeCycles(together).length === 0) return rule;
  }
  return null;
}

export interface RandomCase {
  readonly vocabulary: Vocabulary;
  readonly facts: readonly ModelFact[];
  readonly rules: readonly ModelRule[];
}

/** Facts (without duplicates, but with scopes often an atom in several) and rules without conflicts. */
export function randomCase(prng: Prng, flavour: Flavour): RandomCase {
  const vocabulary = randomVocabulary(prng, flavour);
  const told = randomFacts(prng, vocabulary, flavour);
  const facts = new Map(told.map((fact) => [factIdentity(fact), fact]));
  if (flavour.scopes)
    for (const each of told) {
      if (!prng.chance(0.5)) continue;
      const fact = randomCopy(prng, vocabulary, flavour, each);
      facts.set(factIdentity(fact), fact);
    }
  const rules: ModelRule[] = [];
  for (let index = 0; index < flavour.rules; index++) {
    const rule = randomRuleBeside(prng, vocabulary, flavour, rules);
    if (rule !== null) rules.push(rule);
  }
  return { vocabulary, facts: [...facts.values()], rules };
}

/** Equal for two facts exactly if they are the same fact: scope, predicate, arguments and truth value. */
export function factIdentity(fact: ModelFact): string {
  return JSON.stringify([fact.scope, fact.predicate, fact.truthVal, fact.args]);
}

/** A question: constants and variables in any mix, a variable perhaps twice. */
export function randomQuestion(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): Atom {
  const relation = prng.pick(vocabulary.relations);
  const bound = prng.below(3) / 2;
  const args = Array.from({ length: relation.arity }, () =>
    prng.chance(bound * 0.8)
      ? prng.pick([...vocabulary.constants, 'unheard of'])
      : prng.pick(['?x', '?y', '?z', '?_']),
  );
  return { predicate: relation.predicate, args, negated: flavour.negation && prng.chance(0.2) };
}

/** A question that is a safe body. */
export function randomBody(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): Literal[] {
  return randomRule(prng, vocabulary, flavour).body;
}

export function randomView(prng: Prng, vocabulary: Vocabulary): ModelView {
  if (vocabulary.scopes.length === 0 || prng.chance(0.4)) return { kind: 'all' };
  return prng.chance(0.3) ? { kind: 'unscoped' } : { kind: 'scope', scope: prng.pick(vocabulary.scopes) };
}

/** One change. A fact asserted again is updated; rules are identified by their position among those ever added. */
export type RandomUpdate =
  | { readonly kind: 'assert'; readonly fact: ModelFact }
  | { readonly kind: 'retract'; readonly fact: ModelFact }
  | { readonly kind: 'addRule'; readonly rule: ModelRule }
  | { readonly kind: 'removeRule'; readonly index: number }
  | { readonly kind: 'enableRule'; readonly index: number; readonly enabled: boolean }
  | { readonly kind: 'time'; readonly time: number };

/** The state after a stream of updates. Removed rules leave a gap, so that positions stay. */
export interface CurrentCase {
  readonly facts: Map<string, ModelFact>;
  readonly rules: (ModelRule | null)[];
  time: number;
}

export function startCase({ facts, rules }: RandomCase): CurrentCase {
  return { facts: new Map(facts.map((fact) => [factIdentity(fact), fact])), rules: [...rules], time: 0 };
}

/** The existing rules. */
export function presentRules(current: CurrentCase): ModelRule[] {
  return current.rules.filter((rule) => rule !== null);
}

/** A reasonable change of the current case; it prefers existing facts and rules. */
export function randomUpdate(
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  current: CurrentCase,
): RandomUpdate {
  const choice = prng.below(100);
  const stored = [...current.facts.values()];
  const places = [...current.rules.keys()].filter((index) => current.rules[index] !== null);
  if (choice < 40 && stored.length > 0) return { kind: 'retract', fact: prng.pick(stored) };
  if (choice < 46 && flavour.validity) return { kind: 'time', time: current.time + prng.below(2) };
  if (choice >= 46 && choice < 60 && flavour.steadyRules && prng.chance(0.9))
    return flavour.validity && prng.chance(0.5)
      ? { kind: 'time', time: current.time + prng.below(3) }
      : { kind: 'assert', fact: randomAssertion(prng, vocabulary, flavour, stored) };
  if (choice < 52) {
    const rule = randomRuleBeside(prng, vocabulary, flavour, presentRules(current));
    if (rule !== null) return { kind: 'addRule', rule };
  }
  if (choice < 56 && places.length > 0) return { kind: 'removeRule', index: prng.pick(places) };
  if (choice < 60 && places.length > 0 && flavour.disabledRules) {
    const index = prng.pick(places);
    return { kind: 'enableRule', index, enabled: !(current.rules[index] as ModelRule).enabled };
  }
  return { kind: 'assert', fact: randomAssertion(prng, vocabulary, flavour, stored) };
}

/** With scopes often another copy of a stored atom. */
function randomAssertion(
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  stored: readonly ModelFact[],
): ModelFact {
  return flavour.scopes && stored.length > 0 && prng.chance(0.4)
    ? randomCopy(prng, vocabulary, flavour, prng.pick(stored))
    : randomFact(prng, vocabulary, flavour);
}

/** Applies a change. */
export function applyUpdate(current: CurrentCase, update: RandomUpdate): void {
  if (update.kind === 'assert') current.facts.set(factIdentity(update.fact), update.fact);
  else if (update.kind === 'retract') current.facts.delete(factIdentity(update.fact));
  else if (update.kind === 'addRule') current.rules.push(update.rule);
  else if (update.kind === 'removeRule') current.rules[update.index] = null;
  else if (update.kind === 'time') current.time = update.time;
  else
    current.rules[update.index] = {
      ...(current.rules[update.index] as ModelRule),
      enabled: update.enabled,
    };
}
