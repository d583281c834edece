/**
 * Ends requests that were passed on to a node that will not answer them: one that lost the log and hangs, or one that cannot
 * be reached any more over a connection that was kept. Without it they would wait until the network gives up.
 */
import { connect } from 'node:net';
import type { NodeHost } from './host.ts';

/** A request that waits for another node. */
export interface PassedOnRequest {
  /** Where that node is reached. */
  readonly address: string;
  /** Whose log that node has; null: the catalogue's. */
  readonly database: string | null;
  /** That node is asked because it has a copy, whoever the owner is. */
  readonly isReader: boolean;
  /** It can be sent to another node, so it need not wait for one that lost the log. */
  readonly isRepeatable: boolean;
  /** Ends the request. */
  readonly give: () => void;
}

/** A request that is watched. */
export interface Watched {
  /** Something of the answer came. */
  heard(): void;
  stop(): void;
}

interface Entry extends PassedOnRequest {
  /** Its answer has begun, so that it cannot be sent to another node any more. */
  isBegun: boolean;
  heardAt: number;
  /** When another node was first seen to have the log; null: none has. */
  lostAt: number | null;
}

const lookMs = 100;
/** A request that cannot be repeated leaves a node that lost the log this long to end it. */
const graceMs = 5000;
/** After so long without an answer, whether the node can be reached is tried, for as long as `connectMs`. */
const silenceMs = 1000;
const connectMs = 2000;

/** Watches requests that wait for other nodes. */
export class OwnerWatch {
  readonly #nodes: Pick<NodeHost, 'status' | 'address' | 'copies'>;
  readonly #entries = new Set<Entry>();
  /** Addresses that are being tried. */
  readonly #tried = new Set<string>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(nodes: Pick<NodeHost, 'status' | 'address' | 'copies'>) {
    this.#nodes = nodes;
  }

  /** Watches the request until `stop`. */
  watch(waiting: PassedOnRequest): Watched {
    const entry: Entry = { ...waiting, isBegun: false, heardAt: performance.now(), lostAt: null };
    this.#entries.add(entry);
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref();
    return {
      heard: () => {
        entry.isBegun = true;
        entry.heardAt = performance.now();
      },
      stop: () => {
        this.#entries.delete(entry);
        if (this.#entries.size > 0 || this.#timer === null) return;
        clearInterval(this.#timer);
        this.#timer = null;
      },
    };
  }

  #look(): void {
    const now = performance.now();
    for (const entry of this.#entries) {
      const { isRepeatable, isBegun, heardAt } = entry;
      entry.lostAt = this.#hasLog(entry) ? null : (entry.lostAt ?? now);
      const lostMs = entry.lostAt === null ? -1 : now - entry.lostAt;
      if (lostMs >= (isRepeatable && !isBegun ? 0 : graceMs)) entry.give();
      else if (now - heardAt >= silenceMs) this.#try(entry.address);
    }
  }

  /** False once another node has the log; of a reader, once it has no copy, or is gone. */
  #hasLog({ address, database, isReader }: PassedOnRequest): boolean {
    if (isReader) return database === null || this.#nodes.copies(database)?.includes(address) !== false;
    const node = this.#nodes.status(database);
    if (node === null || address === this.#nodes.address()) return node?.role !== 'copy';
    return node.role === 'copy' && [address, null].includes(node.ownerAddress);
  }

  /** Tries whether the node accepts a connection; if not, ends all that wait for it. */
  #try(address: string): void {
    if (this.#tried.has(address)) return;
    this.#tried.add(address);
    const { hostname, port, protocol } = new URL(address);
    const socket = connect(
      Number(port) || (protocol === 'https:' ? 443 : 80),
      hostname.replace(/^\[|\]$/g, ''),
    );
    const startedAt = performance.now();
    const ended = (isReached: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      this.#tried.delete(address);
      for (const entry of this.#entries)
        if (entry.address !== address || entry.heardAt > startedAt) continue;
        else if (isReached) entry.heardAt = performance.now();
        else entry.give();
    };
    const timer = setTimeout(() => ended(false), connectMs).unref();
    socket.once('connect', () => ended(true));
    socket.once('error', () => ended(false));
  }
}
