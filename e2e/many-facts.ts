import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from './root.ts';

const program = join(root, 'out/main/headless.js');
const batch = 100_000;

/** Stores that many facts `edge(a, b)` in a folder by the built service, which ends with a snapshot. */
export async function fillWithFacts(folder: string, count: number): Promise<void> {
  const port = await freePort();
  const service = spawn(process.execPath, [program], {
    env: {
      ...process.env,
      STORAGE_DIR: folder,
      PORT: String(port),
      HOST: '127.0.0.1',
      WARM_UP: 'false',
      COROLLARY_ENDPOINT_FILE: join(folder, '..', `endpoint-${port}.json`),
    },
    stdio: 'ignore',
  });
  const ended = once(service, 'exit');
  const url = `http://127.0.0.1:${port}`;
  while (!(await isReady(url))) {
    if (service.exitCode !== null) throw new Error(`the service ended with ${service.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
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

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health/ready`)).ok;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  await once(server, 'close');
  return port;
}
