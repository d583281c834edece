/**
 * One call of GET /export, to a file of the user's.
 *
 * A link cannot carry the key and the tenant, so the answer is read here: where the browser lets a page write to a file
 * that its user chose, it goes there piece by piece, and memory stays flat; elsewhere the browser keeps it until it is
 * whole, up to a limit. A file that breaks off is thrown away, so that no part is taken for the whole.
 */
import { operations } from '../../../engine/contract/operations.ts';
import type { ExportFormat } from '../../../engine/contract/transfer.ts';
import { type Endpoint, headersOf, httpCallOf, newRequestId } from '../../api/client.ts';
import { ApiError, errorOfAnswer, errorOfSilence, isCancelled } from '../../api/problem.ts';
import { scopeFieldsOf, type ScopeChoice } from '../../api/space.ts';
import { exportFormatSpecs } from './formats.ts';

export interface ExportPlan {
  readonly endpoint: Endpoint;
  readonly format: ExportFormat;
  readonly scope: ScopeChoice;
  /** null: of all predicates. */
  readonly predicate: string | null;
  readonly rules: boolean;
}

/** Where the bytes go. */
export interface Sink {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** All is there. */
  close(): Promise<void>;
  /** Nothing is to remain. */
  abandon(): Promise<void>;
}

/** The address that answers with the file. */
export function exportUrl({ endpoint, format, scope, predicate, rules }: ExportPlan): string {
  const { scope: name, unscoped } = scopeFieldsOf(scope);
  return httpCallOf(endpoint.origin, operations.exportKnowledge, {
    query: {
      format,
      scope: name,
      unscoped: unscoped === true ? 'true' : undefined,
      predicate,
      rules: exportFormatSpecs[format].holdsRules ? String(rules) : undefined,
    },
  }).url;
}

/** A name for the file that says what is in it. */
export function exportFileName({ endpoint, format, scope, predicate }: ExportPlan): string {
  const parts = [
    endpoint.tenant === 'default' ? endpoint.database : `${endpoint.database}-${endpoint.tenant}`,
    ...(scope.kind === 'named' ? [scope.name] : []),
    ...(predicate === null ? [] : [predicate]),
  ];
  const base = parts
    .join('-')
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .slice(0, 100);
  return `${base}.${exportFormatSpecs[format].extension}`;
}

/** The browser keeps no more than this of a file that it cannot write as it comes. */
export const mostKeptBytes = 1024 ** 3;
const piecesTogether = 8 * 1024 * 1024;

/** Keeps the bytes and hands them over as one file. */
export function keepingSink(hand: (file: Blob) => void, most: number = mostKeptBytes): Sink {
  let whole: Blob[] = [];
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  let loose = 0;
  return {
    async write(bytes) {
      size += bytes.length;
      if (size > most) throw new RangeError('too large to be kept');
      pieces.push(bytes);
      loose += bytes.length;
      if (loose < piecesTogether) return;
      // A blob is the browser's, which puts large ones on disk.
      whole.push(new Blob(pieces));
      [pieces, loose] = [[], 0];
    },
    async close() {
      hand(new Blob([...whole, ...pieces]));
    },
    async abandon() {
      [whole, pieces] = [[], []];
    },
  };
}

function brokenOff(cause: unknown, requestId: string): ApiError {
  return new ApiError(
    {
      code: 'Unreachable',
      status: null,
      title: 'The export broke off',
      detail: 'The connection to the service ended before the file was whole. Nothing was saved.',
      requestId,
      errors: [],
    },
    cause,
  );
}

function tooLarge(requestId: string): ApiError {
  return new ApiError({
    code: 'Unreadable',
    status: null,
    title: 'The file is too large for this browser',
    detail:
      'This browser cannot write a file as it comes, and keeps no more than 1 GiB. Export one predicate or scope at a time, or use Chrome or Edge.',
    requestId,
    errors: [],
  });
}

/** Resolves with the size of the file in bytes. Errors: ApiError; AbortError where `signal` ended it. */
export async function runExport(
  plan: ExportPlan,
  sink: Sink,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const requestId = newRequestId();
  try {
    const response = await fetch(exportUrl(plan), { headers: headersOf(plan.endpoint, requestId), signal });
    if (!response.ok || response.body === null)
      throw errorOfAnswer(response.status, await response.json().catch(() => null), requestId);
    return await copied(response.body.getReader(), sink, requestId, onBytes);
  } catch (error) {
    await sink.abandon();
    if (isCancelled(error) || error instanceof ApiError) throw error;
    throw errorOfSilence(error, requestId);
  }
}

async function copied(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  sink: Sink,
  requestId: string,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw isCancelled(cause) ? cause : brokenOff(cause, requestId);
    });
    if (done) break;
    try {
      await sink.write(value);
    } catch (error) {
      await reader.cancel();
      throw error instanceof RangeError ? tooLarge(requestId) : notWritten(error, requestId);
    }
    size += value.length;
    onBytes(size);
  }
  await sink.close();
  return size;
}

function notWritten(cause: unknown, requestId: string): ApiError {
  return new ApiError(
    {
      code: 'Unreadable',
      status: null,
      title: 'The file could not be written',
      detail: cause instanceof Error ? cause.message : 'The browser refused to write it.',
      requestId,
      errors: [],
    },
    cause,
  );
}
