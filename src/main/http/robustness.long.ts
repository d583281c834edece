import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Chance } from './testing/chance.ts';
import { GoodClient } from './testing/good-client.ts';
import { HostileWorld } from './testing/hostile-world.ts';
import { abuses, flawOfReply, idleConnections } from './testing/raw-abuse.ts';

/**
 * The built service as a separate process, for ROBUSTNESS_MINUTES (60) in rounds: hostile requests, abused connections,
 * floods of streams and unread answers, all at once, beside a well-behaved client. It never dies, never answers 5xx,
 * never reveals data of others, logs no error, leaks nothing, and ends as promised.
 */
const minutes = Number(process.env['ROBUSTNESS_MINUTES'] ?? 60);
const roundMs = Math.min(minutes * 60_000, 5 * 60_000);
const program = fileURLToPath(new URL('../../../out/main/headless.js', import.meta.url));
const apiKey = 'the-key-of-the-test';
/** A shutdown takes at most ten seconds, and a busy machine may report it late. */
const endMs = 15_000;

interface Running {
  readonly process: ChildProcess;
  readonly port: number;
  readonly log: Promise<string>;
}

async function start(storageDir: string): Promise<Running> {
  if (!existsSync(program)) throw new Error('build the service first: npm run build');
  const env = {
    PATH: process.env['PATH'],
    HOST: '127.0.0.1',
    PORT: '0',
    STORAGE_DIR: storageDir,
    COROLLARY_ENDPOINT_FILE: join(storageDir, 'endpoint.json'),
    AUTH_ENABLED: 'true',
    API_KEY: apiKey,
    LOG_LEVEL: 'WARN',
    LOG_FORMAT: 'json',
  };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = text(child.stderr);
  let said = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    said += String(chunk);
    const port = /Workbench: http:\/\/127\.0\.0\.1:(\d+)\//.exec(said)?.[1];
    if (port !== undefined) return { process: child, port: Number(port), log };
  }
  throw new Error(`it did not start: ${await log}`);
}

function figure(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
}

/** Streams and long answers of a client with a key that reads nothing. */
async function flood(port: number, chance: Chance): Promise<void> {
  const path = chance.pick(['/events', '/events', '/export', '/facts?limit=1000', '/openapi.json']);
  const sockets = Array.from({ length: 100 }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => socket.destroy()).pause();
    const one = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Tenant-ID: good\r\nX-API-Key: ${apiKey}\r\n\r\n`;
    socket.write(one.repeat(path === '/events' ? 1 : 20));
    return socket;
  });
  await wait(500 + chance.below(1500));
  for (const socket of sockets) {
    if (chance.is(0.3)) socket.resetAndDestroy();
    else socket.destroy();
  }
}

async function round(seed: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-robustness-'));
  const service = await start(folder);
  try {
    await play(seed, service);
  } finally {
    // Only if it has not ended by itself.
    service.process.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function play(seed: number, service: Running): Promise<void> {
  const world = new HostileWorld({ port: service.port, apiKey });
  await world.plant();
  const good = new GoodClient(service.port, apiKey);
  const before = figure(await good.metrics(), 'process_open_fds');
  const endIdle = await idleConnections(service.port, 1500);
  const until = performance.now() + roundMs;
  const counts = { requests: 0, abuses: 0 };
  const untilThen = async (own: number, step: (chance: Chance) => Promise<void>): Promise<void> => {
    const chance = new Chance(seed * 100 + own);
    while (performance.now() < until) await step(chance);
  };
  const ask = async (chance: Chance): Promise<void> => {
    counts.requests++;
    const flaw = await world.step(chance);
    if (flaw !== null) throw new Error(`seed ${seed}: ${flaw}`);
  };
  const abuse = async (chance: Chance): Promise<void> => {
    counts.abuses++;
    const one = chance.pick(abuses);
    for (const reply of await one.run(service.port, chance)) {
      const flaw = flawOfReply(reply);
      if (flaw !== null) throw new Error(`seed ${seed}: ${one.name}: ${flaw}: ${reply.slice(0, 2000)}`);
    }
  };
  const working = good.run();
  try {
    await Promise.race([
      Promise.all([
        ...[0, 1, 2, 3].map((own) => untilThen(own, ask)),
        ...[4, 5, 6].map((own) => untilThen(own, abuse)),
        untilThen(7, (chance) => flood(service.port, chance)),
      ]),
      // A wrong answer to the well-behaved client ends the round at once.
      working.then(() => Promise.reject(new Error('it stopped by itself'))),
    ]);
  } finally {
    good.stop();
    endIdle();
    world.close();
  }
  await working;
  await expect.poll(async () => figure(await good.metrics(), 'service_http_requests_in_flight')).toBe(1);
  await expect.poll(async () => figure(await good.metrics(), 'process_open_fds')).toBeLessThan(before + 20);
  const residentMiB = figure(await good.metrics(), 'process_resident_memory_bytes') / 2 ** 20;
  const { calls, p99 } = good.figures();
  console.log(
    `robustness, seed ${seed}: ${counts.requests} hostile requests (${JSON.stringify([...world.statuses])}), ` +
      `${counts.abuses} abuses, ${calls} calls of others with p99 ${p99} ms, ${Math.round(residentMiB)} MiB resident`,
  );
  const ended = once(service.process, 'exit');
  const startedAt = performance.now();
  service.process.kill('SIGTERM');
  const [code] = (await ended) as [number | null];
  expect(code).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(endMs);
  const log = await service.log;
  expect(log.split('\n').filter((line) => /"level":("ERROR"|50)/.test(line))).toEqual([]);
}

test('survives an hour of hostile requests and abused connections', {
  timeout: minutes * 60_000 * 2 + 300_000,
}, async () => {
  const until = performance.now() + minutes * 60_000;
  let seed = Number(process.env['SEED'] ?? 1);
  do await round(seed++);
  while (performance.now() < until);
});
