import { TextMap, TextSet } from '../base/text-map.ts';
import { TextComparisons } from '../base/text-order.ts';
import { type ConsolidatedValue, type SkipReason, summarySuffix } from '../contract/memory.ts';
import type { Metadata } from '../contract/facts.ts';
import { predicateProblem } from '../contract/language.ts';
import { present } from '../base/assert.ts';
import { renderIdentity } from '../language/print.ts';
import type { FactIdentity, FactRow, FactStore } from '../store/fact-store.ts';
import { blockBits, type StoredRelation } from '../store/stored-relation.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import {
  distinctValues,
  episodicPosition,
  isPinned,
  isWanted,
  othersOf,
  type Pattern,
  patternsAmong,
  type ScopedFacts,
  scopedFacts,
  type SearchedState,
  type StoredSummary,
  summaryLookUp,
  summaryRelationOf,
  valueAt,
  type Wanted,
} from './patterns.ts';
import { ownMetadata, summaryIdentity } from './summary.ts';

/**
 * What a consolidation is to do, as planned at one generation and time, and the same for a later one without planning
 * all of it again: whether facts are a pattern depends on those alone that agree with them in the other arguments, on the
 * episodic position, and on the stored summaries.
 *
 * Whoever plans holds a reader meanwhile, so that rows stay where they are.
 */

/** A summary to assert, and the facts it replaces. */
export interface PlannedSummary {
  readonly identity: FactIdentity;
  /** Its metadata without `consolidated`. */
  readonly metadata: Metadata;
  /** The predicate of the facts. */
  readonly from: string;
  readonly position: number;
  /** By createdAt, then by value. Not empty. */
  readonly values: readonly ConsolidatedValue[];
  /** The JSON of the values, some at a time, without the brackets. */
  readonly json: readonly string[];
  /** The summary that it replaces, or null. */
  readonly former: FactRow | null;
  /** The facts to retract. */
  readonly replaced: readonly FactRow[];
}

/** A pattern that gets no summary. */
export interface Skipped {
  readonly identity: FactIdentity;
  readonly support: number;
  readonly reason: SkipReason;
}

/** What is planned, in answer order: by atom, then by scope. */
export interface OrderedPlan {
  readonly summaries: readonly PlannedSummary[];
  readonly skipped: readonly Skipped[];
}

/** The state to plan for, and what its owner knows of it. */
export interface PlannedState extends SearchedState {
  /** When a stored fact was asserted. */
  readonly createdAt: (fact: FactRow) => number;
}

/** Maximum size of all summaries of one write, in characters of JSON. */
const maxCharacters = 64 * 1024 * 1024;
const itemsInSlice = 256;
/** Characters of the values' JSON in one piece, about. */
const charactersInPiece = 0x8000;
const rowsInSlice = 1024;

/** A pattern with its summary. */
interface Found {
  readonly planned: PlannedSummary;
  readonly characters: number;
  /** Why it gets no summary whatever else is consolidated; null: it may get one. */
  readonly reason: SkipReason | null;
  /** The summary that it joins, and a row that agrees with its facts in the other arguments. */
  readonly former: StoredSummary | null;
  readonly first: number;
}

/** Of the facts of one relation in one scope. */
interface ScopePlan {
  readonly scope: number;
  readonly summaries: readonly StoredSummary[];
  /** Distinct values by position when they were counted, and rows that came and went since; null: they were not. */
  readonly episodic: { readonly distinct: readonly number[]; came: number; went: number } | null;
  /** In the order of `first`, those that join a summary first. */
  readonly found: readonly Found[];
  /** Of those that may get a summary. */
  readonly characters: number;
  /** Of those found, the ones whose atoms are free, if all are within the size; null: not looked at. */
  fitting: readonly PlannedSummary[] | null;
}

/** Of the facts of one relation. */
interface RelationPlan {
  readonly relation: StoredRelation;
  readonly representing: StoredRelation | null;
  /** When the next of its facts, and of the facts named like summaries of them, begin or cease to count as stored. */
  readonly changesAt: number;
  readonly representingChangesAt: number;
  readonly scopes: ReadonlyMap<number, ScopePlan>;
}

/** A plan for one state. */
export class ConsolidationPlan {
  readonly #state: PlannedState;
  /** The number of the scope that is looked at; null: all. */
  readonly #scope: number | null;
  readonly #relations: ReadonlyMap<StoredRelation, RelationPlan>;
  #ordered: OrderedPlan | null = null;

  private constructor(
    state: PlannedState,
    wanted: Wanted,
    relations: ReadonlyMap<StoredRelation, RelationPlan>,
  ) {
    this.#state = state;
    this.#scope = state.facts.chosenScope(wanted.view);
    this.#relations = relations;
  }

  /** The plan for this state; `before` is one for an earlier state of the same facts, whose parts it takes over. */
  static async of(
    state: PlannedState,
    wanted: Wanted,
    pacer: Pacer,
    before: ConsolidationPlan | null = null,
  ): Promise<ConsolidationPlan> {
    const relations = new Map<StoredRelation, RelationPlan>();
    // With too much for one write, the order of all patterns decides which wait.
    const usable = before !== null && before.#canFollow(state, wanted) ? before : null;
    for (const relation of state.facts.relations.values()) {
      if (!isWanted(relation, wanted)) continue;
      const known = usable === null ? undefined : usable.#relations.get(relation);
      const followed =
        usable === null || known === undefined
          ? null
          : await followedRelation(known, usable.#state, state, wanted, pacer);
      relations.set(relation, followed ?? (await plannedRelation(state, wanted, relation, pacer)));
    }
    const plan = new ConsolidationPlan(state, wanted, relations);
    if (usable === null) return plan;
    if (!plan.#isWithinSize) return ConsolidationPlan.of(state, wanted, pacer);
    if (usable.#hasSame(relations)) plan.#ordered = await usable.ordered(pacer);
    return plan;
  }

  #canFollow(state: PlannedState, wanted: Wanted): boolean {
    const { facts, time } = this.#state;
    // The clock may have been set.
    const isLater = facts === state.facts && time <= state.time;
    return isLater && this.#scope === facts.chosenScope(wanted.view) && this.#isWithinSize;
  }

  get #isWithinSize(): boolean {
    let characters = 0;
    for (const { scopes } of this.#relations.values())
      for (const plan of scopes.values()) characters += plan.characters;
    return characters <= maxCharacters;
  }

  /** Whether these are the same patterns, and so is all that decides which of them get a summary. */
  #hasSame(relations: ReadonlyMap<StoredRelation, RelationPlan>): boolean {
    const scopes = (plans: Iterable<RelationPlan>): ScopePlan[] =>
      Array.from(plans, (plan) => [...plan.scopes.values()].filter(({ found }) => found.length > 0)).flat();
    const mine = scopes(this.#relations.values());
    const others = scopes(relations.values());
    return mine.length === others.length && mine.every(({ found }, at) => found === others[at]?.found);
  }

  /**
   * The plan in answer order. A summary never replaces an unrelated fact: if its atom is already stored, its facts stay. The
   * size of summaries is bounded by that of a log record.
   */
  async ordered(pacer: Pacer): Promise<OrderedPlan> {
    if (this.#ordered !== null) return this.#ordered;
    const isWithin = this.#isWithinSize;
    const summaries: PlannedSummary[] = [];
    const skipped: Skipped[] = [];
    const skip = ({ identity, values }: PlannedSummary, reason: SkipReason): void =>
      void skipped.push({ identity, support: values.length, reason });
    let room = maxCharacters;
    for (const { scopes } of this.#relations.values())
      for (const plan of scopes.values()) {
        const taken: PlannedSummary[] = [];
        for (const [index, { planned, characters, reason }] of plan.found.entries()) {
          if (index % itemsInSlice === 0) await pacer.breathe();
          if (reason !== null) skip(planned, reason);
          else if (characters > room) skip(planned, 'next_time');
          else {
            room -= characters;
            taken.push(planned);
          }
        }
        const fitting = plan.fitting ?? (await withRoom(this.#state, taken, pacer));
        if (isWithin) plan.fitting = fitting;
        const left = new Set(fitting.length === taken.length ? [] : taken);
        for (const [index, planned] of fitting.entries()) {
          if (index % itemsInSlice === 0) await pacer.breathe();
          summaries.push(planned);
          left.delete(planned);
        }
        for (const planned of left) skip(planned, 'atom_taken');
      }
    this.#ordered = {
      summaries: await inOrder(summaries, pacer),
      skipped: await inOrder(skipped, pacer),
    };
    return this.#ordered;
  }
}

function reasonOf({ identity }: PlannedSummary, characters: number): SkipReason | null {
  if (predicateProblem(identity.predicate) !== null) return 'name_too_long';
  return characters > maxCharacters ? 'too_large' : null;
}

async function plannedRelation(
  state: PlannedState,
  wanted: Wanted,
  relation: StoredRelation,
  pacer: Pacer,
): Promise<RelationPlan> {
  const scope = state.facts.chosenScope(wanted.view);
  const representing = summaryRelationOf(state.facts, relation);
  const scopes = new Map<number, ScopePlan>();
  for (const stored of await scopedFacts(state, relation, scope, pacer))
    scopes.set(stored.scope, await plannedScope(state, wanted, stored, pacer));
  const changesAt = await nextBound(relation, state, pacer);
  const representingChangesAt = await nextBound(representing, state, pacer);
  return { relation, representing, changesAt, representingChangesAt, scopes };
}

/** When the next facts of the relation begin or cease to count as stored. */
async function nextBound(
  relation: StoredRelation | null,
  { generation, time }: SearchedState,
  pacer: Pacer,
): Promise<number> {
  let next = Number.POSITIVE_INFINITY;
  if (relation === null || relation.validUntil === null) return next;
  const { hasLives } = relation;
  const count = relation.rowsAt(generation);
  for (let row = 0; row < count; row++) {
    if (row % rowsInSlice === 0) await pacer.breathe();
    const until = relation.validUntil[row] as number;
    if (until > time && until < next) next = until;
    // A life is outlived once a later one of the fact begins.
    const from = hasLives ? (relation.validFrom?.[row] ?? time) : time;
    if (from > time && from < next) next = from;
  }
  return next;
}

async function plannedScope(
  state: PlannedState,
  wanted: Wanted,
  stored: ScopedFacts,
  pacer: Pacer,
): Promise<ScopePlan> {
  let distinct: number[] | null = null;
  const episodic = async (): Promise<number> =>
    episodicPosition((distinct = await distinctValues(stored, pacer)));
  const found = await foundAmong(state, wanted, stored, episodic, pacer);
  return {
    scope: stored.scope,
    summaries: stored.summaries,
    episodic: distinct === null ? null : { distinct, came: 0, went: 0 },
    found,
    characters: charactersOf(found),
    fitting: null,
  };
}

function charactersOf(found: readonly Found[]): number {
  let sum = 0;
  for (const { reason, characters } of found) if (reason === null) sum += characters;
  return sum;
}

async function foundAmong(
  state: PlannedState,
  wanted: Wanted,
  stored: ScopedFacts,
  episodic: () => Promise<number>,
  pacer: Pacer,
): Promise<Found[]> {
  const found: Found[] = [];
  for await (const pattern of patternsAmong(stored, wanted, episodic, pacer)) {
    const made = await valuesOf(state, pattern, pacer);
    const planned = await plannedSummary(state.facts, pattern, made, pacer);
    const { characters } = made;
    const { former, first } = pattern;
    found.push({ planned, characters, reason: reasonOf(planned, characters), former, first });
  }
  return found;
}

/** The plan for the facts of a relation in a later state; null: it is to be planned anew. */
async function followedRelation(
  plan: RelationPlan,
  before: SearchedState,
  state: PlannedState,
  wanted: Wanted,
  pacer: Pacer,
): Promise<RelationPlan | null> {
  const { relation, representing, changesAt } = plan;
  if (summaryRelationOf(state.facts, relation) !== representing) return null;
  if (plan.representingChangesAt <= state.time || !isUnchanged(representing, before)) return null;
  const hasPassed = changesAt <= state.time;
  if (!hasPassed && isUnchanged(relation, before)) return plan;
  // New facts may outlive others, or be summaries.
  if (relation.hasLives || relation.predicate.endsWith(summarySuffix)) return null;
  const changed = await changedRows(relation, before, state, hasPassed, pacer);
  const scopes = new Map(plan.scopes);
  const scope = state.facts.chosenScope(wanted.view);
  for (const [number, rows] of changed) {
    if (scope !== null && scope !== number) continue;
    const known = plan.scopes.get(number);
    if (known === undefined && representing !== null) return null;
    // It had no facts.
    const followed = await (known === undefined
      ? plannedScope(state, wanted, { ...noFacts(state, relation, number), rows: rows.held }, pacer)
      : followedScope(known, relation, rows, state, wanted, pacer));
    if (followed === null) return null;
    scopes.set(number, followed);
  }
  return { ...plan, changesAt: await nextBound(relation, state, pacer), scopes };
}

/** Whether no row came or died since. */
function isUnchanged(relation: StoredRelation | null, { generation }: SearchedState): boolean {
  return relation === null || relation.liveIn(generation) !== null;
}

function noFacts({ facts }: SearchedState, relation: StoredRelation, scope: number): ScopedFacts {
  return { facts, relation, scope, rows: [], summaries: [], isSummary: () => false };
}

/** The rows that changed between two states, ascending. */
interface ChangedRows {
  readonly all: number[];
  /** Those that count as stored now. */
  readonly held: number[];
}

/** By scope number: the rows that came, died, or whose validity ended between two states. */
async function changedRows(
  relation: StoredRelation,
  before: SearchedState,
  state: SearchedState,
  hasPassed: boolean,
  pacer: Pacer,
): Promise<Map<number, ChangedRows>> {
  const { death, validUntil } = relation;
  const perScope = new Map<number, ChangedRows>();
  const [known, count] = [relation.rowsAt(before.generation), relation.rowsAt(state.generation)];
  const hasEnded = (row: number): boolean => {
    const until = validUntil?.[row] ?? Number.POSITIVE_INFINITY;
    return until > before.time && until <= state.time;
  };
  for (let row = 0; row < count; row++) {
    if (row % rowsInSlice === 0) await pacer.breathe();
    const isFirstOfBlock = row % (1 << blockBits) === 0;
    if (
      row < known &&
      isFirstOfBlock &&
      !hasPassed &&
      !relation.hasDiedSince(row >>> blockBits, before.generation)
    ) {
      row = Math.min(known, row + (1 << blockBits)) - 1;
      continue;
    }
    const hasDied = (death?.[row] ?? Number.POSITIVE_INFINITY) !== Number.POSITIVE_INFINITY;
    if (row < known && !((hasDied || hasEnded(row)) && relation.isHeld(row, before.generation, before.time)))
      continue;
    const number = (relation.columns[relation.arity] as Int32Array)[row] as number;
    let rows = perScope.get(number);
    if (rows === undefined) perScope.set(number, (rows = { all: [], held: [] }));
    rows.all.push(row);
    if (relation.isHeld(row, state.generation, state.time)) rows.held.push(row);
  }
  return perScope;
}

/** The plan for the facts of a scope in a later state, after these changes; null: it is to be planned anew. */
async function followedScope(
  plan: ScopePlan,
  relation: StoredRelation,
  { all, held }: ChangedRows,
  state: PlannedState,
  wanted: Wanted,
  pacer: Pacer,
): Promise<ScopePlan | null> {
  const { episodic, summaries } = plan;
  if (episodic === null) return null;
  const { distinct } = episodic;
  const came = episodic.came + held.length;
  const went = episodic.went + all.length - held.length;
  const position = episodicPosition(distinct);
  if (!isCertain(distinct, position, came, went)) return null;
  const stored: ScopedFacts = { ...noFacts(state, relation, plan.scope), summaries };
  const affected = affectedBy(all, stored, position);
  const rows = await affectedRows(relation, plan.scope, affected, state, pacer);
  const known = (): Promise<number> => Promise.resolve(position);
  const anew = await foundAmong(state, wanted, { ...stored, rows }, known, pacer);
  const found: Found[] = [];
  let next = 0;
  for (const [index, each] of plan.found.entries()) {
    if (index % itemsInSlice === 0) await pacer.breathe();
    if (affected.has(each.former, each.first)) continue;
    while (next < anew.length && isBefore(at(anew, next), each)) found.push(at(anew, next++));
    found.push(each);
  }
  const isSame = found.length === plan.found.length && anew.length === 0;
  if (isSame) return { ...plan, episodic: { distinct, came, went } };
  for (; next < anew.length; next++) found.push(at(anew, next));
  const characters = charactersOf(found);
  return { ...plan, episodic: { distinct, came, went }, found, characters, fitting: null };
}

/** Whether the position has the most distinct values after so many rows came and went. */
function isCertain(distinct: readonly number[], position: number, came: number, went: number): boolean {
  const least = (distinct[position] as number) - went;
  return distinct.every((count, at) => {
    if (at === position) return true;
    // The last position wins a tie.
    return at < position ? count + came <= least : count + came < least;
  });
}

function isBefore(left: Found, right: Found): boolean {
  const [joins, otherJoins] = [left.former !== null, right.former !== null];
  return joins === otherJoins ? left.first < right.first : joins;
}

/** What the changed rows may have changed: the patterns of facts that agree with one of them. */
interface Affected {
  /** Whether a pattern, with the summary that it joins, is among them. */
  readonly has: (former: StoredSummary | null, row: number) => boolean;
  /** Whether the fact of a row is in one of them. */
  readonly hasRow: (row: number) => boolean;
}

function affectedBy(changed: readonly number[], stored: ScopedFacts, position: number): Affected {
  const { relation } = stored;
  const lookUp = summaryLookUp(stored);
  const joined = new Set<StoredSummary>();
  const keys = new Set<string>();
  // Most rows agree with none of them in one argument already.
  const firstIds = new Map<number, Set<number>>();
  for (const row of changed) {
    const summary = lookUp(row);
    if (summary === null) keys.add(othersOf(relation, row, position).join());
    else joined.add(summary);
    const differing = summary?.consolidation.position ?? position;
    const at = differing === 0 ? 1 : 0;
    let ids = firstIds.get(at);
    if (ids === undefined) firstIds.set(at, (ids = new Set()));
    ids.add((relation.columns[at] as Int32Array)[row] as number);
  }
  const has = (former: StoredSummary | null, row: number): boolean =>
    former === null ? keys.has(othersOf(relation, row, position).join()) : joined.has(former);
  const hasRow = (row: number): boolean => {
    for (const [at, ids] of firstIds)
      if (ids.has((relation.columns[at] as Int32Array)[row] as number)) return has(lookUp(row), row);
    return false;
  };
  return { has, hasRow };
}

/** The rows of the scope that count as stored and are affected, ascending. */
async function affectedRows(
  relation: StoredRelation,
  scope: number,
  affected: Affected,
  { generation, time }: SearchedState,
  pacer: Pacer,
): Promise<number[]> {
  const rows: number[] = [];
  const scopes = relation.columns[relation.arity] as Int32Array;
  const count = relation.rowsAt(generation);
  for (let row = 0; row < count; row++) {
    if (row % rowsInSlice === 0) await pacer.breathe();
    if (scopes[row] !== scope || !affected.hasRow(row)) continue;
    if (relation.isHeld(row, generation, time)) rows.push(row);
  }
  return rows;
}

/** The values of the summary, their JSON, and its size in characters; stops once they exceed the limit. */
async function valuesOf(
  { facts, createdAt }: PlannedState,
  { former, position, rows }: Pattern,
  pacer: Pacer,
): Promise<Pick<PlannedSummary, 'values' | 'json'> & { readonly characters: number }> {
  const byValue = new TextMap<{ readonly value: ConsolidatedValue; readonly json: string }>();
  let characters = 0;
  let looked = 0;
  const add = async (value: ConsolidatedValue): Promise<void> => {
    const json = JSON.stringify(value);
    byValue.set(value.value, { value, json });
    characters += json.length + 1;
    if (++looked % itemsInSlice === 0) await pacer.breathe();
  };
  for (const value of former?.consolidation.values ?? []) await add(value);
  // A fact that was stored again replaces its earlier value.
  for (const fact of rows) {
    const { from, until, metadata } = facts.versionAt(fact);
    await add({
      value: valueAt(facts, fact, position),
      createdAt: createdAt(fact),
      ...(Number.isFinite(from) ? { validFrom: from } : {}),
      ...(Number.isFinite(until) ? { validUntil: until } : {}),
      ...(metadata === null ? {} : { metadata }),
    });
    if (characters > maxCharacters)
      return { values: Array.from(byValue.values(), ({ value }) => value), json: [], characters };
  }
  const entries = Array.from(byValue.values());
  const texts = new TextComparisons();
  for (const { value } of entries) texts.see(value.value);
  const order = await sortedOrder(
    entries.length,
    (one, other) => {
      const [left, right] = [at(entries, one).value, at(entries, other).value];
      return left.createdAt - right.createdAt || texts.compare(left.value, right.value);
    },
    pacer,
    texts,
  );
  const sorted = Array.from(order, (index) => at(entries, index));
  return {
    values: sorted.map(({ value }) => value),
    json: pieces(sorted.map(({ json }) => json)),
    characters,
  };
}

function at<Item>(items: readonly Item[], index: number): Item {
  return items[index] as Item;
}

/** The texts, separated by commas, in pieces that are written at once. */
function pieces(texts: readonly string[]): string[] {
  const whole: string[] = [];
  let start = 0;
  let characters = 0;
  for (const [index, text] of texts.entries()) {
    characters += text.length;
    if (characters < charactersInPiece && index < texts.length - 1) continue;
    whole.push(texts.slice(start, index + 1).join());
    start = index + 1;
    characters = 0;
  }
  return whole;
}

async function plannedSummary(
  facts: FactStore,
  { former, position, rows }: Pattern,
  { values, json }: Pick<PlannedSummary, 'values' | 'json'>,
  pacer: Pacer,
): Promise<PlannedSummary> {
  const { predicate, args, truthVal, scope } = facts.identityOf(present(rows[0], 'a pattern has facts'));
  const constants = args.filter((_, index) => index !== position);
  const replaced: FactRow[] = [];
  for (const [index, fact] of rows.entries()) {
    if (index % itemsInSlice === 0) await pacer.breathe();
    if (!isPinned(fact.relation.metadata.get(fact.row))) replaced.push(fact);
  }
  return {
    identity: summaryIdentity({ predicate, truthVal, scope }, constants, values.length),
    metadata: ownMetadata(former === null ? null : facts.metadataOf(former.fact), values),
    from: predicate,
    position,
    values,
    json,
    former: former?.fact ?? null,
    replaced,
  };
}

/** The summaries whose atoms are free: not stored, or freed by a summary that goes. */
async function withRoom(
  { facts, time }: SearchedState,
  found: readonly PlannedSummary[],
  pacer: Pacer,
): Promise<PlannedSummary[]> {
  const taken = new TextSet();
  const freed = new TextSet();
  const summaries: PlannedSummary[] = [];
  let waiting = [...found];
  for (let before = -1; before !== summaries.length; ) {
    before = summaries.length;
    const still: PlannedSummary[] = [];
    for (const [index, planned] of waiting.entries()) {
      if (index % itemsInSlice === 0) await pacer.breathe();
      const { identity, former } = planned;
      const key = keyOf(identity);
      const formerKey = former === null ? null : keyOf(facts.identityOf(former));
      const { predicate, args, truthVal, scope } = identity;
      const known = facts.find(predicate, args, truthVal, scope);
      const isStored = known !== null && facts.isStored(known, time);
      if (taken.has(key) || (isStored && !freed.has(key) && key !== formerKey)) still.push(planned);
      else {
        taken.add(key);
        if (formerKey !== null) freed.add(formerKey);
        summaries.push(planned);
      }
    }
    waiting = still;
  }
  return summaries;
}

function keyOf({ predicate, args, truthVal, scope }: FactIdentity): string {
  return JSON.stringify([scope, truthVal, predicate, ...args]);
}

async function inOrder<Item extends { readonly identity: FactIdentity }>(
  items: readonly Item[],
  pacer: Pacer,
): Promise<Item[]> {
  const texts = new TextComparisons();
  const [atoms, scopes]: [string[], string[]] = [[], []];
  for (const [index, { identity }] of items.entries()) {
    if (index % itemsInSlice === 0) await pacer.breathe();
    atoms.push(texts.see(renderIdentity(identity)));
    scopes.push(identity.scope ?? '');
  }
  const compare = (left: number, right: number): number =>
    texts.compare(at(atoms, left), at(atoms, right)) || texts.compare(at(scopes, left), at(scopes, right));
  return Array.from(await sortedOrder(items.length, compare, pacer, texts), (index) => at(items, index));
}
