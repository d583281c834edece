/**
 * A store of several logs that fails as PostgreSQL can, from a seed: each log as in `simulated-log.ts`, and the statements on
 * their rows, which are lost, late, or answered in vain like any other.
 */
import type { PostgresStoreOptions } from '../log/postgres-store.ts';
import { PostgresStore } from '../log/postgres-store.ts';
import { StatementFailed } from '../log/postgres-connection.ts';
import type { ListedLog } from '../log/postgres-logs.ts';
import type { ShelfNode } from '../open-shelf.ts';
import type { Prng } from './prng.ts';
import { SimulatedServer } from './simulated-log.ts';

/** A log of the store by its name. */
interface NamedLog {
  readonly id: number;
  readonly name: string;
  readonly server: SimulatedServer;
}

/** The store that all nodes of a run share. */
export class SimulatedStore {
  readonly #prng: Prng;
  #odds = 0;
  readonly living = new Set<string>();
  /** All that have joined. */
  readonly nodes = new Set<string>();
  readonly #considered = new Set<string>();
  /** What each node tells of its memory, and the mark of all. */
  readonly usedBytes = new Map<string, number>();
  memoryBytes: number | null = null;
  readonly logs = new Map<string, NamedLog>();
  /** How often somebody has looked at the rows of all logs. */
  looks = 0;

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  /** How many of 100 statements fail. */
  set odds(odds: number) {
    this.#odds = odds;
    for (const { server } of this.logs.values()) server.odds = odds;
  }

  /** Carries out what was sent and given up by its sender. */
  settle(): void {
    for (const { server } of this.logs.values()) server.settle();
    this.#rows.settle();
  }

  /** Fails statements on the rows of all logs. */
  get #rows(): SimulatedServer {
    return this.#add('').server;
  }

  #add(name: string): NamedLog {
    const known = this.logs.get(name);
    if (known !== undefined) return known;
    const server = new SimulatedServer(this.#prng, this.#odds, this.living);
    const log = { id: this.logs.size + 1, name, server };
    this.logs.set(name, log);
    return log;
  }

  #named(id: number): NamedLog {
    for (const log of this.logs.values()) if (log.id === id) return log;
    throw new Error(`there is no log ${id}`);
  }

  /** The statements about nodes, and about where databases are to be. */
  #placement(gate: () => Promise<void>): Pick<ShelfNode['logs'], 'nodes' | 'place' | 'tell'> {
    return {
      nodes: () =>
        this.#rows.statement(gate, false, () =>
          [...this.nodes].map((each) => ({
            id: each,
            address: each,
            isAlive: this.living.has(each),
            usedBytes: this.usedBytes.get(each) ?? 0,
            memoryBytes: this.memoryBytes,
            takesPart: true,
            isConsidered: this.#considered.has(each),
          })),
        ),
      place: (changes, considered) =>
        this.#rows.statement(gate, true, () => {
          for (const { id: number, before, placed } of changes) {
            const { server } = this.#named(number);
            if (!server.isEnded && before.join() === server.placed.join()) server.placed = placed;
          }
          for (const each of considered) this.#considered.add(each);
        }),
      tell: (me, told) =>
        this.#rows.statement(gate, true, () => {
          for (const { id: number, isReady, bytes } of told) {
            const { server } = this.#named(number);
            if (server.isEnded) continue;
            const others = server.ready.filter((each) => each !== me);
            server.ready = isReady ? [...others, me] : others;
            server.bytes = bytes ?? server.bytes;
          }
        }),
    };
  }

  #list(): ListedLog[] {
    return Array.from(this.logs.values(), ({ id, name, server }) => {
      const { isEnded, placed, ready, bytes } = server;
      return { ...server.look, id, name, isEnded, placed, ready, bytes };
    });
  }

  /** A node. While `gate` is pending, its statements do not reach the server. */
  node(id: string, gate: () => Promise<void>, options: PostgresStoreOptions): ShelfNode {
    this.living.add(id);
    this.nodes.add(id);
    const node = { id, trouble: null, clockSkewMs: 0, writesVersion: 99 };
    const asBefore = sameIfEqual<readonly ListedLog[]>();
    return {
      id,
      logs: {
        look: () =>
          this.#rows.statement(gate, false, () => {
            this.looks++;
            return asBefore(this.#list());
          }),
        ...this.#placement(gate),
        ensure: (name) => this.#rows.statement(gate, true, () => void this.#add(name)),
        create: (name, me) =>
          this.#rows.statement(gate, true, () => {
            const isNew = !this.logs.has(name);
            const { server } = this.#add(name);
            if (!isNew && !server.isEnded) return false;
            server.isEnded = false;
            server.row = { ...server.row, owner: me };
            server.placed = [me];
            server.ready = [];
            return true;
          }),
        end: (number, me, epoch, last) =>
          this.#rows.statement(gate, true, () => this.#named(number).server.end(me, epoch, last)),
      },
      open: async (number) => {
        const log = this.#named(number).server.log(gate, number);
        for (;;)
          try {
            return (
              (await PostgresStore.take(log, node, options)) ?? (await PostgresStore.copy(log, node, options))
            );
          } catch (error) {
            if (!(error instanceof StatementFailed)) throw error;
          }
      },
      openToRead: (number) => PostgresStore.copy(this.#named(number).server.log(gate, number), node, options),
      close: () => Promise.resolve(),
    };
  }
}

/** Returns the value of the call before in place of an equal one, as looks of a node do. */
function sameIfEqual<Value>(): (value: Value) => Value {
  let before: { readonly value: Value; readonly text: string } | null = null;
  return (value) => {
    const text = JSON.stringify(value);
    if (before?.text !== text) before = { value, text };
    return before.value;
  };
}
