/**
 * Clients of the stateless revision: known from what they ask, since they open nothing that would say that they are there.
 *
 * One is told from another by its credential or address, the name and version it gives, and the space it asks about. It is
 * listed while a request of it is being answered and for a while after; of very many, those heard of last.
 */
import type { AgentClient } from '../../engine/contract/agents.ts';
import type { Caller } from '../../engine/index.ts';
import { type Agent, type ClientInfo, clientName, clientVersion, ConnectedClient } from './client.ts';
import { ownerOf } from './sessions.ts';

/** Milliseconds for which a client stays listed after its last request. */
const knownMs = 5 * 60_000;
const mostClients = 1000;
const mostOfOne = 100;

interface Known {
  readonly caller: Caller;
  readonly client: ConnectedClient;
  /** Requests that are being answered. */
  busy: number;
  lastHeard: number;
}

export class StatelessClients {
  readonly #nextId: () => string;
  readonly #now: () => number;
  /** The one heard of last at the end. */
  readonly #known = new Map<string, Known>();

  /** `now`: epoch milliseconds. */
  constructor(nextId: () => string, now: () => number = Date.now) {
    this.#nextId = nextId;
    this.#now = now;
  }

  /** One request. Its client is heard of when the request turns out to be one that is answered. */
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
    // As they are shown, so that nobody is listed twice alike.
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

  /** Forgets the one of this owner, or of all, that was heard of longest ago where there are as many as may be. */
  #makeRoom(owner: string): void {
    this.#forget();
    const all = [...this.#known];
    const own = all.filter(([, { caller }]) => ownerOf(caller) === owner);
    const among = own.length >= mostOfOne ? own : all.length >= mostClients ? all : [];
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

export class Visit implements Agent {
  readonly #arrive: () => Stay;
  #stay: Stay | null = null;

  constructor(arrive: () => Stay) {
    this.#arrive = arrive;
  }

  /** The request is of the revision, and will be answered. */
  accepted(): void {
    this.#stay ??= this.#arrive();
  }

  called(): void {
    this.#stay?.client.called();
  }

  end(): void {
    this.#stay?.leave();
    this.#stay = null;
  }
}
