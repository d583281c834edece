/** The store in a real PostgreSQL server, which each test breaks in another way. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { snapshotName } from './snapshot-reader.ts';
import { openEngine, openEngineOn } from '../open-engine.ts';
import type { EngineOptions } from '../open-part.ts';
import { bundleProgram, type Child, startProgram } from '../testing/child-program.ts';
import { refusal, type Session, sessionOf, testCaller } from '../testing/engine-fixtures.ts';
import {
  type PrivatePostgres,
  postgresMissing,
  postgresNotice,
  startPostgres,
} from '../testing/private-postgres.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { operationVersion } from '../state/operation.ts';
import { memoryBackend } from './backend.ts';
import { decodeRecords } from './codec.ts';
import { PostgresNode } from './open-postgres.ts';
import { StartupError } from './startup-error.ts';

/** Takes away what format 4 added to the tables. */
const toFormat3 = `ALTER TABLE corollary.log DROP placed, DROP ready, DROP bytes;
  ALTER TABLE corollary.node DROP holds, DROP considered`;

const key = '0123456789abcdef'.repeat(4);

describe.skipIf(postgresMissing !== null)(`a store in PostgreSQL${postgresNotice}`, () => {
  let server: PrivatePostgres;
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  /** The URL of a new, empty database. */
  async function newDatabase(): Promise<string> {
    const name = `test${++databases}`;
    await run(server.url, `CREATE DATABASE ${name}`);
    return server.url.replace(/\/postgres$/, `/${name}`);
  }

  it('keeps everything, with and without a snapshot, and nothing on disk', async () => {
    const storeUrl = await newDatabase();
    const first = await open(storeUrl);
    await first.tellAll(['p(a)', 'p(b)']);
    await first.teach('q(?x) :- p(?x)');
    await first.engine.close(0);
    const second = await open(storeUrl);
    expect(await second.results('q(?x)')).toEqual(['q(a)', 'q(b)']);
    expect(second.engine.storageState()).toMatchObject({ status: 'ready', encrypted: false, position: 4 });
    expect((await second.engine.snapshot()).position).toBe(4);
    await second.tell('p(c)');
    await second.engine.close(0);
    const third = await open(storeUrl);
    expect(await third.results('q(?x)')).toEqual(['q(a)', 'q(b)', 'q(c)']);
    const [historyId] = [first, second, third].map(({ engine }) => engine.storageState().historyId);
    expect(third.engine.storageState().historyId).toBe(historyId);
    await third.engine.close();
  });

  it('brings the tables of format 1 to this one, with what is in them', async () => {
    const storeUrl = await newDatabase();
    const first = await open(storeUrl);
    await first.tell('p(a)');
    await first.engine.close(0);
    await run(
      storeUrl,
      `${toFormat3}; ALTER TABLE corollary.node DROP position, DROP stale_ms, DROP takes, DROP used_bytes,
      DROP memory_bytes, DROP problem; ALTER TABLE corollary.log DROP ended; UPDATE corollary.store SET format = 1;
      DELETE FROM corollary.log WHERE name = ''; UPDATE corollary.log SET name = '' WHERE name = 'default'`,
    );
    const second = await open(storeUrl);
    expect(await second.results('p(?x)')).toEqual(['p(a)']);
    expect((await second.engine.nodes()).nodes).toHaveLength(1);
    const names = await run(storeUrl, 'SELECT name, ended FROM corollary.log ORDER BY 1');
    expect(names).toEqual([
      { name: '', ended: false },
      { name: 'default', ended: false },
    ]);
    await second.engine.close();
    await (await open(storeUrl)).engine.close();
  });

  it('brings the tables of format 3 to this one, and places what is in them', async () => {
    const storeUrl = await newDatabase();
    const first = await open(storeUrl);
    await first.tell('p(a)');
    await first.engine.close(0);
    await run(storeUrl, `${toFormat3}; UPDATE corollary.store SET format = 3`);
    const second = await open(storeUrl);
    expect(await second.results('p(?x)')).toEqual(['p(a)']);
    const [database] = (await second.engine.nodes()).databases;
    expect(database?.placed).toEqual([second.engine.node()?.id]);
    await second.engine.close();
  });

  it('keeps two snapshots, and the frames since the older one', async () => {
    const storeUrl = await newDatabase();
    const session = await open(storeUrl);
    for (let n = 0; n < 5; n++) {
      await session.tellAll([`p(${n})`, `big(${n}, "${'x'.repeat(50_000)}")`]);
      await session.engine.snapshot();
    }
    await session.tell('p(last)');
    const rows = await run(
      storeUrl,
      `SELECT sequence FROM corollary.snapshot WHERE log = ${ofDefault} ORDER BY 1`,
    );
    expect(rows.map(({ sequence }) => Number(sequence))).toEqual([5, 6]);
    const frames = await run(
      storeUrl,
      `SELECT first_sequence AS first FROM corollary.frame WHERE log = ${ofDefault} ORDER BY 1`,
    );
    expect(frames.map(({ first }) => Number(first))).toEqual([6, 7]);
    const orphans = await run(
      storeUrl,
      'SELECT 1 FROM corollary.chunk WHERE attempt NOT IN (SELECT attempt FROM corollary.snapshot)',
    );
    expect(orphans).toEqual([]);
    await session.engine.close(0);
    const again = await open(storeUrl);
    expect(await again.results('p(?x)')).toHaveLength(6);
    await again.engine.close();
  });

  it('writes backups that a folder is restored from', async () => {
    for (const encryptionKey of [null, key]) {
      const session = await open(await newDatabase(), { encryptionKey });
      await session.tellAll(['p(a)', `p("${'x'.repeat(60_000)}")`]);
      const backup = await session.engine.backup();
      const pieces: Uint8Array[] = [];
      for await (const piece of backup.pieces()) pieces.push(piece);
      await backup.close(true);
      const bytes = Buffer.concat(pieces);
      expect(bytes.length).toBe(backup.bytes);
      const files = memoryBackend(new Map([[snapshotName(backup.position), bytes]]));
      const { engine } = await openEngineOn(files, null, { encryptionKey });
      expect(await asSession(engine).results('p(a)')).toEqual(['p(a)']);
      await engine.close();
      await session.engine.close();
    }
  });

  it('encrypts frames and snapshots, and refuses another key, none, and one for a store without', async () => {
    const storeUrl = await newDatabase();
    const session = await open(storeUrl, { encryptionKey: key });
    await session.tell('p(unmistakable)');
    await session.engine.snapshot();
    await session.tell('p(unmistakable_too)');
    await session.engine.close(0);
    const dump = JSON.stringify([
      await run(storeUrl, "SELECT encode(payload, 'escape') FROM corollary.frame"),
      await run(storeUrl, "SELECT encode(bytes, 'escape') FROM corollary.chunk"),
    ]);
    expect(dump).not.toContain('unmistakable');
    expect((await refused(storeUrl, { encryptionKey: 'f'.repeat(64) })).key).toBe('wrong');
    expect((await refused(storeUrl, {})).key).toBe('missing');
    const again = await open(storeUrl, { encryptionKey: key });
    expect(await again.results('p(?x)')).toEqual(['p(unmistakable)', 'p(unmistakable_too)']);
    await again.engine.close();
    const plain = await newDatabase();
    await (await open(plain)).engine.close();
    expect((await refused(plain, { encryptionKey: key })).key).toBe('not wanted');
  });

  it('refuses what was altered: a frame, a missing one, a piece of a snapshot', async () => {
    const alterations = [
      'UPDATE corollary.frame SET payload = set_byte(payload, 40, 1) WHERE first_sequence = 2',
      'DELETE FROM corollary.frame WHERE first_sequence = 2',
      'UPDATE corollary.chunk SET bytes = set_byte(bytes, 30, 1)',
      'DELETE FROM corollary.chunk WHERE section = 1',
    ];
    for (const [index, alteration] of alterations.entries()) {
      const storeUrl = await newDatabase();
      const session = await open(storeUrl);
      await session.tell('p(a)');
      await session.tell('p(b)');
      if (index >= 2) await session.engine.snapshot();
      await session.engine.close(0);
      await run(storeUrl, alteration);
      expect((await refused(storeUrl, {})).message, alteration).toContain('The store is damaged');
    }
  });

  it('goes on after its connections were cut and after the server crashed', async () => {
    const storeUrl = await newDatabase();
    const session = await open(storeUrl);
    const stored: string[] = [];
    const tellUntilStored = async (text: string): Promise<void> => {
      await expect.poll(() => session.tell(text).then(() => 'stored', codeOf)).toBe('stored');
      stored.push(text);
    };
    await tellUntilStored('p(a)');
    await run(
      server.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'corollary'",
    );
    await tellUntilStored('p(b)');
    await server.crash();
    await tellUntilStored('p(c)');
    await session.engine.close(0);
    const again = await open(storeUrl);
    expect(await again.results('p(?x)')).toEqual(stored);
    await again.engine.close();
  });

  it('answers NoOwner while the server is away, goes on reading, and writes again when it is back', async () => {
    const storeUrl = await newDatabase();
    const session = await open(storeUrl);
    await session.tell('p(a)');
    await server.stop();
    await expect.poll(() => session.tell('p(b)').then(() => 'stored', codeOf)).toBe('NoOwner');
    await expect.poll(() => session.engine.storage()).toBe('failed');
    expect(await session.results('p(?x)')).toEqual(['p(a)']);
    expect((await refusal(session.engine.confirm())).code).toBe('NoOwner');
    await server.start();
    await expect.poll(() => session.engine.storage()).toBe('ready');
    await session.tell('p(c)');
    await session.engine.confirm();
    await session.engine.close(0);
    const again = await open(storeUrl);
    expect(await again.results('p(?x)')).toEqual(['p(a)', 'p(c)']);
    await again.engine.close();
  });

  it('asks the store where an answer got lost: stored before, it is acknowledged', async () => {
    const storeUrl = await newDatabase();
    const session = await open(storeUrl);
    // A trigger that warns is what a cancelled wait for a standby looks like: committed, with a warning.
    await run(
      storeUrl,
      `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'in doubt'; RETURN NEW; END $$;
       CREATE TRIGGER warn AFTER INSERT ON corollary.frame FOR EACH ROW EXECUTE FUNCTION warn()`,
    );
    const [before] = await run(storeUrl, "SELECT epoch FROM corollary.log WHERE name = 'default'");
    await session.tell('p(a)');
    const [after] = await run(storeUrl, "SELECT epoch FROM corollary.log WHERE name = 'default'");
    expect(Number(after?.['epoch'])).toBe(Number(before?.['epoch']) + 1);
    await run(storeUrl, 'DROP TRIGGER warn ON corollary.frame');
    await session.tell('p(b)');
    expect(await session.results('p(?x)')).toEqual(['p(a)', 'p(b)']);
    await session.engine.close();
  });

  it('reads again what is left, and begins a history, where PostgreSQL lost what it had confirmed', async () => {
    const storeUrl = await newDatabase();
    const warnings: string[] = [];
    const session = await open(storeUrl, { onWarn: (message) => void warnings.push(message) });
    await session.tell('p(a)');
    await session.tell('p(b)');
    await run(
      storeUrl,
      `DELETE FROM corollary.frame WHERE first_sequence = 3;
       UPDATE corollary.log SET last_sequence = 2,
         last_checksum = (SELECT checksum FROM corollary.frame WHERE first_sequence = 2) WHERE name = 'default'`,
    );
    const token = session.engine.token('default')?.slice(0, 8);
    expect((await refusal(session.tell('p(c)'))).code).toBe('NoOwner');
    expect(warnings).toContainEqual(expect.stringContaining('has lost records that it had confirmed'));
    await expect.poll(() => session.engine.node('default')?.role).toBe('owner');
    expect(await session.results('p(?x)')).toEqual(['p(a)']);
    expect(session.engine.token('default')?.slice(0, 8)).not.toBe(token);
    await session.tell('p(d)');
    await session.engine.close();
    const again = await open(storeUrl);
    expect(await again.results('p(?x)')).toEqual(['p(a)', 'p(d)']);
    await again.engine.close();
  });

  describe('refuses to start, in one line', () => {
    it.each([
      ['an address where nothing listens', 'postgres://postgres@127.0.0.1:1/postgres', 'cannot be used'],
      ['a host that does not exist', 'postgres://postgres@nowhere.invalid/postgres', 'cannot be used'],
    ])('%s', async (_what, storeUrl, expected) => {
      expect((await refused(storeUrl, {})).message).toMatch(oneLine(expected));
    });

    it('a database that does not exist', async () => {
      const { message } = await refused(server.url.replace(/\/postgres$/, '/missing'), {});
      expect(message).toMatch(oneLine('database "missing" does not exist'));
    });

    it('a user without the right to create tables', async () => {
      await run(server.url, 'CREATE ROLE guest LOGIN');
      const storeUrl = await newDatabase();
      const { message } = await refused(storeUrl.replace('postgres@', 'guest@'), {});
      expect(message).toMatch(oneLine('Its user lacks a right'));
    });

    it('a session that does not wait for the disk', async () => {
      const storeUrl = await newDatabase();
      await run(
        storeUrl,
        `ALTER DATABASE ${new URL(storeUrl).pathname.slice(1)} SET synchronous_commit = off`,
      );
      expect((await refused(storeUrl, {})).message).toMatch(oneLine('synchronous_commit is off'));
      expect(await run(storeUrl, "SELECT to_regclass('corollary.store') AS store")).toEqual([
        { store: null },
      ]);
    });

    it('a server that does not wait for the disk', async () => {
      const careless = await startPostgres({ fsync: 'off' });
      expect((await refused(careless.url, {})).message).toMatch(oneLine('fsync=off'));
      await careless.remove();
    });

    it('a schema that is not a store, and a store of another format', async () => {
      const other = await newDatabase();
      await run(other, 'CREATE SCHEMA corollary; CREATE TABLE corollary.log (id int)');
      expect((await refused(other, {})).message).toMatch(oneLine('is not a store of Corollary'));
      const newer = await newDatabase();
      await (await open(newer)).engine.close();
      await run(newer, 'UPDATE corollary.store SET format = 99');
      expect((await refused(newer, {})).message).toMatch(oneLine('Use the newer program'));
      await run(newer, 'UPDATE corollary.store SET format = 1, writes_version = 99');
      expect((await refused(newer, {})).message).toMatch(oneLine('Use the newer program'));
    });

    it('a clock that is off', async () => {
      const storeUrl = await newDatabase();
      const clock = { now: () => Date.now() + 3_600_000, monotonic: () => performance.now() };
      expect((await refused(storeUrl, { clock })).message).toMatch(oneLine('differ by 3600 s'));
    });
  });

  it('what an earlier program does not read is written once all living nodes read it, and by none that does not', async () => {
    const storeUrl = await newDatabase();
    const join = (readsVersion: number): Promise<PostgresNode> =>
      PostgresNode.join({
        url: storeUrl,
        address: '',
        readsVersion,
        key: null,
        now: Date.now,
        random: (bytes) => randomBytes(bytes),
        onWarn: () => {},
      });
    const earlier = await join(1);
    const { engine, caller, tell } = await open(storeUrl);
    const declare = () =>
      engine.declare(caller, {
        ...declarationInputSchema.parse({ arguments: [{ name: 'x' }] }),
        name: 'p',
        arity: 1,
      });
    await tell('p(a)');
    await expect(declare()).rejects.toMatchObject({ code: 'NotReady' });
    const version = async () => (await run(storeUrl, 'SELECT writes_version FROM corollary.store'))[0];
    expect(await version()).toEqual({ writes_version: 1 });
    await earlier.close();
    await expect.poll(version).toEqual({ writes_version: operationVersion });
    await expect(join(1)).rejects.toThrow(StartupError);
    // Once its node has seen that.
    await expect
      .poll(() =>
        declare().then(
          () => 'declared',
          () => null,
        ),
      )
      .toBe('declared');
    await engine.close(0);
  });

  it('a node whose clock goes off gives the log to another one', async () => {
    const storeUrl = await newDatabase();
    let offset = 0;
    const clock = { now: () => Date.now() + offset, monotonic: () => performance.now() };
    const first = await open(storeUrl, { clock });
    const second = await open(storeUrl);
    offset = 5000;
    await expect.poll(() => second.engine.node('default')?.role).toBe('owner');
    expect(first.engine.node('default')).toMatchObject({ role: 'copy' });
    expect(Math.abs((first.engine.node()?.clockSkewMs ?? 0) - 5000)).toBeLessThan(1000);
    expect(await first.tell('p(a)').catch((error: unknown) => error)).toMatchObject({ code: 'NoOwner' });
    await second.tell('p(b)');
    await expect.poll(() => first.results('p(?x)')).toEqual(['p(b)']);
    await Promise.all([first.engine.close(), second.engine.close()]);
  });

  describe('nodes that are processes', () => {
    let program = '';
    beforeAll(async () => {
      program = await bundleProgram(new URL('../testing/write-store.ts', import.meta.url));
    });
    afterAll(() => rm(join(program, '..'), { recursive: true, force: true }));

    it('killed again and again, with cut connections and crashes between, lose and invent nothing', async () => {
      const storeUrl = await newDatabase();
      const outcomes = new Outcomes();
      for (let round = 0; round < (process.env['LONG'] === '1' ? 8 : 2); round++) {
        const child = startProgram(program, [storeUrl, `n${round}`]);
        expect(await child.nextLine()).toBe('open');
        await outcomes.read(child, `n${round}`, 150);
        if (round % 2 === 1) await server.crash();
        else await cutConnections(storeUrl);
        await outcomes.read(child, `n${round}`, 100);
        await child.kill('SIGKILL');
        await outcomes.read(child, `n${round}`, Number.POSITIVE_INFINITY);
      }
      await checkStored(storeUrl, outcomes);
    });

    it('have databases of their own: one that is killed does not stop the writes of another', async () => {
      const storeUrl = await newDatabase();
      const [outcomes, others] = [new Outcomes(), new Outcomes()];
      const killed = startProgram(program, [storeUrl, 'first']);
      expect(await killed.nextLine()).toBe('open');
      const other = startProgram(program, [storeUrl, 'other', 'second']);
      expect(await other.nextLine()).toBe('open');
      await Promise.all([outcomes.read(killed, 'first', 300), others.read(other, 'other', 300)]);
      await killed.kill('SIGKILL');
      await outcomes.read(killed, 'first', Number.POSITIVE_INFINITY);
      await others.read(other, 'other', 300);
      expect([others.refused.size, others.lost]).toEqual([0, []]);
      // It has taken the database of the other one.
      const third = startProgram(program, [storeUrl, 'third']);
      await others.read(other, 'other', 100);
      third.process.kill('SIGKILL');
      await other.kill('SIGKILL');
      await others.read(other, 'other', Number.POSITIVE_INFINITY);
      await checkStored(storeUrl, outcomes);
      await checkStored(storeUrl, others, 'second');
    });

    it('one that stops for longer than its lease is replaced, and stores nothing when it goes on', async () => {
      const storeUrl = await newDatabase();
      const outcomes = new Outcomes();
      const stopped = startProgram(program, [storeUrl, 'first']);
      expect(await stopped.nextLine()).toBe('open');
      await outcomes.read(stopped, 'first', 100);
      stopped.process.kill('SIGSTOP');
      const second = startProgram(program, [storeUrl, 'second']);
      // It waits for the lease to end.
      expect(await second.nextLine()).toBe('open');
      await outcomes.read(second, 'second', 100);
      stopped.process.kill('SIGCONT');
      await outcomes.read(stopped, 'first', Number.POSITIVE_INFINITY);
      expect(outcomes.lost).toEqual(['first']);
      await outcomes.read(second, 'second', 100);
      await second.kill('SIGKILL');
      await outcomes.read(second, 'second', Number.POSITIVE_INFINITY);
      await checkStored(storeUrl, outcomes);
    });
  });

  async function cutConnections(storeUrl: string): Promise<void> {
    const database = new URL(storeUrl).pathname.slice(1);
    await run(
      server.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid()`,
    );
  }
});

const ofDefault = "(SELECT id FROM corollary.log WHERE name = 'default')";

/** What processes reported of their writes. */
class Outcomes {
  readonly stored = new Set<string>();
  readonly refused = new Set<string>();
  /** Names of processes that lost the store. */
  readonly lost: string[] = [];

  /** Reads this many reports of a process, or all until its end. */
  async read(child: Child, name: string, count: number): Promise<void> {
    for (let read = 0; read < count; read++) {
      const line = await child.nextLine();
      if (line === null) return;
      const mark = `${name}, ${line.slice(1)}`;
      if (line === 'lost') this.lost.push(name);
      else if (line.startsWith('+')) this.stored.add(mark);
      else if (line.startsWith('-')) this.refused.add(mark);
    }
  }
}

/** Every acknowledged write is there once, no refused one is, and the records have no gap. */
async function checkStored(
  storeUrl: string,
  { stored, refused: not }: Outcomes,
  database = 'default',
): Promise<void> {
  const frames = await run(
    storeUrl,
    `SELECT payload FROM corollary.frame WHERE log = (SELECT id FROM corollary.log WHERE name = '${database}')
      ORDER BY first_sequence`,
  );
  const records = frames.flatMap(({ payload }) => [...decodeRecords(payload as Uint8Array)]);
  expect(records.map(({ sequence }) => sequence)).toEqual(records.map((_, index) => index + 1));
  const found = records.flatMap(({ operation }) => {
    const { facts = [] } = operation as { facts?: readonly { args: readonly string[] }[] };
    return facts.map(({ args }) => args.join(', '));
  });
  expect(new Set(found).size).toBe(found.length);
  const there = new Set(found);
  expect([...stored].filter((mark) => !there.has(mark))).toEqual([]);
  expect([...not].filter((mark) => there.has(mark))).toEqual([]);
  expect(stored.size).toBeGreaterThan(300);
  const { engine } = await open(storeUrl);
  expect((await engine.nodes()).databases).toContainEqual(
    expect.objectContaining({ name: database, position: records.length }),
  );
  await engine.close(0);
}

async function open(storeUrl: string, options: Partial<EngineOptions> = {}): Promise<Session> {
  return asSession(await openEngine({ storageDir: null, ...options, storeUrl }));
}

function asSession(engine: Session['engine']): Session {
  return sessionOf(engine, new ManualClock(0), testCaller());
}

async function refused(storeUrl: string, options: Partial<EngineOptions>): Promise<StartupError> {
  const outcome = await open(storeUrl, options).catch((error: unknown) => error);
  if (outcome instanceof StartupError) return outcome;
  throw new Error('expected a refusal', { cause: outcome });
}

function oneLine(part: string): RegExp {
  return new RegExp(`^STORE_URL: [^\\n]*${part}[^\\n]*$`);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : error;
}

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const answer: unknown = await client.query(text);
    return Array.isArray(answer) ? [] : (answer as { rows: Record<string, unknown>[] }).rows;
  } finally {
    await client.end();
  }
}
