/**
 * Places the databases of a store from time to time, while this node has the catalogue: it says in the rows of the logs which
 * nodes are to have each. Nothing depends on that there is only one such node: a row is changed if it is as it was seen.
 */
import type { PostgresLogs } from '../log/postgres-logs.ts';
import { placement } from './placement.ts';
import type { StoreView } from './store-view.ts';

/** Milliseconds between two passes, unless nodes came or went, or a database was never placed. */
const PASS_MS = 1000;
/** A node that is gone may come back so soon that its databases need no other copy: milliseconds. */
export const AWAITED_MS = 10_000;

/** The part of the store that says where databases are to be. */
type PlacementRows = Pick<PostgresLogs, 'place'>;

/** The placement of databases by one node. */
export class Placing {
  readonly #rows: PlacementRows;
  readonly #copies: number;
  readonly #awaitedMs: number;
  /** Since when a node is gone, by `performance.now`. */
  readonly #goneSince = new Map<string, number>();
  #passedAt = Number.NEGATIVE_INFINITY;
  /** The nodes that the last pass saw alive. */
  #seen = '';

  constructor(rows: PlacementRows, copies: number, awaitedMs = AWAITED_MS) {
    this.#rows = rows;
    this.#copies = copies;
    this.#awaitedMs = awaitedMs;
  }

  get copies(): number {
    return this.#copies;
  }

  /** Forgets since when nodes are gone: another node has the catalogue. */
  rest(): void {
    this.#goneSince.clear();
    this.#seen = '';
  }

  /** Places what is not as it is to be; resolves with whether it changed anything. Rejects with a StatementFailed. */
  async pass(view: StoreView): Promise<boolean> {
    const now = performance.now();
    const all = [...view.nodes.values()];
    const living = all.filter(({ isAlive, takesPart }) => isAlive && takesPart);
    const logs = view.databases;
    const seen = living.map(({ id }) => id).join(' ');
    const isNew = logs.some(({ placed }) => placed.length === 0);
    if (seen === this.#seen && !isNew && now - this.#passedAt < PASS_MS) return false;
    const alive = new Set(living.map(({ id }) => id));
    this.#noteGone(new Set(logs.flatMap(({ placed }) => placed)), alive, now);
    const isAwaited = (node: string): boolean =>
      now - (this.#goneSince.get(node) ?? Number.NEGATIVE_INFINITY) < this.#awaitedMs;
    const placed = placement(
      logs.map(({ id, bytes, owner, isOwned, placed: at, ready }) => {
        return { id, bytes, owner: isOwned ? owner : null, placed: at, ready };
      }),
      living,
      { copies: this.#copies, isAwaited },
    );
    const changes = logs.flatMap(({ id, placed: before }) => {
      const after = placed.get(id);
      return after === undefined ? [] : [{ id, before, placed: after }];
    });
    const considered = living.flatMap(({ id, isConsidered }) => (isConsidered ? [] : [id]));
    if (changes.length > 0 || considered.length > 0) await this.#rows.place(changes, considered);
    this.#seen = seen;
    this.#passedAt = now;
    return changes.length > 0 || considered.length > 0;
  }

  #noteGone(placed: ReadonlySet<string>, alive: ReadonlySet<string>, now: number): void {
    for (const node of this.#goneSince.keys())
      if (alive.has(node) || !placed.has(node)) this.#goneSince.delete(node);
    for (const node of placed)
      if (!alive.has(node) && !this.#goneSince.has(node)) this.#goneSince.set(node, now);
  }
}
