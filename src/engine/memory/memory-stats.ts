/**
 * GET /memory/stats: salience histogram, expiring and fading facts of a view, from one scan of the visible facts in
 * slices.
 */
import { conclusionCounts } from '../read/describe.ts';
import { type ReadContext, scopeChoice, storedFact, visibleIn } from '../session/read-context.ts';
import { entryOf, entryOfStored } from './recall.ts';
import type { RenderedOrder } from '../store/rendered-order.ts';
import { SalienceReader } from '../store/salience-reader.ts';
import { salientFacts } from './salient-facts.ts';
import {
  histogramBins,
  type MemoryStats,
  type MemoryStatsQuery,
  type ContextEntry,
} from '../contract/memory.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { compareText } from '../base/text-order.ts';
import type { ContextSummary, SummaryInput } from '../contract/context.ts';
import { countContradictions } from './contradictions.ts';

const hour = 3_600_000;
const day = 24 * hour;

const maxFading = 10;
const rowsBetweenBreaths = 0x3ff;

/**
 * Statistics of the visible stored facts of the view: their number, a histogram of saliences, how many expire within an
 * hour, a day and a week (cumulative), and the least salient unpinned ones. With `inDays`, as they would be then without any
 * use or write in between: of the facts visible now, those still valid then. `derived` counts the known conclusions of now
 * that are not stored; a lower bound unless `derivedComplete`.
 */
export async function memoryStats(context: ReadContext, query: MemoryStatsQuery): Promise<MemoryStats> {
  const { database, tenant, reader, pacer } = context;
  const view = scopeChoice(query);
  const isVisible = visibleIn(context, view);
  const timeOf = (generation: number): number => database.timeOf(generation);
  const time = reader.time + query.inDays * day;
  const saliences = new SalienceReader(tenant.facts, tenant.uses, timeOf, time);
  const histogram = Array.from({ length: histogramBins }, () => 0);
  const expiring = { within1h: 0, within24h: 0, within7d: 0 };
  const fading = new LeastSalient(tenant.uses.bounds.order);
  let facts = 0;
  for (const relation of tenant.facts.relations.values()) {
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
      if (!isVisible(relation, row)) continue;
      const left = (relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY) - time;
      if (left <= 0) continue;
      facts++;
      const salience = saliences.of(relation, row);
      const bin = Math.min(histogramBins - 1, Math.floor(salience * histogramBins));
      histogram[bin] = (histogram[bin] as number) + 1;
      if (left <= hour) expiring.within1h++;
      if (left <= day) expiring.within24h++;
      if (left <= 7 * day) expiring.within7d++;
      fading.offer(relation, row, salience);
    }
  }
  let derived = 0;
  let derivedComplete = true;
  for (const { count, isComplete } of await conclusionCounts(context, view)) {
    derived += count;
    derivedComplete &&= isComplete;
  }
  return {
    facts,
    derived,
    derivedComplete,
    histogram,
    expiring,
    fading: fading.facts.map((row) =>
      entryOfStored({ ...storedFact(context, row), salience: row.salience }, time),
    ),
  };
}

/** The least salient unpinned facts, lowest first, ties by rendered atom, then by scope. */
class LeastSalient {
  readonly #order: RenderedOrder;
  readonly #found: (FactRow & { readonly salience: number })[] = [];

  constructor(order: RenderedOrder) {
    this.#order = order;
  }

  get facts(): readonly (FactRow & { readonly salience: number })[] {
    return this.#found;
  }

  offer(relation: StoredRelation, row: number, salience: number): void {
    const last = this.#found.at(-1);
    const isFull = this.#found.length === maxFading;
    if (isFull && last !== undefined && !this.#isBefore(relation, row, salience, last)) return;
    if (relation.metadata.get(row)?.['pinned'] === true) return;
    const at = this.#found.findIndex((each) => this.#isBefore(relation, row, salience, each));
    this.#found.splice(at < 0 ? this.#found.length : at, 0, { relation, row, salience });
    if (isFull) this.#found.pop();
  }

  #isBefore(
    relation: StoredRelation,
    row: number,
    salience: number,
    other: FactRow & { salience: number },
  ): boolean {
    if (salience !== other.salience) return salience < other.salience;
    return this.#order.compare(relation, row, other.relation, other.row) < 0;
  }
}

/** POST /context/summary: figures about the knowledge in a view, from one scan of the visible facts. */

const maxListed = 10;

/**
 * Figures about the visible stored facts of the view. Predicates are counted by name: all arities and truth values
 * together, a fact of several scopes once per scope. The most frequent come first, ties by code point. `totalCharCount`
 * is the length of all rendered atoms.
 */
export async function summarize(context: ReadContext, input: SummaryInput): Promise<ContextSummary> {
  const { tenant, reader, pacer } = context;
  const view = scopeChoice(input);
  const isVisible = visibleIn(context, view);
  const { order } = tenant.uses.bounds;
  const counts = new Map<string, number>();
  let totalFacts = 0;
  let factsWithTtl = 0;
  let factsExpiringWithin1h = 0;
  let totalCharCount = 0;
  for (const relation of tenant.facts.relations.values()) {
    let ofRelation = 0;
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
      if (!isVisible(relation, row)) continue;
      ofRelation++;
      totalCharCount += order.lengthOf(relation, row);
      const until = relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY;
      if (until === Number.POSITIVE_INFINITY) continue;
      factsWithTtl++;
      if (until - reader.time <= hour) factsExpiringWithin1h++;
    }
    if (ofRelation === 0) continue;
    totalFacts += ofRelation;
    counts.set(relation.predicate, (counts.get(relation.predicate) ?? 0) + ofRelation);
  }
  const topSalientFacts: ContextEntry[] = [];
  for await (const { fact } of salientFacts(context, view, () => true, maxListed)) {
    topSalientFacts.push(entryOf(context, fact));
    if (topSalientFacts.length === maxListed) break;
  }
  return {
    totalFacts,
    predicateCount: counts.size,
    topPredicates: mostFrequent(counts),
    factsWithTtl,
    factsExpiringWithin1h,
    contradictions: await countContradictions(context, view),
    topSalientFacts,
    totalCharCount,
    knowledgeGeneration: reader.generation,
    generatedAt: reader.time,
  };
}

function mostFrequent(counts: ReadonlyMap<string, number>): ContextSummary['topPredicates'] {
  return Array.from(counts, ([predicate, count]) => ({ predicate, count }))
    .sort((left, right) => right.count - left.count || compareText(left.predicate, right.predicate))
    .slice(0, maxListed);
}
