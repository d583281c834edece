import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { compareText, compareTexts } from '../base/text-order.ts';
import { explainInputSchema, type WhyNot } from '../contract/explanation.ts';
import type { AggregateLiteral, Atom, AtomLiteral, Literal, Rule } from '../contract/language.ts';
import { calculate } from '../language/arithmetic.ts';
import { equalConstants, holdsComparison } from '../language/numbers.ts';
import { planRule } from '../language/order.ts';
import { parseAtom } from '../language/parse.ts';
import { renderAtom, renderLiteral } from '../language/print.ts';
import {
  isAggregate,
  isArithmetic,
  isComparison,
  isNamedVariable,
  isPositiveAtom,
  relationOf,
  variablesAtLevel,
} from '../language/terms.ts';
import {
  type CurrentCase,
  factIdentity,
  type Flavour,
  plainFlavour,
  randomCase,
  randomUpdate,
  type RandomUpdate,
  randomView,
  richFlavour,
  type Vocabulary,
} from '../testing/generators.ts';
import {
  type Knowledge,
  modelOf,
  type ModelFact,
  type ModelRule,
  type ModelView,
  type NaiveModel,
} from '../testing/naive-model.ts';
import { fuzzCaller, overSeeds, Twin, viewFields } from '../testing/twin.ts';

/**
 * /explain against the naive model: how far rules get by trying every choice of atoms, and what blocks by searching all
 * facts and rules.
 */

const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true },
  groups: { ...plainFlavour, aggregates: true, comparisons: true },
  scopes: { ...plainFlavour, negation: true, scopes: true, disabledRules: true },
  time: { ...plainFlavour, scopes: true, validity: true, disabledRules: true, facts: 40 },
  rich: richFlavour,
};

const mostChoices = 8_000;

type Values = ReadonlyMap<string, string>;

interface Reached {
  readonly satisfied: readonly number[];
  readonly atoms: number;
  readonly values: Values;
}

/** The bindings that the atom's constants give the head; null if it does not match. */
function unified(head: Atom, goal: Atom): Map<string, string> | null {
  const values = new Map<string, string>();
  for (const [at, term] of head.args.entries()) {
    const constant = goal.args[at] as string;
    if (!isNamedVariable(term)) {
      if (term !== constant) return null;
    } else if ((values.get(term) ?? constant) !== constant) return null;
    else values.set(term, constant);
  }
  return values;
}

function replaced<Kind extends Literal>(literal: Kind, values: Values): Kind {
  const valueOf = (term: string): string => values.get(term) ?? term;
  if (!isAggregate(literal)) return { ...literal, args: literal.args.map(valueOf) };
  const body = literal.body.map((inner) => replaced(inner, values));
  return { ...literal, result: valueOf(literal.result), body };
}

/** The rule with a name for every `?_` that is matched, so that it is bound too. */
function named(rule: Rule): Rule {
  let made = 0;
  const body = rule.body.map((literal) =>
    isPositiveAtom(literal)
      ? { ...literal, args: literal.args.map((term) => (term === '?_' ? `?_ ${made++}` : term)) }
      : literal,
  );
  return { head: rule.head, body };
}

class Oracle {
  readonly #model: NaiveModel;
  readonly #rule: Rule;
  readonly #original: Rule;
  readonly #variables: string[];
  readonly #inAtoms: Set<string>;
  #choices = 0;

  constructor(model: NaiveModel, rule: Rule) {
    this.#model = model;
    this.#original = rule;
    this.#rule = named(rule);
    const { head, body } = this.#rule;
    this.#variables = [...new Set([...head.args.filter(isNamedVariable), ...variablesAtLevel(body)])];
    this.#inAtoms = new Set(body.filter(isPositiveAtom).flatMap(({ args }) => args.filter(isNamedVariable)));
  }

  /** The best of all choices; null if there are too many. */
  furthest(given: Values) {
    const best = this.#best(given);
    if (best === null) return null;
    const bindings: Record<string, string> = {};
    for (const variable of this.#variables)
      if (!variable.startsWith('?_ ') && best.values.has(variable))
        bindings[variable.slice(1)] = best.values.get(variable) as string;
    const { body } = this.#rule;
    const missing = [...body.keys()].filter((at) => !best.satisfied.includes(at));
    return {
      bindings,
      satisfied: best.satisfied.map((at) => renderLiteral(replaced(body[at] as Literal, best.values))),
      missing: missing.map((at) => renderLiteral(replaced(this.#original.body[at] as Literal, best.values))),
      lacking: missing.map((at) => replaced(this.#original.body[at] as Literal, best.values)),
    };
  }

  #best(given: Values): Reached | null {
    const { body } = this.#rule;
    const atoms = [...body.keys()].filter((at) => isPositiveAtom(body[at] as Literal));
    let best: Reached | null = null;
    const choose = (at: number, values: Values, chosen: readonly number[]): boolean => {
      if (++this.#choices > mostChoices) return false;
      const place = atoms[at];
      if (place === undefined) {
        const reached = this.#closed(chosen, values);
        if (best === null || this.#compare(reached, best) < 0) best = reached;
        return true;
      }
      const pattern = replaced(body[place] as AtomLiteral, values);
      for (const text of this.#model.match(pattern.predicate, pattern.args, pattern.negated)) {
        const extended = new Map(values);
        for (const [position, constant] of parseAtom(text).args.entries()) {
          const term = pattern.args[position] as string;
          if (isNamedVariable(term)) extended.set(term, constant);
        }
        if (!choose(at + 1, extended, [...chosen, place])) return false;
      }
      return choose(at + 1, values, chosen);
    };
    return choose(0, given, []) ? best : null;
  }

  /** The chosen atoms, and the true computed literals. */
  #closed(chosen: readonly number[], start: Values): Reached {
    const { body } = this.#rule;
    const values = new Map(start);
    const satisfied = new Set(chosen);
    const open = new Set([...body.keys()].filter((at) => !isPositiveAtom(body[at] as Literal)));
    const steps = new Map(planRule(this.#original).steps.map((step) => [step.index, step]));
    const has = (term: string): boolean => !isNamedVariable(term) || values.has(term);
    const valueOf = (term: string): string => values.get(term) ?? term;
    for (;;) {
      let isDone = true;
      for (const at of open) {
        const literal = body[at] as Literal;
        const { binds = null, shared = [] } = steps.get(at) ?? {};
        const terms = isAggregate(literal) ? [...shared, literal.result] : literal.args;
        if (!terms.every((term) => term === binds || has(term))) continue;
        open.delete(at);
        isDone = false;
        if (this.#holds(literal, binds, shared, values)) satisfied.add(at);
      }
      if (!isDone) continue;
      const given = [...open]
        .map((at) => this.#computed(body[at] as Literal, steps.get(at)?.shared ?? [], has, valueOf))
        .find((each) => each !== null);
      if (given === undefined || given === null) break;
      values.set(given[0], given[1]);
    }
    const places = [...satisfied].sort((a, b) => a - b);
    return { satisfied: places, atoms: chosen.length, values };
  }

  #holds(
    literal: Literal,
    binds: string | null,
    shared: readonly string[],
    values: Map<string, string>,
  ): boolean {
    const valueOf = (term: string): string => values.get(term) ?? term;
    if (!isAggregate(literal) && literal.naf) {
      const { predicate, args, negated } = replaced(literal, values);
      return this.#model.match(predicate, args, negated).length === 0;
    }
    const operands = isAggregate(literal) ? [] : literal.args.map(valueOf);
    const [left = '', right = ''] = operands;
    if (isComparison(literal) && binds === null) return holdsComparison(literal.predicate, left, right);
    const target = isAggregate(literal)
      ? literal.result
      : isComparison(literal)
        ? (binds as string)
        : (literal.args[2] as string);
    const result = isAggregate(literal)
      ? this.#aggregate(literal, shared, valueOf)
      : isComparison(literal)
        ? literal.args[0] === binds
          ? right
          : left
        : calculate(literal.predicate, left, right);
    if (result === null) return false;
    if (binds === null) return equalConstants(valueOf(target), result);
    if (values.has(binds)) return values.get(binds) === result;
    values.set(binds, result);
    return true;
  }

  #aggregate(
    literal: AggregateLiteral,
    shared: readonly string[],
    valueOf: (term: string) => string,
  ): string | null {
    const given = shared.map(
      (variable): Literal => ({
        predicate: '=',
        args: [variable, valueOf(variable)],
        negated: false,
        naf: false,
      }),
    );
    const [answer] = this.#model.answers([...given, { ...literal, result: '?the_result' }]);
    return answer?.bindings['the_result'] ?? null;
  }

  #computed(
    literal: Literal,
    shared: readonly string[],
    has: (term: string) => boolean,
    valueOf: (term: string) => string,
  ): [string, string] | null {
    if (isAggregate(literal)) {
      if (has(literal.result) || !this.#inAtoms.has(literal.result) || !shared.every(has)) return null;
      const value = this.#aggregate(literal, shared, valueOf);
      return value === null ? null : [literal.result, value];
    }
    const [left = '', right = '', result = ''] = literal.args;
    if (isArithmetic(literal)) {
      if (!has(left) || !has(right) || has(result) || !this.#inAtoms.has(result)) return null;
      const value = calculate(literal.predicate, valueOf(left), valueOf(right));
      return value === null ? null : [result, value];
    }
    if (literal.predicate !== '=' || literal.naf) return null;
    if (has(left) === has(right)) return null;
    const [to, from] = has(left) ? [right, left] : [left, right];
    return this.#inAtoms.has(to) ? [to, valueOf(from)] : null;
  }

  #compare(left: Reached, right: Reached): number {
    const most = right.satisfied.length - left.satisfied.length || right.atoms - left.atoms;
    if (most !== 0) return most;
    for (const [at, place] of left.satisfied.entries())
      if (place !== right.satisfied[at]) return place - (right.satisfied[at] as number);
    const texts = ({ values }: Reached) =>
      this.#variables.filter((each) => values.has(each)).map((each) => values.get(each) as string);
    return compareTexts(texts(left), texts(right));
  }
}

/** The rules that can conclude something in the view, each with the view in which its body is read. */
function rulesIn(rules: readonly ModelRule[], view: ModelView): { rule: ModelRule; bodyView: ModelView }[] {
  return rules.flatMap((rule): { rule: ModelRule; bodyView: ModelView }[] => {
    if (rule.scope === null) return [{ rule, bodyView: view }];
    if (view.kind === 'all') return [{ rule, bodyView: { kind: 'scope', scope: rule.scope } }];
    return view.kind === 'scope' && view.scope === rule.scope ? [{ rule, bodyView: view }] : [];
  });
}

interface Lacking {
  readonly view: ModelView;
  readonly atom: AtomLiteral;
}

/** An expired validity. */
type Ended = Pick<ModelFact, 'predicate' | 'args' | 'truthVal' | 'scope'> & { readonly until: number };

function scopeText(scope: string | null): string {
  return scope === null ? ' without a scope' : ` in scope ${scope}`;
}

function fits(
  fact: Pick<ModelFact, 'predicate' | 'args' | 'truthVal'>,
  { predicate, args, negated }: AtomLiteral,
): boolean {
  if (fact.predicate !== predicate || fact.args.length !== args.length || fact.truthVal === negated)
    return false;
  const bound = new Map<string, string>();
  return args.every((term, at) => {
    const constant = fact.args[at] as string;
    if (!term.startsWith('?')) return term === constant;
    if (term === '?_') return true;
    const known = bound.get(term) ?? constant;
    bound.set(term, known);
    return known === constant;
  });
}

function isIn(scope: string | null, view: ModelView): boolean {
  return view.kind === 'all' || scope === (view.kind === 'scope' ? view.scope : null);
}

function firstOf<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
): Item | undefined {
  return [...items].sort(compare)[0];
}

const atomText = (fact: Pick<ModelFact, 'predicate' | 'args' | 'truthVal'>): string =>
  renderAtom({ predicate: fact.predicate, args: [...fact.args], negated: !fact.truthVal });

/** The blocks other than rules, as sentences. */
function blocksByFacts(
  lacking: Lacking,
  { facts, time }: Knowledge,
  ended: readonly Ended[],
  scopes: readonly (string | null)[],
  holdsIn: (view: ModelView) => boolean,
): string[] {
  const { view, atom } = lacking;
  const found: string[] = [];
  const own = facts.filter((fact) => fits(fact, atom) && isIn(fact.scope, view));
  for (const scope of scopes) {
    const ends = [
      ...own.flatMap((fact): Ended[] =>
        fact.validUntil !== null && fact.validUntil <= time && fact.scope === scope
          ? [{ ...fact, until: fact.validUntil }]
          : [],
      ),
      ...ended.filter((fact) => fact.scope === scope && isIn(scope, view) && fits(fact, atom)),
    ];
    const last = firstOf(
      ends,
      (left, right) => right.until - left.until || compareText(atomText(left), atomText(right)),
    );
    if (last !== undefined)
      found.push(
        `expired: ${atomText(last)}${scopeText(scope)} expired at ${new Date(last.until).toISOString()}`,
      );
    const pending = own.filter(
      (fact) => fact.scope === scope && fact.validFrom !== null && fact.validFrom > time,
    );
    const first = firstOf(
      pending,
      (left, right) =>
        (left.validFrom as number) - (right.validFrom as number) ||
        compareText(atomText(left), atomText(right)),
    );
    if (first !== undefined)
      found.push(
        `not_yet_valid: ${atomText(first)}${scopeText(scope)} is valid only from ${new Date(first.validFrom as number).toISOString()} on`,
      );
    const place =
      view.kind === 'all'
        ? ' in the view of all scopes'
        : scopeText(view.kind === 'scope' ? view.scope : null);
    const elsewhere = facts.filter(
      (fact) =>
        !isIn(fact.scope, view) &&
        fact.scope === scope &&
        fits(fact, atom) &&
        (fact.validFrom ?? -1) <= time &&
        (fact.validUntil ?? Infinity) > time,
    );
    const stored = firstOf(elsewhere.map(atomText), compareText);
    const other: ModelView = scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope };
    if (stored !== undefined) found.push(`other_scope: ${stored} is stored${scopeText(scope)}, not${place}`);
    else if (
      !atom.args.some((term) => term.startsWith('?')) &&
      JSON.stringify(other) !== JSON.stringify(view) &&
      holdsIn(other)
    )
      found.push(`other_scope: ${renderAtom(atom)} is true${scopeText(scope)}, not${place}`);
  }
  return found;
}

async function explainAndCompare(
  twin: Twin,
  goal: AtomLiteral,
  view: ModelView,
  ended: readonly Ended[],
): Promise<void> {
  const knowledge = twin.knowledge();
  const models = new Map<string, NaiveModel>();
  const modelIn = (each: ModelView): NaiveModel => {
    const key = JSON.stringify(each);
    const model = models.get(key) ?? modelOf(knowledge, each);
    models.set(key, model);
    return model;
  };
  const { predicate, args, negated } = goal;
  const fields = { predicate, args, negated, ...viewFields(view), mode: 'whyNot', timeoutMs: 600_000 };
  const answer = (await twin.engine.explain(fuzzCaller, explainInputSchema.parse(fields))) as WhyNot;
  const about = `${renderAtom(goal)} in ${JSON.stringify(view)}`;
  expect(answer.atom).toBe(renderAtom(goal));
  expect(answer.holds, about).toBe(modelIn(view).holds(goal));
  if (answer.holds) {
    expect(answer, about).toMatchObject({ attempts: [], blockedBy: [] });
    return;
  }
  const lacking: Lacking[] = [{ view, atom: goal }];
  const enabled = knowledge.rules.filter((each) => each.enabled);
  const wanted: WhyNot['attempts'] = [];
  for (const { rule, bodyView } of rulesIn(enabled, view)) {
    if (relationOf(rule.rule.head) !== relationOf(goal)) continue;
    const given = unified(rule.rule.head, goal);
    if (given === null) continue;
    const found = new Oracle(modelIn(bodyView), rule.rule).furthest(given);
    // Too many choices to try: then every statement must at least be true.
    if (found === null) return;
    const { lacking: premises, ...attempt } = found;
    const { id = '' } = rule;
    wanted.push({ rule: answer.attempts[wanted.length]?.rule ?? '', ruleId: id, ...attempt });
    for (const each of premises) if (isPositiveAtom(each)) lacking.push({ view: bodyView, atom: each });
  }
  expect(answer.attempts, about).toEqual(wanted);
  for (const attempt of answer.attempts) expect(attempt.missing.length, about).toBeGreaterThan(0);
  expectBlocks(answer, lacking, knowledge, ended, modelIn, about);
}

function expectBlocks(
  { blockedBy }: WhyNot,
  lacking: readonly Lacking[],
  knowledge: Knowledge,
  ended: readonly Ended[],
  modelIn: (view: ModelView) => NaiveModel,
  about: string,
): void {
  const got = blockedBy.map(({ reason, detail }) => `${reason}: ${detail}`);
  expect(new Set(got).size, about).toBe(got.length);
  const scopes = [null, 's', 't'];
  const byFacts = lacking.flatMap((each) =>
    blocksByFacts(each, knowledge, ended, scopes, (view) => modelIn(view).holds(each.atom)),
  );
  expect(got.filter((each) => !each.startsWith('rule_')).sort(), about).toEqual([...new Set(byFacts)].sort());
  const named = new Set<string>();
  for (const text of got) {
    const [, id, atom] =
      /^rule_disabled: rule (\S+) is disabled and would conclude (.*?\)): /.exec(text) ?? [];
    if (id === undefined || atom === undefined) continue;
    named.add(`${id} ${atom}`);
    const rules = knowledge.rules.map((each) => (each.id === id ? { ...each, enabled: true } : each));
    const views = lacking
      .filter((each) => fits({ ...parseAtom(atom), truthVal: !parseAtom(atom).negated }, each.atom))
      .map(({ view }) => view);
    expect(
      views.some((view) => modelOf({ ...knowledge, rules }, view).holds(parseAtom(atom))),
      `${about}: ${text}`,
    ).toBe(true);
  }
  for (const { view, atom } of lacking) {
    if (atom.args.some((term) => term.startsWith('?'))) continue;
    for (const { rule, bodyView } of rulesIn(knowledge.rules, view)) {
      if (rule.enabled || relationOf(rule.rule.head) !== relationOf(atom)) continue;
      const given = unified(rule.rule.head, atom);
      const found = given === null ? null : new Oracle(modelIn(bodyView), rule.rule).furthest(given);
      if (found?.missing.length === 0) expect([...named], about).toContain(`${rule.id} ${renderAtom(atom)}`);
    }
  }
}

function randomGoal(prng: Prng, vocabulary: Vocabulary, flavour: Flavour, current: CurrentCase): AtomLiteral {
  const bounded = [...current.facts.values()].filter(
    ({ validFrom, validUntil }) => validFrom !== null || validUntil !== null,
  );
  if (bounded.length > 0 && prng.chance(0.3)) {
    const { predicate, args, truthVal } = prng.pick(bounded);
    return { predicate, args: [...args], negated: !truthVal, naf: false };
  }
  const relation = prng.pick(vocabulary.relations);
  const args = Array.from({ length: relation.arity }, () =>
    prng.pick([...vocabulary.constants, ...(prng.chance(0.1) ? ['unheard of'] : [])]),
  );
  return { predicate: relation.predicate, args, negated: flavour.negation && prng.chance(0.2), naf: false };
}

/** An expired fact is remembered, with its latest end, when it is asserted again; retracting it changes nothing. */
function noteEnded(ended: Map<string, Ended>, current: CurrentCase, fact: ModelFact): void {
  const known = current.facts.get(factIdentity(fact));
  if (known !== undefined && known.validUntil !== null && known.validUntil <= current.time)
    ended.set(factIdentity(fact), { ...known, until: known.validUntil });
}

/** A change; for some flavours, more often than elsewhere of time, expired facts and enabled rules. */
function nextUpdate(
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  current: CurrentCase,
): RandomUpdate {
  const { time } = current;
  if (flavour.validity && prng.chance(0.3)) return { kind: 'time', time: time + 1 };
  const ended = [...current.facts.values()].filter(
    ({ validUntil }) => validUntil !== null && validUntil <= time,
  );
  if (ended.length > 0 && prng.chance(0.3)) {
    const validFrom = prng.chance(0.5) ? time + 1 : null;
    const validUntil = prng.chance(0.5) ? time + 1 + prng.below(2) : null;
    const isOrdered = validFrom === null || validUntil === null || validFrom < validUntil;
    return {
      kind: 'assert',
      fact: { ...prng.pick(ended), validFrom, validUntil: isOrdered ? validUntil : null },
    };
  }
  const places = [...current.rules.keys()].filter((index) => current.rules[index] !== null);
  if (flavour.disabledRules && places.length > 0 && prng.chance(0.3)) {
    const index = prng.pick(places);
    return { kind: 'enableRule', index, enabled: current.rules[index]?.enabled === false };
  }
  return randomUpdate(prng, vocabulary, flavour, current);
}

for (const [name, flavour] of Object.entries(flavours))
  test(
    `whyNot gives the furthest bindings and every block, whatever was written before (${name})`,
    { timeout: 3_600_000 },
    () =>
      overSeeds({ name, few: 1, many: 2000 }, async (seed) => {
        const prng = new Prng(seed);
        const start = randomCase(prng, flavour);
        const twin = await Twin.open(start, () => Promise.resolve());
        const ended = new Map<string, Ended>();
        try {
          for (let round = 0; round < 10; round++) {
            for (let index = 0; index < 3; index++) {
              const view: ModelView = flavour.scopes ? randomView(prng, start.vocabulary) : { kind: 'all' };
              await explainAndCompare(twin, randomGoal(prng, start.vocabulary, flavour, twin.current), view, [
                ...ended.values(),
              ]);
            }
            const update = nextUpdate(prng, start.vocabulary, flavour, twin.current);
            if (update.kind === 'assert' || update.kind === 'retract')
              noteEnded(ended, twin.current, update.fact);
            await twin.apply(update);
          }
        } finally {
          await twin.engine.close();
        }
      }),
  );
