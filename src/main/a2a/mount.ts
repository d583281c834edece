/**
 * The routes of A2A: a card for each revision at its well-known address, and `/a2a`, which serves both revisions.
 *
 * HTTP refuses a request in the order of the contract, like any other. Once the body has been parsed as JSON, all
 * answers are JSON-RPC with status 200, errors included, as clients of the protocol expect.
 *
 * A card says what the agent is, what it can do and how to reach it. It contains no knowledge, so it needs no
 * credential, and it gives the address by which the client asked for it.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AgentCard, type AgentSkill } from '@a2a-js/sdk';
import { type Caller, EngineError, invalid } from '../../engine/index.ts';
import type { A2aHost, JsonBodies } from '../base/agent-host.ts';
import { createAgent } from './agent.ts';
import { answerRpc, parseError } from './json-rpc.ts';
import { messageNeed } from './need.ts';
import type { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';

const a2aPath = '/a2a';
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
  app.post(a2aPath, { config: { readsBody: true, needOf: messageNeed } }, (request, reply) =>
    post(host, bodies, request, reply),
  );
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
    throw invalid('X-Transaction-ID', 'has no meaning here: a message cannot be part of a transaction');
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

/** The card of revision 0.3. */
type EarlierCard = Awaited<ReturnType<LegacyRestTransportHandler['getAuthenticatedExtendedAgentCard']>>;

interface CardFacts {
  /** Version of the service. */
  readonly version: string;
  /** Absolute address of `/a2a`. */
  readonly url: string;
  readonly needsCredential: boolean;
}

const name = 'Corollary';

const description =
  'A knowledge base that answers from facts and rules, with a proof of every answer and without a language model. It reads ' +
  'text line by line: a line that ends in a full stop tells a fact or teaches a rule; a line that ends in a question mark, ' +
  'or is an atom with a variable, asks; a line that begins with forget retracts. The headers X-Database and X-Tenant-ID select the knowledge, both "default" where ' +
  'they are missing.';

const inputModes = ['text/plain'];
const outputModes = ['text/plain', 'application/json'];

const skills = [
  {
    id: 'tell',
    name: 'Tell facts',
    description:
      'Stores facts: a predicate, its arguments in parentheses and a full stop. A minus sign before it says that it is ' +
      'explicitly not so. Answers with {status, atom}.',
    tags: ['facts', 'memory', 'knowledge'],
    examples: ['parent(ann, bob).', '-flies(tweety).'],
  },
  {
    id: 'teach',
    name: 'Teach rules',
    description:
      'Stores a rule: what follows, :-, what it follows from, and a full stop. Variables begin with a question mark. ' +
      'Answers with {status, rule}.',
    tags: ['rules', 'reasoning', 'knowledge'],
    examples: ['grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).'],
  },
  {
    id: 'ask',
    name: 'Ask with proof',
    description:
      'Finds all that is stored or follows, and proves each of the answers. Answers with {results, proof}, and with no ' +
      'results if nothing known makes it so.',
    tags: ['questions', 'reasoning', 'proof'],
    examples: ['grandparent(?who, cal)?', 'parent(ann, ?child), not parent(?child, ?_)?'],
  },
  {
    id: 'forget',
    name: 'Forget facts and rules',
    description:
      'Retracts a fact, every fact that an atom with variables matches, or a rule: the word forget before it. What followed ' +
      'from it no longer does. Answers with {status, atom}.',
    tags: ['facts', 'memory', 'retraction'],
    examples: ['forget parent(ann, bob).', 'forget parent(ann, ?_).'],
  },
];

const bearerScheme = 'An API key as a bearer token';
const keyScheme = 'An API key in a header of its own';

/** Builds the card of revision 1.0 as the SDK's type; `AgentCard.toJSON` serializes it. */
function agentCard({ version, url, needsCredential }: CardFacts): AgentCard {
  const spoken = (protocolVersion: string) => ({
    url,
    protocolBinding: 'JSONRPC',
    tenant: '',
    protocolVersion,
  });
  return {
    name,
    description,
    supportedInterfaces: [spoken('1.0'), spoken('0.3')],
    provider: undefined,
    version,
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: needsCredential
      ? {
          bearer: {
            scheme: {
              $case: 'httpAuthSecurityScheme',
              value: { scheme: 'bearer', description: bearerScheme, bearerFormat: '' },
            },
          },
          apiKey: {
            scheme: {
              $case: 'apiKeySecurityScheme',
              value: { location: 'header', name: 'X-API-Key', description: keyScheme },
            },
          },
        }
      : {},
    securityRequirements: needsCredential
      ? [{ schemes: { bearer: { list: [] } } }, { schemes: { apiKey: { list: [] } } }]
      : [],
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills: skills.map(
      (skill): AgentSkill => ({ ...skill, inputModes: [], outputModes: [], securityRequirements: [] }),
    ),
    signatures: [],
  };
}

/** Builds the card of revision 0.3. */
function earlierCard({ version, url, needsCredential }: CardFacts): EarlierCard {
  return {
    protocolVersion: '0.3.0',
    name,
    description,
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    version,
    capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
    ...(needsCredential
      ? {
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer', description: bearerScheme },
            apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: keyScheme },
          },
          security: [{ bearer: [] }, { apiKey: [] }],
        }
      : {}),
    defaultInputModes: inputModes,
    defaultOutputModes: outputModes,
    skills,
    supportsAuthenticatedExtendedCard: false,
  };
}
