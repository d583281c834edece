import { assert, present } from '../base/assert.ts';
import {
  aliveFacts,
  applyCommit,
  applyForget,
  applyImportUndo,
  applyMovedEnds,
  FactWriter,
  retractAll,
  storeFacts,
  applyMemory,
} from './apply-facts.ts';
import { applyRule } from './apply-rules.ts';
import { applyShape, type ShapeChange } from './apply-shape.ts';
import { applyFork, applyMerge, applyScopeDeletion } from './apply-scopes.ts';
import { type Draft, newDraft, type Prepared, type Report, type Slice, rowsInSlice } from './report.ts';
import {
  type Forget,
  isKept,
  isShapeOperation,
  type KeyOperation,
  type MergeScopes,
  type Operation,
  operationVersion,
  type MergedCounts,
  type Redacted,
  type Outcome,
} from './operation.ts';
import { DatabaseState, type State, newTenant, type TenantState } from './state.ts';
import type { LogRecord } from '../log/codec.ts';
import { StartupError } from '../log/startup-error.ts';
import { type KeyRecord, type KeyStore, outcomeKey } from './key-store.ts';
import { renderIdentity } from '../language/print.ts';
import { basePart, type MergeBasePart } from './merge-plan.ts';
import { ErasedFacts } from '../store/erased-facts.ts';
import type { FactStore } from '../store/fact-store.ts';
import { ConstraintStore } from '../store/constraint-store.ts';
import { TestStore } from '../store/test-store.ts';
import { DeclarationStore } from '../store/declaration-store.ts';
import { RuleStore } from '../store/rule-store.ts';

/**
 * Applies log records: the only code that changes the state.
 *
 * The state is a fold of the log: `apply(state, record)` is deterministic, and live writes, recovery and followers all
 * call it. It decides the outcome, assigns ids and reports the changes; everything derived from changes works from that
 * report. Checks run before a record is logged (`check`), so `apply` never refuses an operation. Its only time is the
 * record's: the wall clock at the write, by which everything is judged, and the stamp, which only ever grows.
 *
 * A large write is applied in slices (`applying`). Its versions are created and ended in the next generation, which no
 * reader of the tenant sees (MVCC); one last step publishes it, so readers see all of a write or nothing. Records are
 * applied one after the other within a tenant; another database's may be applied between two slices, and other tenants' once
 * the write has taken its generation.
 */

/** Applies the next record. Never refuses; anything it throws is a bug. */
export function apply(state: State, record: LogRecord): Report {
  assert(record.sequence === state.sequence + 1, 'records are applied one after the other');
  const steps = applying(state, record);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Like `apply`, in slices. Nothing is visible before the step after `ready`. `isCertain`: whoever decided the write knows from this
 * state that it makes a generation, which it then takes at once; without it the same generation is taken later.
 */
export function* applying(
  state: State,
  record: LogRecord,
  isCertain = false,
): Generator<Slice, Report, undefined> {
  assert(!state.hasApplied(record.sequence), 'a record is applied once');
  if (record.version > operationVersion)
    throw new StartupError(
      `The log has operations of version ${record.version}; this program reads versions up to ${operationVersion}. Use the ` +
        'newer program that wrote it.',
      {},
    );
  const database = state.databases.get(record.database);
  const operation = record.operation as Operation;
  const changed = database?.changing('tenant' in operation ? operation.tenant : null);
  const judged = record.wall === undefined ? record : { ...record, time: record.wall };
  const stamp = { time: record.time, wall: judged.time };
  const steps = prepared(state, judged, isCertain);
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) {
    if (step.value === 'taken' && database !== undefined) database.stamped = stamp;
    yield step.value;
  }
  yield 'ready';
  changed?.();
  state.time = Math.max(state.time, record.time);
  const before = database?.lastGeneration;
  const report = step.value();
  if (report.database !== database || database.lastGeneration !== before) report.database.stamped = stamp;
  const { actor, sequence, time, idempotency: mark } = judged;
  const { outcome } = report;
  const generation = 'generation' in outcome ? outcome.generation : null;
  const text = mark !== undefined && isKept(outcome) ? JSON.stringify(outcome) : null;
  const kept = mark === undefined ? null : { actor, mark, time, outcome: text, generation };
  state.applied({ sequence, wall: time }, kept);
  return report;
}

/** Does the work that readers cannot see; the returned function publishes it and reports. */
function* prepared(state: State, record: LogRecord, isCertain: boolean): Prepared<Report> {
  const operation = record.operation as Operation;
  if (operation.kind === 'createDatabase')
    return () => {
      const draft = newDraft(createDatabase(state, operation.name, record.time), null);
      return { ...draft, outcome: outcomeOf(operation, record, draft) };
    };
  if (isKeyOperation(operation))
    return () => {
      const draft = newDraft(state.database(record.database), null);
      draft.keys = applyToKeys(state.keys, operation, record.time);
      return { ...draft, outcome: outcomeOf(operation, record, draft) };
    };
  const database = state.database(record.database);
  const tenant = 'tenant' in operation ? operation.tenant : null;
  const facts = tenant === null ? undefined : database.tenants.get(tenant)?.facts;
  if (facts !== undefined) yield* facts.settleScopes(record.time);
  const draft = newDraft(database, tenant);
  const steps = preparedIn(state, database, operation, record, draft);
  const show = yield* taking(steps, operation, record, draft, isCertain);
  return () => {
    const before = database.lastGeneration;
    show();
    if (database.lastGeneration !== before) draft.generation = database.lastGeneration;
    return { ...draft, outcome: draft.outcome ?? outcomeOf(operation, record, draft) };
  };
}

/**
 * Takes the generation of a write of one tenant's facts as soon as it certainly makes one, if slices of it remain: from
 * then on records of other tenants may be applied between them. So a generation is the same whatever is applied when.
 */
function* taking(
  steps: Prepared<void>,
  operation: Operation,
  { time, requestId }: LogRecord,
  draft: Draft,
  isCertain: boolean,
): Prepared<void> {
  const { database, tenant, changes } = draft;
  const isTaking = (): boolean => {
    const isChange = isCertain || draft.isChange || changes.length > 0;
    if (!isChange || tenant === null || !isApart(operation, database)) return false;
    database.take(tenant, time, requestId);
    return true;
  };
  let isTaken = isCertain && isTaking();
  if (isTaken) yield 'taken';
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (!isTaken && isTaking()) {
      isTaken = true;
      yield 'taken';
    } else yield step.value;
  }
}

/**
 * True if records of other tenants may be applied between the slices of this one: it changes nothing else, not even the
 * lists of tenants and imports.
 */
function isApart(operation: Operation, database: DatabaseState): boolean {
  if (!changesOnlyFacts(operation, database) || !('tenant' in operation)) return false;
  const { tenant } = operation;
  if (tenant === null || !database.tenants.has(tenant)) return false;
  const importId = operation.kind === 'assert' ? operation.importId : undefined;
  return importId === undefined || database.imports.generationsOf(importId, tenant) !== null;
}

/** True if the operation changes only facts of one tenant, also together with writes of others that do. */
export function changesOnlyFacts(operation: Operation, { rules }: DatabaseState): boolean {
  switch (operation.kind) {
    case 'assert':
    case 'undoImport':
    case 'retract':
    case 'retractById':
    case 'mergeScopes':
    case 'decay':
    case 'consolidate':
    case 'restore':
    case 'moveEnds':
      return true;
    case 'commit':
      return operation.rules.length === 0 && (operation.shape ?? []).length === 0;
    case 'forkScope':
      return !operation.withRules || !hasRules(rules, operation.source);
    case 'deleteScope':
      return !operation.withRules || !hasRules(rules, operation.scope);
    default:
      return false;
  }
}

/** True if rules belong to exactly this scope; null, no scope, has none that a fork copies. */
function hasRules(rules: RuleStore, scope: string | null): boolean {
  return scope !== null && rules.all().some((rule) => rule.scope === scope);
}

function* preparedIn(
  state: State,
  database: DatabaseState,
  operation: Exclude<Operation, KeyOperation | { kind: 'createDatabase' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  if (isShapeOperation(operation))
    return () => void draft.shape.push(applyShape(database, operation, record));
  switch (operation.kind) {
    case 'assert':
      return yield* storeFacts(database, operation, record, draft);
    case 'undoImport':
      return yield* applyImportUndo(database, operation, record, draft);
    case 'retract':
      return yield* retractAll(database, operation.tenant, record, draft, (facts) =>
        facts.matchInSlices(operation.pattern, database.generationOf(operation.tenant), record.time),
      );
    case 'retractById':
      return yield* retractAll(database, operation.tenant, record, draft, (facts) => {
        const fact = facts.byId(operation.id);
        // One whose validity has ended too: it was not so.
        return fact !== null && fact.relation.isAlive(fact.row) ? [fact] : [];
      });
    case 'teach':
    case 'updateRule':
    case 'forgetRule':
      return () => void draft.rules.push(applyRule(database, operation, record));
    case 'commit':
      return yield* applyCommit(database, operation, record, draft);
    case 'forkScope':
      return yield* applyFork(database, operation, record, draft);
    case 'mergeScopes':
      return yield* applyMerge(database, operation, record, draft);
    case 'deleteScope':
      return yield* applyScopeDeletion(database, operation, record, draft);
    case 'decay':
    case 'consolidate':
    case 'restore':
      return yield* applyMemory(database, operation, record, draft);
    case 'moveEnds':
      return yield* applyMovedEnds(database, operation, record, draft);
    case 'createTenant':
      return () =>
        void database.tenants.set(operation.tenant, database.tenantOrNew(operation.tenant, record.time));
    case 'setQuota':
      return () => {
        const { tenant: name, quota } = operation;
        database.setQuota(name, quota);
        if (name !== null) database.tenants.set(name, database.tenantOrNew(name, record.time));
      };
    case 'forget':
      return yield* forgotten(state, database, operation, record, draft);
    case 'redacted':
      return yield* redacted(state, database, operation, record, draft);
    case 'deleteTenant':
    case 'nukeTenant':
      return yield* clearTenant(database, operation, record, draft);
    case 'deleteDatabase':
      return yield* deleteDatabase(state, database, record, draft);
    case 'nukeDatabase':
      return yield* nukeDatabase(database, record, draft);
  }
}

/** Removes what is known about an entity, outcomes that name it too. */
function* forgotten(
  { idempotency }: State,
  database: DatabaseState,
  operation: Forget,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const show = yield* applyForget(database, operation, record, draft);
  const erased = new ErasedFacts(operation.names);
  return () => {
    show();
    idempotency.drop((outcome) => erased.isIn(outcome));
  };
}

/** Applies what is left of an operation, and makes the generation that the whole one made. */
function* redacted(
  state: State,
  database: DatabaseState,
  { rest, tenant: name, hasTenant, isChange, numbers, also, gone }: Redacted,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const before = database.lastGeneration;
  if (name !== null && hasTenant) database.tenants.set(name, database.tenantOrNew(name, record.time));
  const tenant = name === null ? undefined : database.tenants.get(name);
  tenant?.facts.numbers.passOver(numbers);
  const show = rest === null ? () => {} : yield* preparedIn(state, database, rest, record, draft);
  if (tenant !== undefined) {
    const writer = new FactWriter(database, tenant, record, draft);
    // What the rest has ended already would begin a new life if it were stored again.
    yield* writer.storeAll(also.filter((fact) => !tenant.facts.isExactly(fact)));
    yield* writer.retract(aliveFacts(tenant.facts, gone));
    tenant.facts.numbers.passRest(before + 1);
  }
  return () => {
    show();
    if (isChange && database.lastGeneration === before) database.advance(record.time, record.requestId);
  };
}

function createDatabase(state: State, name: string, time: number): DatabaseState {
  const database = new DatabaseState(name, time, state.goneDatabases.get(name) ?? 0);
  state.databases.set(name, database);
  return database;
}

/** The operations on keys. They do not advance a generation: no database changes. */
const keyKinds: ReadonlySet<Operation['kind']> = new Set([
  'createKey',
  'updateKey',
  'revokeKey',
  'revokeAdminKeys',
] satisfies KeyOperation['kind'][]);

/** Whether the operation is on keys. */
export function isKeyOperation(operation: Operation): operation is KeyOperation {
  return keyKinds.has(operation.kind);
}

/** Applies a key operation. Returns created or changed keys in their new form, revoked keys in their last form. */
function applyToKeys(keys: KeyStore, operation: KeyOperation, time: number): KeyRecord[] {
  switch (operation.kind) {
    case 'createKey': {
      const key = { ...operation.key, createdAt: time };
      assert(keys.get(key.id) === undefined, 'an id is given once');
      keys.put(key);
      return [key];
    }
    case 'updateKey': {
      const key = { ...keyById(keys, operation.id), ...operation.change };
      keys.put(key);
      return [key];
    }
    case 'revokeKey': {
      const key = keyById(keys, operation.id);
      keys.delete(key);
      return [key];
    }
    case 'revokeAdminKeys': {
      const admins = [...keys.all()].filter(({ role }) => role === 'admin');
      for (const key of admins) keys.delete(key);
      return admins;
    }
  }
}

function keyById(keys: KeyStore, id: string): KeyRecord {
  return present(keys.get(id), 'the key was there when it was checked');
}

/** Builds the outcome of an operation from its report. */
function outcomeOf(operation: Operation, record: LogRecord, draft: Draft): Outcome {
  const { generation } = draft;
  if (isShapeOperation(operation))
    return shapeOutcome(present(draft.shape[0], 'a write of shape reports it'), generation);
  if (operation.kind === 'redacted' || operation.kind === 'moveEnds') return { kind: 'nothing', generation };
  switch (operation.kind) {
    case 'assert': {
      const { asserted, updated, unchanged, fact } = draft;
      const facts = draft.database.tenants.get(operation.tenant)?.facts;
      const isOne = operation.facts.length === 1 && fact !== null && facts !== undefined;
      const { note } = operation;
      const id = isOne ? facts.idOf(fact) : null;
      const counts = { asserted, updated, unchanged, id, generation };
      return { kind: 'facts', ...counts, ...supersededPart(draft), ...(note === undefined ? {} : { note }) };
    }
    case 'forget':
    case 'retract':
      return { kind: 'retracted', retracted: draft.changes.length, atom: null, generation };
    case 'retractById':
      return { kind: 'retracted', retracted: draft.changes.length, atom: atomOf(draft), generation };
    case 'undoImport':
      return present(draft.outcome, 'undoing an import says what it did');
    case 'teach':
    case 'updateRule':
    case 'forgetRule': {
      const { after, status } = present(draft.rules[0], 'a write of a rule reports it');
      const { id, text, changedIn } = after;
      return { kind: 'rule', id, rule: text, status, changedIn, generation };
    }
    case 'createKey':
    case 'updateKey':
    case 'revokeKey':
    case 'revokeAdminKeys':
      return { kind: 'keys', keys: draft.keys.map(outcomeKey) };
    case 'createDatabase':
    case 'createTenant':
      return { kind: 'created', createdAt: record.time };
    case 'setQuota':
      return { kind: 'quota', quota: operation.quota };
    case 'deleteTenant':
    case 'nukeTenant':
    case 'deleteDatabase':
    case 'nukeDatabase': {
      const { facts, rules } = present(draft.cleared, 'what was cleared is reported');
      return { kind: 'cleared', facts, rules, generation };
    }
    case 'forkScope':
    case 'deleteScope': {
      const { facts, rules } = present(draft.scope, 'what became of the scope is reported');
      return { kind: 'scope', facts, rules, generation };
    }
    case 'mergeScopes': {
      const conflicts = draft.scope?.conflicts ?? null;
      return { kind: 'merged', ...mergedPart(operation, draft), conflicts, generation };
    }
    case 'commit': {
      const { operations, note } = operation;
      const { asserted, unchanged } = draft;
      const counts = { operations, asserted, unchanged, generation };
      const rest = { ...supersededPart(draft), ...(note === undefined ? {} : { note }) };
      return { kind: 'committed', ...counts, ...rest };
    }
    case 'decay':
      return { kind: 'decayed', answer: operation.answer, generation };
    case 'consolidate':
      return { kind: 'consolidated', answer: operation.answer, generation };
    case 'restore':
      return { kind: 'restored', answer: operation.answer, generation };
  }
}

function supersededPart({
  superseded,
  supersededCount,
}: Draft): Partial<Pick<Draft, 'superseded' | 'supersededCount'>> {
  return supersededCount === 0 ? {} : { superseded, supersededCount };
}

function shapeOutcome(change: ShapeChange, generation: number): Outcome {
  const { kind, before, after, isChange } = change;
  const status = !isChange ? 'unchanged' : after === null ? 'removed' : before === null ? 'added' : 'updated';
  const id =
    kind === 'constraint' ? (after ?? present(before, 'a change has a before or an after')).id : null;
  return { kind: 'shape', status, id, generation };
}

function mergedPart(operation: MergeScopes, { scope }: Draft): MergedCounts & MergeBasePart {
  const plan = present(scope?.merge ?? null, 'a merge says what it did');
  const { added, updated, deleted, kept, resolved } = plan;
  return { ...basePart(operation, plan), added, updated, deleted, kept, resolved };
}

/** The atom of the one retracted fact; null: none was retracted. */
function atomOf({ database, tenant, changes }: Draft): string | null {
  const fact = changes.first?.fact;
  const facts = database.tenants.get(tenant ?? '')?.facts;
  return fact === undefined || facts === undefined ? null : renderIdentity(facts.identityOf(fact));
}

/**
 * Applies operations on whole databases and tenants.
 *
 * Clearing replaces a state with a new, empty one instead of retracting facts one by one; the old state is freed when
 * its last reader ends. Work proportional to the data happens before that, in slices. The generation advances if facts
 * or rules go, and with every deletion of a database.
 */

/** Removes all facts of a tenant, and the tenant itself if it is deleted. */
function* clearTenant(
  database: DatabaseState,
  { kind, tenant: name }: Extract<Operation, { kind: 'deleteTenant' | 'nukeTenant' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = present(database.tenants.get(name), 'the tenant was there when it was checked');
  const facts = yield* countStored(tenant.facts, database.lastGeneration, record.time);
  return () => {
    if (facts > 0 || tenant.aliases.size + tenant.packages.size > 0)
      database.advance(record.time, record.requestId);
    database.packagesVersion++;
    if (kind === 'nukeTenant')
      database.tenants.set(name, newTenant(tenant.facts.createdAt, database.lastGeneration));
    else {
      database.tenants.delete(name);
      database.goneTenants.set(name, database.lastGeneration);
      database.tenantQuotas.delete(name);
    }
    draft.cleared = { tenants: new Map([[name, tenant]]), facts, rules: 0, isDatabaseGone: false };
  };
}

/** Removes a database with its tenants, facts and rules. */
function* deleteDatabase(
  state: State,
  database: DatabaseState,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const facts = yield* countAll(database, record.time);
  return () => {
    database.advance(record.time, record.requestId);
    state.databases.delete(database.name);
    state.goneDatabases.set(database.name, database.lastGeneration);
    const { tenants, rules } = database;
    draft.cleared = { tenants, facts, rules: rules.size, isDatabaseGone: true };
  };
}

/** Removes all facts, rules, declarations, constraints and tests of a database; the database and its tenants stay. */
function* nukeDatabase(database: DatabaseState, record: LogRecord, draft: Draft): Prepared<void> {
  const facts = yield* countAll(database, record.time);
  const { tenants, rules, declarations, constraints, tests } = database;
  const isChange =
    facts + rules.size + declarations.size + constraints.size + tests.size > 0 ||
    [...tenants.values()].some(({ aliases, packages }) => aliases.size + packages.size > 0);
  const after = database.lastGeneration + (isChange ? 1 : 0);
  const empty = new Map<string, TenantState>();
  for (const [name, tenant] of tenants) {
    empty.set(name, newTenant(tenant.facts.createdAt, after));
    if (empty.size % rowsInSlice === 0) yield 'more';
  }
  return () => {
    if (isChange) database.advance(record.time, record.requestId);
    database.clearedIn = after;
    database.packagesVersion++;
    database.tenants = empty;
    database.rules = new RuleStore();
    // The version tells programs compiled from the removed rules that they are out of date.
    database.rules.version = rules.version + 1;
    database.declarations = new DeclarationStore();
    database.declarations.version = declarations.version + 1;
    database.constraints = new ConstraintStore();
    database.constraints.version = constraints.version + 1;
    database.tests = new TestStore();
    draft.cleared = { tenants, facts, rules: rules.size, isDatabaseGone: false };
  };
}

function* countAll(database: DatabaseState, time: number): Generator<Slice, number, undefined> {
  let count = 0;
  for (const { facts } of database.tenants.values()) {
    count += yield* countStored(facts, database.lastGeneration, time);
    yield 'more';
  }
  return count;
}

/** Like `FactStore.countStored`, in slices. */
function* countStored(
  facts: FactStore,
  generation: number,
  time: number,
): Generator<Slice, number, undefined> {
  let count = 0;
  for (const relation of facts.relations.values()) {
    yield 'more';
    if (relation.validUntil === null) {
      count += relation.liveAt(generation);
      continue;
    }
    for (let row = 0; row < relation.count; row++) {
      if (relation.isHeld(row, generation, time)) count++;
      if (row % rowsInSlice === rowsInSlice - 1) yield 'more';
    }
  }
  return count;
}
