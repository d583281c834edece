/**
 * The routes of A2A: a card for each revision at its well-known address, and `/a2a`, which serves both revisions.
 *
 * HTTP refuses a request in the order of the contract, like any other. Once the body has been parsed as JSON, all
 * answers are JSON-RPC with status 200, errors included, as clients of the protocol expect.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AgentCard } from '@a2a-js/sdk';
import { type Caller, EngineError, invalid } from '../../engine/index.ts';
import type { A2aHost, JsonBodies } from '../base/a2a-host.ts';
import { createAgent } from './agent.ts';
import { agentCard, type CardFacts, earlierCard } from './cards.ts';
import { answerRpc, parseError } from './json-rpc.ts';

export const a2aPath = '/a2a';
export const cardPath = '/.well-known/agent-card.json';
export const earlierCardPath = '/.well-known/agent.json';

/** Adds the routes of A2A. */
export function mountA2a(app: FastifyInstance, host: A2aHost, bodies: JsonBodies): void {
  const card = (write: (facts: CardFacts) => unknown) => (request: FastifyRequest, reply: FastifyReply) =>
    sendCard(request, reply, write(cardFacts(host, request)));
  app.get(
    cardPath,
    { config: { isPublic: true } },
    card((facts) => AgentCard.toJSON(agentCard(facts))),
  );
  app.get(earlierCardPath, { config: { isPublic: true } }, card(earlierCard));
  app.post(a2aPath, { config: { readsBody: true } }, (request, reply) => post(host, bodies, request, reply));
}

function cardFacts(host: A2aHost, request: FastifyRequest): CardFacts {
  return {
    version: host.version,
    url: `${originOf(request)}${a2aPath}`,
    needsCredential: host.needsCredential(),
  };
}

/** Host and port only: nothing that would change the target of an address. */
const plainHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The address that the client used: the Host header, else the local end of its connection. */
function originOf(request: FastifyRequest): string {
  const { host = '' } = request.headers;
  if (plainHost.test(host)) return `${request.protocol}://${host}`;
  const { localAddress = '127.0.0.1', localPort } = request.socket;
  return `${request.protocol}://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** How long clients may cache a card, in seconds. */
const cardAgeSeconds = 60;

function sendCard(request: FastifyRequest, reply: FastifyReply, card: unknown): FastifyReply {
  const text = JSON.stringify(card);
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  reply.headers({ etag, 'cache-control': `public, max-age=${cardAgeSeconds}` });
  const known = request.headers['if-none-match'];
  if (known !== undefined && known.split(',').some((each) => each.trim().replace(/^W\//, '') === etag))
    return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(text);
}

async function post(
  host: A2aHost,
  bodies: JsonBodies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const parse = await bodies.read(request);
  const version = versionOf(request);
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const caller: Caller = { ...callerOf(host, request), signal: gone.signal };
  const body = await parsed(parse);
  if (body instanceof EngineError) return bodies.send(reply, parseError(body.message));
  const agent = createAgent(host, caller, agentCard(cardFacts(host, request)));
  const response = await answerRpc(body.value, version, agent);
  return gone.signal.aborted ? reply.hijack() : bodies.send(reply, response);
}

function callerOf(host: A2aHost, request: FastifyRequest): Caller {
  if (request.headers['x-transaction-id'] !== undefined)
    throw invalid('X-Transaction-ID', 'has no meaning here: a message is no part of a transaction');
  return host.callerOf(request);
}

/** The revision that the client names in the header or, as the protocol also allows, in the query; null: none. */
function versionOf(request: FastifyRequest): string | null {
  const { searchParams } = new URL(request.url, 'http://localhost');
  for (const name of searchParams.keys())
    if (name !== 'A2A-Version') throw invalid(name, 'unknown query parameter');
  const header = request.headers['a2a-version'];
  const version = (typeof header === 'string' ? header : (searchParams.get('A2A-Version') ?? '')).trim();
  return version === '' ? null : version;
}

async function parsed(parse: () => unknown): Promise<{ readonly value: unknown } | EngineError> {
  try {
    return { value: await parse() };
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}
