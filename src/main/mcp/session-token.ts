/**
 * The id of a session: a token that says what the session was opened for, signed with the folder's key.
 *
 * base64url(head, client, signature) ~ database ~ tenant
 *
 * The names of database and tenant are included as they are: they contain no `~` before the tenant's name and only
 * visible ASCII, so the longest of both and a signature fit into 512 characters. The head is version, second of
 * opening, 16 random bytes, revision, and 16 bytes that identify the credential by a keyed hash of its id. What a
 * client says about itself fills the remaining room. Nothing in the token is secret; the signature, over everything
 * before it and both names, proves that it was issued here. Whether the session has ended is left to `SessionStore`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ConnectionBinding } from '../base/mcp-host.ts';

/** Length of the random key that signs tokens. */
export const sessionKeyBytes = 32;
/** Seconds for which a token is valid. */
export const sessionLifeSeconds = 30 * 86_400;

const maxChars = 512;
const version = 1;
/** Bytes: version, second, random, revision, credential. */
const [secondAt, nonceAt, revisionAt, credentialAt, clientAt] = [1, 6, 22, 26, 42];
const nonceBytes = revisionAt - nonceAt;
const signatureBytes = 32;
/** Maximum bytes of a client's name and version, in UTF-8. */
const maxClientBytes = 160;

export interface TokenClaims {
  /** Seconds since the epoch. */
  readonly openedAt: number;
  /** The negotiated revision, such as `2025-11-25`. */
  readonly revision: string;
  readonly binding: ConnectionBinding;
  readonly clientName: string;
  readonly clientVersion: string;
}

export interface SessionToken extends TokenClaims {
  /** Identifies the session in the list of ended ones; no token can be derived from it. */
  readonly session: string;
  /** True for the credential that opened it. Constant time. */
  isOf(credential: string | null): boolean;
}

/** Issues and reads the ids of sessions. */
export class SessionTokens {
  readonly #key: Uint8Array;
  readonly #random: (bytes: number) => Uint8Array;

  constructor(key: Uint8Array, random: (bytes: number) => Uint8Array) {
    this.#key = key;
    this.#random = random;
  }

  /** The id of a new session. Truncates a long client name or version. */
  issue(
    { openedAt, revision, binding, clientName, clientVersion }: TokenClaims,
    credential: string | null,
  ): string {
    const names = `~${binding.database}~${binding.tenant}`;
    const room = Math.floor(((maxChars - names.length) * 3) / 4) - clientAt - signatureBytes;
    const client = clientBytes(clientName, clientVersion, Math.min(room, maxClientBytes));
    const head = Buffer.alloc(clientAt);
    head[0] = version;
    head.writeUIntBE(openedAt, secondAt, nonceAt - secondAt);
    head.set(this.#random(nonceBytes), nonceAt);
    head.writeUIntBE(Number(revision.replaceAll('-', '')), revisionAt, credentialAt - revisionAt);
    head.set(this.#credentialHash(credential), credentialAt);
    const signed = Buffer.concat([head, client]);
    return Buffer.concat([signed, this.#signature(signed, names)]).toString('base64url') + names;
  }

  /** The contents of a session's id; null if it was not issued here or has expired. */
  read(id: string, nowSeconds: number): SessionToken | null {
    const [, text = '', names = '', database = '', tenant = ''] =
      id.length > maxChars ? [] : (/^([\w-]+)(~([^~]+)~(.+))$/.exec(id) ?? []);
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

  /** Keyed by the folder, so that it reveals no ids of credentials. */
  #credentialHash(credential: string | null): Buffer {
    const said = credential === null ? 'nobody' : `credential ${credential}`;
    return createHmac('sha256', this.#key)
      .update(said)
      .digest()
      .subarray(0, clientAt - credentialAt);
  }
}

/** When the session with this identifier was opened, in seconds since the epoch. */
export function openedAtOf(session: string): number {
  return Number.parseInt(session.slice(0, (nonceAt - secondAt) * 2), 16);
}

/** The length of the name, the name, the version; if there is not room for both, the version is dropped first. */
function clientBytes(name: string, clientVersion: string, room: number): Buffer {
  const nameBytes = cut(name, room - 1);
  const versionBytes = cut(clientVersion, room - 1 - nameBytes.length);
  return Buffer.concat([Buffer.of(nameBytes.length), nameBytes, versionBytes]);
}

/** The beginning of a text in UTF-8, in whole characters. */
function cut(text: string, most: number): Buffer {
  const room = Buffer.alloc(Math.max(0, most));
  return room.subarray(0, new TextEncoder().encodeInto(text, room).written);
}
