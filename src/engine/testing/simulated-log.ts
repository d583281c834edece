/**
 * A log in a store that fails as PostgreSQL can, from a seed: it answers late, loses a statement or its answer, carries a
 * lost statement out much later, and warns while it commits. Nodes die, and stop for longer than their lease.
 */
import { StatementFailed } from '../log/postgres-connection.ts';
import type { Chunk, LogLook, LogRow, SnapshotRow, StoredFrame } from '../log/postgres-log.ts';
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
  readonly living: Set<string>;
  /** True while its database is deleted. */
  isEnded = false;
  /** See `ListedLog`. */
  placed: readonly string[] = [];
  ready: readonly string[] = [];
  bytes = 0;
  row: LogRow = {
    epoch: 0,
    owner: null,
    history: '0'.repeat(32),
    firstSequence: 1,
    lastSequence: 0,
    lastChecksum: 0,
  };
  #snapshots: SnapshotRow[] = [];
  readonly #chunks = new Map<string, Chunk[]>();
  /** How often each fault happened. */
  readonly faults = { before: 0, after: 0, late: 0, warned: 0, refused: 0 };

  constructor(prng: Prng, odds: number, living = new Set<string>()) {
    this.living = living;
    this.#prng = prng;
    this.odds = odds;
  }

  /** The log as one node reaches it. While `gate` is pending, its statements do not reach the server. */
  log(gate: () => Promise<void>, id = 1): RemoteLog {
    const none = (): never => {
      throw new Error('this is not simulated');
    };
    return {
      id,
      append: (frame, last) => this.statement(gate, true, () => this.#append(frame, last)),
      row: () => this.statement(gate, false, () => this.row),
      take: (seen, me, _key, isNewHistory) =>
        this.statement(gate, true, () => this.#take(seen, me, isNewHistory)),
      look: () => this.statement(gate, false, () => this.look),
      give: (from, to, epoch) =>
        this.statement(gate, true, () => {
          if (this.row.owner !== from || this.row.epoch !== epoch || !this.living.has(to)) return false;
          this.row = { ...this.row, owner: to };
          return true;
        }),
      nodes: () => this.statement(gate, false, () => [...this.living].map(aliveNode)),
      beganAt: () => Promise.resolve(null),
      checksumOfEnd: (sequence) =>
        this.statement(gate, false, () => {
          const ended = [...this.frames.values()].find(({ first, count }) => first + count - 1 === sequence);
          return ended?.checksum ?? null;
        }),
      frameAt: (first) => this.statement(gate, false, () => this.frames.get(first) ?? null),
      release: (me, epoch) =>
        this.statement(gate, true, () => {
          if (this.row.owner === me && this.row.epoch === epoch) this.row = { ...this.row, owner: null };
        }),
      endNow: () =>
        this.statement(gate, false, () => ({ owner: this.row.owner, lastSequence: this.row.lastSequence })),
      wrappedKey: () => Promise.resolve(null),
      frameBytes: () => Promise.resolve({ all: 0, uncovered: 0 }),
      frames: (after) => this.#framesAfter(after),
      snapshots: () => Promise.resolve(this.#snapshots),
      putChunk: (attempt, chunk) =>
        this.statement(gate, true, () => {
          this.#chunks.set(attempt, [...(this.#chunks.get(attempt) ?? []), chunk]);
        }),
      putSnapshot: (me, _history, row) =>
        this.statement(gate, true, () => {
          if (this.row.owner !== me) return false;
          this.#snapshots = [row, ...this.#snapshots];
          return true;
        }),
      beginWith: none,
      chunks: (attempt, section, n) =>
        Promise.resolve(
          (this.#chunks.get(attempt) ?? []).filter((chunk) => chunk.section === section && chunk.n >= n),
        ),
      chunkBytes: none,
      // All frames stay, so that what was stored can be looked at in the end.
      trim: () => Promise.resolve(0),
      removeAttempt: () => Promise.resolve(),
    };
  }

  /** Where the log is, and who has it. */
  get look(): LogLook {
    const { owner } = this.row;
    const isOwned = owner !== null && this.living.has(owner);
    return { ...this.row, ownerAddress: owner, isOwned, leaseMs: isOwned ? 3000 : 0 };
  }

  /** See `PostgresLogs.end`. */
  end(me: string, epoch: number, lastSequence: number): boolean {
    const { row } = this;
    if (this.isEnded || row.owner !== me || row.epoch !== epoch || row.lastSequence !== lastSequence)
      return false;
    if (lastSequence > 0 && this.#snapshots[0]?.sequence !== lastSequence) return false;
    this.isEnded = true;
    this.ready = [];
    this.row = { ...row, owner: null, epoch: row.epoch + 1 };
    return true;
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
    if (this.isEnded || epoch !== seen || (owner !== null && owner !== me && this.living.has(owner)))
      return null;
    const history = isNewHistory ? String(epoch).padStart(32, '1') : this.row.history;
    this.row = { ...this.row, epoch: epoch + 1, owner: me, history };
    return this.row;
  }

  /** Runs a statement, or fails as the server can. */
  async statement<Result>(gate: () => Promise<void>, isWrite: boolean, run: () => Result): Promise<Result> {
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
