/**
 * The logs of a store by their names: one for each database, under its name, and the catalogue's under the empty one.
 *
 * The rows are the list of databases: a database is created by one statement that adds its row, or begins an ended one again,
 * with the asking node as owner. One that was deleted keeps its row and a snapshot without facts, so its generations go on
 * if it is created again. Logs of an import that has not ended have a name that begins with `+`, and no node opens them.
 */
import { randomInt } from 'node:crypto';
import { assert, present } from '../base/assert.ts';
import { compareText } from '../base/text-order.ts';
import { UNFINISHED, UNFINISHED_ENDED } from './log-names.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { type LogLook, type LogLooks, LOOK_MS, logRow, type Raw } from './postgres-log.ts';

const FILL_MS = 60_000;
/** Removes everything of the logs in `gone`. */
const REMOVED = `f AS (DELETE FROM corollary.frame USING gone WHERE log = gone.id),
s AS (DELETE FROM corollary.snapshot USING gone WHERE log = gone.id),
c AS (DELETE FROM corollary.chunk USING gone WHERE log = gone.id),
e AS (DELETE FROM corollary.epoch USING gone WHERE log = gone.id),
l AS (DELETE FROM corollary.log USING gone WHERE log.id = gone.id)`;

/** A log, and where it is now. */
export interface ListedLog extends LogLook {
  readonly id: number;
  readonly name: string;
  /** Its database was deleted, and no node has it. */
  readonly isEnded: boolean;
  /** The nodes that are to have its database, by id; none: it was never placed, and all have it. */
  readonly placed: readonly string[];
  /** The nodes that have told that they have a copy, the owner too. Some may have died since. */
  readonly ready: readonly string[];
  /** About how much memory the database takes, as its owner told. */
  readonly bytes: number;
}

/** A node of the store, as the placement of databases sees it. */
export interface ListedNode {
  readonly id: string;
  readonly address: string;
  readonly isAlive: boolean;
  readonly usedBytes: number | null;
  readonly memoryBytes: number | null;
  /** False: it is still starting, or an earlier program, which opens every database. */
  readonly takesPart: boolean;
  /** True once databases were placed with this node in mind. */
  readonly isConsidered: boolean;
}

/** What changes about where a database is to be. */
export interface PlacementChange {
  readonly id: number;
  readonly before: readonly string[];
  readonly placed: readonly string[];
}

/** What a node tells of a database that it has, or has no more. */
export interface CopyTold {
  readonly id: number;
  readonly isReady: boolean;
  /** About how much memory it takes; null: the owner tells. */
  readonly bytes: number | null;
}

/** A log without what its owner's row says. */
type LogSeen = Omit<ListedLog, 'ownerAddress' | 'isOwned' | 'leaseMs'>;

/** A node that may have logs. */
interface OwnerSeen {
  readonly id: string;
  readonly address: string;
  /** 0: the lease has run out. */
  readonly leaseMs: number;
}

/** A log as one line of text, read by `logOf`: no name has a tab or a line break. */
const LOG_LINE = `concat_ws(E'\\t', l.id, l.name, l.ended, array_to_string(l.placed, ','), array_to_string(l.ready, ','), l.bytes,
  l.epoch, coalesce(l.owner::text, ''), replace(l.history::text, '-', ''), l.first_sequence, l.last_sequence, l.last_checksum)`;

/** Logs are compared in so many parts, so that a look brings only those parts of which a log has changed. */
const PARTS = 64;

/**
 * Brings the parts whose digest is none of those in $1, by number, under the seed $2. Nothing depends on what was looked at
 * before, so it is right also after another server took over.
 */
const CHANGED_PARTS = `SELECT json_agg(json_build_object('part', p.part, 'digest', p.digest::text, 'lines', p.lines)) FROM (
  SELECT part, coalesce(lines, '') AS lines, hashtextextended(coalesce(lines, '') COLLATE "C", $2::bigint) AS digest
  FROM generate_series(0, ${PARTS - 1}) part LEFT JOIN (SELECT l.id % ${PARTS} AS of_part, string_agg(${LOG_LINE}, E'\\n' ORDER BY l.id) AS lines
    FROM corollary.log l GROUP BY 1) l ON of_part = part) p
WHERE p.digest IS DISTINCT FROM ($1::bigint[])[p.part + 1]`;

/** The logs of a part, as they changed. */
interface ChangedPart {
  readonly part: number;
  readonly digest: string;
  readonly lines: string;
}

function logOf(line: string): LogSeen {
  const fields = line.split('\t');
  assert(fields.length === 12, 'a line has twelve fields');
  const [id, name = '', ended, placed = '', ready = '', bytes, epoch, owner, history, first, last, checksum] =
    fields;
  const row = { epoch, owner: owner === '' ? null : owner, history };
  return {
    ...logRow({ ...row, first_sequence: first, last_sequence: last, last_checksum: checksum }),
    id: Number(id),
    name,
    isEnded: ended === 't',
    placed: placed === '' ? [] : placed.split(','),
    ready: ready === '' ? [] : ready.split(','),
    bytes: Number(bytes),
  };
}

/** The nodes that may have logs, by id, as of the last look. */
interface Owners {
  byId: ReadonlyMap<string, OwnerSeen>;
}

/** The log with what the last look says of its owner's lease, which is renewed all the time while nothing else changes. */
function ownedBy(log: LogSeen, owners: Owners): ListedLog {
  const ownerOf = (): OwnerSeen | undefined => (log.owner === null ? undefined : owners.byId.get(log.owner));
  return {
    ...log,
    get ownerAddress() {
      // A command that moves a store has the log for a while, and answers no requests.
      return ownerOf()?.address || null;
    },
    get isOwned() {
      return this.leaseMs > 0;
    },
    get leaseMs() {
      return ownerOf()?.leaseMs ?? 0;
    },
  };
}

/** One wait for the next look. */
interface Waiter {
  readonly resolve: (logs: readonly ListedLog[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The rows of all logs. All methods reject with a StatementFailed. */
export class PostgresLogs implements LogLooks {
  readonly #writer: PostgresConnection;
  readonly #poller: PostgresConnection;
  #waiters: Waiter[] = [];
  #isLooking = false;
  /** The logs of the last look that somebody asked for one of, by id. */
  #byId: { readonly of: readonly ListedLog[]; readonly logs: ReadonlyMap<number, ListedLog> } = {
    of: [],
    logs: new Map(),
  };
  /** What the looks brought so far: four times a second, nearly all of it is as it was. */
  #logs: readonly ListedLog[] = [];
  readonly #parts: { readonly digest: string | null; readonly logs: ReadonlyMap<string, ListedLog> }[] =
    Array.from({ length: PARTS }, () => ({ digest: null, logs: new Map() }));
  readonly #owners: Owners = { byId: new Map() };
  /** Nobody can find two logs that have one digest. */
  readonly #seed = String(randomInt(2 ** 47));

  /** Nodes whose lease had not run out at the last look. */
  #living: readonly string[] = [];

  constructor({ writer, poller }: Readonly<Record<'writer' | 'poller', PostgresConnection>>) {
    this.#writer = writer;
    this.#poller = poller;
  }

  /**
   * Where all logs are, by name, as of a look that was sent after the call. One statement serves all that wait. The list is the
   * same one if no row changed, and so is each log in it; what it says of its owner's lease is as of the last look.
   */
  look(): Promise<readonly ListedLog[]> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      if (this.#isLooking) return;
      this.#isLooking = true;
      // In this turn others may come.
      setImmediate(() => void this.#serve());
    });
  }

  async lookAt(id: number): Promise<LogLook> {
    const logs = await this.look();
    // Those that wait for the same look get the same list.
    if (this.#byId.of !== logs) this.#byId = { of: logs, logs: new Map(logs.map((log) => [log.id, log])) };
    return present(this.#byId.logs.get(id), 'a log keeps its row');
  }

  /** True if there was a living node beside `me` at the last look. */
  hasOthers(me: string): boolean {
    return this.#living.some((id) => id !== me);
  }

  async #serve(): Promise<void> {
    while (this.#waiters.length > 0) {
      const waiters = this.#waiters.splice(0);
      try {
        const logs = await this.#ask();
        for (const { resolve } of waiters) resolve(logs);
      } catch (error) {
        for (const { reject } of waiters) reject(error);
      }
    }
    this.#isLooking = false;
  }

  async #ask(): Promise<readonly ListedLog[]> {
    const { rows } = await this.#poller.run<{ changed: ChangedPart[] | null; owners: OwnerSeen[] | null }>(
      `SELECT (${CHANGED_PARTS}) AS changed,
  (SELECT json_agg(json_build_object('id', n.id, 'address', n.address, 'leaseMs',
    greatest(0, extract(epoch FROM n.lease_until - clock_timestamp()) * 1000)::float8)) FROM corollary.node n) AS owners`,
      [this.#parts.map(({ digest }) => digest), this.#seed],
      LOOK_MS,
    );
    const { changed, owners } = present(rows[0], 'the statement has one row');
    this.#owners.byId = new Map((owners ?? []).map((owner) => [owner.id, owner]));
    this.#living = (owners ?? []).flatMap(({ id, leaseMs }) => (leaseMs > 0 ? [id] : []));
    if (changed !== null) this.#logs = this.#listed(changed);
    return this.#logs;
  }

  /** All logs after these changes, by name. Lines that are as they were are not read again. */
  #listed(changed: readonly ChangedPart[]): readonly ListedLog[] {
    for (const { part, digest, lines } of changed) {
      const before = present(this.#parts[part], 'parts are numbered').logs;
      const logs = new Map(
        (lines === '' ? [] : lines.split('\n')).map((line) => [
          line,
          before.get(line) ?? ownedBy(logOf(line), this.#owners),
        ]),
      );
      this.#parts[part] = { digest, logs };
    }
    const logs = this.#parts.flatMap((part) => [...part.logs.values()]);
    return logs.toSorted((one, other) => compareText(one.name, other.name));
  }

  /** The nodes of the store, also those that ended without a word within the last hour. */
  async nodes(): Promise<readonly ListedNode[]> {
    const { rows } = await this.#poller.run<Raw>(
      `SELECT id, address, lease_until > clock_timestamp() AS alive, used_bytes, memory_bytes, holds, considered
FROM corollary.node ORDER BY id`,
      [],
      LOOK_MS,
    );
    return rows.map((row) => ({
      id: row['id'] as string,
      address: row['address'] as string,
      isAlive: row['alive'] === true,
      usedBytes: row['used_bytes'] === null ? null : Number(row['used_bytes']),
      memoryBytes: row['memory_bytes'] === null ? null : Number(row['memory_bytes']),
      takesPart: row['holds'] !== null,
      isConsidered: row['considered'] === true,
    }));
  }

  /**
   * Says where databases are to be, those that nobody has placed elsewhere meanwhile, and which nodes were considered. Of a
   * node that is gone for good nobody is told any more that it has a copy.
   */
  async place(changes: readonly PlacementChange[], considered: readonly string[]): Promise<void> {
    if (changes.length > 0)
      await this.#writer.run(
        `UPDATE corollary.log l SET placed = c.placed,
  ready = ARRAY(SELECT r FROM unnest(l.ready) r WHERE EXISTS (SELECT FROM corollary.node n WHERE n.id = r))
FROM json_to_recordset($1::json) AS c(id bigint, before uuid[], placed uuid[])
WHERE l.id = c.id AND l.placed = c.before AND NOT l.ended`,
        [JSON.stringify(changes)],
      );
    if (considered.length > 0)
      await this.#writer.run('UPDATE corollary.node SET considered = true WHERE id = ANY($1::uuid[])', [
        considered,
      ]);
  }

  /** Says which databases this node has, or has no more. */
  async tell(me: string, told: readonly CopyTold[]): Promise<void> {
    await this.#writer.run(
      `UPDATE corollary.log l SET bytes = coalesce(c.bytes, l.bytes), ready = CASE WHEN c."isReady"
  THEN array_append(array_remove(l.ready, $2::uuid), $2::uuid) ELSE array_remove(l.ready, $2::uuid) END
FROM json_to_recordset($1::json) AS c(id bigint, "isReady" bool, bytes bigint) WHERE l.id = c.id AND NOT l.ended`,
      [JSON.stringify(told), me],
    );
  }

  /** Adds a log that no node has, unless there is one of this name. */
  async ensure(name: string): Promise<void> {
    await this.#writer.run(
      `INSERT INTO corollary.log (name, history, epoch, first_sequence, last_sequence, last_checksum)
VALUES ($1, gen_random_uuid(), 0, 1, 0, 0) ON CONFLICT (name) DO NOTHING`,
      [name],
    );
  }

  /** Adds a log with `me` as owner, or begins an ended one again; false: there is one that has not ended. */
  async create(name: string, me: string): Promise<boolean> {
    const { rows } = await this.#writer.run<Raw>(
      `INSERT INTO corollary.log AS l (name, history, epoch, owner, first_sequence, last_sequence, last_checksum, placed)
VALUES ($1, gen_random_uuid(), 0, $2::uuid, 1, 0, 0, ARRAY[$2::uuid])
ON CONFLICT (name) DO UPDATE SET ended = false, owner = $2::uuid, placed = ARRAY[$2::uuid], ready = '{}', bytes = 0
  WHERE l.ended RETURNING l.id`,
      [name, me],
    );
    return rows.length > 0;
  }

  /**
   * Ends a log that is `me`'s at this epoch and ends with this record, and removes everything that its newest snapshot covers;
   * false: nothing changed. The epoch is raised, so nothing that is on its way is appended to it any more.
   */
  async end(id: number, me: string, epoch: number, lastSequence: number): Promise<boolean> {
    const { rows } = await this.#writer.run<Raw>(
      `WITH ended AS (UPDATE corollary.log SET ended = true, owner = NULL, epoch = epoch + 1, first_sequence = last_sequence + 1
  WHERE id = $1 AND owner = $2 AND epoch = $3 AND last_sequence = $4
    AND (last_sequence = 0 OR EXISTS (SELECT FROM corollary.snapshot s WHERE s.log = $1 AND s.sequence = $4)) RETURNING id),
newest AS (SELECT s.attempt FROM corollary.snapshot s, ended WHERE s.log = ended.id
  ORDER BY s.sequence DESC, s.created_at DESC LIMIT 1),
f AS (DELETE FROM corollary.frame USING ended WHERE log = ended.id),
s AS (DELETE FROM corollary.snapshot USING ended WHERE log = ended.id AND attempt NOT IN (SELECT attempt FROM newest)),
c AS (DELETE FROM corollary.chunk USING ended WHERE log = ended.id AND attempt NOT IN (SELECT attempt FROM newest))
SELECT id FROM ended`,
      [id, me, epoch, lastSequence],
      FILL_MS,
    );
    return rows.length > 0;
  }

  /** Adds a log to be filled, that no node opens; resolves with its id. `isEnded`: it ends when it is published. */
  async begin(name: string, me: string, isEnded: boolean): Promise<number> {
    const { rows } = await this.#writer.run<Raw>(
      `INSERT INTO corollary.log (name, history, epoch, owner, first_sequence, last_sequence, last_checksum)
VALUES ($1, gen_random_uuid(), 0, $2, 1, 0, 0) RETURNING id`,
      [(isEnded ? UNFINISHED_ENDED : UNFINISHED) + name, me],
    );
    return Number(present(rows[0], 'the log was added')['id']);
  }

  /** Names the logs that `me` has filled, all at once, and removes the one that they replace; null: there is none. */
  async publish(me: string, replaced: number | null): Promise<void> {
    const { count } = await this.#writer.run(
      `WITH gone AS (SELECT l.id FROM corollary.log l WHERE l.id = $1), ${REMOVED}
UPDATE corollary.log SET name = ltrim(name, '${UNFINISHED}'), ended = name LIKE '${UNFINISHED_ENDED}%', owner = NULL
  WHERE name LIKE '${UNFINISHED}%' AND owner = $2`,
      [replaced, me],
      FILL_MS,
    );
    assert(count > 0, 'the logs were filled');
  }

  /** Removes logs whose filling did not end: those of nodes that are gone, or of `me`. */
  async sweep(me: string): Promise<void> {
    await this.#writer.run(
      `WITH gone AS (SELECT l.id FROM corollary.log l WHERE l.name LIKE '${UNFINISHED}%' AND (l.owner = $1
  OR NOT EXISTS (SELECT FROM corollary.node n WHERE n.id = l.owner AND n.lease_until > clock_timestamp()))), ${REMOVED}
SELECT 1`,
      [me],
      FILL_MS,
    );
  }
}
