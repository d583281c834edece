/**
 * The model of a set of facts and rules, computed in the simplest way: the oracle that tests compare with.
 *
 * It covers the whole language: explicit and default negation, comparisons, arithmetic, aggregates, scopes and
 * validity; and from the model the minimal heights and the canonical proofs. No demand, no index, no increment: every
 * rule is tried on every combination of atoms until nothing new is found, stratum by stratum. Slow on purpose, and
 * meant for dozens of facts. It shares with the engine the meaning of the language (`language/order`,
 * `language/arithmetic`, `language/numbers`, `language/stratify`) and nothing else.
 */
import { compareTexts } from '../base/text-order.ts';
import type { AggregateLiteral, Atom, AtomLiteral, Literal, Rule } from '../contract/language.ts';
import { aggregate, calculate } from '../language/arithmetic.ts';
import { equalConstants, holdsComparison } from '../language/numbers.ts';
import { type BodyPlan, type BodyStep, planBody, planRule } from '../language/order.ts';
import { renderAtom, renderLiteral } from '../language/print.ts';
import { strataOf } from '../language/stratify.ts';
import {
  isAggregate,
  isArithmetic,
  isComparison,
  isNamedVariable,
  relationKey,
  relationOf,
  wildcard,
} from '../language/terms.ts';

export interface ModelFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
}

/** A rule in the order of creation. `id` names it in proofs; the default is its position in the list. */
export interface ModelRule {
  readonly rule: Rule;
  readonly scope: string | null;
  readonly enabled: boolean;
  readonly id?: string;
}

export interface Knowledge {
  readonly facts: readonly ModelFact[];
  readonly rules: readonly ModelRule[];
  /** Epoch milliseconds: which facts are visible. */
  readonly time: number;
  /** Trials of a literal on an atom before a model is given up as infinite or too large (default 1,000,000). */
  readonly maxTrials?: number;
}

/** The view of a request: everything (scope null), one scope, or the unscoped facts. */
export type ModelView = { kind: 'all' } | { kind: 'scope'; scope: string } | { kind: 'unscoped' };

/** A step of a proof with its premises; the same step may be shared. */
export interface ProofNode {
  readonly kind: 'fact' | 'rule' | 'absence' | 'builtin' | 'aggregate';
  readonly atom: string;
  /** For a rule step: its id and scope. */
  readonly ruleId: string | null;
  readonly scope: string | null;
  readonly premises: readonly ProofNode[];
}

/** One instance of a body: each literal instantiated, in the order of the body. */
export type Premise =
  | { readonly kind: 'atom'; readonly text: string; readonly atom: Atom }
  | { readonly kind: 'builtin' | 'absence'; readonly text: string }
  | { readonly kind: 'aggregate'; readonly text: string; readonly groups: readonly (readonly Premise[][])[] };

type Bindings = ReadonlyMap<string, string>;

interface Solution {
  readonly bindings: Bindings;
  readonly premises: Premise[];
}

/** An instance of a rule. */
export interface Instance {
  readonly head: Atom;
  readonly order: number;
  readonly ruleId: string;
  readonly scope: string | null;
  readonly premises: readonly Premise[];
  /** The model in which the premises are true; null: that of the instance. */
  readonly within: NaiveModel | null;
}

export interface NaiveModel {
  holds(atom: Atom): boolean;
  /** The atoms that match a pattern, rendered, by their arguments by code point. */
  match(predicate: string, args: readonly string[], negated: boolean): string[];
  /** The distinct instances of a question that is a body, unordered: its literals rendered, its variables named. */
  answers(body: readonly Literal[]): { rendered: string; bindings: Record<string, string> }[];
  /** Every true atom, rendered, with the least height of its proofs. */
  readonly heights: ReadonlyMap<string, number>;
  /** The canonical proof of a true atom. */
  proofOf(atom: Atom): ProofNode;
  /** True if a stored fact of the view is the atom. */
  isStored(atom: Atom): boolean;
  /** Every instance of a rule that concludes the atom: the lowest first, then by rule, then by premises as rendered. */
  waysTo(atom: Atom): Instance[];
  heightOf(premises: readonly Premise[]): number;
}

const defaultMaxTrials = 1_000_000;

/** Thrown when a model is given up. */
export class ModelTooLarge extends Error {
  constructor(trials: number) {
    super(`the model takes more than ${trials} trials`);
  }
}

/** The atoms of one view by relation, each tuple under its rendered text. */
class AtomSet {
  readonly relations = new Map<string, Map<string, readonly string[]>>();
  readonly #maxTrials: number;
  #trials = 0;

  constructor(maxTrials: number) {
    this.#maxTrials = maxTrials;
  }

  /** Counts work. */
  tried(trials: number): void {
    this.#trials += trials;
    if (this.#trials > this.#maxTrials) throw new ModelTooLarge(this.#maxTrials);
  }

  add(atom: Atom): boolean {
    const relation = relationOf(atom);
    const tuples = this.relations.get(relation) ?? new Map<string, readonly string[]>();
    this.relations.set(relation, tuples);
    const text = renderAtom(atom);
    if (tuples.has(text)) return false;
    tuples.set(text, atom.args);
    return true;
  }

  has(atom: Atom): boolean {
    return this.relations.get(relationOf(atom))?.has(renderAtom(atom)) ?? false;
  }

  tuples(atom: Atom): Iterable<readonly string[]> {
    return this.relations.get(relationOf(atom))?.values() ?? [];
  }
}

function isVisible(fact: ModelFact, time: number, view: ModelView): boolean {
  if (fact.validFrom !== null && time < fact.validFrom) return false;
  if (fact.validUntil !== null && time >= fact.validUntil) return false;
  if (view.kind === 'all') return true;
  return fact.scope === (view.kind === 'scope' ? view.scope : null);
}

function valueOf(term: string, bindings: Bindings): string {
  return bindings.get(term) ?? term;
}

/**
 * A literal with its values. A variable in braces that has a value is a shared one, since local ones are known only
 * inside; before the colon are variables, whatever their values.
 */
function substitute(literal: Literal, bindings: Bindings): Literal {
  if (!isAggregate(literal)) return { ...literal, args: literal.args.map((term) => valueOf(term, bindings)) };
  const body = literal.body.map((inner) => substitute(inner, bindings));
  return { ...literal, result: valueOf(literal.result, bindings), body };
}

/** The bindings after matching a pattern with a tuple, or null if they do not match. */
function unify(pattern: readonly string[], tuple: readonly string[], bindings: Bindings): Bindings | null {
  const extended = new Map(bindings);
  for (const [index, term] of pattern.entries()) {
    const constant = tuple[index] as string;
    if (term === wildcard) continue;
    const value = isNamedVariable(term) ? extended.get(term) : term;
    if (value === undefined) extended.set(term, constant);
    else if (value !== constant) return null;
  }
  return extended;
}

/** Every solution of a body, its steps in the order of the plan. */
function* solutions(
  body: readonly Literal[],
  plan: BodyPlan,
  atoms: AtomSet,
  given: Bindings,
): Generator<Solution> {
  if (plan.stuck.length > 0) throw new Error('an unsafe body cannot be evaluated');
  function* from(at: number, bindings: Bindings, premises: readonly Premise[]): Generator<Solution> {
    const step = plan.steps[at];
    if (step === undefined) {
      yield { bindings, premises: [...premises] };
      return;
    }
    for (const next of extensions(body[step.index] as Literal, step, atoms, bindings)) {
      const extended = [...premises];
      extended[step.index] = next.premise;
      yield* from(at + 1, next.bindings, extended);
    }
  }
  yield* from(0, given, []);
}

interface Extension {
  readonly bindings: Bindings;
  readonly premise: Premise;
}

function extensions(literal: Literal, step: BodyStep, atoms: AtomSet, bindings: Bindings): Extension[] {
  if (isAggregate(literal)) return aggregateExtensions(literal, step, atoms, bindings);
  if (isComparison(literal)) return comparisonExtensions(literal, step, bindings);
  if (isArithmetic(literal)) {
    const [left = '', right = '', result = ''] = literal.args.map((term) => valueOf(term, bindings));
    return resultExtensions(literal, step, bindings, result, calculate(literal.predicate, left, right));
  }
  const found: Extension[] = [];
  const tuples = [...atoms.tuples(literal)];
  atoms.tried(1 + tuples.length);
  for (const tuple of tuples) {
    const extended = unify(literal.args, tuple, bindings);
    if (extended === null) continue;
    const atom = { predicate: literal.predicate, args: [...tuple], negated: literal.negated };
    found.push({ bindings: extended, premise: { kind: 'atom', text: renderAtom(atom), atom } });
  }
  if (!literal.naf) return found;
  const premise: Premise = { kind: 'absence', text: renderLiteral(substitute(literal, bindings)) };
  return found.length === 0 ? [{ bindings, premise }] : [];
}

function comparisonExtensions(literal: AtomLiteral, step: BodyStep, bindings: Bindings): Extension[] {
  const [left = '', right = ''] = literal.args;
  const extended = new Map(bindings);
  if (step.binds !== null) extended.set(step.binds, valueOf(step.binds === left ? right : left, bindings));
  else if (!holdsComparison(literal.predicate, valueOf(left, bindings), valueOf(right, bindings))) return [];
  const text = renderLiteral(substitute(literal, extended));
  return [{ bindings: extended, premise: { kind: 'builtin', text } }];
}

/** A literal with a result: it binds its variable, or compares as `=` does. */
function resultExtensions(
  literal: Literal,
  step: BodyStep,
  bindings: Bindings,
  expected: string,
  result: string | null,
  groups?: Premise[][][],
): Extension[] {
  if (result === null) return [];
  const extended = new Map(bindings);
  if (step.binds !== null) extended.set(step.binds, result);
  else if (!equalConstants(expected, result)) return [];
  const text = renderLiteral(substitute(literal, extended));
  const premise: Premise =
    groups === undefined ? { kind: 'builtin', text } : { kind: 'aggregate', text, groups };
  return [{ bindings: extended, premise }];
}

function aggregateExtensions(
  literal: AggregateLiteral,
  step: BodyStep,
  atoms: AtomSet,
  bindings: Bindings,
): Extension[] {
  const plan = step.inner as BodyPlan;
  const shared = new Map(step.shared.map((variable) => [variable, valueOf(variable, bindings)]));
  const groups = new Map<string, { tuple: string[]; premises: Premise[][] }>();
  for (const solution of solutions(literal.body, plan, atoms, shared)) {
    const tuple = literal.over.map((variable) => valueOf(variable, solution.bindings));
    const group = groups.get(JSON.stringify(tuple)) ?? { tuple, premises: [] };
    groups.set(JSON.stringify(tuple), group);
    group.premises.push(solution.premises);
  }
  const ordered = [...groups.values()].sort((left, right) => compareTexts(left.tuple, right.tuple));
  const result = aggregate(
    literal.aggregate,
    ordered.map((group) => group.tuple[0] as string),
  );
  return resultExtensions(
    literal,
    step,
    bindings,
    valueOf(literal.result, bindings),
    result,
    ordered.map((group) => group.premises),
  );
}

function instantiate(head: Atom, bindings: Bindings): Atom {
  return {
    predicate: head.predicate,
    args: head.args.map((term) => valueOf(term, bindings)),
    negated: head.negated,
  };
}

interface OrderedRule extends ModelRule {
  readonly order: number;
}

/** All derivable atoms, stratum by stratum: within one, every rule until nothing new is found. */
function close(atoms: AtomSet, rules: readonly OrderedRule[]): void {
  const { stratumOf } = strataOf(rules.map((each) => each.rule));
  const strata = [...new Set(stratumOf.values())].sort((left, right) => left - right);
  for (const stratum of strata) {
    const here = rules.filter(({ rule }) => stratumOf.get(relationOf(rule.head)) === stratum);
    for (let grew = true; grew; ) {
      grew = false;
      for (const { rule } of here) {
        const found = [...solutions(rule.body, planRule(rule), atoms, new Map())];
        for (const { bindings } of found) if (atoms.add(instantiate(rule.head, bindings))) grew = true;
      }
    }
  }
}

function instancesOf(atoms: AtomSet, each: OrderedRule): Instance[] {
  const found: Instance[] = [];
  for (const { bindings, premises } of solutions(each.rule.body, planRule(each.rule), atoms, new Map()))
    found.push({
      head: instantiate(each.rule.head, bindings),
      order: each.order,
      ruleId: each.id ?? String(each.order),
      scope: each.scope,
      premises,
      within: null,
    });
  return found;
}

/** The conclusions of the rules of every scope in the view of that scope. */
function scopedConclusions(knowledge: Knowledge, rules: readonly OrderedRule[]): Instance[] {
  const scopes = new Set(rules.flatMap(({ scope }) => (scope === null ? [] : [scope])));
  return [...scopes].flatMap((scope) => {
    const { atoms, model } = build(knowledge, { kind: 'scope', scope });
    const own = rules.filter((each) => each.scope === scope);
    return own
      .flatMap((each) => instancesOf(atoms, each))
      .map((instance) => ({ ...instance, within: model }));
  });
}

/** The model of a view at the given time; throws ModelTooLarge. Rules must be safe and stratified. */
export function modelOf(knowledge: Knowledge, view: ModelView): NaiveModel {
  return build(knowledge, view).model;
}

function build(knowledge: Knowledge, view: ModelView): { atoms: AtomSet; model: NaiveModel } {
  const enabled = knowledge.rules.map((rule, order) => ({ ...rule, order })).filter((each) => each.enabled);
  const scope = view.kind === 'scope' ? view.scope : null;
  const rules = enabled.filter((each) => each.scope === null || each.scope === scope);
  const atoms = new AtomSet(knowledge.maxTrials ?? defaultMaxTrials);
  const stored = new Map<string, string | null>();
  for (const fact of knowledge.facts) {
    if (!isVisible(fact, knowledge.time, view)) continue;
    const atom = { predicate: fact.predicate, args: [...fact.args], negated: !fact.truthVal };
    atoms.add(atom);
    if (fact.scope === null || !stored.has(renderAtom(atom))) stored.set(renderAtom(atom), fact.scope);
  }
  const drawn = view.kind === 'all' ? scopedConclusions(knowledge, enabled) : [];
  for (const { head } of drawn) atoms.add(head);
  close(atoms, rules);
  const instances = [...drawn, ...rules.flatMap((each) => instancesOf(atoms, each))];
  return { atoms, model: modelFrom(atoms, stored, instances) };
}

function heightOfPremise(premise: Premise, heights: ReadonlyMap<string, number>): number {
  if (premise.kind === 'atom') return heights.get(premise.text) ?? Infinity;
  if (premise.kind !== 'aggregate') return 0;
  const groups = premise.groups.map((group) =>
    Math.min(...group.map((each) => heightOfPremises(each, heights))),
  );
  return Math.max(0, ...groups);
}

function heightOfPremises(premises: readonly Premise[], heights: ReadonlyMap<string, number>): number {
  return Math.max(0, ...premises.map((premise) => heightOfPremise(premise, heights)));
}

/** The least heights: stored facts have 0, and instances lower the others until nothing changes. */
function leastHeights(stored: Iterable<string>, instances: readonly Instance[]): Map<string, number> {
  const heights = new Map<string, number>();
  for (const text of stored) heights.set(text, 0);
  for (let fell = true; fell; ) {
    fell = false;
    for (const { head, premises, within } of instances) {
      const text = renderAtom(head);
      const height = 1 + heightOfPremises(premises, within?.heights ?? heights);
      if (height >= (heights.get(text) ?? Infinity)) continue;
      heights.set(text, height);
      fell = true;
    }
  }
  return heights;
}

function comparePremises(left: readonly Premise[], right: readonly Premise[]): number {
  return compareTexts(
    left.map((each) => each.text),
    right.map((each) => each.text),
  );
}

function modelFrom(
  atoms: AtomSet,
  stored: ReadonlyMap<string, string | null>,
  instances: readonly Instance[],
): NaiveModel {
  const heights = leastHeights(stored.keys(), instances);
  const byHead = new Map<string, Instance[]>();
  for (const instance of instances) {
    const text = renderAtom(instance.head);
    const list = byHead.get(text) ?? [];
    byHead.set(text, list);
    list.push(instance);
  }
  const proofs = new Map<string, ProofNode>();

  function proofOf(atom: Atom): ProofNode {
    const text = renderAtom(atom);
    const known = proofs.get(text);
    if (known !== undefined) return known;
    const proof = stored.has(text)
      ? { kind: 'fact' as const, atom: text, ruleId: null, scope: stored.get(text) ?? null, premises: [] }
      : ruleProof(text);
    proofs.set(text, proof);
    return proof;
  }

  function ruleProof(text: string): ProofNode {
    const lowest = (byHead.get(text) ?? []).filter(
      ({ premises, within }) =>
        1 + heightOfPremises(premises, within?.heights ?? heights) === heights.get(text),
    );
    const [best] = lowest.sort(
      (left, right) => left.order - right.order || comparePremises(left.premises, right.premises),
    );
    if (best === undefined) throw new Error(`${text} is not true`);
    const premises = best.premises.map((premise) => premiseProof(premise, best.within ?? model));
    return { kind: 'rule', atom: text, ruleId: best.ruleId, scope: best.scope, premises };
  }

  function waysTo(atom: Atom): Instance[] {
    const heightOf = ({ premises, within }: Instance): number =>
      heightOfPremises(premises, within?.heights ?? heights);
    return [...(byHead.get(renderAtom(atom)) ?? [])].sort(
      (left, right) =>
        heightOf(left) - heightOf(right) ||
        left.order - right.order ||
        comparePremises(left.premises, right.premises),
    );
  }

  const model: NaiveModel = {
    heights,
    proofOf,
    waysTo,
    isStored: (atom) => stored.has(renderAtom(atom)),
    heightOf: (premises) => heightOfPremises(premises, heights),
    holds: (atom) => atoms.has(atom),
    match: (predicate, args, negated) => matching(atoms, predicate, args, negated),
    answers: (body) => answersOf(atoms, body),
  };
  return model;
}

function premiseProof(premise: Premise, model: NaiveModel): ProofNode {
  if (premise.kind === 'atom') return model.proofOf(premise.atom);
  const plain = { atom: premise.text, ruleId: null, scope: null };
  if (premise.kind !== 'aggregate') return { kind: premise.kind, ...plain, premises: [] };
  // For every distinct tuple its lowest derivation, then the first as rendered; each step once.
  const steps = new Map<string, ProofNode>();
  for (const group of premise.groups) {
    const [best = []] = [...group].sort(
      (left, right) =>
        heightOfPremises(left, model.heights) - heightOfPremises(right, model.heights) ||
        comparePremises(left, right),
    );
    for (const each of best) if (!steps.has(each.text)) steps.set(each.text, premiseProof(each, model));
  }
  return { kind: 'aggregate', ...plain, premises: [...steps.values()] };
}

function matching(atoms: AtomSet, predicate: string, args: readonly string[], negated: boolean): string[] {
  const tuples = [...(atoms.relations.get(relationKey(predicate, args.length, negated))?.values() ?? [])];
  return tuples
    .filter((tuple) => unify(args, tuple, new Map()) !== null)
    .sort(compareTexts)
    .map((tuple) => renderAtom({ predicate, args: [...tuple], negated }));
}

function answersOf(
  atoms: AtomSet,
  body: readonly Literal[],
): { rendered: string; bindings: Record<string, string> }[] {
  const found = new Map<string, Record<string, string>>();
  for (const { bindings, premises } of solutions(
    body,
    planBody(body, new Set(), new Set()),
    atoms,
    new Map(),
  )) {
    const named = [...bindings].map(([variable, value]) => [variable.slice(1), value] as const);
    found.set(premises.map((premise) => premise.text).join(', '), Object.fromEntries(named));
  }
  return [...found].map(([rendered, bindings]) => ({ rendered, bindings }));
}
