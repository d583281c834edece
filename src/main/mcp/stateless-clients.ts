/**
 * Clients of the stateless revision: known by their requests, since they open nothing.
 *
 * A client is identified by its credential or address, its name and version, and its space. It is listed while a
 * request of it is being answered and for a while after; if there are too many, only the latest ones are listed.
 */
import type { AgentClient } from '../../engine/contract/agents.ts';
import type { Caller } from '../../engine/index.ts';
import { type Agent, type ClientInfo, clientName, clientVersion, ConnectedClient } from './client.ts';
import { ownerOf } from './sessions.ts';

/** Milliseconds for which a client stays listed after its last request. */
const knownMs = 5 * 60_000;
const maxClients = 1000;
const maxOfOne = 100;

interface Known {
  readonly caller: Caller;
  readonly client: ConnectedClient;
  /** Number of requests that are being answered. */
  busy: number;
  lastHeard: number;
}

/** The clients seen lately. */
export class StatelessClients {
  readonly #nextId: () => string;
  readonly #now: () => number;
  /** Most recently seen last. */
  readonly #known = new Map<string, Known>();

  /** `now` returns epoch milliseconds. */
  constructor(nextId: () => string, now: () => number = Date.now) {
    this.#nextId = nextId;
    this.#now = now;
  }

  /** Creates the visit of one request. Its client is noted once the request is accepted. */
  visit(caller: Caller, info: ClientInfo): Visit {
    return new Visit(() => this.#arrive(caller, info));
  }

  list(isStanding: (caller: Caller) => boolean): AgentClient[] {
    this.#forget();
    return [...this.#known.values()]
      .filter(({ caller }) => isStanding(caller))
      .map(({ client }) => client.view());
  }

  #arrive(caller: Caller, info: ClientInfo): Stay {
    const now = this.#now();
    const { database, tenant } = caller;
    const owner = ownerOf(caller);
    // Normalized as shown, so that no client is listed twice.
    const name = clientName(info.name) ?? undefined;
    const version = clientVersion(info.version) ?? undefined;
    const key = JSON.stringify([owner, name, version, database, tenant]);
    let known = this.#known.get(key);
    if (known === undefined) {
      this.#makeRoom(owner);
      const client = new ConnectedClient({
        id: this.#nextId(),
        transport: 'stateless',
        binding: { database, tenant },
        connectedAt: now,
        info: () => ({ name, version }),
      });
      known = { caller, client, busy: 0, lastHeard: now };
    }
    const { client } = known;
    known.busy++;
    this.#heardOf(key, known);
    return {
      client,
      leave: () => {
        known.busy--;
        if (this.#known.get(key) === known) this.#heardOf(key, known);
      },
    };
  }

  #heardOf(key: string, known: Known): void {
    known.lastHeard = this.#now();
    this.#known.delete(key);
    this.#known.set(key, known);
  }

  /** Drops the least recently seen client of this owner, or of all, if the maximum is reached. */
  #makeRoom(owner: string): void {
    this.#forget();
    const all = [...this.#known];
    const own = all.filter(([, { caller }]) => ownerOf(caller) === owner);
    const among = own.length >= maxOfOne ? own : all.length >= maxClients ? all : [];
    const [oldest] = among.filter(([, { busy }]) => busy === 0);
    const [key] = oldest ?? among[0] ?? [];
    if (key !== undefined) this.#known.delete(key);
  }

  #forget(): void {
    const since = this.#now() - knownMs;
    for (const [key, { busy, lastHeard }] of this.#known)
      if (busy === 0 && lastHeard < since) this.#known.delete(key);
  }
}

/** A client while a request of it is being answered. */
interface Stay {
  readonly client: ConnectedClient;
  leave(): void;
}

/** One request of a client. */
export class Visit implements Agent {
  readonly #arrive: () => Stay;
  #stay: Stay | null = null;
  #hasEnded = false;

  constructor(arrive: () => Stay) {
    this.#arrive = arrive;
  }

  /** The request is of the revision, and will be answered. */
  accepted(): void {
    if (!this.#hasEnded) this.#stay ??= this.#arrive();
  }

  /** Also called after the client has disconnected and the call was cancelled. */
  called(): void {
    this.#stay?.client.called();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stay?.leave();
  }
}
