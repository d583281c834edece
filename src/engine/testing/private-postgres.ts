/**
 * A private PostgreSQL server for tests: a new cluster in a temporary folder, on a free port of the loopback address.
 *
 * It is found by PATH and in Debian's folders. PostgreSQL refuses to run as root, so root starts it as `nobody`.
 */
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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
  /** Restarts it as after a crash: connections are cut, what was confirmed is there. */
  crash(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

/** Creates and starts a server with these settings. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PrivatePostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-postgres-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const nobody = Number((await run('id', ['-u', 'nobody'])).stdout);
    chownSync(folder, nobody, -1);
    chmodSync(folder, 0o700);
  }
  const data = join(folder, 'data');
  const program = async (name: string, ...rest: string[]): Promise<void> => {
    const command = [join(binaries() ?? '', name), ...rest];
    const [first = '', ...others] = isRoot
      ? ['setpriv', '--reuid=nobody', '--clear-groups', ...command]
      : command;
    await run(first, others, { cwd: '/', env: { ...process.env, LC_ALL: 'C' } });
  };
  await program('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8');
  const port = await freePort();
  const given = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    ...settings,
  };
  const lines = Object.entries(given).map(([name, value]) => `${name} = '${value}'\n`);
  writeFileSync(join(data, 'postgresql.auto.conf'), lines.join(''));
  const start = (): Promise<void> => program('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-w', 'start');
  const stop = (): Promise<void> => program('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop,
    crash: async () => {
      await stop();
      await start();
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
  return folders.find((folder) => folder !== '' && existsSync(join(folder, 'initdb'))) ?? null;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
