/**
 * Measures the turns of a service's event loop from inside, loaded by `node --import`: the processor time and the time by
 * the clock of the longest one. On SIGUSR2 it writes both to the file named by `TURNS_FILE`, and begins anew.
 *
 * A timer fires in the first turn after its interval, so between two firings there is at most one long turn. What ran
 * beside it in the interval counts with it: a figure is too large by at most the interval, never too small.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** What the monitor writes, in milliseconds. */
export interface LongestTurn {
  readonly cpuMs: number;
  readonly clockMs: number;
}

const everyMs = 4;

/** Milliseconds of processor time of this thread. */
function threadCpuMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;
}

function monitor(file: string): void {
  let cpuMs = 0;
  let clockMs = 0;
  let before = { cpu: threadCpuMs(), clock: performance.now() };
  const look = (): void => {
    const now = { cpu: threadCpuMs(), clock: performance.now() };
    cpuMs = Math.max(cpuMs, now.cpu - before.cpu);
    clockMs = Math.max(clockMs, now.clock - before.clock);
    before = now;
  };
  setInterval(look, everyMs).unref();
  process.on('SIGUSR2', () => {
    look();
    const turn: LongestTurn = { cpuMs, clockMs };
    writeFileSync(`${file}.new`, JSON.stringify(turn));
    renameSync(`${file}.new`, file);
    [cpuMs, clockMs] = [0, 0];
  });
}

const file = process.env['TURNS_FILE'];
if (isMainThread && file !== undefined) monitor(file);
