/**
 * What outlasts the process about sessions: the key that signs their ids, which of them have ended, and their
 * subscriptions.
 *
 * Everything else about a session is in its id (session-token.ts). The data lies in the storage folder, beside the log,
 * and nowhere else: a backup or a follower has none of it. It is bounded in number and in bytes, and the oldest entries
 * go first: if more sessions than that end within 30 days, the first of them answer again.
 */
import type { Engine, Journal } from '../../engine/index.ts';
import { openedAtOf, sessionKeyBytes, sessionLifeSeconds, SessionTokens } from './session-token.ts';

/** Maximum number of remembered ended sessions and subscriptions. */
const maxEnded = 10_000;
const maxSubscriptions = 10_000;
const maxSubscribedBytes = 8 * 1024 * 1024;

export interface SessionStoreLimits {
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

  /** Loads the data from the engine's folder. Without a key it creates one, and all earlier sessions have ended. */
  async open(engine: Pick<Engine, 'journal'>): Promise<void> {
    const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
    const keyJournal = engine.journal('session-key');
    let key: Uint8Array = random(sessionKeyBytes);
    const [kept] = await keyJournal.load(() => [key]);
    if (kept?.length === sessionKeyBytes) key = kept;
    else await keyJournal.flush(true);
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

  /** Notes that a session has ended; resolves when that is durable. */
  async end(session: string): Promise<void> {
    this.#noteEnd(session);
    this.#append({ ended: session });
    await this.#journal?.flush(true);
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
