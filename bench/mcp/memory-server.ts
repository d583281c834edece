/** The official memory server, a process of its own that uses its standard streams, with the knowledge in its file. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Server } from '../http/server.ts';
import { cpuSecondsIn } from '../measure.ts';
import { type Client, stdioClient } from './clients.ts';
import { memoryFile } from './questions.ts';

/** `folder` receives its file and its standard error. */
export async function startMemoryServer(
  folder: string,
): Promise<{ server: Pick<Server, 'cpuSeconds' | 'stop'>; client: Client }> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json');
  const file = join(folder, 'memory.jsonl');
  writeFileSync(file, memoryFile());
  const errors = openSync(join(folder, 'memory-server.log'), 'w');
  const child = spawn(process.execPath, [join(dirname(manifest), 'dist', 'index.js')], {
    stdio: ['pipe', 'pipe', errors],
    env: { PATH: process.env['PATH'], MEMORY_FILE_PATH: file },
  });
  closeSync(errors);
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('its standard streams are not pipes');
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return {
    client: await stdioClient(stdin, stdout),
    server: {
      cpuSeconds: () => cpuSecondsIn(readFileSync(`/proc/${child.pid}/stat`, 'latin1')),
      stop: async () => {
        child.kill('SIGKILL');
        await ended;
      },
    },
  };
}
