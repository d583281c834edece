/**
 * What a node last saw of the databases and nodes of its store: which databases it is to have, which it may close, and where
 * requests for the others go. It is as old as the last look, so whoever acts by it must expect that it has changed.
 */
import type { NodeList, NodeStatus } from '../contract/administration.ts';
import { CATALOGUE, isUnfinished } from '../log/log-names.ts';
import type { ListedLog, ListedNode } from '../log/postgres-logs.ts';

/** The logs and nodes of a store, as one node saw them. */
export class StoreView {
  readonly #me: string;
  #listed: readonly ListedLog[] = [];
  #databases: readonly ListedLog[] = [];
  #logs: ReadonlyMap<string, ListedLog> = new Map();
  #nodes: ReadonlyMap<string, ListedNode> = new Map();
  /** When the look was sent, by `performance.now`. */
  #at = performance.now();

  constructor(me: string) {
    this.#me = me;
  }

  /** True if a database is elsewhere, or to be elsewhere, than at the last look, or a node came or went. */
  saw(logs: readonly ListedLog[], nodes: readonly ListedNode[], at: number): boolean {
    this.#at = at;
    const before = this.#nodes;
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    const hasMoved = this.#sawLogs(logs);
    const isSameNodes = before.size === nodes.length && nodes.every((node) => isAsBefore(node, before));
    return hasMoved || !isSameNodes;
  }

  #sawLogs(logs: readonly ListedLog[]): boolean {
    if (logs === this.#listed) return false;
    let hasMoved = logs.length !== this.#listed.length;
    for (const [at, log] of logs.entries())
      if (!hasMoved && log !== this.#listed[at]) hasMoved = !isAtSamePlace(log, this.#listed[at]);
    this.#listed = logs;
    this.#logs = new Map(logs.map((log) => [log.name, log]));
    this.#databases = logs.filter((log) => !log.isEnded && log.name !== CATALOGUE && !isUnfinished(log));
    return hasMoved;
  }

  /** Another node says who the owner of a database is, while this one cannot look. */
  heard(name: string, { owner, address }: { readonly owner: string; readonly address: string }): void {
    const log = this.#logs.get(name);
    if (log === undefined || owner === this.#me) return;
    this.#logs = new Map(this.#logs).set(name, { ...log, owner, ownerAddress: address, isOwned: true });
  }

  /** Where the other living nodes are reached. */
  others(): string[] {
    return [...this.#nodes.values()].flatMap(({ id, isAlive, address }) =>
      id === this.#me || !isAlive || address === '' ? [] : [address],
    );
  }

  get nodes(): ReadonlyMap<string, ListedNode> {
    return this.#nodes;
  }

  /** The databases, without those that are being filled, by name. */
  get databases(): readonly ListedLog[] {
    return this.#databases;
  }

  /** The log of a database; null: there is none, or it has ended. */
  database(name: string): ListedLog | null {
    const log = this.#logs.get(name);
    return log === undefined || log.isEnded || name === CATALOGUE || isUnfinished(log) ? null : log;
  }

  /** True if this node is to have the database, or is its owner. */
  isWanted({ placed, owner }: ListedLog): boolean {
    return placed.length === 0 || placed.includes(this.#me) || owner === this.#me;
  }

  /** True if this node need not have the database any more: all living nodes that are to have it do, and another one is its owner. */
  mayLeave(log: ListedLog): boolean {
    const others = log.placed.filter((node) => this.#isAlive(node));
    return (
      !this.isWanted(log) && log.isOwned && others.length > 0 && others.every((node) => hasCopy(log, node))
    );
  }

  /** A node that is to have the database and does; null: this node is to have it, or no other one is ready. */
  successor(log: ListedLog): string | null {
    const { placed } = log;
    if (placed.length === 0 || placed.includes(this.#me)) return null;
    return placed.find((node) => this.#isAlive(node) && hasCopy(log, node)) ?? null;
  }

  /** Another node that has a copy of the database and lives; null: none. */
  otherCopy(name: string): string | null {
    const log = this.database(name);
    const known = log === null ? [] : [...log.placed, ...log.ready];
    return known.find((node) => node !== this.#me && this.#isAlive(node) && hasCopy(log, node)) ?? null;
  }

  /** Where other nodes that have the database are reached. */
  copiesOf(name: string): string[] {
    const log = this.database(name);
    if (log === null) return [];
    const holders = new Set([...(log.isOwned && log.owner !== null ? [log.owner] : []), ...log.ready]);
    // Before the first placement, and at an earlier program, every node has it.
    for (const { id, takesPart } of this.#nodes.values()) if (!takesPart) holders.add(id);
    holders.delete(this.#me);
    return [...holders].flatMap((id) => {
      const node = this.#nodes.get(id);
      return node === undefined || !node.isAlive || node.address === '' ? [] : [node.address];
    });
  }

  /** This node's part in the log of a database that it does not have; null: there is no such database. */
  statusOf(name: string, clockSkewMs: number): NodeStatus | null {
    const log = this.database(name);
    if (log === null) return null;
    const isElsewhere = log.isOwned && log.owner !== this.#me;
    return {
      id: this.#me,
      role: 'copy',
      owned: 0,
      copies: 0,
      owner: log.isOwned ? log.owner : null,
      ownerAddress: isElsewhere ? log.ownerAddress : null,
      lagRecords: 0,
      staleMs: Math.round(performance.now() - this.#at),
      takes: 0,
      clockSkewMs,
      problem: null,
    };
  }

  /** The nodes of the store and where its databases are, over what the log of the catalogue tells of them. */
  listed({ log, nodes }: NodeList): NodeList {
    const { databases } = this;
    const total = databases.reduce((sum, { lastSequence }) => sum + lastSequence, 0);
    const owned = (node: string): number =>
      databases.filter(({ owner, isOwned }) => isOwned && owner === node).length;
    return {
      log: log === null ? null : { ...log, position: total + log.position },
      databases: databases.map(({ name, epoch, owner, isOwned, lastSequence, placed, ready, bytes }) => ({
        name,
        owner: isOwned ? owner : null,
        epoch,
        position: lastSequence,
        bytes,
        placed: [...placed],
        copies: ready.filter((node) => node !== owner && this.#isAlive(node)),
      })),
      nodes: nodes.map((node) => {
        const { isAlive, takesPart } = this.#nodes.get(node.id) ?? { isAlive: false, takesPart: true };
        const has = isAlive ? databases.filter((each) => hasCopy(each, node.id) || !takesPart) : [];
        // It has the catalogue too.
        const end = has.reduce((sum, { lastSequence }) => sum + lastSequence, log?.position ?? 0);
        const ownedHere = owned(node.id);
        const copies = Math.max(0, has.length - ownedHere);
        return { ...node, owned: ownedHere, copies, lagRecords: Math.max(0, end - node.position) };
      }),
    };
  }

  #isAlive(node: string): boolean {
    return this.#nodes.get(node)?.isAlive === true;
  }
}

/** True if nothing about where the database is, or is to be, differs. */
function isAtSamePlace(one: ListedLog, other: ListedLog | undefined): boolean {
  return (
    one.id === other?.id &&
    one.name === other.name &&
    one.owner === other.owner &&
    one.isEnded === other.isEnded &&
    one.placed.join() === other.placed.join() &&
    one.ready.join() === other.ready.join() &&
    one.bytes === other.bytes &&
    one.lastSequence > 0 === other.lastSequence > 0
  );
}

function isAsBefore(
  { id, isAlive, takesPart, isConsidered, address }: ListedNode,
  before: ReadonlyMap<string, ListedNode>,
): boolean {
  const known = before.get(id);
  return (
    known?.isAlive === isAlive &&
    known.takesPart === takesPart &&
    known.isConsidered === isConsidered &&
    known.address === address
  );
}

/** True if the node has told that it has the database, or is its owner. */
function hasCopy(log: Pick<ListedLog, 'owner' | 'ready'> | null, node: string): boolean {
  return log !== null && (log.owner === node || log.ready.includes(node));
}
