import { TextMap } from '../../base/text-map.ts';
import { present } from '../../base/assert.ts';
import { compareTexts } from '../../base/text-order.ts';
import type { AtomLiteral, Literal } from '../../contract/language.ts';
import { maxAlternatives, maxProofSteps, type Proof, type ProofStep } from '../../contract/inference.ts';
import { lookUpFew } from '../../store/fact-matching.ts';
import type { FactRow, ScopeChoice } from '../../store/fact-store.ts';
import type { ArgumentNames } from '../../language/argument-names.ts';
import { renderAtom } from '../../language/print.ts';
import { isAbsence, isAggregate, isBuiltin, relationOf } from '../../language/terms.ts';
import { BodyCompiler } from '../join/body-compiler.ts';
import { type Derived, newDerived, put } from '../model/derived.ts';
import { demand, type Pacer, settle } from '../tables/evaluation.ts';
import { Explainer, type Premise, premiseOf, premisesOf } from './explainer.ts';
import { questionLevel } from '../model/program.ts';
import { type Matches, derivedAtomOf, type Question, settledTableFor, tableFor } from '../tables/question.ts';
import { isAdded, matching, type Reader, viewKey } from '../model/reader.ts';
import type { TableSet } from '../tables/table-set.ts';
import type { BuiltBody, BuiltGroup, BuiltRule, Table } from '../model/table.ts';

/** A ground atom in a view. */
export interface GroundAtom {
  readonly view: ScopeChoice;
  readonly literal: AtomLiteral;
}

/** One derivation of a conclusion: by a rule, or, for a tuple of an aggregate, by its body (`rule` null). */
export interface Way {
  readonly rule: BuiltRule | null;
  readonly height: number;
  readonly premises: readonly Premise[];
}

/** What proofs read: stored facts, and the declared names of arguments. */
export type ProofReader = Reader & { readonly names: ArgumentNames };

/** How a premise that is no leaf is proved. */
type Choice = Omit<Way, 'height'>;

/** What a step proves, and by which rule. */
export interface Proved {
  readonly premise: Premise;
  readonly rule: BuiltRule | null;
}

type ProofAlternative = NonNullable<ProofStep['alternatives']>[number];

/** Approximate bytes of a step beside its text. */
const bytesOfStep = 400;
/**
 * If fewer than 1 in this many answers are to be proved (a page of a long list), each is demanded by itself.
 */
const fewDivisor = 16;
/** Up to this many facts of one atom are compared by scope in one turn. */
const maxComparedScopes = 32;

/**
 * Builds canonical proofs: for every atom the one of least height; ties go to the rule created first, then to
 * the premises as rendered, in body order.
 *
 * Heights come from a table set in which every row has its least height and no recursion was rewritten. A
 * stored fact is a leaf of height 0. A proof is a list of steps, each after its premises, every atom of a
 * view once; it is built iteratively, since proofs can be deep.
 */
export class ProofBuilder {
  readonly steps: ProofStep[] = [];
  /** The stored facts that the proofs use, in the order of their steps. */
  readonly facts: FactRow[] = [];
  /** What each step proves, in order; null for an answer that is a conjunction. */
  readonly proved: (Proved | null)[] = [];
  isTruncated = false;
  readonly #set: TableSet;
  readonly #reader: ProofReader;
  readonly #pacer: Pacer;
  readonly #maxSteps: number;
  readonly #stepOf = new TextMap<number>();
  /** The steps that are conclusions of rules, in order. */
  readonly #concluded: { readonly step: number; readonly premise: Premise }[] = [];
  readonly #byRule = new Map<BuiltRule, Explainer>();
  readonly #byGroup = new Map<BuiltGroup, Explainer>();

  /** `set` must carry heights, and be used exclusively until the proof is done. */
  constructor(set: TableSet, reader: ProofReader, pacer: Pacer, maxSteps = maxProofSteps) {
    this.#maxSteps = maxSteps;
    this.#set = set;
    this.#reader = reader;
    this.#pacer = pacer;
  }

  /**
   * Proves the given rows of `matches` (by number); the roots are in the same order. With `alternatives`
   * every conclusion also gets its other derivations, and their premises are proved too.
   */
  async prove(matches: Matches, rows: readonly number[], alternatives = false): Promise<Proof> {
    const { question: asked, columns } = matches;
    const { variables } = asked;
    const extra: Derived[] = [];
    const compiler = new BodyCompiler(this.#set, extra, true);
    try {
      const body = await this.#ready(matches, rows, compiler, extra);
      const roots: number[] = [];
      for (const row of rows) {
        const idOf = (variable: string): number | undefined => {
          const at = variables.indexOf(variable);
          if (at < 0) return undefined;
          return this.#set.constants.idOf(matches.constants.text((columns[at] as Int32Array)[row] as number));
        };
        const root = await this.#proveAnswer(premisesOf(this.#set, body, asked.body, idOf));
        if (root === null) break;
        roots.push(root);
      }
      if (alternatives) await this.#addAlternatives();
      return this.isTruncated ? { roots, steps: this.steps, truncated: true } : { roots, steps: this.steps };
    } finally {
      compiler.remove();
      for (const derived of extra) this.#set.passing.delete(derived);
    }
  }

  /**
   * Those of these conclusions, rendered, whose proof uses the stored fact. Proves each that is not proved
   * yet.
   */
  async dependentsOf(fact: FactRow, goals: readonly GroundAtom[]): Promise<string[]> {
    const id = this.#reader.facts.idOf(fact);
    for (const { view, literal } of goals) this.#demandAtom(view, literal);
    await settle(this.#set, this.#reader, this.#pacer);
    const roots = new Set<number>();
    for (const { view, literal } of goals) {
      const root = await this.#provePremise(premiseOf(view, literal));
      if (root !== null) roots.add(root);
    }
    const uses: boolean[] = [];
    const found: string[] = [];
    for (const step of this.steps) {
      uses.push(step.factId === id || step.premises.some((premise) => uses[premise] === true));
      if (step.kind === 'rule' && uses[step.id] === true && roots.has(step.id)) found.push(step.atom);
    }
    return found;
  }

  /**
   * Derives everything that the proofs can need. A pattern is demanded as it was asked, since its answers
   * share most of their proofs, except if only a small share of the answers is to be proved, or if its
   * recursion was factored: then that would derive unneeded rows, or what factoring avoids, and each answer
   * is demanded by itself. Any other body is derived again as a whole.
   */
  async #ready(
    matches: Matches,
    rows: readonly number[],
    compiler: BodyCompiler,
    extra: Derived[],
  ): Promise<BuiltBody> {
    const set = this.#set;
    const { question: asked } = matches;
    const atom = derivedAtomOf(asked, set);
    let body: BuiltBody = {
      view: asked.view,
      literals: asked.body,
      filters: [],
      atoms: [],
      barriers: new Map(),
      groups: new Map(),
    };
    if (atom === null) body = this.#demandBody(asked, compiler, extra);
    else if (rows.length > 0 && settledTableFor(atom, asked.view, set) === null) {
      const tableKey = present(tableFor(atom, asked.view, set), 'what has answers has a table');
      const isFew = rows.length * fewDivisor <= matches.count;
      if (!set.isFactored(tableKey.table) && !isFew) demand(set, tableKey.table, tableKey.key);
      else for (const row of rows) this.#demandAtom(asked.view, groundAtom(atom, matches, row));
    }
    await settle(set, this.#reader, this.#pacer);
    return body;
  }

  #demandBody(asked: Question, compiler: BodyCompiler, extra: Derived[]): BuiltBody {
    const [level, { passingMemory: memory }] = [questionLevel, this.#set];
    const start = newDerived({ name: 'question', arity: 0, level, memory });
    const { length: arity } = asked.variables;
    const target = newDerived({ name: 'answers', arity, level, withHeights: true, memory });
    const conclusion = {
      target,
      headTerms: asked.variables,
      demand: start,
      demandTerms: [],
    };
    const body = compiler.compile(this.#set.planner.planQuestion(asked.view, asked.body), conclusion);
    extra.push(target);
    for (const derived of extra) this.#set.passing.add(derived);
    put(start, new Int32Array(0), 0, this.#set.work);
    return body;
  }

  #demandAtom(view: ScopeChoice, atom: AtomLiteral): void {
    if (!this.#set.isDerived(view, relationOf(atom))) return;
    if (settledTableFor(atom, view, this.#set) !== null) return;
    const tableKey = tableFor(atom, view, this.#set);
    if (tableKey !== null) demand(this.#set, tableKey.table, tableKey.key);
  }

  /**
   * The step of an answer: for a single literal its own, for a conjunction one above those of its literals.
   */
  async #proveAnswer(premises: readonly Premise[]): Promise<number | null> {
    const steps: number[] = [];
    for (const premise of premises) {
      const step = await this.#provePremise(premise);
      if (step === null) return null;
      steps.push(step);
    }
    const [only] = steps;
    if (steps.length === 1 && only !== undefined) return only;
    const atom = premises.map(({ rendered }) => rendered).join(', ');
    const step = { atom, kind: 'rule' as const, rule: null, ruleId: null, premises: steps, scope: null };
    return this.#stepOf.get(`answer\n${atom}`) ?? this.#add(`answer\n${atom}`, null, step);
  }

  /**
   * The number of the step that proves the premise; adds it if needed. The premise must have been proved, or
   * returned by `partsOf`, and the builder must be without a step limit.
   */
  async stepOf(premise: Premise): Promise<number> {
    return present(await this.#provePremise(premise), 'a proof without bound is not cut off');
  }

  /**
   * The derivations of a premise that was proved or returned here, by part; every part needs one of its
   * derivations. A conclusion has one part, an aggregate one for each of its tuples, and a leaf, including
   * stored facts, none. Each part has at most `most` derivations, ordered by height, then by rule creation,
   * then by rendered premises.
   */
  async partsOf(premise: Premise, most: number): Promise<(readonly Way[])[]> {
    const { literal, view, group } = premise;
    if (group !== null) {
      const explainer = this.#groupExplainer(group.built);
      const parts: Way[][] = [];
      for (const tuple of this.#tuplesOf(group.built, group.key)) {
        const found = await explainer.all(tuple, this.#reader, this.#pacer);
        parts.push(found.slice(0, most).map((each) => ({ ...each, rule: null })));
      }
      return parts;
    }
    if (isAggregate(literal) || isBuiltin(literal) || isAbsence(literal)) return [];
    if (this.storedFact(view, literal) !== null) return [];
    return [(await this.#waysTo({ view, literal })).slice(0, most)];
  }

  /** Those of these true atoms that a rule concludes, whether or not they are stored too. */
  async concludedAmong(goals: readonly GroundAtom[]): Promise<GroundAtom[]> {
    const derived = goals.filter(({ view, literal }) => this.#set.isDerived(view, relationOf(literal)));
    for (const [at, { view, literal }] of derived.entries()) {
      if ((at & 0xff) === 0xff) await this.#pacer.breathe();
      this.#demandAtom(view, literal);
    }
    await settle(this.#set, this.#reader, this.#pacer);
    const found: GroundAtom[] = [];
    for (const goal of derived) {
      await this.#pacer.breathe();
      const { table, tuple } = this.#find(goal);
      for (const rule of table.rules)
        if (await this.#explainer(rule).has(tuple, this.#reader, this.#pacer)) {
          found.push(goal);
          break;
        }
    }
    return found;
  }

  /**
   * The number of the premise's step, added after the steps that it needs; null if the proof is truncated.
   */
  async #provePremise(root: Premise): Promise<number | null> {
    const open: { readonly premise: Premise; choice: Choice | null }[] = [{ premise: root, choice: null }];
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      await this.#pacer.breathe();
      const { premise } = top;
      if (this.#stepOf.has(premise.key) || (top.choice === null && this.#addLeaf(premise))) {
        open.pop();
        continue;
      }
      if (this.isTruncated) return null;
      top.choice ??= await this.#choose(premise);
      const missing = top.choice.premises.filter((each) => !this.#stepOf.has(each.key));
      if (missing.length > 0)
        for (const each of missing.reverse()) open.push({ premise: each, choice: null });
      else if (this.#addChosen(premise, top.choice) === null) return null;
      else open.pop();
    }
    return this.#stepOf.get(root.key) ?? null;
  }

  #addChosen(premise: Premise, { rule, premises }: Choice): number | null {
    if (rule !== null && this.steps.length < this.#maxSteps)
      this.#concluded.push({ step: this.steps.length, premise });
    return this.#add(
      premise.key,
      { premise, rule },
      {
        atom: premise.rendered,
        ...this.#named(premise.literal),
        kind: rule === null ? 'aggregate' : 'rule',
        rule: rule === null ? null : rule.record.text,
        ruleId: rule === null ? null : rule.record.id,
        premises: premises.map((each) => this.#stepOf.get(each.key) as number),
        scope: rule === null ? null : rule.record.scope,
      },
    );
  }

  /**
   * Adds the step of a leaf: a true built-in, a negated atom, or a stored fact. False if the premise is no
   * leaf, or the proof is truncated.
   */
  #addLeaf(premise: Premise): boolean {
    const { literal, view } = premise;
    if (isAggregate(literal)) return false;
    const atom = premise.rendered;
    const plain = { atom, rule: null, ruleId: null, premises: [] };
    if (isBuiltin(literal) || isAbsence(literal)) {
      const kind = isBuiltin(literal) ? ('builtin' as const) : ('absence' as const);
      return this.#add(premise.key, { premise, rule: null }, { ...plain, kind, scope: null }) !== null;
    }
    const fact = this.storedFact(view, literal);
    if (fact === null) return false;
    const reader = this.#reader;
    const isNew = isAdded(reader, fact);
    const factId = isNew ? (reader.overlay?.idOf(fact) ?? null) : reader.facts.idOf(fact);
    const step = this.#add(premise.key, { premise, rule: null }, factStep(reader, fact, atom, factId));
    if (step !== null && !isNew) this.facts.push(fact);
    return step !== null;
  }

  /** The stored fact that proves a ground atom in a view; null if there is none. */
  storedFact(view: ScopeChoice, atom: AtomLiteral): FactRow | null {
    const reader = this.#reader;
    const pattern = { predicate: atom.predicate, args: atom.args, truthVal: !atom.negated, scope: view };
    const { facts, generation, time, overlay } = reader;
    // With few scopes, the atom is found without an index, which would cover all facts of its relation.
    const few = overlay === null ? lookUpFew(facts, pattern, generation, time, maxComparedScopes) : null;
    return provingFact(reader, few ?? matching(reader, pattern));
  }

  #add(key: string, proved: Proved | null, step: Omit<ProofStep, 'id'>): number | null {
    if (this.steps.length >= this.#maxSteps) {
      this.isTruncated = true;
      return null;
    }
    const id = this.steps.length;
    // The key and the atom have the same constants.
    this.#pacer.memory.takeText(step.atom, bytesOfStep + key.length);
    this.steps.push({ id, ...step });
    this.proved.push(proved);
    this.#stepOf.set(key, id);
    return id;
  }

  /** The field `named` of the step of a conclusion. */
  #named(literal: Literal): Pick<ProofStep, 'named'> {
    if (isAggregate(literal) || isBuiltin(literal)) return {};
    return this.#reader.names.part(literal.predicate, literal.args);
  }

  async #choose(premise: Premise): Promise<Choice> {
    if (premise.group !== null) return this.#chooseForGroup(premise.group.built, premise.group.key);
    const goal = { view: premise.view, literal: premise.literal as AtomLiteral };
    const { table, tuple, height } = this.#find(goal);
    for (const rule of table.rules) {
      if (height > 1 && concludesLow(rule.body)) continue;
      const found = await this.#explainer(rule).lowest(tuple, this.#reader, this.#pacer);
      if (found?.height === height) return { rule, premises: found.premises };
    }
    throw new Error(`assertion failed: ${renderAtom(goal.literal)} has an instance of its height`);
  }

  #explainer(rule: BuiltRule): Explainer {
    let explainer = this.#byRule.get(rule);
    if (explainer === undefined) {
      explainer = new Explainer(this.#set, rule.body, rule.record.rule.head.args, 1);
      this.#byRule.set(rule, explainer);
    }
    return explainer;
  }

  /**
   * Adds to every conclusion its other derivations, ordered by height, then by rule creation, then by
   * rendered premises, at most `maxAlternatives`.
   */
  async #addAlternatives(): Promise<void> {
    for (const { step, premise } of this.#concluded) {
      const ways = await this.#waysTo({ view: premise.view, literal: premise.literal as AtomLiteral });
      const alternatives: ProofAlternative[] = [];
      // The first derivation is the proof itself.
      for (const { rule, premises: others } of ways.slice(1, 1 + maxAlternatives)) {
        const premises: number[] = [];
        for (const each of others) {
          const proved = await this.#provePremise(each);
          if (proved === null) return;
          premises.push(proved);
        }
        alternatives.push({ rule: rule.record.text, ruleId: rule.record.id, premises });
      }
      (this.steps[step] as ProofStep).alternatives = alternatives;
    }
  }

  /** All derivations of the atom, ordered by height, then by rule creation, then by rendered premises. */
  async #waysTo(goal: GroundAtom): Promise<(Way & { readonly rule: BuiltRule })[]> {
    const { table, tuple } = this.#find(goal);
    const ways: (Way & { readonly rule: BuiltRule })[] = [];
    for (const rule of table.rules)
      for (const { height, premises } of await this.#explainer(rule).all(tuple, this.#reader, this.#pacer))
        ways.push({ rule, height, premises });
    return ways.sort((left, right) => left.height - right.height);
  }

  /**
   * The premises of an aggregate: those of the lowest derivation of each of its tuples, every premise once.
   */
  async #chooseForGroup(group: BuiltGroup, key: Int32Array): Promise<Choice> {
    const explainer = this.#groupExplainer(group);
    const premises = new TextMap<Premise>();
    for (const tuple of this.#tuplesOf(group, key)) {
      const found = await explainer.lowest(tuple, this.#reader, this.#pacer);
      for (const premise of present(found, 'a tuple of a group was derived').premises)
        if (!premises.has(premise.rendered)) premises.set(premise.rendered, premise);
    }
    return { rule: null, premises: [...premises.values()] };
  }

  #groupExplainer(group: BuiltGroup): Explainer {
    let explainer = this.#byGroup.get(group);
    if (explainer === undefined)
      this.#byGroup.set(group, (explainer = new Explainer(this.#set, group.body, group.headTerms, 0)));
    return explainer;
  }

  /** The tuples of a group for one key, ordered by their texts. */
  #tuplesOf(group: BuiltGroup, key: Int32Array): Int32Array[] {
    const { rows } = group.source.rows;
    const found: { readonly tuple: Int32Array; readonly texts: string[] }[] = [];
    const take = (row: number): void => {
      if (rows.isDead(row)) return;
      const tuple = Int32Array.from(rows.columns, (column) => column[row] as number);
      found.push({ tuple, texts: Array.from(tuple, (id) => this.#set.constants.text(id)) });
    };
    if (key.length === 0) for (let row = 0; row < rows.count; row++) take(row);
    else {
      const index = rows.index([...key.keys()]);
      for (let next = index.first(key); next !== 0; next = index.next[next - 1] as number) take(next - 1);
    }
    return found.sort((left, right) => compareTexts(left.texts, right.texts)).map(({ tuple }) => tuple);
  }

  /** The table with the atom, its tuple and its least height. */
  #find({ literal, view }: GroundAtom): { table: Table; tuple: Int32Array; height: number } {
    const { args } = literal;
    const tuple = new Int32Array(args.length);
    for (let at = 0; at < args.length; at++) tuple[at] = this.#set.constants.idOf(args[at] as string);
    const wanted = viewKey(view);
    for (const table of this.#set.tablesOf(relationOf(literal))) {
      if (viewKey(table.view) !== wanted) continue;
      // Only demanded rows have their least height.
      const key = Int32Array.from(table.boundPositions, (position) => tuple[position] as number);
      if (table.demand.rows.find(key) < 0) continue;
      const { rows } = table.rows;
      const row = rows.find(tuple);
      if (row < 0) continue;
      return { table, tuple, height: present(rows.heights, 'proof tables carry heights').of[row] as number };
    }
    throw new Error(`assertion failed: ${renderAtom(literal)} was derived`);
  }
}

/** True if all instances of the body use stored facts alone: their conclusions have height 1. */
function concludesLow({ atoms, groups }: BuiltBody): boolean {
  return groups.size === 0 && atoms.every(({ source }) => source.kind === 'stored');
}

/** The step of a stored fact, `atom` as rendered; `factId` is null if it has no id yet. */
export function factStep(
  reader: ProofReader,
  fact: FactRow,
  atom: string,
  factId: string | null,
): Omit<ProofStep, 'id'> {
  const { overlay, names } = reader;
  const facts = overlay !== null && isAdded(reader, fact) ? overlay.added.facts : reader.facts;
  const metadata = facts.metadataOf(fact);
  return {
    atom,
    ...names.part(fact.relation.predicate, facts.argsOf(fact)),
    rule: null,
    ruleId: null,
    premises: [],
    kind: 'fact',
    scope: facts.scopeOf(fact),
    ...(factId === null ? {} : { factId }),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}

/**
 * Of the facts of one atom, the one that proves it: without scope first, then by the order in which scopes
 * were first used. Scopes that exist only in an overlay come last. null if there are no facts.
 */
export function provingFact(reader: Reader, facts: Iterable<FactRow>): FactRow | null {
  let first: FactRow | null = null;
  let firstScope = Number.POSITIVE_INFINITY;
  for (const fact of facts) {
    const scope = scopeRank(reader, fact);
    if (scope >= firstScope) continue;
    first = fact;
    firstScope = scope;
  }
  return first;
}

/** The number of the fact's scope; scopes that exist only in an overlay come after all others. */
function scopeRank(reader: Reader, fact: FactRow): number {
  const number = (fact.relation.columns[fact.relation.arity] as Int32Array)[fact.row] as number;
  if (reader.overlay === null || !isAdded(reader, fact)) return number;
  const known = reader.facts.scopeNumber(reader.overlay.added.facts.scopeOf(fact));
  return known < 0 ? 2 ** 31 + number : known;
}

/** The atom of a question with one atom, for a row of its answer. */
function groundAtom(atom: AtomLiteral, matches: Matches, row: number): AtomLiteral {
  const { question: asked, columns, constants } = matches;
  const args = atom.args.map((term) => {
    const at = asked.variables.indexOf(term);
    return at < 0 ? term : constants.text((columns[at] as Int32Array)[row] as number);
  });
  return { ...atom, args };
}
