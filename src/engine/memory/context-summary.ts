/** POST /context/summary: figures about the knowledge in a view, from one scan of the visible facts. */
import { compareText } from '../base/text-order.ts';
import { type ReadContext, scopeChoice, visibleIn } from '../session/read-context.ts';
import { entryOf } from './context-entry.ts';
import type { ContextSummary, SummaryInput } from '../contract/context.ts';
import type { ContextEntry } from '../contract/memory.ts';
import { countContradictions } from './contradictions.ts';
import { salientFacts } from './salient-facts.ts';

const hour = 3_600_000;
const maxListed = 10;
const rowsBetweenBreaths = 0x3ff;

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
