/**
 * Runs one program as a child process and returns its cost: CPU seconds of all its threads, peak memory.
 *
 * Both come from /proc, read every few milliseconds while the child lives (Linux records the peak itself, so only
 * growth in the last interval can be missed). Elsewhere they are null. A child that exceeds its time is killed: its CPU
 * time, so that other work of the machine has no effect, and ten times that by the clock.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const intervalMs = 5;
const clockOfCpu = 10;
/** Linux counts process time in hundredths of a second on every platform Node runs on. */
const ticksPerSecond = 100;

export interface Measured {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** CPU seconds, user and system. */
  readonly cpu: number | null;
  readonly peakBytes: number | null;
}

interface Sample {
  cpu: number;
  peakBytes: number;
}

/** CPU seconds, user and system, of all threads, from the text of /proc/<pid>/stat. */
export function cpuSecondsIn(stat: string): number {
  // The second field is the program's name in parentheses and may contain spaces.
  const fields = stat.replace(/^.*\) /s, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function sample(pid: number): Sample | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    if (peak === null) return null;
    return { cpu: cpuSecondsIn(stat), peakBytes: Number(peak[1]) * 1024 };
  } catch (error) {
    // The child has ended between two samples, or this is not Linux: there is nothing to read.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return null;
    throw error;
  }
}

export function measure(
  command: string,
  args: readonly string[],
  options: { timeoutMs: number; input?: string },
): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let last: Sample | null = null;
    let timedOut = false;
    const look = (): void => {
      if (child.pid !== undefined) last = sample(child.pid) ?? last;
      if (last !== null && last.cpu * 1000 > options.timeoutMs) stopChild();
    };
    const stopChild = (): void => {
      timedOut = true;
      child.kill('SIGKILL');
    };
    // By now the child's program has been started, so even the shortest run has been sampled once.
    look();
    const sampling = setInterval(look, intervalMs);
    const deadline = setTimeout(stopChild, options.timeoutMs * clockOfCpu);
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      // A child that fails early closes its input; its exit code is more informative.
      if (error.code !== 'EPIPE') reject(error);
    });
    child.stdin.end(options.input ?? '');
    const stop = (): void => {
      clearInterval(sampling);
      clearTimeout(deadline);
    };
    child.on('error', (error) => {
      stop();
      reject(error);
    });
    child.on('close', (exitCode) => {
      stop();
      resolve({
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: Buffer.concat(stderr).toString('utf8'),
        exitCode,
        timedOut,
        cpu: last?.cpu ?? null,
        peakBytes: last?.peakBytes ?? null,
      });
    });
  });
}
