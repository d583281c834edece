/**
 * The MCP sessions in memory, bounded in number and in idle time.
 *
 * A session belongs for good to the credential, database and tenant that opened it. It is idle while no call runs and
 * none of its streams is open. If there is no room, the session idle for longest is evicted, one of the same owner if
 * that owner has reached its limit; if none is idle, a new one is refused. The protocol is left to the transport.
 */
import type { ServerResponse } from 'node:http';
import type { Server, Transport } from '@modelcontextprotocol/server';
import type { AgentClient } from '../../engine/contract/agents.ts';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { ConnectionBinding } from '../base/agent-host.ts';
import { networkOf } from '../base/network.ts';
import type { ConnectedClient } from './client.ts';

export interface SessionLimits {
  readonly maxSessions: number;
  /** Maximum for one credential, else address. */
  readonly maxSessionsOfOne: number;
  /** Milliseconds without a call or an open stream after which a session ends. */
  readonly idleMs: number;
}

export const defaultSessionLimits: SessionLimits = {
  maxSessions: 1000,
  maxSessionsOfOne: 250,
  idleMs: 30 * 60_000,
};

export interface SessionParts<Kind extends Transport> {
  /** The caller that opened it: the session belongs to this credential, database and tenant. */
  readonly opener: Caller;
  readonly transport: Kind;
  readonly server: Server;
  /** Its entry in the list of clients. */
  readonly client: ConnectedClient;
  readonly now: number;
  /** Bytes of answers that the client has not read yet, if the transport buffers them. */
  readonly unreadBytes?: () => number;
}

/** One session: its owner, its calls and its streams. */
export class McpSession<Kind extends Transport = Transport> {
  readonly binding: ConnectionBinding;
  readonly credential: string | null;
  /** The credential, else the address. */
  readonly owner: string;
  readonly transport: Kind;
  readonly server: Server;
  readonly client: ConnectedClient;
  readonly unreadBytes: () => number;
  readonly #streams = new Set<ServerResponse>();
  #busy = 0;
  #lastUsed: number;

  constructor({ opener, transport, server, client, now, unreadBytes = () => 0 }: SessionParts<Kind>) {
    this.binding = { database: opener.database, tenant: opener.tenant };
    this.credential = opener.credential;
    this.owner = ownerOf(opener);
    this.transport = transport;
    this.server = server;
    this.client = client;
    this.unreadBytes = unreadBytes;
    this.#lastUsed = now;
  }

  /** Number of running calls and open streams. */
  get busy(): number {
    return this.#busy;
  }

  /** +1 when a call or a stream begins, -1 when it ends. */
  occupy(change: 1 | -1, now: number): void {
    this.#busy += change;
    this.#lastUsed = now;
  }

  /** The session is in use while this stream is open. */
  opened(stream: ServerResponse): void {
    this.#streams.add(stream);
    this.occupy(1, Date.now());
    stream.once('close', () => {
      this.#streams.delete(stream);
      this.occupy(-1, Date.now());
    });
  }

  /** A stream whose client does not read; null: none. */
  get stuckStream(): ServerResponse | null {
    for (const stream of this.#streams) if (stream.writableNeedDrain) return stream;
    return null;
  }

  /** Ends it with its calls and streams; sends nothing more. */
  async end(): Promise<void> {
    await this.server.close();
    for (const stream of this.#streams) if (stream.writableLength > 0) stream.destroy();
  }

  touch(now: number): void {
    this.#lastUsed = now;
  }

  /** Milliseconds since it was last used; 0 while it is in use. */
  idleFor(now: number): number {
    return this.#busy > 0 ? 0 : now - this.#lastUsed;
  }
}

/** All sessions of a transport. */
export class Sessions<Kind extends Transport> {
  readonly #limits: SessionLimits;
  readonly #open = new Map<string, McpSession<Kind>>();

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  get(id: string): McpSession<Kind> | undefined {
    return this.#open.get(id);
  }

  clients(): AgentClient[] {
    return Array.from(this.#open.values(), ({ client }) => client.view());
  }

  add(id: string, session: McpSession<Kind>): void {
    this.#open.set(id, session);
  }

  remove(id: string): void {
    this.#open.delete(id);
  }

  /** Ends the sessions that have been idle too long. */
  async sweep(now: number): Promise<void> {
    await this.endWhere((session) => session.idleFor(now) >= this.#limits.idleMs);
  }

  /** Ends the sessions that satisfy `isOver`, with their calls and streams. */
  async endWhere(isOver: (session: McpSession<Kind>) => boolean): Promise<void> {
    const ended = [...this.#open.values()].filter(isOver);
    await Promise.all(ended.map((session) => session.end()));
  }

  /** Ends sessions, those with the most unread bytes first, until all together have at most `mostBytes`. */
  async endUnread(mostBytes: number): Promise<void> {
    const unread = [...this.#open.values()]
      .map((session) => ({ session, bytes: session.unreadBytes() }))
      .toSorted((left, right) => right.bytes - left.bytes);
    let sum = unread.reduce((all, { bytes }) => all + bytes, 0);
    const ended: McpSession<Kind>[] = [];
    for (const { session, bytes } of unread) {
      if (sum <= mostBytes) break;
      sum -= bytes;
      ended.push(session);
    }
    await Promise.all(ended.map((session) => session.end()));
  }

  /** Makes room for one more session of this opener. Refuses with RateLimited if all are in use. */
  async makeRoom(opener: Caller, now: number): Promise<void> {
    const { maxSessions, maxSessionsOfOne } = this.#limits;
    const open = [...this.#open.values()];
    const owner = ownerOf(opener);
    const own = open.filter((session) => session.owner === owner);
    if (own.length >= maxSessionsOfOne) await makeRoomAmong(own, 'of this credential or address', now);
    else if (open.length >= maxSessions) await makeRoomAmong(open, 'of all clients', now);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map((session) => session.end()));
  }
}

/** Ends the session idle for longest. */
async function makeRoomAmong(sessions: readonly McpSession[], whose: string, now: number): Promise<void> {
  const [idlest = null] = sessions
    .filter((session) => session.busy === 0)
    .toSorted((left, right) => right.idleFor(now) - left.idleFor(now));
  if (idlest === null)
    throw new EngineError(
      'RateLimited',
      `${sessions.length} MCP sessions ${whose} are open and in use, the maximum: try again later`,
    );
  await idlest.end();
}

/** The owner of a session or a request, for limits. */
export function ownerOf({ credential, peer }: Caller): string {
  return credential ?? `address ${networkOf(peer ?? '')}`;
}
