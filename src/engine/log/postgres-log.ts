/**
 * One log in the tables of PostgreSQL: the statements, and what their answers mean.
 *
 * Every change of a log goes through its row of `corollary.log`, so PostgreSQL's row lock orders them. An append names
 * the epoch and the end of the log that it continues, and moves that end in the same statement; a take raises the epoch,
 * after which no append of an earlier one can commit.
 */
import { assert, present } from '../base/assert.ts';
import type { SharedNode } from './shared-store.ts';
import { type PostgresConnection, StatementFailed } from './postgres-connection.ts';

/** Version of the tables. */
export const STORE_FORMAT = 4;

/** The statements that create the tables. They run in one transaction. */
export const tables: readonly string[] = [
  'CREATE SCHEMA IF NOT EXISTS corollary',
  `CREATE TABLE corollary.store (one bool PRIMARY KEY DEFAULT true CHECK (one), id uuid NOT NULL, format int NOT NULL,
  writes_version int NOT NULL, key_check bytea)`,
  `CREATE TABLE corollary.node (id uuid PRIMARY KEY, address text NOT NULL, program text NOT NULL,
  reads_version int NOT NULL, lease_until timestamptz NOT NULL, position bigint NOT NULL DEFAULT 0,
  stale_ms bigint NOT NULL DEFAULT 0, takes int NOT NULL DEFAULT 0, used_bytes bigint, memory_bytes bigint,
  problem text, holds int, considered bool NOT NULL DEFAULT false)`,
  `CREATE TABLE corollary.log (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE,
  history uuid NOT NULL, epoch bigint NOT NULL, owner uuid, first_sequence bigint NOT NULL, last_sequence bigint NOT NULL,
  last_checksum bigint NOT NULL, ended bool NOT NULL DEFAULT false, placed uuid[] NOT NULL DEFAULT '{}',
  ready uuid[] NOT NULL DEFAULT '{}', bytes bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50)`,
  `CREATE TABLE corollary.epoch (log bigint, epoch bigint, wrapped_key bytea, node uuid NOT NULL,
  began timestamptz NOT NULL, PRIMARY KEY (log, epoch))`,
  `CREATE TABLE corollary.frame (log bigint, first_sequence bigint, count int NOT NULL, epoch bigint NOT NULL,
  checksum bigint NOT NULL, nonce bigint NOT NULL, payload bytea NOT NULL, PRIMARY KEY (log, first_sequence))`,
  'ALTER TABLE corollary.frame ALTER payload SET STORAGE EXTERNAL',
  `CREATE TABLE corollary.snapshot (log bigint, sequence bigint, attempt uuid NOT NULL, epoch bigint NOT NULL,
  time bigint NOT NULL, checksum bigint, bytes bigint NOT NULL, state_chunks int NOT NULL, observed_chunks int NOT NULL,
  created_at bigint NOT NULL, PRIMARY KEY (log, sequence, attempt))`,
  `CREATE TABLE corollary.chunk (log bigint, attempt uuid, section smallint, n int, checksum bigint NOT NULL,
  nonce bigint NOT NULL, began timestamptz NOT NULL DEFAULT now(), bytes bytea NOT NULL,
  PRIMARY KEY (log, attempt, section, n))`,
  'ALTER TABLE corollary.chunk ALTER bytes SET STORAGE EXTERNAL',
];

/**
 * The statements that bring tables of an earlier format to the next one. Nodes of format 1 go on with those of format 2, and
 * those of format 3 with those of format 4. The one log of format 2 gets a name that no database has; the next start divides
 * it. A log of format 3 was never placed: every node has it until the first one places it.
 */
export const upgrades: Readonly<Record<number, readonly string[]>> = {
  1: [
    `ALTER TABLE corollary.node ADD position bigint NOT NULL DEFAULT 0, ADD stale_ms bigint NOT NULL DEFAULT 0,
  ADD takes int NOT NULL DEFAULT 0, ADD used_bytes bigint, ADD memory_bytes bigint, ADD problem text`,
  ],
  2: [
    'ALTER TABLE corollary.log ADD ended bool NOT NULL DEFAULT false',
    `UPDATE corollary.log SET name = '*' WHERE name = '' AND last_sequence > 0`,
  ],
  3: [
    `ALTER TABLE corollary.log ADD placed uuid[] NOT NULL DEFAULT '{}', ADD ready uuid[] NOT NULL DEFAULT '{}',
  ADD bytes bigint NOT NULL DEFAULT 0`,
    'ALTER TABLE corollary.node ADD holds int, ADD considered bool NOT NULL DEFAULT false',
  ],
};

/** A script that creates the tables, and one that brings each earlier format to the next, for an operator to run. */
export function storeSql(): string {
  const script = (about: string, statements: readonly string[]): string =>
    `-- ${about}\nBEGIN;\n${statements.map((statement) => `${statement};\n`).join('')}COMMIT;\n`;
  const steps = Object.entries(upgrades).map(([format, statements]) => {
    const next = Number(format) + 1;
    const raised = `UPDATE corollary.store SET format = ${next} WHERE format = ${format}`;
    return script(`Tables of format ${format} become those of format ${next}.`, [...statements, raised])
      .trimEnd()
      .replaceAll(/^(?!--)/gm, '-- ');
  });
  return [
    script(`The tables of a store, format ${STORE_FORMAT}.`, tables),
    '-- For the role with which the service connects:',
    '-- GRANT USAGE ON SCHEMA corollary TO role;',
    '-- GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA corollary TO role;',
    '',
    ...steps,
    '',
  ].join('\n');
}

/** The row of a log. `owner` null: no node has it. */
export interface LogRow {
  readonly epoch: number;
  readonly owner: string | null;
  /** 32 hexadecimal digits. */
  readonly history: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Checksum of the last frame; 0: there was none. */
  readonly lastChecksum: number;
}

/** The row of a log beside what is known of its owner. */
export interface LogLook extends LogRow {
  /** Where other nodes reach the owner; null: there is none. */
  readonly ownerAddress: string | null;
  /** True if the owner's lease has not run out by the server's clock. */
  readonly isOwned: boolean;
  /** Milliseconds until it does, unless it is renewed; 0: it has. */
  readonly leaseMs: number;
}

/** Looks at where logs are, at several with one statement. */
export interface LogLooks {
  /** Rejects with a StatementFailed. */
  lookAt(id: number): Promise<LogLook>;
}

/** A frame as stored: its payload is sealed under the key of its epoch. */
export interface StoredFrame {
  readonly first: number;
  readonly count: number;
  readonly epoch: number;
  readonly checksum: number;
  readonly nonce: number;
  readonly payload: Uint8Array;
}

/** A snapshot's row. */
export interface SnapshotRow {
  readonly attempt: string;
  readonly epoch: number;
  readonly sequence: number;
  readonly time: number;
  readonly checksum: number | null;
  readonly bytes: number;
  readonly chunks: Readonly<Record<number, number>>;
  readonly createdAt: number;
}

/** A piece of a snapshot, sealed. */
export interface Chunk {
  readonly section: number;
  readonly n: number;
  readonly checksum: number;
  readonly nonce: number;
  readonly bytes: Uint8Array;
}

/** Maximum bytes of frames, or of chunks, that one answer brings, unless one alone has more. */
const BATCH_BYTES = 4 * 1024 * 1024;
const READ_MS = 60_000;
/** A look that takes longer is repeated: the server is gone, or the connection. */
export const LOOK_MS = 2000;
const LOG_COLUMNS =
  "l.epoch, l.owner, replace(l.history::text, '-', '') AS history, l.first_sequence, l.last_sequence, l.last_checksum";

/** A row as the driver answers it: wide integers are text. */
export type Raw = Readonly<Record<string, unknown>>;

/**
 * One log by its id. `writer` carries what must not wait, `reader` everything that may take long, `poller` looks at where
 * the log is. All methods reject with a StatementFailed; any other answer is one that the server committed.
 */
export class PostgresLog {
  readonly id: number;
  readonly #writer: PostgresConnection;
  readonly #reader: PostgresConnection;
  readonly #poller: PostgresConnection;
  readonly #looks: LogLooks;

  constructor(
    id: number,
    { writer, reader, poller }: Readonly<Record<'writer' | 'reader' | 'poller', PostgresConnection>>,
    looks: LogLooks,
  ) {
    this.id = id;
    this.#looks = looks;
    this.#writer = writer;
    this.#reader = reader;
    this.#poller = poller;
  }

  /** Appends after the record `last`; false: the log has another epoch or end, and nothing changed. */
  async append(
    { first, count, epoch, checksum, nonce, payload }: StoredFrame,
    last: number,
  ): Promise<boolean> {
    assert(first === last + 1, 'a frame follows the one before it');
    const answer = await this.#writer.run(
      `WITH mine AS (UPDATE corollary.log SET last_sequence = $3::bigint + $4::int, last_checksum = $5
  WHERE id = $1 AND epoch = $2 AND last_sequence = $3 RETURNING 1)
INSERT INTO corollary.frame SELECT $1::bigint, $3::bigint + 1, $4::int, $2::bigint, $5::bigint, $6::bigint, $7::bytea FROM mine`,
      [this.id, epoch, last, count, checksum, nonce, payload],
    );
    requireCalm(answer.isWarned);
    return answer.count === 1;
  }

  /** Where the log is now. */
  async row(): Promise<LogRow> {
    const { rows } = await this.#writer.run<Raw>(
      `SELECT ${LOG_COLUMNS} FROM corollary.log l WHERE l.id = $1`,
      [this.id],
    );
    return logRow(present(rows[0], 'a log keeps its row'));
  }

  /**
   * Raises the epoch from `seen` with `me` as owner; null: another node has the log and is alive, or the epoch is another.
   * `isNewHistory`: the log goes on as another one, since its end was lost.
   */
  async take(
    seen: number,
    me: string,
    wrappedKey: Uint8Array | null,
    isNewHistory: boolean,
  ): Promise<LogRow | null> {
    const { rows, isWarned } = await this.#writer.run<Raw>(
      `WITH mine AS (UPDATE corollary.log l SET epoch = l.epoch + 1, owner = $3::uuid,
  history = CASE WHEN $5::bool THEN gen_random_uuid() ELSE l.history END
  WHERE l.id = $1 AND l.epoch = $2 AND NOT l.ended AND (l.owner IS NULL OR l.owner = $3::uuid
    OR NOT EXISTS (SELECT FROM corollary.node n WHERE n.id = l.owner AND n.lease_until > clock_timestamp()))
  RETURNING ${LOG_COLUMNS}), noted AS (INSERT INTO corollary.epoch
  SELECT $1::bigint, mine.epoch, $4::bytea, $3::uuid, clock_timestamp() FROM mine)
SELECT * FROM mine`,
      [this.id, seen, me, wrappedKey, isNewHistory],
    );
    requireCalm(isWarned);
    return rows[0] === undefined ? null : logRow(rows[0]);
  }

  /** The frame that begins with this record, without its payload; null: there is none. */
  async frameAt(first: number): Promise<Pick<StoredFrame, 'epoch' | 'checksum'> | null> {
    const { rows } = await this.#writer.run<Raw>(
      'SELECT epoch, checksum FROM corollary.frame WHERE log = $1 AND first_sequence = $2',
      [this.id, first],
    );
    return rows[0] === undefined
      ? null
      : { epoch: Number(rows[0]['epoch']), checksum: Number(rows[0]['checksum']) };
  }

  /** Gives the log up, if it is still `me`'s at this epoch. */
  async release(me: string, epoch: number): Promise<void> {
    await this.#writer.run(
      'UPDATE corollary.log SET owner = NULL WHERE id = $1 AND owner = $2 AND epoch = $3',
      [this.id, me, epoch],
      2000,
    );
  }

  /**
   * Names `to` as the owner, if the log is `from`'s at this epoch and `to` is alive; it then takes the log at its next look.
   * False: nothing changed.
   */
  async give(from: string, to: string, epoch: number): Promise<boolean> {
    const { count, isWarned } = await this.#writer.run(
      `UPDATE corollary.log SET owner = $3::uuid WHERE id = $1 AND owner = $2::uuid AND epoch = $4
  AND EXISTS (SELECT FROM corollary.node n WHERE n.id = $3::uuid AND n.lease_until > clock_timestamp())`,
      [this.id, from, to, epoch],
      LOOK_MS,
    );
    requireCalm(isWarned);
    return count === 1;
  }

  /** The nodes of the store, as each told with its last beat, by address. */
  async nodes(): Promise<readonly SharedNode[]> {
    const { rows } = await this.#poller.run<Raw>(
      `SELECT id, address, lease_until > clock_timestamp() AS alive, position, stale_ms, takes, used_bytes, memory_bytes, problem
FROM corollary.node ORDER BY address, id`,
      [],
      LOOK_MS,
    );
    return rows.map((row) => ({
      id: row['id'] as string,
      address: row['address'] as string,
      isAlive: row['alive'] === true,
      position: Number(row['position']),
      staleMs: Number(row['stale_ms']),
      takes: Number(row['takes']),
      usedBytes: row['used_bytes'] === null ? null : Number(row['used_bytes']),
      memoryBytes: row['memory_bytes'] === null ? null : Number(row['memory_bytes']),
      problem: (row['problem'] as string | null) ?? null,
    }));
  }

  /** When an epoch began, by the server's clock, in epoch milliseconds; null: there was no such epoch. */
  async beganAt(epoch: number): Promise<number | null> {
    const { rows } = await this.#poller.run<Raw>(
      `SELECT floor(extract(epoch FROM began) * 1000)::bigint AS began FROM corollary.epoch WHERE log = $1 AND epoch = $2`,
      [this.id, epoch],
      LOOK_MS,
    );
    return rows[0] === undefined ? null : Number(rows[0]['began']);
  }

  /** Where the log is now, and who has it. */
  look(): Promise<LogLook> {
    return this.#looks.lookAt(this.id);
  }

  /** Checksum of the frame whose last record is this one; null: no frame ends there. */
  async checksumOfEnd(sequence: number): Promise<number | null> {
    const { rows } = await this.#poller.run<Raw>(
      `SELECT checksum FROM (SELECT first_sequence, count, checksum FROM corollary.frame
  WHERE log = $1 AND first_sequence <= $2 ORDER BY first_sequence DESC LIMIT 1) f WHERE first_sequence + count - 1 = $2`,
      [this.id, sequence],
    );
    return rows[0] === undefined ? null : Number(rows[0]['checksum']);
  }

  /** The node that has the log, and its end, asked of the server now. */
  async endNow(): Promise<Pick<LogRow, 'owner' | 'lastSequence'>> {
    const { rows } = await this.#poller.run<Raw>(
      'SELECT owner, last_sequence FROM corollary.log WHERE id = $1',
      [this.id],
    );
    const row = present(rows[0], 'a log keeps its row');
    return { owner: (row['owner'] as string | null) ?? null, lastSequence: Number(row['last_sequence']) };
  }

  /** The key of an epoch, wrapped; null: its frames are not encrypted. */
  async wrappedKey(epoch: number): Promise<Uint8Array | null> {
    const { rows } = await this.#reader.run<Raw>(
      'SELECT wrapped_key FROM corollary.epoch WHERE log = $1 AND epoch = $2',
      [this.id, epoch],
    );
    return (rows[0]?.['wrapped_key'] as Uint8Array | null | undefined) ?? null;
  }

  /** Bytes of all frames, and of those with records above `after`. */
  async frameBytes(after: number): Promise<{ readonly all: number; readonly uncovered: number }> {
    const { rows } = await this.#reader.run<Raw>(
      `SELECT coalesce(sum(octet_length(payload)), 0) AS all,
  coalesce(sum(octet_length(payload)) FILTER (WHERE first_sequence > $2), 0) AS uncovered
FROM corollary.frame WHERE log = $1`,
      [this.id, after],
      READ_MS,
    );
    const row = present(rows[0], 'a sum is a row');
    return { all: Number(row['all']), uncovered: Number(row['uncovered']) };
  }

  /** The frames with records above `after`, in order. */
  async *frames(after: number): AsyncGenerator<StoredFrame, void, undefined> {
    let from = after + 1;
    for (let isFirst = true; ; isFirst = false) {
      const { rows } = await this.#reader.run<Raw>(
        `SELECT first_sequence, count, epoch, checksum, nonce, payload FROM (
  SELECT *, sum(octet_length(payload)) OVER (ORDER BY first_sequence) - octet_length(payload) AS before FROM (
    SELECT * FROM corollary.frame WHERE log = $1 AND first_sequence >= $2 ORDER BY first_sequence LIMIT 1000) f) g
WHERE before < $3 ORDER BY first_sequence`,
        [this.id, from, BATCH_BYTES],
        READ_MS,
      );
      if (isFirst && Number(rows[0]?.['first_sequence']) !== from) {
        // The record is within a frame, or not there.
        const first = await this.#frameWith(from);
        if (first !== from) {
          from = first;
          continue;
        }
      }
      for (const row of rows) {
        const frame = storedFrame(row);
        from = frame.first + frame.count;
        yield frame;
      }
      if (rows.length === 0) return;
    }
  }

  /** First sequence of the frame that holds this record, if there is one. */
  async #frameWith(sequence: number): Promise<number> {
    const { rows } = await this.#reader.run<Raw>(
      `SELECT first_sequence, count FROM corollary.frame WHERE log = $1 AND first_sequence <= $2
ORDER BY first_sequence DESC LIMIT 1`,
      [this.id, sequence],
    );
    const [row] = rows;
    if (row === undefined) return sequence;
    const first = Number(row['first_sequence']);
    return first + Number(row['count']) > sequence ? first : sequence;
  }

  /** The snapshots, newest first. */
  async snapshots(): Promise<readonly SnapshotRow[]> {
    const { rows } = await this.#reader.run<Raw>(
      'SELECT * FROM corollary.snapshot WHERE log = $1 ORDER BY sequence DESC, created_at DESC',
      [this.id],
    );
    return rows.map((row) => ({
      attempt: row['attempt'] as string,
      epoch: Number(row['epoch']),
      sequence: Number(row['sequence']),
      time: Number(row['time']),
      checksum: row['checksum'] === null ? null : Number(row['checksum']),
      bytes: Number(row['bytes']),
      chunks: { 1: Number(row['state_chunks']), 2: Number(row['observed_chunks']) },
      createdAt: Number(row['created_at']),
    }));
  }

  async putChunk(attempt: string, { section, n, checksum, nonce, bytes }: Chunk): Promise<void> {
    await this.#reader.run(
      `INSERT INTO corollary.chunk (log, attempt, section, n, checksum, nonce, bytes)
VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [this.id, attempt, section, n, checksum, nonce, bytes],
      READ_MS,
    );
  }

  /** The columns of a snapshot's row, in order. */
  #valuesOf({ sequence, attempt, epoch, time, checksum, bytes, chunks, createdAt }: SnapshotRow) {
    const { 1: state = 0, 2: observed = 0 } = chunks;
    return [this.id, sequence, attempt, epoch, time, checksum, bytes, state, observed, createdAt];
  }

  /** Makes an attempt a snapshot, if `me` still has the log with this history; false: it has not. */
  async putSnapshot(me: string, history: string, row: SnapshotRow): Promise<boolean> {
    const { count, isWarned } = await this.#reader.run(
      `INSERT INTO corollary.snapshot SELECT $1::bigint, $2::bigint, $3::uuid, $4::bigint, $5::bigint, $6::bigint, $7::bigint,
  $8::int, $9::int, $10::bigint FROM corollary.log WHERE id = $1 AND owner = $11::uuid AND history = $12::uuid`,
      [...this.#valuesOf(row), me, history],
    );
    requireCalm(isWarned);
    return count === 1;
  }

  /**
   * Makes an attempt the snapshot with which an empty log begins, if `me` has it at this epoch; false: it is not empty, or
   * not `me`'s.
   */
  async beginWith(me: string, row: SnapshotRow): Promise<boolean> {
    const { count, isWarned } = await this.#writer.run(
      `WITH mine AS (UPDATE corollary.log SET first_sequence = $2::bigint + 1, last_sequence = $2::bigint,
  last_checksum = coalesce($6::bigint, 1) WHERE id = $1 AND owner = $11::uuid AND epoch = $4 AND last_sequence = 0 RETURNING 1)
INSERT INTO corollary.snapshot SELECT $1::bigint, $2::bigint, $3::uuid, $4::bigint, $5::bigint, $6::bigint, $7::bigint,
  $8::int, $9::int, $10::bigint FROM mine`,
      [...this.#valuesOf(row), me],
    );
    requireCalm(isWarned);
    return count === 1;
  }

  /** The chunks of a section from number `n` on, some of them at once; none: there are no more. */
  async chunks(attempt: string, section: number, n: number): Promise<readonly Chunk[]> {
    const { rows } = await this.#reader.run<Raw>(
      `SELECT section, n, checksum, nonce, bytes FROM corollary.chunk
WHERE log = $1 AND attempt = $2 AND section = $3 AND n >= $4 ORDER BY n LIMIT 8`,
      [this.id, attempt, section, n],
      READ_MS,
    );
    return rows.map((row) => ({
      section: Number(row['section']),
      n: Number(row['n']),
      checksum: Number(row['checksum']),
      nonce: Number(row['nonce']),
      bytes: row['bytes'] as Uint8Array,
    }));
  }

  /** Bytes of each chunk of a section, in order. */
  async chunkBytes(attempt: string, section: number): Promise<readonly number[]> {
    const { rows } = await this.#reader.run<Raw>(
      'SELECT octet_length(bytes) AS bytes FROM corollary.chunk WHERE log = $1 AND attempt = $2 AND section = $3 ORDER BY n',
      [this.id, attempt, section],
      READ_MS,
    );
    return rows.map((row) => Number(row['bytes']));
  }

  /**
   * Removes frames whose records all come before `first`, snapshots older than `oldest`, and chunks of no snapshot that are
   * older than an hour, in small transactions. Resolves with the bytes of the frames removed.
   */
  async trim(me: string, first: number, oldest: SnapshotRow): Promise<number> {
    // Before the frames go, so that no reader expects them.
    await this.#reader.run(
      'UPDATE corollary.log SET first_sequence = greatest(first_sequence, $3::bigint) WHERE id = $1 AND owner = $2',
      [this.id, me, first],
    );
    let removed = 0;
    for (;;) {
      const { rows } = await this.#reader.run<Raw>(
        `DELETE FROM corollary.frame WHERE log = $1 AND first_sequence IN (SELECT first_sequence FROM corollary.frame
  WHERE log = $1 AND first_sequence + count <= $2 ORDER BY first_sequence LIMIT 1000)
RETURNING octet_length(payload) AS bytes`,
        [this.id, first],
        READ_MS,
      );
      for (const row of rows) removed += Number(row['bytes']);
      if (rows.length === 0) break;
    }
    await this.#reader.run('DELETE FROM corollary.snapshot WHERE log = $1 AND sequence < $2', [
      this.id,
      oldest.sequence,
    ]);
    await this.#reader.run(
      `DELETE FROM corollary.chunk c WHERE c.log = $1 AND c.began < now() - interval '1 hour'
  AND NOT EXISTS (SELECT FROM corollary.snapshot s WHERE s.log = c.log AND s.attempt = c.attempt)`,
      [this.id],
      READ_MS,
    );
    return removed;
  }

  async removeAttempt(attempt: string): Promise<void> {
    await this.#reader.run('DELETE FROM corollary.chunk WHERE log = $1 AND attempt = $2', [this.id, attempt]);
  }
}

/** A warning at a commit can mean that the server gave up waiting for a standby. */
function requireCalm(isWarned: boolean): void {
  if (isWarned) throw new StatementFailed('unknown', 'the server warned while it committed', '01000');
}

/** The row of a log, of which the numbers may be text. */
export function logRow(row: Raw): LogRow {
  return {
    epoch: Number(row['epoch']),
    owner: (row['owner'] as string | null) ?? null,
    history: row['history'] as string,
    firstSequence: Number(row['first_sequence']),
    lastSequence: Number(row['last_sequence']),
    lastChecksum: Number(row['last_checksum']),
  };
}

function storedFrame(row: Raw): StoredFrame {
  return {
    first: Number(row['first_sequence']),
    count: Number(row['count']),
    epoch: Number(row['epoch']),
    checksum: Number(row['checksum']),
    nonce: Number(row['nonce']),
    payload: row['payload'] as Uint8Array,
  };
}
