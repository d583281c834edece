/**
 * A private PostgreSQL server for tests: a new cluster in a temporary folder, on a free port of the loopback address.
 *
 * It is found by PATH and in Debian's folders. PostgreSQL refuses to run as root, so root starts it as `nobody`.
 */
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Why there is no server here, for the title of a skipped test; null: there is one. */
export const postgresMissing: string | null =
  binaries() === null
    ? 'PostgreSQL (initdb) is not installed here'
    : process.platform === 'win32'
      ? 'this starts PostgreSQL as another user, which Windows does otherwise'
      : null;

/** For the title of tests that are skipped without a server. */
export const postgresNotice = postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`;

/** A running server. */
export interface PrivatePostgres {
  /** Of the superuser; no password is needed. */
  readonly url: string;
  readonly port: number;
  /** The id of its main process. */
  pid(): number;
  /** The same over a socket of its folder, which is there in every network namespace. */
  readonly socketUrl: string;
  /** Restarts it as after a crash: connections are cut, what was confirmed is there. */
  crash(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Starts a server that follows this one under the name `standby`. */
  standby(): Promise<PrivatePostgres>;
  /** Makes a standby the primary. */
  promote(): Promise<void>;
  /** Changes a setting that needs no restart. */
  set(name: string, value: string): Promise<void>;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

/** Where a server runs. */
interface Where {
  /** Runs programs there, such as in a network namespace. */
  readonly prefix?: readonly string[];
  readonly host?: string;
}

/** Creates and starts a server with these settings. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  where: Where = {},
): Promise<PrivatePostgres> {
  const folder = await newFolder();
  const data = join(folder, 'data');
  await program(where, 'initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8');
  if (where.host !== undefined)
    appendFileSync(join(data, 'pg_hba.conf'), 'host all all all trust\nhost replication all all trust\n');
  return started(folder, settings, where);
}

async function newFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-postgres-'));
  if (!isRoot) return folder;
  chownSync(folder, Number((await run('id', ['-u', 'nobody'])).stdout), -1);
  chmodSync(folder, 0o700);
  return folder;
}

const isRoot = process.getuid?.() === 0;

/** Runs one of PostgreSQL's programs; as `nobody`, if this process is root. */
async function program({ prefix = [] }: Where, name: string, ...rest: string[]): Promise<void> {
  const asNobody = isRoot ? ['setpriv', '--reuid=nobody', '--clear-groups'] : [];
  const [first = '', ...others] = [...prefix, ...asNobody, join(binaries() ?? '', name), ...rest];
  await run(first, others, { cwd: '/', env: { ...process.env, LC_ALL: 'C' } });
}

/** Starts the server whose cluster is in the folder. */
async function started(
  folder: string,
  settings: Readonly<Record<string, string>>,
  where: Where,
): Promise<PrivatePostgres> {
  const data = join(folder, 'data');
  const port = await freePort();
  const { host = '127.0.0.1' } = where;
  const own = { port: String(port), listen_addresses: host, unix_socket_directories: folder };
  const change = (changed: Readonly<Record<string, string>>): void => {
    const lines = Object.entries(changed).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(data, 'postgresql.auto.conf'), lines.join(''));
  };
  change({ ...own, ...settings });
  const start = (): Promise<void> =>
    program(where, 'pg_ctl', '-D', data, '-l', join(folder, 'log'), '-w', 'start');
  const stop = (): Promise<void> => program(where, 'pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
  await start();
  return {
    url: `postgres://postgres@${host}:${port}/postgres`,
    port,
    pid: () => Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10),
    socketUrl: `postgres://postgres@${encodeURIComponent(folder)}:${port}/postgres`,
    start,
    stop,
    crash: async () => {
      await stop();
      await start();
    },
    standby: async () => {
      const copy = await newFolder();
      const from = `host=${folder} port=${port} user=postgres application_name=standby`;
      await program(where, 'pg_basebackup', '-D', join(copy, 'data'), '-R', '-c', 'fast', '-d', from);
      return started(copy, { synchronous_standby_names: '' }, where);
    },
    promote: () => program(where, 'pg_ctl', '-D', data, '-w', 'promote'),
    set: async (name, value) => {
      change({ [name]: value });
      await program(where, 'pg_ctl', '-D', data, 'reload');
    },
    remove: async () => {
      await stop().catch(() => {
        // It was stopped by its test.
      });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The folder of PostgreSQL's programs; null: not installed. */
function binaries(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  const withAll = (...names: string[]): string | undefined =>
    folders.find((folder) => folder !== '' && names.every((name) => existsSync(join(folder, name))));
  // Somebody may have only a part of them in PATH.
  return withAll('initdb', 'pg_basebackup') ?? withAll('initdb') ?? null;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
