/**
 * The caller of a request: its credential (401) and rate limit (429), its database and its tenant.
 *
 * Coverage (403) is checked before the names themselves (400), so that a credential learns nothing about what it does
 * not cover; existence of the database (404) comes last.
 */
import type { FastifyRequest } from 'fastify';
import { databaseNameProblem, tenantNameProblem } from '../../engine/contract/names.ts';
import { type Caller, EngineError, present, type WriteOrigin } from '../../engine/index.ts';
import { type Identity, requireCoverage } from '../base/dispatch.ts';
import { networkOf } from '../base/network.ts';
import type { HttpHost } from './host.ts';
import { createRateLimit } from './limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The identity of the credential; null before it is checked, and on routes that need none. */
    identity: Identity | null;
    /** True: the role allows the operation only if it changes nothing. */
    onlyDryRun: boolean;
    /** When the head of the request was read, on the clock of `performance`. */
    startedAt: number;
    /**
     * Headers that let a page of another origin read the answer; null: the request has no such origin, or was refused.
     */
    crossOrigin: Readonly<Record<string, string>> | null;
    /** The path pattern of the operation; null until an operation is found, and for other routes. */
    route: string | null;
    /** The state that the headers demand was reached before the operation began. */
    isDemandMet: boolean;
    /** How old what the answer shows may be, in milliseconds; null: it is fresh. */
    staleMs: number | null;
    /** The token of the database that the request is about, as it is now; null: it is about none, or was refused before. */
    showToken: (() => string | null) | null;
    /** The generation whose knowledge answers a question about a moment; null: not known yet, or of the present. */
    knownGeneration: number | null;
  }
}

/** Identifies the caller and notes it on the request. Refuses with Unauthenticated, then with RateLimited. */
export type Identify = (request: FastifyRequest) => Identity;

/** Credentials that were accepted from an address, kept so that a flood of wrong ones from there does not lock them out. */
const maxAccepted = 10_000;

/**
 * Creates the check that every route with a credential passes, with a rate limit if the settings have one.
 *
 * Failed authentication counts for the address. An address that has used up its limit is refused alike for wrong keys and
 * for right ones, so that guessing ends; a credential that was accepted from there before goes on under its own limit.
 */
export function createIdentify(host: HttpHost): Identify {
  const { rateLimitPerMinute } = host.settings;
  const noted = (request: FastifyRequest, identity: Identity): Identity => {
    request.identity = identity;
    return identity;
  };
  if (rateLimitPerMinute === null)
    return (request) => noted(request, passedOn(request) ?? host.authenticate(request.headers));
  const limit = createRateLimit(rateLimitPerMinute, () => performance.now());
  const accepted = new RecentNames(maxAccepted);
  return (request) => {
    const passed = passedOn(request);
    if (passed !== null) return noted(request, passed);
    const address = `address ${networkOf(request.ip)}`;
    const identity = authenticated(host, request, () => limit.take(address));
    const { credential } = identity;
    if (credential === null) limit.take(address);
    else {
      const name = `${address} ${credential}`;
      if (!accepted.has(name)) limit.require(address);
      accepted.add(name);
      limit.take(credential);
    }
    return noted(request, identity);
  };
}

/** The identity of the client for whom another node, which has checked it, passed the request on; null: none did. */
function passedOn({ forwarded }: FastifyRequest): Identity | null {
  if (forwarded === null) return null;
  if (forwarded.identity !== null) return forwarded.identity;
  throw new EngineError('Unauthenticated', 'the other node passed the request on without a credential');
}

/** The identity of the caller; calls `failed` before it refuses one with Unauthenticated. */
function authenticated(host: HttpHost, request: FastifyRequest, failed: () => void): Identity {
  try {
    return host.authenticate(request.headers);
  } catch (error) {
    if (error instanceof EngineError && error.code === 'Unauthenticated') failed();
    throw error;
  }
}

/** The names added last. */
class RecentNames {
  readonly #most: number;
  /** Least recently added first. */
  readonly #names = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.delete(name);
    this.#names.add(name);
    if (this.#names.size <= this.#most) return;
    for (const oldest of this.#names) {
      this.#names.delete(oldest);
      return;
    }
  }
}

/** The database and tenant that a request names; null if the header is missing. */
export interface NamedSpace {
  readonly database: string | null;
  readonly tenant: string | null;
}

export interface TargetSpace {
  readonly database: string;
  readonly tenant: string;
}

/** The database and tenant headers of a request, unchecked. */
export function namedSpace(request: FastifyRequest): NamedSpace {
  return { database: header(request, 'x-database'), tenant: header(request, 'x-tenant-id') };
}

/** Refuses with Forbidden what the credential does not cover; missing names count as `default`. */
export function requireCovered(identity: Identity, named: NamedSpace): void {
  requireCoverage(identity, { database: named.database ?? 'default', tenant: named.tenant });
}

/** Validates the names. Refuses with ValidationException, naming the header. */
export function checkedSpace(named: NamedSpace, needsTenant: boolean): TargetSpace {
  if (needsTenant && named.tenant === null)
    throw badHeader('X-Tenant-ID', 'is required: it selects the tenant');
  if (named.database !== null && databaseNameProblem(named.database) !== null)
    throw badHeader('X-Database', 'is not a database name: 1 to 128 ASCII letters, digits, _ - or .');
  if (named.tenant !== null && tenantNameProblem(named.tenant) !== null)
    throw badHeader('X-Tenant-ID', 'is not a tenant name: 1 to 256 visible ASCII characters');
  return { database: named.database ?? 'default', tenant: named.tenant ?? 'default' };
}

/** Refuses with ValidationException a header that names another database or tenant than those of the session. */
export function requireSameSpace({ database, tenant }: NamedSpace, opened: TargetSpace): void {
  for (const [name, given, bound] of [
    ['X-Database', database, opened.database],
    ['X-Tenant-ID', tenant, opened.tenant],
  ] as const)
    if (given !== null && given !== bound)
      throw badHeader(
        name,
        `differs from the one that this session was opened for, ${JSON.stringify(bound)}: leave it out, or open another session`,
      );
}

/** The caller for handlers. */
export function callerFor(
  request: FastifyRequest,
  place: TargetSpace,
  signal: Caller['signal'],
  client: string | null = null,
  transaction: string | null = null,
): Caller {
  const identity = present(request.identity, 'a route that needs a caller looks at the credential first');
  const { credential, keyName, role, databases, tenants } = identity;
  const { database, tenant } = place;
  const { id: requestId } = request;
  return {
    credential,
    role,
    databases,
    tenants,
    database,
    tenant,
    client,
    transaction,
    idempotency: null,
    requestId,
    origin: originOf(request, keyName ?? null),
    signal,
    peer: peerOf(request),
    onKnown: (generation) => {
      request.knownGeneration = generation;
    },
  };
}

/** What `X-Client` may be: a name and, after a slash, a version. */
const clientPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;
/** UTF-16 code units of a reason. */
const maxReason = 500;

/** Resolves when the database shows what the headers of the request demand. Rejects like `Engine.atLeast`. */
export async function demandedState(
  request: FastifyRequest,
  database: string,
  host: Pick<HttpHost, 'atLeast' | 'confirm'>,
): Promise<void> {
  const consistency = header(request, 'x-consistency');
  if (consistency !== null && consistency !== 'default' && consistency !== 'strong')
    throw badHeader('X-Consistency', 'must be strong, or default');
  const token = header(request, 'x-at-least');
  if (consistency === 'strong') await host.confirm(database);
  if (token !== null) await host.atLeast(database, token);
}

/** Refuses with ValidationException headers that say wrongly where a write comes from. */
export function requireOriginHeaders(request: FastifyRequest): void {
  const client = header(request, 'x-client');
  if (client !== null && !clientPattern.test(client))
    throw badHeader('X-Client', 'must be name/version: at most 200 visible ASCII characters');
  const reason = header(request, 'x-reason');
  if (reason === null) return;
  const text = decodedReason(reason);
  if (text === null) throw badHeader('X-Reason', 'must be percent-encoded UTF-8: encodeURIComponent(reason)');
  if (text.length > maxReason)
    throw badHeader('X-Reason', `has ${text.length} characters: at most ${maxReason} are kept`);
}

/** null: it is not percent-encoded UTF-8. */
function decodedReason(reason: string): string | null {
  if (!/^[\x20-\x7e]*$/.test(reason)) return null;
  try {
    return decodeURIComponent(reason);
  } catch {
    // A malformed escape, which the caller reports.
    return null;
  }
}

/** Where a request says that it comes from; of headers that would be refused, nothing. */
function originOf(request: FastifyRequest, keyName: string | null): WriteOrigin {
  const given = header(request, 'x-client');
  const client = given !== null && clientPattern.test(given) ? given : null;
  const [program] = client?.split('/') ?? [];
  const surface = program === 'workbench' || program === 'cli' ? program : 'http';
  const reason = header(request, 'x-reason');
  const text = reason === null ? null : decodedReason(reason)?.slice(0, maxReason);
  return { surface, keyName, client, session: null, reason: text || null };
}

/** The client's address; undefined if the connection is closed. */
export function peerOf(request: FastifyRequest): string | undefined {
  if (request.forwarded !== null) return request.forwarded.peer ?? undefined;
  return request.raw.socket.remoteAddress;
}

/** The transaction that the request belongs to; null if it names none. */
export function namedTransaction(request: FastifyRequest): string | null {
  return header(request, 'x-transaction-id');
}

/** The refusal for a database that does not exist. */
export function databaseNotFound(name: string): EngineError {
  return new EngineError('DatabaseNotFound', `there is no database ${name}`);
}

function header(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

/** The refusal of a header. */
export function badHeader(name: string, message: string): EngineError {
  return new EngineError('ValidationException', `header ${name} ${message}`, {
    errors: [{ path: name, message }],
  });
}

const oneTag = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*"))?[ \t]*(?:,|$)/y;

/**
 * Parses the strong entity tags of an If-Match header (RFC 9110, 13.1.1), `*` for any. Weak ones match nothing and are
 * left out. Refuses a malformed header with ValidationException.
 */
export function parseIfMatch(header: string): readonly string[] | '*' {
  if (header.trim() === '*') return '*';
  const tags: string[] = [];
  let isEmpty = true;
  for (let at = 0; at < header.length; at = oneTag.lastIndex) {
    oneTag.lastIndex = at;
    const found = oneTag.exec(header);
    if (found === null) throw malformed();
    const [, weak, tag] = found;
    if (tag === undefined) continue;
    isEmpty = false;
    if (weak === undefined) tags.push(tag);
  }
  if (isEmpty) throw malformed();
  return tags;
}

function malformed(): Error {
  return badHeader('If-Match', 'must be * or a list of entity tags: "a", "b"');
}
