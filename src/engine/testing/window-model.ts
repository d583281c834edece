/**
 * Context windows as the contract words them, computed in the simplest way: `window.fuzz.ts` compares with it.
 *
 * It shares with the engine the naive model (which shares only the meaning of the language) and the order of texts.
 * Salience, deduplication, contradictions, budgets and buckets are implemented again; the smallest proof is found by
 * trying all sets of atoms, so that cases with too many are given up.
 */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { compareText, compareTexts } from '../base/text-order.ts';
import type { Bucket, ContextWindow, OmissionReason, OptimizeInput } from '../contract/context.ts';
import type { Atom } from '../contract/language.ts';
import { renderAtom, renderRule } from '../language/print.ts';
import { parseAtom } from '../language/parse.ts';
import {
  type Instance,
  type Knowledge,
  modelOf,
  type ModelFact,
  type ModelView,
  type NaiveModel,
  type Premise,
} from './naive-model.ts';

export interface UsedFact extends ModelFact {
  /** Times of use, its assertion first. */
  readonly uses: readonly number[];
  /** Its position in the order of assertion. */
  readonly number: number;
  readonly importance: number | null;
  readonly confidence: number | null;
}

export interface WindowKnowledge extends Knowledge {
  readonly facts: readonly UsedFact[];
}

export interface ModelEntry {
  readonly atom: string;
  readonly scope: string | null;
  readonly salience: number;
  readonly category: string;
  readonly provenance: { rule: string; premises: string[] } | null;
}

export interface ModelWindow {
  readonly entries: ModelEntry[];
  readonly goals: ContextWindow['goals'];
  readonly relevantRules: string[];
  readonly totalTokenCount: number;
  readonly totalFactsAvailable: number;
  readonly deduplicationSavings: number;
  readonly contradictions: { atom: string; positiveSalience: number; negativeSalience: number }[];
  readonly bucketStats: Record<string, unknown>;
  readonly omitted: { atom: string; salience: number; reason: OmissionReason }[];
}

const day = 86_400_000;
const mostSets = 20_000;

export function salienceOf(fact: UsedFact, now: number): number {
  let sum = 0;
  for (const use of fact.uses) sum += 1 / Math.sqrt(Math.max((now - use) / day, 1000 / day));
  const activation = sum / (1 + sum);
  return (1 - (1 - activation) ** (2 * (fact.importance ?? 0.5))) * (fact.confidence ?? 1);
}

/** An atom in a view, to be proved. */
interface Goal {
  readonly view: ModelView;
  readonly atom: string;
}

/** What proves an atom: it is stored, or a rule. */
interface Step {
  readonly goal: Goal;
  readonly way: Instance | null;
}

/** What is to be proved, and its possible derivations: each part by one of them. */
interface Node {
  readonly key: string;
  /** null: an aggregate, a negation or a built-in. */
  readonly goal: Goal | null;
  readonly parts: Way[][];
}

interface Way {
  readonly way: Instance | null;
  readonly premises: readonly Node[];
}

interface Shown {
  readonly atom: string;
  readonly salience: number;
  /** As it is read. */
  readonly line: string;
  readonly scope: string | null;
  readonly createdAt: number;
  /** For a stored fact its number; null: a conclusion. */
  readonly number: number | null;
  readonly category: string;
  readonly provenance: { rule: string; premises: string[] } | null;
}

function flip(atom: string): string {
  return atom.startsWith('-') ? atom.slice(1) : `-${atom}`;
}

function viewText(view: ModelView): string {
  return view.kind === 'scope' ? `=${view.scope}` : view.kind;
}

function byPrecedence(left: Shown, right: Shown): number {
  return right.salience - left.salience || compareText(left.atom, right.atom);
}

class Maker {
  readonly #knowledge: WindowKnowledge;
  readonly #input: OptimizeInput;
  readonly #view: ModelView;
  readonly #models = new Map<string, NaiveModel>();
  readonly #scopes: (string | null)[];
  readonly #stored = new Map<string, Shown>();
  readonly #copies: Shown[] = [];
  readonly #concluded = new Map<string, Shown>();
  #weaker = new Set<string>();
  readonly #window = new Map<string, ModelEntry>();
  readonly #rules = new Map<number, string>();
  readonly #leftOut = new Map<string, OmissionReason>();
  readonly #reasons = new Map<string, OmissionReason>();

  constructor(knowledge: WindowKnowledge, input: OptimizeInput) {
    this.#knowledge = knowledge;
    this.#input = input;
    this.#view = input.unscoped
      ? { kind: 'unscoped' }
      : input.scope === null
        ? { kind: 'all' }
        : { kind: 'scope', scope: input.scope };
    const told = [...knowledge.facts].sort((left, right) => left.number - right.number);
    this.#scopes = [null, ...new Set(told.map(({ scope }) => scope))];
  }

  make(): ModelWindow {
    const { input, stored } = { input: this.#input, stored: this.#stored };
    this.#readStored();
    const also = new Set<string>();
    const answers = (input.goals ?? []).map(({ predicate, args, negated }) =>
      this.#model(this.#view).match(predicate, args, negated),
    );
    for (const atom of answers.flat()) this.#prove(atom, also);
    const inferred = this.#inferredAtoms();
    const found: string[] = [];
    for (const atom of inferred) {
      if (stored.has(atom)) {
        if (this.#model(this.#view).waysTo(parseAtom(atom)).length > 0) also.add(atom);
        continue;
      }
      found.push(atom);
      if (!this.#concluded.has(atom)) this.#concluded.set(atom, this.#conclusion({ view: this.#view, atom }));
    }
    const contradictions = this.#contradictions();
    for (const goal of answers) this.#fillGoal(goal);
    for (const goal of answers) this.#fillPremises(goal);
    const candidates = [...stored.values()].filter(({ atom }) => !this.#weaker.has(atom));
    candidates.push(...this.#usable(found));
    this.#fill(candidates.sort(byPrecedence));
    const wanted = (atom: string): boolean => input.predicates?.includes(parseAtom(atom).predicate) ?? true;
    const available = [...stored.keys(), ...this.#concluded.keys()];
    const copies = [...this.#copies.map(({ atom }) => atom), ...also];
    return {
      entries: [...this.#window.values()],
      goals: (input.goals ?? []).map((goal, at) => this.#goal(renderAtom(goal), answers[at] ?? [])),
      relevantRules: this.#relevantRules(),
      totalTokenCount: this.#tokens([...this.#window.keys()]),
      totalFactsAvailable: available.filter(wanted).length,
      deduplicationSavings: copies.filter(wanted).length,
      contradictions: contradictions.filter(({ atom }) => wanted(atom)),
      bucketStats: this.#bucketStats(),
      omitted: this.#omitted(also),
    };
  }

  #model(view: ModelView): NaiveModel {
    const key = viewText(view);
    const model = this.#models.get(key) ?? modelOf(this.#knowledge, view);
    this.#models.set(key, model);
    return model;
  }

  #visible(view: ModelView): UsedFact[] {
    const { facts, time } = this.#knowledge;
    return facts.filter(
      ({ validFrom, validUntil, scope }) =>
        (validFrom ?? -Infinity) <= time &&
        (validUntil ?? Infinity) > time &&
        (view.kind === 'all' || scope === (view.kind === 'scope' ? view.scope : null)),
    );
  }

  #readStored(): void {
    const { time } = this.#knowledge;
    const all = this.#visible(this.#view).map((fact): Shown => {
      const category =
        fact.validUntil !== null
          ? 'ephemeral'
          : time - (fact.uses[0] as number) <= 300_000
            ? 'recent'
            : 'asserted';
      return {
        atom: atomOf(fact),
        line: lineOf(fact),
        salience: salienceOf(fact, time),
        scope: fact.scope,
        createdAt: fact.uses[0] as number,
        number: fact.number,
        category,
        provenance: null,
      };
    });
    all.sort((left, right) => byPrecedence(left, right) || compareText(left.scope ?? '', right.scope ?? ''));
    for (const each of all)
      if (this.#stored.has(each.atom)) this.#copies.push(each);
      else this.#stored.set(each.atom, each);
  }

  /** The view in which the premises of an instance are true. */
  #viewOf(view: ModelView, way: Instance): ModelView {
    return way.within === null ? view : { kind: 'scope', scope: way.scope as string };
  }

  /** Goals below the derivation, each part of an aggregate by its first derivation. */
  #below(goal: Goal, way: Instance): Goal[] {
    const view = this.#viewOf(goal.view, way);
    const of = (premise: Premise): Goal[] => {
      if (premise.kind === 'atom') return [{ view, atom: premise.text }];
      if (premise.kind !== 'aggregate') return [];
      const model = this.#model(view);
      return premise.groups.flatMap((group) => {
        const [best = []] = [...group].sort(
          (left, right) =>
            model.heightOf(left) - model.heightOf(right) ||
            compareTexts(
              left.map(({ text }) => text),
              right.map(({ text }) => text),
            ),
        );
        return best.flatMap(of);
      });
    };
    return way.premises.flatMap(of);
  }

  /** The canonical proof: every goal in it once. */
  #canonical(goal: Goal): Step[] {
    const steps = new Map<string, Step>();
    const open = [goal];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const key = `${viewText(next.view)} ${next.atom}`;
      if (steps.has(key)) continue;
      const model = this.#model(next.view);
      const atom = parseAtom(next.atom);
      const [way = null] = model.isStored(atom) ? [] : model.waysTo(atom);
      steps.set(key, { goal: next, way });
      if (way !== null) open.push(...this.#below(next, way));
    }
    return [...steps.values()];
  }

  #conclusion(goal: Goal): Shown {
    const steps = this.#canonical(goal);
    const leaves = steps.flatMap(({ goal: leaf, way }) => (way === null ? [this.#leaf(leaf)] : []));
    const way = steps[0]?.way;
    if (way === null || way === undefined) throw new Error(`${goal.atom} is no conclusion`);
    return {
      atom: goal.atom,
      line: `=> ${goal.atom}`,
      salience: Math.min(1, ...leaves.map((fact) => salienceOf(fact, this.#knowledge.time))),
      scope: way.scope,
      createdAt: Math.max(0, ...leaves.map(({ uses }) => uses[0] as number)),
      number: null,
      category: 'inferred',
      provenance: this.#provenance(way),
    };
  }

  #provenance(way: Instance): { rule: string; premises: string[] } {
    const rule = this.#knowledge.rules[way.order];
    if (rule === undefined) throw new Error('a rule is not known');
    return { rule: renderRule(rule.rule), premises: way.premises.map(({ text }) => text) };
  }

  /** The stored fact that proves an atom in a view. */
  #leaf({ view, atom }: Goal): UsedFact {
    const [first] = this.#visible(view)
      .filter((fact) => atomOf(fact) === atom)
      .sort((left, right) => this.#scopes.indexOf(left.scope) - this.#scopes.indexOf(right.scope));
    if (first === undefined) throw new Error(`${atom} is not stored`);
    return first;
  }

  /** Records the conclusions in the proof of an answer. */
  #prove(atom: string, also: Set<string>): void {
    if (this.#stored.has(atom)) {
      if (this.#model(this.#view).waysTo(parseAtom(atom)).length > 0) also.add(atom);
      return;
    }
    const goals = this.#canonical({ view: this.#view, atom }).flatMap(({ goal, way }) =>
      way === null || this.#stored.has(goal.atom) ? [] : [goal],
    );
    for (const goal of goals) this.#noted(goal);
  }

  readonly #notedIn = new Map<string, ModelView>();

  #noted(goal: Goal): void {
    const known = this.#notedIn.get(goal.atom);
    if (known !== undefined && this.#compareViews(known, goal.view) <= 0) return;
    this.#notedIn.set(goal.atom, goal.view);
    this.#concluded.set(goal.atom, this.#conclusion(goal));
  }

  #compareViews(left: ModelView, right: ModelView): number {
    const own = viewText(this.#view);
    const [first, second] = [viewText(left), viewText(right)];
    return Number(second === own) - Number(first === own) || compareText(first, second);
  }

  #inferredAtoms(): string[] {
    const { includeInferred, predicates } = this.#input;
    if (!includeInferred) return [];
    const heads = new Map<string, Atom>();
    for (const { rule, enabled } of this.#knowledge.rules) {
      const { predicate, args, negated } = rule.head;
      if (enabled && (predicates === null || predicates.includes(predicate)))
        heads.set(JSON.stringify([predicate, args.length, negated]), rule.head);
    }
    return [...heads.values()].flatMap(({ predicate, args, negated }) =>
      this.#model(this.#view).match(
        predicate,
        args.map((_, at) => `?v${at}`),
        negated,
      ),
    );
  }

  #contradictions(): ModelWindow['contradictions'] {
    const all = new Map([...this.#stored, ...this.#concluded]);
    const found: ModelWindow['contradictions'] = [];
    for (const [atom, positive] of all) {
      const negative = all.get(`-${atom}`);
      if (atom.startsWith('-') || negative === undefined) continue;
      found.push({ atom, positiveSalience: positive.salience, negativeSalience: negative.salience });
      if (this.#input.autoResolveContradictions) this.#weaker.add(weakerOf(positive, negative).atom);
    }
    return found.sort((left, right) => compareText(left.atom, right.atom));
  }

  #inBucket(predicate: string): Bucket | null {
    return this.#input.relevanceBuckets?.find(({ predicates }) => predicates.includes(predicate)) ?? null;
  }

  #allocation(bucket: Bucket): number {
    const total = (this.#input.relevanceBuckets ?? []).reduce((sum, { weight }) => sum + weight, 0);
    const share = Math.max(1, Math.floor((bucket.weight / total) * this.#input.maxFacts));
    return Math.min(bucket.maxFacts ?? Infinity, share);
  }

  /** Why these atoms, none of which is in the window, do not fit; null if they do. */
  #refusal(atoms: readonly string[]): OmissionReason | null {
    const { predicates, maxFactsPerPredicate, maxFacts, maxChars, maxTokens } = this.#input;
    const names = atoms.map((atom) => parseAtom(atom).predicate);
    if (predicates !== null && names.some((name) => !predicates.includes(name))) return 'filtered';
    const together = [...this.#window.keys(), ...atoms];
    const all = together.map((atom) => parseAtom(atom).predicate);
    const countOf = (name: string): number => all.filter((each) => each === name).length;
    if (names.some((name) => countOf(name) > (maxFactsPerPredicate ?? Infinity))) return 'predicate_cap';
    for (const name of names) {
      const bucket = this.#inBucket(name);
      if (bucket === null) continue;
      const inIt = all.filter((each) => this.#inBucket(each) === bucket).length;
      if (inIt > this.#allocation(bucket)) return 'bucket';
    }
    const chars = together.reduce((sum, atom) => sum + atom.length, 0);
    const isTooLong = chars > (maxChars ?? Infinity) || this.#tokens(together) > (maxTokens ?? Infinity);
    return together.length > maxFacts || isTooLong ? 'budget' : null;
  }

  #tokens(atoms: readonly string[]): number {
    const lines = atoms.map((atom) => this.#stored.get(atom)?.line ?? `=> ${atom}`);
    return lines.reduce((sum, line) => sum + countTokens(`${line}\n`), 0);
  }

  #knows(atom: string): boolean {
    return this.#stored.has(atom) || this.#concluded.has(atom);
  }

  #isBarred(atom: string): boolean {
    if (!this.#input.autoResolveContradictions) return false;
    if (this.#weaker.has(atom) || this.#window.has(flip(atom))) return true;
    return this.#knows(flip(atom)) && !this.#knows(atom);
  }

  #fillGoal(answers: readonly string[]): void {
    const shown = answers.map((atom) => (this.#stored.get(atom) ?? this.#concluded.get(atom)) as Shown);
    for (const { atom } of shown.sort(byPrecedence)) {
      const goal = { view: this.#view, atom };
      const isStored = this.#stored.has(atom);
      const proof = isStored ? [{ goal, way: null }] : this.#canonical(goal);
      if (!isStored && this.#input.proofs === 'premises') {
        if (!this.#leftOut.has(atom)) this.#leftOut.set(atom, 'filtered');
        continue;
      }
      const refused = this.#takeProof(proof);
      if (refused === null) {
        this.#taken.add(atom);
        continue;
      }
      if (!isStored)
        for (const step of proof)
          if (!this.#reasons.has(step.goal.atom)) this.#reasons.set(step.goal.atom, refused);
      const other = isStored ? null : this.#smallest(goal);
      if (other !== null && this.#takeProof(other) === null) {
        this.#taken.add(atom);
        continue;
      }
      if (!this.#leftOut.has(atom)) this.#leftOut.set(atom, refused);
    }
  }

  /** The stored premises of the answers' canonical proofs, where no proof of the goal is whole. */
  #fillPremises(answers: readonly string[]): void {
    const { proofs } = this.#input;
    if (proofs === 'whole' || (proofs === 'auto' && answers.some((atom) => this.#taken.has(atom)))) return;
    const shown = answers.map((atom) => (this.#stored.get(atom) ?? this.#concluded.get(atom)) as Shown);
    for (const { atom } of shown.sort(byPrecedence))
      if (!this.#stored.has(atom))
        this.#takeProof(this.#canonical({ view: this.#view, atom }).filter(({ way }) => way === null));
  }

  /** The window's report of a goal. */
  #goal(goal: string, found: readonly string[]): ContextWindow['goals'][number] {
    const shown = found.map((atom) => (this.#stored.get(atom) ?? this.#concluded.get(atom)) as Shown);
    const atoms = shown.sort(byPrecedence).map(({ atom }) => atom);
    const proofOf = (atom: string): Step[] => {
      const root = { view: this.#view, atom };
      return this.#stored.has(atom) ? [{ goal: root, way: null }] : this.#canonical(root);
    };
    const isIn = (step: Step): boolean => this.#window.has(step.goal.atom);
    const isWhole = (atom: string): boolean => this.#taken.has(atom) || proofOf(atom).every(isIn);
    const hasPremises = (atom: string): boolean =>
      !this.#stored.has(atom) && proofOf(atom).every((step) => step.way !== null || isIn(step));
    const whole = atoms.filter(isWhole).length;
    const premises = atoms.filter((atom) => !isWhole(atom) && hasPremises(atom)).length;
    const [first] = atoms;
    const needed = [...new Set((first === undefined ? [] : proofOf(first)).map((step) => step.goal.atom))];
    return {
      goal,
      status:
        first === undefined ? 'no_answer' : whole > 0 ? 'proved' : premises > 0 ? 'premises' : 'does_not_fit',
      answers: { found: atoms.length, whole, premises, omitted: atoms.length - whole - premises },
      atoms: atoms.slice(0, 20),
      needs:
        first === undefined
          ? null
          : { facts: needed.length, chars: needed.join('').length, tokens: this.#tokens(needed) },
      reason: first === undefined || whole > 0 ? null : (this.#leftOut.get(first) ?? null),
    };
  }

  /** What the proofs in the window prove: a smallest proof takes it as given. */
  readonly #proved = new Set<string>();

  /** Answers with a proof in the window. */
  readonly #taken = new Set<string>();

  #takeProof(steps: readonly Step[]): OmissionReason | null {
    const fresh = [...new Set(steps.map(({ goal }) => goal.atom))].filter((atom) => !this.#window.has(atom));
    const isTooLarge = fresh.length > this.#input.maxFacts - this.#window.size;
    // For a proof that is too large only the answer itself is examined.
    const looked = isTooLarge ? fresh.filter((atom) => atom === steps[0]?.goal.atom) : fresh;
    const refused = this.#refusal(looked);
    if (refused !== 'filtered' && looked.some((atom) => this.#isBarred(atom))) return 'contradiction';
    if (refused !== null || isTooLarge) return refused ?? 'budget';
    for (const atom of fresh) {
      const [first] = steps
        .filter(({ goal }) => goal.atom === atom)
        .sort((left, right) => this.#compareViews(left.goal.view, right.goal.view));
      this.#put(this.#inProof(first as Step), 'goal_relevant');
    }
    for (const { way } of steps) if (way !== null) this.#rules.set(way.order, this.#provenance(way).rule);
    for (const { goal } of steps) this.#proved.add(keyOf(goal));
    return null;
  }

  #inProof({ goal, way }: Step): Shown {
    const stored = this.#stored.get(goal.atom);
    if (stored !== undefined) return stored;
    const shown = this.#concluded.get(goal.atom) ?? this.#conclusion(goal);
    return way === null ? shown : { ...shown, scope: way.scope, provenance: this.#provenance(way) };
  }

  #put({ atom, scope, salience, category, provenance }: Shown, as: string | null): void {
    this.#window.set(atom, { atom, scope, salience, category: as ?? category, provenance });
  }

  #nodeOf(goal: Goal): Node {
    const key = keyOf(goal);
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const node: Node = { key, goal, parts: [] };
    this.#nodes.set(key, node);
    const model = this.#model(goal.view);
    if (model.isStored(parseAtom(goal.atom))) return node;
    const ways = model.waysTo(parseAtom(goal.atom)).map((way) => {
      const view = this.#viewOf(goal.view, way);
      return { way, premises: way.premises.map((premise) => this.#nodeOfPremise(premise, view)) };
    });
    node.parts.push(ways);
    return node;
  }

  #nodeOfPremise(premise: Premise, view: ModelView): Node {
    if (premise.kind === 'atom') return this.#nodeOf({ view, atom: premise.text });
    const key = `${viewText(view)} ${premise.kind} ${premise.text}`;
    const node: Node = { key, goal: null, parts: [] };
    if (premise.kind !== 'aggregate') return node;
    const model = this.#model(view);
    for (const group of premise.groups) {
      const inOrder = [...group].sort(
        (left, right) =>
          model.heightOf(left) - model.heightOf(right) ||
          compareTexts(
            left.map(({ text }) => text),
            right.map(({ text }) => text),
          ),
      );
      node.parts.push(
        inOrder.map((premises) => ({
          way: null,
          premises: premises.map((each) => this.#nodeOfPremise(each, view)),
        })),
      );
    }
    return node;
  }

  readonly #nodes = new Map<string, Node>();

  /** The roots and everything that derivations of them lead to. What is not open, or done, leads nowhere. */
  #reachable(roots: readonly Node[], leadsOn: (node: Node) => boolean): Node[] {
    const nodes = new Map(roots.map((node) => [node.key, node]));
    for (const node of nodes.values()) {
      if (leadsOn(node))
        for (const each of node.parts.flatMap((part) => part.flatMap(({ premises }) => premises)))
          if (!nodes.has(each.key)) nodes.set(each.key, each);
      if (nodes.size > 150) throw new Error('the model has more than 150 conclusions');
    }
    return [...nodes.values()];
  }

  /** What can be proved by allowed nodes: for each part the first derivation of least height. */
  #closure(
    nodes: readonly Node[],
    isAllowed: (node: Node) => boolean,
    isGiven: (node: Node) => boolean = () => false,
  ): Map<string, (Way | undefined)[]> {
    const proved = new Map<string, (Way | undefined)[]>();
    const waiting = new Set(nodes.filter(isAllowed));
    const prove = (isOne: (node: Node) => boolean): boolean => {
      const found = [...waiting].flatMap((node): [Node, (Way | undefined)[]][] => {
        if (!isOne(node)) return [];
        if (isGiven(node)) return [[node, []]];
        const ways = node.parts.map((part) =>
          part.find(({ premises }) => premises.every(({ key }) => proved.has(key))),
        );
        return ways.includes(undefined) ? [] : [[node, ways]];
      });
      for (const [node, ways] of found) {
        proved.set(node.key, ways);
        waiting.delete(node);
      }
      return found.length > 0;
    };
    prove((node) => node.parts.length === 0 || isGiven(node));
    do while (prove(({ goal }) => goal === null));
    while (prove(() => true));
    return proved;
  }

  /** The smallest proof that fits, by trying all sets of atoms. */
  #smallest(goal: Goal): Step[] | null {
    const isOpen = ({ goal: of }: Node): boolean =>
      of === null ||
      this.#window.has(of.atom) ||
      (this.#refusal([of.atom]) === null && !this.#isBarred(of.atom));
    const root = this.#nodeOf(goal);
    if (!isOpen(root)) return null;
    const nodes = this.#reachable([root], isOpen);
    const provable = this.#closure(nodes, isOpen);
    if (!provable.has(root.key)) return null;
    const atoms = nodes.flatMap((node) =>
      node.goal !== null && provable.has(node.key) ? [node.goal.atom] : [],
    );
    const others = [...new Set(atoms)].filter((atom) => !this.#window.has(atom) && atom !== goal.atom);
    const needed = this.#window.has(goal.atom) ? [] : [goal.atom];
    let tried = 0;
    for (let size = 0; size <= others.length; size++) {
      if (size + needed.length > this.#input.maxFacts - this.#window.size) return null;
      let best: string[] | null = null;
      for (const some of subsets(others, size)) {
        if (++tried > mostSets) throw new Error(`the model has more than ${mostSets} sets`);
        const set = [...needed, ...some].sort(compareText);
        if (this.#input.autoResolveContradictions && set.some((atom) => set.includes(flip(atom)))) continue;
        if (this.#refusal(set) !== null || (best !== null && !isBefore(set, best))) continue;
        if (this.#closure(nodes, this.#within(set)).has(root.key)) best = set;
      }
      if (best !== null) {
        const isProved = ({ key }: Node): boolean => this.#proved.has(key);
        return this.#stepsOf(root, this.#closure(nodes, this.#within(best), isProved));
      }
    }
    return null;
  }

  #within(set: readonly string[]): (node: Node) => boolean {
    return ({ goal }) => goal === null || this.#window.has(goal.atom) || set.includes(goal.atom);
  }

  #stepsOf(root: Node, proved: ReadonlyMap<string, (Way | undefined)[]>): Step[] {
    const steps = new Map<string, Step | null>();
    const open = [root];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (steps.has(next.key)) continue;
      const ways = proved.get(next.key) ?? [];
      steps.set(next.key, next.goal === null ? null : { goal: next.goal, way: ways[0]?.way ?? null });
      open.push(...ways.flatMap((way) => way?.premises ?? []));
    }
    return [...steps.values()].filter((step) => step !== null);
  }

  /** Conclusions that are true without what is left out, each with a proof without it. */
  #usable(found: readonly string[]): Shown[] {
    const shownOf = (atom: string): Shown => this.#concluded.get(atom) as Shown;
    const kept = found.filter((atom) => !this.#weaker.has(atom) && !this.#leftOut.has(atom));
    const isOut = ({ goal }: Node): boolean => goal !== null && this.#weaker.has(goal.atom);
    // Aggregates have no canonical proof of their own here: their parts are examined.
    const isDoubtful = (node: Node): boolean =>
      node.goal === null
        ? node.parts.some((part) => part[0]?.premises.some(isDoubtful))
        : this.#canonical(node.goal).some(({ goal }) => this.#weaker.has(goal.atom));
    const roots = found.map((atom) => this.#nodeOf({ view: this.#view, atom })).filter(isDoubtful);
    const nodes = this.#reachable(roots, (node) => !isOut(node) && isDoubtful(node));
    const proved = this.#closure(
      nodes,
      (node) => !isOut(node),
      (node) => !isDoubtful(node),
    );
    return kept.flatMap((atom) => {
      const node = this.#nodeOf({ view: this.#view, atom });
      if (!isDoubtful(node)) return [shownOf(atom)];
      const way = proved.get(node.key)?.[0]?.way ?? null;
      if (way === null) return [];
      return [{ ...shownOf(atom), scope: way.scope, provenance: this.#provenance(way) }];
    });
  }

  #fill(candidates: readonly Shown[]): void {
    const offer = (each: Shown, as: string | null): void => {
      if (this.#window.has(each.atom) || this.#leftOut.has(each.atom)) return;
      if (this.#refusal([each.atom]) === null) this.#put(each, as);
    };
    const constants = new Set([...this.#window.keys()].flatMap((atom) => parseAtom(atom).args));
    for (const each of candidates)
      if (parseAtom(each.atom).args.some((constant) => constants.has(constant))) offer(each, 'related');
    for (const bucket of this.#input.relevanceBuckets ?? [])
      for (const each of candidates)
        if (this.#inBucket(parseAtom(each.atom).predicate) === bucket) offer(each, null);
    for (const each of candidates)
      if (this.#inBucket(parseAtom(each.atom).predicate) === null) offer(each, null);
    for (const { atom } of candidates) this.#candidates.add(atom);
  }

  readonly #candidates = new Set<string>();

  #relevantRules(): string[] {
    const { rules } = this.#knowledge;
    if ((this.#input.goals ?? []).length > 0)
      return [...new Set([...this.#rules].sort(([left], [right]) => left - right).map(([, text]) => text))];
    const names = new Set([...this.#window.keys()].map((atom) => parseAtom(atom).predicate));
    const view = this.#view;
    const found = rules.filter(
      ({ rule, scope, enabled }) =>
        enabled &&
        (view.kind === 'all' || scope === null || (view.kind === 'scope' && scope === view.scope)) &&
        [...names].some((name) => namesIn(rule).includes(name)),
    );
    return [...new Set(found.map(({ rule }) => renderRule(rule)))];
  }

  #bucketStats(): Record<string, unknown> {
    const stats: Record<string, unknown> = {};
    for (const bucket of this.#input.relevanceBuckets ?? []) {
      const inIt = [...this.#window.values()]
        .filter(({ atom }) => this.#inBucket(parseAtom(atom).predicate) === bucket)
        .map(({ salience }) => salience);
      stats[bucket.name] = {
        factsIncluded: inIt.length,
        maxAllocation: this.#allocation(bucket),
        minSalience: inIt.length === 0 ? null : Math.min(...inIt),
        maxSalience: inIt.length === 0 ? null : Math.max(...inIt),
      };
    }
    return stats;
  }

  #omitted(also: ReadonlySet<string>): ModelWindow['omitted'] {
    const omitted: ModelWindow['omitted'] = [];
    for (const { atom, salience } of this.#copies) omitted.push({ atom, salience, reason: 'duplicate' });
    for (const atom of also) {
      const { salience } = this.#stored.get(atom) as Shown;
      omitted.push({ atom, salience, reason: 'duplicate' });
    }
    for (const { atom, salience } of [...this.#stored.values(), ...this.#concluded.values()]) {
      if (this.#window.has(atom)) continue;
      const refused = this.#refusal([atom]);
      let reason = this.#leftOut.get(atom) ?? (refused === 'filtered' ? refused : null);
      if (reason === null && this.#weaker.has(atom)) reason = 'contradiction';
      reason ??= refused;
      const isInferred = this.#input.includeInferred && this.#inferredAtoms().includes(atom);
      if (reason === null && isInferred && !this.#candidates.has(atom)) reason = 'contradiction';
      omitted.push({ atom, salience, reason: reason ?? this.#reasons.get(atom) ?? 'budget' });
    }
    return omitted;
  }
}

function keyOf({ view, atom }: Goal): string {
  return `${viewText(view)} ${atom}`;
}

/** A stored fact with what changes its meaning. */
function lineOf(fact: ModelFact): string {
  const { scope, validFrom, validUntil } = fact;
  const notes = [
    ...(scope === null ? [] : [`scope "${scope}"`]),
    ...(validFrom === null ? [] : [`from ${new Date(validFrom).toISOString()}`]),
    ...(validUntil === null ? [] : [`until ${new Date(validUntil).toISOString()}`]),
  ];
  return notes.length === 0 ? atomOf(fact) : `${atomOf(fact)} (${notes.join(', ')})`;
}

function atomOf({ predicate, args, truthVal }: ModelFact): string {
  return renderAtom({ predicate, args: [...args], negated: !truthVal });
}

function namesIn({ head, body }: { head: Atom; body: readonly unknown[] }): string[] {
  const within = (literal: unknown): string[] => {
    const { predicate, body: inner } = literal as { predicate?: string; body?: unknown[] };
    return inner === undefined ? [predicate as string] : inner.flatMap(within);
  };
  return [head.predicate, ...body.flatMap(within)];
}

function weakerOf(positive: Shown, negative: Shown): Shown {
  if (positive.salience !== negative.salience)
    return positive.salience < negative.salience ? positive : negative;
  const [first, second] = [positive.number, negative.number];
  if (first !== null && second !== null) return first < second ? positive : negative;
  if (first !== null) return negative;
  if (second !== null) return positive;
  return positive.createdAt < negative.createdAt ? positive : negative;
}

/** Fewer characters, or as many and first in order. */
function isBefore(left: readonly string[], right: readonly string[]): boolean {
  const chars = left.join('').length - right.join('').length;
  return chars < 0 || (chars === 0 && compareTexts(left, right) < 0);
}

function* subsets(items: readonly string[], size: number, from = 0): Generator<string[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let at = from; at <= items.length - size; at++)
    for (const rest of subsets(items, size - 1, at + 1)) yield [items[at] as string, ...rest];
}

/** The window of this knowledge, or an error if there is too much to try. */
export function windowModel(knowledge: WindowKnowledge, input: OptimizeInput): ModelWindow {
  return new Maker(knowledge, input).make();
}
