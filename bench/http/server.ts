/**
 * A server under measurement: a process of its own that prints its address.
 *
 * Its standard error goes to a file, as a service's log does; CPU time is that of the whole process, read from /proc
 * before and after.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSecondsIn } from '../measure.ts';

export interface Server {
  readonly name: string;
  readonly address: string;
  readonly pid: number;
  /** CPU seconds since its start, of all threads. */
  cpuSeconds(): number;
  signal(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The built service, its files in `folder`. `bundles` is the folder of the benchmark's bundle. */
export function builtService(
  name: string,
  bundles: string,
  folder: string,
  fsync: 'always' | 'never',
): Program {
  const program = join(bundles, '..', 'main', 'headless.js');
  if (!existsSync(program)) throw new Error('the service is not built: npm run build');
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    STORAGE_DIR: join(folder, fsync),
    COROLLARY_ENDPOINT_FILE: join(folder, `${fsync}.json`),
    FSYNC: fsync,
    // For the same benchmark with and without them.
    REASONING_THREADS: process.env['REASONING_THREADS'] ?? '1',
  };
  return { name, command: process.execPath, args: [program, 'serve'], environment };
}

const startMs = 120_000;

/** Resolves when the program has printed its address. `folder` receives its standard error. */
export async function startServer(program: Program, folder: string): Promise<Server> {
  const { name, command, args, environment = {} } = program;
  const errorFile = join(folder, `${name.replaceAll(/\W+/g, '-')}.log`);
  const errors = openSync(errorFile, 'w');
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment };
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', errors], env });
  closeSync(errors);
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(`it ended with ${code ?? signal}`));
  });
  try {
    const address = await addressPrinted(child, ended);
    return {
      name,
      address,
      pid: child.pid ?? 0,
      signal: (signal) => {
        child.kill(signal);
      },
      cpuSeconds: () => cpuSecondsIn(readFileSync(`/proc/${child.pid}/stat`, 'latin1')),
      stop: async () => {
        // Nothing of it is needed any more.
        child.kill('SIGKILL');
        await ended;
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    const why = error instanceof Error ? error.message : String(error);
    const last = readFileSync(errorFile, 'utf8').slice(-500);
    throw new Error(`${name} does not start: ${why}\n${last}`, { cause: error });
  }
}

async function addressPrinted(child: ChildProcess, ended: Promise<string>): Promise<string> {
  let printed = '';
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        printed += chunk.toString('utf8');
        const address = /(http:\/\/[\w.]+:\d+)\/?\s/.exec(printed)?.[1];
        if (address !== undefined) resolve(address);
      });
      timer = setTimeout(() => reject(new Error(`no address within ${startMs / 1000} s`)), startMs);
      void ended.then((why) => reject(new Error(why)));
    });
  } finally {
    clearTimeout(timer);
  }
}
