/**
 * Which database changes its owner, so that no node owns many more than the others: a pure function of what the rows of logs and
 * nodes say. Nodes that see the same rows name the same move, so one is made at a time, by the node that owns the database.
 *
 * Invariants: a database goes only to a living node that is to have it and has it, and that owns at least two fewer than its
 * present owner, so owners do not swing; nothing moves before it was uneven for a while with the same nodes,
 * so that a node that ends, or restarts of one node after the other, move nothing.
 */
import { compareText } from '../base/text-order.ts';
import type { ListedLog, ListedNode } from '../log/postgres-logs.ts';
import type { StoreView } from './store-view.ts';

/** A database and the node that is to become its owner. */
export interface OwnerMove {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** A node owns too many from this share of the mean on, */
const UNEVEN_SHARE = 1.2;
/** and if they are so many more than the mean. */
const UNEVEN_COUNT = 2;
/** Owners are left as they are until they were uneven for this time, in milliseconds. */
const UNEVEN_MS = 30_000;

/** What a move is chosen by. */
type OwnedLog = Pick<ListedLog, 'name' | 'owner' | 'isOwned' | 'placed' | 'ready'>;
type OwningNode = Pick<ListedNode, 'id' | 'isAlive' | 'takesPart'>;

/** The next move; null: owners are even, or no node has a copy that would make them more so. */
export function ownerMove(logs: readonly OwnedLog[], nodes: Iterable<OwningNode>): OwnerMove | null {
  const owned = new Map<string, number>();
  for (const { id, isAlive, takesPart } of nodes) if (isAlive && takesPart) owned.set(id, 0);
  for (const { owner, isOwned } of logs)
    if (isOwned && owner !== null && owned.has(owner)) owned.set(owner, (owned.get(owner) ?? 0) + 1);
  const mean = [...owned.values()].reduce((sum, count) => sum + count, 0) / owned.size;
  const isUneven = (count: number): boolean => count >= mean * UNEVEN_SHARE && count >= mean + UNEVEN_COUNT;
  const givers = [...owned]
    .filter(([, count]) => isUneven(count))
    .toSorted(([one, most], [other, more]) => more - most || compareText(one, other));
  for (const [from, count] of givers) {
    let best: OwnerMove | null = null;
    let least = count - 1;
    for (const { name, owner, isOwned, placed, ready } of logs) {
      if (owner !== from || !isOwned || !placed.includes(from)) continue;
      for (const to of placed) {
        const has = owned.get(to);
        if (has === undefined || has >= least || !ready.includes(to)) continue;
        best = { name, from, to };
        least = has;
      }
    }
    if (best !== null) return best;
  }
  return null;
}

/** Names the moves that this node is to make, once owners were uneven for a while. */
export class EvenOwners {
  readonly #me: string;
  readonly #afterMs: number;
  /** Since when owners have been uneven with the same nodes, by `performance.now`; null: they are even. */
  #since: number | null = null;
  /** The nodes that were alive then. */
  #living = '';

  constructor(me: string, afterMs = UNEVEN_MS) {
    this.#me = me;
    this.#afterMs = afterMs;
  }

  /** The move that is due now and this node's; null: none. */
  due({ databases, nodes }: Pick<StoreView, 'databases' | 'nodes'>): OwnerMove | null {
    const move = ownerMove(databases, nodes.values());
    const living = [...nodes.values()].flatMap(({ id, isAlive }) => (isAlive ? [id] : [])).join(' ');
    const now = performance.now();
    if (move === null) this.#since = null;
    else if (this.#since === null || living !== this.#living) this.#since = now;
    this.#living = living;
    return move?.from === this.#me && now - (this.#since ?? now) >= this.#afterMs ? move : null;
  }

  /** The other node did not take what it was given: it is tried again after a while. */
  refused(): void {
    this.#since = null;
  }
}
