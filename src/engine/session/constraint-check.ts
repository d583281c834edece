import { type Caller, signalOf } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { runInSlices } from '../base/slices.ts';
import { maxViolationsListed, type ConstraintViolation } from '../contract/constraints.ts';
import { isAbsence, relationOf } from '../language/terms.ts';
import { StrictKeys } from '../state/key-rule.ts';
import { framesOf } from '../store/fact-block.ts';
import type { FactStore, FactToStore } from '../store/fact-store.ts';
import type { Program } from '../datalog/model/program.ts';
import type { Operation } from '../state/operation.ts';
import type { DatabaseState } from '../state/state.ts';
import {
  ConstraintStates,
  type FoundViolation,
  relationsBelow,
  shownViolation,
} from './constraint-states.ts';
import type { LiveState } from './live-state.ts';
import { FactsBefore, isSurelyHarmless, type QuickPlans, quickPlans, relationOfFact } from './quick-check.ts';
import type { ReadContext } from './read-context.ts';
import {
  isJudged,
  type JudgedOperation,
  relationsChangedBy,
  scopeHasFacts,
  supposeWrite,
} from './supposed-write.ts';

/** The limits of one check. */
const limits = { timeoutMs: 10_000, maxDerivations: 10_000_000 };

/** Writes of a tenant that are under way beside each other. */
interface WritesBeside {
  /** New facts that constraints read. */
  readonly facts: FactsBefore;
  /** Number of writes that no constraint refuses, whatever they change. */
  unjudged: number;
}

const nothingHeld = (): void => {};
const noFacts = new FactsBefore();

/** What the constraints that refuse writes read, as long as neither they nor the rules change. */
interface Watched {
  /** The versions of both. */
  readonly rules: number;
  readonly constraints: number;
  readonly relations: ReadonlySet<string>;
  /** True if one of them is checked in the view of every scope. */
  readonly isOfEveryScope: boolean;
  readonly plans: QuickPlans;
  /** Relations under default negation in their bodies. */
  readonly absent: ReadonlySet<string>;
}

/**
 * Refuses writes that would violate a constraint of mode `reject` which is not violated already, before they are logged.
 *
 * A write that no such constraint reads commits as if there were none. Any other commits exclusively, and is judged by what
 * it changes (`ConstraintStates`): in the state that it would make, at its time, over the state before it.
 */
export class ConstraintCheck {
  readonly #live: LiveState;
  readonly #watched = new WeakMap<DatabaseState, Watched>();
  /** By database and tenant, the writes under way that `admit` let go. */
  readonly #beside = new WeakMap<DatabaseState, Map<string, WritesBeside>>();

  constructor(live: LiveState) {
    this.#live = live;
  }

  /** True if the write must be judged, in an exclusive commit. Takes a time that does not grow with the knowledge. */
  concerns(caller: Caller, operation: Operation): boolean {
    if (!isJudged(operation)) return false;
    // An import is judged at its end.
    if (operation.kind === 'assert' && operation.importId !== undefined) return false;
    const database = this.#live.databaseIfAny(caller);
    if (database === undefined) return false;
    if (changesConstraints(operation)) return true;
    const watched = this.#watchedBy(database);
    if (watched.relations.size === 0) return false;
    const facts = database.tenants.get(tenantOf(caller, operation))?.facts ?? null;
    return this.#isRead(operation, watched, database, facts);
  }

  /** True if the constraints read what the operation may change. */
  #isRead(
    operation: JudgedOperation,
    { relations, isOfEveryScope }: Watched,
    database: DatabaseState,
    facts: FactStore | null,
  ): boolean {
    const single = singleFact(operation);
    if (single !== null)
      return relations.has(relationOfFact(single)) || (isOfEveryScope && beginsScope(facts, single.scope));
    if (isOfEveryScope && 'facts' in operation)
      for (const { scope } of framesOf(operation.facts)) if (beginsScope(facts, scope)) return true;
    const changed = relationsChangedBy(operation, database, facts);
    if (changed === null) return true;
    for (const relation of changed) if (relations.has(relation)) return true;
    return false;
  }

  /**
   * Lets a write go beside others of its tenant: it touches nothing that constraints read, or it is a few new facts that
   * look-ups show to be harmless with the facts under way, which are logged before it. null: it must be judged alone.
   */
  admit(caller: Caller, operation: Operation, time: number): (() => void) | null {
    const database = this.#live.databaseIfAny(caller);
    const watched = database === undefined ? null : this.#watchedBy(database);
    if (database === undefined || watched === null || watched.relations.size === 0)
      return this.concerns(caller, operation) ? null : nothingHeld;
    const tenant = 'tenant' in operation && operation.tenant !== null ? operation.tenant : caller.tenant;
    const beside = this.#besideOf(database, tenant);
    if (!isJudged(operation) || (operation.kind === 'assert' && operation.importId !== undefined)) {
      beside.unjudged++;
      return () => void beside.unjudged--;
    }
    const facts = database.tenants.get(tenantOf(caller, operation))?.facts ?? null;
    if (!changesConstraints(operation) && !this.#isRead(operation, watched, database, facts))
      return nothingHeld;
    if (facts === null || beside.unjudged > 0 || !isFew(operation)) return null;
    const ends: (() => void)[] = [];
    const end = (): void => {
      for (const each of ends) each();
    };
    for (const fact of operation.facts) {
      if (!isHarmless({ fact, watched, before: beside.facts, database, tenant, facts, time })) {
        end();
        return null;
      }
      ends.push(beside.facts.add(fact));
    }
    return end;
  }

  #besideOf(database: DatabaseState, tenant: string): WritesBeside {
    let ofTenants = this.#beside.get(database);
    if (ofTenants === undefined) this.#beside.set(database, (ofTenants = new Map()));
    let beside = ofTenants.get(tenant);
    if (beside === undefined) ofTenants.set(tenant, (beside = { facts: new FactsBefore(), unjudged: 0 }));
    return beside;
  }

  /** True if some constraint refuses writes. */
  mayRefuse(caller: Caller): boolean {
    const database = this.#live.databaseIfAny(caller);
    return database !== undefined && this.#watchedBy(database).relations.size > 0;
  }

  /** Throws ConstraintViolated if the write would violate what is not violated, InferenceLimitExceeded if that takes too long. */
  async judge(caller: Caller, operation: Operation, time: number): Promise<void> {
    if (!isJudged(operation) || !this.concerns(caller, operation)) return;
    const database = this.#live.database(caller);
    const facts = database.tenants.get(tenantOf(caller, operation))?.facts;
    const fact = singleFact(operation);
    if (fact !== null && facts !== undefined) {
      const watched = this.#watchedBy(database);
      const tenant = tenantOf(caller, operation);
      if (isHarmless({ fact, watched, before: noFacts, database, tenant, facts, time })) return;
    }
    const refusal = await this.#inState(caller, operation, time, (context, begun) =>
      begun.length === 0 ? Promise.resolve(null) : violated(context, begun),
    );
    if (refusal !== null) throw refusal;
  }

  /**
   * Those violations of constraints of mode `reject`, shown and counted, that are in the state now but would not be without
   * what the import newly asserted.
   */
  async ofImport(
    caller: Caller,
    importId: string,
    time: number,
  ): Promise<{ readonly violations: ConstraintViolation[]; readonly count: number }> {
    const operation = { kind: 'undoImport', tenant: caller.tenant, importId } as const;
    return this.#inState(caller, operation, time, async (_, __, ended, context) => ({
      violations: await shownAll(context, ended),
      count: ended.length,
    }));
  }

  /** The violations of constraints of mode `reject`, shown and counted, that the write would begin. Ends with the caller. */
  async ofSupposed(
    caller: Caller,
    operation: JudgedOperation,
    time: number,
  ): Promise<{ readonly violations: ConstraintViolation[]; readonly count: number }> {
    const judge = async (context: ReadContext, begun: FoundViolation[]) => ({
      violations: await shownAll(context, begun),
      count: begun.length,
    });
    return this.#inState(caller, operation, time, judge, signalOf(caller));
  }

  /**
   * Names the violations of constraints of mode `reject` that the write would begin. Throws ConstraintViolated if one of them is not
   * `known`; null: none is refused. Ends with the caller.
   */
  async refuseAdded(
    caller: Caller,
    known: ReadonlySet<string> | null,
    write: JudgedOperation,
    time: number,
  ): Promise<ReadonlySet<string>> {
    const nameOf = ({ constraint: { id }, scope, values }: FoundViolation): string =>
      JSON.stringify([id, scope, values]);
    const judge = async (context: ReadContext, begun: FoundViolation[]) => {
      const added = known === null ? [] : begun.filter((each) => !known.has(nameOf(each)));
      const refusal = added.length === 0 ? null : await violated(context, added);
      return { refusal, names: new Set(begun.map(nameOf)) };
    };
    const { refusal, names } = await this.#inState(caller, write, time, judge, signalOf(caller));
    if (refusal !== null) throw refusal;
    return names;
  }

  /** Reads both states; `context` is that after the write, `before` the one before it. A write is not cancelled. */
  async #inState<Result>(
    caller: Caller,
    operation: JudgedOperation,
    time: number,
    read: (
      context: ReadContext,
      begun: FoundViolation[],
      ended: FoundViolation[],
      before: ReadContext,
    ) => Promise<Result>,
    signal: Caller['signal'] = new AbortController().signal,
  ): Promise<Result> {
    const asked = { ...caller, tenant: tenantOf(caller, operation), signal };
    try {
      return await this.#live.reading(asked, limits, async (pinned) => {
        const before = { ...pinned, reader: { ...pinned.reader, time, version: -1 } };
        const { database, tenant, pacer, reader } = before;
        const watched = relationsBelow(database.constraints.all(), [reader.program]);
        const isRead = (relation: string): boolean => changesWhatIsRead(operation) || watched.has(relation);
        const after = await supposeWrite(before, operation, isRead);
        const isStrict = ({ mode }: { readonly mode: string }): boolean => mode === 'reject';
        const strict = after.constraints.filter(isStrict);
        const ids = new Set(strict.map(({ id }) => id));
        const states = new ConstraintStates(
          before,
          {
            reader,
            constraints: database.constraints.all().filter(({ id }) => ids.has(id)),
            rules: database.rules.all(),
            hasScope: (scope) => runInSlices(scopeHasFacts(tenant, scope, reader), () => pacer.breathe()),
          },
          { ...after, constraints: strict },
          after.touched,
        );
        try {
          const { begun, ended } = await states.compare();
          return await read({ ...before, reader: after.reader }, begun, ended, before);
        } finally {
          states.end();
        }
      });
    } catch (error) {
      throw inWords(error);
    }
  }

  #watchedBy(database: DatabaseState): Watched {
    const known = this.#watched.get(database);
    const { constraints, rules } = database;
    if (known?.rules === rules.version && known.constraints === constraints.version) return known;
    const watched = {
      rules: rules.version,
      constraints: constraints.version,
      ...watchedOf(database, this.#live.programOf(database)),
    };
    this.#watched.set(database, watched);
    return watched;
  }
}

function watchedOf({ constraints }: DatabaseState, program: Program): Omit<Watched, 'rules' | 'constraints'> {
  const strict = constraints.all().filter(({ mode }) => mode === 'reject');
  return {
    relations: relationsBelow(strict, [program]),
    isOfEveryScope: strict.some(({ scope }) => scope === null),
    plans: quickPlans(strict, program),
    absent: new Set(strict.flatMap(({ body }) => body.filter(isAbsence).map(relationOf))),
  };
}

/** Facts of one write that are looked up one by one before they are judged together instead. */
const maxFew = 16;

function isFew(operation: JudgedOperation): operation is Extract<JudgedOperation, { kind: 'assert' }> {
  return operation.kind === 'assert' && operation.facts.length <= maxFew;
}

/** The fact that the operation asserts, if it is only one; else null. */
function singleFact(operation: JudgedOperation): FactToStore | null {
  if (operation.kind !== 'assert' || operation.facts.length !== 1) return null;
  return operation.facts.at(0) ?? null;
}

/** True if the scope does not exist until it gets a fact. */
function beginsScope(facts: FactStore | null, scope: string | null): boolean {
  if (scope === null) return false;
  const number = facts?.scopeNumber(scope) ?? -1;
  const record = number < 0 ? null : (facts?.scopes.get(number) ?? null);
  return record === null || (record.held === 0 && !record.isForked);
}

/** One new fact, and what it is judged by. */
interface JudgedFact {
  readonly fact: FactToStore;
  readonly watched: Watched;
  /** Facts that are stored before it. */
  readonly before: FactsBefore;
  readonly database: DatabaseState;
  /** That the facts are of. */
  readonly tenant: string;
  readonly facts: FactStore;
  readonly time: number;
}

/** True if the scope of the fact exists, and a few look-ups show that it violates nothing. */
function isHarmless({ fact, watched, before, database, tenant, facts, time }: JudgedFact): boolean {
  const { validFrom, validUntil, scope } = fact;
  // With a validity the fact may also cease to be visible.
  if (validFrom !== undefined || validUntil !== undefined) return false;
  const { plans, absent } = watched;
  // A key may end the validity of another fact of the relation, which only a `not` can make a violation.
  if (
    absent.size > 0 &&
    absent.has(relationOfFact(fact)) &&
    StrictKeys.of(database.declarations).keyOf(fact)?.onConflict === 'supersede'
  )
    return false;
  if (scope !== null && (beginsScope(facts, scope) || !facts.scopes.isSettledThrough(time))) return false;
  return isSurelyHarmless(plans, fact, before, facts, { generation: database.generationOf(tenant), time });
}

/** The tenant that the operation writes to; rules and constraints are judged in the caller's. */
function tenantOf(caller: Caller, operation: JudgedOperation): string {
  return 'tenant' in operation ? operation.tenant : caller.tenant;
}

/** True if a constraint can come with the write, or become one that refuses. */
function changesConstraints(operation: JudgedOperation): boolean {
  if (operation.kind === 'addConstraint') return operation.constraint.mode === 'reject';
  if (operation.kind === 'updateConstraint') return true;
  return (
    operation.kind === 'commit' && (operation.shape ?? []).some(({ kind }) => kind.endsWith('Constraint'))
  );
}

/** True if other relations may be read after the write than before it. */
function changesWhatIsRead(operation: JudgedOperation): boolean {
  return operation.kind === 'commit' && (operation.rules.length > 0 || (operation.shape ?? []).length > 0);
}

/** The first violations as answers show them. */
async function shownAll(
  context: ReadContext,
  found: readonly FoundViolation[],
): Promise<ConstraintViolation[]> {
  const shown: ConstraintViolation[] = [];
  for (const each of found.slice(0, maxViolationsListed)) shown.push(await shownViolation(context, each));
  return shown;
}

async function violated(context: ReadContext, begun: readonly FoundViolation[]): Promise<EngineError> {
  const violations = await shownAll(context, begun);
  return violationRefusal(violations, begun.length);
}

/** The refusal of a write for these violations, of which there are `count`. */
function violationRefusal(violations: readonly ConstraintViolation[], count: number): EngineError {
  const [first] = violations;
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  const where = first?.scope === null ? '' : ` in the scope ${JSON.stringify(first?.scope)}`;
  return new EngineError(
    'ConstraintViolated',
    `the write would violate the constraint ${JSON.stringify(first?.name)} (${first?.constraint})${where}: ` +
      `${first?.instance}${more}. Nothing was stored: change the write, or set the constraint's mode to warn`,
    { violations: [...violations], violationCount: count },
  );
}

/** An error of the check for its caller, who asked no question. */
function inWords(error: unknown): unknown {
  if (!(error instanceof EngineError) || error.code !== 'InferenceLimitExceeded') return error;
  const { message, members } = error;
  return new EngineError(
    'InferenceLimitExceeded',
    `checking the constraints for this write took too much, and nothing was stored: ${message}`,
    members,
  );
}
