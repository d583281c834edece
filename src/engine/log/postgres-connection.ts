/**
 * One connection to PostgreSQL, opened again when it broke. Of several hosts it is the first that takes writes.
 *
 * Invariant: a statement is answered, refused by the server (nothing of it remains), or unknown: sent, and not answered by
 * the server. It sends no cancels and relies on nothing that belongs to a session, so poolers of transactions may stand
 * between; without one, statements are prepared. One statement is under way at a time; others wait.
 */
import { Client, DatabaseError } from 'pg';
import { assert, present } from '../base/assert.ts';
import { hostsIn } from './postgres-hosts.ts';

/** How a statement failed. */
export type Failure = 'unreachable' | 'refused' | 'unknown';

/** A statement that did not succeed. `unreachable`: it was not sent; `refused`: the server rolled it back. */
export class StatementFailed extends Error {
  readonly failure: Failure;
  /** SQLSTATE, or the system's code; '' if there is none. */
  readonly code: string;

  constructor(failure: Failure, message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StatementFailed';
    this.failure = failure;
    this.code = code;
  }
}

/** What a statement came to. */
export interface StatementAnswer<Row> {
  readonly rows: readonly Row[];
  /** Rows that it changed or returned. */
  readonly count: number;
  /** The server warned: a commit may not be where it was promised to be. */
  readonly isWarned: boolean;
}

/** Settings of a session on which durability depends. */
export interface SessionSettings {
  readonly standby: boolean;
  readonly readonly: string;
  readonly commit: string;
  readonly fsync: string;
  /** Like 150018. */
  readonly version: number;
  readonly standbys: string;
  /** The server's clock, epoch milliseconds. */
  readonly now: number;
  /** The process that serves the session. A pooler tells its clients another number. */
  readonly pid: number;
}

const CONNECT_MS = 5000;
/** With several hosts, of which one may be gone. */
const CONNECT_HOST_MS = 2000;
const SETTINGS = `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS readonly,
  current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync,
  current_setting('server_version_num')::int AS version, current_setting('synchronous_standby_names') AS standbys,
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now, pg_backend_pid() AS pid`;
/** A statement that runs so often on a connection is prepared: planning a look at the logs costs twice what it does. */
const PREPARED_FROM = 3;
/** The server does not know a prepared statement: a pooler is there after all. */
const UNPREPARED = /^(26000|42P05)$/;

/** Errors of the server that mean that it rolled the statement back: by class, or by code. */
const REFUSED = /^(22|23|26|42|54|25006|40001|40P01|53100|53200|55P03|57014)/;

/** A connection to the database of this URL, which may name several hosts; opened when it is first used. */
export class PostgresConnection {
  readonly #urls: readonly string[];
  /** Number of the host that was connected last. */
  #host = 0;
  #client: Client | null = null;
  #isWarned = false;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** The session is one of the server, as far as can be seen. */
  #isDirect = false;
  /** How often each statement ran, in the order of their first runs. */
  readonly #runs = new Map<string, { readonly name: string; count: number }>();
  /** The settings of the session, once it was opened. */
  settings: SessionSettings | null = null;

  constructor(url: string) {
    this.#urls = hostsIn(url);
  }

  /**
   * Runs a statement, and waits no longer than `limitMs` for its answer. Rejects with a StatementFailed; unless it was
   * refused, the connection is opened again for the next one.
   */
  run<Row = Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
    limitMs = 10_000,
  ): Promise<StatementAnswer<Row>> {
    const done = this.#last.then(() => this.#run<Row>(text, values, limitMs));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Opens the connection if it is not. Rejects with a StatementFailed. */
  async open(): Promise<void> {
    await this.run('SELECT 1');
  }

  /** Ends it; a statement under way is answered first, within a second. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => this.#drop(), 1000);
    await this.#last;
    clearTimeout(timer);
    this.#drop();
  }

  async #run<Row>(text: string, values: readonly unknown[], limitMs: number): Promise<StatementAnswer<Row>> {
    const client = this.#client ?? (await this.#connect());
    this.#isWarned = false;
    const timer = setTimeout(() => this.#drop(), limitMs);
    try {
      const name = this.#preparedName(text);
      const { rows, rowCount } = await client.query({
        text,
        values: [...values],
        ...(name === null ? {} : { name }),
      });
      return { rows: rows as Row[], count: rowCount ?? 0, isWarned: this.#isWarned };
    } catch (error) {
      const code = codeOf(error);
      if (UNPREPARED.test(code)) this.#isDirect = false;
      const isRefused = error instanceof DatabaseError && REFUSED.test(code);
      if (!isRefused) this.#drop();
      throw new StatementFailed(isRefused ? 'refused' : 'unknown', messageOf(error), code, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** The name under which a statement is prepared; null: it is not. */
  #preparedName(text: string): string | null {
    const run = this.#runs.get(text) ?? { name: `statement_${this.#runs.size}`, count: 0 };
    this.#runs.set(text, run);
    return this.#isDirect && ++run.count >= PREPARED_FROM ? run.name : null;
  }

  /** Connects to the host that was connected last, or to the next one that takes writes. */
  async #connect(): Promise<Client> {
    const { length } = this.#urls;
    for (let tries = 1; ; tries++)
      try {
        return await this.#connectTo(present(this.#urls[this.#host], 'the hosts are numbered'));
      } catch (error) {
        this.#host = (this.#host + 1) % length;
        if (tries === length || !(error instanceof StatementFailed)) throw error;
      }
  }

  async #connectTo(url: string): Promise<Client> {
    assert(!this.#isClosed, 'a closed connection runs no statement');
    let client: Client | null = null;
    try {
      client = new Client({
        connectionString: url,
        application_name: 'corollary',
        connectionTimeoutMillis: this.#urls.length === 1 ? CONNECT_MS : CONNECT_HOST_MS,
        keepAlive: true,
      });
      // Also errors while nothing is under way; a statement under way is rejected besides.
      client.on('error', () => this.#drop(client));
      client.on('notice', ({ code = '' }) => {
        this.#isWarned ||= code.startsWith('01');
      });
      this.#client = client;
      await client.connect();
      const { rows } = await client.query<SessionSettings>(SETTINGS);
      const settings = rows[0];
      assert(settings !== undefined, 'the settings are a row');
      const unsafe = unsafeSetting(settings);
      if (unsafe !== null) throw new Error(unsafe);
      this.settings = settings;
      this.#isDirect = settings.pid === processOf(client);
      return client;
    } catch (error) {
      this.#drop(client);
      throw new StatementFailed('unreachable', messageOf(error), codeOf(error), { cause: error });
    }
  }

  /** Cuts the connection: the server ends what was sent as it will. */
  #drop(client: Client | null = this.#client): void {
    if (client === null) return;
    if (this.#client === client) this.#client = null;
    client.connection.stream.destroy();
  }
}

/** The process of the server that the client was told at its start. */
function processOf(client: Client): number | null {
  return 'processID' in client && typeof client.processID === 'number' ? client.processID : null;
}

/** Why nothing may be stored over a session; null: it is safe. */
export function unsafeSetting({ standby, readonly, commit, fsync }: SessionSettings): string | null {
  if (standby || readonly === 'on')
    return 'the server is a standby or takes no writes; STORE_URL must lead to the primary';
  if (fsync === 'off') return 'the server runs with fsync=off and can lose what it confirmed; set fsync = on';
  if (commit === 'off' || commit === 'local')
    return `synchronous_commit is ${commit}, so that the server can lose what it confirmed; set it to on for this role or database`;
  return null;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
