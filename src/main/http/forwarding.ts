/**
 * What a node does with a request about a log that another one has: it answers reads from its copy, or passes them on to a
 * node with a copy if it has none, and passes everything else on to the node that has the log.
 *
 * A request makes one hop at most. What certainly did not reach the owner is sent to whoever has the log next, and waits
 * for that while a lease runs out. If the connection broke after sending, nobody knows whether a write was stored: a request
 * with an Idempotency-Key is repeated, any other is answered with OutcomeUnknown.
 */
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { operations } from '../../engine/contract/operations.ts';
import type { NodeStatus } from '../../engine/contract/administration.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { EngineError } from '../../engine/index.ts';
import type { MessageNeed } from '../base/agent-host.ts';
import { setStandingHeaders } from './answers.ts';
import { parseJsonBody, readBody } from './body.ts';
import { demandedState, namedSpace, namedTransaction, peerOf } from './caller.ts';
import type { HttpHost, NodeHost } from './host.ts';
import { AnswersHere } from './answers-here.ts';
import type { Activity, Task } from './limits.ts';
import { WriteGate } from './write-gate.ts';
import { nodeHeader, signedFor } from './node-requests.ts';
import { OwnerWatch } from './owner-watch.ts';

/** Operations that read what only the owner remembers or may write. */
const ofOwner: ReadonlySet<string> = new Set([
  '/admin/backup',
  '/admin/snapshot',
  '/context/diff',
  '/context/optimize',
  '/context/session/clear',
  '/mcp/calls',
  '/mcp/clients',
  '/replication/snapshot',
  '/replication/wal',
]);

const movePath = '/admin/nodes/move';
const creationPath = '/databases';

/** Refusals for what a copy may not know yet. */
const lookedFor: ReadonlySet<string> = new Set(['TenantNotFound', 'ScopeNotFound']);

/** Headers that belong to a connection, or that the other node must not see. */
const notPassed: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'origin',
  'proxy-authorization',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
  'x-request-id',
  'x-route',
  nodeHeader,
]);
/** The same of answers. */
const notPassedBack = /^(access-control-|connection$|keep-alive$|transfer-encoding$|vary$)/;

/** A body up to this size is kept, so that it can be sent once more. */
const maxKeptBytes = 1024 * 1024;
const maxSockets = 256;
const connectMs = 2000;
/** A request waits this long for a node that has the log: a lease runs out meanwhile, and another node takes it. */
const ownerMs = 5000;
/** Between two looks for it. */
const lookMs = 50;
/** A look that takes longer is not waited for: other nodes are asked. */
const lookLimitMs = 300;
/** A lease that ends so much later than it did has been renewed. */
const renewedMs = 250;
/** From this age on answers say how old they are. */
const freshMs = 1000;

/** A message of another surface up to this size is looked at, whether it only reads. */
const maxJudgedBytes = 64 * 1024;

/** What a message of another surface needs. */
export type NeedOf = (message: unknown) => MessageNeed | Promise<MessageNeed>;

/** The database of the session that a request belongs to; null: that of its headers. */
export type DatabaseOf = (request: FastifyRequest) => string | null;

/** What a route of another surface says of its requests. */
interface SurfaceRoute {
  readonly needOf?: NeedOf;
  readonly databaseOf?: DatabaseOf;
}

/** A request, and the database whose log it is about; null: the catalogue's. */
interface Addressed {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly database: string | null;
}

/** A node to which a request is sent. */
interface Target {
  readonly address: string;
  /** The request can be sent to another one. */
  readonly isRepeatable: boolean;
  /** It is asked because it has a copy. */
  readonly isReader: boolean;
}

/**
 * How sending a request to the owner ended. `refused`: the node answered that it does nothing of it; `spent`: the same, or not
 * reached, and its long body cannot be sent again.
 */
type Sent = 'answered' | 'refused' | 'not reached' | 'spent' | 'unknown';

/** Passes requests on, and says how old answers are. */
export class Forwarding {
  readonly #host: HttpHost;
  readonly #nodes: NodeHost;
  readonly #activity: Activity;
  /** Of the writes that are answered here. */
  readonly gate = new WriteGate();
  /** What is answered here. */
  readonly here = new AnswersHere();
  /** Counts reads that are passed on, to spread them over the copies. */
  #turn = 0;
  /** Requests passed on since the start. */
  readonly totals = { read: 0, write: 0 };
  /** Bodies that were read to judge them. */
  readonly #bodies = new WeakMap<IncomingMessage, Buffer>();
  readonly #watch: OwnerWatch;
  readonly #agents = {
    'http:': new HttpAgent({ keepAlive: true, maxSockets }),
    'https:': new HttpsAgent({ keepAlive: true, maxSockets }),
  };

  constructor(host: HttpHost, nodes: NodeHost, activity: Activity) {
    this.#host = host;
    this.#nodes = nodes;
    this.#activity = activity;
    this.#watch = new OwnerWatch(nodes);
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /** Resolves with true once the owner has answered the request of an operation, with false if it is answered here. */
  async passesOn(spec: OperationSpec, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const isRead = spec.kind === 'read';
    if (spec.role === 'public' && isRead) return false;
    if (spec.path === creationPath && !isRead) return this.#passesOnCreation(request, reply);
    // A node that ends answers first what another one passed on, though it may wait for the log to be moved.
    if (request.forwarded !== null) this.#countUntilAnswered(reply.raw);
    const database = await this.#databaseOf(spec, request);
    const addressed = { request, reply, database };
    const node = await this.#knownStatus(database);
    if (node === null) return false;
    const copies = database === null ? null : this.#nodes.copies(database);
    if (copies === null && database !== null) this.here.count(database, reply.raw, spec.stream === 'events');
    if (!isRead || ofOwner.has(spec.path) || namedTransaction(request) !== null)
      // A move waits for the writes, and not for itself.
      return !(await this.#isHere(addressed, spec.path === movePath)) && this.#passOn(addressed, isRead);
    if (copies !== null) return this.#passOn(addressed, true, this.#readersOf(addressed, copies));
    if (node.role === 'copy' && !(await this.#meets(spec, request))) return this.#passOn(addressed, true);
    if (spec.database) this.#judgeAge(request, this.#nodes.status(database)?.staleMs ?? 0);
    return false;
  }

  /** The node that is asked to create a database is its first owner. Of one that exists the owner knows what became of the key. */
  async #passesOnCreation(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const body = await this.#keptBody(request);
    const { name } = body instanceof Buffer ? await namesIn(body) : {};
    if (typeof name !== 'string' || !this.#canPassOn(request)) return false;
    await this.#knownStatus(name);
    const isElsewhere = this.#nodes.copies(name) !== null;
    return isElsewhere && this.#passOn({ request, reply, database: name }, false);
  }

  /** Where a read is answered that is passed on: at any copy, in turns; at the owner first, if it demands what the owner knows at once. */
  #readersOf({ request, database }: Addressed, copies: readonly string[]): readonly string[] {
    const { headers } = request;
    const from = copies.length === 0 ? 0 : this.#turn++ % copies.length;
    const inTurn = [...copies.slice(from), ...copies.slice(0, from)];
    const owner = this.#knownOwner(database);
    const isDemanding = headers['x-at-least'] !== undefined || headers['x-consistency'] !== undefined;
    return owner === null || !isDemanding ? inTurn : [owner, ...inTurn.filter((copy) => copy !== owner)];
  }

  #countUntilAnswered(answer: ServerResponse): Task {
    const task = this.#activity.startCall();
    answer.once('close', () => task.done());
    return task;
  }

  /** The database whose log the request is about. */
  async #databaseOf(spec: OperationSpec, request: FastifyRequest): Promise<string | null> {
    if (spec.path === movePath) {
      const body = await this.#keptBody(request);
      const { database = null } = body instanceof Buffer ? await namesIn(body) : {};
      return typeof database === 'string' ? database : null;
    }
    if (spec.pathNames !== undefined) return (request.params as { readonly name?: string }).name ?? null;
    return spec.database ? (namedSpace(request).database ?? 'default') : null;
  }

  /**
   * The status of the log. Another node may have created it a moment ago, so one that is not known here is looked for. Rejects
   * with NoOwner if the store cannot be asked: nobody can say that there is none.
   */
  async #knownStatus(database: string | null): Promise<NodeStatus | null> {
    const isKnown = database === null || this.#host.phase() !== 'ready' || this.#host.hasDatabase(database);
    if (!isKnown) await this.#host.confirm(database);
    return this.#nodes.status(database);
  }

  /**
   * The same for a request of another surface, whose streams live at the owner. What only reads is answered here, from the
   * latest state: a client that goes from node to node sees its own writes, and needs no token. So is what reads nothing.
   */
  async passesOnSurface(
    request: FastifyRequest,
    reply: FastifyReply,
    { needOf, databaseOf }: SurfaceRoute = {},
  ): Promise<boolean> {
    const database = databaseOf?.(request) ?? namedSpace(request).database ?? 'default';
    const node = await this.#knownStatus(database);
    if (node === null) return false;
    const isElsewhere = this.#nodes.copies(database) !== null;
    if (!isElsewhere) this.here.count(database, reply.raw, request.method === 'GET');
    if (node.role === 'copy' && !isElsewhere && request.forwarded === null && needOf !== undefined) {
      const need = await this.#needOf(request, needOf);
      if (need === 'nothing' || (need === 'reads' && (await this.#isLatest(database)))) return false;
    }
    // A GET is a stream that stays open.
    const isRead = request.method === 'GET';
    const addressed = { request, reply, database };
    return !(await this.#isHere(addressed, isRead)) && this.#passOn(addressed, isRead);
  }

  /**
   * The outcome of a read here. What a copy does not know, another node may have stored a moment ago: before it says so, it
   * applies what is stored, and reads again.
   */
  async unlessUnknown<Output>(database: string, read: () => Promise<Output>): Promise<Output> {
    try {
      return await read();
    } catch (error) {
      const isUnknown = error instanceof EngineError && lookedFor.has(error.code);
      if (!isUnknown || this.#nodes.status(database)?.role !== 'copy') throw error;
      await this.#host.confirm(database);
      return read();
    }
  }

  /** The body of a request that was read to judge it; null: it was not. */
  bodyOf({ raw }: FastifyRequest): Buffer | null {
    return this.#bodies.get(raw) ?? null;
  }

  async #needOf(request: FastifyRequest, needOf: NeedOf): Promise<'nothing' | 'reads' | null> {
    const body = await this.#keptBody(request);
    if (!(body instanceof Buffer) || body.length > maxJudgedBytes) return null;
    let message: unknown;
    try {
      message = await parseJsonBody(body);
    } catch (error) {
      // The owner refuses it.
      if (error instanceof EngineError) return null;
      throw error;
    }
    const need = await needOf(message);
    if (need === null || need === 'nothing' || need === 'reads') return need;
    return operations[need].kind === 'read' && !ofOwner.has(operations[need].path) ? 'reads' : null;
  }

  /** True if the copy shows everything that was stored before; false: the store cannot be asked. */
  async #isLatest(database: string): Promise<boolean> {
    try {
      await this.#host.confirm(database);
      return true;
    } catch (error) {
      if (error instanceof EngineError && error.code === 'NoOwner') return false;
      throw error;
    }
  }

  /** True if this node has the log. A request that another node passed on may be the first to tell of that. */
  async #isHere({ request, reply, database }: Addressed, isApart: boolean): Promise<boolean> {
    if (!isApart) await this.gate.open(database ?? '');
    if (this.#nodes.status(database)?.role === 'copy' && request.forwarded !== null)
      await this.#nodes.look(database);
    if (this.#nodes.status(database)?.role === 'copy') return false;
    if (!isApart) this.gate.count(database ?? '', reply.raw);
    return true;
  }

  /** True if the copy shows what the headers of a read demand. */
  async #meets(spec: OperationSpec, request: FastifyRequest): Promise<boolean> {
    const { headers } = request;
    if (!spec.database || (headers['x-at-least'] === undefined && headers['x-consistency'] === undefined))
      return true;
    try {
      await demandedState(request, namedSpace(request).database ?? 'default', this.#host);
      request.isDemandMet = true;
      return true;
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'NoOwner' || !this.#canPassOn(request))
        throw error;
      return false;
    }
  }

  /** Says how old the answer is; refuses with NoOwner if that is too old. */
  #judgeAge(request: FastifyRequest, staleMs: number): void {
    if (staleMs <= freshMs) return;
    const { staleReadsMs } = this.#nodes;
    if (staleMs > staleReadsMs)
      throw new EngineError(
        'NoOwner',
        `this node has not reached PostgreSQL for ${Math.round(staleMs / 1000)} s, and shows nothing older than ` +
          `${staleReadsMs / 1000} s (STALE_READS_MS): ask another node, or try again`,
        { retryAfterSeconds: 1 },
      );
    request.staleMs = staleMs;
  }

  #canPassOn(request: FastifyRequest): boolean {
    return (
      this.#nodes.secret !== null && request.forwarded === null && request.headers['x-route'] !== 'direct'
    );
  }

  /** `readers`: where a read is answered, to be tried in order, before the owner. */
  async #passOn(
    { request, reply, database }: Addressed,
    isRead: boolean,
    readers: readonly string[] = [],
  ): Promise<boolean> {
    if (!this.#canPassOn(request)) throw await this.#notLeader(database);
    this.totals[isRead ? 'read' : 'write']++;
    const task = this.#countUntilAnswered(reply.raw);
    // The service ends.
    task.toSignal().addEventListener('abort', () => reply.raw.destroy());
    const body = await this.#keptBody(request);
    const isRepeatable = body !== 'stream' && (isRead || request.headers['idempotency-key'] !== undefined);
    const next = this.#search(database, reply.raw);
    const left = [...readers];
    let sent: Sent = 'not reached';
    for (
      let address = left[0] ?? this.#knownOwner(database);
      ;
      address = left[0] ?? (await next(address, sent))
    ) {
      const isReader = left.shift() !== undefined;
      if (address === null) continue;
      sent = await this.#send({ address, isRepeatable, isReader }, { request, reply, database }, body);
      if (sent === 'answered') return true;
      // A long body is sent once its owner has asked for it, so it is whole until then.
      if (!isRepeatable && sent !== 'not reached' && sent !== 'refused')
        throw sent === 'unknown' && !isRead ? outcomeUnknown() : noOwner();
    }
  }

  /**
   * Returns how to go on after a node with the log was not known or did not answer: resolves with the address to try next,
   * null if there is none yet. Rejects with NoOwner after `ownerMs`, or if waiting would not help: the node is alive, and
   * only cannot be reached from here; or no node can ask PostgreSQL. A node that refuses renews its lease while it ends.
   */
  #search(
    database: string | null,
    answer: ServerResponse,
  ): (failed: string | null, how: Sent) => Promise<string | null> {
    const until = performance.now() + ownerMs;
    /** When the lease of the node that did not answer runs out. */
    let end: { readonly of: string | null; readonly at: number } | null = null;
    return async (failed, how) => {
      const leaseMs = await this.#looked(database);
      const isAnother = (address: string | null): boolean => address !== null && address !== failed;
      let address = this.#knownOwner(database);
      if (isAnother(address)) return address;
      const { problem = null, staleMs = 0 } = this.#nodes.status(database) ?? {};
      const isHeard = (leaseMs === null || problem !== null) && (await this.#nodes.hear(database));
      const isUnasked = !isHeard && (problem !== null || (leaseMs === null && staleMs > freshMs));
      address = this.#knownOwner(database);
      if (isAnother(address)) return address;
      const now = performance.now();
      const at = now + (leaseMs ?? 0);
      if (end === null || end.of !== failed) end = { of: failed, at };
      const isRenewed = how !== 'refused' && leaseMs !== null && leaseMs > 0 && at > end.at + renewedMs;
      if (isRenewed || isUnasked || now > until || answer.destroyed) throw noOwner();
      await new Promise((resolve) => setTimeout(resolve, lookMs));
      return address;
    };
  }

  /** The milliseconds until the lease of the owner runs out, as of a look now; null: the store does not answer at once. */
  async #looked(database: string | null): Promise<number | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), lookLimitMs);
    });
    const leaseMs = await Promise.race([this.#nodes.look(database), late]);
    clearTimeout(timer);
    return leaseMs;
  }

  async #notLeader(database: string | null): Promise<EngineError> {
    if (this.#knownOwner(database) === null) await this.#nodes.look(database);
    const leader = this.#knownOwner(database);
    if (leader === null) return noOwner();
    return new EngineError('NotLeader', `this node does not have the log: send the request to ${leader}`, {
      leader,
    });
  }

  /**
   * Where the owner is: this node, if it took the log after it had begun to pass the request on, whose body is read by then;
   * null: no node has the log.
   */
  #knownOwner(database: string | null): string | null {
    const node = this.#nodes.status(database);
    return node?.role === 'owner' ? this.#nodes.address() : (node?.ownerAddress ?? null);
  }

  #send(to: Target, addressed: Addressed, body: Buffer | 'stream' | null): Promise<Sent> {
    const target = new URL(to.address);
    const protocol = target.protocol === 'https:' ? 'https:' : 'http:';
    const open = protocol === 'https:' ? requestHttps : requestHttp;
    const { request } = addressed;
    const { method, raw } = request;
    const path = `${target.pathname.replace(/\/$/, '')}${raw.url ?? '/'}`;
    const upstream = open(target, {
      method,
      path,
      agent: this.#agents[protocol],
      headers: this.#headersOf(request, path, body),
    });
    return this.#sent(upstream, to, addressed, body);
  }

  /** Resolves when the answer of the owner has begun, or with how sending failed. */
  #sent(
    upstream: ClientRequest,
    to: Target,
    { request, reply, database }: Addressed,
    body: Buffer | 'stream' | null,
  ): Promise<Sent> {
    let resolve: (sent: Sent) => void = () => {};
    const promise = new Promise<Sent>((settle) => {
      resolve = settle;
    });
    let isConnected = false;
    let isAsked = body !== 'stream';
    const failed = (): Sent => (isConnected && isAsked ? 'unknown' : 'not reached');
    upstream.on('socket', (socket) => {
      isConnected = !socket.connecting;
      // A connection that is kept serves many requests.
      if (isConnected) return;
      socket.once('connect', () => {
        isConnected = true;
      });
    });
    const connecting = setTimeout(() => {
      if (!isConnected) upstream.destroy();
    }, connectMs);
    const watched = this.#watch.watch({ ...to, database, give: () => upstream.destroy() });
    const gone = (): void => void upstream.destroy();
    const { raw: answer } = reply;
    answer.once('close', gone);
    const ended = (sent: Sent): void => {
      clearTimeout(connecting);
      if (sent !== 'answered') answer.off('close', gone);
      resolve(sent);
    };
    upstream.on('error', () => {
      if (answer.headersSent) answer.destroy();
      ended(failed());
    });
    /** A refusal is being read. */
    let isJudged = false;
    upstream.on('close', () => {
      watched.stop();
      if (!isJudged) ended(failed());
    });
    const undone = (): void => ended(body === 'stream' && isAsked ? 'spent' : 'refused');
    const answered = (response: IncomingMessage, said: Buffer | null): void => {
      ended('answered');
      relay(response, said, request, reply);
    };
    upstream.on('response', (response) => {
      watched.heard();
      response.on('data', watched.heard);
      if (response.statusCode === 421) response.resume().once('end', undone);
      else if (response.statusCode === 503) {
        isJudged = true;
        buffer(response).then(
          (said) => (isUndone(said) ? undone() : answered(response, said)),
          () => ended(failed()),
        );
      } else answered(response, null);
    });
    if (body === 'stream') {
      upstream.once('continue', () => {
        isAsked = true;
        request.raw.pipe(upstream);
      });
      upstream.flushHeaders();
    } else upstream.end(body ?? undefined);
    return promise;
  }

  #headersOf(request: FastifyRequest, path: string, body: Buffer | 'stream' | null): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === 'string' && !notPassed.has(name)) headers[name] = value;
    const { method, identity, id } = request;
    const client = { identity, peer: peerOf(request) ?? null };
    const { secret } = this.#nodes;
    headers[nodeHeader] = signedFor(secret ?? '', { method, url: path }, client, Date.now());
    headers['x-request-id'] = id;
    const { 'content-length': length } = request.headers;
    if (body instanceof Buffer) headers['content-length'] = String(body.length);
    else if (body === 'stream' && length !== undefined) headers['content-length'] = length;
    if (body === 'stream') headers['expect'] = '100-continue';
    return headers;
  }

  /** The body, if it is short; `stream`: it is read while it is sent; null: there is none. */
  async #keptBody({ raw, method }: FastifyRequest): Promise<Buffer | 'stream' | null> {
    if (method === 'GET' || method === 'HEAD') return null;
    const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
    if (length === undefined && encoding === undefined) return null;
    if (length === undefined || Number(length) > maxKeptBytes) return 'stream';
    const body = this.#bodies.get(raw) ?? (await readBody(raw, maxKeptBytes));
    this.#bodies.set(raw, body);
    return body;
  }
}

/** The database that the body of a move, or of a creation, names, if it does. */
async function namesIn(body: Buffer): Promise<{ readonly database?: unknown; readonly name?: unknown }> {
  try {
    const given = await parseJsonBody(body);
    return typeof given === 'object' && given !== null ? given : {};
  } catch (error) {
    // Whoever answers refuses it.
    if (error instanceof EngineError) return {};
    throw error;
  }
}

/** Whether a refusal says that nothing was done, and that another node may do it. */
function isUndone(problem: Buffer): boolean {
  return /"code": ?"NoOwner"/.test(problem.toString('latin1'));
}

/** Sends the owner's answer on as it comes; `said` is its body, if it was read. */
function relay(
  response: IncomingMessage,
  said: Buffer | null,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { raw } = reply.hijack();
  setStandingHeaders(request, reply);
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined && !notPassedBack.test(name)) raw.setHeader(name, value);
  raw.writeHead(response.statusCode ?? 502);
  if (said !== null) {
    raw.end(said);
    return;
  }
  response.on('error', () => raw.destroy());
  response.pipe(raw);
}

function noOwner(): EngineError {
  return new EngineError(
    'NoOwner',
    'No node of the store can be reached that has the log; another one is about to take it. Nothing of this request was ' +
      'stored; try again.',
    { retryAfterSeconds: 1 },
  );
}

function outcomeUnknown(): EngineError {
  return new EngineError(
    'OutcomeUnknown',
    'The connection to the node that has the log broke after this request was sent. It is stored whole or not at all: read ' +
      'it back, or repeat the request with an Idempotency-Key.',
  );
}
