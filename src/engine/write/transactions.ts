import type { Caller } from '../base/caller.ts';
import type { Clock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { present } from '../base/assert.ts';
import type { Slices } from '../base/slices.ts';
import type { ReadContext } from '../session/read-context.ts';
import { checkCommit, type CommittedKnowledge as CommittedState } from './commit-check.ts';
import {
  completenessPart,
  consequencesOf,
  consequencesTimeoutMs,
  viewsOfWrites,
} from '../session/consequences.ts';
import type { FactInput, RetractInput } from '../contract/facts.ts';
import type { AliasInput } from '../contract/entities.ts';
import { AliasStore } from '../store/alias-store.ts';
import type { DeletedTests, StoreTestsInput } from '../contract/stored-tests.ts';
import { type OutcomeOfTests, refuseFailing, testsOfWrite, triedPart } from './test-runs.ts';
import type { ConstraintInput, ConstraintUpdate } from '../contract/constraints.ts';
import type { RuleInput } from '../contract/rules.ts';
import type { RuleUpdateInput } from './rules.ts';
import type { Committed, Pending, RolledBack, TransactionBegun } from '../contract/transactions.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import type { ReadLimits } from '../session/read-limits.ts';
import { relationOf } from '../language/terms.ts';
import type { RuleStore } from '../store/rule-store.ts';
import { changeRules } from '../state/apply-rules.ts';
import { declarationsAfter } from '../state/apply-shape.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { unlimited, withoutCancellation, type Writer } from '../session/writer.ts';
import { hintsOfRetraction, limitsOfHint } from '../read/conclusion-hint.ts';
import { patternOf } from '../session/dependents.ts';
import { hintsPart } from '../read/hints.ts';
import { writeBytes, type NetWrites, type WriteChange } from './net-writes.ts';
import {
  hasEnded,
  idleMs,
  OpenTransactions,
  type OpenTransaction,
  asRolledBack,
  rollsBack,
} from './open-transactions.ts';
import { type Commit, outcomeAs, type ShapeOperation } from '../state/operation.ts';
import type { Report } from '../state/report.ts';
import type { LogRecord } from '../log/codec.ts';
import { supersededPart } from './tell.ts';
import { TransactionView, type ViewedWrites } from './transaction-view.ts';
import { writesToPost } from './posted-writes.ts';
import { pendingWrites, type Writing } from './transaction-writes.ts';

/** A version of the committed rules with the first operations of a transaction applied. */
interface RulesOver {
  /** Id of the transaction. */
  readonly of: string;
  readonly committed: RuleStore;
  readonly version: number;
  readonly operations: number;
  readonly rules: RuleStore;
}

/** Maximum size of one transaction's net writes as JSON. */
const maxTransactionBytes = 64 * 1024 * 1024;

/**
 * Transactions: writes buffered in memory until one log record commits them all, or none. Reads use snapshot isolation;
 * the first committer wins.
 *
 * Calls of one transaction run one after the other; questions only read its writes in their turn. When a write is
 * refused, the transaction is rolled back before the caller sees the refusal. Nothing of a transaction is durable
 * before its commit.
 */
export class Transactions {
  readonly #writer: Writer;
  readonly #open: OpenTransactions;
  /** The rules as seen by the last transaction that wrote rules. */
  #rules: RulesOver | null = null;

  constructor(writer: Writer, clock: Clock) {
    this.#writer = writer;
    this.#open = new OpenTransactions(clock, writer.newTransactionId);
    this.#open.isOfEarlierOwner = writer.isOfEarlierOwner;
    this.#open.onEnded = (space) => writer.live.compactSoon(space);
  }

  close(): void {
    this.#open.close();
  }

  /** Rolls all back, since this node stores nothing any more. */
  loseAll(): void {
    this.#open.loseAll();
  }

  /** Number of open transactions. */
  get count(): number {
    return this.#open.count;
  }

  /** For how many milliseconds the oldest open transaction has been open; 0: none is. */
  get oldestMs(): number {
    return this.#open.oldestMs;
  }

  /** Number of open transactions of the tenant; null: of all tenants of the database. */
  countIn(database: string, tenant: string | null): number {
    return this.#open.countIn(database, tenant);
  }

  /** Must be called for every change, in the same turn. */
  applied(record: LogRecord, report: Report): void {
    this.#open.applied(record, report);
  }

  /** See `LiveState.rememberedSince`. */
  rememberedSince(database: string, tenant: string): number {
    return this.#open.rememberedSince(database, tenant);
  }

  /** Opens a transaction of the caller's database and tenant; refused on a follower. */
  async begin(caller: Caller): Promise<TransactionBegun> {
    this.#writer.refuseWrites();
    const generation = this.#writer.live.database(caller).generationOf(caller.tenant);
    this.#writer.questions.refuseTransaction(caller, (tenant) => this.countIn(caller.database, tenant));
    const { id } = this.#open.begin(caller, generation);
    return { id, status: 'open', expiresAt: this.#writer.live.showTime() + idleMs };
  }

  /** The declarations that the caller sees, with those of the transaction that it names. */
  declarations(caller: Caller): DeclarationStore {
    const database = this.#writer.live.database(caller);
    const { transaction: id } = caller;
    const open = id === null ? null : this.#open.find(caller, id);
    return declarationsAfter(database, open?.writes.shape ?? []);
  }

  /** The writes of the transaction that the caller names. */
  within(caller: Caller): TransactionWrites {
    const write = (act: (writing: Writing) => Promise<Pending>): Promise<Pending> => this.#write(caller, act);
    return {
      tell: (fact: FactInput & { ifGeneration: number | null }) => write(pendingWrites.tell(fact)),
      tellAll: (facts: readonly FactInput[]) => write(pendingWrites.tellAll(facts)),
      forget: async (input: RetractInput) => {
        const pending = await write(pendingWrites.forget(input));
        if (pending.retracted !== 0) return pending;
        return { ...pending, ...hintsPart(await this.#hintsOfRetraction(caller, input)) };
      },
      forgetById: (id: string) => write(pendingWrites.forgetById(id)),
      teach: (rule: RuleInput & { readonly runTests?: boolean }) => write(pendingWrites.teach(rule)),
      updateRule: (id: string, rule: RuleUpdateInput) => write(pendingWrites.updateRule(id, rule)),
      forgetRule: (id: string, runTests?: boolean) => write(pendingWrites.forgetRule(id, runTests)),
      shape: (operation: ShapeOperation) => write(pendingWrites.shape(operation)),
      addAlias: (input: AliasInput) => write(pendingWrites.addAlias(input)),
      removeAlias: (input: AliasInput) => write(pendingWrites.removeAlias(input)),
      addConstraint: (constraint: ConstraintInput) => write(pendingWrites.addConstraint(constraint)),
      updateConstraint: (id: string, constraint: ConstraintUpdate) =>
        write(pendingWrites.updateConstraint(id, constraint)),
      deleteConstraint: (id: string) => write(pendingWrites.deleteConstraint(id)),
      storeTests: (input: StoreTestsInput) => write(pendingWrites.storeTests(input)),
      deleteTests: (input: DeletedTests) => write(pendingWrites.deleteTests(input)),
    };
  }

  async #hintsOfRetraction(caller: Caller, input: RetractInput): Promise<string[]> {
    try {
      return await this.reading(withoutCancellation(caller), limitsOfHint, (context) =>
        hintsOfRetraction(context, patternOf(input)),
      );
    } catch (error) {
      // The write succeeded; if the transaction has ended since, the next call reports it.
      if (error instanceof EngineError) return [];
      throw error;
    }
  }

  /**
   * Rolls back the transaction that the caller names, because a write in it was refused before it got here. False if it
   * is not open, not the caller's, or being committed.
   */
  abandon(caller: Caller): boolean {
    const transaction = caller.transaction === null ? null : this.#open.find(caller, caller.transaction);
    if (transaction === null || transaction.isCommitting) return false;
    this.#open.end(transaction, 'rolled_back');
    return true;
  }

  /**
   * Reads the committed state with the writes of the caller's transaction over it, at the instant that the caller names;
   * `plain` is without them.
   */
  async reading<Result>(
    caller: Caller,
    limits: ReadLimits,
    read: (context: ReadContext, plain: ReadContext) => Promise<Result>,
  ): Promise<Result> {
    this.#writer.live.refuseClosed();
    const transaction = this.#open.require(caller, idOf(caller));
    return this.#open.using(transaction, async () => {
      const { context, view } = await this.#inTurn(transaction, () =>
        this.#viewed(transaction, caller, limits),
      );
      try {
        caller.moment?.onKnown?.(context.reader.generation);
        return await read(view.contextFor(context, caller.moment?.asOf ?? null), context);
      } catch (error) {
        throw context.pacer.withElapsed(error);
      } finally {
        view.readers--;
        context.reasoner.readers--;
      }
    });
  }

  /**
   * Asks a question of the caller's transaction that another thread may answer, over these writes; null: too many, or it is
   * about an instant. The transaction does not become idle meanwhile.
   */
  async asking<Result>(
    caller: Caller,
    ask: (writes: ViewedWrites | null) => Promise<Result>,
  ): Promise<Result> {
    this.#writer.live.refuseClosed();
    const transaction = this.#open.require(caller, idOf(caller));
    return this.#open.using(transaction, async () => {
      const isNow = caller.moment === undefined;
      const now = async (): Promise<ViewedWrites | null> => (isNow ? writesToPost(transaction.writes) : null);
      return ask(await this.#inTurn(transaction, now));
    });
  }

  /** What the commit of the transaction that the caller names would write. */
  pendingCommit(caller: Caller): Promise<Commit> {
    this.#writer.live.refuseClosed();
    const transaction = this.#open.require(caller, idOf(caller));
    return this.#inTurn(transaction, () =>
      operationOf(caller.tenant, transaction, this.#writer.slices(caller)),
    );
  }

  /** `timeoutMs`: the time limit of a dry run for working out what would follow. */
  async commit(
    caller: Caller,
    id: string,
    dryRun: boolean,
    timeoutMs = consequencesTimeoutMs,
    runTests = false,
  ): Promise<Committed> {
    // After a restart the transaction is gone, but the outcome of its commit is remembered.
    const recorded = dryRun ? null : this.#writer.earlierOutcome(caller);
    if (recorded !== null) {
      const written = outcomeAs(recorded, 'committed');
      const { operations, generation } = written;
      return { id, status: 'committed', operations, ...supersededPart(written), generation };
    }
    this.#writer.live.refuseClosed();
    const transaction = this.#open.require(caller, id);
    if (dryRun) return this.#tryCommit(transaction, caller, timeoutMs, runTests);
    return this.#inTurn(transaction, async () => {
      // A client that goes away while they run ends them, and the transaction stays open.
      const run = runTests ? await this.#runTests(transaction, caller) : null;
      transaction.isCommitting = true;
      try {
        const tests = run === null ? {} : { tests: refuseFailing(run) };
        const committed = await this.#commit(transaction, caller);
        this.#open.end(transaction, 'committed');
        return { id, status: 'committed', operations: transaction.operations, ...committed, ...tests };
      } catch (error) {
        // Nothing was stored: the commit can be retried when there is room.
        const isOpen =
          error instanceof EngineError &&
          (error.code === 'StorageUnavailable' || error.code === 'QuotaExceeded');
        throw isFinal(error) && !isOpen ? this.#rolledBack(transaction, error) : error;
      } finally {
        transaction.isCommitting = false;
      }
    });
  }

  async rollback(caller: Caller, id: string): Promise<RolledBack> {
    this.#writer.live.refuseClosed();
    const transaction = this.#open.require(caller, id);
    return this.#inTurn(transaction, async () => {
      const generation = this.#writer.live.database(caller).generationOf(caller.tenant);
      this.#open.end(transaction, 'rolled_back');
      return { id, status: 'rolled_back', operations: transaction.operations, generation };
    });
  }

  /** What it superseded, and the generation of the commit, or the current one if there is nothing to write. */
  async #commit(
    transaction: OpenTransaction,
    caller: Caller,
  ): Promise<Pick<Committed, 'superseded' | 'supersededCount' | 'generation'>> {
    const { live, write } = this.#writer;
    const { writes } = transaction;
    if (writes.isEmpty) return { generation: live.database(caller).generationOf(caller.tenant) };
    const slices = this.#writer.slices(caller);
    const operation = await operationOf(caller.tenant, transaction, slices);
    const check = async (time: number): Promise<void> => {
      // Its database or tenant may have been cleared while it waited.
      refuseEnded(transaction);
      await checkCommit(transaction, this.#committed(caller), time, slices);
    };
    const report = await write({ caller, check, ...(await encodeWrite(operation, slices)) });
    const committed = outcomeAs(report.outcome, 'committed');
    return { ...supersededPart(committed), generation: report.generation };
  }

  #committed(caller: Caller): CommittedState {
    const { live } = this.#writer;
    const { name, rules, declarations, constraints, tests } = live.database(caller);
    const ruleChangedAt: CommittedState['ruleChangedAt'] = (rule) => this.#open.ruleChangedAt(name, rule);
    const shapeChangedAt: CommittedState['shapeChangedAt'] = (operation) =>
      this.#open.shapeChangedAt(name, caller.tenant, operation);
    const facts = live.storeOf(caller);
    const aliases = live.database(caller).tenants.get(caller.tenant)?.aliases ?? new AliasStore();
    return { name, rules, declarations, constraints, tests, aliases, facts, ruleChangedAt, shapeChangedAt };
  }

  /** How the stored tests go over what the commit would make of the knowledge. */
  #runTests(transaction: OpenTransaction, caller: Caller): Promise<OutcomeOfTests> {
    const slices = this.#writer.slices(caller);
    return testsOfWrite(this.#writer, caller, () => operationOf(caller.tenant, transaction, slices));
  }

  /** The answer of a commit without changing anything; the transaction stays open. */
  #tryCommit(
    transaction: OpenTransaction,
    caller: Caller,
    timeoutMs: number,
    runTests: boolean,
  ): Promise<Committed> {
    return this.#inTurn(transaction, async () => {
      const tests = runTests ? triedPart(await this.#runTests(transaction, caller)) : {};
      const { context: before, view } = await this.#viewed(transaction, caller, unlimited);
      try {
        const { id, writes, operations } = transaction;
        const { reader, database } = before;
        const slices = this.#writer.slices(caller);
        await checkCommit(transaction, this.#committed(caller), reader.time, slices);
        await this.#writer.refuseUnfit(caller, await operationOf(caller.tenant, transaction, slices));
        const written = writtenRules(writes, database.rules);
        const relations = new Set(writes.relations);
        for (const { relation } of written) relations.add(relation);
        const views = viewsOfWrites([...writes.scopes, ...written.map(({ scope }) => scope)]);
        const states = { before, after: view.contextFor(before), relations, views };
        const found = await consequencesOf(states, { ...unlimited, timeoutMs, signal: caller.signal });
        before.pacer.look();
        const { gained, lost } = found;
        const answer = { id, status: 'committed' as const, operations, generation: reader.generation };
        return { ...answer, dryRun: true, gained, lost, ...completenessPart(found), ...tests };
      } finally {
        view.readers--;
        before.reasoner.readers--;
      }
    });
  }

  /** One write of the transaction: it succeeds completely, or the transaction is rolled back. */
  async #write(caller: Caller, act: (writing: Writing) => Promise<Pending>): Promise<Pending> {
    const { live } = this.#writer;
    live.refuseClosed();
    const transaction = this.#open.require(caller, idOf(caller));
    const now = live.showTime();
    return this.#inTurn(transaction, async () => {
      // A disconnecting client does not cancel a write.
      const context = live.pin({ ...caller, signal: new AbortController().signal }, unlimited);
      context.reasoner.readers++;
      try {
        const pending = await act({
          caller,
          now,
          context,
          writes: transaction.writes,
          rules: () => this.#rulesFor(transaction, context.database.rules),
          put: (changes, check) => this.#put(transaction, context, changes, check),
        });
        refuseEnded(transaction);
        if (pending.dryRun !== true) transaction.operations++;
        return pending;
      } catch (error) {
        throw isFinal(error) ? this.#rolledBack(transaction, error) : error;
      } finally {
        context.reasoner.readers--;
      }
    });
  }

  /** The rules as the transaction sees them, to be changed by its next operation. */
  #rulesFor({ id, writes }: OpenTransaction, committed: RuleStore): RuleStore {
    const known = this.#rules;
    const isKnown =
      known !== null &&
      known.of === id &&
      known.committed === committed &&
      known.version === committed.version &&
      known.operations === writes.rules.length;
    const rules = isKnown ? known.rules : rulesOver(committed, writes);
    const operations = writes.rules.length + 1;
    this.#rules = { of: id, committed, version: committed.version, operations, rules };
    return rules;
  }

  /** Adds changes, or none if the transaction memory limits leave no room. */
  async #put(
    transaction: OpenTransaction,
    { reader, pacer }: ReadContext,
    changes: readonly WriteChange[],
    check: (at: number) => void = () => {},
  ): Promise<void> {
    const { writes } = transaction;
    let bytes = 0;
    for (const [at, change] of changes.entries()) {
      bytes += writeBytes(change);
      if ((at & 0xff) === 0xff) await pacer.breathe();
    }
    this.#open.refuseMore(transaction.space, bytes);
    for (const [at, change] of changes.entries()) {
      check(at);
      this.#open.writing(transaction, () => writes.add(change, reader.time));
      if (writes.bytes > maxTransactionBytes) throw tooLarge();
      if (transaction.view !== null) transaction.unseen.push(change);
      if ((at & 0xff) === 0xff) await pacer.breathe();
    }
  }

  /** A view of what the transaction reads now, with the context under it; the caller decrements both reader counts. */
  async #viewed(
    transaction: OpenTransaction,
    caller: Caller,
    limits: ReadLimits,
  ): Promise<{ readonly context: ReadContext; readonly view: TransactionView }> {
    for (;;) {
      const context = this.#writer.live.pin(caller, limits);
      context.reasoner.readers++;
      try {
        const view = await this.#viewOver(transaction, context, caller.tenant);
        if (view !== null) {
          view.readers++;
          this.#open.viewed(transaction, view);
          return { context, view };
        }
      } catch (error) {
        context.reasoner.readers--;
        throw error;
      }
      context.reasoner.readers--;
    }
  }

  /** The cached view brought up to date, or a new one; null if the cached one became unusable. */
  async #viewOver(
    transaction: OpenTransaction,
    context: ReadContext,
    tenant: string,
  ): Promise<TransactionView | null> {
    const isUnborn = context.database.tenants.get(tenant) !== context.tenant;
    const { view: cached, unseen, writes } = transaction;
    if (cached !== null && cached.holdsFor(context, isUnborn)) {
      if (unseen.length === 0) return cached;
      if (cached.readers === 0 && cached.takes(unseen)) {
        this.#open.dropView(transaction);
        await cached.add(unseen, context);
        return cached.holdsFor(context, isUnborn) ? cached : null;
      }
    }
    this.#open.dropView(transaction);
    return TransactionView.over(context, isUnborn, writes);
  }

  /** Runs `act` after all earlier calls of the transaction; refused if one of them ended it. */
  #inTurn<Result>(transaction: OpenTransaction, act: () => Promise<Result>): Promise<Result> {
    return this.#open.using(transaction, () => {
      const result = transaction.turn.then(() => {
        refuseEnded(transaction);
        return act();
      });
      const ended = (): void => {};
      // The caller receives the failure; the next call only waits.
      transaction.turn = result.then(ended, ended);
      return result;
    });
  }

  #rolledBack(transaction: OpenTransaction, error: unknown): unknown {
    this.#open.end(transaction, 'rolled_back');
    return error instanceof EngineError ? asRolledBack(error) : error;
  }
}

/** True if a refusal, or a bug, ends the transaction. */
function isFinal(error: unknown): boolean {
  return !(error instanceof EngineError) || rollsBack(error);
}

function idOf(caller: Caller): string {
  return present(caller.transaction, 'a call within a transaction names it');
}

function refuseEnded({ id, status }: OpenTransaction): void {
  if (status !== 'open') throw hasEnded(id, status);
}

function tooLarge(): EngineError {
  return new EngineError(
    'PayloadTooLarge',
    `the writes of one transaction take at most ${maxTransactionBytes} bytes as JSON: commit in several`,
  );
}

async function operationOf(
  tenant: string,
  { writes, operations }: OpenTransaction,
  slices: Slices,
): Promise<Commit> {
  const retract: Commit['retract'][number][] = [];
  const assert: Commit['assert'][number][] = [];
  let looked = 0;
  for (const { identity, isRetracted, asserted } of writes.facts) {
    if (isRetracted) retract.push(identity);
    if (asserted !== null) assert.push(asserted);
    if ((++looked & 0x3ff) === 0) await slices.breathe();
  }
  const { rules, shape } = writes;
  return {
    kind: 'commit',
    tenant,
    retract,
    assert,
    rules,
    ...(shape.length === 0 ? {} : { shape }),
    operations,
  };
}

/** A copy of the rules with the transaction's operations applied, except to rules that another commit has retracted. */
function rulesOver(committed: RuleStore, { rules: operations }: NetWrites): RuleStore {
  const rules = committed.copy();
  for (const [at, operation] of operations.entries())
    if (operation.kind === 'teach' || rules.get(operation.id) !== null)
      changeRules(rules, operation, { id: `pending-${at}`, time: 0, generation: 0 });
  return rules;
}

/** The relations that the written rules conclude, before and after, with their scopes. */
function writtenRules(
  { rules }: NetWrites,
  committed: RuleStore,
): { readonly relation: string; readonly scope: string | null }[] {
  return rules.flatMap((operation) => {
    const record = operation.kind === 'teach' ? null : committed.get(operation.id);
    const was = record === null ? [] : [{ relation: relationOf(record.rule.head), scope: record.scope }];
    if (operation.kind === 'forgetRule' || operation.rule.rule === null) return was;
    const { rule, scope } = operation.rule;
    return [...was, { relation: relationOf(rule.head), scope }];
  });
}

/**
 * The writes of one transaction. Each is checked immediately like the plain write and invisible to others; a refusal
 * rolls back the whole transaction. Throws TransactionNotFound if it is unknown or another caller's, Conflict if it has
 * ended.
 */
export interface TransactionWrites {
  tell(fact: FactInput & { ifGeneration: number | null }): Promise<Pending>;
  tellAll(facts: readonly FactInput[]): Promise<Pending>;
  forget(input: RetractInput): Promise<Pending>;
  forgetById(id: string): Promise<Pending>;
  teach(rule: RuleInput & { readonly runTests?: boolean }): Promise<Pending>;
  updateRule(id: string, rule: RuleUpdateInput): Promise<Pending>;
  forgetRule(id: string, runTests?: boolean): Promise<Pending>;
  /** An operation on declarations. */
  shape(operation: ShapeOperation): Promise<Pending>;
  addAlias(input: AliasInput): Promise<Pending>;
  removeAlias(input: AliasInput): Promise<Pending>;
  addConstraint(constraint: ConstraintInput): Promise<Pending>;
  updateConstraint(id: string, constraint: ConstraintUpdate): Promise<Pending>;
  deleteConstraint(id: string): Promise<Pending>;
  storeTests(input: StoreTestsInput): Promise<Pending>;
  deleteTests(input: DeletedTests): Promise<Pending>;
}
