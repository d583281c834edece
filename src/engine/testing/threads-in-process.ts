/** Reasoning threads without threads: both ends in this process, between them a channel as between threads. */
import { MessageChannel } from 'node:worker_threads';
import { present } from '../base/assert.ts';
import { serving } from '../base/serving.ts';
import type { FromReasoningThread, RemoteTask, ToReasoningThread } from '../reasoning/messages.ts';
import type { StorageBackend } from '../log/backend.ts';
import { folderKeyOf } from '../log/cipher.ts';
import { RetainedLog, type RetainedRange } from '../log/retained.ts';
import { pastReadings } from '../operations/readings.ts';
import { ReasoningThread } from '../reasoning/reasoning-thread.ts';
import type { ThreadHost } from '../reasoning/reasoning-threads.ts';

/** Such a host, with what a test can do to it. */
export interface ThreadsInProcess extends ThreadHost {
  /** Infinity: questions stay here. */
  afterMs: number;
  untilMs: number;
  lateMs: number;
  bothBytes: number;
  bothTimes: number;
  count: number;
  /** How its threads read the log; null: they cannot. */
  log: ((range: RetainedRange) => Promise<RetainedLog>) | null;
  /** Messages to threads so far. */
  readonly posted: ToReasoningThread[];
  /** Messages from threads so far. */
  readonly heard: FromReasoningThread[];
  /** Questions of which a thread was told. */
  readonly asked: number;
  /** Copies that were made ahead of questions, and taken in. */
  readonly ahead: number;
  started: number;
  /** Whether the heaps of its threads are nearly full. */
  isHeapNearlyFull: boolean;
  /** Called with each message before its thread gets it; false: it never gets it. */
  filter: (message: ToReasoningThread) => boolean;
  /** Gives a message that was filtered to the thread that was started last. */
  pass: (message: ToReasoningThread) => void;
  /** Ends the thread that was started last, as if it had failed. */
  kill(): void;
}

function isQuestion({ kind }: RemoteTask): boolean {
  return kind !== 'dependents' && kind !== 'counts' && kind !== 'mentions' && kind !== 'takenIn';
}

function askedOf({ posted }: Pick<ThreadsInProcess, 'posted'>): number {
  return posted.filter((each) => each.kind === 'ask' && isQuestion(each.task)).length;
}

function copiedAheadOf({ posted, heard }: Pick<ThreadsInProcess, 'posted' | 'heard'>): number {
  const ids = posted.flatMap((each) =>
    each.kind === 'ask' && each.task.kind === 'takenIn' ? [each.id] : [],
  );
  return heard.filter((each) => each.kind === 'answer' && ids.includes(each.id)).length;
}

/** A host whose threads also read the past of the log over this backend. */
export function pastThreads(backend: StorageBackend, encryptionKey: string | null = null): ThreadsInProcess {
  const host = threadsInProcess();
  host.log = (range) => RetainedLog.within(backend, folderKeyOf(encryptionKey), range);
  return host;
}

async function* jsonOf(value: unknown): AsyncGenerator<string> {
  yield JSON.stringify(value);
}

function threadFor(
  host: ThreadsInProcess,
  budgets: { readonly memoryBytes: number; readonly questionBytes: number },
  post: ConstructorParameters<typeof ReasoningThread>[0]['post'],
): ReasoningThread {
  return new ReasoningThread({
    ...budgets,
    scheduler: serving,
    heap: { isNearlyFull: () => host.isHeapNearlyFull, remedy: 'wait' },
    post,
    readings: pastReadings,
    retained: async (range) => present(host.log, 'only a host that reads the log is asked')(range),
    write: jsonOf,
  });
}

/** A host whose questions move at once. */
export function threadsInProcess(memoryBytes = 2 ** 30, questionBytes = 2 ** 28): ThreadsInProcess {
  let killLast = (): void => {};
  const host: ThreadsInProcess = {
    afterMs: 0,
    untilMs: Number.POSITIVE_INFINITY,
    lateMs: Number.POSITIVE_INFINITY,
    bothBytes: Number.POSITIVE_INFINITY,
    bothTimes: Number.POSITIVE_INFINITY,
    count: 1,
    log: null,
    get readsLog() {
      return host.log !== null;
    },
    posted: [],
    heard: [],
    get asked() {
      return askedOf(host);
    },
    get ahead() {
      return copiedAheadOf(host);
    },
    started: 0,
    isHeapNearlyFull: false,
    filter: () => true,
    pass: () => {},
    kill: () => killLast(),
    start(on) {
      host.started++;
      const { port1: here, port2: there } = new MessageChannel();
      let isOpen = true;
      const questions = new Set<number>();
      const thread = threadFor(host, { memoryBytes, questionBytes }, (message, transfer) => {
        if (isOpen) there.postMessage(message, transfer);
      });
      const close = (): void => {
        isOpen = false;
        here.close();
        // A thread that ends takes its questions with it; here they would go on.
        for (const id of questions) thread.take({ kind: 'cancel', id });
      };
      there.on('message', (message: ToReasoningThread) => {
        if (!isOpen || !host.filter(message)) return;
        if ('id' in message) questions.add(message.id);
        thread.take(message);
      });
      here.on('message', (message: FromReasoningThread) => {
        if (!isOpen) return;
        host.heard.push(message);
        on.message(message);
      });
      host.pass = (message) => {
        if (isOpen) thread.take(message);
      };
      killLast = () => {
        close();
        on.ended(new Error('killed'));
      };
      return {
        post(message, transfer) {
          host.posted.push(message);
          if (isOpen) here.postMessage(message, transfer);
        },
        terminate: close,
      };
    },
  };
  return host;
}
