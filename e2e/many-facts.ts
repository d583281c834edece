import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';

const program = join(root, 'out/main/headless.js');
const batch = 100_000;

/** Stores that many facts `edge(a, b)` in a folder by the built service, which ends with a snapshot. */
export async function fillWithFacts(folder: string, count: number): Promise<void> {
  const endpoint = join(folder, '..', `endpoint-${randomUUID()}.json`);
  const service = spawn(process.execPath, [program], {
    env: {
      ...process.env,
      STORAGE_DIR: folder,
      PORT: '0',
      HOST: '127.0.0.1',
      WARM_UP: 'false',
      COROLLARY_ENDPOINT_FILE: endpoint,
    },
    stdio: 'ignore',
  });
  const ended = once(service, 'exit');
  // It is written once the service is ready.
  while (!existsSync(endpoint)) {
    if (service.exitCode !== null) throw new Error(`the service ended with ${service.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { url } = JSON.parse(readFileSync(endpoint, 'utf8')) as { url: string };
  for (let from = 0; from < count; from += batch) {
    const lines = Array.from({ length: Math.min(batch, count - from) }, (_, index) => {
      const number = from + index;
      return `edge(n${number % 200_000}, m${number}).\n`;
    });
    const answer = await fetch(`${url}/import`, {
      method: 'POST',
      headers: { 'content-type': 'text/x-datalog; charset=utf-8', 'x-tenant-id': 'default' },
      body: lines.join(''),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`the import was answered with ${answer.status}: ${text}`);
  }
  service.kill('SIGTERM');
  await ended;
}
