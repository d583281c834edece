/**
 * Answers to writes with an `Idempotency-Key`, kept for when the request comes again.
 *
 * A key belongs to a credential; callers without one share a space for each database and tenant, so that nobody gets an
 * answer that was meant for somebody else. Kept are answers and refusals that would be the same again; what failed for
 * reasons of the moment (no leave, too many calls, no room on the disk, a bug) may be tried again with the same key.
 * What is kept here is bounded in bytes and ends with the process: then the engine remembers what became of the write.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { type Caller, EngineError, keyReused, Slices } from '../../engine/index.ts';
import { badHeader } from './caller.ts';
import { problemBytes, problemType } from './problem.ts';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly etag: string | null;
  readonly body: Buffer;
}

interface Entry {
  readonly fingerprint: string;
  /** null: the first request with the key is still running. */
  readonly answer: Answer | null;
  /** When it was answered, on the clock given. */
  readonly at: number;
  readonly bytes: number;
}

/** How long an answer is kept, in milliseconds. */
const keptFor = 86_400_000;
/** About what an entry takes beside the body. */
const entryBytes = 500;

export class KeptAnswers {
  readonly #now: () => number;
  readonly #mostBytes: number;
  /** Running ones, and answered ones of which the oldest comes first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number, mostBytes: number) {
    this.#now = now;
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The answer that the caller's first request with this key got, or what `answer` gives, which is kept. Refuses with
   * IdempotencyMismatch another request, and with Conflict where the first one is still running.
   */
  async once(
    caller: Pick<Caller, 'credential' | 'database' | 'tenant' | 'requestId'>,
    { key, fingerprint }: NonNullable<Caller['idempotency']>,
    answer: () => Promise<Answer>,
  ): Promise<{ readonly answer: Answer; readonly isRepeated: boolean }> {
    const { credential, database, tenant } = caller;
    const place = JSON.stringify([credential, credential === null ? [database, tenant] : null, key]);
    const found = this.#find(place, fingerprint);
    if (found !== null) return { answer: found, isRepeated: true };
    this.#entries.set(place, { fingerprint, answer: null, at: 0, bytes: 0 });
    let kept: Answer | null = null;
    try {
      kept = await answer();
      return { answer: kept, isRepeated: false };
    } catch (error) {
      if (error instanceof EngineError && isFinal(error))
        kept = {
          status: error.status,
          type: problemType,
          etag: null,
          body: problemBytes(error, caller.requestId),
        };
      throw error;
    } finally {
      this.#entries.delete(place);
      if (kept !== null) this.#keep(place, fingerprint, kept);
    }
  }

  #find(place: string, fingerprint: string): Answer | null {
    const entry = this.#entries.get(place);
    if (entry === undefined) return null;
    if (entry.answer !== null && entry.at <= this.#now() - keptFor) {
      this.#forget(place, entry);
      return null;
    }
    if (entry.fingerprint !== fingerprint) throw keyReused();
    if (entry.answer === null)
      throw new EngineError('Conflict', 'the first request with this Idempotency-Key is still running');
    return entry.answer;
  }

  #keep(place: string, fingerprint: string, answer: Answer): void {
    const bytes = answer.body.length + place.length + entryBytes;
    if (bytes > this.#mostBytes) return;
    this.#entries.set(place, { fingerprint, answer, at: this.#now(), bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (entry.answer === null) continue;
      if (this.#bytes <= this.#mostBytes && entry.at > this.#now() - keptFor) break;
      this.#forget(oldest, entry);
    }
  }

  #forget(place: string, entry: Entry): void {
    this.#entries.delete(place);
    this.#bytes -= entry.bytes;
  }
}

/** Refusals that say nothing of the request itself. */
const passing: ReadonlySet<EngineError['code']> = new Set([
  'Unauthenticated',
  'Forbidden',
  'NotLeader',
  'RateLimited',
  'InferenceLimitExceeded',
  'IdempotencyMismatch',
]);

function isFinal({ status, code }: EngineError): boolean {
  return status < 500 && !passing.has(code);
}

/** Bytes of a body that are digested without a pause. */
const bytesAtOnce = 256 * 1024;

/** The key of a request and the digest that tells it from others; null where it has no key. */
export async function idempotencyOf(
  request: { readonly method: string; readonly url: string; readonly headers: IncomingHttpHeaders },
  place: { readonly database: string; readonly tenant: string },
  body: Buffer | null,
): Promise<Caller['idempotency']> {
  const { 'idempotency-key': key, 'if-match': ifMatch, 'x-transaction-id': transaction } = request.headers;
  if (key === undefined) return null;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw badHeader('Idempotency-Key', 'is 1 to 255 visible ASCII characters');
  const { method, url } = request;
  const head = JSON.stringify([
    method,
    url,
    place.database,
    place.tenant,
    transaction ?? null,
    ifMatch ?? null,
  ]);
  const digest = createHash('sha256').update(head).update('\n');
  const slices = new Slices(() => setImmediate());
  for (let at = 0; body !== null && at < body.length; at += bytesAtOnce) {
    digest.update(body.subarray(at, at + bytesAtOnce));
    await slices.breathe();
  }
  return { key, fingerprint: digest.digest('base64url') };
}
