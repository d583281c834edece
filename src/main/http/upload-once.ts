/**
 * An upload with an `Idempotency-Key`: its digest is known only when all of it has been read.
 *
 * The first request is digested while it is processed, and its last line is cached with the digest. A repeated request
 * is read to its end without processing, and then answered with that line, or refused if it differs. A request that
 * broke off caches nothing: repeated, it runs again. Besides the answers in memory the engine remembers those of
 * imports that were written, across restarts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Hash } from 'node:crypto';
import { type Caller, type StoredImport, keyReused, present } from '../../engine/index.ts';
import type { Upload } from '../base/streams.ts';
import type { TargetSpace } from './caller.ts';
import { type HttpAnswer, digestOf, fingerprintOf, type IdempotencyCache } from './idempotency.ts';
import { linesType } from './transfer.ts';

export interface UploadOnce {
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
  keptImport: (caller: Caller, key: string) => StoredImport | null,
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
  const first = answers.of(caller, key) ?? answerOf(keptImport(caller, key));
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
