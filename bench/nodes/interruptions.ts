/** How long writes stand still when the owner of the log is killed, stopped, ended or replaced. */
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../../client/src/client.ts';
import { loadTenant, must } from '../fairness/load.ts';
import type { Cluster } from './cluster.ts';

/** What happens to the owner. */
export type Interruption = 'killed' | 'stopped' | 'ended' | 'moved';

/** One interruption, in milliseconds from its beginning. */
export interface Interrupted {
  /** Until another node said that it has the log of the database, which it is asked every 20 ms. */
  readonly takenMs: number;
  /** Until the next write was stored and answered. */
  readonly storedMs: number;
  /** Until the last of the writers had a write stored and answered. */
  readonly allMs: number;
  /** The longest time between two answers of one writer; without the one that is connected to a node that is stopped. */
  readonly gapMs: number;
  /** How long the command took that asks for a move; 0: there was none. */
  readonly commandMs: number;
}

const writerCount = 3;
/** A writer repeats a call for as long. */
const retryMs = 120_000;

/** Clients of the package, each of which stores one fact after the other. */
class Writers {
  #isOver = false;
  /** When each writer got its latest answer, by `performance.now`. */
  readonly #answeredAt: number[] = [];
  /** The longest time between two answers of each writer since `watch`. */
  #gaps: number[] = [];
  readonly #running: Promise<void>[] = [];

  constructor({ nodes }: Cluster) {
    for (let at = 0; at < writerCount; at++)
      this.#running.push(
        this.#write(
          nodes.map(({ address }) => address),
          at,
        ),
      );
  }

  async #write(addresses: readonly string[], at: number): Promise<void> {
    const from = at % addresses.length;
    const [first = '', ...others] = [...addresses.slice(from), ...addresses.slice(0, from)];
    const client = createClient({ url: [first, ...others], tenant: loadTenant, retryMs });
    for (let number = 0; !this.#isOver; number++) {
      await client.assertFact({
        predicate: 'interrupted',
        args: [`w${at}`, `${process.hrtime.bigint()}-${number}`],
      });
      const now = performance.now();
      this.#gaps[at] = Math.max(this.#gaps[at] ?? 0, now - (this.#answeredAt[at] ?? now));
      this.#answeredAt[at] = now;
      await pause(1);
    }
  }

  /** Resolves when so many writers have had an answer that is later. */
  async answered(after: number, count: number): Promise<number> {
    for (;;) {
      const later = this.#answeredAt.filter((at) => at > after);
      if (later.length >= count)
        return Math.max(...later.toSorted((one, other) => one - other).slice(0, count));
      await Promise.race([pause(2), ...this.#running]);
    }
  }

  /** Forgets the times between answers until now. */
  watch(): void {
    this.#gaps = [];
  }

  /** The longest time between two answers of one of these many writers. */
  longestGap(count: number): number {
    return this.#gaps.toSorted((one, other) => one - other)[count - 1] ?? Number.NaN;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }
}

/** Interrupts the owner once, while clients write; the cluster is whole again afterwards. */
export async function interrupt(cluster: Cluster, what: Interruption): Promise<Interrupted> {
  const writers = new Writers(cluster);
  try {
    await writers.answered(0, writerCount);
    await pause(500 + Math.random() * 500);
    const owner = await cluster.owner();
    const other = (owner + 1) % cluster.nodes.length;
    writers.watch();
    const at = performance.now();
    const { restore, commandMs } = await begin(cluster, what, owner, other);
    // A write that was under way may be answered from before.
    const takenMs = (await takenAt(cluster, other, owner)) - at;
    const stored = await writers.answered(at + takenMs, 1);
    const counted = what === 'stopped' ? writerCount - 1 : writerCount;
    const all = await writers.answered(at + takenMs, counted);
    const gapMs = writers.longestGap(counted);
    await restore();
    await writers.answered(at + takenMs, writerCount);
    return { takenMs, storedMs: stored - at, allMs: all - at, gapMs, commandMs };
  } finally {
    await writers.end();
  }
}

/** What undoes it, and how long the command for it took. */
interface Begun {
  readonly restore: () => Promise<void>;
  readonly commandMs: number;
}

async function begin(cluster: Cluster, what: Interruption, owner: number, other: number): Promise<Begun> {
  const node = cluster.node(owner);
  const begun = (restore: () => Promise<void>): Begun => ({ restore, commandMs: 0 });
  switch (what) {
    case 'killed':
      node.signal('SIGKILL');
      return begun(() => cluster.restart(owner));
    case 'stopped':
      node.signal('SIGSTOP');
      return begun(async () => node.signal('SIGCONT'));
    case 'ended':
      node.signal('SIGTERM');
      return begun(() => cluster.restart(owner));
    case 'moved': {
      const to = await cluster.idOf(other, owner);
      const startedAt = performance.now();
      await must(node.address, { path: '/admin/nodes/move', body: { to, database: 'default' } });
      return { restore: async () => {}, commandMs: performance.now() - startedAt };
    }
  }
}

/** When another node than the owner had the log, by `performance.now`, as the node `from` sees it. */
async function takenAt(cluster: Cluster, from: number, owner: number): Promise<number> {
  for (;;) {
    const now = await cluster.owner(from);
    if (now >= 0 && now !== owner) return performance.now();
    await pause(20);
  }
}
