/**
 * A log in a store that fails as PostgreSQL can, from a seed: it answers late, loses a statement or its answer, carries a
 * lost statement out much later, and warns while it commits. Nodes die, and stop for longer than their lease.
 */
import { StatementFailed } from '../log/postgres-connection.ts';
import type { LogRow, StoredFrame } from '../log/postgres-log.ts';
import type { RemoteLog } from '../log/postgres-store.ts';
import type { SharedNode } from '../log/shared-store.ts';
import type { Prng } from './prng.ts';

/** The server that all nodes of a run share. */
export class SimulatedServer {
  readonly #prng: Prng;
  /** How many of 100 statements fail. */
  odds: number;
  readonly #late: (() => void)[] = [];
  readonly frames = new Map<number, StoredFrame>();
  readonly living = new Set<string>();
  row: LogRow = {
    epoch: 0,
    owner: null,
    history: '0'.repeat(32),
    firstSequence: 1,
    lastSequence: 0,
    lastChecksum: 0,
  };
  /** How often each fault happened. */
  readonly faults = { before: 0, after: 0, late: 0, warned: 0, refused: 0 };

  constructor(prng: Prng, odds: number) {
    this.#prng = prng;
    this.odds = odds;
  }

  /** The log as one node reaches it. While `gate` is pending, its statements do not reach the server. */
  log(gate: () => Promise<void>): RemoteLog {
    const none = (): never => {
      throw new Error('snapshots are not simulated');
    };
    return {
      id: 1,
      append: (frame, last) => this.#statement(gate, true, () => this.#append(frame, last)),
      row: () => this.#statement(gate, false, () => this.row),
      take: (seen, me, _key, isNewHistory) =>
        this.#statement(gate, true, () => this.#take(seen, me, isNewHistory)),
      look: () =>
        this.#statement(gate, false, () => {
          const { owner } = this.row;
          const isOwned = owner !== null && this.living.has(owner);
          return { ...this.row, ownerAddress: owner, isOwned, leaseMs: isOwned ? 3000 : 0 };
        }),
      give: (from, to, epoch) =>
        this.#statement(gate, true, () => {
          if (this.row.owner !== from || this.row.epoch !== epoch || !this.living.has(to)) return false;
          this.row = { ...this.row, owner: to };
          return true;
        }),
      nodes: () => this.#statement(gate, false, () => [...this.living].map(aliveNode)),
      beganAt: () => Promise.resolve(null),
      checksumOfEnd: (sequence) =>
        this.#statement(gate, false, () => {
          const ended = [...this.frames.values()].find(({ first, count }) => first + count - 1 === sequence);
          return ended?.checksum ?? null;
        }),
      frameAt: (first) => this.#statement(gate, false, () => this.frames.get(first) ?? null),
      release: (me) =>
        this.#statement(gate, true, () => {
          if (this.row.owner === me) this.row = { ...this.row, owner: null };
        }),
      endNow: () =>
        this.#statement(gate, false, () => ({ owner: this.row.owner, lastSequence: this.row.lastSequence })),
      wrappedKey: () => Promise.resolve(null),
      frameBytes: () => Promise.resolve({ all: 0, uncovered: 0 }),
      frames: (after) => this.#framesAfter(after),
      snapshots: () => Promise.resolve([]),
      putChunk: none,
      putSnapshot: none,
      beginWith: none,
      chunks: none,
      chunkBytes: none,
      trim: none,
      removeAttempt: none,
    };
  }

  /** Carries out what was sent and given up by its sender. */
  settle(): void {
    for (const run of this.#late.splice(0)) run();
  }

  async *#framesAfter(after: number): AsyncGenerator<StoredFrame, void, undefined> {
    for (const frame of this.frames.values()) if (frame.first + frame.count - 1 > after) yield frame;
  }

  #append(frame: StoredFrame, last: number): boolean {
    if (this.row.epoch !== frame.epoch || this.row.lastSequence !== last) return false;
    this.frames.set(frame.first, frame);
    this.row = { ...this.row, lastSequence: last + frame.count, lastChecksum: frame.checksum };
    return true;
  }

  #take(seen: number, me: string, isNewHistory: boolean): LogRow | null {
    const { owner, epoch } = this.row;
    if (epoch !== seen || (owner !== null && owner !== me && this.living.has(owner))) return null;
    const history = isNewHistory ? String(epoch).padStart(32, '1') : this.row.history;
    this.row = { ...this.row, epoch: epoch + 1, owner: me, history };
    return this.row;
  }

  async #statement<Result>(gate: () => Promise<void>, isWrite: boolean, run: () => Result): Promise<Result> {
    await this.#delay();
    await gate();
    if (this.#prng.below(100) < 20 && this.#late.length > 0) this.settle();
    if (this.#prng.below(100) >= this.odds) {
      const result = run();
      await this.#delay();
      await gate();
      return result;
    }
    switch (this.#prng.below(isWrite ? 5 : 1)) {
      case 0:
        this.faults.before++;
        throw new StatementFailed('unknown', 'the connection broke before the statement ran', '');
      case 1:
        this.faults.after++;
        run();
        throw new StatementFailed('unknown', 'the connection broke after the commit', '');
      case 2:
        this.faults.late++;
        this.#late.push(run);
        throw new StatementFailed('unknown', 'the connection broke while the statement waited', '');
      case 3:
        this.faults.warned++;
        run();
        throw new StatementFailed('unknown', 'the server warned while it committed', '01000');
      default:
        this.faults.refused++;
        throw new StatementFailed('refused', 'serialization failure', '40001');
    }
  }

  async #delay(): Promise<void> {
    for (let turns = this.#prng.below(4); turns > 0; turns--) await Promise.resolve();
    if (this.#prng.below(8) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

function aliveNode(id: string): SharedNode {
  const report = { staleMs: 0, usedBytes: null, memoryBytes: null, problem: null };
  return { ...report, id, address: id, isAlive: true, position: 0, takes: 0 };
}
