/**
 * The cost of idle clients for the service: 100 and 250 of them over each transport with a stream, and the cost of
 * notifying all of them of one change.
 *
 * Each case has a service of its own. Memory is the growth of its heap and buffers after a full collection; resident
 * memory is less meaningful, since the heap keeps pages and returns them at any time; CPU time is that of an idle
 * period, minus the same before the clients connected. A change is a fact told over HTTP; its cost without clients is
 * subtracted.
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
/** As long as the interval of keep-alive messages, so that each stream gets one. */
const idleMs = 15_000;
const changes = 20;
/** Longer than the interval in which the service collects changes, so that each is notified separately. */
const betweenChangesMs = 150;
/** Time for memory and timers to settle. */
const settleMs = 1000;
/** Time for a service to report its memory. */
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
  /** The file for its memory report. */
  readonly memoryFile: string;
}

/** The measurements of one case, with or without clients. */
interface Cost {
  readonly heldBytes: number;
  /** CPU seconds of the idle period. */
  readonly idle: number;
  /** CPU seconds while all changes were notified. */
  readonly telling: number;
}

/** A table as Markdown: for each transport and number of clients the cost of one of them. */
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
  // Compiled code and memory that remain, whichever client comes next.
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
        throw new Error(`${label}: a client got ${listener.told()} of ${changes} notifications`);
  return cases.map(({ label, count }, index) => {
    const [less, more] = [before[index], after[index]];
    if (less === undefined || more === undefined) throw new Error('a case was not measured twice');
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

/** All cases; they idle at the same time, since idle ones do not disturb each other. */
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
    if (performance.now() > until) throw new Error(`${label}: the service does not report its memory`);
  }
}

async function tellChanges(service: Server): Promise<void> {
  for (let change = 0; change < changes; change++) {
    await post(service, '/tell', newFact());
    await pause(betweenChangesMs);
  }
}

/**
 * To the microsecond, unlike a process's own time in ticks: the first field of a thread's `schedstat`, in nanoseconds.
 */
function cpuSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e9;
}
