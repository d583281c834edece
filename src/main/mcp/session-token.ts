/**
 * What the id of a session is: a token that says by itself what the session was opened for, signed with the folder's key.
 *
 *     base64url(head, client, signature) ~ database ~ tenant
 *
 * Names of database and tenant stand in it as they are: they have no `~` before the tenant's, are of visible ASCII, and so
 * the longest of both and a signature fit into 512 characters. The head is version, second of opening, 16 random bytes,
 * revision, and 16 bytes that tell the credential by a keyed hash of its id. What a client says of itself fills what room
 * is left. Nothing in it is a secret; that it was made here is what the signature says, over everything before it and
 * both names. Whether the session was ended is for others.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Binding } from '../base/mcp-host.ts';

/** Random bytes that tokens are signed with. */
export const sessionKeyBytes = 32;
/** Seconds for which a token is good. */
export const sessionLifeSeconds = 30 * 86_400;

const mostChars = 512;
const version = 1;
/** Bytes: version, second, random, revision, credential. */
const [secondAt, nonceAt, revisionAt, credentialAt, clientAt] = [1, 6, 22, 26, 42];
const nonceBytes = revisionAt - nonceAt;
const signatureBytes = 32;
/** Of what a client says of itself, in UTF-8. */
const mostClientBytes = 160;

export interface TokenClaims {
  /** Seconds since the epoch. */
  readonly openedAt: number;
  /** Negotiated: `2025-11-25`. */
  readonly revision: string;
  readonly binding: Binding;
  readonly clientName: string;
  readonly clientVersion: string;
}

export interface SessionToken extends TokenClaims {
  /** What the session is known by where it is noted that it has ended: no token can be had from it. */
  readonly session: string;
  /** True for the credential that opened it. Takes as long for any other. */
  isOf(credential: string | null): boolean;
}

export class SessionTokens {
  readonly #key: Uint8Array;
  readonly #random: (bytes: number) => Uint8Array;

  constructor(key: Uint8Array, random: (bytes: number) => Uint8Array) {
    this.#key = key;
    this.#random = random;
  }

  /** The id of a new session. What its client says of itself is cut where it is long. */
  issue(
    { openedAt, revision, binding, clientName, clientVersion }: TokenClaims,
    credential: string | null,
  ): string {
    const names = `~${binding.database}~${binding.tenant}`;
    const room = Math.floor(((mostChars - names.length) * 3) / 4) - clientAt - signatureBytes;
    const client = clientBytes(clientName, clientVersion, Math.min(room, mostClientBytes));
    const head = Buffer.alloc(clientAt);
    head[0] = version;
    head.writeUIntBE(openedAt, secondAt, nonceAt - secondAt);
    head.set(this.#random(nonceBytes), nonceAt);
    head.writeUIntBE(Number(revision.replaceAll('-', '')), revisionAt, credentialAt - revisionAt);
    head.set(this.#credentialHash(credential), credentialAt);
    const signed = Buffer.concat([head, client]);
    return Buffer.concat([signed, this.#signature(signed, names)]).toString('base64url') + names;
  }

  /** What the id of a session says; null where it was not issued here, or is over. */
  read(id: string, nowSeconds: number): SessionToken | null {
    const [, text = '', names = '', database = '', tenant = ''] =
      id.length > mostChars ? [] : (/^([\w-]+)(~([^~]+)~(.+))$/.exec(id) ?? []);
    const bytes = Buffer.from(text, 'base64url');
    const signed = bytes.subarray(0, -signatureBytes);
    if (signed.length < clientAt + 1 || bytes.toString('base64url') !== text) return null;
    if (!timingSafeEqual(bytes.subarray(-signatureBytes), this.#signature(signed, names))) return null;
    const openedAt = signed.readUIntBE(secondAt, nonceAt - secondAt);
    if (signed[0] !== version || nowSeconds >= openedAt + sessionLifeSeconds) return null;
    const day = String(signed.readUIntBE(revisionAt, credentialAt - revisionAt));
    const credentialHash = signed.subarray(credentialAt, clientAt);
    const nameEnd = clientAt + 1 + (signed[clientAt] ?? 0);
    return {
      openedAt,
      revision: `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`,
      binding: { database, tenant },
      clientName: signed.toString('utf8', clientAt + 1, nameEnd),
      clientVersion: signed.toString('utf8', nameEnd),
      session: signed.toString('hex', secondAt, revisionAt),
      isOf: (credential) => timingSafeEqual(credentialHash, this.#credentialHash(credential)),
    };
  }

  #signature(signed: Uint8Array, names: string): Buffer {
    return createHmac('sha256', this.#key).update('session').update(signed).update(names).digest();
  }

  /** Another for every folder: it tells nobody which ids of credentials there are. */
  #credentialHash(credential: string | null): Buffer {
    const said = credential === null ? 'nobody' : `credential ${credential}`;
    return createHmac('sha256', this.#key)
      .update(said)
      .digest()
      .subarray(0, clientAt - credentialAt);
  }
}

/** When a session was opened that is known by this, in seconds since the epoch. */
export function openedAtOf(session: string): number {
  return Number.parseInt(session.slice(0, (nonceAt - secondAt) * 2), 16);
}

/** The length of the name, the name, the version; the version goes first where there is not room for both. */
function clientBytes(name: string, clientVersion: string, room: number): Buffer {
  const nameBytes = cut(name, room - 1);
  const versionBytes = cut(clientVersion, room - 1 - nameBytes.length);
  return Buffer.concat([Buffer.of(nameBytes.length), nameBytes, versionBytes]);
}

/** The beginning of a text in UTF-8, of whole characters. */
function cut(text: string, most: number): Buffer {
  const room = Buffer.alloc(Math.max(0, most));
  return room.subarray(0, new TextEncoder().encodeInto(text, room).written);
}
