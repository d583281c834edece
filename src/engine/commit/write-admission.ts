import { EngineError } from '../base/errors.ts';
import { runInSlices, type Slices } from '../base/slices.ts';
import type { Quota } from '../contract/quotas.ts';
import { canGrow, fittingFacts, type Growth, type GrowingOperation, growthBy } from '../state/growth.ts';
import type { Operation } from '../state/operation.ts';
import { type DatabaseState, newTenant, type State } from '../state/state.ts';
import type { FactToStore } from '../store/fact-store.ts';
import { StoredAmounts } from '../store/stored-amounts.ts';
import type { HighWaterMark } from './high-water-mark.ts';

/** What a write in progress may add; released when the write is applied or has failed. */
export interface Reservation {
  release(): void;
}

/** What a tenant or a database has stored. */
export type StoredUse = Pick<Growth, 'facts' | 'bytes'>;

/** A quota that applies to a write, and whose it is. */
interface AppliedQuota {
  readonly of: 'tenant' | 'database';
  /** In words. */
  readonly whose: string;
  readonly quota: Quota;
  /** The tenants that it covers; null: all. */
  readonly tenant: string | null;
}

/**
 * Decides whether a write may add to what is stored: the quotas of facts and bytes, and the memory of the process.
 *
 * Only growth is refused. A small write of facts that certainly fits reserves what it may add, so that it commits together
 * with others; any other write that can grow is judged in an exclusive commit, by what exactly it would add. Where no
 * quota applies and there is memory, a write costs a few comparisons.
 */
export class WriteAdmission {
  readonly #state: State;
  readonly #memory: HighWaterMark;
  readonly #slices: Slices;
  readonly #reserved = new Set<Reservation & StoredUse & { database: DatabaseState; tenant: string }>();
  /** Number of writes refused by a quota, and for want of memory. */
  readonly refused = { quota: 0, memory: 0 };

  constructor(state: State, memory: HighWaterMark, slices: Slices) {
    this.#state = state;
    this.#memory = memory;
    this.#slices = slices;
  }

  /** Admits a write that need not commit exclusively; null: it must, to be judged. */
  reserve(name: string, operation: Operation, encoded?: Uint8Array): Reservation | null {
    const database = this.#state.databases.get(name);
    // No other operation is written without a check.
    if (operation.kind !== 'assert' || database === undefined) return nothingReserved;
    if (!this.#memory.take(memoryOf(operation, encoded))) return null;
    const quotas = quotasOf(database, operation.tenant);
    if (quotas.length === 0) return nothingReserved;
    if (operation.facts.length > maxReservedFacts) return null;
    const bound = { facts: operation.facts.length, bytes: maxBytesOf(operation.facts) };
    for (const applied of quotas) {
      const used = countedUse(database, applied.tenant);
      if (used === null) return null;
      const reserved = this.#reservedOf(database, applied.tenant);
      const [facts, bytes] = [used.facts + reserved.facts, used.bytes + reserved.bytes];
      if (exceeded(applied.quota, { facts, bytes }, bound) !== null) return null;
    }
    const reservation = {
      database,
      tenant: operation.tenant,
      ...bound,
      release: () => void this.#reserved.delete(reservation),
    };
    this.#reserved.add(reservation);
    return reservation;
  }

  /**
   * Refuses an operation that would add more than is allowed, with QuotaExceeded. In an exclusive commit the judgement is
   * exact; for a dry run it is that of the moment.
   */
  judge(name: string, operation: Operation, time: number, encoded?: Uint8Array): void | Promise<void> {
    if (!canGrow(operation)) return;
    const database = this.#state.database(name);
    const tenant = 'tenant' in operation ? operation.tenant : null;
    const memory = memoryOf(operation, encoded);
    const isLimited = tenant !== null && quotasOf(database, tenant).length > 0;
    if (isLimited || !this.#memory.take(memory))
      return this.#judge(database, operation, tenant, { time, memory });
  }

  /** How many of the facts, from the first on, the tenant may store. */
  async fitting(name: string, tenant: string, facts: Iterable<FactToStore>, time: number): Promise<number> {
    const { tenants, declarations } = this.#state.database(name);
    const store = (tenants.get(tenant) ?? newTenant(time)).facts;
    const refusal = await this.refusals(name, tenant, time);
    const breathe = (): Promise<void> => this.#slices.breathe();
    return runInSlices(
      fittingFacts(store, declarations, time, facts, (growth) => refusal(growth) === null),
      breathe,
    );
  }

  /** What refuses a write of the tenant that adds this much to what is stored now; null: nothing. */
  async refusals(
    name: string,
    tenant: string | null,
    time: number,
  ): Promise<(growth: Growth, memory?: number) => EngineError | null> {
    const quotas: { applied: AppliedQuota; used: StoredUse }[] = [];
    for (const applied of tenant === null ? [] : quotasOf(this.#state.database(name), tenant))
      quotas.push({ applied, used: await this.use(name, applied.tenant, time) });
    return (growth, memory = 0) => {
      for (const { applied, used } of quotas) {
        const found = exceeded(applied.quota, used, growth);
        if (found !== null) return overQuota(applied, found);
      }
      const isRefused = grows(growth) && !this.#memory.take(memory) && !this.#memory.takeAfterRelief(memory);
      return isRefused ? outOfMemory(this.#memory.full()) : null;
    };
  }

  /** What the tenant has stored at this time; null: all tenants of the database together. */
  async use(name: string, tenant: string | null, time: number): Promise<StoredUse> {
    const database = this.#state.database(name);
    const total = { facts: 0, bytes: 0 };
    for (const [each, { facts: store }] of database.tenants) {
      if (tenant !== null && each !== tenant) continue;
      const { facts, bytes } = await StoredAmounts.measured(store, time, this.#slices);
      total.facts += facts;
      total.bytes += bytes;
    }
    return total;
  }

  async #judge(
    database: DatabaseState,
    operation: GrowingOperation,
    tenant: string | null,
    { time, memory }: { readonly time: number; readonly memory: number },
  ): Promise<void> {
    const refusals = await this.refusals(database.name, tenant, time);
    const steps = growthBy(database, operation, time);
    const growth = await runInSlices(steps, () => this.#slices.breathe());
    const refusal = refusals(growth, memory);
    if (refusal === null) return;
    this.refused[refusal.members['quota'] === 'memory' ? 'memory' : 'quota']++;
    throw refusal;
  }

  #reservedOf(database: DatabaseState, tenant: string | null): StoredUse {
    const total = { facts: 0, bytes: 0 };
    for (const reservation of this.#reserved) {
      if (reservation.database !== database) continue;
      if (tenant !== null && reservation.tenant !== tenant) continue;
      total.facts += reservation.facts;
      total.bytes += reservation.bytes;
    }
    return total;
  }
}

/** What the commit pipeline asks before it stamps a write. */
export type GrowthGate = Pick<WriteAdmission, 'reserve' | 'judge'>;

/** Admits every write. */
export const openGate: GrowthGate = { reserve: () => nothingReserved, judge: () => {} };

const nothingReserved: Reservation = { release: () => {} };

/** A larger write is judged exactly. */
const maxReservedFacts = 256;

/** The quotas of stored things that apply to writes of the tenant. */
function quotasOf(database: DatabaseState, tenant: string): AppliedQuota[] {
  if (database.quota === null && database.tenantQuotas.size === 0) return [];
  const found: AppliedQuota[] = [];
  const own = database.tenantQuotas.get(tenant);
  if (own !== undefined && limitsStorage(own))
    found.push({ of: 'tenant', whose: `the tenant ${tenant}`, quota: own, tenant });
  if (database.quota !== null && limitsStorage(database.quota))
    found.push({
      of: 'database',
      whose: `the database ${database.name}`,
      quota: database.quota,
      tenant: null,
    });
  return found;
}

function limitsStorage({ facts, bytes }: Quota): boolean {
  return facts !== null || bytes !== null;
}

/** What is stored, as counted up to now; null if not everything is counted. */
function countedUse(database: DatabaseState, tenant: string | null): StoredUse | null {
  const total = { facts: 0, bytes: 0 };
  for (const [name, { facts: store }] of database.tenants) {
    if (tenant !== null && name !== tenant) continue;
    if (store.amounts?.isComplete !== true) return null;
    total.facts += store.amounts.facts;
    total.bytes += store.amounts.bytes;
  }
  return total;
}

/** The limit that the growth exceeds. */
interface Exceeded {
  readonly quota: 'facts' | 'bytes';
  readonly allowed: number;
  readonly used: number;
  readonly added: number;
}

function exceeded(quota: Quota, used: StoredUse, growth: StoredUse): Exceeded | null {
  for (const name of ['facts', 'bytes'] as const) {
    const allowed = quota[name];
    if (allowed === null || growth[name] <= 0 || used[name] + growth[name] <= allowed) continue;
    return { quota: name, allowed, used: used[name], added: growth[name] };
  }
  return null;
}

function overQuota({ of, whose }: AppliedQuota, { quota, allowed, used, added }: Exceeded): EngineError {
  return new EngineError(
    'QuotaExceeded',
    `this write adds ${added} ${added === 1 ? quota.slice(0, -1) : quota} to the ${used} of ${whose}, whose quota is ${allowed}: ` +
      'retract facts, or ask an administrator for a higher quota',
    { quota, of, allowed, used },
  );
}

function outOfMemory({
  used,
  allowed,
  isHeap,
}: {
  readonly used: number;
  readonly allowed: number;
  readonly isHeap: boolean;
}): EngineError {
  const advice = isHeap
    ? 'start Node with a larger --max-old-space-size'
    : 'raise MEMORY_LIMIT_BYTES, or give the process more memory';
  return new EngineError(
    'QuotaExceeded',
    `the process uses ${used} of the ${allowed} bytes of ${isHeap ? 'heap' : 'memory'} that it may fill with knowledge: ` +
      `delete facts or tenants that are no longer needed, or ${advice}`,
    { quota: 'memory', of: 'process', allowed: Math.floor(allowed), used },
  );
}

function grows({ facts, bytes, rules }: Growth): boolean {
  return facts > 0 || bytes > 0 || rules > 0;
}

/** Copies of a write's text that exist at the same time: its record, the record in the log's buffer, what is stored. */
const copiesOfWrite = 3;

/** An estimate of the memory that the write takes. */
function memoryOf(operation: GrowingOperation, encoded: Uint8Array | undefined): number {
  if (encoded !== undefined) return encoded.length * copiesOfWrite;
  switch (operation.kind) {
    case 'assert':
      return charactersOf(operation.facts) * copiesOfWrite;
    case 'commit':
      return charactersOf(operation.assert) * copiesOfWrite;
    default:
      // Text of these is stored already.
      return 0;
  }
}

function charactersOf(facts: Iterable<FactToStore>): number {
  let characters = 0;
  for (const { args, metadata } of facts) {
    for (const arg of args) characters += arg.length;
    if (metadata !== undefined) characters += JSON.stringify(metadata).length;
  }
  return characters;
}

/** At least the bytes that the facts can add: a character takes up to six, as an escape. */
function maxBytesOf(facts: Iterable<FactToStore>): number {
  let bytes = 0;
  for (const { predicate, args, metadata } of facts) {
    bytes += predicate.length * 3 + 3;
    for (const arg of args) bytes += arg.length * 6 + 4;
    if (metadata !== undefined) bytes += JSON.stringify(metadata).length * 3;
  }
  return bytes;
}
