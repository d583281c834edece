import { TextMap, TextSet } from '../base/text-map.ts';
import { present } from '../base/assert.ts';
import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import { EngineError } from '../base/errors.ts';
import { TextComparisons } from '../base/text-order.ts';
import { type ProofNode, provable, smallestProof, type ProofTrial } from './proof-search.ts';
import { type Sized, compareViews, type OpenWindow, type ProofEntry } from './open-window.ts';
import type { OmissionReason, ProofMode } from '../contract/context.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { answerAt } from '../read/listed-conclusions.ts';
import { renderAtom } from '../language/print.ts';
import { isAbsence, isAggregate, isBuiltin } from '../language/terms.ts';
import type { Premise } from '../datalog/explain/explainer.ts';
import type { ProofBuilder, Way } from '../datalog/explain/proof.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { rowsByText, sortedOrder } from '../datalog/tables/sorted.ts';
import type { Matches } from '../datalog/tables/question.ts';
import type { VisibleKnowledge } from './window-knowledge.ts';

/**
 * Limits of the search for another proof. Cost is bounded and depends only on the knowledge and the request: of one
 * answer, up to `maxConclusions` conclusions, nearest first, with up to `maxWays` ways each, are considered; the search
 * ends after `maxChoices` choices; at most `maxSearched` answers of a window are searched for.
 */
const maxWays = 100;
const maxConclusions = 1000;
const maxChoices = 4000;
const maxSearched = 100;

/** What looking an atom up costs beside its text, as bytes of text. */
const lookUpBytes = 960;

/** An answer to a goal. */
export interface GoalAnswer {
  readonly literal: AtomLiteral;
  readonly atom: string;
  readonly salience: number;
  /** The step of its proof; null: it is stored and proves itself. */
  readonly step: number | null;
}

/** True for the refusal of what takes more than there is of time or memory. */
export function isLimit(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'InferenceLimitExceeded';
}

/** The proofs of a goal's answers met a limit, and with them all tables that they used. */
export class UnprovedGoal extends Error {
  /** Its place among the goals. */
  readonly at: number;

  constructor(at: number) {
    super(`the proofs of goal ${at} met a limit`);
    this.name = 'UnprovedGoal';
    this.at = at;
  }
}

/**
 * Proves the answers to the goals, none to those that met a limit (null); each list is in the order in which the proofs are
 * added. Records conclusions in `seen`. Throws UnprovedGoal.
 */
export async function proveGoals(
  seen: VisibleKnowledge,
  builder: ProofBuilder | null,
  goals: readonly (Matches | null)[],
): Promise<{ readonly answers: GoalAnswer[][]; readonly alsoConcluded: Set<string> }> {
  const { pacer } = seen.context;
  const alsoConcluded = new TextSet();
  const meter = new ByteMeter();
  const proved: { readonly literal: AtomLiteral; readonly step: number | null }[][] = [];
  for (const [at, matches] of goals.entries()) {
    const found: { literal: AtomLiteral; step: number | null }[] = [];
    const rows: number[] = [];
    // Their proofs share steps: by text, so that it does not matter in which order they were derived.
    for (const row of matches === null ? [] : await inOrder(matches, pacer)) {
      const literal = answerAt(matches as Matches, row);
      if (meter.counts(lookUpBytes + charactersOf(literal.args))) await pacer.breathe();
      if (seen.stored(literal) === null) rows.push(row);
      else found.push({ literal, step: null });
    }
    proved.push(found);
    if (builder === null || matches === null) continue;
    const stored = found.map(({ literal }) => literal);
    try {
      const { roots } = await builder.prove(matches, rows);
      for (const [of, row] of rows.entries()) {
        const literal = answerAt(matches, row);
        found.push({ literal, step: present(roots[of], 'an answer has a root') });
        if (meter.counts(charactersOf(literal.args))) await pacer.breathe();
      }
      for (const atom of await concludedAmong(seen, builder, stored)) alsoConcluded.add(atom);
    } catch (error) {
      if (!isLimit(error)) throw error;
      // What the pacer of the window refuses is not this goal's fault.
      pacer.look();
      throw new UnprovedGoal(at);
    }
  }
  await seen.conclusions?.takeIn();
  if (builder !== null) await noteConcluded(seen, builder);
  const answers: GoalAnswer[][] = [];
  for (const found of proved) answers.push(await sortedAnswers(seen, found));
  return { answers, alsoConcluded };
}

function inOrder({ columns, count, constants }: Matches, pacer: Pacer): Promise<Int32Array> {
  return rowsByText(columns, count, constants, pacer);
}

/** Of stored atoms, those that a rule also concludes. */
export async function concludedAmong(
  { view }: VisibleKnowledge,
  builder: ProofBuilder,
  stored: readonly AtomLiteral[],
): Promise<string[]> {
  const found = await builder.concludedAmong(stored.map((literal) => ({ view, literal })));
  return found.map(({ literal }) => renderAtom(literal));
}

/** Records every conclusion in the proofs that is not stored; of several views the first. */
async function noteConcluded(seen: VisibleKnowledge, builder: ProofBuilder): Promise<void> {
  const views = new Map<string, ScopeChoice>();
  const meter = new ByteMeter();
  for (const [step, proved] of builder.proved.entries()) {
    if (meter.counts(0)) await seen.context.pacer.breathe();
    if (proved === null || proved.rule === null) continue;
    const { literal, view } = proved.premise;
    if (isAggregate(literal)) continue;
    const atom = renderAtom(literal);
    if (meter.counts(lookUpBytes + atom.length)) await seen.context.pacer.breathe();
    const known = views.get(atom);
    if (known !== undefined && compareViews(seen.view, known, view) <= 0) continue;
    if (known === undefined && seen.stored(literal) !== null) continue;
    views.set(atom, view);
    seen.concluded.set(atom, step);
  }
}

async function sortedAnswers(
  seen: VisibleKnowledge,
  found: readonly { readonly literal: AtomLiteral; readonly step: number | null }[],
): Promise<GoalAnswer[]> {
  const answers: GoalAnswer[] = [];
  const texts = new TextComparisons();
  const meter = new ByteMeter();
  for (const { literal, step } of found) {
    if (meter.counts(lookUpBytes + charactersOf(literal.args))) await seen.context.pacer.breathe();
    const salience = step === null ? (seen.stored(literal)?.salience ?? 0) : seen.salienceOf(step);
    answers.push({ literal, atom: texts.see(renderAtom(literal)), salience, step });
  }
  const at = (index: number): GoalAnswer => answers[index] as GoalAnswer;
  const order = await sortedOrder(
    answers.length,
    (left, right) => at(right).salience - at(left).salience || texts.compare(at(left).atom, at(right).atom),
    seen.context.pacer,
    texts,
  );
  return Array.from(order, at);
}

/** The step of a canonical proof that was refused, and why. */
interface RefusedProof {
  readonly step: number;
  readonly reason: OmissionReason;
}

/**
 * Adds the proofs of the goals' answers to a window, each complete or not at all, and records why others are left out.
 *
 * It tries the canonical proof, the one that /infer gives; if that does not fit, the smallest fitting proof that a
 * bounded search finds.
 */
export class GoalProofs {
  /** In the order in which they were tried. */
  readonly refused: RefusedProof[] = [];
  /** The answers with a complete proof in the window. */
  readonly taken = new TextSet();
  readonly #window: OpenWindow;
  readonly #builder: ProofBuilder | null;
  readonly #graph: WayGraph | null;
  #searched = 0;

  readonly #mode: ProofMode;

  constructor(window: OpenWindow, builder: ProofBuilder | null, mode: ProofMode) {
    this.#window = window;
    this.#builder = builder;
    this.#mode = mode;
    this.#graph = builder === null ? null : new WayGraph(window, builder);
  }

  async fill(answers: readonly GoalAnswer[]): Promise<void> {
    const { leftOut, context } = this.#window;
    for (const answer of answers) {
      await context.pacer.breathe();
      const refused = await this.#take(answer);
      if (refused === null) this.taken.add(answer.atom);
      else if (!leftOut.has(answer.atom)) leftOut.set(answer.atom, refused);
    }
  }

  /**
   * For a goal none of whose proofs fits whole: the stored premises of its answers' proofs, each all or none. Call it
   * after `fill` of every goal, so that premises take no room from whole proofs.
   */
  async fillPremises(answers: readonly GoalAnswer[]): Promise<void> {
    if (this.#builder === null || this.#mode === 'whole') return;
    if (this.#mode === 'auto' && answers.some(({ atom }) => this.taken.has(atom))) return;
    for (const { step } of answers) if (step !== null) await this.#takePremises(this.#builder, step);
  }

  async #take({ literal, step }: GoalAnswer): Promise<OmissionReason | null> {
    const window = this.#window;
    if (step === null || this.#graph === null || this.#builder === null)
      return window.takeProof([storedEntry(literal, window.seen.view)]);
    if (this.#mode === 'premises') return 'filtered';
    return this.#takeWhole(this.#builder, this.#graph, literal, step);
  }

  /** Adds the stored premises of the canonical proof, without conclusions. */
  async #takePremises(builder: ProofBuilder, root: number): Promise<void> {
    const window = this.#window;
    const steps = new Set([root]);
    const premises = new TextMap<ProofEntry>();
    for (const step of steps) {
      if ((steps.size & 0xff) === 0) await window.context.pacer.breathe();
      const { atom, kind, premises: below } = present(builder.steps[step], 'the step exists');
      for (const each of below) steps.add(each);
      if (kind !== 'fact' || window.has(atom)) continue;
      const { premise } = present(builder.proved[step], 'the step proves something');
      const literal = atomOf(premise);
      if (literal !== null) premises.set(atom, storedEntry(literal, premise.view));
      if (premises.size > window.budget.room) return;
    }
    await window.takeProof([...premises.values()].reverse());
  }

  async #takeWhole(
    builder: ProofBuilder,
    graph: WayGraph,
    literal: AtomLiteral,
    step: number,
  ): Promise<OmissionReason | null> {
    const window = this.#window;
    const proof = await this.#canonical(builder, step);
    const refused =
      proof === null ? ((await window.refusal(literal)) ?? 'budget') : await window.takeProof(proof.entries);
    if (refused === null) {
      graph.noteProved(proof?.premises ?? []);
      return null;
    }
    this.refused.push({ step, reason: refused });
    if ((await window.refusal(literal)) !== null || this.#searched >= maxSearched) return refused;
    const { premise } = present(builder.proved[step], 'the step is proved');
    if ((await graph.minNew(premise)) > window.budget.room) return refused;
    this.#searched++;
    const other = await graph.smallest(premise);
    if (other === null) return refused;
    const isRefused = await window.takeProof(other.entries);
    if (isRefused === null) graph.noteProved(other.premises);
    return isRefused;
  }

  /** The canonical proof; null if it has more new entries than there is room for. */
  async #canonical(builder: ProofBuilder, root: number): Promise<Proof | null> {
    const window = this.#window;
    const steps = new Set([root]);
    const fresh = new TextSet();
    for (const step of steps) {
      if ((steps.size & 0xff) === 0) await window.context.pacer.breathe();
      const { atom, kind, premises } = present(builder.steps[step], 'the step exists');
      if ((kind === 'fact' || kind === 'rule') && !window.has(atom)) fresh.add(atom);
      if (fresh.size > window.budget.room) return null;
      for (const premise of premises) steps.add(premise);
    }
    const entries: ProofEntry[] = [];
    const proved: Premise[] = [];
    for (const step of [...steps].sort((left, right) => left - right)) {
      const { premise, rule } = present(builder.proved[step], 'the step proves something');
      proved.push(premise);
      const literal = atomOf(premise);
      if (literal === null) continue;
      const said = present(builder.steps[step], 'the step exists').premises;
      const premises = said.map((each) => builder.steps[each]?.atom ?? '');
      entries.push({
        literal,
        view: premise.view,
        by: rule === null ? null : { rule, premises },
        conclusion: () => Promise.resolve(window.seen.conclusion(literal) ?? window.seen.conclusionAt(step)),
      });
    }
    return { entries, premises: proved };
  }
}

/** A proof to add: its atoms, each after its premises, and everything that it proves. */
interface Proof {
  readonly entries: readonly ProofEntry[];
  readonly premises: readonly Premise[];
}

function storedEntry(literal: AtomLiteral, view: ScopeChoice): ProofEntry {
  const conclusion = () => Promise.reject(new Error('assertion failed: a stored atom is not a conclusion'));
  return { literal, view, by: null, conclusion };
}

/** The atom that the premise adds to a window; null for an absence, a built-in or an aggregate. */
export function atomOf({ literal }: Premise): AtomLiteral | null {
  return isAggregate(literal) || isBuiltin(literal) || isAbsence(literal) ? null : literal;
}

/** The graph of ways to prove premises, built on demand; see `ProofBuilder.partsOf`. */
class WayGraph {
  readonly #window: OpenWindow;
  readonly #builder: ProofBuilder;
  readonly #parts = new TextMap<readonly (readonly Way[])[]>();
  /** What the proofs in the window prove. */
  readonly #proved = new TextSet();

  constructor(window: OpenWindow, builder: ProofBuilder) {
    this.#window = window;
    this.#builder = builder;
  }

  noteProved(premises: readonly Premise[]): void {
    for (const premise of premises) this.#proved.add(premise.key);
  }

  /** A lower bound on the new atoms in any proof of the premise: itself and those of one way. */
  async minNew(premise: Premise): Promise<number> {
    const newIn = (premises: readonly Premise[]): string[] =>
      premises.flatMap((each) => {
        const literal = atomOf(each);
        const atom = literal === null ? null : renderAtom(literal);
        return atom === null || this.#window.has(atom) ? [] : [atom];
      });
    let min = 0;
    for (const part of await this.#partsOf(premise)) {
      const counts = part.map((way) => new Set(newIn([premise, ...way.premises])).size);
      min = Math.max(
        min,
        counts.reduce((left, right) => Math.min(left, right), Number.POSITIVE_INFINITY),
      );
    }
    return min;
  }

  /** The smallest fitting proof among those considered; null: none. */
  async smallest(root: Premise): Promise<Proof | null> {
    const found = await this.#graphFrom(root);
    const { pacer } = this.#window.context;
    const breathe = () => pacer.breathe();
    const nodes = found.map(({ node }) => node);
    const trial = await this.#trial(found);
    const atoms = await smallestProof(nodes, 0, trial, { maxChoices, breathe });
    if (atoms === null) return null;
    const taken = new Set(atoms);
    const isTaken = ({ atom }: ProofNode): boolean =>
      atom === null || taken.has(atom) || this.#window.has(atom);
    const proved = await provable(nodes, (node) => isTaken(present(nodes[node], 'the node exists')), breathe);
    const used = new Set([0]);
    for (const at of used)
      for (const [part, way] of (proved.get(at)?.ways ?? []).entries())
        for (const premise of nodes[at]?.parts?.[part]?.[way] ?? []) used.add(premise);
    const heightOf = (at: number): number => proved.get(at)?.height ?? 0;
    const order = [...used].sort((left, right) => heightOf(left) - heightOf(right) || left - right);
    const entries: ProofEntry[] = [];
    for (const at of order) {
      const { premise, parts } = present(found[at], 'the node exists');
      const literal = atomOf(premise);
      if (literal !== null)
        entries.push(this.#entry(premise, literal, parts[0]?.[proved.get(at)?.ways[0] ?? -1]));
    }
    return { entries, premises: order.map((at) => present(found[at], 'the node exists').premise) };
  }

  #entry(premise: Premise, literal: AtomLiteral, way: Way | undefined): ProofEntry {
    const { seen } = this.#window;
    const { rule = null, premises = [] } = way ?? {};
    return {
      literal,
      view: premise.view,
      by: rule === null ? null : { rule, premises: premises.map((each) => each.rendered) },
      conclusion: async () =>
        seen.conclusion(literal) ?? seen.conclusionAt(await this.#builder.stepOf(premise)),
    };
  }

  /** The root and what its derivations lead to, nearest first, as nodes. */
  async #graphFrom(root: Premise): Promise<GraphNode[]> {
    const numbers = new TextMap<number>();
    const premises: Premise[] = [];
    const numberOf = (premise: Premise): number => {
      const key = premise.key;
      const known = numbers.get(key);
      if (known !== undefined) return known;
      numbers.set(key, premises.length);
      return premises.push(premise) - 1;
    };
    numberOf(root);
    const found: GraphNode[] = [];
    let conclusions = 0;
    for (const premise of premises) {
      const literal = atomOf(premise);
      const atom = literal === null ? null : renderAtom(literal);
      const isDone = this.#proved.has(premise.key);
      let parts: readonly (readonly Way[])[] | null = [];
      if (literal !== null && !isDone && (await this.#window.refusal(literal)) !== null) parts = null;
      else if (!isDone && conclusions >= maxConclusions) parts = null;
      else if (!isDone) parts = await this.#partsOf(premise);
      if (parts !== null && parts.length > 0) conclusions++;
      const numbered = parts?.map((part) => part.map((way) => way.premises.map(numberOf))) ?? null;
      found.push({ premise, parts: parts ?? [], node: { atom, parts: numbered } });
    }
    return found;
  }

  async #partsOf(premise: Premise): Promise<readonly (readonly Way[])[]> {
    const key = premise.key;
    let parts = this.#parts.get(key);
    if (parts === undefined) this.#parts.set(key, (parts = await this.#builder.partsOf(premise, maxWays)));
    return parts;
  }

  /** The window as a trial for proofs of these nodes; no proof may contain an atom both true and false. */
  async #trial(found: readonly GraphNode[]): Promise<ProofTrial> {
    const { budget, resolves } = this.#window;
    const sizes = new TextMap<Sized>();
    for (const { premise } of found) {
      const literal = atomOf(premise);
      if (literal !== null) sizes.set(renderAtom(literal), await this.#window.sizeOf(literal));
    }
    const sizeOfAtom = (atom: string): Sized => present(sizes.get(atom), 'an atom of the graph');
    const tried = new TextSet();
    return {
      has: (atom) => this.#window.has(atom),
      add: (atom) => {
        const isRefused = resolves && tried.has(atom.startsWith('-') ? atom.slice(1) : `-${atom}`);
        if (isRefused || budget.add(sizeOfAtom(atom)) !== null) return false;
        tried.add(atom);
        return true;
      },
      remove: (atom) => {
        tried.delete(atom);
        budget.remove(sizeOfAtom(atom));
      },
    };
  }
}

/** A node of the graph with the premise it represents. */
interface GraphNode {
  readonly premise: Premise;
  readonly parts: readonly (readonly Way[])[];
  readonly node: ProofNode;
}
