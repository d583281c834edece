/**
 * An upload with an `Idempotency-Key`: what it says is known only when all of it was read.
 *
 * The first request is digested while it is worked off, and its last line is kept with the digest. A request with the
 * same key is read to its end without being worked off, and then answered with that line, or refused where it is another
 * one. What broke off keeps nothing: repeated, it runs again. Beside the answers in memory the engine keeps those of
 * imports that were written, over restarts too.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Hash } from 'node:crypto';
import { type Caller, type StoredImport, keyReused, present } from '../../engine/index.ts';
import type { Upload } from '../base/streams.ts';
import type { Place } from './caller.ts';
import { type Answer, digestOf, fingerprintOf, type KeptAnswers } from './idempotency.ts';
import { linesType } from './transfer.ts';

export interface UploadOnce {
  /** As the first request with the key was answered, when this one was read; null: this is the first. */
  readonly repeated: (() => Promise<Answer>) | null;
  /** The upload, to be worked off. */
  readonly upload: Upload;
  /** The lines of its answer, the last of which is kept. */
  kept(lines: AsyncIterable<unknown>): AsyncIterable<unknown>;
  /** To be called when the request has ended, however: until then others with the key are refused. */
  end(): void;
}

/** Notes that a request with the key is running. Refuses with Conflict where the first one still is. */
export function uploadOnce(
  answers: KeptAnswers,
  keptImport: (caller: Caller, key: string) => StoredImport | null,
  caller: Caller,
  key: string,
  request: FastifyRequest,
  upload: Upload,
): UploadOnce {
  const { method, headers } = request;
  const url = request.raw.url ?? '';
  const place: Place = { database: caller.database, tenant: caller.tenant };
  const digest = digestOf({ method, url, headers }, place).update(`${upload.type}\n`);
  const chunks = digested(upload.chunks, digest);
  let fingerprint: string | null = null;
  const once = () => ({ key, fingerprint: (fingerprint ??= fingerprintOf(digest)) });
  const first = answers.of(caller, key) ?? answerOf(keptImport(caller, key));
  const end = first === null ? answers.running(caller, key) : (): void => {};
  const repeated = async (): Promise<Answer> => {
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

function answerOf(kept: StoredImport | null): { fingerprint: string; answer: Answer | null } | null {
  if (kept === null) return null;
  const { fingerprint, answer } = kept;
  return { fingerprint, answer: answer === null ? null : lineAnswer(answer) };
}

function lineAnswer(line: string): Answer {
  return { status: 200, type: linesType, etag: null, body: Buffer.from(`${line}\n`) };
}

function isLast(line: unknown): boolean {
  return typeof line === 'object' && line !== null && 'done' in line;
}

/** Answers with what was kept. */
export function sendAgain(reply: FastifyReply, { status, type, body }: Answer): FastifyReply {
  return reply.code(status).type(type).header('idempotent-replayed', 'true').send(body);
}
