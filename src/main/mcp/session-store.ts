/**
 * What outlasts the process about sessions: the key that signs their ids, which of them have ended, and their
 * subscriptions.
 *
 * Everything else about a session is in its id (`SessionTokens`). The data lies in the storage folder, beside the log,
 * and nowhere else: a backup or a follower has none of it. It is bounded in number and in bytes, and the oldest entries
 * go first: if more sessions than that end within 30 days, the first of them answer again.
 */
import type { Engine, Journal } from '../../engine/index.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ConnectionBinding } from '../base/agent-host.ts';

/** Maximum number of remembered ended sessions and subscriptions. */
const maxEnded = 10_000;
const maxSubscriptions = 10_000;
const maxSubscribedBytes = 8 * 1024 * 1024;

interface SessionStoreLimits {
  readonly ended: number;
  readonly subscriptions: number;
  readonly subscribedBytes: number;
}

const defaultStoreLimits: SessionStoreLimits = {
  ended: maxEnded,
  subscriptions: maxSubscriptions,
  subscribedBytes: maxSubscribedBytes,
};

/** A line of the journal. */
type Note =
  | { readonly ended: string }
  | { readonly session: string; readonly wants: string }
  | { readonly session: string; readonly unwants: string };

/** Stores the signing key, the ended sessions and the subscriptions. */
export class SessionStore {
  readonly #limits: SessionStoreLimits;
  readonly #now: () => number;
  #tokens: SessionTokens | null = null;
  #journal: Journal | null = null;
  /** Earliest end first. */
  readonly #ended = new Set<string>();
  /** Addresses by session; the session with the oldest change of subscriptions first. */
  readonly #wanted = new Map<string, Set<string>>();
  #subscriptions = 0;
  #subscribedBytes = 0;

  /** `now` returns epoch milliseconds. */
  constructor(limits: SessionStoreLimits = defaultStoreLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Loads the data from the engine's folder. Without a key it creates one, and all earlier sessions have ended. With the
   * secret of a store's nodes the key follows from it, so that any node goes on with a session of another.
   */
  async open(engine: Pick<Engine, 'journal'>, nodeSecret: string | null = null): Promise<void> {
    const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
    const keyJournal = engine.journal('session-key');
    let key: Uint8Array = random(sessionKeyBytes);
    const [kept] = await keyJournal.load(() => [key]);
    if (kept?.length === sessionKeyBytes) key = kept;
    else await keyJournal.flush(true);
    if (nodeSecret !== null) key = createHmac('sha256', nodeSecret).update('mcp session key').digest();
    this.#tokens = new SessionTokens(key, random);
    const journal = engine.journal('mcp-sessions');
    for (const record of await journal.load(() => this.#notes())) this.#read(record);
    this.#journal = journal;
  }

  /** null: not opened yet. */
  get tokens(): SessionTokens | null {
    return this.#tokens;
  }

  hasEnded(session: string): boolean {
    return this.#ended.has(session);
  }

  /** Called when a session ends here, so that other nodes do not go on with it; `end` waits for it. */
  onEnded: (session: string) => Promise<void> = () => Promise.resolve();

  /** Notes that a session has ended; resolves when that is durable. */
  async end(session: string): Promise<void> {
    this.#noteEnd(session);
    this.#append({ ended: session });
    await Promise.all([this.#journal?.flush(true), this.onEnded(session)]);
  }

  /** The sessions that have ended, earliest end first. */
  get ended(): readonly string[] {
    return [...this.#ended];
  }

  /** Notes sessions that have ended at another node. */
  endedElsewhere(sessions: readonly string[]): void {
    for (const session of sessions) {
      if (this.#ended.has(session)) continue;
      this.#noteEnd(session);
      this.#append({ ended: session });
    }
  }

  /** The documents to which a session is subscribed. */
  wanted(session: string): readonly string[] {
    return [...(this.#wanted.get(session) ?? [])];
  }

  /** Subscribes; resolves when that is durable. */
  async want(session: string, uri: string): Promise<void> {
    if (this.#wanted.get(session)?.has(uri) === true) return;
    this.#noteWanted(session, uri);
    this.#append({ session, wants: uri });
    await this.#journal?.flush();
  }

  /** Unsubscribes likewise. */
  async unwant(session: string, uri: string): Promise<void> {
    if (!this.#noteUnwanted(session, uri)) return;
    this.#append({ session, unwants: uri });
    await this.#journal?.flush();
  }

  #append(note: Note): void {
    this.#journal?.append(recordOf(note));
  }

  /** The current state, for a rewrite of the journal. */
  #notes(): Uint8Array[] {
    this.#forgetOld();
    const notes = Array.from(this.#ended, (ended) => recordOf({ ended }));
    for (const [session, uris] of this.#wanted)
      for (const wants of uris) notes.push(recordOf({ session, wants }));
    return notes;
  }

  #read(record: Uint8Array): void {
    const note = noteOf(record);
    if (note === null) return;
    if ('ended' in note) this.#noteEnd(note.ended);
    else if ('wants' in note) this.#noteWanted(note.session, note.wants);
    else this.#noteUnwanted(note.session, note.unwants);
  }

  #noteEnd(session: string): void {
    this.#forget(session);
    this.#ended.add(session);
    for (const oldest of this.#ended)
      if (this.#ended.size > this.#limits.ended) this.#ended.delete(oldest);
      else break;
  }

  #noteWanted(session: string, uri: string): void {
    const uris = this.#wanted.get(session) ?? new Set();
    this.#wanted.delete(session);
    this.#wanted.set(session, uris);
    if (uris.has(uri)) return;
    uris.add(uri);
    this.#count(1, uri);
    const { subscriptions, subscribedBytes } = this.#limits;
    for (const oldest of this.#wanted.keys())
      if (this.#subscriptions > subscriptions || this.#subscribedBytes > subscribedBytes)
        this.#forget(oldest);
      else break;
  }

  #noteUnwanted(session: string, uri: string): boolean {
    const uris = this.#wanted.get(session);
    if (uris?.delete(uri) !== true) return false;
    this.#count(-1, uri);
    if (uris.size === 0) this.#wanted.delete(session);
    return true;
  }

  #forget(session: string): void {
    for (const uri of this.#wanted.get(session) ?? []) this.#count(-1, uri);
    this.#wanted.delete(session);
  }

  #count(change: 1 | -1, uri: string): void {
    this.#subscriptions += change;
    this.#subscribedBytes += change * Buffer.byteLength(uri);
  }

  /** Drops sessions whose ids have expired. */
  #forgetOld(): void {
    const since = this.#now() / 1000 - sessionLifeSeconds;
    for (const session of this.#ended) if (openedAtOf(session) < since) this.#ended.delete(session);
    for (const session of this.#wanted.keys()) if (openedAtOf(session) < since) this.#forget(session);
  }
}

function recordOf(note: Note): Uint8Array {
  return Buffer.from(JSON.stringify(note));
}

/** null: not a note of this service. */
function noteOf(record: Uint8Array): Note | null {
  try {
    const note = JSON.parse(Buffer.from(record).toString()) as Readonly<Record<string, unknown>>;
    const isText = (name: string): boolean => typeof note[name] === 'string';
    if (isText('ended')) return note as Note;
    return isText('session') && (isText('wants') || isText('unwants')) ? (note as Note) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Length of the random key that signs tokens. */
const sessionKeyBytes = 32;
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

/**
 * Issues and reads the ids of sessions. An id is a token that says what the session was opened for, signed with the
 * folder's key:
 *
 * base64url(head, client, signature) ~ database ~ tenant
 *
 * The names of database and tenant are included as they are: they contain no `~` before the tenant's name and only
 * visible ASCII, so the longest of both and a signature fit into 512 characters. The head is version, second of
 * opening, 16 random bytes, revision, and 16 bytes that identify the credential by a keyed hash of its id. What a
 * client says about itself fills the remaining room. Nothing in the token is secret; the signature, over everything
 * before it and both names, proves that it was issued here. Whether the session has ended is left to `SessionStore`.
 */
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
