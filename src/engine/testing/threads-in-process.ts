/** Reasoning threads without threads: both ends in this process, between them a channel as between threads. */
import { MessageChannel } from 'node:worker_threads';
import { serving } from '../base/serving.ts';
import type { FromReasoningThread, RemoteTask, ToReasoningThread } from '../reasoning/messages.ts';
import { ReasoningThread } from '../reasoning/reasoning-thread.ts';
import type { ThreadHost } from '../reasoning/reasoning-threads.ts';

/** Such a host, with what a test can do to it. */
export interface ThreadsInProcess extends ThreadHost {
  /** Infinity: questions stay here. */
  afterMs: number;
  count: number;
  /** Messages to threads so far. */
  readonly posted: ToReasoningThread[];
  /** Messages from threads so far. */
  readonly heard: FromReasoningThread[];
  /** Questions of which a thread was told. */
  readonly asked: number;
  started: number;
  /** Called with each message before its thread gets it; false: it never gets it. */
  filter: (message: ToReasoningThread) => boolean;
  /** Ends the thread that was started last, as if it had failed. */
  kill(): void;
}

function isQuestion({ kind }: RemoteTask): boolean {
  return kind !== 'dependents' && kind !== 'counts' && kind !== 'mentions';
}

/** A host whose questions move at once. */
export function threadsInProcess(memoryBytes = 2 ** 30, questionBytes = 2 ** 28): ThreadsInProcess {
  let killLast = (): void => {};
  const host: ThreadsInProcess = {
    afterMs: 0,
    count: 1,
    posted: [],
    heard: [],
    get asked() {
      return host.posted.filter((each) => each.kind === 'ask' && isQuestion(each.task)).length;
    },
    started: 0,
    filter: () => true,
    kill: () => killLast(),
    start(on) {
      host.started++;
      const { port1: here, port2: there } = new MessageChannel();
      let isOpen = true;
      const questions = new Set<number>();
      const thread = new ReasoningThread({
        scheduler: serving,
        memoryBytes,
        questionBytes,
        post: (message, transfer) => {
          if (isOpen) there.postMessage(message, transfer);
        },
        write: async function* write(value) {
          yield JSON.stringify(value);
        },
      });
      const close = (): void => {
        isOpen = false;
        here.close();
        // A thread that ends takes its questions with it; here they would go on.
        for (const id of questions) thread.take({ kind: 'cancel', id });
      };
      there.on('message', (message: ToReasoningThread) => {
        if (!isOpen || !host.filter(message)) return;
        if (message.kind === 'ask') questions.add(message.id);
        thread.take(message);
      });
      here.on('message', (message: FromReasoningThread) => {
        if (!isOpen) return;
        host.heard.push(message);
        on.message(message);
      });
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
