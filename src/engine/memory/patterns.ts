import { type Consolidation, summarySuffix } from '../contract/memory.ts';
import type { FactRow, FactStore, ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { Tuples } from '../store/tuples.ts';
import { relationKey, isAggregate } from '../language/terms.ts';
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
interface StoredSummary {
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
}

const rowsInSlice = 1024;

/**
 * The patterns of the view: groups of stored facts that differ in one argument only. Within each relation and scope,
 * patterns that join a summary come first.
 *
 * The episodic position of a predicate, arity, truth value and scope is the one with the most distinct values, the last
 * on a tie. Facts that summaries represent count as if still stored; otherwise consolidation would move the position
 * and would not be idempotent. For the same reason a fact that fits a summary joins it or stays alone; of several
 * summaries it joins the oldest.
 */
export async function* patterns(
  looked: SearchedState,
  wanted: Wanted,
  pacer: Pacer,
): AsyncGenerator<Pattern> {
  const scope = looked.facts.chosenScope(wanted.view);
  const summaries = await storedSummaries(looked, scope, pacer);
  for (const relation of looked.facts.relations.values()) {
    const { predicate, arity, negated } = relation;
    if (arity < 2 || !(wanted.predicates?.has(predicate) ?? !wanted.ruled.has(predicate))) continue;
    if (wanted.keyed.has(`${arity}/${predicate}`)) continue;
    const key = relationKey(predicate, arity, negated);
    const perScope = await rowsPerScope(looked, relation, scope, pacer);
    for (const [number, rows] of perScope) {
      const group = {
        facts: looked.facts,
        relation,
        rows,
        summaries: summaries.of.get(`${key} ${number}`) ?? [],
        isSummary: (row: number) => summaries.rows.get(relation)?.has(row) === true,
      };
      yield* patternsIn(group, wanted, pacer);
    }
  }
}

interface Summaries {
  /** Summaries by the relation and scope number of the facts they represent, oldest first. */
  readonly of: ReadonlyMap<string, StoredSummary[]>;
  readonly rows: ReadonlyMap<StoredRelation, ReadonlySet<number>>;
}

async function storedSummaries(
  { facts, generation, time }: SearchedState,
  scope: number | null,
  pacer: Pacer,
): Promise<Summaries> {
  const found = new Map<string, StoredSummary[]>();
  const rows = new Map<StoredRelation, Set<number>>();
  for (const relation of facts.relations.values()) {
    const { predicate, arity, negated } = relation;
    if (!predicate.endsWith(summarySuffix)) continue;
    const own = new Set<number>();
    for (const row of relation.metadata.keys()) {
      if (!relation.isHeld(row, generation, time)) continue;
      await pacer.breathe();
      const number = (relation.columns[arity] as Int32Array)[row] as number;
      if (scope !== null && scope !== number) continue;
      const fact = { relation, row };
      const consolidation = consolidationOf(facts, fact);
      if (consolidation === null) continue;
      own.add(row);
      const key = `${relationKey(consolidation.from, arity, negated)} ${number}`;
      const list = found.get(key);
      const summary = { fact, consolidation, constants: constantsOf(facts.argsOf(fact)) };
      if (list === undefined) found.set(key, [summary]);
      else list.push(summary);
    }
    if (own.size > 0) rows.set(relation, own);
  }
  for (const list of found.values())
    list.sort((left, right) => factNumberOf(left.fact) - factNumberOf(right.fact));
  return { of: found, rows };
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

/** The stored facts of one relation in one scope. */
interface Stored {
  readonly facts: FactStore;
  readonly relation: StoredRelation;
  /** Ascending; may include summaries of another predicate. */
  readonly rows: readonly number[];
  /** The summaries that represent such facts. */
  readonly summaries: readonly StoredSummary[];
  readonly isSummary: (row: number) => boolean;
}

async function* patternsIn(stored: Stored, wanted: Wanted, pacer: Pacer): AsyncGenerator<Pattern> {
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
    if (joined.length > 0) yield { former, position, rows: joined };
  }
  if (alone.length < wanted.minOccurrences) return;
  const position = await episodicPosition(stored, pacer);
  for await (const group of groups(relation, alone, position, wanted.minOccurrences, pacer)) {
    let isWhole = true;
    for (const [at, fact] of group.entries()) {
      if (at % rowsInSlice === 0) await pacer.breathe();
      isWhole &&= isAnyWanted || isEpisode(fact, valueAt(facts, fact, position));
    }
    if (isWhole) yield { former: null, position, rows: group };
  }
}

/** Finds the oldest summary that the fact of a row fits. */
function summaryLookUp({ facts, relation, summaries }: Stored): (row: number) => StoredSummary | null {
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
function othersOf({ columns, arity }: StoredRelation, row: number, position: number): number[] {
  const ids: number[] = [];
  for (let at = 0; at < arity; at++)
    if (at !== position) ids.push((columns[at] as Int32Array)[row] as number);
  return ids;
}

async function episodicPosition({ facts, relation, rows, summaries }: Stored, pacer: Pacer): Promise<number> {
  let position = 0;
  let maxDistinct = 0;
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
    if (distinct.size < maxDistinct) continue;
    maxDistinct = distinct.size;
    position = at;
  }
  return position;
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
