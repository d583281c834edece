/**
 * Joins a store in PostgreSQL as a node: checks the server, makes the tables, and then opens logs, taking each, or holding a
 * copy of it while another node has it.
 *
 * A node is a row with a lease that it renews; leases decide when another node may take a log, and only the server's clock
 * counts. What is wrong with the server is refused in one line, before anything of the knowledge is read.
 */
import { randomUUID } from 'node:crypto';
import { assert, present } from '../base/assert.ts';
import { type FolderKey, sealingOf } from './cipher.ts';
import { SALT_BYTES } from './codec.ts';
import {
  PostgresConnection,
  type SessionSettings,
  StatementFailed,
  unsafeSetting,
} from './postgres-connection.ts';
import { PostgresLog, STORE_FORMAT, tables, upgrades } from './postgres-log.ts';
import { PostgresLogs } from './postgres-logs.ts';
import { PostgresStore, type StoreNode } from './postgres-store.ts';
import type { NodeReport, SharedNode } from './shared-store.ts';
import { StartupError } from './startup-error.ts';

/** What a store in PostgreSQL needs. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Where other nodes reach this node's service. */
  readonly address: string;
  /** The highest version of operations that this program reads. */
  readonly readsVersion: number;
  readonly key: FolderKey | null;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
  /** Is told how the server may lose what it confirmed, though it may be used. Absent: nobody needs to know. */
  readonly onUnsafe?: (message: string) => void;
  /** Receives the duration of each append, in milliseconds, and its number of records. */
  readonly onAppend?: (elapsedMs: number, records: number) => void;
  /** How long a node is believed to live after its last sign of life, in milliseconds; default 3,000. */
  readonly leaseMs?: number;
}

/** Connections for appends: those of one log go over the same. */
const WRITERS = 4;
const BEAT_MS = 500;
const BEAT_LIMIT_MS = 2000;
const LEASE_MS = 3000;
/** An answer that is late by less than this still renews the lease. */
const LAPSE_MS = 50;
/** A node whose clock is further off stores nothing. */
const MAX_SKEW_MS = 2000;
const OLDEST_SERVER = 130_000;
/** Any number: only one node creates the tables at a time. */
const CREATION_LOCK = 7_263_549_127;

/** What a node says of itself with each beat. */
type NodeBeat = NodeReport & Pick<SharedNode, 'position' | 'takes'> & { readonly holds: number };

/**
 * This process as a node of a store: its connections, its lease, and the logs that it opens. Ended logs stay closed; those
 * that have a database are opened by whoever wants to answer for it.
 */
export class PostgresNode {
  readonly logs: PostgresLogs;
  readonly #options: PostgresOptions;
  readonly #lease: LivingNode;
  readonly #writers: readonly PostgresConnection[];
  readonly #reader: PostgresConnection;
  readonly #poller: PostgresConnection;
  readonly #stores = new Set<PostgresStore>();

  private constructor(options: PostgresOptions) {
    const connection = (): PostgresConnection => new PostgresConnection(options.url);
    this.#options = options;
    this.#writers = Array.from({ length: WRITERS }, connection);
    this.#reader = connection();
    this.#poller = connection();
    this.#lease = new LivingNode(options);
    this.logs = new PostgresLogs({ writer: this.#writer(0), poller: this.#poller });
    this.#lease.report = () => this.#report();
    this.#lease.onBeat = () => {
      for (const store of this.#stores) store.beaten();
    };
    this.#lease.onLapse = () => {
      // No other node can have taken a log, and none would answer in place of this one.
      if (!this.logs.hasOthers(this.id)) return;
      for (const store of this.#stores) store.lapse();
    };
    this.#lease.onClockOff = async () => {
      for (const store of this.#stores) await store.stepDown();
    };
  }

  /** Checks the server, makes the tables, and joins. Rejects with a StartupError, having at most created the tables. */
  static async join(options: PostgresOptions): Promise<PostgresNode> {
    const node = new PostgresNode(options);
    try {
      const writer = node.#writer(0);
      await checkServer(writer, options);
      await refusable(() => createTables(writer));
      await refusable(() => markTables(writer, options));
      await refusable(() => checkStore(writer, options));
      await refusable(() => upgradeTables(writer));
      await refusable(() => node.#lease.join());
      await refusable(() => node.logs.sweep(node.id));
      return node;
    } catch (error) {
      await node.close();
      throw error;
    }
  }

  get id(): string {
    return this.#lease.id;
  }

  /**
   * Takes the log if no other living node has it, else opens a copy. `waits`: a copy of nothing would be of no use, so it waits
   * until the owner has begun the log. Rejects with a StartupError.
   */
  async open(id: number, waits: boolean, onWarn = this.#options.onWarn): Promise<PostgresStore> {
    const store = await refusable(() => this.#taken(id, waits, onWarn));
    this.#stores.add(store);
    return store;
  }

  /** Opens a log to read it once, whoever has it. Rejects with a StartupError. */
  async openToRead(id: number): Promise<PostgresStore> {
    const { log, storeOptions } = this.#partsOf(id, this.#options.onWarn);
    return refusable(() => PostgresStore.copy(log, this.#lease, storeOptions));
  }

  #partsOf(id: number, onWarn: PostgresOptions['onWarn']) {
    const connections = { writer: this.#writer(id), reader: this.#reader, poller: this.#poller };
    const { key, now, random, onAppend = () => {} } = this.#options;
    const closed = (store: PostgresStore): void => void this.#stores.delete(store);
    const storeOptions = { key, now, random, onWarn, onAppend, pause, closed };
    return { log: new PostgresLog(id, connections, this.logs), storeOptions };
  }

  async #taken(id: number, waits: boolean, onWarn: PostgresOptions['onWarn']): Promise<PostgresStore> {
    const { log, storeOptions } = this.#partsOf(id, onWarn);
    for (;;) {
      const store = await PostgresStore.take(log, this.#lease, storeOptions);
      if (store !== null) return store;
      const { lastSequence } = await log.row();
      if (lastSequence > 0 || !waits) return PostgresStore.copy(log, this.#lease, storeOptions);
      await pause();
    }
  }

  /** What all open logs amount to; null: none is open yet. */
  #report(): NodeBeat | null {
    const [one] = this.#stores;
    if (one === undefined) return null;
    const all = { position: 0, takes: 0, staleMs: 0, holds: this.#stores.size };
    let problem: string | null = null;
    for (const { lastSequence, shared } of this.#stores) {
      const told = shared.report();
      all.position += lastSequence;
      all.takes += shared.term;
      all.staleMs = Math.max(all.staleMs, told.staleMs);
      problem ??= told.problem;
    }
    return { ...all, problem, ...one.shared.memory() };
  }

  #writer(id: number): PostgresConnection {
    return present(this.#writers[id % WRITERS], 'there are that many');
  }

  /** Ends the lease and the connections; the logs are closed before. */
  async close(): Promise<void> {
    await this.#lease.close();
    await Promise.all([...this.#writers, this.#reader, this.#poller].map((each) => each.close()));
  }
}

/** This process as a node: its row, and the lease that it renews on a connection of its own. */
class LivingNode implements StoreNode {
  readonly id = randomUUID();
  readonly #connection: PostgresConnection;
  readonly #options: PostgresOptions;
  readonly #leaseMs: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #trouble: string | null = null;
  #isClosed = false;
  onBeat: () => void = () => {};
  onClockOff: () => Promise<void> = () => Promise.resolve();
  /** Called when the lease has run out by this machine's clock, since it could not be renewed. */
  onLapse: () => void = () => {};
  #lapseTimer: ReturnType<typeof setTimeout> | null = null;
  #clockSkewMs = 0;
  #writesVersion = 0;
  /** What it tells of itself; null: the store is being opened. */
  report: () => NodeBeat | null = () => null;

  constructor(options: PostgresOptions) {
    this.#options = options;
    this.#connection = new PostgresConnection(options.url);
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
  }

  get trouble(): string | null {
    return this.#trouble;
  }

  get clockSkewMs(): number {
    return this.#clockSkewMs;
  }

  get writesVersion(): number {
    return this.#writesVersion;
  }

  /**
   * Adds the row, and renews the lease from now on. Rejects with a StatementFailed, or with a StartupError if operations are
   * written that this program does not read.
   */
  async join(): Promise<void> {
    await this.#connection.run(
      `DELETE FROM corollary.node n WHERE n.lease_until < clock_timestamp() - interval '1 hour'
  AND NOT EXISTS (SELECT FROM corollary.log l WHERE l.owner = n.id)`,
    );
    await this.#beat();
    // Whoever raises it has seen the row, or has raised it by now: that holds the row of the store.
    const { rows } = await this.#connection.run<{ writes: number }>(
      'SELECT writes_version AS writes FROM corollary.store FOR SHARE',
    );
    requireRead(present(rows[0], 'it was checked').writes, this.#options.readsVersion);
    this.#schedule();
  }

  /** Ends the lease. Never rejects: it also ends by itself. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#lapseTimer !== null) clearTimeout(this.#lapseTimer);
    try {
      if (this.#trouble === null && this.#timer !== null)
        await this.#connection.run('DELETE FROM corollary.node WHERE id = $1', [this.id], BEAT_LIMIT_MS);
    } catch (error) {
      this.#options.onWarn(`The node could not sign off; its lease ends by itself: ${String(error)}`);
    }
    await this.#connection.close();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#beat()
        .then(
          () => this.#became(null),
          (error: unknown) => this.#became(error instanceof Error ? error : new Error(String(error))),
        )
        .finally(() => {
          if (!this.#isClosed) this.#schedule();
        });
    }, BEAT_MS);
    this.#timer.unref();
  }

  async #beat(): Promise<void> {
    const { address, readsVersion, now } = this.#options;
    const report = this.report();
    const before = now();
    const sentAt = performance.now();
    const { rows } = await this.#connection.run<{ now: number; writes: number }>(
      `INSERT INTO corollary.node (id, address, program, reads_version, lease_until, position, stale_ms, takes, used_bytes,
  memory_bytes, problem, holds)
VALUES ($1, $2, 'corollary', $3, clock_timestamp() + $4 * interval '1 ms', $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, position = excluded.position,
  stale_ms = excluded.stale_ms, takes = excluded.takes, used_bytes = excluded.used_bytes,
  memory_bytes = excluded.memory_bytes, problem = excluded.problem, holds = excluded.holds
RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
  (SELECT writes_version FROM corollary.store) AS writes`,
      [
        this.id,
        address,
        readsVersion,
        this.#leaseMs,
        report?.position ?? 0,
        report?.staleMs ?? 0,
        report?.takes ?? 0,
        report?.usedBytes ?? null,
        report?.memoryBytes ?? null,
        report === null ? 'It reads what is stored.' : report.problem,
        report?.holds ?? null,
      ],
      BEAT_LIMIT_MS,
    );
    this.#lapseAt(sentAt + this.#leaseMs);
    const answer = present(rows[0], 'the node has a row');
    this.#writesVersion = answer.writes;
    if (answer.writes < readsVersion) await this.#raise();
    this.#clockSkewMs = skewOf(answer.now, before, now());
    const skew = skewProblem(this.#clockSkewMs);
    if (skew !== null) throw new Error(skew);
  }

  /** The lease runs until then at least, by `performance.now`. */
  #lapseAt(at: number): void {
    if (this.#lapseTimer !== null) clearTimeout(this.#lapseTimer);
    // A process that was stopped reads first what has come meanwhile.
    const lapse = (): void => {
      this.#lapseTimer = setTimeout(() => this.onLapse(), LAPSE_MS).unref();
    };
    this.#lapseTimer = setTimeout(lapse, at - performance.now()).unref();
  }

  /**
   * Raises the version of operations that owners write to the highest that all living nodes read, if this node has the
   * catalogue. In one statement, of whose steps the second sees every node that joined before the first was over.
   */
  async #raise(): Promise<void> {
    await this.#connection.run(
      `DO $raise$ BEGIN
  PERFORM FROM corollary.store FOR UPDATE;
  UPDATE corollary.store SET writes_version = read.by_all
    FROM (SELECT min(reads_version) AS by_all FROM corollary.node WHERE lease_until > clock_timestamp()) read
    WHERE writes_version < read.by_all AND EXISTS (SELECT FROM corollary.log WHERE name = '' AND owner = '${this.id}');
END $raise$`,
      [],
      BEAT_LIMIT_MS,
    );
  }

  /** Tells the operator when trouble begins and ends. */
  #became(error: Error | null): void {
    if (this.#isClosed) return;
    if (error === null) {
      if (this.#trouble !== null) this.#options.onWarn('PostgreSQL is reached again.');
      this.#trouble = null;
      this.onBeat();
      return;
    }
    if (this.#trouble === null)
      this.#options.onWarn(`The lease of this node could not be renewed: ${error.message}`);
    this.#trouble =
      error instanceof StatementFailed
        ? 'PostgreSQL cannot be reached.'
        : 'The clock of this node differs from that of PostgreSQL by more than 2 s.';
    if (error instanceof StatementFailed) return;
    this.onClockOff().catch((failed: unknown) => {
      // The next beat tries again.
      this.#options.onWarn(`The log could not be given up: ${String(failed)}`);
    });
  }
}

/** By how many milliseconds this machine's clock is ahead of the server's, at least; 0: a look cannot tell. */
function skewOf(server: number, before: number, after: number): number {
  if (server < before) return Math.round(before - server);
  return Math.round(Math.min(0, after - server));
}

/** Why a skew is too large, in plain language; null: it is not. */
function skewProblem(skewMs: number): string | null {
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return null;
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `The clocks of this machine and of PostgreSQL differ by ${seconds} s. Set the clocks of both machines by NTP.`;
}

/** Rejects with a StartupError if the server cannot be reached, is too old, or would lose what it confirmed. */
async function checkServer(
  connection: PostgresConnection,
  { now, onUnsafe = () => {} }: PostgresOptions,
): Promise<void> {
  const before = now();
  try {
    await connection.open();
  } catch (error) {
    throw unreachable(error);
  }
  const settings: SessionSettings = present(connection.settings, 'a session tells its settings');
  assert(unsafeSetting(settings) === null, 'an unsafe session is not opened');
  if (settings.version < OLDEST_SERVER)
    throw refusal(
      `PostgreSQL there is of version ${Math.floor(settings.version / 10_000)}; take 13 or newer.`,
    );
  const skew = skewProblem(skewOf(settings.now, before, now()));
  if (skew !== null) throw refusal(skew);
  if (settings.standbys === '')
    onUnsafe(
      'No standby of PostgreSQL is synchronous: what it confirmed is lost with its disk. Set synchronous_standby_names ' +
        'if a write must survive that.',
    );
}

/** Creates the tables where there are none, in one transaction. */
async function createTables(connection: PostgresConnection): Promise<void> {
  const { rows } = await connection.run<{ store: string | null }>(
    "SELECT to_regclass('corollary.store')::text AS store",
  );
  if (rows[0]?.store !== null) return;
  // A block is one statement, so it is one transaction also behind a pooler.
  const block = tables.map((statement) => `  EXECUTE ${quoted(statement)};`).join('\n');
  await connection.run(
    `DO $create$ BEGIN
  PERFORM pg_advisory_xact_lock(${CREATION_LOCK});
  IF to_regclass('corollary.store') IS NOT NULL THEN RETURN; END IF;
${block}
END $create$`,
  );
}

/** Makes empty tables a store: its row says its format and key. An operator may have created the tables. */
async function markTables(connection: PostgresConnection, options: PostgresOptions): Promise<void> {
  const { rows } = await connection.run('SELECT 1 FROM corollary.store');
  if (rows.length > 0) return;
  await connection.run(
    `INSERT INTO corollary.store (id, format, writes_version, key_check)
VALUES (gen_random_uuid(), ${STORE_FORMAT}, ${options.readsVersion}, ${keyCheck(options)}) ON CONFLICT DO NOTHING`,
  );
}

/** Brings the tables of an earlier format to this one. */
async function upgradeTables(connection: PostgresConnection): Promise<void> {
  const { rows } = await connection.run<{ format: number }>('SELECT format FROM corollary.store');
  for (let format = rows[0]?.format ?? STORE_FORMAT; format < STORE_FORMAT; format++) {
    const block = (upgrades[format] ?? []).map((statement) => `  EXECUTE ${quoted(statement)};`).join('\n');
    await connection.run(
      `DO $upgrade$ BEGIN
  PERFORM pg_advisory_xact_lock(${CREATION_LOCK});
  IF (SELECT format FROM corollary.store) <> ${format} THEN RETURN; END IF;
${block}
  UPDATE corollary.store SET format = ${format + 1};
END $upgrade$`,
    );
  }
}

/** The bytes by which a store recognises its key, as SQL. */
function keyCheck({ key, random }: PostgresOptions): string {
  const salt = random(SALT_BYTES);
  const { wrap } = sealingOf(key, salt, random);
  if (wrap === null) return 'NULL';
  return `'\\x${Buffer.concat([salt, wrap(storeHead)]).toString('hex')}'::bytea`;
}

const storeHead = Buffer.from('store');

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Rejects with a StartupError if the store is of another format, a newer program, or another key. */
async function checkStore(
  connection: PostgresConnection,
  { key, readsVersion }: PostgresOptions,
): Promise<void> {
  const { rows } = await connection.run<{ format: number; writes: number; key_check: Uint8Array | null }>(
    'SELECT format, writes_version AS writes, key_check FROM corollary.store',
  );
  const [store] = rows;
  if (store === undefined) throw refusal('The schema "corollary" there is not a store of Corollary.');
  if (store.format > STORE_FORMAT || store.writes > readsVersion)
    throw refusal(
      `The store there has format ${store.format} and operations of version ${store.writes}; this program reads formats up ` +
        `to ${STORE_FORMAT} and operations up to ${readsVersion}. Use the newer program that wrote it.`,
    );
  const check = store.key_check;
  if (check === null && key !== null)
    throw keyRefusal('ENCRYPTION_KEY is set, and the store is not encrypted. Unset it.', 'not wanted');
  if (check !== null && key === null)
    throw keyRefusal('The store is encrypted. Set ENCRYPTION_KEY to its key.', 'missing');
  if (check !== null && key?.fits(check.subarray(0, SALT_BYTES), check.subarray(SALT_BYTES)) === false)
    throw keyRefusal('The store is encrypted with a key other than ENCRYPTION_KEY.', 'wrong');
}

/** Throws a StartupError if operations of this version are written, and the program does not read them. */
function requireRead(writes: number, readsVersion: number): void {
  if (writes > readsVersion)
    throw refusal(
      `The nodes of the store write operations of version ${writes}, and this program reads up to ${readsVersion}. Use the ` +
        'newer program that wrote it.',
    );
}

async function refusable<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof StatementFailed)) throw error;
    switch (error.code) {
      case '42501':
        throw refusal(
          `Its user lacks a right (${error.message}). Grant it CREATE on the database, or create the tables with what ` +
            '"corollary store sql" prints, and grant it all rights on the schema "corollary" and its tables.',
          error,
        );
      case '42P07':
      case '42P01':
      case '42703':
        throw refusal(
          `The schema "corollary" there is not a store of Corollary (${error.message}). Use another database.`,
          error,
        );
      default:
        throw refusal(`PostgreSQL did not do what it was asked: ${error.message}.`, error);
    }
  }
}

function unreachable(error: unknown): StartupError {
  if (!(error instanceof StatementFailed)) throw error;
  const { code, message } = error;
  switch (code) {
    case '28P01':
    case '28000':
      return refusal(`PostgreSQL refused the user or password (${message}).`, error);
    case '3D000':
      return refusal(`${message}: create it, or name another one.`, error);
    default:
      return refusal(`PostgreSQL cannot be used: ${message}.`, error);
  }
}

/** Without the password: the messages of the driver do not contain it. */
function refusal(message: string, cause?: unknown): StartupError {
  return new StartupError(`STORE_URL: ${message} Nothing of the store was changed.`, {}, { cause });
}

function keyRefusal(message: string, key: 'missing' | 'wrong' | 'not wanted'): StartupError {
  return new StartupError(`${message} Nothing of the store was changed.`, { key });
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, BEAT_MS).unref();
  });
}
