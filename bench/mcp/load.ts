/** Tool calls from this process: clients that each wait for their answer before the next call. */
import type { Measured } from '../http/figures.ts';
import type { Client } from './clients.ts';
import type { Work } from './questions.ts';

/** A server, as seen by a load. */
export interface Loaded {
  readonly name: string;
  /** Opened for each load, since a server closes idle connections. */
  open(): Promise<readonly Client[]>;
  cpuSeconds(): number;
}

/** The amount of work: so many calls, but at most this many seconds. */
export interface Extent {
  readonly calls: number;
  readonly mostSeconds: number;
}

/** Rejects a run in which any answer is wrong. */
export async function load(
  { open, cpuSeconds }: Loaded,
  { run }: Work,
  { calls, mostSeconds }: Extent,
): Promise<Measured> {
  const clients = await open();
  let begun = 0;
  const cpuBefore = cpuSeconds();
  const startedAt = performance.now();
  const until = startedAt + mostSeconds * 1000;
  const work = async (client: Client): Promise<void> => {
    while (begun < calls && performance.now() < until) await run(client, begun++);
  };
  await Promise.all(clients.map(work));
  const measured = {
    answered: begun,
    seconds: (performance.now() - startedAt) / 1000,
    cpuSeconds: cpuSeconds() - cpuBefore,
  };
  for (const client of clients) client.close();
  return measured;
}
