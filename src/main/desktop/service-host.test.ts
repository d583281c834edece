import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ThreadSettings } from '../base/service-messages.ts';
import { startServiceThread } from './service-host.ts';

/**
 * Threads that send the messages of a service thread and end in every way. The real one is tested in its built form.
 */
const threads = {
  ready: `
    port.on('message', ({ kind }) => { if (kind === 'count-agents') port.postMessage({ kind: 'agents', count: 3 }); if (kind === 'close') { port.postMessage({ kind: 'closed' }); port.close(); } });
    port.postMessage({ kind: 'ready', address: 'http://127.0.0.1:' + workerData.defaults.port, port: workerData.defaults.port });`,
  opening: `
    for (const percent of [0, 50, 99]) port.postMessage({ kind: 'opening', percent });
    port.on('message', () => port.close());
    port.postMessage({ kind: 'ready', address: 'http://127.0.0.1:1', port: 1 });`,
  silent: `
    port.on('message', ({ kind }) => { if (kind === 'close') port.close(); });
    port.postMessage({ kind: 'ready', address: 'http://127.0.0.1:1', port: 1 });`,
  refused: `port.postMessage({ kind: 'refused', refusal: { reason: 'damaged', message: 'Damaged.', owner: null } });`,
  throws: `throw new Error('a bug in the thread');`,
  ends: `process.exit(3);`,
  dies: `
    port.postMessage({ kind: 'ready', address: 'http://127.0.0.1:1', port: 1 });
    port.on('message', () => {});
    setTimeout(() => { throw new Error('died later'); }, 20);`,
};

let folder: string;
const file = (name: keyof typeof threads) => join(folder, `${name}.mjs`);
const settings: ThreadSettings = {
  program: null,
  environment: {},
  defaults: { host: '127.0.0.1', port: 9310 },
  logFile: null,
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-thread-'));
  for (const [name, body] of Object.entries(threads))
    writeFileSync(
      join(folder, `${name}.mjs`),
      `import { parentPort as port, workerData } from 'node:worker_threads';\n${body}\n`,
    );
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the service thread', () => {
  it('runs once it is ready and ends when it is closed', async () => {
    const start = await startServiceThread(file('ready'), settings);
    if (start.outcome !== 'running') throw new Error('expected it to run');
    expect(start.service).toMatchObject({ address: 'http://127.0.0.1:9310', port: 9310 });
    let isLost = false;
    void start.service.lost.then(() => {
      isLost = true;
    });
    await start.service.close();
    await start.service.close();
    expect(isLost).toBe(false);
  });

  it('says how far it has read before it is ready', async () => {
    const percents: number[] = [];
    const start = await startServiceThread(file('opening'), settings, {
      onOpening: (percent) => percents.push(percent),
    });
    expect(percents).toEqual([0, 50, 99]);
    if (start.outcome === 'running') await start.service.close();
    expect(start.outcome).toBe('running');
  });

  it('reports how many agents are connected, and none after it ended', async () => {
    const start = await startServiceThread(file('ready'), settings);
    if (start.outcome !== 'running') throw new Error('expected it to run');
    expect(await start.service.agents()).toBe(3);
    await start.service.close();
    expect(await start.service.agents()).toBe(0);
  });

  it('does not block quitting if it reports no agents', async () => {
    const start = await startServiceThread(file('silent'), settings);
    if (start.outcome !== 'running') throw new Error('expected it to run');
    expect(await start.service.agents()).toBe(0);
    await start.service.close();
  });

  it('passes on why the service refused to start, after it ended', async () => {
    const start = await startServiceThread(file('refused'), settings);
    expect(start).toEqual({
      outcome: 'refused',
      refusal: { reason: 'damaged', message: 'Damaged.', owner: null },
    });
  });

  it('turns a failure before ready into a refusal with the reason', async () => {
    expect(await startServiceThread(file('throws'), settings)).toMatchObject({
      outcome: 'refused',
      refusal: { reason: 'failed', message: expect.stringContaining('a bug in the thread') },
    });
    expect(await startServiceThread(file('ends'), settings)).toMatchObject({
      outcome: 'refused',
      refusal: { reason: 'failed', message: expect.stringContaining('code 3') },
    });
    expect(await startServiceThread(join(folder, 'absent.mjs'), settings)).toMatchObject({
      outcome: 'refused',
      refusal: { reason: 'failed' },
    });
  });

  it('is reported as lost if it ends by itself after ready', async () => {
    const start = await startServiceThread(file('dies'), settings);
    if (start.outcome !== 'running') throw new Error('expected it to run');
    expect(await start.service.lost).toContain('died later');
    await start.service.close();
  });
});
