import type { Caller } from '../base/caller.ts';
import type { Clock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import { NetWrites, type WriteChange } from './net-writes.ts';
import type { Operation } from '../state/operation.ts';
import type { Report } from '../state/report.ts';
import type { LogRecord } from '../log/codec.ts';
import type { TransactionView } from './transaction-view.ts';
import { ValidityTimer } from '../session/validity-timer.ts';

/**
 * The transactions that are open, by id: whose they are, when they began, how long they stay without being used.
 *
 * One that is not used for five minutes is rolled back; one that is being used never is. The latest that ended are
 * remembered for who names them. While transactions are open, what others did to rules is noted here, since rules
 * that are gone leave no trace; and the rows of facts that died since the oldest began are held (`rememberedSince`).
 */
export interface OpenTransaction {
  readonly id: string;
  readonly place: TransactionSpace;
  /** The generation of the database when it began. */
  readonly generation: number;
  expiresAt: number;
  /** Calls that are at it now. */
  active: number;
  status: 'open' | 'committed' | 'rolled_back';
  /** Its commit has begun, and may be durable by now. */
  isCommitting: boolean;
  readonly writes: NetWrites;
  /** Writes that were answered `pending`. */
  operations: number;
  /** What the last question read; null: to be made anew. */
  view: TransactionView | null;
  /** Writes that came since then. */
  unseen: WriteChange[];
  /** Resolves when the call before has ended: writes and the end go one after the other. */
  turn: Promise<unknown>;
}

/** Database, tenant and credential that a transaction is bound to. */
export type TransactionSpace = Pick<Caller, 'database' | 'tenant' | 'credential'>;

interface Ended {
  readonly place: TransactionSpace;
  readonly how: 'committed' | 'rolled_back';
}

/** Of one database: its open transactions, by tenant, and what became of rules since. */
interface OpenIn {
  readonly tenants: Map<string, Siblings>;
  /** By rule the generation of its last change. */
  readonly rules: Map<string, number>;
  rulesBeforePruning: number;
}

/** The open transactions of one tenant, in the order of their begin. */
interface Siblings {
  readonly open: Set<OpenTransaction>;
  bytes: number;
}

const idleMs = 5 * 60_000;
const usualLimits = {
  /** Open transactions of one tenant. */
  open: 10_000,
  /** Ended ones that are remembered. */
  ended: 100_000,
  /** What all that are open hold together. */
  bytes: 512 * 1024 * 1024,
  /** What those of one tenant hold together, so that it leaves room for the others. */
  bytesOfTenant: 384 * 1024 * 1024,
};
/** About what an open transaction takes beside its writes. */
const bytesOfOne = 1024;
/** So many views are kept for further questions. */
const mostViews = 64;
const fewRules = 1000;

export class OpenTransactions {
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #timer: ValidityTimer;
  readonly #limits: typeof usualLimits;
  /** Those unused for longest first. */
  readonly #open = new Map<string, OpenTransaction>();
  readonly #ended = new Map<string, Ended>();
  readonly #databases = new Map<string, OpenIn>();
  /** Those that hold a view, used longest ago first. */
  readonly #viewed = new Set<OpenTransaction>();
  #bytes = 0;
  #now = 0;

  /** `newId` makes ids that nobody can guess. */
  constructor(clock: Clock, newId: () => string, limits: Partial<typeof usualLimits> = {}) {
    this.#clock = clock;
    this.#limits = { ...usualLimits, ...limits };
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

  begin({ database, tenant, credential }: Caller, generation: number): OpenTransaction {
    const now = this.#expire();
    let siblings = this.#databases.get(database)?.tenants.get(tenant);
    if (siblings !== undefined && siblings.open.size >= this.#limits.open)
      throw tooMany(
        `the tenant has ${this.#limits.open} open transactions: commit or roll back some of them`,
      );
    this.refuseMore({ database, tenant }, bytesOfOne);
    if (siblings === undefined)
      this.#openIn(database).tenants.set(tenant, (siblings = { open: new Set(), bytes: 0 }));
    const transaction: OpenTransaction = {
      id: this.#newId(),
      place: { database, tenant, credential },
      generation,
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
    this.#take(transaction.place, bytesOfOne);
    this.#timer.expect(transaction.expiresAt);
    return transaction;
  }

  /** The open transaction of the caller. Refused with TransactionNotFound or, where it has ended, with Conflict. */
  require(caller: Caller, id: string): OpenTransaction {
    this.#expire();
    const open = this.#open.get(id);
    if (open !== undefined && isAt(open.place, caller)) return open;
    const ended = this.#ended.get(id);
    if (ended !== undefined && isAt(ended.place, caller)) throw hasEnded(id, ended.how);
    throw new EngineError(
      'TransactionNotFound',
      'there is no such transaction of this database, tenant and credential: begin one with POST /tx/begin',
    );
  }

  find(caller: Caller, id: string): OpenTransaction | null {
    this.#expire();
    const open = this.#open.get(id);
    return open !== undefined && isAt(open.place, caller) ? open : null;
  }

  /** Does what the caller wants of it while it cannot be rolled back for being idle. */
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

  /** Refuses so many bytes more where the tenant's open transactions, or all of them together, have no room for them. */
  refuseMore({ database, tenant }: Pick<TransactionSpace, 'database' | 'tenant'>, bytes: number): void {
    const held = this.#databases.get(database)?.tenants.get(tenant)?.bytes ?? 0;
    if (held + bytes > this.#limits.bytesOfTenant)
      throw tooMany('the open transactions of the tenant hold as much as they may: end some of them');
    if (this.#bytes + bytes > this.#limits.bytes)
      throw tooMany(
        'all open transactions together hold as much as they may: try again when some have ended',
      );
  }

  /** Does what changes its writes, and keeps account of what they take. */
  writing(transaction: OpenTransaction, write: () => void): void {
    const before = transaction.writes.bytes;
    try {
      write();
    } finally {
      if (transaction.status === 'open') this.#take(transaction.place, transaction.writes.bytes - before);
    }
  }

  /** The view was used, and is kept unless many others are used after it. */
  viewed(transaction: OpenTransaction, view: TransactionView): void {
    if (transaction.status !== 'open') return;
    transaction.view = view;
    this.#viewed.delete(transaction);
    this.#viewed.add(transaction);
    const [oldest] = this.#viewed;
    if (this.#viewed.size > mostViews && oldest !== undefined) this.dropView(oldest);
  }

  dropView(transaction: OpenTransaction): void {
    transaction.view = null;
    transaction.unseen = [];
    this.#viewed.delete(transaction);
  }

  end(transaction: OpenTransaction, how: 'committed' | 'rolled_back'): void {
    if (transaction.status !== 'open') return;
    transaction.status = how;
    const { id, place, writes } = transaction;
    this.dropView(transaction);
    this.#open.delete(id);
    this.#take(place, -(bytesOfOne + writes.bytes));
    this.#ended.set(id, { place, how });
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= this.#limits.ended) break;
      this.#ended.delete(oldest);
    }
    const openIn = this.#openIn(place.database);
    const siblings = openIn.tenants.get(place.tenant);
    siblings?.open.delete(transaction);
    if (siblings?.open.size === 0) openIn.tenants.delete(place.tenant);
    if (openIn.tenants.size === 0) this.#databases.delete(place.database);
  }

  /** The generation at which the oldest open transaction of the tenant began; Infinity: none is open. */
  rememberedSince(database: string, tenant: string): number {
    const siblings = this.#databases.get(database)?.tenants.get(tenant);
    if (siblings === undefined) return Number.POSITIVE_INFINITY;
    for (const oldest of siblings.open) return oldest.generation;
    return Number.POSITIVE_INFINITY;
  }

  /** The generation after the begin of the oldest open transaction that last changed the rule; 0: none did. */
  ruleChangedAt(database: string, rule: string | RuleKey): number {
    return this.#databases.get(database)?.rules.get(noteOf(rule)) ?? 0;
  }

  /** To be told of every change in the turn in which it is made. */
  applied(record: LogRecord, { database, rules, generation }: Report): void {
    const openIn = this.#databases.get(database.name);
    if (openIn !== undefined)
      for (const { after, before, isChange } of rules) {
        if (!isChange) continue;
        for (const each of before === null ? [after] : [after, before])
          for (const note of [noteOf(each.id), noteOf(each)]) openIn.rules.set(note, generation);
      }
    if (openIn !== undefined && openIn.rules.size > openIn.rulesBeforePruning) prune(openIn);
    this.#cleared(record.operation as Operation, database.name);
  }

  /** What is written of facts that are all gone stands against that; with a database all is forgotten. */
  #cleared(operation: Operation, database: string): void {
    const { kind } = operation;
    if (kind === 'deleteTenant' || kind === 'nukeTenant') this.#endAll(database, operation.tenant);
    if (kind === 'nukeDatabase' || kind === 'deleteDatabase') this.#endAll(database, null);
    if (kind !== 'deleteDatabase') return;
    for (const [id, { place }] of this.#ended) if (place.database === database) this.#ended.delete(id);
  }

  #endAll(database: string, tenant: string | null): void {
    const tenants = this.#databases.get(database)?.tenants ?? new Map<string, Siblings>();
    for (const [name, { open }] of tenants)
      if (tenant === null || tenant === name) for (const each of open) this.end(each, 'rolled_back');
  }

  /** So many bytes more are held; fewer where it is negative. */
  #take({ database, tenant }: TransactionSpace, bytes: number): void {
    this.#bytes += bytes;
    const siblings = this.#databases.get(database)?.tenants.get(tenant);
    if (siblings !== undefined) siblings.bytes += bytes;
  }

  #openIn(database: string): OpenIn {
    let openIn = this.#databases.get(database);
    if (openIn === undefined) {
      openIn = { tenants: new Map(), rules: new Map(), rulesBeforePruning: fewRules };
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

  /** Rolls back what was not used for too long; returns the time. */
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

  /** A clock that is set back rolls nothing forward. */
  #time(): number {
    this.#now = Math.max(this.#now, this.#clock.now());
    return this.#now;
  }
}

/** What makes two rules the same one. */
export type RuleKey = Pick<RuleRecord, 'identity' | 'scope'>;

function noteOf(rule: string | RuleKey): string {
  return typeof rule === 'string' ? `#${rule}` : JSON.stringify([rule.scope, rule.identity]);
}

/** Forgets changes of rules from before every transaction that is open now. */
function prune(openIn: OpenIn): void {
  let oldest = Number.POSITIVE_INFINITY;
  for (const siblings of openIn.tenants.values())
    for (const { generation } of siblings.open) {
      oldest = Math.min(oldest, generation);
      break;
    }
  for (const [note, generation] of openIn.rules) if (generation <= oldest) openIn.rules.delete(note);
  openIn.rulesBeforePruning = Math.max(fewRules, openIn.rules.size * 2);
}

function isAt(place: TransactionSpace, caller: TransactionSpace): boolean {
  return (
    place.database === caller.database &&
    place.tenant === caller.tenant &&
    place.credential === caller.credential
  );
}

/** A transaction that was committed or rolled back takes part in nothing more. */
export function hasEnded(id: string, how: 'committed' | 'rolled_back'): EngineError {
  const what = how === 'committed' ? 'was committed' : 'was rolled back';
  return new EngineError('Conflict', `the transaction ${id} ${what}: begin another one`);
}

function tooMany(what: string): EngineError {
  return new EngineError('RateLimited', what, { retryAfterSeconds: 5 });
}
