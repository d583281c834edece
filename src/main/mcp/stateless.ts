/**
 * The stateless revisions (2026-07-28): every request says by itself who speaks, and is answered by a server made for it.
 *
 * What lasts are the streams of `subscriptions/listen` alone. They hang on the handler of their database and tenant, so
 * that a change of one tenant is told to nobody else; a handler nobody listens to is dropped with its space's last
 * request. A stream ends when its credential does not stand any more.
 */
import { type McpHttpHandler, classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { Binding, McpHost } from '../mcp-host.ts';
import { handOver } from './connection.ts';
import { type CallContexts, createServer } from './server.ts';

/** Streams that may be open at once, of all tenants together. */
const maxStreams = 1000;
const keepAliveMs = 15_000;

interface Space extends Binding {
  readonly handler: McpHttpHandler;
  /** Requests that are being answered, open streams among them. */
  busy: number;
}

/** An answer that is under way. */
interface Exchange {
  readonly caller: Caller;
  cutOff(): void;
}

export class StatelessEndpoint {
  readonly #host: McpHost;
  readonly #contexts: CallContexts;
  readonly #spaces = new Map<string, Space>();
  readonly #exchanges = new Set<Exchange>();

  constructor(host: McpHost, contexts: CallContexts) {
    this.#host = host;
    this.#contexts = contexts;
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
    const caller = this.#host.callerOf(request);
    if (this.#exchanges.size >= maxStreams)
      throw new EngineError('RateLimited', `${maxStreams} MCP requests are being answered: try again later`);
    const space = this.#spaceOf(caller);
    const isStream = methodOf(request.body) === 'subscriptions/listen';
    const exchange = { caller, cutOff: () => reply.raw.destroy() };
    space.busy++;
    this.#exchanges.add(exchange);
    if (isStream) this.#host.onSubscribers(1);
    reply.raw.once('close', () => {
      this.#exchanges.delete(exchange);
      if (isStream) this.#host.onSubscribers(-1);
      space.busy--;
      if (space.busy === 0) this.#spaces.delete(keyOf(space));
    });
    const serve = toNodeHandler(space.handler, {
      onerror: (error) => this.#host.logger.debug({ err: error }, 'MCP request'),
    });
    await handOver(this.#host, request, reply, (gone) =>
      this.#contexts.run({ caller, gone }, () => serve(request.raw, reply.raw, request.body)),
    );
  }

  /** Cuts off those whose credential does not stand any more. */
  endRefused(): void {
    for (const { caller, cutOff } of this.#exchanges)
      if (!this.#host.holds(caller.credential, caller)) cutOff();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#spaces.values()].map(({ handler }) => handler.close()));
  }

  #spaceOf({ database, tenant }: Caller): Space {
    const known = this.#spaces.get(keyOf({ database, tenant }));
    if (known !== undefined) return known;
    const handler = createMcpHandler(() => createServer(this.#host, this.#contexts, () => {}), {
      legacy: 'reject',
      maxSubscriptions: maxStreams,
      keepAliveMs,
      onerror: (error) => this.#host.logger.debug({ err: error }, 'MCP request'),
    });
    const space = { database, tenant, handler, busy: 0 };
    this.#spaces.set(keyOf(space), space);
    return space;
  }
}

function keyOf({ database, tenant }: Binding): string {
  return JSON.stringify([database, tenant]);
}

function headerAs<Name extends string>(name: Name, value: string | string[] | undefined) {
  return typeof value === 'string' ? ({ [name]: value } as Record<Name, string>) : {};
}

function methodOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null ? Reflect.get(message, 'method') : undefined;
}
