/**
 * What clients that do nothing cost the service: 100 and 250 of them over each transport that keeps a stream, and what it
 * costs to tell all of them of one change.
 *
 * Each case has a service of its own. Memory is what its heap and buffers hold more after a full collection; what is
 * resident says less, since the heap keeps pages and gives them back when it likes; CPU time is what it needs while nothing happens and more than it needed before they came. A change is a fact told over
 * HTTP; what that costs without clients is taken off.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { post } from '../http/load.ts';
import { newFact } from '../http/requests.ts';
import { builtService, type Server, startServer } from '../http/server.ts';
import { figure, table } from '../report.ts';
import { type Listener, sessionListener, sseListener, statelessListener } from './listeners.ts';
import { facts } from './questions.ts';

const counts = [100, 250] as const;
/** As long as the signs of life on streams are apart, so that each stream has one. */
const idleMs = 15_000;
const changes = 20;
/** Longer than the service gathers changes, so that each is told by itself. */
const betweenChangesMs = 150;
/** Memory and timers come to rest. */
const settleMs = 1000;
/** For a service to say what it holds. */
const mostAnswerMs = 20_000;

const ways = [
  { name: 'SSE', open: sseListener },
  { name: '2025-11-25, session and stream', open: sessionListener },
  { name: '2026-07-28, subscriptions/listen', open: statelessListener },
] as const;

interface Case {
  readonly label: string;
  readonly count: number;
  readonly open: (address: string) => Promise<Listener>;
  readonly service: Server;
  /** Where it says what it holds. */
  readonly memoryFile: string;
}

/** What was measured of one case, with clients or without. */
interface Cost {
  readonly heldBytes: number;
  /** CPU seconds while nothing happened. */
  readonly idle: number;
  /** CPU seconds while all changes were told. */
  readonly telling: number;
}

/** A table as Markdown: for each way and number of clients what one of them costs. */
export async function measureIdle(bundles: string, folder: string): Promise<string> {
  const cases: Case[] = [];
  try {
    for (const { name, open } of ways)
      for (const count of counts) {
        const own = join(folder, `idle-${cases.length}`);
        mkdirSync(own);
        const memoryFile = join(own, 'memory.json');
        const service = await start(bundles, own, memoryFile);
        cases.push({ label: `${count} clients, ${name}`, count, open, service, memoryFile });
      }
    return table(
      ['', 'KiB a client', 'CPU ms a client and hour', 'CPU µs to tell a client'],
      await rowsOf(cases),
    );
  } finally {
    await Promise.all(cases.map(({ service }) => service.stop()));
  }
}

async function start(bundles: string, folder: string, memoryFile: string): Promise<Server> {
  const { args, environment, ...program } = builtService('idle', bundles, folder, 'always');
  const collecting = ['--expose-gc', '--import', join(bundles, 'collecting.js')];
  const service = await startServer(
    {
      ...program,
      args: [...collecting, ...args],
      environment: { ...environment, BENCH_MEMORY_FILE: memoryFile },
    },
    folder,
  );
  await post(service, '/assert/facts', JSON.stringify({ facts }));
  return service;
}

async function rowsOf(cases: readonly Case[]): Promise<string[][]> {
  // Code is compiled and memory taken that stays, whoever comes next.
  for (const each of cases) {
    const listeners = await listenersOf(each);
    await tellChanges(each.service);
    for (const listener of listeners) await listener.close();
  }
  const before = await costs(cases);
  const listeners: Listener[][] = [];
  for (const each of cases) listeners.push(await listenersOf(each));
  const after = await costs(cases);
  for (const [index, { label }] of cases.entries())
    for (const listener of listeners[index] ?? [])
      if (listener.told() !== changes)
        throw new Error(`${label}: a client was told ${listener.told()} of ${changes} changes`);
  return cases.map(({ label, count }, index) => {
    const [less, more] = [before[index], after[index]];
    if (less === undefined || more === undefined) throw new Error('each case was measured twice');
    const seconds = (more.idle - less.idle) / count;
    return [
      label,
      figure((more.heldBytes - less.heldBytes) / 1024 / count),
      figure((seconds * 1000 * 3_600_000) / idleMs),
      figure(((more.telling - less.telling) * 1e6) / (changes * count)),
    ];
  });
}

async function listenersOf({ open, count, service }: Case): Promise<Listener[]> {
  const listeners: Listener[] = [];
  for (let opened = 0; opened < count; opened++) listeners.push(await open(service.address));
  return listeners;
}

/** Those of all cases; idle at the same time, since nobody then disturbs anybody. */
async function costs(cases: readonly Case[]): Promise<Cost[]> {
  await pause(settleMs);
  const memory: number[] = [];
  for (const each of cases) memory.push(await heldBytes(each));
  const cpuBefore = cases.map(({ service }) => cpuSeconds(service.pid));
  await pause(idleMs);
  const idle = cases.map(({ service }, index) => cpuSeconds(service.pid) - (cpuBefore[index] ?? 0));
  const found: Cost[] = [];
  for (const [index, { service }] of cases.entries()) {
    const start = cpuSeconds(service.pid);
    await tellChanges(service);
    found.push({
      heldBytes: memory[index] ?? 0,
      idle: idle[index] ?? 0,
      telling: cpuSeconds(service.pid) - start,
    });
  }
  return found;
}

async function heldBytes({ label, service, memoryFile }: Case): Promise<number> {
  rmSync(memoryFile, { force: true });
  service.signal('SIGUSR2');
  const until = performance.now() + mostAnswerMs;
  for (;;) {
    await pause(50);
    const text = existsSync(memoryFile) ? readFileSync(memoryFile, 'utf8') : '';
    if (text !== '') return Number(text);
    if (performance.now() > until) throw new Error(`${label}: the service does not say what it holds`);
  }
}

async function tellChanges(service: Server): Promise<void> {
  for (let change = 0; change < changes; change++) {
    await post(service, '/tell', newFact());
    await pause(betweenChangesMs);
  }
}

/** To the microsecond, unlike what a process is told in ticks: the first field of a thread's `schedstat`, in nanoseconds. */
function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e9;
}
