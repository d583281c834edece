import { EngineError } from '../base/errors.ts';
import { runInSlices } from '../base/slices.ts';
import type { Program } from '../datalog/model/program.ts';
import type { Reasoner } from '../datalog/maintain/reasoner.ts';
import { relationKey } from '../language/terms.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Operation } from '../state/operation.ts';
import type { Report } from '../state/report.ts';
import { factsOfScope, type ReadMoment } from '../state/scope-join.ts';
import type { DatabaseState, TenantState } from '../state/state.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { type Origin, type ViolationChange, violationChanges } from './change-feed.ts';
import { ConstraintStates, denialOf, type FoundViolation, relationsBelow } from './constraint-states.ts';
import type { LiveState } from './live-state.ts';
import type { ReadContext } from './read-context.ts';
import { TouchedAtoms } from './supposed-write.ts';

/** The limits of one comparison; subscribers are told to read again where it takes more. */
const limits = { timeoutMs: 10_000, maxDerivations: 10_000_000 };
const factsBetweenBreaths = 256;

/** A tenant's state before changes whose effect on constraints is not published yet. */
interface Pending {
  readonly database: DatabaseState;
  readonly name: string;
  readonly moment: ReadMoment;
  readonly program: Program;
  readonly rules: readonly RuleRecord[];
  readonly constraints: readonly ConstraintRecord[];
  /** Keeps deleted rows from compaction; null: the tenant is gone. */
  readonly held: Reasoner | null;
  /** Of the facts that changed since. */
  readonly numbers: Set<number>;
  /** Of the last change; null: nothing has changed that constraints read. */
  origin: Origin | null;
}

/**
 * Publishes violations of constraints that begin and end, by writes and by the clock, once somebody follows the changes.
 *
 * Before a change that may concern constraints it notes the state of the tenant; after it, when the serving thread is free,
 * it compares that with the state then, by what changed. Changes that come meanwhile are compared together with the next
 * ones, so each violation is told with the last change taken in.
 */
export class ViolationEvents {
  readonly #live: LiveState;
  readonly #onBug: (error: unknown) => void;
  readonly #pending = new Map<TenantState, Pending>();
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(live: LiveState, onBug: (error: unknown) => void) {
    this.#live = live;
    this.#onBug = onBug;
    live.onPassed = (tenant, passed, time, origin) => this.#passed(tenant, passed, time, origin);
  }

  /** Call it in the turn of a write, before it. */
  applying(record: LogRecord): void {
    const operation = record.operation as Operation;
    const database = this.#live.databaseNamed(record.database);
    if (!this.#live.isFollowed || this.#isClosed || database === undefined) return;
    if (database.constraints.size === 0 && !addsConstraints(operation)) return;
    const only = 'tenant' in operation && !mayChangeRules(operation) ? operation.tenant : null;
    for (const [name, tenant] of database.tenants)
      if (only === null || only === name) this.#note(database, name, tenant, record.wall ?? record.time);
  }

  /** Call it in the same turn, after it. */
  applied(record: LogRecord, report: Report): void {
    if (this.#pending.size === 0 && !this.#live.isFollowed) return;
    const { database, changes, rules, shape } = report;
    if (report.cleared !== null) {
      for (const [tenant, pending] of this.#pending)
        if (pending.database === database && database.tenants.get(pending.name) !== tenant)
          this.#forget(tenant);
      return;
    }
    const origin = this.#live.originOf(report);
    const isShared =
      rules.some(({ isChange }) => isChange) ||
      shape.some(({ kind, isChange }) => kind === 'constraint' && isChange);
    for (const [name, tenant] of database.tenants) {
      let pending = this.#pending.get(tenant);
      // The write created the tenant.
      if (pending === undefined && name === report.tenant && database.constraints.size > 0) {
        this.#note(database, name, tenant, record.wall ?? record.time, report.generation - 1);
        pending = this.#pending.get(tenant);
      }
      if (pending === undefined) continue;
      const isOwn = name === report.tenant && changes.length > 0;
      if (isOwn) for (const number of changes.numbers) pending.numbers.add(number);
      if ((isOwn || isShared) && origin !== undefined) pending.origin = origin;
      if (pending.origin === null) this.#forget(tenant);
    }
    this.#wake();
  }

  /** Ends the run; resolves when it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
    for (const tenant of this.#pending.keys()) this.#forget(tenant);
  }

  #passed(tenant: TenantState, passed: readonly number[], time: number, origin: Origin): void {
    if (!this.#live.isFollowed || this.#isClosed) return;
    for (const each of this.#live.everyTenant()) {
      if (each.tenant !== tenant || each.database.constraints.size === 0) continue;
      this.#note(each.database, each.name, tenant, time);
      const pending = this.#pending.get(tenant);
      if (pending === undefined) return;
      for (const number of passed) pending.numbers.add(number);
      pending.origin = origin;
      this.#wake();
    }
  }

  #note(
    database: DatabaseState,
    name: string,
    tenant: TenantState,
    time: number,
    generation = database.generationOf(name),
  ): void {
    if (this.#pending.has(tenant)) return;
    const held = this.#live.pinBackground(database, name, limits)?.reasoner ?? null;
    // Pinning may have told that validities passed.
    if (this.#pending.has(tenant)) return;
    if (held !== null) held.readers++;
    this.#pending.set(tenant, {
      database,
      name,
      moment: { generation, time },
      program: this.#live.programOf(database),
      rules: database.rules.all(),
      constraints: database.constraints.all(),
      held,
      numbers: new Set(),
      origin: null,
    });
  }

  #forget(tenant: TenantState): void {
    const pending = this.#pending.get(tenant);
    this.#pending.delete(tenant);
    this.#release(pending);
  }

  #release(pending: Pending | undefined): void {
    if (pending === undefined || pending.held === null) return;
    pending.held.readers--;
    this.#live.compactSoon({ database: pending.database.name, tenant: pending.name });
  }

  #wake(): void {
    if (this.#timer !== null || this.#running !== null || this.#isClosed || this.#pending.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#running = this.#run()
        .catch(this.#onBug)
        .finally(() => {
          this.#running = null;
          this.#wake();
        });
    }, 0);
    // Changes still unpublished when the process ends are never published.
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    for (const [tenant, pending] of this.#pending) {
      if (this.#isClosed) return;
      this.#pending.delete(tenant);
      try {
        const { origin } = pending;
        const found = origin === null ? [] : await this.#compared(tenant, pending);
        if (origin !== null && !this.#isClosed)
          this.#live.publish(violationChanges(pending.name, found, origin));
      } finally {
        this.#release(pending);
      }
    }
  }

  /** What began and ended; null: that takes too much. */
  async #compared(tenant: TenantState, pending: Pending): Promise<ViolationChange[] | null> {
    const { database, name, moment, program, numbers } = pending;
    const context = this.#live.pinBackground(database, name, limits);
    if (context === null || context.tenant !== tenant) return [];
    const { reasoner, reader } = context;
    reasoner.readers++;
    const before = { ...reader, ...moment, program, version: -1 };
    const now = database.constraints.all();
    const read = relationsBelow([...pending.constraints, ...now], [program, reader.program]);
    const states = new ConstraintStates(
      context,
      { ...pending, reader: before, hasScope: (scope) => hadFacts(context, scope, moment) },
      {
        reader,
        constraints: now,
        rules: database.rules.all(),
        hasScope: (scope) => hadFacts(context, scope, reader),
      },
      await touchedBy(context, numbers, read),
    );
    try {
      const { begun, ended } = await states.compare();
      return [
        ...begun.map((each) => changeOf('constraint.violated', each)),
        ...ended.map((each) => changeOf('constraint.satisfied', each)),
      ];
    } catch (error) {
      if (error instanceof EngineError) return null;
      throw error;
    } finally {
      states.end();
      reasoner.readers--;
    }
  }
}

function changeOf(
  kind: ViolationChange['kind'],
  { constraint, scope, values }: FoundViolation,
): ViolationChange {
  const bindings: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [at, variable] of denialOf(constraint).variables.entries())
    bindings[variable.slice(1)] = values[at] as string;
  return { kind, constraint: constraint.id, scope, bindings };
}

/** The atoms of the facts with these numbers, of relations that are read; their scopes in any case. */
async function touchedBy(
  { tenant: { facts }, pacer }: ReadContext,
  numbers: ReadonlySet<number>,
  read: ReadonlySet<string>,
): Promise<TouchedAtoms> {
  const touched = new TouchedAtoms();
  let looked = 0;
  for (const number of numbers) {
    if (++looked % factsBetweenBreaths === 0) await pacer.breathe();
    const fact = facts.versionOf(number);
    if (fact.row < 0) continue;
    const identity = facts.identityOf(fact);
    touched.addScope(identity.scope);
    const { predicate, args, truthVal } = identity;
    if (read.has(relationKey(predicate, args.length, !truthVal))) touched.add(identity);
  }
  return touched;
}

/** True if the scope has a fact at this moment, or is a fork now. */
function hadFacts(
  { tenant: { facts }, pacer }: ReadContext,
  scope: string,
  moment: ReadMoment,
): Promise<boolean> {
  function* steps(): Generator<'more', boolean, undefined> {
    const number = facts.scopeNumber(scope);
    if (number < 0) return false;
    if (facts.scopes.get(number)?.isForked === true) return true;
    for (const found of factsOfScope(facts, number, moment.generation, moment.time))
      if (found === 'more') yield found;
      else return true;
    return false;
  }
  return runInSlices(steps(), () => pacer.breathe());
}

function addsConstraints(operation: Operation): boolean {
  return operation.kind === 'addConstraint' || (operation.kind === 'commit' && operation.shape !== undefined);
}

/** True if rules, which concern every tenant, may change with the tenant's facts. */
function mayChangeRules(operation: Operation): boolean {
  if (operation.kind === 'commit') return operation.rules.length > 0 || operation.shape !== undefined;
  return operation.kind === 'forkScope' || operation.kind === 'deleteScope';
}
