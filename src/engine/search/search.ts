/**
 * The search: from a text to facts, conclusions, rules, entities and predicates.
 *
 * A hit is mentioned in the text or shares words with it; salience and nearness in the graph of facts only order.
 * Conclusions are the answers to the goals of the mentions. The signals are joined by reciprocal rank fusion (Cormack,
 * Clarke and Büttcher 2009). Being found is no use of a fact.
 */
import { compareText } from '../base/text-order.ts';
import type { Mention } from '../contract/mention.ts';
import {
  type HitKind,
  hitKinds,
  type Searched,
  type SearchHit,
  type SearchInput,
  type Signal,
} from '../contract/search.ts';
import { type ReadContext, scopeChoice, type Similar } from '../session/read-context.ts';
import type { FactRow, ScopeChoice } from '../store/fact-matching.ts';
import { type Found, Finder } from './finder.ts';
import { goalsOf, type MentionGoal } from './mention-goals.ts';
import { mentionsIn } from './mentions.ts';
import { completionsOf } from './text-words.ts';
import { ViewNames } from './view-names.ts';
import { WordIndex } from './word-index.ts';

/** The constant of reciprocal rank fusion. */
const fusionConstant = 60;
/** Values are compared to this precision, so that sums in another order are no other value. */
const precision = 1e9;

/** The hits of a text in the view, highest score first, and what the text mentions. */
export async function search(context: ReadContext, input: SearchInput): Promise<Searched> {
  const { tenant, pacer } = context;
  const names = new ViewNames(context, scopeChoice(input), input.predicates);
  const breathe = (): Promise<void> => pacer.breathe();
  return WordIndex.using(tenant.facts, breathe, async (index) => {
    pacer.limits.memory.use(index);
    const mentions = await mentionsIn(input.text, names, index);
    await names.buildIndexes();
    const finder = new Finder({
      names,
      index,
      text: input.text,
      mentions,
      similar: await similarTo(names, input.text, input.limit),
      limit: input.limit,
      completions: input.prefix ? await completionsOf(input.text, names, index) : [],
    });
    const goalsLeftOut = await finder.find(new Set<HitKind>(input.kinds ?? hitKinds));
    return {
      hits: byScore(finder.candidates).slice(0, input.limit).map(shown),
      mentions,
      matched: finder.candidates.length > 0,
      ...(goalsLeftOut === 0 ? {} : { goalsLeftOut }),
      elapsedMs: pacer.elapsedRounded,
    };
  });
}

/** What a query is about, for a window. */
export interface QueryKnowledge {
  readonly mentions: readonly Mention[];
  /** The goals of the mentions that hold, with their answers. */
  readonly goals: readonly MentionGoal[];
  readonly goalsLeftOut: number;
  /** Facts that match, best first, then those near to the mentions. */
  readonly facts: readonly FactRow[];
  /** The rank of matching facts, from 1 on, by rendered atom. */
  readonly hits: ReadonlyMap<string, number>;
  /** The terms of the query's words (words.ts): what has one of them matches, found or not. */
  readonly terms: ReadonlySet<string>;
}

/** What the view knows of a query: goals within `timeoutMs`, and up to `most` facts that match it. */
export async function knowledgeOf(
  context: ReadContext,
  view: ScopeChoice,
  { query, predicates, most, timeoutMs }: QueryInput,
): Promise<QueryKnowledge> {
  const { tenant, pacer } = context;
  const names = new ViewNames(context, view, predicates);
  return WordIndex.using(
    tenant.facts,
    () => pacer.breathe(),
    async (index) => {
      pacer.limits.memory.use(index);
      const mentions = await mentionsIn(query, names, index);
      const { goals, leftOut } = await goalsOf(query, mentions, names, pacer.within(timeoutMs));
      const similar = await similarTo(names, query, most);
      await names.buildIndexes();
      const finder = new Finder({ names, index, text: query, mentions, similar, limit: most });
      await finder.find(new Set<HitKind>(['fact']));
      const all = byScore(finder.candidates);
      const hits = new Map(all.map(({ found }, at) => [found.text, at + 1]).reverse() as [string, number][]);
      const facts = [...all.slice(0, most).flatMap(({ found }) => found.fact ?? []), ...finder.nearFacts()];
      return { mentions, goals, goalsLeftOut: leftOut, facts, hits, terms: new Set(finder.terms) };
    },
  );
}

/** The facts of wanted predicates that mean something similar to the text; none if there are no embeddings. */
async function similarTo(names: ViewNames, text: string, limit: number): Promise<readonly Similar[]> {
  const { context, view } = names;
  const most = Math.max(minSimilar, 2 * limit);
  const similar = (await context.meaning?.similar(context, view, text, most)) ?? [];
  return similar.filter(({ fact }) => names.isWanted(fact.relation.predicate));
}

/** At least this many similar facts are ranked, or twice the limit. */
const minSimilar = 64;

/** A query of a window. */
interface QueryInput {
  readonly query: string;
  readonly predicates: readonly string[] | null;
  readonly most: number;
  readonly timeoutMs: number;
}

interface Ranked {
  readonly found: Found;
  /** The rank of each of its values. */
  readonly ranks: readonly number[];
  readonly score: number;
}

/** The candidates by reciprocal rank fusion, best first; ties by kind, then text, then scope. */
function byScore(candidates: readonly Found[]): Ranked[] {
  const ranks = new Map<Signal, Map<number, number>>();
  for (const { values } of candidates)
    for (const { signal } of values) if (!ranks.has(signal)) ranks.set(signal, ranksOf(candidates, signal));
  const scored = candidates.map((found): Ranked => {
    const own = found.values.map(
      ({ signal, value }) => ranks.get(signal)?.get(rounded(value)) ?? candidates.length,
    );
    return { found, ranks: own, score: own.reduce((sum, rank) => sum + 1 / (fusionConstant + rank), 0) };
  });
  return scored.sort((left, right) => right.score - left.score || compareFound(left.found, right.found));
}

function compareFound(left: Found, right: Found): number {
  return (
    hitKinds.indexOf(left.kind) - hitKinds.indexOf(right.kind) ||
    compareText(left.text, right.text) ||
    compareText(left.scope ?? '', right.scope ?? '')
  );
}

function shown({ found, ranks, score }: Ranked): SearchHit {
  const { kind, text, id, scope, salience } = found;
  const why = found.values.map(({ signal, detail }, at) => ({ signal, rank: ranks[at] as number, detail }));
  const hit = { kind, [kind === 'fact' || kind === 'conclusion' ? 'atom' : kind]: text };
  return { ...hit, id, score, why, scope, salience };
}

/** The rank of each value of a signal, from 1 on; equal values share the better one. */
function ranksOf(candidates: readonly Found[], signal: Signal): Map<number, number> {
  const values: number[] = [];
  for (const each of candidates)
    for (const { signal: of, value } of each.values) if (of === signal) values.push(rounded(value));
  const descending = Float64Array.from(values).sort().reverse();
  const ranks = new Map<number, number>();
  for (const [at, value] of descending.entries()) if (!ranks.has(value)) ranks.set(value, at + 1);
  return ranks;
}

function rounded(value: number): number {
  return Math.round(value * precision) / precision;
}
