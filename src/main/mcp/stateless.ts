/**
 * The stateless revisions (2026-07-28): every request says by itself who speaks, and is answered by a server made for it.
 *
 * What lasts are the streams of `subscriptions/listen` alone. They hang on the handler of their database and tenant, so
 * that a change of one tenant is told to nobody else; a handler nobody listens to is dropped with its space's last
 * request. A stream ends when its credential does not stand any more.
 */
import { type McpHttpHandler, classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { Binding } from '../mcp-host.ts';
import { handOver, sessionErrors } from './connection.ts';
import { createServer } from './server.ts';
import type { SessionSurroundings } from './session-server.ts';
import { ownerOf } from './sessions.ts';
import { webRequestOf, writeResponse } from './web-exchange.ts';

/** Requests that may be under way at once, of all clients together and of one; streams last. */
const maxExchanges = 1000;
const maxExchangesOfOne = 250;
const keepAliveMs = 15_000;

interface Space extends Binding {
  readonly handler: McpHttpHandler;
  /** Requests that are being answered, open streams among them. */
  busy: number;
  /** Ends the telling of changes; null while nobody listens. */
  end: (() => void) | null;
}

/** An answer that is under way. */
interface Exchange {
  readonly caller: Caller;
  readonly space: Space;
  /** Documents of which a stream tells; null: it is no stream. */
  readonly uris: readonly string[] | null;
  cutOff(): void;
}

export class StatelessEndpoint {
  readonly #surroundings: SessionSurroundings;
  readonly #spaces = new Map<string, Space>();
  readonly #exchanges = new Set<Exchange>();

  constructor(surroundings: SessionSurroundings) {
    this.#surroundings = surroundings;
  }

  /** True where the message is one of a stateless revision, or claims to be one and is to be refused as such. */
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

  async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { host, contexts } = this.#surroundings;
    const caller = host.callerOf(request);
    this.#requireRoom(ownerOf(caller));
    const space = this.#spaceOf(caller);
    const exchange = { caller, space, uris: listenedTo(request.body), cutOff: () => reply.raw.destroy() };
    this.#begin(exchange);
    reply.raw.once('close', () => this.#end(exchange));
    await handOver(host, request, reply, (gone) =>
      contexts.run({ caller, gone }, async () => {
        const parsed = { parsedBody: request.body };
        await writeResponse(await space.handler.fetch(webRequestOf(request.raw, gone), parsed), reply.raw);
      }),
    );
  }

  /** Cuts off those whose credential does not stand any more. */
  endRefused(): void {
    for (const { caller, cutOff } of this.#exchanges)
      if (!this.#surroundings.host.holds(caller.credential, caller)) cutOff();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#spaces.values()].map(({ handler }) => handler.close()));
  }

  #requireRoom(owner: string): void {
    const { size } = this.#exchanges;
    // Counted only where there may be too many.
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

  /** Documents that the streams of a space tell of. */
  #urisOf(space: Space): ReadonlySet<string> {
    const streams = [...this.#exchanges].filter((exchange) => exchange.space === space);
    return new Set(streams.flatMap(({ uris }) => uris ?? []));
  }

  #spaceOf({ database, tenant }: Caller): Space {
    const { host, contexts } = this.#surroundings;
    const key = keyOf({ database, tenant });
    let space = this.#spaces.get(key);
    if (space === undefined) {
      const handler = createMcpHandler(() => createServer(this.#surroundings), {
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

function keyOf({ database, tenant }: Binding): string {
  return JSON.stringify([database, tenant]);
}

function headerAs<Name extends string>(name: Name, value: string | string[] | undefined) {
  return typeof value === 'string' ? ({ [name]: value } as Record<Name, string>) : {};
}

/** The documents that a request to be told of changes names; null where the message is none. */
function listenedTo(message: unknown): readonly string[] | null {
  if (!isRecord(message) || message['method'] !== 'subscriptions/listen') return null;
  const params = isRecord(message['params']) ? message['params'] : {};
  const wanted = isRecord(params['notifications']) ? params['notifications']['resourceSubscriptions'] : null;
  return Array.isArray(wanted) ? wanted.filter((uri) => typeof uri === 'string') : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
