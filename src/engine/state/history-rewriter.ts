/**
 * The retained history without what was erased since: each retained snapshot and each record again, without those facts.
 *
 * The original records are replayed, as `apply` knows them. What each of them did to erased facts becomes a `redacted`
 * operation, which makes the same generation, gives all other facts the same ids, and carries what erased facts changed in
 * others (a key can end another fact). So everything else in the history stays what it was.
 */
import { assert } from '../base/assert.ts';
import { type Pause, runInSlices, Slices } from '../base/slices.ts';
import type { LogRecord } from '../log/codec.ts';
import type { RetainedBase, RetainedLog } from '../log/retained.ts';
import type { RewrittenPiece } from '../log/rewriting.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';
import { ConstraintStore } from '../store/constraint-store.ts';
import { TestStore } from '../store/test-store.ts';
import { DeclarationStore } from '../store/declaration-store.ts';
import type { ErasedFacts } from '../store/erased-facts.ts';
import type { FactIdentity, FactRow, FactStore, FactToStore } from '../store/fact-store.ts';
import { packagesWithout } from '../store/package-record.ts';
import type { NumberRun } from '../store/fact-numbers.ts';
import { RuleStore } from '../store/rule-store.ts';
import { reapplied } from './past-state.ts';
import { StoredOutcomes } from './idempotency.ts';
import { type Operation, operationName, type Redactable, type Redacted, versionOf } from './operation.ts';
import {
  concerns,
  type ErasingRecord,
  erasureOf,
  isRedactable,
  withoutFacts,
  withoutTenant,
} from './redaction.ts';
import type { Report } from './report.ts';
import { pinState, readState } from './state-snapshot.ts';
import { newTenant, State, type TenantState } from './state.ts';

/** What was erased about one entity. */
export interface ForgottenPast {
  /** Facts that were no longer stored, by id. */
  readonly pastFacts: number;
  /** Generations that lost changes. */
  readonly generations: number;
}

/** What the rewriting works with. */
interface RewritingHost {
  readonly pause: Pause;
  /** Called now and then with the bytes of the replayed state. */
  readonly use: (bytes: number) => void;
}

/** Records between two measurements of the state. */
const recordsBetweenMeasures = 256;

/** Rewrites what one folder retains, once. */
export class HistoryRewriter {
  readonly #retained: RetainedLog;
  readonly #through: number;
  readonly #host: RewritingHost;
  readonly #slices: Slices;
  /** In log order. */
  readonly #erasures: ErasingRecord[] = [];
  /** The original state, up to the record that was rewritten last. */
  #state = new State();
  readonly #forgotten = new Map<number, ForgottenPast>();

  /** Rewrites everything up to the record `through`; `planned` is erased too, and its record not logged yet. */
  constructor(
    retained: RetainedLog,
    through: number,
    host: RewritingHost,
    planned: readonly ErasingRecord[] = [],
  ) {
    this.#retained = retained;
    this.#through = through;
    this.#host = host;
    this.#slices = new Slices(host.pause);
    this.#erasures.push(...planned);
  }

  /** What was erased about entities, by the sequence of the record. Complete once all pieces are taken. */
  get forgotten(): ReadonlyMap<number, ForgottenPast> {
    return this.#forgotten;
  }

  /** All snapshots and records in order; a snapshot comes before the records after it, and is read before the next piece. */
  async *pieces(): AsyncGenerator<RewrittenPiece, void, undefined> {
    const { bases } = this.#retained;
    const [first] = bases;
    if (first === undefined) return;
    for await (const record of this.#retained.records(first.sequence, this.#through)) {
      const erasure = erasureOf(record);
      if (erasure !== null) this.#erasures.push(erasure);
      await this.#slices.breathe();
    }
    this.#erasures.sort((left, right) => left.sequence - right.sequence);
    for (const { sequence, facts } of this.#erasures)
      if (facts !== null) this.#forgotten.set(sequence, { pastFacts: 0, generations: 0 });
    if (first.snapshot !== null) this.#state = await this.#stateAt(first);
    const left = bases.filter(({ snapshot, sequence }) => snapshot !== null && sequence < this.#through);
    for (let base = left[0]; base?.sequence === first.sequence; base = left[0]) {
      left.shift();
      yield { kind: 'snapshot', base, parts: this.#snapshotAt(base) };
    }
    let records = 0;
    for await (const record of this.#retained.records(first.sequence, this.#through)) {
      if (records++ % recordsBetweenMeasures === 0) this.#host.use(bytesOf(this.#state));
      yield { kind: 'record', record: await this.#rewritten(record) };
      const [next] = left;
      if (next?.sequence !== record.sequence) continue;
      left.shift();
      yield { kind: 'snapshot', base: next, parts: this.#snapshotAt(next) };
    }
    for (const erasure of this.#erasures)
      if (erasure.sequence > this.#through) await this.#countPast(erasure);
  }

  async #stateAt({ snapshot }: RetainedBase): Promise<State> {
    assert(snapshot !== null, 'the base is a snapshot');
    const source = {
      readSnapshot: (section: SnapshotPart['section']) => this.#retained.readSnapshot(snapshot, section),
    };
    return (await readState(source, this.#host.pause, false)).state;
  }

  /** The snapshot of a base, without what was erased after it. */
  async *#snapshotAt(base: RetainedBase): AsyncGenerator<SnapshotPart, void, undefined> {
    const state = await this.#stateAt(base);
    for (const erasure of this.#erasures)
      if (erasure.sequence > base.sequence) await this.#eraseFrom(state, erasure);
    // No request of then is repeated from here.
    state.idempotency = new StoredOutcomes();
    const pin = pinState(state, () => new Map());
    try {
      yield* pin.parts(this.#host.pause, () => true);
    } finally {
      pin.release();
    }
  }

  async #eraseFrom(
    state: State,
    { database: name, tenant: of, facts: erased }: ErasingRecord,
  ): Promise<void> {
    const database = state.databases.get(name);
    if (database === undefined) return;
    for (const [tenant, { facts, aliases, packages }] of database.tenants) {
      if (of !== null && of !== tenant) continue;
      if (erased === null) {
        database.tenants.set(tenant, newTenant(facts.createdAt, facts.forgottenThrough));
        continue;
      }
      const rows = await this.#rowsOf(facts, erased);
      for (const row of rows) if (row.relation.isAlive(row.row)) facts.retract(row, database.lastGeneration);
      erased.erase(facts, rows, database.lastGeneration);
      for (const alias of aliases.all())
        if (erased.isName(alias.entity) || erased.isName(alias.alias)) aliases.remove(alias);
      const lessened = await runInSlices(packagesWithout(packages, erased), () => this.#slices.breathe());
      for (const each of lessened) packages.set(each.name, each);
    }
    if (of !== null) return;
    database.rules = new RuleStore();
    database.declarations = new DeclarationStore();
    database.constraints = new ConstraintStore();
    database.tests = new TestStore();
  }

  async #rowsOf(facts: FactStore, erased: ErasedFacts): Promise<FactRow[]> {
    const rows: FactRow[] = [];
    for (const row of erased.rowsOf(facts)) {
      if (row === null) await this.#slices.breathe();
      else rows.push(row);
    }
    return rows;
  }

  /** Replays the record, and returns what is left of it. */
  async #rewritten(record: LogRecord): Promise<LogRecord> {
    const operation = record.operation as Operation;
    const inner = operation.kind === 'redacted' ? operation.rest : operation;
    const prior = operation.kind === 'redacted' ? operation : null;
    const tenant = 'tenant' in operation ? operation.tenant : null;
    const erasures =
      inner !== null && !isRedactable(inner)
        ? []
        : this.#erasures.filter((erasure) => concerns(erasure, record, tenant));
    for (const erasure of erasures) if (erasure.sequence === record.sequence) await this.#countPast(erasure);
    const before = this.#numbersOf(record.database, tenant);
    const generation = this.#state.databases.get(record.database)?.lastGeneration ?? 0;
    const report = await reapplied(this.#state, record, () => this.#slices.breathe());
    if (erasures.length === 0) return record;
    const isChange = report.generation > generation;
    const written = { before, isChange, report, tenant, prior };
    const isAll = erasures.some(({ facts }) => facts === null);
    const redacted = isAll
      ? withoutAll(inner as Redactable | null, erasures, written)
      : await this.#withoutSome(inner as Redactable | null, erasures, written);
    if (redacted === null) return record;
    return { ...withoutReason(record, erasures), version: versionOf(redacted), operation: redacted };
  }

  /** What is left of an operation after facts about entities were erased from it; null: all of it. */
  async #withoutSome(
    inner: Redactable | null,
    erasures: readonly ErasingRecord[],
    { before, isChange, report, tenant, prior }: Written,
  ): Promise<Redacted | null> {
    const facts = report.database.tenants.get(tenant ?? '')?.facts;
    const all = erasures.flatMap(({ facts: erased }) => erased ?? []);
    let rest = inner;
    for (const erased of all) rest = rest === null ? null : withoutFacts(rest, erased);
    const changed = new Set<string>();
    /** The erasures that the changes are from. */
    const concerned = new Set<ErasingRecord>();
    const others: FactRow[] = [];
    const gone: FactRow[] = [];
    let looked = 0;
    for (const { kind, fact } of report.changes) {
      if (++looked % recordsBetweenMeasures === 0) await this.#slices.breathe();
      const of =
        facts === undefined ? [] : erasures.filter(({ facts: erased }) => erased?.hasRow(facts, fact));
      for (const erasure of of) concerned.add(erasure);
      if (of.length > 0) changed.add(keyOf(fact));
      else if (!fact.relation.isAlive(fact.row)) gone.push(fact);
      // An ended fact that left the present is as it was.
      else if (kind !== 'memory.evicted') others.push(fact);
    }
    let changes = changed.size;
    for (const { isChange: isOf, kind, before: was, after } of report.shape) {
      if (!isOf || kind !== 'alias') continue;
      const alias = after ?? was;
      const of =
        alias === null
          ? []
          : erasures.filter(
              ({ facts: erased }) => erased?.isName(alias.entity) === true || erased?.isName(alias.alias),
            );
      for (const erasure of of) concerned.add(erasure);
      if (of.length > 0) changes++;
    }
    const numbers = facts === undefined ? [] : await this.#erasedNumbers(facts, before, all);
    // Only keys make one fact depend on another.
    const isKeyed =
      facts !== undefined && report.database.declarations.all().some(({ key }) => key.length > 0);
    if (facts !== undefined && rest?.kind === 'mergeScopes' && rest.exactly === undefined && isKeyed)
      rest = {
        ...rest,
        exactly: {
          isChange,
          stored: others.map((fact) => exactly(facts, fact)),
          retracted: gone.flatMap((fact) => endedOf(facts, fact)),
        },
      };
    if (rest === inner && changes === 0 && prior === null) return null;
    if (changes > 0 && inner?.kind !== 'forget') this.#note(concerned);
    const isExact =
      facts !== undefined && isKeyed && rest?.kind !== 'mergeScopes' && (changes > 0 || prior !== null);
    return {
      kind: 'redacted',
      of: prior?.of ?? (inner === null ? 'nothing' : operationName(inner)),
      tenant,
      rest,
      hasTenant: facts !== undefined,
      isChange,
      changes: changes + (prior?.changes ?? 0),
      numbers,
      also: isExact ? others.map((fact) => exactly(facts, fact)) : [],
      gone: isExact ? gone.flatMap((fact) => endedOf(facts, fact)) : [],
    };
  }

  /** The numbers of erased facts from this one on. */
  async #erasedNumbers(
    facts: FactStore,
    before: number,
    erased: readonly ErasedFacts[],
  ): Promise<NumberRun[]> {
    const numbers: NumberRun[] = [];
    for (let number = before; number < facts.numbers.count; number++) {
      if ((number & 0xff) === 0) await this.#slices.breathe();
      const fact = facts.versionOf(number);
      if (fact.row < 0 || erased.some((each) => each.hasRow(facts, fact))) addTo(numbers, number);
    }
    return numbers;
  }

  #note(erasures: Iterable<ErasingRecord>): void {
    for (const { sequence } of erasures) {
      const known = this.#forgotten.get(sequence);
      if (known !== undefined)
        this.#forgotten.set(sequence, { ...known, generations: known.generations + 1 });
    }
  }

  /** Counts the facts about an entity that are no longer stored right before it is forgotten. */
  async #countPast({ sequence, database, tenant, facts: erased }: ErasingRecord): Promise<void> {
    const facts = this.#state.databases.get(database)?.tenants.get(tenant ?? '')?.facts;
    const known = this.#forgotten.get(sequence);
    if (facts === undefined || erased === null || known === undefined) return;
    const past = new Set<number>();
    const rows = await this.#rowsOf(facts, erased);
    for (const { relation, row } of rows) past.add(relation.number[row] as number);
    for (const { relation, row } of rows)
      if (relation.isAlive(row)) past.delete(relation.number[row] as number);
    this.#forgotten.set(sequence, { ...known, pastFacts: past.size });
  }

  #numbersOf(database: string, tenant: string | null): number {
    return this.#state.databases.get(database)?.tenants.get(tenant ?? '')?.facts.numbers.count ?? 0;
  }
}

/** What a record did, and from what it came. */
interface Written {
  /** The number of the tenant's next fact before it. */
  readonly before: number;
  readonly isChange: boolean;
  readonly report: Report;
  readonly tenant: string | null;
  /** What was left of it already. */
  readonly prior: Redacted | null;
}

/** What is left of an operation of a tenant or database that was nuked or deleted since. */
function withoutAll(
  inner: Redactable | null,
  erasures: readonly ErasingRecord[],
  { isChange, report, tenant, prior }: Written,
): Redacted {
  const isOfDatabase = erasures.some(({ tenant: of, facts }) => of === null && facts === null);
  const { cleared, changes, database } = report;
  return {
    kind: 'redacted',
    of: prior?.of ?? inner?.kind ?? 'nothing',
    tenant,
    rest: inner === null ? null : withoutTenant(inner, !isOfDatabase),
    // A deletion needs what it deletes.
    hasTenant: cleared?.tenants.has(tenant ?? '') ?? database.tenants.has(tenant ?? ''),
    isChange,
    changes: (cleared === null ? changes.length : storedIn(cleared.tenants.values())) + (prior?.changes ?? 0),
    numbers: [],
    also: [],
    gone: [],
  };
}

function storedIn(tenants: Iterable<TenantState>): number {
  let stored = 0;
  for (const { facts } of tenants) for (const { live } of facts.relations.values()) stored += live;
  return stored;
}

/** The record without a reason that names what was erased; without any, if everything was. */
function withoutReason(record: LogRecord, erasures: readonly ErasingRecord[]): LogRecord {
  const { origin } = record;
  const reason = origin?.reason ?? null;
  if (origin === undefined || reason === null) return record;
  const isErased = erasures.some(({ facts }) => facts === null || facts.isIn(JSON.stringify(reason)));
  if (!isErased) return record;
  const { reason: _reason, ...rest } = origin;
  return { ...record, origin: rest };
}

/** What identifies the fact, within its tenant. */
function keyOf({ relation, row }: FactRow): string {
  return `${relation.storeIndex},${relation.columns.map((column) => column[row] as number).join(',')}`;
}

/** The fact with all of its validity and metadata. */
function exactly(facts: FactStore, fact: FactRow): FactToStore {
  const { from, until, metadata } = facts.versionAt(fact);
  return {
    ...facts.identityOf(fact),
    validFrom: from === Number.NEGATIVE_INFINITY ? 'always' : from,
    validUntil: until === Number.POSITIVE_INFINITY ? 'never' : until,
    ...(facts.past.endsByTtl(fact.relation.number[fact.row] as number) ? { endsByTtl: true } : {}),
    metadata: metadata ?? {},
  };
}

/** The identity of a fact that ended and is not stored again. */
function endedOf(facts: FactStore, fact: FactRow): FactIdentity[] {
  const identity = facts.identityOf(fact);
  const { predicate, args, truthVal, scope } = identity;
  const newest = facts.find(predicate, args, truthVal, scope);
  return newest?.relation.isAlive(newest.row) === true ? [] : [identity];
}

function addTo(runs: NumberRun[], number: number): void {
  const last = runs.at(-1);
  if (last !== undefined && last[0] + last[1] === number) runs[runs.length - 1] = [last[0], last[1] + 1];
  else runs.push([number, 1]);
}

function bytesOf({ databases }: State): number {
  let bytes = 0;
  for (const { tenants } of databases.values())
    for (const { facts } of tenants.values()) bytes += facts.bytes;
  return bytes;
}
