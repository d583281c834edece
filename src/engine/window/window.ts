import { ByteMeter } from '../base/byte-meter.ts';
import { TextMap } from '../base/text-map.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import type { ContextWindow, Goal, OmissionReason, OptimizeInput } from '../contract/context.ts';
import type { Atom, AtomLiteral, Literal } from '../contract/language.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { Conclusions, everyAtom } from '../read/listed-conclusions.ts';
import { type Candidate, OpenWindow } from './open-window.ts';
import { ProofBuilder } from '../datalog/explain/proof.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { type Matches, question } from '../datalog/tables/question.ts';
import {
  fillBuckets,
  fillMatching,
  fillRelated,
  fillRest,
  sortedByPrecedence,
  omittedFrom,
  reasonsOfRefused,
} from './window-candidates.ts';
import { type FactTest, tokensIn } from '../memory/fact-lines.ts';
import { keyOf } from '../search/graph-nearness.ts';
import { knowledgeOf, type QueryKnowledge } from '../search/search.ts';
import { termsOf } from '../search/words.ts';
import { atomOf, GoalProofs, isLimit, proveGoals, type GoalAnswer, UnprovedGoal } from './window-goals.ts';
import { proveInferred, withoutWeaker } from './window-inferred.ts';
import { VisibleKnowledge } from './window-knowledge.ts';
import { present } from '../base/assert.ts';
import { renderAtom } from '../language/print.ts';

/**
 * A context window: the facts to read for a task, within a budget.
 *
 * First derives everything requested, then resolves contradictions, then fills the window: proofs of the goals, each
 * complete or not at all, related facts, buckets, the rest by salience. Reads one pinned state and does not count as a
 * use; the same knowledge gives the same window.
 */
export async function contextWindow(
  context: ReadContext,
  input: OptimizeInput,
  newId: () => string,
  leftOut: LeftOutFacts | null = null,
): Promise<ContextWindow> {
  const { reasoner, reader, pacer } = context;
  const view = scopeChoice(input);
  const query = input.query === null ? null : await queryOf(context, view, input, input.query);
  const asked: Asked = {
    input,
    view,
    query,
    wanted: [],
    goals: [],
    relations: [],
    windowId: newId(),
    isLeftOut: leavesOut(leftOut),
  };
  const answering = pacer.within(answeringShare * pacer.leftMs);
  const given = input.goals ?? [];
  for (const [at, goal] of given.entries()) {
    const share = at === given.length - 1 ? 1 : oneGoalShare;
    asked.wanted.push(goal);
    asked.goals.push(await answersTo(context, view, goal, answering.within(share * answering.leftMs)));
  }
  for (const { goal, matches } of query?.goals ?? []) {
    if (asked.wanted.some((other) => renderAtom(other) === renderAtom(goal))) continue;
    asked.wanted.push(goal);
    asked.goals.push(matches);
  }
  for (const relation of relationsConcerned(context, input))
    asked.relations.push(await everyAtom(context, view, relation));
  for (;;) {
    if (asked.goals.every((each) => each === null) && asked.relations.length === 0)
      return filled(context, asked, null);
    // Tables in which a proof met a limit are gone, and with them what they had taken of the memory.
    const trial = pacer.within(pacer.leftMs);
    const proving = pacer.within(provingShare * pacer.leftMs);
    try {
      return await reasoner.evaluate(reader, true, trial, (set) =>
        filled(context, asked, new ProofBuilder(set, reader, proving, Number.POSITIVE_INFINITY)),
      );
    } catch (error) {
      if (!(error instanceof UnprovedGoal)) throw error;
      asked.goals[error.at] = null;
    }
  }
}

/**
 * Facts that are not added beside proofs: those of the predicate with this first argument, and one of the texts as their
 * third.
 */
export interface LeftOutFacts {
  readonly predicate: string;
  readonly first: string;
  readonly texts: readonly string[];
}

/** A test for these facts. */
export function leavesOut(leftOut: LeftOutFacts | null): FactTest {
  if (leftOut === null) return () => false;
  const texts = new Set(leftOut.texts);
  return ({ predicate, args: [first, , text = ''] }) =>
    predicate === leftOut.predicate && first === leftOut.first && texts.has(text);
}

/**
 * The share of the time that all given goals have for their answers, and of the rest for their proofs: one that explodes
 * leaves the others, and what fills the window, their time.
 */
const answeringShare = 0.6;
const provingShare = 0.75;
/** The share of what is left of it that one goal may take, if others follow. */
const oneGoalShare = 0.5;

/** The answers to a goal; null: they take more than there is of time or memory. */
async function answersTo(
  { reasoner, reader }: ReadContext,
  view: ScopeChoice,
  { predicate, args, negated }: Goal,
  pacer: Pacer,
): Promise<Matches | null> {
  const asked = question(view, [{ predicate, args, negated, naf: false }]);
  try {
    return await reasoner.answers(asked, reader, pacer);
  } catch (error) {
    if (isLimit(error)) return null;
    throw error;
  }
}

/** Time for the goals of a query unless the request says how long it may take, in milliseconds. */
const queryTimeoutMs = 2_000;

/** Time for the goals of a query in a request with this time limit, in milliseconds. */
export function queryGoalsMs(timeoutMs: number | null): number {
  return timeoutMs === null ? queryTimeoutMs : answeringShare * timeoutMs;
}

function queryOf(
  context: ReadContext,
  view: ScopeChoice,
  { maxFacts, predicates, timeoutMs }: OptimizeInput,
  query: string,
): Promise<QueryKnowledge> {
  const wanted = { query, predicates, most: maxFacts, timeoutMs: queryGoalsMs(timeoutMs) };
  return knowledgeOf(context, view, wanted);
}

/** A request with the answers to what it asks for. */
interface Asked {
  readonly input: OptimizeInput;
  readonly view: ScopeChoice;
  /** What is known of the query; null: there is none. */
  readonly query: QueryKnowledge | null;
  /** The goals: the given ones, then those of the query. */
  readonly wanted: Goal[];
  /** The answers to each goal; null: it met a limit. */
  readonly goals: (Matches | null)[];
  /** All atoms of the relations whose conclusions are wanted. */
  readonly relations: Matches[];
  readonly windowId: string;
  /** Facts that are not added beside proofs. */
  readonly isLeftOut: FactTest;
}

/** The relations whose conclusions a window may contain: of the wanted predicates, or all. */
function relationsConcerned({ reader }: ReadContext, input: OptimizeInput): RelationShape[] {
  if (!input.includeInferred) return [];
  const wanted = input.predicates === null ? null : new Set(input.predicates);
  return reader.program.conclusions().filter(({ predicate }) => wanted?.has(predicate) !== false);
}

async function filled(
  context: ReadContext,
  asked: Asked,
  builder: ProofBuilder | null,
): Promise<ContextWindow> {
  const { input, view, query, wanted } = asked;
  const conclusions = builder === null ? null : new Conclusions(context, builder, context.reader.time);
  const seen = new VisibleKnowledge(context, view, conclusions);
  const { answers, alsoConcluded } = await proveGoals(seen, builder, asked.goals);
  const inferred =
    builder === null
      ? new Map<string, number>()
      : await proveInferred(seen, builder, asked.relations, alsoConcluded);
  const contradicted = await seen.contradicted();
  const resolves = input.autoResolveContradictions;
  const weaker = new Set(resolves ? contradicted.map((each) => each.weaker) : []);
  const window = new OpenWindow(seen, weaker, { ...input, isLeftOut: asked.isLeftOut });

  const proofs = new GoalProofs(window, builder, input.proofs);
  if (query !== null) sortByRank(answers.slice(input.goals?.length ?? 0), query);
  for (const each of answers) await proofs.fill(each);
  for (const each of answers) await proofs.fillPremises(each);
  const others = await candidates(window, builder, inferred);
  if (query !== null) await fillMatching(window, query.facts);
  if (query === null || input.fill) {
    await fillRelated(window, others.candidates);
    await fillBuckets(window, others.candidates);
    await fillRest(window, others.candidates);
  }

  const isWanted = wantedBy(input);
  const { available, savings } = await totals(seen, alsoConcluded, isWanted);
  const shown = contradicted.flatMap((each) => (isWanted(each.shown.predicate) ? [each.shown] : []));
  const answer: ContextWindow = {
    windowId: asked.windowId,
    entries: [...window.entries.values()],
    goals: await reportGoals(window, builder, proofs, asked, answers),
    ...(query === null ? {} : { goalsLeftOut: query.goalsLeftOut, mentions: [...query.mentions] }),
    relevantRules: relevantRules(window, wanted.length > 0),
    totalFactsAvailable: available,
    totalFactsIncluded: window.entries.size,
    deduplicationSavings: savings,
    contradictionsFound: shown.length,
    contradictionsResolved: resolves ? shown.length : 0,
    contradictions: shown,
    bucketStats: bucketStats(window, input),
    totalCharCount: Array.from(window.entries.values()).reduce((sum, { charCount }) => sum + charCount, 0),
    totalTokenCount: await tokensIn(context, window.entries.values()),
    goalDriven: wanted.length > 0,
    knowledgeGeneration: context.reader.generation,
    generatedAt: context.reader.time,
  };
  if (!input.explainOmitted) return answer;
  const ofConclusions = new Map(others.reasons);
  if (builder !== null)
    for (const [atom, reason] of await reasonsOfRefused(window, builder, proofs.refused))
      if (!ofConclusions.has(atom)) ofConclusions.set(atom, reason);
  const isAbout = query === null || input.fill ? () => true : aboutQuery(query);
  const omitted = await omittedFrom(window, { alsoConcluded, ofConclusions, isAbout });
  // Filtered atoms are listed too.
  const all = input.predicates === null ? { available, savings } : await totals(seen, alsoConcluded);
  const isComplete = omitted.length === all.available - window.entries.size + all.savings;
  return { ...answer, omitted, ...(isComplete ? {} : { omittedComplete: false as const }) };
}

/** Tells what a query is about: what the search found or what is near to it, and whatever shares a word with it. */
function aboutQuery({ facts, hits, terms }: QueryKnowledge): (candidate: Candidate) => boolean {
  const near = new Set(facts.map(keyOf));
  return ({ atom, fact }) =>
    hits.has(atom) ||
    (fact !== null && near.has(keyOf(fact))) ||
    termsOf(atom).some((term) => terms.has(term));
}

/**
 * Sorts the stored answers of a query's goals as the search ranks them: a constant may be in more than there is room
 * for.
 */
function sortByRank(answers: readonly GoalAnswer[][], { hits }: QueryKnowledge): void {
  const rankOf = ({ atom, step }: GoalAnswer): number =>
    step === null ? (hits.get(atom) ?? Number.MAX_SAFE_INTEGER) : 0;
  for (const each of answers) each.sort((left, right) => rankOf(left) - rankOf(right));
}

/** True for predicates that the window may contain. */
function wantedBy({ predicates }: OptimizeInput): (predicate: string) => boolean {
  const wanted = predicates === null ? null : new Set(predicates);
  return (predicate) => wanted?.has(predicate) ?? true;
}

/** The number of distinct atoms a window could contain, and the number of their copies, for the wanted predicates. */
async function totals(
  seen: VisibleKnowledge,
  alsoConcluded: ReadonlySet<string>,
  isWanted: (predicate: string) => boolean = () => true,
): Promise<{ readonly available: number; readonly savings: number }> {
  const { facts, atoms } = await seen.count(isWanted);
  const counted = (rendered: Iterable<string>): number => {
    let count = 0;
    for (const atom of rendered) if (isWanted(predicateOf(atom))) count++;
    return count;
  };
  return {
    available: atoms + counted(seen.concluded.keys()),
    savings: facts - atoms + counted(alsoConcluded),
  };
}

/** The predicate of a rendered atom. */
function predicateOf(atom: string): string {
  return atom.slice(atom.startsWith('-') ? 1 : 0, atom.indexOf('('));
}

/** The conclusions that may be added beside proofs, in order, and the reasons against others. */
async function candidates(
  window: OpenWindow,
  builder: ProofBuilder | null,
  inferred: ReadonlyMap<string, number>,
): Promise<{ candidates: Candidate[]; reasons: Map<string, OmissionReason> }> {
  const { seen, weaker, context } = window;
  const reasons = new TextMap<OmissionReason>();
  if (builder === null) return { candidates: [], reasons };
  const changed = await withoutWeaker(context, builder, inferred, weaker);
  const found: Candidate[] = [];
  for (const atom of inferred.keys()) {
    const by = changed.get(atom) ?? null;
    const step = seen.concluded.get(atom);
    if (step === undefined) continue;
    const { predicate, args, scope, salience } = seen.conclusionAt(step);
    if (changed.has(atom) && by === null) reasons.set(atom, 'contradiction');
    else found.push({ atom, predicate, args, scope, salience, fact: null, by });
    if ((found.length & 0xff) === 0xff) await context.pacer.breathe();
  }
  return { candidates: await sortedByPrecedence(found, context.pacer), reasons };
}

/** With goals, the rules in their proofs; without, those that conclude or read a predicate in the window. */
function relevantRules(window: OpenWindow, isGoalDriven: boolean): string[] {
  const texts = new Set<string>();
  if (isGoalDriven) {
    const inOrder = [...window.rules].sort(([left], [right]) => left - right);
    for (const [, text] of inOrder) texts.add(text);
    return [...texts];
  }
  const { reader } = window.context;
  const predicates = new Set(Array.from(window.entries.values(), ({ predicate }) => predicate));
  const { view } = window.seen;
  for (const { rule, text, scope } of reader.program.rules) {
    const isOfView = view.kind === 'all' || scope === null || (view.kind === 'scope' && view.scope === scope);
    if (!isOfView) continue;
    if (predicatesOf([rule.head, ...rule.body]).some((predicate) => predicates.has(predicate)))
      texts.add(text);
  }
  return [...texts];
}

/** The predicates of these literals, including those inside aggregates. */
function predicatesOf(literals: readonly (Atom | Literal)[]): string[] {
  return literals.flatMap((each) => ('aggregate' in each ? predicatesOf(each.body) : [each.predicate]));
}

function bucketStats(window: OpenWindow, input: OptimizeInput): ContextWindow['bucketStats'] {
  const { budget } = window;
  const saliences = (input.relevanceBuckets ?? []).map((): number[] => []);
  for (const { predicate, salience } of window.entries.values())
    saliences[budget.bucketOf(predicate)]?.push(salience);
  const stats = (input.relevanceBuckets ?? []).map(({ name }, index) => {
    const inBucket = saliences[index] ?? [];
    const min = inBucket.reduce((left, right) => Math.min(left, right), Number.POSITIVE_INFINITY);
    const max = inBucket.reduce((left, right) => Math.max(left, right), 0);
    const of = {
      factsIncluded: inBucket.length,
      maxAllocation: budget.maxAllocations[index] ?? 0,
      minSalience: inBucket.length === 0 ? null : min,
      maxSalience: inBucket.length === 0 ? null : max,
    };
    return [name, of] as const;
  });
  return Object.fromEntries(stats);
}

/** A goal as the window reports it. */
export type WindowGoal = ContextWindow['goals'][number];

const maxListedAtoms = 20;

/**
 * Reports which goals have a complete proof in the filled window, and what the others would need. Reads the final
 * window, because facts added beside the proofs count too. `answers`: of each goal, in the order in which their proofs
 * were tried.
 */
async function reportGoals(
  window: OpenWindow,
  builder: ProofBuilder | null,
  { taken }: GoalProofs,
  { wanted, goals }: Asked,
  answers: readonly (readonly GoalAnswer[])[],
): Promise<WindowGoal[]> {
  const included = builder === null ? null : new IncludedSteps(window, builder);
  await included?.takeIn();
  const reports: WindowGoal[] = [];
  const meter = new ByteMeter();
  for (const [at, goal] of wanted.entries()) {
    const found = answers[at] ?? [];
    let [whole, premises] = [0, 0];
    for (const { atom, step } of found) {
      if (meter.counts(atom.length)) await window.context.pacer.breathe();
      if (taken.has(atom) || (step === null ? window.has(atom) : included?.isWhole(step) === true)) whole++;
      else if (step !== null && included?.hasPremises(step) === true) premises++;
    }
    const [first] = found;
    const isLeftOut = first !== undefined && whole === 0;
    reports.push({
      goal: renderAtom(goal),
      status: goals[at] === null ? 'limit' : first === undefined ? 'no_answer' : statusOf(whole, premises),
      answers: { found: found.length, whole, premises, omitted: found.length - whole - premises },
      atoms: found.slice(0, maxListedAtoms).map(({ atom }) => atom),
      needs: first === undefined ? null : await needsOf(window, builder, first),
      reason: isLeftOut ? (window.leftOut.get(first.atom) ?? null) : null,
    });
  }
  return reports;
}

function statusOf(whole: number, premises: number): WindowGoal['status'] {
  return whole > 0 ? 'proved' : premises > 0 ? 'premises' : 'does_not_fit';
}

/** The size of the answer's canonical proof for an empty window. */
async function needsOf(
  window: OpenWindow,
  builder: ProofBuilder | null,
  { literal, atom, step }: GoalAnswer,
): Promise<WindowGoal['needs']> {
  if (builder === null || step === null)
    return { facts: 1, chars: atom.length, tokens: await window.tokensOf(literal) };
  const { context } = window;
  const atoms = new TextMap<AtomLiteral>();
  const steps = new Set([step]);
  for (const each of steps) {
    if ((steps.size & 0xff) === 0) await context.pacer.breathe();
    const { atom: proved, premises } = present(builder.steps[each], 'the step exists');
    const added = atomOf(present(builder.proved[each], 'the step proves something').premise);
    if (added !== null) atoms.set(proved, added);
    for (const premise of premises) steps.add(premise);
  }
  let [chars, tokens] = [0, 0];
  for (const [each, of] of atoms) {
    chars += each.length;
    tokens += await window.tokensOf(of);
  }
  return { facts: atoms.size, chars, tokens };
}

/** Which steps of the canonical proofs are in the window, completely or at least by their stored premises. */
class IncludedSteps {
  readonly #window: OpenWindow;
  readonly #builder: ProofBuilder;
  readonly #isWhole: boolean[] = [];
  readonly #hasPremises: boolean[] = [];

  constructor(window: OpenWindow, builder: ProofBuilder) {
    this.#window = window;
    this.#builder = builder;
  }

  /** Processes all steps so far. */
  async takeIn(): Promise<void> {
    const meter = new ByteMeter();
    for (const { atom, kind, premises } of this.#builder.steps) {
      if (meter.counts(atom.length)) await this.#window.context.pacer.breathe();
      const isIn = this.#window.has(atom);
      const isEntry = kind === 'fact' || kind === 'rule';
      this.#isWhole.push((!isEntry || isIn) && premises.every((premise) => this.isWhole(premise)));
      this.#hasPremises.push(kind === 'fact' ? isIn : premises.every((premise) => this.hasPremises(premise)));
    }
  }

  isWhole(step: number): boolean {
    return this.#isWhole[step] === true;
  }

  hasPremises(step: number): boolean {
    return this.#hasPremises[step] === true;
  }
}
