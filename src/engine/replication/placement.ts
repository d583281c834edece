/**
 * Which nodes of a store are to have each database, by memory: a pure function of what the rows of logs and nodes say.
 *
 * Invariants: a database keeps at least one node that is alive if any is; nothing is placed on a node that has filled
 * `FULL_SHARE` of its memory, unless no living node has the database; a database never moves to a node unless the difference between the two is less afterwards,
 * so placements do not swing. Which of the nodes is the owner is decided by takes and moves, not here.
 */

/** A database as its row tells it. */
export interface PlacedLog {
  readonly id: number;
  /** About how much memory it takes. */
  readonly bytes: number;
  /** The node that stores its writes; null: none that is alive. */
  readonly owner: string | null;
  /** The nodes that are to have it; none: it was never placed, and every node has it. */
  readonly placed: readonly string[];
  /** The nodes that have it, as far as they have told. */
  readonly ready: readonly string[];
}

/** A node that is alive, as it told with its last beat. */
export interface NodeToFill {
  readonly id: string;
  /** Memory of its process, and the mark at which it stores no more; null: not known, which is no limit. */
  readonly usedBytes: number | null;
  readonly memoryBytes: number | null;
}

/** What to place by. */
export interface PlacementOptions {
  /** How many nodes are to have each database, if there are as many. */
  readonly copies: number;
  /** True of a node that is not alive and may come back: its databases get no other copy yet. */
  readonly isAwaited: (node: string) => boolean;
}

/** A node above this share of its memory gets nothing more. */
export const FULL_SHARE = 0.8;
/** A node has too much from this share of the mean on, */
const UNEVEN_SHARE = 1.2;
/** and if it has so many bytes more than the one with the least. */
const UNEVEN_BYTES = 16 * 1024 * 1024;
/** Bytes of what is under way between nodes above which nothing else is moved to even them out, and its number. */
const MAX_MOVING_BYTES = 64 * 1024 * 1024;
const MAX_MOVING = 32;

/** The databases whose nodes change, with their new nodes. */
export function placement(
  logs: readonly PlacedLog[],
  nodes: readonly NodeToFill[],
  options: PlacementOptions,
): Map<number, readonly string[]> {
  const plan = new Plan(logs, nodes);
  for (const log of logs) plan.complete(log, options);
  plan.even();
  return plan.changes();
}

/** A node while databases are placed. */
interface Share {
  readonly id: string;
  /** Bytes and number of the databases that it is to have. */
  bytes: number;
  count: number;
  /** Bytes that it may still get. */
  room: number;
  /** Bytes between `FULL_SHARE` and the mark. */
  readonly reserve: number;
}

class Plan {
  readonly #logs: readonly PlacedLog[];
  readonly #placed: Map<number, readonly string[]>;
  readonly #shares: ReadonlyMap<string, Share>;

  constructor(logs: readonly PlacedLog[], nodes: readonly NodeToFill[]) {
    this.#logs = logs;
    this.#placed = new Map(logs.map(({ id, placed }) => [id, placed]));
    this.#shares = new Map(
      nodes.map(({ id, usedBytes, memoryBytes }) => {
        const room = memoryBytes === null ? Infinity : memoryBytes * FULL_SHARE - (usedBytes ?? 0);
        return [id, { id, bytes: 0, count: 0, room, reserve: (memoryBytes ?? 0) * (1 - FULL_SHARE) }];
      }),
    );
    for (const log of logs)
      for (const node of log.placed) {
        this.#add(node, log);
        // What it is to have and has not yet is not in its memory.
        if (!holds(log, node)) this.#reserve(node, log);
      }
  }

  /** Adds nodes until the database has as many as it is to have, and takes away what is too much. */
  complete(log: PlacedLog, { copies, isAwaited }: PlacementOptions): void {
    const before = this.#of(log);
    let kept = before.filter((node) => this.#shares.has(node));
    if (kept.length === 0) {
      // Never placed, or all its nodes are gone: whoever has it keeps it.
      const held = [log.owner, ...log.ready].flatMap((node) => (node === null ? [] : [node]));
      kept = [...new Set(held)].filter((node) => this.#shares.has(node)).slice(0, copies);
      for (const node of kept) this.#add(node, log);
    }
    const awaited =
      kept.length === 0 ? [] : before.filter((node) => !this.#shares.has(node) && isAwaited(node));
    while (kept.length + awaited.length < copies) {
      const node = this.#emptiest(kept, log) ?? (kept.length === 0 ? this.#lastResort(log, copies) : null);
      if (node === null) break;
      this.#add(node.id, log);
      this.#reserve(node.id, log);
      kept.push(node.id);
    }
    while (kept.length > copies && kept.every((node) => holds(log, node))) {
      const gone = this.#fullest(kept.filter((node) => node !== log.owner));
      if (gone === null) break;
      this.#remove(gone, log);
      kept = kept.filter((node) => node !== gone);
    }
    // With no node at all it stays where it was: else every node would open it.
    if (kept.length > 0) this.#set(log, [...kept, ...awaited]);
  }

  /** Moves databases from the node that has the most to the one that has the least. */
  even(): void {
    const moving = this.#logs.filter((log) => this.#of(log).some((node) => !holds(log, node)));
    let bytes = moving.reduce((sum, log) => sum + log.bytes, 0);
    for (let count = moving.length; count < MAX_MOVING && bytes < MAX_MOVING_BYTES; count++) {
      const moved = this.#evenOnce();
      if (moved === null) return;
      bytes += moved.bytes;
    }
  }

  #evenOnce(): PlacedLog | null {
    const shares = [...this.#shares.values()].toSorted((one, other) => one.bytes - other.bytes);
    const fullest = shares.at(-1);
    if (fullest === undefined || shares.length < 2) return null;
    const mean = shares.reduce((sum, { bytes }) => sum + bytes, 0) / shares.length;
    for (const target of shares) {
      const difference = fullest.bytes - target.bytes;
      if (fullest.bytes <= mean * UNEVEN_SHARE || difference <= UNEVEN_BYTES) return null;
      const log = this.#movable(fullest, target, difference);
      if (log === null) continue;
      this.#set(
        log,
        this.#of(log).map((node) => (node === fullest.id ? target.id : node)),
      );
      this.#remove(fullest.id, log);
      this.#add(target.id, log);
      this.#reserve(target.id, log);
      return log;
    }
    return null;
  }

  /**
   * The database whose move evens the two out best: the largest of those that take no more than half of the difference, else
   * the smallest that takes less than all of it. Rather one that the node does not own, whose writes would wait.
   */
  #movable(from: Share, to: Share, difference: number): PlacedLog | null {
    let best: PlacedLog | null = null;
    const rank = (log: PlacedLog): number => {
      const evens = log.bytes * 2 <= difference ? log.bytes : -log.bytes;
      return log.owner === from.id ? evens / 2 - difference : evens;
    };
    for (const log of this.#logs) {
      const placed = this.#of(log);
      const isFit =
        log.bytes < difference &&
        log.bytes <= to.room &&
        placed.includes(from.id) &&
        !placed.includes(to.id) &&
        placed.every((node) => holds(log, node));
      if (isFit && (best === null || rank(log) > rank(best))) best = log;
    }
    return best;
  }

  changes(): Map<number, readonly string[]> {
    const changes = new Map<number, readonly string[]>();
    for (const log of this.#logs) {
      const now = this.#of(log);
      const isSame = now.length === log.placed.length && now.every((node) => log.placed.includes(node));
      if (!isSame) changes.set(log.id, now);
    }
    return changes;
  }

  #of({ id }: PlacedLog): readonly string[] {
    return this.#placed.get(id) ?? [];
  }

  #set({ id }: PlacedLog, nodes: readonly string[]): void {
    this.#placed.set(id, nodes);
  }

  #add(node: string, { bytes }: PlacedLog): void {
    const share = this.#shares.get(node);
    if (share === undefined) return;
    share.bytes += bytes;
    share.count++;
  }

  #remove(node: string, { bytes }: PlacedLog): void {
    const share = this.#shares.get(node);
    if (share === undefined) return;
    share.bytes -= bytes;
    share.count--;
  }

  #reserve(node: string, { bytes }: PlacedLog): void {
    const share = this.#shares.get(node);
    if (share !== undefined) share.room -= bytes;
  }

  /** The node with the least that has room for the database and is not among `others`; null: there is none. */
  #emptiest(others: readonly string[], { bytes }: PlacedLog): Share | null {
    let found: Share | null = null;
    for (const share of this.#shares.values())
      if (share.room >= bytes && !others.includes(share.id) && (found === null || isLess(share, found)))
        found = share;
    return found;
  }

  /**
   * For a database that no living node has: one that has room below its mark. With no more nodes than copies every node has
   * everything, however much that is.
   */
  #lastResort({ bytes }: PlacedLog, copies: number): Share | null {
    const most = [...this.#shares.values()].toSorted((one, other) => other.room - one.room)[0] ?? null;
    if (most === null || this.#shares.size <= copies) return most;
    return most.room + most.reserve >= bytes ? most : null;
  }

  #fullest(among: readonly string[]): string | null {
    let found: Share | null = null;
    for (const node of among) {
      const share = this.#shares.get(node);
      if (share !== undefined && (found === null || isLess(found, share))) found = share;
    }
    return found?.id ?? null;
  }
}

function isLess(one: Share, other: Share): boolean {
  return one.bytes === other.bytes ? one.count < other.count : one.bytes < other.bytes;
}

function holds({ owner, ready }: PlacedLog, node: string): boolean {
  return owner === node || ready.includes(node);
}
