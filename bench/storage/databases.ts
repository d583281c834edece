/**
 * Redis and PostgreSQL as packaged by Debian, each with its files in a folder of its own, configured so that every
 * write is durable before it is acknowledged, and the loads of their own benchmarks.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Measured } from '../http/figures.ts';
import { cpuSecondsIn } from '../measure.ts';

/** A database under a write load. */
export interface Database {
  readonly name: string;
  /** Single writes of this many clients, for about this many seconds. */
  tells(clients: number, seconds: number): Promise<Measured>;
  /** This many batches of this many facts each, by clients that write one batch after the other. */
  batches(size: number, count: number, clients: number): Promise<Measured>;
  stop(): Promise<void>;
}

const startMs = 30_000;
const host = '127.0.0.1';

/** Redis with appendfsync always; null if it is not installed. */
export async function startRedis(folder: string): Promise<Database | null> {
  if (!isInstalled('redis-server') || !isInstalled('redis-benchmark')) return null;
  const port = await freePort();
  mkdirSync(folder);
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const child = spawn(
    'redis-server',
    ['--bind', host, '--port', String(port), '--dir', folder, '--loglevel', 'warning', ...durable],
    { stdio: 'ignore' },
  );
  await listening(port);
  const pid = child.pid ?? 0;
  const benchmark = async (args: readonly string[], answered: number): Promise<Measured> =>
    measured(pid, answered, () =>
      run('redis-benchmark', ['-h', host, '-p', String(port), '-q', '-r', '1000000000', ...args]),
    );
  const write = ['SET', 'met:__rand_int__', '1'];
  return {
    name: 'Redis',
    tells: (clients, seconds) => {
      const count = seconds * (clients === 1 ? 4000 : clients < 16 ? 15_000 : 40_000);
      return benchmark(['-c', String(clients), '-n', String(count), ...write], count);
    },
    batches: (size, count, clients) =>
      benchmark(
        ['-c', String(clients), '-n', String(size * count), '-P', String(size), ...write],
        size * count,
      ),
    stop: () => killed(child),
  };
}

/** PostgreSQL with its defaults, by which every commit is durable; null if it is not installed. */
export async function startPostgres(folder: string): Promise<Database | null> {
  if (!isInstalled('postgres') || !isInstalled('pgbench') || !isInstalled('psql')) return null;
  const port = await freePort();
  const owner = ownerOfServer();
  mkdirSync(folder);
  if (owner !== null) {
    chownSync(folder, owner.uid, owner.gid);
    // It must have access to the folder of the benchmark, which is private to us.
    chmodSync(dirname(folder), 0o711);
  }
  const files = join(folder, 'data');
  const programs = dirname(realpathSync(pathOf('postgres')));
  await run(
    join(programs, 'initdb'),
    ['-D', files, '-U', 'bench', '-A', 'trust', '--no-locale', '-E', 'UTF8'],
    {
      ...owner,
      cwd: folder,
    },
  );
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', files, '-p', String(port), '-c', `listen_addresses=${host}`, '-c', 'unix_socket_directories='],
    { stdio: 'ignore', ...owner, cwd: folder },
  );
  await listening(port);
  const address = ['-h', host, '-p', String(port), '-U', 'bench'];
  const sql = (command: string): Promise<string> =>
    run('psql', [...address, '-q', '-c', command, 'postgres']);
  await retried(() => sql('create table met (one text, other text, primary key (one, other))'));
  const script = join(folder, 'tell.sql');
  writeFileSync(
    script,
    String.raw`\set n random(1, 1000000000)
insert into met values ('n' || :n, 'n' || :n % 1000003) on conflict do nothing;
`,
  );
  const pid = child.pid ?? 0;
  let copied = 0;
  return {
    name: 'PostgreSQL',
    tells: (clients, seconds) => {
      const each = Math.ceil((seconds * (clients === 1 ? 1000 : clients < 16 ? 3000 : 6000)) / clients);
      const threads = String(Math.min(2, clients));
      const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', threads, '-t', String(each)];
      return measured(pid, each * clients, () =>
        run('pgbench', [...address, ...args, '-f', script, 'postgres']),
      );
    },
    batches: async (size, count, clients) => {
      const left = Array.from({ length: count }, () => {
        const file = join(folder, `batch-${++copied}`);
        writeFileSync(file, Array.from({ length: size }, (_, row) => `b${copied}\tn${row}\n`).join(''));
        return file;
      });
      const each = Array.from({ length: clients }, (_, client) =>
        left.filter((_file, at) => at % clients === client),
      );
      return measured(pid, size * count, async () => {
        await Promise.all(
          each.map((copies) =>
            run('psql', [
              ...address,
              '-q',
              ...copies.flatMap((file) => ['-c', String.raw`\copy met from '${file}'`]),
              'postgres',
            ]),
          ),
        );
      });
    },
    stop: () => killed(child),
  };
}

/** The cost of a load; CPU time is that of the server and the processes it started. */
async function measured(pid: number, answered: number, load: () => Promise<unknown>): Promise<Measured> {
  const cpuBefore = cpuOf(pid);
  const startedAt = performance.now();
  await load();
  const seconds = (performance.now() - startedAt) / 1000;
  return { answered, seconds, cpuSeconds: cpuOf(pid) - cpuBefore };
}

/** CPU seconds of a process, of its ended children, and of the running ones. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.replace(/^.*\) /s, '').split(' ');
  const ended = (Number(fields[13]) + Number(fields[14])) / 100;
  const running = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(name))
    .filter((each) => each !== null && each.replace(/^.*\) /s, '').split(' ')[1] === String(pid));
  return running.reduce((sum, each) => sum + cpuSecondsIn(each ?? ''), cpuSecondsIn(stat) + ended);
}

function statOf(pid: string): string | null {
  const file = `/proc/${pid}/stat`;
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    // It has ended since it was listed.
    if (!existsSync(file)) return null;
    throw error;
  }
}

function pathOf(program: string): string {
  return spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();
}

function isInstalled(program: string): boolean {
  return pathOf(program) !== '';
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package created. */
function ownerOfServer(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout),
  ) as [number, number];
  return { uid, gid };
}

function run(
  command: string,
  args: readonly string[],
  options: { uid?: number; gid?: number; cwd?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
    let errors = '';
    child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${code}: ${errors}`));
    });
  });
}

function killed(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve) => {
    child.on('close', () => resolve());
    // At once, and for PostgreSQL without leaving its processes behind.
    child.kill('SIGQUIT');
    setTimeout(() => child.kill('SIGKILL'), 5000).unref();
  });
}

async function retried(step: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + startMs;
  for (;;)
    try {
      await step();
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
}

function listening(port: number): Promise<void> {
  return retried(
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = createConnection({ host, port }, () => {
          socket.destroy();
          resolve();
        });
        socket.on('error', reject);
      }),
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().listen(0, host, () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port'));
        else resolve(address.port);
      });
    });
  });
}
