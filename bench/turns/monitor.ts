/**
 * Watches the turns of a service's thread from within its process. Load it before the program: `node --import FILE`.
 *
 * A timer of 1 ms asks how much happened since it last ran. A turn that takes long delays it, so the processor time of
 * the thread between two runs is that of the turn, give or take the small turns around it: never too small. The
 * collector's pauses are part of a turn and also reported by themselves.
 *
 * Every request to the socket TURNS_SOCKET answers with the turns since the request before. With TURNS_PROFILE=1 it
 * also says what the longest turn did; the profiler makes turns longer.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Session, type Profiler } from 'node:inspector';
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** The turns of a while. Milliseconds. */
export interface Turns {
  /** Processor time of the longest one. */
  readonly cpuMs: number;
  /** The longest one by the clock. */
  readonly clockMs: number;
  /** The collector's part of the longest turn. */
  readonly collectionMs: number;
  /** Turns of more than 50 ms. */
  readonly long: number;
  /** What the longest turn did, heaviest calls first; empty without a profile. */
  readonly calls: readonly string[];
}

interface Turn {
  readonly ms: number;
  readonly from: number;
  readonly to: number;
}

const longMs = 50;
const none: Turn = { ms: 0, from: 0, to: 0 };

const schedule = '/proc/thread-self/schedstat';
const hasSchedule = existsSync(schedule);

/** Milliseconds of processor time of this thread; where the system does not tell, of all threads. */
function cpuNow(): number {
  if (hasSchedule) return Number(readFileSync(schedule, 'latin1').split(' ', 1)[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

let last = { at: performance.now(), cpu: cpuNow() };
let longest = none;
let clockMs = 0;
let long = 0;
let collections: Turn[] = [];

function look(): void {
  const at = performance.now();
  const cpu = cpuNow();
  const ms = Math.min(at - last.at, cpu - last.cpu);
  clockMs = Math.max(clockMs, at - last.at);
  if (ms > longMs) long++;
  if (ms > longest.ms) longest = { ms, from: last.at, to: at };
  last = { at, cpu };
}

const session = process.env['TURNS_PROFILE'] === '1' ? new Session() : null;

function beginProfile(): void {
  session?.post('Profiler.start');
}

/** The calls of the turn: share of its samples, function and line, heaviest first. */
function endProfile(turn: Turn): string[] {
  let calls: string[] = [];
  session?.post('Profiler.stop', (error, outcome) => {
    if (error === null) calls = callsOf(outcome.profile, turn);
  });
  return calls;
}

function callsOf(profile: Profiler.Profile, turn: Turn): string[] {
  const offset = performance.now() - Number(process.hrtime.bigint()) / 1e6;
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of profile.nodes) for (const child of children) parents.set(child, id);
  const [self, whole] = [new Map<string, number>(), new Map<string, number>()];
  let at = profile.startTime;
  let count = 0;
  for (const [index, id] of (profile.samples ?? []).entries()) {
    at += profile.timeDeltas?.[index] ?? 0;
    const ms = at / 1000 + offset;
    if (ms < turn.from || ms > turn.to) continue;
    count++;
    const seen = new Set<string>();
    for (let node: number | undefined = id; node !== undefined; node = parents.get(node)) {
      const frame = nodes.get(node)?.callFrame;
      const file = frame?.url.split('/').at(-1) ?? '';
      const name = `${frame?.functionName ?? ''} ${file}:${(frame?.lineNumber ?? 0) + 1}`;
      if (node === id) self.set(name, (self.get(name) ?? 0) + 1);
      if (!seen.has(name)) whole.set(name, (whole.get(name) ?? 0) + 1);
      seen.add(name);
    }
  }
  const percent = (part = 0): string => `${Math.round((100 * part) / Math.max(1, count))}%`;
  return [...whole]
    .filter(([, samples]) => samples > count / 20)
    .sort(([, left], [, right]) => right - left)
    .slice(0, 40)
    .map(([name, samples]) => `${percent(samples)} (itself ${percent(self.get(name))}) ${name}`);
}

function watch(socket: string): void {
  session?.connect();
  session?.post('Profiler.enable');
  session?.post('Profiler.setSamplingInterval', { interval: 500 });
  beginProfile();

  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      collections.push({ ms: duration, from: startTime, to: startTime + duration });
  }).observe({ entryTypes: ['gc'] });

  setInterval(look, 1).unref();

  createServer((_request, response) => {
    const turn = longest;
    const inTurn = collections.filter(({ from, to }) => from >= turn.from && to <= turn.to);
    const turns: Turns = {
      cpuMs: turn.ms,
      clockMs,
      collectionMs: inTurn.reduce((sum, { ms }) => sum + ms, 0),
      long,
      calls: endProfile(turn),
    };
    response.end(JSON.stringify(turns), () => {
      [longest, clockMs, long, collections] = [none, 0, 0, []];
      beginProfile();
      last = { at: performance.now(), cpu: cpuNow() };
    });
  })
    .listen(socket)
    .unref();
}

const socket = process.env['TURNS_SOCKET'];
if (isMainThread && socket !== undefined) watch(socket);
