/** Reasoning threads of the built program: of the headless service, and of the desktop application's thread. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@playwright/test';
import { expectThatAQuestionMoves } from './moved-question.ts';
import { root } from './root.ts';
import { ServiceProcess } from './service.ts';

test('a question that takes long moves to a thread of the built service', async () => {
  const service = new ServiceProcess({ REASONING_THREADS: '1' });
  try {
    await service.start();
    await expectThatAQuestionMoves(service.url);
  } finally {
    await service.dispose();
  }
  expect(service.log).not.toMatch(/"level":"(WARN|ERROR)"/);
});

test('a question that takes long moves to a thread of the desktop application’s service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-e2e-'));
  const environment = {
    HOME: folder,
    STORAGE_DIR: join(folder, 'data'),
    COROLLARY_ENDPOINT_FILE: join(folder, 'endpoint.json'),
    WARM_UP: 'false',
    LOG_LEVEL: 'WARN',
    REASONING_THREADS: '1',
  };
  const settings = { environment, defaults: { host: '127.0.0.1', port: 0 }, logFile: null, program: null };
  const worker = new Worker(join(root, 'out/main/service-thread.js'), {
    workerData: settings,
    env: environment,
  });
  try {
    const address = await new Promise<string>((resolve, reject) => {
      worker.once('error', reject);
      worker.on('message', (message: { kind: string; address?: string }) => {
        if (message.kind === 'ready') resolve(message.address ?? '');
      });
    });
    await expectThatAQuestionMoves(address);
  } finally {
    const ended = once(worker, 'exit');
    worker.postMessage({ kind: 'close' });
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
