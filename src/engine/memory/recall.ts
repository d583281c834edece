/**
 * GET and POST /memory/context: the facts with the highest salience.
 *
 * Stored facts come from `salientFacts`; requested conclusions are proved and merged into the same order. Recalling is
 * not a use of a fact.
 */
import { ByteMeter } from '../base/byte-meter.ts';
import { compareText, TextComparisons } from '../base/text-order.ts';
import { countVisible, type ReadContext, scopeChoice, storedFact } from '../session/read-context.ts';
import type { StoredFact } from '../contract/facts.ts';
import type { ContextEntry, Recalled, RecallInput, Category } from '../contract/memory.ts';
import type { FactRow } from '../store/fact-store.ts';
import { answerAt, conclusionsOf, shownConclusions, supportsOf } from '../read/listed-conclusions.ts';
import { renderAtom, renderIdentity } from '../language/print.ts';
import { tokensIn } from './fact-lines.ts';
import { type SalientFact, salientFacts } from './salient-facts.ts';
import type { Matches } from '../datalog/tables/question.ts';
import { leastRows } from '../datalog/tables/sorted.ts';

/**
 * The facts that the input selects, highest salience first, ties by rendered atom, then by scope; one whose line has more
 * tokens than there is room for is passed over. `totalFacts`: all visible stored facts of the view, plus the conclusions
 * considered.
 */
export async function recall(context: ReadContext, input: RecallInput): Promise<Recalled> {
  const { reader, pacer } = context;
  const view = scopeChoice(input);
  const stored = await countVisible(context, view);
  const concluded = input.includeInferred ? await conclusions(context, input) : { count: 0, best: [] };
  const predicates = input.predicates === null ? null : new Set(input.predicates);
  const isWanted = (relation: { predicate: string }): boolean => predicates?.has(relation.predicate) ?? true;
  const { maxFacts, minSalience } = input;
  const facts: ContextEntry[] = [];
  let tokenRoom = input.maxTokens ?? Number.POSITIVE_INFINITY;
  const take = async (entry: ContextEntry): Promise<void> => {
    const tokens = input.maxTokens === null ? 0 : await tokensIn(context, [entry], tokenRoom);
    if (tokens > tokenRoom) return;
    tokenRoom -= tokens;
    facts.push(entry);
  };
  const streamed = salientFacts(context, view, isWanted, maxFacts);
  let next = await firstOf(streamed);
  let at = 0;
  const meter = new ByteMeter();
  while (facts.length < maxFacts && tokenRoom > 0) {
    if (meter.counts(entryBytes + (facts.at(-1)?.charCount ?? 0))) await pacer.breathe();
    const conclusion = concluded.best[at];
    const isStored = next !== null && (conclusion === undefined || isBefore(context, next, conclusion));
    const salience = isStored ? next?.salience : conclusion?.salience;
    if (salience === undefined || salience < minSalience) break;
    if (isStored && next !== null) {
      await take(entryOf(context, next.fact));
      next = facts.length < maxFacts ? await firstOf(streamed) : null;
    } else if (conclusion !== undefined) {
      await take(entryOfStored(conclusion, reader.time));
      at++;
    }
  }
  const totalFacts = stored + concluded.count;
  return { facts, totalFacts, returned: facts.length, generatedAt: reader.time };
}

/** What an entry costs beside its text, as bytes of text. */
const entryBytes = 1024;

async function firstOf(streamed: AsyncGenerator<SalientFact>): Promise<SalientFact | null> {
  const { value, done } = await streamed.next();
  return done === true ? null : value;
}

function isBefore({ tenant }: ReadContext, stored: SalientFact, conclusion: StoredFact): boolean {
  const difference = stored.salience - conclusion.salience;
  if (difference !== 0) return difference > 0;
  const order = compareText(renderIdentity(tenant.facts.identityOf(stored.fact)), renderIdentity(conclusion));
  return order !== 0 ? order < 0 : true;
}

/** The conclusions in recall order, limited to what can be returned, and their total number. */
interface Conclusions {
  readonly count: number;
  readonly best: readonly StoredFact[];
}

/** A conclusion that may be recalled: a row of its relation's conclusions. */
interface Candidate {
  readonly matches: Matches;
  readonly row: number;
  readonly salience: number;
}

/**
 * The derivable conclusions of the requested predicates, or of all, that are not stored. Salience requires the proof of
 * each, but only the recalled ones are rendered with it.
 */
async function conclusions(context: ReadContext, input: RecallInput): Promise<Conclusions> {
  const { reader } = context;
  const view = scopeChoice(input);
  const predicates = input.predicates === null ? null : new Set(input.predicates);
  const relations: Matches[] = [];
  for (const relation of reader.program.conclusions())
    if (predicates?.has(relation.predicate) ?? true)
      relations.push(await conclusionsOf(context, view, relation));
  const supports = await supportsOf(context, relations, reader.time);
  let count = 0;
  const candidates: Candidate[] = [];
  for (const [at, matches] of relations.entries()) {
    count += matches.count;
    for (const [row, { salience }] of (supports[at] ?? []).entries())
      if (salience >= input.minSalience) candidates.push({ matches, row, salience });
  }
  const wanted = await mostSalient(candidates, input.maxFacts, context.pacer);
  const best: StoredFact[] = [];
  for (const matches of new Set(wanted.map((each) => each.matches))) {
    const places = [...wanted.keys()].filter((place) => wanted[place]?.matches === matches);
    const rows = places.map((place) => (wanted[place] as Candidate).row);
    const shown = await shownConclusions(context, matches, rows, reader.time);
    for (const [at, place] of places.entries()) best[place] = shown[at] as StoredFact;
  }
  return { count, best };
}

/** The most salient ones in recall order: ties by rendered atom. */
async function mostSalient(
  candidates: readonly Candidate[],
  most: number,
  pacer: ReadContext['pacer'],
): Promise<Candidate[]> {
  const atoms: string[] = [];
  const meter = new ByteMeter();
  const texts = new TextComparisons();
  for (const { matches, row } of candidates) {
    const atom = renderAtom(answerAt(matches, row));
    atoms.push(atom);
    if (meter.counts(atom.length)) await pacer.breathe();
  }
  const salience = (at: number): number => (candidates[at] as Candidate).salience;
  const order = await leastRows(
    candidates.length,
    Math.min(most, candidates.length),
    (left, right) =>
      salience(right) - salience(left) || texts.compare(atoms[left] as string, atoms[right] as string),
    pacer,
    { cost: texts },
  );
  return Array.from(order, (at) => candidates[at] as Candidate);
}

/** Facts asserted within this time are recent, in milliseconds. */
const recentMs = 5 * 60_000;

/** The entry of a stored fact. `category` overrides the category of the fact itself. */
export function entryOf(context: ReadContext, fact: FactRow, category?: Category): ContextEntry {
  return entryOfStored(storedFact(context, fact), context.reader.time, category);
}

/** The entry of a listed fact or conclusion. `time`: now. */
export function entryOfStored(fact: StoredFact, time: number, category?: Category): ContextEntry {
  const { predicate, args, truthVal, scope, salience, provenance, createdAt, validFrom, validUntil } = fact;
  const negated = !truthVal;
  return {
    id: fact.id,
    predicate,
    args,
    ...(fact.named === undefined ? {} : { named: fact.named }),
    negated,
    scope,
    salience,
    category: category ?? categoryOf(fact, time),
    charCount: renderAtom({ predicate, args, negated }).length,
    provenance,
    createdAt,
    validFrom,
    validUntil,
    metadata: fact.metadata,
  };
}

/** The first category that applies among those independent of goals. */
function categoryOf(fact: StoredFact, time: number): Category {
  if (fact.derived) return 'inferred';
  if ('consolidated' in fact.metadata) return 'consolidated';
  if (fact.validUntil !== null) return 'ephemeral';
  return time - fact.createdAt <= recentMs ? 'recent' : 'asserted';
}
