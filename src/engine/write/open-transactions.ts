import type { Caller } from '../base/caller.ts';
import { type Clock, ValidityTimer } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { NetWrites, type WriteChange } from './net-writes.ts';
import type { Operation, ShapeOperation } from '../state/operation.ts';
import type { ShapeChange } from '../state/apply-shape.ts';
import type { Report } from '../state/report.ts';
import type { LogRecord } from '../log/codec.ts';
import type { TransactionView } from './transaction-view.ts';

/** One open transaction. */
export interface OpenTransaction {
  readonly id: string;
  readonly space: TransactionSpace;
  /** The generation of the database when it began. */
  readonly generation: number;
  /** On the monotonic clock. */
  readonly begunAt: number;
  expiresAt: number;
  /** Number of calls that are using it now. */
  active: number;
  status: 'open' | 'committed' | 'rolled_back';
  /** Its commit has begun and may already be durable. */
  isCommitting: boolean;
  readonly writes: NetWrites;
  /** Writes answered `pending`. */
  operations: number;
  /** The view of the last question; null: must be built. */
  view: TransactionView | null;
  /** Writes since that view was built. */
  unseen: WriteChange[];
  /** Resolves when the previous call has ended; writes, commit and rollback run one after the other. */
  turn: Promise<unknown>;
}

/** The database, tenant and credential that a transaction is bound to. */
type TransactionSpace = Pick<Caller, 'database' | 'tenant' | 'credential'>;

interface Ended {
  readonly space: TransactionSpace;
  readonly how: 'committed' | 'rolled_back';
}

/** Open transactions of one database, by tenant, and the rule changes since they began. */
interface OpenIn {
  readonly tenants: Map<string, Siblings>;
  /** The generation of the last change, by rule. */
  readonly rules: Map<string, number>;
  rulesBeforePruning: number;
}

/** The open transactions of one tenant, oldest first. */
interface Siblings {
  readonly open: Set<OpenTransaction>;
  bytes: number;
}

/** A transaction that no call uses for this long is rolled back. */
export const idleMs = 5 * 60_000;
const defaultLimits = {
  /** Open transactions per tenant. */
  open: 10_000,
  /** Ended transactions that are remembered. */
  ended: 100_000,
  /** Bytes of all open transactions together. */
  bytes: 512 * 1024 * 1024,
  /** Bytes of one tenant's open transactions, which leaves room for other tenants. */
  bytesOfTenant: 384 * 1024 * 1024,
};
/** Approximate size of an open transaction without its writes. */
const bytesPerTransaction = 1024;
/** Maximum number of cached views. */
const maxCachedViews = 64;
const minRulesToPrune = 1000;

/**
 * The open transactions by id. One that is idle for five minutes is rolled back, unless a call is using it. The most
 * recently ended ones are remembered to explain late calls. Rule changes are recorded here while transactions are open,
 * because retracted rules leave no trace; `rememberedSince` keeps the tombstones of facts since the oldest one began.
 */
export class OpenTransactions {
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #timer: ValidityTimer;
  readonly #limits: typeof defaultLimits;
  /** Least recently used first. */
  readonly #open = new Map<string, OpenTransaction>();
  readonly #ended = new Map<string, Ended>();
  readonly #databases = new Map<string, OpenIn>();
  /** Those with a cached view, least recently used first. */
  readonly #viewed = new Set<OpenTransaction>();
  #bytes = 0;
  #now = 0;

  /** True for the id of a transaction that can have been lost with the node that it began at. */
  isOfEarlierOwner: (id: string) => boolean = () => false;
  /** Called in the turn in which a transaction ended. */
  onEnded: (space: Pick<TransactionSpace, 'database' | 'tenant'>) => void = () => {};

  /** `clock` is a monotonic one; `newId` makes unguessable ids. */
  constructor(clock: Clock, newId: () => string, limits: Partial<typeof defaultLimits> = {}) {
    this.#clock = clock;
    this.#limits = { ...defaultLimits, ...limits };
    this.#newId = newId;
    this.#timer = new ValidityTimer({
      clock,
      next: () => this.#nextExpiry(),
      reached: () => this.#expire(),
    });
  }

  close(): void {
    this.#timer.close();
  }

  get count(): number {
    this.#expire();
    return this.#open.size;
  }

  /** Number of open transactions of the tenant; null: of all tenants of the database. */
  countIn(database: string, tenant: string | null): number {
    this.#expire();
    let count = 0;
    for (const [name, { open }] of this.#databases.get(database)?.tenants ?? [])
      if (tenant === null || name === tenant) count += open.size;
    return count;
  }

  begin({ database, tenant, credential }: Caller, generation: number): OpenTransaction {
    const now = this.#expire();
    let siblings = this.#databases.get(database)?.tenants.get(tenant);
    if (siblings !== undefined && siblings.open.size >= this.#limits.open)
      throw tooMany(
        `the tenant has ${this.#limits.open} open transactions: commit or roll back some of them`,
      );
    this.refuseMore({ database, tenant }, bytesPerTransaction);
    if (siblings === undefined)
      this.#openIn(database).tenants.set(tenant, (siblings = { open: new Set(), bytes: 0 }));
    const transaction: OpenTransaction = {
      id: this.#newId(),
      space: { database, tenant, credential },
      generation,
      begunAt: now,
      expiresAt: now + idleMs,
      active: 0,
      status: 'open',
      isCommitting: false,
      writes: new NetWrites(),
      operations: 0,
      view: null,
      unseen: [],
      turn: Promise.resolve(),
    };
    siblings.open.add(transaction);
    this.#open.set(transaction.id, transaction);
    this.#take(transaction.space, bytesPerTransaction);
    this.#timer.expect(transaction.expiresAt);
    return transaction;
  }

  /** Ends all: another node continues the log, and would not see their writes. */
  loseAll(): void {
    for (const transaction of this.#open.values()) {
      this.end(transaction, 'rolled_back');
      this.#ended.delete(transaction.id);
    }
  }

  /** The open transaction of the caller. Throws TransactionNotFound, TransactionLost, or Conflict if it has ended. */
  require(caller: Caller, id: string): OpenTransaction {
    this.#expire();
    const open = this.#open.get(id);
    if (open !== undefined && isBoundTo(open.space, caller)) return open;
    const ended = this.#ended.get(id);
    if (ended !== undefined && isBoundTo(ended.space, caller)) throw hasEnded(id, ended.how);
    if (this.isOfEarlierOwner(id))
      throw new EngineError(
        'TransactionLost',
        'another node has taken the log since this transaction began: nothing of it was stored. Begin again',
      );
    throw new EngineError(
      'TransactionNotFound',
      'there is no such transaction of this database, tenant and credential: begin one with POST /tx/begin',
    );
  }

  find(caller: Caller, id: string): OpenTransaction | null {
    this.#expire();
    const open = this.#open.get(id);
    return open !== undefined && isBoundTo(open.space, caller) ? open : null;
  }

  /** Runs `act` while protecting the transaction from the idle timeout. */
  async using<Result>(transaction: OpenTransaction, act: () => Promise<Result>): Promise<Result> {
    transaction.active++;
    this.#touch(transaction);
    try {
      return await act();
    } finally {
      transaction.active--;
      this.#touch(transaction);
    }
  }

  /**
   * Throws RateLimited if the tenant's open transactions, or all of them together, have no room for this many more
   * bytes.
   */
  refuseMore({ database, tenant }: Pick<TransactionSpace, 'database' | 'tenant'>, bytes: number): void {
    const used = this.#databases.get(database)?.tenants.get(tenant)?.bytes ?? 0;
    if (used + bytes > this.#limits.bytesOfTenant)
      throw tooMany('the open transactions of the tenant have reached their memory limit: end some of them');
    if (this.#bytes + bytes > this.#limits.bytes)
      throw tooMany(
        'all open transactions together have reached their memory limit: try again when some have ended',
      );
  }

  /** Runs `write`, which changes the writes, and accounts for the bytes. */
  writing(transaction: OpenTransaction, write: () => void): void {
    const before = transaction.writes.bytes;
    try {
      write();
    } finally {
      if (transaction.status === 'open') this.#take(transaction.space, transaction.writes.bytes - before);
    }
  }

  /** Caches a view that was just used and evicts the least recently used one. */
  viewed(transaction: OpenTransaction, view: TransactionView): void {
    if (transaction.status !== 'open') return;
    transaction.view = view;
    this.#viewed.delete(transaction);
    this.#viewed.add(transaction);
    const [oldest] = this.#viewed;
    if (this.#viewed.size > maxCachedViews && oldest !== undefined) this.dropView(oldest);
  }

  dropView(transaction: OpenTransaction): void {
    transaction.view = null;
    transaction.unseen = [];
    this.#viewed.delete(transaction);
  }

  end(transaction: OpenTransaction, how: 'committed' | 'rolled_back'): void {
    if (transaction.status !== 'open') return;
    transaction.status = how;
    const { id, space, writes } = transaction;
    this.dropView(transaction);
    this.#open.delete(id);
    this.#take(space, -(bytesPerTransaction + writes.bytes));
    this.#ended.set(id, { space, how });
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= this.#limits.ended) break;
      this.#ended.delete(oldest);
    }
    const openIn = this.#openIn(space.database);
    const siblings = openIn.tenants.get(space.tenant);
    siblings?.open.delete(transaction);
    if (siblings?.open.size === 0) openIn.tenants.delete(space.tenant);
    if (openIn.tenants.size === 0) this.#databases.delete(space.database);
    this.onEnded(space);
  }

  /** For how many milliseconds the oldest one has been open; 0: none is. */
  get oldestMs(): number {
    const now = this.#expire();
    let oldest = now;
    for (const { tenants } of this.#databases.values())
      for (const { open } of tenants.values())
        for (const { begunAt } of open) {
          oldest = Math.min(oldest, begunAt);
          break;
        }
    return now - oldest;
  }

  /** The generation at which the tenant's oldest open transaction began; Infinity: none is open. */
  rememberedSince(database: string, tenant: string): number {
    const siblings = this.#databases.get(database)?.tenants.get(tenant);
    if (siblings === undefined) return Number.POSITIVE_INFINITY;
    for (const oldest of siblings.open) return oldest.generation;
    return Number.POSITIVE_INFINITY;
  }

  /** The generation in which the rule was last changed since the oldest open transaction began; 0: unchanged. */
  ruleChangedAt(database: string, rule: string | RuleKey): number {
    return this.#databases.get(database)?.rules.get(noteOf(rule)) ?? 0;
  }

  /** Like `ruleChangedAt`, for what an operation of the tenant changes. */
  shapeChangedAt(database: string, tenant: string, operation: ShapeOperation): number {
    return this.#databases.get(database)?.rules.get(noteOfOperation(operation, tenant)) ?? 0;
  }

  /** Must be called for every change, in the same turn. */
  applied(record: LogRecord, { database, tenant, rules, shape, generation }: Report): void {
    const openIn = this.#databases.get(database.name);
    if (openIn !== undefined)
      for (const { after, before, isChange } of rules) {
        if (!isChange) continue;
        for (const each of before === null ? [after] : [after, before])
          for (const note of [noteOf(each.id), noteOf(each)]) openIn.rules.set(note, generation);
      }
    if (openIn !== undefined)
      for (const change of shape)
        if (change.isChange) openIn.rules.set(noteOfChange(change, tenant), generation);
    if (openIn !== undefined && openIn.rules.size > openIn.rulesBeforePruning) prune(openIn);
    this.#cleared(record.operation as Operation, database.name);
  }

  /** Clearing a tenant or database rolls back its transactions; deleting a database also forgets the ended ones. */
  #cleared(operation: Operation, database: string): void {
    const { kind } = operation;
    if (kind === 'deleteTenant' || kind === 'nukeTenant') this.#endAll(database, operation.tenant);
    if (kind === 'nukeDatabase' || kind === 'deleteDatabase') this.#endAll(database, null);
    if (kind !== 'deleteDatabase') return;
    for (const [id, { space }] of this.#ended) if (space.database === database) this.#ended.delete(id);
  }

  #endAll(database: string, tenant: string | null): void {
    const tenants = this.#databases.get(database)?.tenants ?? new Map<string, Siblings>();
    for (const [name, { open }] of tenants)
      if (tenant === null || tenant === name) for (const each of open) this.end(each, 'rolled_back');
  }

  /** Accounts for this many more bytes; negative: fewer. */
  #take({ database, tenant }: TransactionSpace, bytes: number): void {
    this.#bytes += bytes;
    const siblings = this.#databases.get(database)?.tenants.get(tenant);
    if (siblings !== undefined) siblings.bytes += bytes;
  }

  #openIn(database: string): OpenIn {
    let openIn = this.#databases.get(database);
    if (openIn === undefined) {
      openIn = { tenants: new Map(), rules: new Map(), rulesBeforePruning: minRulesToPrune };
      this.#databases.set(database, openIn);
    }
    return openIn;
  }

  #touch(transaction: OpenTransaction): void {
    if (transaction.status !== 'open') return;
    transaction.expiresAt = this.#time() + idleMs;
    this.#open.delete(transaction.id);
    this.#open.set(transaction.id, transaction);
    this.#timer.expect(transaction.expiresAt);
  }

  /** Rolls back idle transactions; returns the time. */
  #expire(): number {
    const now = this.#time();
    for (const transaction of this.#open.values()) {
      if (transaction.expiresAt > now) break;
      if (transaction.active === 0) this.end(transaction, 'rolled_back');
    }
    return now;
  }

  #nextExpiry(): number {
    for (const { expiresAt, active } of this.#open.values()) if (active === 0) return expiresAt;
    return Number.POSITIVE_INFINITY;
  }

  /** The time, which never goes back even if the clock does. */
  #time(): number {
    this.#now = Math.max(this.#now, this.#clock.now());
    return this.#now;
  }
}

/** The identity of a rule: two rules with the same key are the same. */
export type RuleKey = Pick<RuleRecord, 'identity' | 'scope'>;

function noteOf(rule: string | RuleKey): string {
  return typeof rule === 'string' ? `#${rule}` : JSON.stringify([rule.scope, rule.identity]);
}

/** What a transaction notes of a declaration, constraint, test or alias. */
function noteOfOperation(operation: ShapeOperation, tenant: string): string {
  switch (operation.kind) {
    case 'declare': {
      const { name, arity } = operation.declaration;
      return `declaration ${name}/${arity}`;
    }
    case 'withdraw':
      return `declaration ${operation.name}/${operation.arity}`;
    case 'addConstraint':
      // A new one changes none that another could have changed.
      return 'constraint';
    case 'updateConstraint':
    case 'deleteConstraint':
      return `constraint ${operation.id}`;
    case 'putTest':
      return `test ${operation.test.name}`;
    case 'deleteTest':
      return `test ${operation.name}`;
    case 'addAlias':
    case 'removeAlias':
      return JSON.stringify(['alias', tenant, operation.alias]);
  }
}

function noteOfChange({ kind, before, after }: ShapeChange, tenant: string | null): string {
  const changed = after ?? before;
  if (changed === null) return kind;
  if (kind === 'alias' && 'alias' in changed) return JSON.stringify(['alias', tenant, changed.alias]);
  if (kind === 'test' && 'updatedAt' in changed) return `test ${changed.name}`;
  if ('arity' in changed) return `declaration ${changed.name}/${changed.arity}`;
  return `constraint ${'id' in changed ? changed.id : ''}`;
}

/** Drops rule changes from before every open transaction. */
function prune(openIn: OpenIn): void {
  let oldest = Number.POSITIVE_INFINITY;
  for (const siblings of openIn.tenants.values())
    for (const { generation } of siblings.open) {
      oldest = Math.min(oldest, generation);
      break;
    }
  for (const [note, generation] of openIn.rules) if (generation <= oldest) openIn.rules.delete(note);
  openIn.rulesBeforePruning = Math.max(minRulesToPrune, openIn.rules.size * 2);
}

function isBoundTo(space: TransactionSpace, caller: TransactionSpace): boolean {
  return (
    space.database === caller.database &&
    space.tenant === caller.tenant &&
    space.credential === caller.credential
  );
}

/** The Conflict for a transaction that was committed or rolled back. */
export function hasEnded(id: string, how: 'committed' | 'rolled_back'): EngineError {
  const what = how === 'committed' ? 'was committed' : 'was rolled back';
  return new EngineError('Conflict', `the transaction ${id} ${what}: begin another one`);
}

function tooMany(what: string): EngineError {
  return new EngineError('RateLimited', what, { retryAfterSeconds: 5 });
}

/** Statuses of refusals that roll back the whole transaction. */
const rollingBack: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422, 507]);

/** True if this refusal of a write rolls back its transaction: it concerns content or outcome, not the caller. */
export function rollsBack(error: EngineError): boolean {
  return rollingBack.has(error.status);
}

/** The refusal, marked as having rolled back the transaction. */
export function asRolledBack(error: EngineError): EngineError {
  const members = { ...error.members, transaction: 'rolled_back' };
  return new EngineError(error.code, error.message, members, { cause: error });
}
