/**
 * Requests that one node of a store passes on to another: what proves that a node sent them, and for whom.
 *
 * A node has checked origin, credential and rate limit of the request before it passes it on, so the owner checks only the
 * HMAC, under the secret that all nodes share. It covers method, address, identity, peer and time, not the body: nodes
 * talk over TLS or within a trusted network.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { FastifyRequest } from 'fastify';
import { EngineError } from '../../engine/index.ts';
import type { Identity } from '../base/dispatch.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** For whom another node passed the request on; null: a client sent it here. */
    forwarded: ForwardedFor | null;
  }
}

/** The client of a request that a node passes on. */
export interface ForwardedFor {
  /** null: the operation needs no credential. */
  readonly identity: Identity | null;
  /** The client's address. */
  readonly peer: string | null;
  /** SHA-256 of the body of a message between nodes; absent: the body is a client's, and is not signed. */
  readonly digest?: string;
}

/** The header that names the client of a forwarded request, signed. */
export const nodeHeader = 'x-corollary-node';

/** A signature is accepted for so long; the clocks of nodes differ by at most 4 s. */
const maxAgeMs = 30_000;

/** The value of the header for a request to this address; `body`: it is signed too. `now` in epoch milliseconds. */
export function signedFor(
  secret: string,
  { method, url, body }: { readonly method: string; readonly url: string; readonly body?: Uint8Array },
  { identity, peer }: ForwardedFor,
  now: number,
): string {
  const client: ForwardedFor = {
    identity,
    peer,
    ...(body === undefined ? {} : { digest: digestOf(body) }),
  };
  const payload = Buffer.from(JSON.stringify({ ...client, at: now })).toString('base64url');
  return `${payload}.${signature(secret, method, url, payload).toString('base64url')}`;
}

/** The client of a request that another node passed on; null: no node did. Refuses with Forbidden what no node signed. */
export function forwardedFor(
  request: FastifyRequest,
  secret: string | null,
  now: number,
): ForwardedFor | null {
  const given = request.headers[nodeHeader];
  if (typeof given !== 'string' || secret === null) return null;
  const [payload = '', signed = ''] = given.split('.');
  const { method = '', url = '' } = request.raw;
  const expected = signature(secret, method, url, payload);
  const bytes = Buffer.from(signed, 'base64url');
  if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected))
    throw new EngineError(
      'Forbidden',
      'the request claims to come from another node, and is not signed with the secret of this one: NODE_SECRET_FILE must ' +
        'be the same on all nodes',
    );
  const client = JSON.parse(Buffer.from(payload, 'base64url').toString()) as ForwardedFor & { at: number };
  if (Math.abs(now - client.at) > maxAgeMs)
    throw new EngineError('Forbidden', 'the signature of the other node is too old: check the clocks');
  const { identity, peer, digest } = client;
  return { identity, peer, ...(digest === undefined ? {} : { digest }) };
}

/** SHA-256 in base64url. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url');
}

function signature(secret: string, method: string, url: string, payload: string): Buffer {
  return createHmac('sha256', secret).update(`${method}\n${url}\n${payload}`).digest();
}

/**
 * Lets a node that passes a long body on wait with it until this one has decided that it answers: `askForBody`. Else the
 * body would be lost if the log moves meanwhile. Other clients that expect to be asked are asked at once.
 */
export function letNodesWait(server: Server | SecureServer): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers[nodeHeader] === undefined) response.writeContinue();
    server.emit('request', request, response);
  });
}

/** Asks the other node for the body, if it waits with it. */
export function askForBody(
  { headers }: Pick<FastifyRequest, 'headers'>,
  response: Pick<ServerResponse, 'writeContinue'>,
): void {
  if (headers[nodeHeader] !== undefined && headers.expect !== undefined) response.writeContinue();
}
