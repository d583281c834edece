/** The built service as a process of its own, with a key, a folder and an endpoint file of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export interface BuiltService {
  readonly address: string;
  readonly apiKey: string;
  readonly endpointFile: string;
  /** Removed with the service; for files of this test. */
  readonly folder: string;
  close(): Promise<void>;
  /** Kills it as a crash does, and starts it again at the same address, in the same folder. */
  killAndStartAgain(): Promise<void>;
}

const program = fileURLToPath(new URL('../../../../out/main/headless.js', import.meta.url));

/** `nodeOptions` are for the process. Resolves when it is ready. Rejects if it was not built, or with its output if it does not start. */
export async function startBuiltService(nodeOptions: readonly string[] = []): Promise<BuiltService> {
  if (!existsSync(program)) throw new Error('build the service first: npm run build');
  const folder = mkdtempSync(join(tmpdir(), 'corollary-built-'));
  const apiKey = 'the-key-of-the-test';
  const endpointFile = join(folder, 'endpoint.json');
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    HOST: '127.0.0.1',
    STORAGE_DIR: join(folder, 'data'),
    COROLLARY_ENDPOINT_FILE: endpointFile,
    AUTH_ENABLED: 'true',
    API_KEY: apiKey,
    LOG_LEVEL: 'WARN',
  };
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  let running = await startProcess({ ...env, PORT: '0' }, nodeOptions).catch((error: unknown) => {
    removeFolder();
    throw error;
  });
  const { port } = running;
  return {
    address: `http://127.0.0.1:${port}`,
    apiKey,
    endpointFile,
    folder,
    async close() {
      await endProcess(running.child, 'SIGTERM');
      removeFolder();
    },
    async killAndStartAgain() {
      await endProcess(running.child, 'SIGKILL');
      running = await startProcess({ ...env, PORT: port }, nodeOptions);
    },
  };
}

interface RunningProcess {
  readonly child: ChildProcess;
  readonly port: string;
}

async function startProcess(env: NodeJS.ProcessEnv, nodeOptions: readonly string[]): Promise<RunningProcess> {
  const child = spawn(process.execPath, [...nodeOptions, program], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = text(child.stderr);
  let said = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    said += String(chunk);
    const port = /Workbench: http:\/\/127\.0\.0\.1:(\d+)\//.exec(said)?.[1];
    if (port !== undefined) return { child, port };
  }
  await endProcess(child, 'SIGTERM');
  throw new Error(`it did not start: ${await log}`);
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
