/**
 * Watches the turns of a service's thread from within its process. Load it before the program: `node --import FILE`.
 *
 * A timer of 1 ms asks how much happened since it last ran. A turn that takes long delays it, so the processor time
 * between two runs is that of the turn, give or take the small turns around it. Elapsed time counts where it is
 * shorter than the processor time, which is that of all threads. The collector's pauses are part of a turn and also
 * reported by themselves.
 *
 * Every request to the socket TURNS_SOCKET answers with the turns since the request before. With TURNS_PROFILE=1 it
 * also says what the longest turn did; the profiler makes turns longer.
 */
import { createServer } from 'node:http';
import { Session, type Profiler } from 'node:inspector';
import { PerformanceObserver } from 'node:perf_hooks';

/** The turns of a while. Milliseconds. */
export interface Turns {
  readonly longestMs: number;
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

let last = { at: performance.now(), cpu: process.cpuUsage() };
let longest = none;
let long = 0;
let collections: Turn[] = [];

function look(): void {
  const at = performance.now();
  const { user, system } = process.cpuUsage(last.cpu);
  const ms = Math.min(at - last.at, (user + system) / 1000);
  if (ms > longMs) long++;
  if (ms > longest.ms) longest = { ms, from: last.at, to: at };
  last = { at, cpu: process.cpuUsage() };
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
    longestMs: turn.ms,
    collectionMs: inTurn.reduce((sum, { ms }) => sum + ms, 0),
    long,
    calls: endProfile(turn),
  };
  response.end(JSON.stringify(turns), () => {
    [longest, long, collections] = [none, 0, []];
    beginProfile();
    last = { at: performance.now(), cpu: process.cpuUsage() };
  });
})
  .listen(process.env['TURNS_SOCKET'])
  .unref();
