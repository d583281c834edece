import { present } from '../base/assert.ts';
import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import { NumberList } from '../base/number-list.ts';
import { type Draft, type FactChange, type Prepared, rowsInSlice, type RuleChange } from './report.ts';
import { FactBlock, type FactsToStore } from '../store/fact-block.ts';
import type { ClockSetting } from '../base/clock.ts';
import type { EndMove } from '../store/past-facts.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import type { FactIdentity, FactRow, FactStore, FactToStore, StoreOutcome } from '../store/fact-store.ts';
import { renderIdentity } from '../language/print.ts';
import type {
  Commit,
  Consolidate,
  Decay,
  Forget,
  MoveEnds,
  Operation,
  Restore,
  RuleOperation,
  ShapeOperation,
} from './operation.ts';
import { ErasedFacts } from '../store/erased-facts.ts';
import type { DatabaseState, TenantState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';
import type { MergePlan } from './merge-plan.ts';
import { changeRules } from './apply-rules.ts';
import { changeShape, declarationsAfter } from './apply-shape.ts';
import { packagesWithout } from '../store/package-record.ts';
import { Packaging } from './apply-packages.ts';
import { KeyedFacts } from './keyed-facts.ts';
import { tupleAt } from '../store/tuples.ts';

/** Applies operations on a tenant's stored facts: assertions, retractions, transactions and those of the memory. */

/** Stores the facts and publishes them in the next generation if anything changed. */
export function* storeFacts(
  database: DatabaseState,
  operation: Extract<Operation, { kind: 'assert' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenantOrNew(operation.tenant, record.time);
  const { facts, uses } = tenant;
  const generation = database.generationOf(operation.tenant) + 1;
  const keyed = new KeyedFacts(generation, database.declarations, tenant, record, draft);
  const noteStored = (outcome: StoreOutcome): void => {
    draft[outcome.status]++;
    draft.fact = outcome;
    if (outcome.status !== 'asserted') {
      const asserted = facts.assertedIn(outcome);
      const since = asserted === generation ? record.time : database.createdAtOf(facts, outcome);
      uses.note(outcome, since, record.time);
    }
    if (outcome.status !== 'unchanged') draft.changes.add('fact.asserted', outcome);
  };
  const noteAsserted = (relation: StoredRelation, row: number, count: number): void => {
    draft.asserted += count;
    draft.fact = { relation, row: row + count - 1 };
    draft.changes.addAll('fact.asserted', relation, row, count);
  };
  const sink = { stored: noteStored, asserted: noteAsserted };
  const { length } = operation.facts;
  for (let from = 0; from < length; ) {
    if (from > 0) yield 'more';
    const end = endOfSlice(operation.facts, from);
    yield* keyed.storeAll(operation.facts, { from, end }, sink);
    from = end;
  }
  return () => {
    database.tenants.set(operation.tenant, tenant);
    const isChange = draft.changes.length > 0;
    if (isChange) draft.generation = database.publish(operation.tenant, record.time, record.requestId);
    keyed.show();
    if (operation.importId !== undefined)
      database.imports.note(operation.importId, operation.tenant, isChange ? generation : null);
  };
}

/** The end of the facts that are stored in one slice from `from` on: some, or fewer with long constants. */
function endOfSlice(facts: FactsToStore, from: number): number {
  const most = Math.min(facts.length, from + rowsInSlice);
  const meter = new ByteMeter();
  const bytesAt =
    facts instanceof FactBlock
      ? (at: number) => facts.bytesAt(at)
      : (at: number) => charactersOf((facts[at] as FactToStore).args);
  let end = from;
  while (end < most) if (meter.counts(bytesAt(end++))) break;
  return end;
}

/** Retracts the facts found, null: none, and publishes that in the next generation, if there are any. */
export function* retractAll(
  database: DatabaseState,
  tenantName: string,
  record: LogRecord,
  draft: Draft,
  find: (facts: FactStore) => Iterable<FactRow | null>,
): Prepared<void> {
  const tenant = database.tenants.get(tenantName);
  if (tenant === undefined) return () => {};
  const writer = new FactWriter(database, tenant, record, draft);
  yield* writer.retract(find(tenant.facts));
  return () => writer.show();
}

/**
 * Retracts the facts that an import asserted and no other write has changed since, and publishes that in the next
 * generation, if there are any. Facts changed since stay; the outcome lists them in order of assertion.
 */
export function* applyImportUndo(
  database: DatabaseState,
  operation: Extract<Operation, { kind: 'undoImport' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const { own: rows, kept } = yield* importedFacts(database, operation, record.time);
  const show = yield* retractAll(database, operation.tenant, record, draft, () => rows);
  return () => {
    show();
    draft.outcome = { kind: 'undone', retracted: rows.length, kept, generation: draft.generation };
  };
}

/**
 * The facts that an import asserted and that are stored: its own if no other write has changed them since, else as atoms
 * (`kept`), in order of assertion.
 */
export function* importedFacts(
  database: DatabaseState,
  { tenant, importId }: Omit<Extract<Operation, { kind: 'undoImport' }>, 'kind'>,
  time: number,
): Generator<'more', { readonly own: FactRow[]; readonly kept: string[] }, undefined> {
  const facts = database.tenants.get(tenant)?.facts;
  const generations = new Set(database.imports.generationsOf(importId, tenant) ?? []);
  const own: FactRow[] = [];
  const kept: string[] = [];
  let looked = 0;
  for (const generation of generations) {
    if (facts === undefined) break;
    const { first, end } = facts.numbersOf(generation);
    for (let number = first; number < end; number++) {
      if (++looked % rowsInSlice === 0) yield 'more';
      const fact = facts.versionOf(number);
      if (fact.row < 0 || !facts.isStored(fact, time)) continue;
      if (generations.has(fact.relation.bornIn(fact.row))) own.push(fact);
      else kept.push(renderIdentity(facts.identityOf(fact)));
    }
  }
  return { own, kept };
}

/** Removes all facts about an entity, dead versions too, and its aliases. */
export function* applyForget(
  database: DatabaseState,
  { tenant: name, names }: Forget,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenants.get(name);
  if (tenant === undefined) return () => {};
  const { facts, aliases, packages } = tenant;
  const erased = new ErasedFacts(names);
  const rows: FactRow[] = [];
  for (const row of erased.rowsOf(facts)) {
    if (row === null) yield 'more';
    else rows.push(row);
  }
  const writer = new FactWriter(database, tenant, record, draft);
  yield* writer.retract(rows.filter(({ relation, row }) => relation.isAlive(row)));
  const removed = aliases
    .all()
    .filter(({ entity, alias }) => erased.isName(entity) || erased.isName(alias))
    .map(({ entity, alias }): ShapeOperation => ({ kind: 'removeAlias', tenant: name, entity, alias }));
  const lessened = yield* packagesWithout(packages, erased);
  return () => {
    const generation = database.lastGeneration + 1;
    erased.erase(facts, rows, generation);
    draft.shape.push(...changeShape(database, tenant, removed, { generation, time: record.time }));
    for (const each of lessened) packages.set(each.name, each);
    writer.show(draft.changes.length + removed.length > 0);
  };
}

/** Applies a transaction in one generation: readers see all of its writes or none. */
export function* applyCommit(
  database: DatabaseState,
  operation: Commit,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenantOrNew(operation.tenant, record.time);
  const { facts, uses } = tenant;
  const { time } = record;
  const generation = database.generationOf(operation.tenant) + 1;
  const writer = new FactWriter(database, tenant, record, draft);
  yield* writer.retract(storedOf(facts, operation, time));
  const { shape = [] } = operation;
  const keyed = new KeyedFacts(generation, declarationsAfter(database, shape), tenant, record, draft);
  const packaging = new Packaging(tenant.packages, operation, generation);
  yield* packaging.begin();
  const meter = new ByteMeter();
  for (const [at, fact] of operation.assert.entries()) {
    if (meter.counts(charactersOf(fact.args)) || at % rowsInSlice === rowsInSlice - 1) yield 'more';
    const stored =
      operation.isExact === true || keyed.isFree(fact)
        ? writer.store(fact)
        : writer.reported(yield* keyed.store(fact));
    draft.fact = stored;
    if (stored.status !== 'asserted') uses.note(stored, database.createdAtOf(facts, stored), time);
    if (stored.status !== 'unchanged') packaging.brought(fact);
  }
  return () => {
    if (operation.assert.length > 0) database.tenants.set(operation.tenant, tenant);
    draft.rules.push(...applyRules(database, operation.rules, { generation, time }));
    draft.shape.push(...changeShape(database, tenant, shape, { generation, time }));
    if (operation.package !== undefined) database.packagesVersion++;
    packaging.show(draft, record);
    const isOfTenant = operation.package !== undefined || shape.some((each) => 'tenant' in each);
    if (isOfTenant) database.tenants.set(operation.tenant, tenant);
    writer.show(
      draft.changes.length > 0 ||
        operation.package !== undefined ||
        draft.rules.some(({ isChange }) => isChange) ||
        draft.shape.some(({ isChange }) => isChange),
    );
    keyed.show();
  };
}

/** The facts that a transaction retracts; null for each that is not stored. */
export function* storedOf(
  facts: FactStore,
  { retract, retractsEnded }: Commit,
  time: number,
): Generator<FactRow | null> {
  for (const { predicate, args, truthVal, scope } of retract) {
    const fact = facts.find(predicate, args, truthVal, scope);
    const isThere =
      fact !== null && (facts.isStored(fact, time) || (retractsEnded === true && isAlive(fact)));
    yield isThere ? fact : null;
  }
}

function isAlive({ relation, row }: FactRow): boolean {
  return relation.isAlive(row);
}

/** Applies rule operations in order. New rules get the ids `r12`, `r12-1`, `r12-2`, … */
function applyRules(
  database: DatabaseState,
  operations: readonly RuleOperation[],
  { generation, time }: { readonly generation: number; readonly time: number },
): RuleChange[] {
  const changes = new Map<string, RuleChange>();
  let taught = 0;
  for (const operation of operations) {
    const id = taught === 0 ? `r${generation}` : `r${generation}-${taught}`;
    const change = changeRules(database.rules, operation, { id, time, generation });
    if (change.status === 'asserted') taught++;
    const earlier = changes.get(change.after.id);
    changes.set(change.after.id, earlier === undefined ? change : merged(earlier, change));
  }
  return [...changes.values()];
}

/** Merges two changes of one rule into one. */
function merged(first: RuleChange, last: RuleChange): RuleChange {
  const status = first.status === 'asserted' ? 'asserted' : last.status;
  return { after: last.after, before: first.before, status, isChange: first.isChange || last.isChange };
}

/**
 * Applies decay, consolidation or restoring, exactly as recorded.
 *
 * Records name the facts to retract by number; those facts are stored when the record is logged. A number without a
 * live version retracts nothing. Restoring a fact counts as a use; otherwise uses are written here, never read.
 */
export function* applyMemory(
  database: DatabaseState,
  operation: Decay | Consolidate | Restore,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenants.get(operation.tenant);
  if (tenant === undefined) return () => {};
  const { facts, uses } = tenant;
  const writer = new FactWriter(database, tenant, record, draft);
  let stored = 0;
  const meter = new ByteMeter();
  const isDue = ({ args }: FactToStore): boolean =>
    ++stored % rowsInSlice === 0 || meter.counts(charactersOf(args));
  switch (operation.kind) {
    case 'decay':
      yield* writer.retract(aliveOf(facts, operation.facts), 'memory.evicted');
      yield* writer.leavePresent(aliveOf(facts, operation.ended ?? []));
      yield* writer.drop(aliveOf(facts, operation.dropped ?? []));
      break;
    case 'consolidate':
      yield* writer.retract(aliveOf(facts, operation.retract));
      for (const summary of summariesOf(operation)) {
        writer.store(summary);
        const values = operation.summaries[stored++]?.count ?? 0;
        if (meter.counts(charactersOf(summary.args) + values * charactersOfValue)) yield 'more';
      }
      break;
    case 'restore':
      yield* writer.retract(aliveOf(facts, [operation.summary]));
      for (const { createdAt, ...fact } of operation.facts) {
        if (isDue(fact)) yield 'more';
        const outcome = writer.store(fact);
        if (outcome.status !== 'asserted') continue;
        facts.setCreatedAt(outcome, createdAt);
        uses.note(outcome, createdAt, record.time);
      }
  }
  return () => {
    // The ends of validity of facts that had ended and were asserted again fade too.
    const isDrop = operation.kind === 'decay' && operation.dropped !== undefined;
    if (operation.kind === 'decay' && !isDrop) facts.forgetEnds(operation.scope);
    writer.show(isDrop || draft.changes.length > 0);
  };
}

/** Moves the ends of validity that a `ttl` gave by a clock that was set since. */
export function* applyMovedEnds(
  database: DatabaseState,
  { tenant: name, from, to, after }: MoveEnds,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenants.get(name);
  if (tenant === undefined) return () => {};
  const writer = new FactWriter(database, tenant, record, draft);
  yield* writer.moveEnds({ from, to, after });
  return () => writer.show();
}

/** The live versions of these facts; null for each that has none. */
export function* aliveFacts(
  facts: FactStore,
  identities: readonly FactIdentity[],
): Generator<FactRow | null> {
  for (const { predicate, args, truthVal, scope } of identities) {
    const fact = facts.find(predicate, args, truthVal, scope);
    yield fact?.relation.isAlive(fact.row) === true ? fact : null;
  }
}

/** The live versions of the facts with these numbers; null for each that has none. */
export function* aliveOf(facts: FactStore, numbers: readonly number[]): Generator<FactRow | null> {
  for (const number of numbers) {
    const fact = facts.versionOf(number);
    yield fact.row >= 0 && fact.relation.isAlive(fact.row) ? fact : null;
  }
}

/** The summaries of a consolidation, with the values that each replaces. */
export function* summariesOf({ summaries, values }: Consolidate): Generator<FactToStore> {
  let at = 0;
  for (const { metadata, predicate, args, truthVal, scope, ...summary } of summaries) {
    const { from, position, count, first, last } = summary;
    const consolidated = { from, position, values: values.slice(at, (at += count)), count, first, last };
    yield { predicate, args, truthVal, scope, metadata: { ...metadata, consolidated } };
  }
}

/** Characters of a value that a summary replaces, about: most of the work of storing it is its metadata. */
const charactersOfValue = 128;

type StoredVersion = MergePlan['stored'][number];

/** Writes facts of a tenant into the next generation, and reports them. */
export class FactWriter {
  readonly #database: DatabaseState;
  readonly #tenant: TenantState;
  readonly #tenantName: string;
  readonly #record: LogRecord;
  readonly #draft: Draft;
  readonly #generation: number;
  /** Numbers of facts: objects would outlive the slices, and the collector would copy them. */
  readonly #retracted = new NumberList();
  readonly #ended = new NumberList();

  constructor(database: DatabaseState, tenant: TenantState, record: LogRecord, draft: Draft) {
    this.#database = database;
    this.#tenant = tenant;
    this.#record = record;
    this.#draft = draft;
    this.#tenantName = present(draft.tenant, 'facts belong to a tenant');
    this.#generation = database.generationOf(this.#tenantName) + 1;
  }

  /** Retracts the facts in slices; null: a fact that was not found, or many in vain. */
  *retract(
    rows: Iterable<FactRow | null>,
    kind: Exclude<FactChange['kind'], 'fact.asserted'> = 'fact.retracted',
  ): Generator<'more', void, undefined> {
    let looked = 0;
    for (const fact of rows) {
      if (++looked % rowsInSlice === 0) yield 'more';
      if (fact === null) continue;
      this.#tenant.facts.retract(fact, this.#generation);
      this.#retracted.push(numberOf(fact));
      this.#draft.changes.add(kind, fact);
    }
  }

  /** Takes ended facts out of the present, in slices; null: a fact that was not found. */
  *leavePresent(rows: Iterable<FactRow | null>): Generator<'more', void, undefined> {
    let looked = 0;
    for (const fact of rows) {
      if (++looked % rowsInSlice === 0) yield 'more';
      if (fact === null) continue;
      this.#ended.push(numberOf(fact));
      this.#draft.changes.add('memory.evicted', fact);
    }
  }

  /** Retracts facts that only the past has, in slices: no change of the present. null: a fact that was not found. */
  *drop(rows: Iterable<FactRow | null>): Generator<'more', void, undefined> {
    let looked = 0;
    for (const fact of rows) {
      if (++looked % rowsInSlice === 0) yield 'more';
      if (fact === null) continue;
      this.#tenant.facts.retract(fact, this.#generation);
      this.#retracted.push(numberOf(fact));
    }
  }

  store(fact: FactToStore): StoreOutcome {
    return this.reported(this.#tenant.facts.store(fact, this.#generation, this.#record.time));
  }

  /** Stores the facts as they are given. */
  *storeAll(given: readonly FactToStore[]): Generator<'more', void, undefined> {
    for (const [at, fact] of given.entries()) {
      if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
      this.store(fact);
    }
  }

  /** Stores facts of another scope in this one, in these versions. */
  *copy(stored: Iterable<StoredVersion>, scope: number): Generator<'more', void, undefined> {
    const { facts } = this.#tenant;
    let written = 0;
    for (const { fact, version } of stored) {
      if (++written % rowsInSlice === 0) yield 'more';
      const { relation, row } = fact;
      const identity = tupleAt(relation, row, new Int32Array(relation.arity + 1));
      identity[relation.arity] = scope;
      const copy = facts.put(relation, identity, version, this.#generation, this.#record.time);
      facts.past.copyEnd(relation.number[row] as number, copy.relation.number[copy.row] as number);
      this.reported(copy);
    }
  }

  /** Moves the ends of validity by a `ttl`, in slices: the clock was set. */
  *moveEnds(setting: ClockSetting): Generator<'more', void, undefined> {
    const { facts } = this.#tenant;
    let looked = 0;
    for (const move of facts.past.moves(setting, this.#record.time)) {
      if (++looked % rowsInSlice === 0) yield 'more';
      this.#moveEnd(move);
    }
    facts.past.notedMoves();
  }

  #moveEnd(move: EndMove): void {
    const { facts } = this.#tenant;
    const fact = facts.versionOf(move.number);
    if (fact.row < 0 || !fact.relation.isAlive(fact.row)) return;
    // What a sweep took out of the present does not return.
    if (move.by < 0 && facts.past.has(move.number)) return;
    facts.past.noteMove(move);
    const version = facts.versionAt(fact);
    const until = Math.max(version.until - move.by, version.from);
    const moved = facts.replace(fact, { ...version, until }, this.#generation, this.#record.time);
    if (moved !== null) this.reported(moved);
  }

  /** Counts an outcome of storing. */
  reported(stored: StoreOutcome): StoreOutcome {
    this.#draft[stored.status]++;
    if (stored.status !== 'unchanged') this.#draft.changes.add('fact.asserted', stored);
    return stored;
  }

  /** Publishes the generation if that is a change. */
  show(isChange = this.#draft.changes.length > 0): void {
    const { time, requestId } = this.#record;
    if (isChange) this.#draft.generation = this.#database.publish(this.#tenantName, time, requestId);
    if (this.#ended.length > 0) this.#tenant.facts.leavePresent(this.#ended);
    this.#tenant.uses.drop(this.#retracted);
    this.#tenant.uses.drop(this.#ended);
  }
}

function numberOf({ relation, row }: FactRow): number {
  return relation.number[row] as number;
}
