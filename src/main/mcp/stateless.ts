/**
 * The stateless revisions (2026-07-28): every request identifies its client, and gets its own server. So does a message
 * of an older revision without a session, from a client that accepts plain JSON.
 *
 * Only the streams of `subscriptions/listen` last. They belong to the handler of their database and tenant, so a change
 * of one tenant is reported to no other; a handler without streams is dropped with its space's last request. A stream
 * ends when its credential is no longer valid.
 */
import {
  classifyInboundRequest,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  type McpHttpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AgentClient } from '../../engine/contract/agents.ts';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { ConnectionBinding } from '../base/agent-host.ts';
import { type Agent, type ClientInfo, clientName, clientVersion, ConnectedClient } from './client.ts';
import { handOver, writeResponse } from './connection.ts';
import { createServer, type SessionSurroundings, sessionErrors } from './server.ts';
import { ownerOf } from './sessions.ts';

/** Maximum number of concurrent requests, of all clients together and of one; streams included. */
const maxExchanges = 1000;
const maxExchangesOfOne = 250;
const keepAliveMs = 15_000;

interface Space extends ConnectionBinding {
  readonly handler: McpHttpHandler;
  /** Number of requests that are being answered, open streams included. */
  busy: number;
  /** Ends the reporting of changes; null without streams. */
  end: (() => void) | null;
}

/** An answer in progress. */
interface Exchange {
  readonly caller: Caller;
  readonly space: Space;
  /** Documents that a stream reports on; null: not a stream. */
  readonly uris: readonly string[] | null;
  /** Whether it is a stream whose client does not read. */
  isStuck(): boolean;
  cutOff(): void;
}

/** Answers messages that belong to no session. */
export class StatelessEndpoint {
  readonly #surroundings: SessionSurroundings;
  readonly #spaces = new Map<string, Space>();
  readonly #exchanges = new Set<Exchange>();
  readonly #clients: StatelessClients;

  constructor(surroundings: SessionSurroundings) {
    this.#surroundings = surroundings;
    this.#clients = new StatelessClients(surroundings.nextClientId);
  }

  /** The clients seen lately. */
  clients(): AgentClient[] {
    const { host } = this.#surroundings;
    return this.#clients.list((caller) => host.holds(caller.credential, caller));
  }

  /** Whether the message is of a stateless revision, or claims to be one and is to be refused as such. */
  static speaks(request: FastifyRequest): boolean {
    if (request.headers['mcp-session-id'] !== undefined) return false;
    const { kind } = classifyInboundRequest({
      httpMethod: request.method,
      ...headerAs('protocolVersionHeader', request.headers['mcp-protocol-version']),
      ...headerAs('mcpMethodHeader', request.headers['mcp-method']),
      ...headerAs('mcpNameHeader', request.headers['mcp-name']),
      body: request.body,
    });
    return kind !== 'legacy';
  }

  /**
   * Whether the message is of a revision with sessions but neither opens nor names one, from a client that accepts
   * plain JSON: a script, which could not use a stream of events.
   */
  static isPlain(request: FastifyRequest): boolean {
    const { accept, 'mcp-session-id': session } = request.headers;
    return session === undefined && (accept === undefined || accept.trim() === '*/*');
  }

  /** Answers such a message as JSON, with its own server. */
  async answerPlainly(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.#exchange(request, reply, async (visit) => {
      const server = createServer(this.#surroundings);
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport);
      visit.accepted();
      const headers = plainHeaders(request);
      const asked = new Request('http://localhost/', { method: 'POST', headers });
      try {
        await writeResponse(await transport.handleRequest(asked, { parsedBody: request.body }), reply.raw);
      } finally {
        await server.close();
      }
    });
  }

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.#exchange(request, reply, (_visit, { handler }) => {
      const { host, contexts } = this.#surroundings;
      const serve = toNodeHandler(handler, { onerror: sessionErrors(host, contexts) });
      // A received request has both.
      const { method = 'POST', url = '/' } = request.raw;
      return serve(Object.assign(request.raw, { method, url }), reply.raw, request.body);
    });
  }

  async #exchange(
    request: FastifyRequest,
    reply: FastifyReply,
    serve: (visit: Visit, space: Space) => Promise<void>,
  ): Promise<void> {
    const { host, contexts } = this.#surroundings;
    const caller = host.callerOf(request);
    this.#requireRoom(ownerOf(caller));
    const space = this.#spaceOf(caller);
    const uris = listenedTo(request.body);
    const { raw } = reply;
    const isStuck = (): boolean => uris !== null && raw.writableNeedDrain;
    const exchange = { caller, space, uris, isStuck, cutOff: () => raw.destroy() };
    const visit = this.#clients.visit(caller, clientInfoOf(request.body));
    this.#begin(exchange);
    reply.raw.once('close', () => {
      this.#end(exchange);
      visit.end();
    });
    await handOver(host, request, reply, (gone) =>
      contexts.run({ caller, gone, agent: visit }, () => serve(visit, space)),
    );
  }

  /** Cuts off streams whose credential is no longer valid. */
  endRefused(): void {
    for (const { caller, cutOff } of this.#exchanges)
      if (!this.#surroundings.host.holds(caller.credential, caller)) cutOff();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#spaces.values()].map(({ handler }) => handler.close()));
  }

  #requireRoom(owner: string): void {
    const { size } = this.#exchanges;
    // Counts only if there may be too many.
    if (size < maxExchangesOfOne) return;
    const own = [...this.#exchanges].filter(({ caller }) => ownerOf(caller) === owner).length;
    if (size < maxExchanges && own < maxExchangesOfOne) return;
    const whose =
      size < maxExchanges ? `${own} MCP requests of this credential or address` : `${size} MCP requests`;
    throw new EngineError('RateLimited', `${whose} are being answered: close streams, or try again later`);
  }

  #begin(exchange: Exchange): void {
    const { space, caller, uris } = exchange;
    this.#exchanges.add(exchange);
    space.busy++;
    if (uris === null) return;
    this.#surroundings.host.onSubscribers(1);
    space.end ??= this.#surroundings.notices.watch(caller, (notice) => {
      // The handler notifies all streams at once: a client that does not read is behind already, and is cut off to come
      // again.
      for (const each of this.#exchanges) if (each.space === space && each.isStuck()) each.cutOff();
      const { notify } = space.handler;
      if (notice.hasOthers) notify.resourcesChanged();
      for (const uri of notice.uris ?? this.#urisOf(space)) notify.resourceUpdated(uri);
    });
  }

  #end(exchange: Exchange): void {
    if (!this.#exchanges.delete(exchange)) return;
    const { space, uris } = exchange;
    space.busy--;
    if (uris !== null) this.#surroundings.host.onSubscribers(-1);
    if (space.busy > 0) return;
    space.end?.();
    this.#spaces.delete(keyOf(space));
  }

  /** Documents that the streams of a space report on. */
  #urisOf(space: Space): ReadonlySet<string> {
    const streams = [...this.#exchanges].filter((exchange) => exchange.space === space);
    return new Set(streams.flatMap(({ uris }) => uris ?? []));
  }

  #spaceOf({ database, tenant }: Caller): Space {
    const { host, contexts } = this.#surroundings;
    const key = keyOf({ database, tenant });
    let space = this.#spaces.get(key);
    if (space === undefined) {
      const makeServer = () => {
        const agent = contexts.getStore()?.agent;
        if (agent instanceof Visit) agent.accepted();
        return createServer(this.#surroundings);
      };
      const handler = createMcpHandler(makeServer, {
        legacy: 'reject',
        maxSubscriptions: maxExchanges,
        keepAliveMs,
        onerror: sessionErrors(host, contexts),
      });
      this.#spaces.set(key, (space = { database, tenant, handler, busy: 0, end: null }));
    }
    return space;
  }
}

function keyOf({ database, tenant }: ConnectionBinding): string {
  return JSON.stringify([database, tenant]);
}

/** The headers that a transport checks, for an answer as JSON. */
function plainHeaders({ headers }: FastifyRequest): Record<string, string> {
  const { 'content-type': type = '', 'mcp-protocol-version': version } = headers;
  return {
    accept: 'application/json, text/event-stream',
    'content-type': type,
    ...(typeof version === 'string' ? { 'mcp-protocol-version': version } : {}),
  };
}

function headerAs<Name extends string>(name: Name, value: string | string[] | undefined) {
  return typeof value === 'string' ? ({ [name]: value } as Record<Name, string>) : {};
}

/** What the client of a message says about itself. */
function clientInfoOf(message: unknown): ClientInfo {
  const params = isRecord(message) ? message['params'] : null;
  const meta = isRecord(params) ? params['_meta'] : null;
  const info = isRecord(meta) ? meta[CLIENT_INFO_META_KEY] : null;
  if (!isRecord(info)) return {};
  const { name, version } = info;
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof version === 'string' ? { version } : {}),
  };
}

/** The documents that a request for notifications names; null if the message is not one. */
function listenedTo(message: unknown): readonly string[] | null {
  if (!isRecord(message) || message['method'] !== 'subscriptions/listen') return null;
  const params = isRecord(message['params']) ? message['params'] : {};
  const wanted = isRecord(params['notifications']) ? params['notifications']['resourceSubscriptions'] : null;
  if (!Array.isArray(wanted)) return [];
  return wanted.filter((uri) => typeof uri === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

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

/**
 * The clients seen lately, known by their requests, since they open nothing.
 *
 * A client is identified by its credential or address, its name and version, and its space. It is listed while a
 * request of it is being answered and for a while after; if there are too many, only the latest ones are listed.
 */
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
