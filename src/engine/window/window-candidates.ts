import { TextMap, TextSet } from '../base/text-map.ts';
import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import { TextComparisons } from '../base/text-order.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { renderAtom } from '../language/print.ts';
import type { Candidate, OpenWindow } from './open-window.ts';
import { salientFacts } from '../memory/salient-facts.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import { visibleIn } from '../session/read-context.ts';
import type { VisibleKnowledge } from './window-knowledge.ts';
import type { OmissionReason, ContextWindow } from '../contract/context.ts';
import type { ProofBuilder } from '../datalog/explain/proof.ts';

/**
 * Fills a window beside the proofs by salience, ties by rendered atom: facts that share a constant with the proofs,
 * then each bucket, then the rest.
 *
 * What does not fit is skipped; something shorter may fit later. Facts are read in descending salience until nothing
 * more fits.
 */

/**
 * After this many consecutive refusals, predicates without room are no longer read. If tokens are limited, the search for
 * a shorter line ends then: all others would have to be counted.
 */
const maxRefusals = 1000;

/** Adds facts of the view and conclusions that share a constant with the entries so far, which are all from proofs. */
export async function fillRelated(window: OpenWindow, conclusions: readonly Candidate[]): Promise<void> {
  const { pacer } = window.context;
  const constants = new TextSet();
  const meter = new ByteMeter();
  for (const { args } of window.entries.values()) {
    for (const constant of args) constants.add(constant);
    if (meter.counts(charactersOf(args))) await pacer.breathe();
  }
  if (constants.size === 0 || window.budget.isFull) return;
  const found = await relatedFacts(window, constants);
  for (const each of conclusions) {
    if (each.args.some((constant) => constants.has(constant))) found.push(each);
    if (meter.counts(charactersOf(each.args))) await pacer.breathe();
  }
  let refused = 0;
  for (const candidate of await sortedByPrecedence(found, pacer)) {
    if (window.budget.isFull || (window.budget.countsTokens && refused >= maxRefusals)) return;
    await pacer.breathe();
    if (window.has(candidate.atom)) continue;
    refused = (await window.offer(candidate, true)) ? 0 : refused + 1;
  }
}

/** Adds facts that match a query, in their order; of an atom in several scopes, the first. */
export async function fillMatching(window: OpenWindow, facts: readonly FactRow[]): Promise<void> {
  const { seen, context, budget } = window;
  for (const fact of facts) {
    if (budget.isFull) return;
    await context.pacer.breathe();
    await window.offer(candidateOf(seen, fact, seen.salient(fact).salience), true);
  }
}

/** Adds facts and conclusions of each bucket's predicates, bucket by bucket. */
export async function fillBuckets(window: OpenWindow, conclusions: readonly Candidate[]): Promise<void> {
  const { budget } = window;
  for (const index of budget.maxAllocations.keys())
    await fillWith(window, conclusions, (predicate) => budget.bucketOf(predicate) === index);
}

/** Adds what no bucket names. */
export async function fillRest(window: OpenWindow, conclusions: readonly Candidate[]): Promise<void> {
  await fillWith(window, conclusions, (predicate) => window.budget.bucketOf(predicate) < 0);
}

async function fillWith(
  window: OpenWindow,
  conclusions: readonly Candidate[],
  isOne: (predicate: string) => boolean,
): Promise<void> {
  const { budget, context } = window;
  for (let isOver = false; !isOver && !budget.isFull; ) {
    isOver = true;
    const open = new Set<string>();
    const predicates = [...context.tenant.facts.relations.values(), ...conclusions];
    for (const { predicate } of predicates)
      if (isOne(predicate) && !budget.isClosed(predicate)) open.add(predicate);
    if (open.size === 0) return;
    const wanted = ({ predicate }: { readonly predicate: string }): boolean => open.has(predicate);
    let [closed, refused, tooLong] = [0, 0, 0];
    for await (const candidate of mergedByPrecedence(
      storedFacts(window, wanted),
      conclusions.filter(wanted),
      window.context.pacer,
    )) {
      const isNew = !window.has(candidate.atom);
      if (await window.offer(candidate, false)) {
        refused = tooLong = 0;
        if (budget.isClosed(candidate.predicate)) closed++;
        if (budget.isFull || closed === open.size) return;
      } else {
        if (isNew && ++tooLong >= maxRefusals && budget.countsTokens) return;
        if (++refused < maxRefusals || closed === 0) continue;
        isOver = false;
        break;
      }
    }
  }
}

/** The stored facts of the wanted relations. */
async function* storedFacts(
  { context, seen }: OpenWindow,
  isWanted: (relation: StoredRelation) => boolean,
): AsyncGenerator<Candidate> {
  for await (const { fact, salience } of salientFacts(context, seen.view, isWanted))
    yield candidateOf(seen, fact, salience);
}

/** What a candidate costs beside its text, as bytes of text. */
const candidateBytes = 1024;

/** Merges facts and conclusions, both sorted by precedence. Breathes on the way, whoever takes them. */
async function* mergedByPrecedence(
  facts: AsyncGenerator<Candidate>,
  conclusions: readonly Candidate[],
  pacer: Pacer,
): AsyncGenerator<Candidate> {
  let next = 0;
  const meter = new ByteMeter();
  const texts = new TextComparisons();
  for await (const fact of facts) {
    if (meter.counts(candidateBytes + fact.atom.length)) await pacer.breathe();
    for (;;) {
      const conclusion = conclusions[next];
      if (conclusion === undefined || byPrecedence(fact, conclusion, texts) <= 0) break;
      yield conclusion;
      next++;
    }
    yield fact;
  }
  yield* conclusions.slice(next);
}

/** Sorts candidates by precedence, in slices. */
export async function sortedByPrecedence(
  candidates: readonly Candidate[],
  pacer: Pacer,
): Promise<Candidate[]> {
  const texts = new TextComparisons();
  for (const { atom } of candidates) texts.see(atom);
  const order = await sortedOrder(
    candidates.length,
    (left, right) => byPrecedence(candidates[left] as Candidate, candidates[right] as Candidate, texts),
    pacer,
    texts,
  );
  return Array.from(order, (at) => candidates[at] as Candidate);
}

/** Higher salience first, then by rendered atom; copies in several scopes by scope, unscoped first. */
function byPrecedence(left: Candidate, right: Candidate, texts: TextComparisons): number {
  return (
    right.salience - left.salience ||
    texts.compare(left.atom, right.atom) ||
    texts.compare(left.scope ?? '', right.scope ?? '')
  );
}

/** The candidate of a stored fact. */
function candidateOf(seen: VisibleKnowledge, fact: FactRow, salience: number): Candidate {
  const { facts } = seen.context.tenant;
  const { predicate, negated } = fact.relation;
  const args = facts.argsOf(fact);
  const atom = renderAtom({ predicate, args, negated });
  return { atom, predicate, args, scope: facts.scopeOf(fact), salience, fact, by: null };
}

/** The facts of the view with one of these constants among their arguments, in no order. */
async function relatedFacts(window: OpenWindow, constants: ReadonlySet<string>): Promise<Candidate[]> {
  const { seen, budget, context } = window;
  const { tenant, reader, pacer } = context;
  const ids = new Set<number>();
  const meter = new ByteMeter();
  for (const constant of constants) {
    const id = tenant.facts.dictionary.find(constant);
    if (id >= 0) ids.add(id);
    if (meter.counts(constant.length)) await pacer.breathe();
  }
  const isVisible = visibleIn(context, seen.view);
  const found: Candidate[] = [];
  for (const relation of tenant.facts.relations.values()) {
    if (budget.isClosed(relation.predicate)) continue;
    const columns = relation.columns.slice(0, relation.arity);
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
      if (!columns.some((column) => ids.has(column[row] as number)) || !isVisible(relation, row)) continue;
      const { salience } = seen.salient({ relation, row });
      const candidate = candidateOf(seen, { relation, row }, salience);
      found.push(candidate);
      if (meter.counts(candidateBytes + candidate.atom.length)) await pacer.breathe();
    }
  }
  return found;
}

export type Omitted = NonNullable<ContextWindow['omitted']>[number];

/** Maximum number of listed omissions: those with the highest salience. */
const maxOmitted = 10_000;

/** Further reasons for omissions. */
interface Omissions {
  /** Stored atoms that are also concluded. */
  readonly alsoConcluded: ReadonlySet<string>;
  /** Reasons for conclusions that would otherwise fit. */
  readonly ofConclusions: ReadonlyMap<string, OmissionReason>;
  /** False for what a query without `fill` leaves out since it does not match. */
  readonly isAbout: (candidate: Candidate) => boolean;
}

/** What the window was asked about but does not contain, highest salience first, each with its reason. */
export async function omittedFrom(window: OpenWindow, omissions: Omissions): Promise<Omitted[]> {
  const { seen, context } = window;
  const conclusions: Candidate[] = [];
  let looked = 0;
  for (const [atom, step] of seen.concluded) {
    if ((++looked & 0xff) === 0) await context.pacer.breathe();
    const { predicate, args, scope, salience } = seen.conclusionAt(step);
    if (!window.has(atom)) conclusions.push({ atom, predicate, args, scope, salience, fact: null, by: null });
  }
  async function* stored(): AsyncGenerator<Candidate> {
    for await (const { fact, salience } of salientFacts(context, seen.view, () => true))
      yield candidateOf(seen, fact, salience);
  }
  const sorted = await sortedByPrecedence(conclusions, context.pacer);
  const omitted: Omitted[] = [];
  const met = new TextSet();
  const meter = new ByteMeter();
  for await (const candidate of mergedByPrecedence(stored(), sorted, context.pacer)) {
    const { atom, salience } = candidate;
    const note = (reason: OmissionReason): void => {
      if (omitted.length < maxOmitted) omitted.push({ atom, salience, reason });
    };
    const isCopy = met.has(atom);
    met.add(atom);
    if (isCopy) note('duplicate');
    else if (!window.has(atom)) note(await reasonOf(window, omissions, candidate));
    if (!isCopy && omissions.alsoConcluded.has(atom)) note('duplicate');
    if (omitted.length >= maxOmitted) break;
    if (meter.counts(atom.length)) await context.pacer.breathe();
  }
  return omitted;
}

async function reasonOf(
  window: OpenWindow,
  { ofConclusions, isAbout }: Omissions,
  candidate: Candidate,
): Promise<OmissionReason> {
  const { atom } = candidate;
  const ofGoal = window.leftOut.get(atom);
  if (ofGoal !== undefined) return ofGoal;
  const refused = await window.refusalOf(candidate);
  if (refused === 'filtered') return refused;
  if (window.weaker.has(atom)) return 'contradiction';
  const ofConclusion = ofConclusions.get(atom);
  if (ofConclusion === undefined && !isAbout(candidate)) return 'filtered';
  return refused ?? ofConclusion ?? 'budget';
}

/** For atoms of refused proofs, the reason of the first refused proof that contains them. */
export async function reasonsOfRefused(
  window: OpenWindow,
  builder: ProofBuilder,
  refused: readonly { readonly step: number; readonly reason: OmissionReason }[],
): Promise<Map<string, OmissionReason>> {
  const reasons = new TextMap<OmissionReason>();
  const steps = new Set<number>();
  for (const { step, reason } of refused) {
    const open = [step];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (steps.has(next)) continue;
      steps.add(next);
      if ((steps.size & 0xff) === 0) await window.context.pacer.breathe();
      const { atom, premises = [] } = builder.steps[next] ?? {};
      if (atom !== undefined && !reasons.has(atom)) reasons.set(atom, reason);
      open.push(...premises);
    }
  }
  return reasons;
}
