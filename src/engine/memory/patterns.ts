import { type Consolidation, summarySuffix } from '../contract/memory.ts';
import type { FactRow, FactStore, ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { Tuples } from '../store/tuples.ts';
import { isAggregate } from '../language/terms.ts';
import { present } from '../base/assert.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { Metadata } from '../contract/facts.ts';
import { consolidationOf, constantsOf } from './summary.ts';
import { parseTime } from '../contract/time-text.ts';
import { isBuiltinName, type Literal } from '../contract/language.ts';

/** Which facts to consolidate. */
export interface Wanted {
  readonly view: ScopeChoice;
  /** null: episodes only, of any predicate not in `ruled`. */
  readonly predicates: ReadonlySet<string> | null;
  /** Predicates that enabled rules read. */
  readonly ruled: ReadonlySet<string>;
  /** Relations with a declared key, as `arity/name`: never consolidated. */
  readonly keyed: ReadonlySet<string>;
  readonly minOccurrences: number;
}

/** The state to search: this generation, the latest, at this time. */
export interface SearchedState {
  readonly facts: FactStore;
  readonly generation: number;
  readonly time: number;
}

/** A stored summary. */
export interface StoredSummary {
  readonly fact: FactRow;
  readonly consolidation: Consolidation;
  readonly constants: readonly string[];
}

/** Facts to consolidate. */
export interface Pattern {
  /** The summary that they join; null: they form a new one. */
  readonly former: StoredSummary | null;
  readonly position: number;
  readonly rows: readonly FactRow[];
  /** The first row that was looked at for it: patterns are in the order of these, those that join a summary first. */
  readonly first: number;
}

const rowsInSlice = 1024;

/** The stored facts of one relation in one scope. */
export interface ScopedFacts {
  readonly facts: FactStore;
  readonly relation: StoredRelation;
  /** Number of the scope. */
  readonly scope: number;
  /** Ascending; may include summaries of another predicate. */
  readonly rows: readonly number[];
  /** The summaries that represent such facts, oldest first. */
  readonly summaries: readonly StoredSummary[];
  readonly isSummary: (row: number) => boolean;
}

/** The stored facts of a relation by scope: those of the chosen one, or of all (null). */
export async function scopedFacts(
  looked: SearchedState,
  relation: StoredRelation,
  scope: number | null,
  pacer: Pacer,
): Promise<ScopedFacts[]> {
  const { facts } = looked;
  const { predicate } = relation;
  const representing = summaryRelationOf(facts, relation);
  const summaries = representing === null ? null : await storedSummaries(looked, representing, scope, pacer);
  const own = predicate.endsWith(summarySuffix)
    ? await storedSummaries(looked, relation, scope, pacer)
    : null;
  const perScope = await rowsPerScope(looked, relation, scope, pacer);
  return Array.from(perScope, ([number, rows]) => ({
    facts,
    relation,
    scope: number,
    rows,
    summaries: summaries?.perScope.get(number) ?? [],
    isSummary: (row) => own?.rows.has(row) === true,
  }));
}

/** The relation of the summaries of a relation's facts; null: there are none. */
export function summaryRelationOf(
  facts: FactStore,
  { predicate, arity, negated }: StoredRelation,
): StoredRelation | null {
  return facts.relation(predicate + summarySuffix, arity, negated);
}

/** Whether facts of the relation are consolidated at all. */
export function isWanted({ predicate, arity }: StoredRelation, wanted: Wanted): boolean {
  if (arity < 2 || !(wanted.predicates?.has(predicate) ?? !wanted.ruled.has(predicate))) return false;
  return !wanted.keyed.has(`${arity}/${predicate}`);
}

interface Summaries {
  /** By scope number, oldest first. */
  readonly perScope: ReadonlyMap<number, StoredSummary[]>;
  readonly rows: ReadonlySet<number>;
}

/** The facts of a relation that are summaries. */
async function storedSummaries(
  { facts, generation, time }: SearchedState,
  relation: StoredRelation,
  scope: number | null,
  pacer: Pacer,
): Promise<Summaries> {
  const perScope = new Map<number, StoredSummary[]>();
  const rows = new Set<number>();
  for (const row of relation.metadata.keys()) {
    if (!relation.isHeld(row, generation, time)) continue;
    await pacer.breathe();
    const number = (relation.columns[relation.arity] as Int32Array)[row] as number;
    if (scope !== null && scope !== number) continue;
    const fact = { relation, row };
    const consolidation = consolidationOf(facts, fact);
    if (consolidation === null) continue;
    rows.add(row);
    const summary = { fact, consolidation, constants: constantsOf(facts.argsOf(fact)) };
    const list = perScope.get(number);
    if (list === undefined) perScope.set(number, [summary]);
    else list.push(summary);
  }
  for (const list of perScope.values())
    list.sort((left, right) => factNumberOf(left.fact) - factNumberOf(right.fact));
  return { perScope, rows };
}

/** The stored rows by scope number. */
async function rowsPerScope(
  { generation, time }: SearchedState,
  relation: StoredRelation,
  scope: number | null,
  pacer: Pacer,
): Promise<Map<number, number[]>> {
  const perScope = new Map<number, number[]>();
  const scopes = relation.columns[relation.arity] as Int32Array;
  for (let row = 0; row < relation.count; row++) {
    if (row % rowsInSlice === 0) await pacer.breathe();
    if (!relation.isHeld(row, generation, time)) continue;
    const number = scopes[row] as number;
    if (scope !== null && scope !== number) continue;
    const rows = perScope.get(number);
    if (rows === undefined) perScope.set(number, [row]);
    else rows.push(row);
  }
  return perScope;
}

/**
 * The patterns among the facts: groups that differ in one argument only. Those that join a summary come first.
 *
 * The episodic position of a predicate, arity, truth value and scope is the one with the most distinct values, the last
 * on a tie. Facts that summaries represent count as if still stored; otherwise consolidation would move the position
 * and would not be idempotent. For the same reason a fact that fits a summary joins it or stays alone; of several
 * summaries it joins the oldest.
 *
 * `episodic` is asked for that position once there are enough facts that fit no summary. Whether some facts are a pattern
 * depends on none but those that agree with them in the other arguments, so `facts` can be a part of what is stored.
 */
export async function* patternsAmong(
  stored: ScopedFacts,
  wanted: Wanted,
  episodic: () => Promise<number>,
  pacer: Pacer,
): AsyncGenerator<Pattern> {
  const { facts, relation, rows, isSummary } = stored;
  const isAnyWanted = wanted.predicates !== null;
  const lookUp = summaryLookUp(stored);
  const joining = new Map<StoredSummary, FactRow[]>();
  const alone: number[] = [];
  for (const [at, row] of rows.entries()) {
    if (at % rowsInSlice === 0) await pacer.breathe();
    if (isSummary(row)) continue;
    const summary = lookUp(row);
    if (summary === null) alone.push(row);
    else {
      const list = joining.get(summary);
      if (list === undefined) joining.set(summary, [{ relation, row }]);
      else list.push({ relation, row });
    }
  }
  for (const [former, found] of joining) {
    const { position, values } = former.consolidation;
    const known = new Set(values.map(({ value }) => value));
    const isJoining = (fact: FactRow): boolean => {
      const value = valueAt(facts, fact, position);
      // A pinned fact stays stored if its summary already represents it.
      if (isPinned(relation.metadata.get(fact.row)) && known.has(value)) return false;
      return isAnyWanted || isEpisode(fact, value);
    };
    const joined: FactRow[] = [];
    for (const [at, fact] of found.entries()) {
      if (at % rowsInSlice === 0) await pacer.breathe();
      if (isJoining(fact)) joined.push(fact);
    }
    if (joined.length > 0) yield { former, position, rows: joined, first: firstOf(found) };
  }
  if (alone.length < wanted.minOccurrences) return;
  const position = await episodic();
  for await (const group of groups(relation, alone, position, wanted.minOccurrences, pacer)) {
    let isWhole = true;
    for (const [at, fact] of group.entries()) {
      if (at % rowsInSlice === 0) await pacer.breathe();
      isWhole &&= isAnyWanted || isEpisode(fact, valueAt(facts, fact, position));
    }
    if (isWhole) yield { former: null, position, rows: group, first: firstOf(group) };
  }
}

function firstOf([first]: readonly FactRow[]): number {
  return present(first, 'a pattern has facts').row;
}

/** Finds the oldest summary that the fact of a row fits. */
export function summaryLookUp({
  facts,
  relation,
  summaries,
}: Pick<ScopedFacts, 'facts' | 'relation' | 'summaries'>): (row: number) => StoredSummary | null {
  if (summaries.length === 0) return () => null;
  const order = new Map(summaries.map((summary, at) => [summary, at]));
  const byPosition = new Map<number, Map<string, StoredSummary>>();
  for (const summary of summaries) {
    const { position } = summary.consolidation;
    const ids = summary.constants.map((text) => facts.dictionary.find(text));
    // No fact ever had this constant.
    if (ids.includes(-1)) continue;
    const key = ids.join();
    const known = byPosition.get(position);
    if (known === undefined) byPosition.set(position, new Map([[key, summary]]));
    else if (!known.has(key)) known.set(key, summary);
  }
  return (row) => {
    let first: StoredSummary | null = null;
    for (const [position, known] of byPosition) {
      const summary = known.get(othersOf(relation, row, position).join());
      if (summary === undefined) continue;
      if (first === null || (order.get(summary) as number) < (order.get(first) as number)) first = summary;
    }
    return first;
  };
}

/** Ids of the arguments except the one at the position. */
export function othersOf({ columns, arity }: StoredRelation, row: number, position: number): number[] {
  const ids: number[] = [];
  for (let at = 0; at < arity; at++)
    if (at !== position) ids.push((columns[at] as Int32Array)[row] as number);
  return ids;
}

/** By position: how many distinct values the facts have there, those that summaries represent included. */
export async function distinctValues(
  { facts, relation, rows, summaries }: ScopedFacts,
  pacer: Pacer,
): Promise<number[]> {
  const counts: number[] = [];
  for (let at = 0; at < relation.arity; at++) {
    const column = relation.columns[at] as Int32Array;
    const distinct = new Set<number | string>();
    for (const [index, row] of rows.entries()) {
      if (index % rowsInSlice === 0) await pacer.breathe();
      distinct.add(column[row] as number);
    }
    let looked = 0;
    for (const text of textsAt(summaries, at)) {
      if (++looked % rowsInSlice === 0) await pacer.breathe();
      const id = facts.dictionary.find(text);
      distinct.add(id < 0 ? text : id);
    }
    counts.push(distinct.size);
  }
  return counts;
}

/** The position with the most distinct values, the last on a tie. */
export function episodicPosition(distinct: readonly number[]): number {
  return distinct.lastIndexOf(Math.max(...distinct));
}

/** The values at this position of the facts that these summaries represent. */
function* textsAt(summaries: readonly StoredSummary[], at: number): Generator<string> {
  for (const { consolidation, constants } of summaries) {
    const { position, values } = consolidation;
    if (at === position) for (const { value } of values) yield value;
    else yield constants[at < position ? at : at - 1] as string;
  }
}

/**
 * The rows that agree in every argument except the one at the position, in groups of at least `minSize`, in row order.
 */
async function* groups(
  relation: StoredRelation,
  rows: readonly number[],
  position: number,
  minSize: number,
  pacer: Pacer,
): AsyncGenerator<FactRow[]> {
  const keys = new Tuples(relation.arity - 1);
  const groupOf = new Int32Array(rows.length);
  const sizes: number[] = [];
  for (const [at, row] of rows.entries()) {
    if (at % rowsInSlice === 0) await pacer.breathe();
    const key = Int32Array.from(othersOf(relation, row, position));
    const added = keys.insert(key);
    const group = added < 0 ? keys.find(key) : added;
    groupOf[at] = group;
    sizes[group] = (sizes[group] ?? 0) + 1;
  }
  const found = new Map<number, FactRow[]>();
  for (const [at, row] of rows.entries()) {
    if (at % rowsInSlice === 0) await pacer.breathe();
    const group = groupOf[at] as number;
    if ((sizes[group] as number) < minSize) continue;
    const list = found.get(group);
    if (list === undefined) found.set(group, [{ relation, row }]);
    else list.push({ relation, row });
  }
  yield* found.values();
}

/** The argument of the fact at the position. */
export function valueAt(facts: FactStore, { relation, row }: FactRow, position: number): string {
  return facts.dictionary.text((relation.columns[position] as Int32Array)[row] as number);
}

/** The number that identifies the fact in the log. */
export function factNumberOf({ relation, row }: FactRow): number {
  return relation.number[row] as number;
}

/** Epoch milliseconds from March 1973 on; shorter numbers are more often something else. */
const epochMs = /^\d{12,13}$/;

/** True for ISO 8601 text with at least a date, and for epoch milliseconds. */
export function isInstant(text: string): boolean {
  return epochMs.test(text) || parseTime(text) !== null;
}

/** True if a fact with this value at the episodic position describes a single event. */
export function isEpisode({ relation, row }: FactRow, value: string): boolean {
  const { from, until } = relation.boundsOf(row);
  const isAlways = from === Number.NEGATIVE_INFINITY && until === Number.POSITIVE_INFINITY;
  return !isAlways || relation.metadata.get(row)?.['episode'] === true || isInstant(value);
}

/** The predicates that these bodies read, including those under `not` and inside aggregates. */
export function predicatesRead(bodies: Iterable<readonly Literal[]>): Set<string> {
  const read = new Set<string>();
  const left = [...bodies];
  for (let body = left.pop(); body !== undefined; body = left.pop())
    for (const literal of body)
      if (isAggregate(literal)) left.push(literal.body);
      else if (!isBuiltinName(literal.predicate)) read.add(literal.predicate);
  return read;
}

/** True if decay must not evict the fact and consolidation must not retract it. */
export function isPinned(metadata: Metadata | null | undefined): boolean {
  return metadata?.['pinned'] === true;
}
