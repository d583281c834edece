import { assert, present } from './base/assert.ts';
import { EngineError } from './base/errors.ts';
import type { ChangeKind } from './contract/administration.ts';
import type { Rule } from './contract/language.ts';
import { FactUses } from './context/fact-uses.ts';
import { type FactPattern, type FactRow, FactStore, type FactToStore } from './facts/fact-store.ts';
import { type KeptRule, RuleStore } from './facts/rule-store.ts';
import { renderRule } from './logic/print.ts';
import { relationKey } from './logic/terms.ts';
import { ruleIdentity } from './logic/identity.ts';
import type { LogRecord } from './storage/codec.ts';

/**
 * The state of the service and the one function that changes it.
 *
 * State is a fold of the log: `apply(state, record)` is deterministic, and is called by a live write, by recovery
 * and by a follower alike. It decides the outcome, gives out ids, and reports what changed; whatever feeds on changes
 * works from that report. What an operation can be refused for is checked before it is logged (`check`), so `apply`
 * refuses nothing. Time is the record's stamp and nothing else.
 *
 * A write of many facts is applied in slices (`applying`): rows are put in, and end, in the generation after the one
 * that is there, which no reader has; then one last step makes that generation the one that is there. So what is half
 * done is seen by nobody. Records are applied one after the other: none begins before the one before it has ended.
 */
export type Operation =
  | { readonly kind: 'createDatabase'; readonly name: string }
  | {
      readonly kind: 'assert';
      readonly tenant: string;
      readonly facts: readonly FactToStore[];
      readonly ifGeneration?: number;
    }
  | {
      readonly kind: 'retract';
      readonly tenant: string;
      readonly pattern: FactPattern;
      readonly ifGeneration?: number;
    }
  | { readonly kind: 'retractById'; readonly tenant: string; readonly id: string }
  | { readonly kind: 'teach'; readonly rule: RuleToKeep }
  | { readonly kind: 'updateRule'; readonly id: string; readonly rule: RuleToKeep }
  | { readonly kind: 'forgetRule'; readonly id: string };

export interface RuleToKeep {
  /** null: as it was. */
  readonly rule: Rule | null;
  readonly scope: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly enabled: boolean | null;
}

export const operationVersion = 1;

export interface TenantState {
  readonly facts: FactStore;
  readonly uses: FactUses;
}

export class DatabaseState {
  readonly name: string;
  readonly createdAt: number;
  readonly rules = new RuleStore();
  readonly tenants = new Map<string, TenantState>();
  /** The write counter. */
  generation = 0;
  /** Time and request of each generation, from 1 on. */
  readonly #times: number[] = [0];
  readonly #requestIds: string[] = [''];

  constructor(name: string, createdAt: number) {
    this.name = name;
    this.createdAt = createdAt;
  }

  /** Begins the next generation. */
  advance(time: number, requestId: string): number {
    this.#times.push(time);
    this.#requestIds.push(requestId);
    return ++this.generation;
  }

  timeOf(generation: number): number {
    return present(this.#times[generation], 'a generation has its time');
  }

  requestOf(generation: number): string {
    return present(this.#requestIds[generation], 'a generation has its request');
  }

  /** When the fact was asserted, and when it last changed. */
  timesOf(facts: FactStore, fact: FactRow): { createdAt: number; updatedAt: number } {
    return {
      createdAt: this.timeOf(facts.assertedIn(fact)),
      updatedAt: this.timeOf(fact.relation.birth[fact.row] as number),
    };
  }
}

export class State {
  readonly databases = new Map<string, DatabaseState>();
  sequence = 0;
  /** Logical time: the stamp of the last record. */
  time = 0;

  database(name: string): DatabaseState {
    const database = this.databases.get(name);
    if (database === undefined)
      throw new EngineError(
        'DatabaseNotFound',
        `there is no database ${name}: create it with POST /databases, or name another in X-Database`,
      );
    return database;
  }
}

/** What one row of a write became. */
export interface FactChange {
  readonly kind: Extract<ChangeKind, 'fact.asserted' | 'fact.retracted'>;
  readonly fact: FactRow;
}

export interface Report {
  readonly database: DatabaseState;
  /** null: not about one tenant. */
  readonly tenant: string | null;
  readonly generation: number;
  readonly asserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly changes: readonly FactChange[];
  /** The version of the last fact that was asserted, updated or found unchanged. */
  readonly fact: FactRow | null;
  /** Relations whose stored facts changed. */
  readonly touched: ReadonlySet<string>;
  readonly rule: {
    readonly kept: KeptRule;
    /** The rule as it was, null where there was none. */
    readonly before: KeptRule | null;
    readonly status: 'asserted' | 'updated' | 'unchanged' | 'retracted';
    /** A rule taught again is `unchanged`, and may have been enabled or named all the same. */
    readonly isChange: boolean;
  } | null;
}

type Draft = { -readonly [Key in keyof Report]: Report[Key] } & {
  changes: FactChange[];
  touched: Set<string>;
};

/** Applies the next record. Never refuses; whatever it throws is a bug. */
export function apply(state: State, record: LogRecord): Report {
  const steps = applying(state, record);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Between two slices: there is `more` to do; or all is `ready`, and the next step shows it and reports. */
export type Slice = 'more' | 'ready';

/** Rows that are written between two slices. */
const rowsInSlice = 256;

/** As `apply`, in slices. Until the step after `ready` nobody can see anything of it. */
export function* applying(state: State, record: LogRecord): Generator<Slice, Report, undefined> {
  assert(record.sequence === state.sequence + 1, 'records are applied one after the other');
  assert(record.version === operationVersion, `operations of version ${record.version} are known`);
  const show = yield* prepared(state, record);
  yield 'ready';
  state.sequence = record.sequence;
  state.time = Math.max(state.time, record.time);
  return show();
}

type Prepared<Result> = Generator<Slice, () => Result, undefined>;

/** Does what can be done unseen; what is returned does the rest, and reports. */
function* prepared(state: State, record: LogRecord): Prepared<Report> {
  const operation = record.operation as Operation;
  if (operation.kind === 'createDatabase') return () => createDatabase(state, operation.name, record.time);
  const database = state.database(record.database);
  const draft = newDraft(database, 'tenant' in operation ? operation.tenant : null);
  const show = yield* preparedIn(database, operation, record, draft);
  return () => {
    show();
    draft.generation = database.generation;
    return draft;
  };
}

function* preparedIn(
  database: DatabaseState,
  operation: Exclude<Operation, { kind: 'createDatabase' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  switch (operation.kind) {
    case 'assert':
      return yield* storeFacts(database, operation, record, draft);
    case 'retract':
      return yield* retractAll(database, operation.tenant, record, draft, (facts) =>
        facts.match(operation.pattern, database.generation, record.time, true),
      );
    case 'retractById':
      return yield* retractAll(database, operation.tenant, record, draft, (facts) => {
        const fact = facts.byId(operation.id);
        return fact !== null && facts.isStored(fact, record.time) ? [fact] : [];
      });
    case 'teach':
      return () => void (draft.rule = teach(database, operation.rule, record));
    case 'updateRule':
      return () => void (draft.rule = updateRule(database, operation.id, operation.rule, record));
    case 'forgetRule':
      return () => void (draft.rule = forgetRule(database, operation.id, record));
  }
}

function newDraft(database: DatabaseState, tenant: string | null): Draft {
  return {
    database,
    tenant,
    generation: database.generation,
    asserted: 0,
    updated: 0,
    unchanged: 0,
    changes: [],
    fact: null,
    touched: new Set(),
    rule: null,
  };
}

function createDatabase(state: State, name: string, time: number): Report {
  const database = new DatabaseState(name, time);
  state.databases.set(name, database);
  return newDraft(database, null);
}

function* storeFacts(
  database: DatabaseState,
  operation: Extract<Operation, { kind: 'assert' }>,
  record: LogRecord,
  draft: Draft,
): Prepared<void> {
  const tenant = database.tenants.get(operation.tenant) ?? newTenant(record.time);
  const { facts, uses } = tenant;
  const generation = database.generation + 1;
  let sliceEnd = rowsInSlice;
  for (const fact of operation.facts) {
    if (--sliceEnd === 0) {
      sliceEnd = rowsInSlice;
      yield 'more';
    }
    const outcome = facts.store(fact, generation, record.time);
    draft[outcome.status]++;
    draft.fact = outcome;
    if (outcome.status !== 'asserted') {
      const asserted = facts.assertedIn(outcome);
      uses.note(outcome, asserted === generation ? record.time : database.timeOf(asserted), record.time);
    }
    if (outcome.status === 'unchanged') continue;
    draft.changes.push({ kind: 'fact.asserted', fact: outcome });
    draft.touched.add(relationKey(fact.predicate, fact.args.length, !fact.truthVal));
  }
  return () => {
    database.tenants.set(operation.tenant, tenant);
    if (draft.changes.length > 0) database.advance(record.time, record.requestId);
  };
}

function newTenant(time: number): TenantState {
  const facts = new FactStore(time);
  return { facts, uses: new FactUses(facts) };
}

function* retractAll(
  database: DatabaseState,
  tenantName: string,
  record: LogRecord,
  draft: Draft,
  find: (facts: FactStore) => Iterable<FactRow>,
): Prepared<void> {
  const tenant = database.tenants.get(tenantName);
  if (tenant === undefined) return () => {};
  const { facts, uses } = tenant;
  const rows: FactRow[] = [];
  for (const fact of find(facts)) {
    rows.push(fact);
    if (rows.length % rowsInSlice === 0) yield 'more';
  }
  if (rows.length === 0) return () => {};
  const generation = database.generation + 1;
  for (const [at, fact] of rows.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
    facts.retract(fact, generation);
    draft.changes.push({ kind: 'fact.retracted', fact });
    const { predicate, arity, negated } = fact.relation;
    draft.touched.add(relationKey(predicate, arity, negated));
  }
  return () => {
    database.advance(record.time, record.requestId);
    for (const fact of rows) uses.drop(fact);
  };
}

function teach(database: DatabaseState, wanted: RuleToKeep, record: LogRecord): Report['rule'] {
  const id = `r${database.generation + 1}`;
  const taught = teachRule(database.rules, wanted, id, record.time);
  if (taught.isChange) database.advance(record.time, record.requestId);
  return taught;
}

/** Teaches the rules one more, which gets the id; or finds that it is there, and takes over what is given. */
export function teachRule(
  rules: RuleStore,
  wanted: RuleToKeep,
  id: string,
  time: number,
): NonNullable<Report['rule']> {
  const rule = present(wanted.rule, 'a rule that is taught is given');
  const identity = ruleIdentity(rule);
  const same = rules.same(identity, wanted.scope);
  if (same !== null) {
    const kept = changedRule(same, { ...wanted, rule: null });
    if (kept === null) return { kept: same, before: same, status: 'unchanged', isChange: false };
    rules.put(kept);
    return { kept, before: same, status: 'unchanged', isChange: true };
  }
  const kept: KeptRule = {
    id,
    rule,
    text: renderRule(rule),
    identity,
    scope: wanted.scope,
    name: wanted.name,
    description: wanted.description,
    enabled: wanted.enabled ?? true,
    createdAt: time,
  };
  rules.put(kept);
  return { kept, before: null, status: 'asserted', isChange: true };
}

/** The rule with what is given in place of what was, or null where that is no change. */
export function changedRule(kept: KeptRule, wanted: RuleToKeep): KeptRule | null {
  const next: KeptRule = {
    ...kept,
    name: wanted.name ?? kept.name,
    description: wanted.description ?? kept.description,
    enabled: wanted.enabled ?? kept.enabled,
  };
  if (wanted.rule !== null) {
    const rule = { rule: wanted.rule, text: renderRule(wanted.rule), identity: ruleIdentity(wanted.rule) };
    Object.assign(next, rule, { scope: wanted.scope, enabled: wanted.enabled ?? true });
    Object.assign(next, { name: wanted.name, description: wanted.description });
  }
  const isSame =
    next.text === kept.text &&
    next.scope === kept.scope &&
    next.name === kept.name &&
    next.description === kept.description &&
    next.enabled === kept.enabled;
  return isSame ? null : next;
}

function updateRule(
  database: DatabaseState,
  id: string,
  wanted: RuleToKeep,
  record: LogRecord,
): Report['rule'] {
  const kept = present(database.rules.get(id), 'the rule was there when it was checked');
  const next = changedRule(kept, wanted);
  if (next === null) return { kept, before: kept, status: 'unchanged', isChange: false };
  database.advance(record.time, record.requestId);
  database.rules.put(next);
  return { kept: next, before: kept, status: 'updated', isChange: true };
}

function forgetRule(database: DatabaseState, id: string, record: LogRecord): Report['rule'] {
  const kept = present(database.rules.get(id), 'the rule was there when it was checked');
  database.advance(record.time, record.requestId);
  database.rules.remove(kept);
  return { kept, before: kept, status: 'retracted', isChange: true };
}
