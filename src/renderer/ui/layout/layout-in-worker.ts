/** The worker that lays out diagrams, started by the first. */
import type { BandInput, BandLayout } from './band-layout.ts';
import type { AnyLayout, LayoutJob, LayoutReply, LayoutRequest } from './layout.worker.ts';
import LayoutWorker from './layout.worker.ts?worker';
import type { NetworkInput, NetworkLayout } from './network-layout.ts';
import type { Layout, LayoutInput } from './proof-layout.ts';

interface Waiting {
  resolve(layout: AnyLayout): void;
  reject(error: Error): void;
}

let worker: Worker | null = null;
let lastId = 0;
const waiting = new Map<number, Waiting>();

/** Ends a failed worker; the next request starts another. */
function endWorker(failed: Worker, why: string): void {
  failed.terminate();
  if (worker === failed) worker = null;
  const error = new Error(why);
  for (const { reject } of waiting.values()) reject(error);
  waiting.clear();
}

function startWorker(): Worker {
  const started = new LayoutWorker();
  started.onmessage = (event: MessageEvent<LayoutReply>) => {
    const { id, outcome } = event.data;
    if ('failure' in outcome) endWorker(started, `${outcome.failure}.`);
    else waiting.get(id)?.resolve(outcome.layout);
    waiting.delete(id);
  };
  started.onerror = () => endWorker(started, 'The layout worker did not start, or has ended.');
  return started;
}

function laidOutBy(job: LayoutJob): Promise<AnyLayout> {
  worker ??= startWorker();
  lastId += 1;
  const request: LayoutRequest = { id: lastId, job };
  const answered = new Promise<AnyLayout>((resolve, reject) => waiting.set(request.id, { resolve, reject }));
  worker.postMessage(request);
  return answered;
}

/** Returns the layout of a proof; rejects with a message for the user. */
export async function proofLayout(input: LayoutInput): Promise<Layout> {
  // The worker answers a job with the layout of its kind.
  return (await laidOutBy({ kind: 'proof', input })) as Layout;
}

/** Returns the layout of a network; rejects with a message for the user. */
export async function networkLayout(input: NetworkInput): Promise<NetworkLayout> {
  return (await laidOutBy({ kind: 'network', input })) as NetworkLayout;
}

/** Returns the layout of a graph in bands; rejects with a message for the user. */
export async function bandLayout(input: BandInput): Promise<BandLayout> {
  return (await laidOutBy({ kind: 'bands', input })) as BandLayout;
}
