/**
 * The work of a page's main thread during an action, from the browser's own trace of tasks.
 *
 * A long task delays a frame on any machine; a frame may also be late because other processes use the processor. So the
 * time that tasks wait for it is not counted: theirs is the CPU time of the thread.
 */
import type { CDPSession } from '@playwright/test';

export interface Work {
  /** CPU milliseconds of all tasks. */
  readonly cpu: number;
  /** CPU milliseconds of the longest task. */
  readonly longest: number;
}

/** As in the trace; times in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

const taskNames = new Set(['RunTask', 'ThreadControllerImpl::RunTask']);

/** Runs the action and returns its cost on the page's main thread. */
export async function workOf(session: CDPSession, act: () => Promise<unknown>): Promise<Work> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: unknown[] }) => events.push(...(value as TraceEvent[]));
  session.on('Tracing.dataCollected', collect);
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'] },
  });
  await act();
  const complete = new Promise((resolve) => {
    session.once('Tracing.tracingComplete', resolve);
  });
  await session.send('Tracing.end');
  await complete;
  session.off('Tracing.dataCollected', collect);
  return workIn(events);
}

/** The main thread with the most work: the others are of hidden pages. */
function workIn(events: readonly TraceEvent[]): Work {
  const ofThread = new Map<string, { cpu: number; longest: number }>();
  const keyOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  for (const event of events)
    if (event.name === 'thread_name' && event.args?.name === 'CrRendererMain')
      ofThread.set(keyOf(event), { cpu: 0, longest: 0 });
  for (const event of events) {
    const work = ofThread.get(keyOf(event));
    if (work === undefined || event.ph !== 'X' || !taskNames.has(event.name)) continue;
    const cpu = (event.tdur ?? 0) / 1000;
    work.cpu += cpu;
    work.longest = Math.max(work.longest, cpu);
  }
  const [most] = [...ofThread.values()].sort((left, right) => right.cpu - left.cpu);
  if (most === undefined) throw new Error('the trace has no main thread of a page');
  return most;
}
