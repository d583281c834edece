/**
 * Caches answers to writes with an `Idempotency-Key`, for repeated requests.
 *
 * A key belongs to a credential; callers without one share a space for each database and tenant, so no client gets an
 * answer meant for another. Cached are answers, and refusals that would be the same again. What failed for a transient
 * reason (no permission, too many calls, no room on the disk, a bug) may be tried again with the same key. The cache is
 * bounded in bytes and ends with the process: after that, the engine remembers the outcome of the write.
 *
 * The digest of an upload is known only when all of it has been read. The first request is digested while it is
 * processed, and its last line is cached with the digest. A repeated request is read to its end without processing, and
 * then answered with that line, or refused if it differs. A request that broke off caches nothing: repeated, it runs
 * again. The engine remembers the answers of imports that were written, across restarts.
 */
import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import {
  answerGone,
  type Caller,
  EngineError,
  type ErasingRecord,
  keyReused,
  present,
  serving,
  Slices,
  type StoredImport,
} from '../../engine/index.ts';
import type { HttpHost } from './host.ts';
import { badHeader, type TargetSpace } from './caller.ts';
import { problemBytes, problemType } from './answers.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Upload } from '../base/streams.ts';
import { linesType } from './streams.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly etag: string | null;
  readonly body: Buffer;
  /** The problem in the body, if it is one: a problem names the request that it answers. */
  readonly refusal?: EngineError;
}

/** The answer to a request with this digest. */
interface CachedAnswer {
  readonly fingerprint: string;
  readonly answer: HttpAnswer;
}

interface Entry {
  /** null: unknown while the body of the first request is still arriving. */
  readonly fingerprint: string | null;
  /** null: the first request with the key is still running. */
  readonly answer: HttpAnswer | null;
  /** When it was answered, on the given clock. */
  readonly at: number;
  readonly bytes: number;
  readonly database: string;
  readonly tenant: string;
  /** What was erased while the first request was running. */
  readonly erasures: ErasingRecord[];
}

/** How long an answer is cached, in milliseconds. */
const answerLifeMs = 86_400_000;
/** Approximate size of an entry besides the body. */
const entryBytes = 500;

/** The cached answers of one service, bounded in bytes. */
export class IdempotencyCache {
  readonly #now: () => number;
  readonly #maxBytes: number;
  /** Running and answered requests; of the answered ones the oldest comes first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number, maxBytes: number) {
    this.#now = now;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The answer to the caller's first request with this key, else that of `answer`, which is cached. Refuses another
   * request with IdempotencyMismatch, and with Conflict while the first one is still running.
   */
  async once(
    caller: KeyHolder & Pick<Caller, 'requestId'>,
    { key, fingerprint }: NonNullable<Caller['idempotency']>,
    answer: () => Promise<HttpAnswer>,
  ): Promise<{ readonly answer: HttpAnswer; readonly isRepeated: boolean }> {
    const place = placeOf(caller, key);
    const found = this.#find(place, fingerprint);
    if (found !== null) {
      if (found.fingerprint !== fingerprint) throw keyReused();
      const { refusal } = found.answer;
      const body = refusal === undefined ? found.answer.body : problemBytes(refusal, caller.requestId);
      return { answer: { ...found.answer, body }, isRepeated: true };
    }
    const entry = runningOf(caller, fingerprint);
    this.#entries.set(place, entry);
    let kept: HttpAnswer | null = null;
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
          refusal: error,
        };
      throw error;
    } finally {
      this.#entries.delete(place);
      if (kept !== null) this.#keep(place, entry, fingerprint, kept);
    }
  }

  /**
   * The answer to the caller's first request with this key, for a request whose digest is known only when it has been
   * read; null: there was none. Refuses with Conflict while the first one is still running.
   */
  of(caller: KeyHolder, key: string): CachedAnswer | null {
    return this.#find(placeOf(caller, key), null);
  }

  /**
   * Notes that the first request with the key is running. The returned function ends that, once, and caches the answer.
   */
  running(caller: KeyHolder, key: string): (kept: CachedAnswer | null) => void {
    const place = placeOf(caller, key);
    const entry = runningOf(caller, null);
    this.#entries.set(place, entry);
    return (kept) => {
      if (this.#entries.get(place) !== entry) return;
      this.#entries.delete(place);
      if (kept !== null) this.#keep(place, entry, kept.fingerprint, kept.answer);
    };
  }

  /** `fingerprint`: the request's, if known. */
  #find(place: string, fingerprint: string | null): CachedAnswer | null {
    const entry = this.#entries.get(place);
    if (entry === undefined) return null;
    if (entry.answer !== null && entry.at <= this.#now() - answerLifeMs) {
      this.#forget(place, entry);
      return null;
    }
    const { answer, fingerprint: first } = entry;
    if (answer !== null && first !== null) return { fingerprint: first, answer };
    if (first !== null && fingerprint !== null && first !== fingerprint) throw keyReused();
    throw new EngineError('Conflict', 'the first request with this Idempotency-Key is still running', {
      retryAfterSeconds: 1,
    });
  }

  /**
   * Replaces the cached answers that name a forgotten entity by refusals; those of requests that are still running when
   * they are cached. The keys stay, so that no write is executed twice. After a nuke the answers stay, as the engine's do.
   */
  async erase(erasure: ErasingRecord): Promise<void> {
    if (erasure.facts === null) return;
    const slices = new Slices(serving.pauseOf(null, 'erase cached answers'));
    // What replaces an answer is not looked at again.
    const entries = Array.from(this.#entries);
    for (const [place, entry] of entries) {
      if (erasure.database !== entry.database || (erasure.tenant ?? entry.tenant) !== entry.tenant) continue;
      const { answer, fingerprint } = entry;
      await slices.breathe();
      if (answer === null || fingerprint === null) entry.erasures.push(erasure);
      else if (contains(answer, erasure) && this.#entries.get(place) === entry) {
        this.#forget(place, entry);
        this.#keep(place, entry, fingerprint, erasedAnswer(answer));
      }
    }
  }

  #keep(place: string, { database, tenant, erasures }: Entry, fingerprint: string, given: HttpAnswer): void {
    const answer = erasures.some((each) => contains(given, each)) ? erasedAnswer(given) : given;
    const bytes = answer.body.length + place.length + entryBytes;
    if (bytes > this.#maxBytes) return;
    // A small buffer is a part of a pool of 8 KiB, which it would keep.
    const body = Buffer.from(new Uint8Array(answer.body).buffer);
    const cached = { fingerprint, answer: { ...answer, body }, at: this.#now(), bytes };
    this.#entries.set(place, { ...cached, database, tenant, erasures: [] });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (entry.answer === null) continue;
      if (this.#bytes <= this.#maxBytes && entry.at > this.#now() - answerLifeMs) break;
      this.#forget(oldest, entry);
    }
  }

  #forget(place: string, entry: Entry): void {
    this.#entries.delete(place);
    this.#bytes -= entry.bytes;
  }
}

/** The owner of a key. */
type KeyHolder = Pick<Caller, 'credential' | 'database' | 'tenant'>;

/** The entry of a request that is running. */
function runningOf({ database, tenant }: KeyHolder, fingerprint: string | null): Entry {
  return { fingerprint, answer: null, at: 0, bytes: 0, database, tenant, erasures: [] };
}

/** Whether the answer names the entity that was erased. */
function contains({ body }: HttpAnswer, { facts }: ErasingRecord): boolean {
  return facts?.isIn(body.toString()) === true;
}

/** The answer to repetitions of a request whose answer was erased. */
function erasedAnswer({ body }: HttpAnswer): HttpAnswer {
  const refusal = answerGone(generationIn(body));
  const problem = problemBytes(refusal, '');
  return { status: refusal.status, type: problemType, etag: null, body: problem, refusal };
}

/** The generation that the answer names; null: none. */
function generationIn(body: Buffer): number | null {
  // In a text the quotation marks would be escaped.
  const found = /"generation":(\d{1,16})[,}]/.exec(body.toString());
  return found === null ? null : Number(found[1]);
}

function placeOf({ credential, database, tenant }: KeyHolder, key: string): string {
  return JSON.stringify([credential, credential === null ? [database, tenant] : null, key]);
}

/** Refusals that depend on the moment, not on the request. */
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

/** Bytes of a body digested in one go. */
const bytesAtOnce = 256 * 1024;

interface DigestedHead {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** The key of a request; null if it has none. Refuses an invalid key with ValidationException. */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const { 'idempotency-key': key } = headers;
  if (key === undefined) return null;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw badHeader('Idempotency-Key', 'is 1 to 255 visible ASCII characters');
  return key;
}

/** A digest of everything in a request except its body, which the caller adds. */
function digestOf({ method, url, headers }: DigestedHead, place: TargetSpace): Hash {
  const { 'if-match': ifMatch, 'x-transaction-id': transaction } = headers;
  const head = JSON.stringify([
    method,
    url,
    place.database,
    place.tenant,
    transaction ?? null,
    ifMatch ?? null,
  ]);
  return createHash('sha256').update(head).update('\n');
}

/** The digest of a whole request. */
function fingerprintOf(digest: Hash): string {
  return digest.digest('base64url');
}

/** The key of a request and the digest that identifies it; null if it has no key. */
export async function idempotencyOf(
  request: DigestedHead,
  place: TargetSpace,
  body: Buffer | null,
): Promise<Caller['idempotency']> {
  const key = idempotencyKeyOf(request.headers);
  if (key === null) return null;
  const digest = digestOf(request, place);
  const slices = new Slices(serving.pauseOf(place, 'digest a body'));
  for (let at = 0; body !== null && at < body.length; at += bytesAtOnce) {
    digest.update(body.subarray(at, at + bytesAtOnce));
    await slices.breathe();
  }
  return { key, fingerprint: fingerprintOf(digest) };
}

/** Whether a request can carry an Idempotency-Key: it is a write without anything to guess. */
export function takesKey(spec: OperationSpec): boolean {
  return spec.kind === 'write' && spec.guessable !== true;
}

interface UploadOnce {
  /** The answer to the first request with the key, once this one has been read; null: this is the first. */
  readonly repeated: (() => Promise<HttpAnswer>) | null;
  /** The upload to process. */
  readonly upload: Upload;
  /** Passes the lines of the answer on, and caches the last one. */
  kept(lines: AsyncIterable<unknown>): AsyncIterable<unknown>;
  /** Call it when the request has ended, in any way: until then others with the key are refused. */
  end(): void;
}

/** Notes that a request with the key is running. Refuses with Conflict while the first one still is. */
export function uploadOnce(
  answers: IdempotencyCache,
  host: Pick<HttpHost, 'keptImport'>,
  caller: Caller,
  key: string,
  request: FastifyRequest,
  upload: Upload,
): UploadOnce {
  const { method, headers } = request;
  const url = request.raw.url ?? '';
  const place: TargetSpace = { database: caller.database, tenant: caller.tenant };
  const digest = digestOf({ method, url, headers }, place).update(`${upload.type}\n`);
  const chunks = digested(upload.chunks, digest);
  let fingerprint: string | null = null;
  const once = () => ({ key, fingerprint: (fingerprint ??= fingerprintOf(digest)) });
  const first = answers.of(caller, key) ?? answerOf(host.keptImport(caller, key));
  const end = first === null ? answers.running(caller, key) : (): void => {};
  const repeated = async (): Promise<HttpAnswer> => {
    for await (const _chunk of chunks);
    if (first?.fingerprint !== once().fingerprint) throw keyReused();
    return present(first.answer, 'an import is kept with its answer');
  };
  return {
    repeated: first === null ? null : repeated,
    upload: { ...upload, chunks, once },
    async *kept(lines) {
      for await (const line of lines) {
        if (isLast(line)) end({ fingerprint: once().fingerprint, answer: lineAnswer(JSON.stringify(line)) });
        yield line;
      }
    },
    end: () => {
      end(null);
    },
  };
}

async function* digested(chunks: AsyncIterable<Uint8Array>, digest: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    digest.update(chunk);
    yield chunk;
  }
}

function answerOf(kept: StoredImport | null): { fingerprint: string; answer: HttpAnswer | null } | null {
  if (kept === null) return null;
  const { fingerprint, answer } = kept;
  return { fingerprint, answer: answer === null ? null : lineAnswer(answer) };
}

function lineAnswer(line: string): HttpAnswer {
  return { status: 200, type: linesType, etag: null, body: Buffer.from(`${line}\n`) };
}

function isLast(line: unknown): boolean {
  return typeof line === 'object' && line !== null && 'done' in line;
}

/** Sends the cached answer. */
export function sendAgain(reply: FastifyReply, { status, type, body }: HttpAnswer): FastifyReply {
  return reply.code(status).type(type).header('idempotent-replayed', 'true').send(body);
}
