/**
 * What the nodes of a store tell each other beside requests of clients (`node-messages.ts`): an owner, that records were
 * stored and which sessions have ended; a copy, what questions used there and which tools agents called.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ToolCallRecord } from '../../engine/contract/agents.ts';
import type { DatabaseList } from '../../engine/contract/administration.ts';
import { type Caller, type Engine, EngineError, systemCaller, type ToldUses } from '../../engine/index.ts';
import type { KnownOwner, NodeMessage } from '../http/host.ts';
import type { NodeMessenger } from '../http/node-messages.ts';
import type { KnownAgents } from '../mcp/agents.ts';
import type { SessionStore } from '../mcp/session-store.ts';

interface BetweenNodesParts {
  readonly engine: Pick<
    Engine,
    | 'node'
    | 'nodes'
    | 'look'
    | 'others'
    | 'heard'
    | 'takeUses'
    | 'noteUses'
    | 'databases'
    | 'databasesElsewhere'
  >;
  readonly messenger: Pick<NodeMessenger, 'send' | 'ask' | 'close'>;
  readonly agents: Pick<KnownAgents, 'received' | 'eraseCalls'>;
  readonly sessions: SessionStore;
  /** Where the nodes reach this one. */
  readonly address: () => string;
}

/** Between two times that a copy tells of uses, and that the owner looks for new nodes. */
const TELL_MS = 5000;
/** A copy looks every 50 ms itself while records come. */
const NUDGE_MS = 50;
/** While records come, the owner looks this often which nodes there are. */
const NODES_MS = 2000;
/** A node that has looked since knows who has a log, in milliseconds. */
const FRESH_MS = 1000;
/** Nodes that do not say within this time who has a log are not waited for. */
const HEAR_MS = 500;
/** Facts of a message. */
const MAX_FACTS = 1000;

/** Another node, as the owner knows it. */
interface Other {
  readonly address: string;
  nudgedAt: number;
  /** A nudge that waits for its time. */
  timer: ReturnType<typeof setTimeout> | null;
}

/** Sends and takes messages for one node. */
export class BetweenNodes {
  readonly #parts: BetweenNodesParts;
  readonly #timer: ReturnType<typeof setInterval>;
  /** Questions under way who has a log. */
  readonly #hearing = new Map<string | null, Promise<boolean>>();
  /** By id. */
  readonly #others = new Map<string, Other>();
  #othersAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #isTelling = false;

  constructor(parts: BetweenNodesParts) {
    this.#parts = parts;
    parts.sessions.onEnded = (session) => this.#ended(session);
    // A copy gathers from the first call on.
    parts.engine.takeUses();
    this.#timer = setInterval(() => void this.tell(), TELL_MS);
    this.#timer.unref();
  }

  get #isOwner(): boolean {
    return this.#parts.engine.node()?.role === 'owner';
  }

  /** Tells the owner what was used here, or as the owner looks which nodes there are. Never rejects. */
  async tell(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    const { engine } = this.#parts;
    const uses = engine.takeUses();
    if (this.#isOwner || (engine.node()?.owned ?? 0) > 0) await this.#lookForOthers();
    const unreached = new Set<string>();
    for (const part of partsOf(uses))
      if (
        !unreached.has(part.database) &&
        !(await this.#toOwner({ kind: 'uses', uses: [part] }, part.database))
      )
        unreached.add(part.database);
    this.#isTelling = false;
  }

  /** Of a copy of the catalogue, sends an agent's call to its owner, and resolves with whether it has it; null: this is the owner. */
  sendCall(call: ToolCallRecord): Promise<boolean> | null {
    return this.#isOwner ? null : this.#toOwner({ kind: 'calls', calls: [call] });
  }

  /** This node stored records: the others are told to look. */
  stored(): void {
    if (performance.now() - this.#othersAt > NODES_MS) void this.#lookForOthers();
    for (const other of this.#others.values()) this.#nudge(other);
  }

  /** This node ends, and other nodes have these logs: resolves when those that can be reached have looked. Never rejects. */
  async moved(databases: readonly string[]): Promise<void> {
    await this.#tellAll({ kind: 'moved', databases });
  }

  /** The node at this address was given the log: resolves when it has looked, or cannot be told. Never rejects. */
  async given(address: string, database: string): Promise<void> {
    await this.#parts.messenger.send(address, { kind: 'moved', databases: [database] });
  }

  /** See `NodeHost.hear`. Never rejects. */
  hear(database: string | null): Promise<boolean> {
    const hearing =
      this.#hearing.get(database) ?? this.#heard(database).finally(() => this.#hearing.delete(database));
    this.#hearing.set(database, hearing);
    return hearing;
  }

  async #heard(database: string | null): Promise<boolean> {
    const { engine, messenger } = this.#parts;
    const message: NodeMessage = { kind: 'owner', database };
    const ask = async (address: string): Promise<KnownOwner> => {
      const known = (await messenger.ask(address, message)) as KnownOwner | null;
      if (known?.isFresh !== true) throw new EngineError('NoOwner', 'this node cannot ask the store either');
      return known;
    };
    const late = pause(HEAR_MS, null, { ref: false });
    const known = await Promise.race([Promise.any(engine.others().map(ask)).catch(() => null), late]);
    if (known !== null && known.owner !== null) engine.heard(database, known.owner);
    return known !== null;
  }

  /** What this node knows of the owner of a log. */
  #knownOwner(database: string | null): KnownOwner {
    const node = this.#parts.engine.node(database ?? undefined);
    if (node === null) return { owner: null, isFresh: false };
    const { role, owner, ownerAddress, staleMs, problem } = node;
    const address = role === 'owner' ? this.#parts.address() : ownerAddress;
    return {
      owner: owner === null || address === null ? null : { owner, address },
      isFresh: problem === null && staleMs < FRESH_MS,
    };
  }

  /** Something was erased: of what the owner of a database erased, nodes without a copy learn by this alone. */
  async erased({
    database,
    tenant,
  }: {
    readonly database: string;
    readonly tenant: string | null;
  }): Promise<void> {
    const { engine, messenger } = this.#parts;
    if (engine.node(database)?.role !== 'owner') return;
    await this.#lookForOthers();
    const message: NodeMessage = { kind: 'erased', database, tenant };
    await Promise.all(Array.from(this.#others.values(), ({ address }) => messenger.send(address, message)));
  }

  /** The databases that the caller can reach, by name; those that this node does not have as nodes with them tell. Rejects with NoOwner. */
  async databases(caller: Caller): Promise<DatabaseList> {
    const { engine } = this.#parts;
    const { databases: here } = await engine.databases(caller);
    const found = new Map(here.map((database) => [database.name, database]));
    const wanted = new Map(
      [...engine.databasesElsewhere()].filter(
        ([name]) => caller.databases.length === 0 || caller.databases.includes(name),
      ),
    );
    const unreached = new Set<string>();
    while (wanted.size > 0) {
      const asked = new Map<string, string[]>();
      for (const [name, addresses] of wanted) {
        const address = addresses.find((each) => !unreached.has(each));
        if (address === undefined)
          throw new EngineError('NoOwner', `no node can be reached that has the database ${name}`, {
            retryAfterSeconds: 1,
          });
        asked.set(address, [...(asked.get(address) ?? []), name]);
      }
      const { tenants } = caller;
      const ask = async ([address, names]: [string, string[]]): Promise<void> => {
        const answer = await this.#parts.messenger.ask(address, { kind: 'databases', names, tenants });
        if (answer === null) {
          unreached.add(address);
          return;
        }
        for (const database of (answer as DatabaseList).databases) found.set(database.name, database);
        for (const name of names) wanted.delete(name);
      };
      await Promise.all(Array.from(asked, ask));
    }
    return { databases: [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)) };
  }

  /** Takes a message. Rejects with NotLeader for what only the owner takes, with NoOwner if the store cannot be asked. */
  async receive(message: NodeMessage): Promise<unknown> {
    const { engine, agents, sessions } = this.#parts;
    switch (message.kind) {
      case 'stored':
        void engine.look();
        break;
      case 'moved':
        await Promise.all(message.databases.map((name) => engine.look(name === '' ? undefined : name)));
        break;
      case 'uses':
        for (const { database } of message.uses) this.#requireOwner(database);
        engine.noteUses(message.uses);
        break;
      case 'calls':
        this.#requireOwner();
        for (const call of message.calls) agents.received(call);
        break;
      case 'ended':
        sessions.endedElsewhere(message.sessions);
        break;
      case 'erased':
        await agents.eraseCalls(message.database, message.tenant);
        break;
      case 'owner':
        return this.#knownOwner(message.database);
      case 'databases': {
        const asking = systemCaller('databases', 'default', 'default', new AbortController().signal);
        const { names: databases, tenants } = message;
        return engine.databases({ ...asking, databases, tenants });
      }
    }
    return undefined;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const { timer } of this.#others.values()) if (timer !== null) clearTimeout(timer);
    this.#others.clear();
    this.#parts.messenger.close();
  }

  #requireOwner(database?: string): void {
    if (this.#parts.engine.node(database)?.role !== 'owner')
      throw new EngineError('NotLeader', 'this node does not have the log');
  }

  /** To the owner of the database, or of the catalogue. */
  async #toOwner(message: NodeMessage, database?: string): Promise<boolean> {
    const address = this.#parts.engine.node(database)?.ownerAddress ?? null;
    return address !== null && this.#parts.messenger.send(address, message);
  }

  /** Resolves when the nodes that can be reached know. */
  #ended(session: string): Promise<void> {
    return this.#tellAll({ kind: 'ended', sessions: [session] });
  }

  async #tellAll(message: NodeMessage): Promise<void> {
    await this.#lookForOthers();
    const { messenger } = this.#parts;
    await Promise.all(Array.from(this.#others.values(), ({ address }) => messenger.send(address, message)));
  }

  /** A node that is new to this one is told which sessions have ended. */
  async #lookForOthers(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#othersAt = performance.now();
    const { engine, messenger, sessions } = this.#parts;
    try {
      const { nodes } = await engine.nodes();
      const alive = new Map(
        nodes.filter(({ alive: isAlive, self }) => isAlive && !self).map((node) => [node.id, node]),
      );
      for (const id of this.#others.keys()) if (!alive.has(id)) this.#others.delete(id);
      for (const [id, { address }] of alive) {
        if (this.#others.has(id) || address === '') continue;
        const ended = sessions.ended;
        if (ended.length > 0 && !(await messenger.send(address, { kind: 'ended', sessions: ended })))
          continue;
        this.#others.set(id, { address, nudgedAt: Number.NEGATIVE_INFINITY, timer: null });
      }
    } catch (error) {
      // PostgreSQL cannot be asked: those known stay.
      if (!(error instanceof EngineError)) throw error;
    } finally {
      this.#isLooking = false;
    }
  }

  #nudge(other: Other): void {
    if (other.timer !== null) return;
    const waitMs = other.nudgedAt + NUDGE_MS - performance.now();
    const send = (): void => {
      other.timer = null;
      other.nudgedAt = performance.now();
      void this.#parts.messenger.send(other.address, { kind: 'stored' });
    };
    if (waitMs <= 0) send();
    else other.timer = setTimeout(send, waitMs).unref();
  }
}

/** Messages of bounded size. */
function* partsOf(uses: readonly ToldUses[]): Generator<ToldUses> {
  for (const { facts, ...place } of uses)
    for (let from = 0; from < facts.length; from += MAX_FACTS)
      yield { ...place, facts: facts.slice(from, from + MAX_FACTS) };
}
