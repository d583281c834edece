/**
 * Saves an answer of any length to a file.
 *
 * A link cannot carry key and tenant, so the page reads the answer. If the browser can write to a file of the user's
 * choice, the data is streamed there in constant memory; otherwise the browser keeps it until it is complete, up to a
 * limit. An incomplete file is discarded, so that nobody takes it for the whole.
 */
import { download } from '../ui/download.ts';
import { type ApiEndpoint, callHeaders, newRequestId } from './client.ts';
import { ApiError, errorOfAnswer, errorOfSilence, isCancelled } from './problem.ts';

/** Destination of the bytes. */
export interface Sink {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Completes the file. */
  close(): Promise<void>;
  /** Discards the file. */
  abandon(): Promise<void>;
}

/** Limit of a download that the browser must buffer, in bytes. */
const maxKeptBytes = 1024 ** 3;
const piecesTogether = 8 * 1024 * 1024;

/** Buffers the bytes and hands them over as one file. */
export function keepingSink(hand: (file: Blob) => void, most: number = maxKeptBytes): Sink {
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
      // A blob belongs to the browser, which keeps large ones on disk.
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

interface SaveFilePicker {
  showSaveFilePicker(options: {
    suggestedName: string;
    types: { description: string; accept: Record<string, string[]> }[];
  }): Promise<FileSystemFileHandle>;
}

/** The desktop shell lets no page write files; its downloads ask where to save. */
function canChoose(page: object): page is SaveFilePicker {
  return 'showSaveFilePicker' in page && !navigator.userAgent.includes('Electron');
}

/** Returns true if files are written while they arrive. */
export function writesAsItComes(): boolean {
  return canChoose(window);
}

/** Type of the saved file; `extension` without a dot. */
interface FileType {
  readonly label: string;
  readonly type: string;
  readonly extension: string;
}

/**
 * Asks where to save; requires a user gesture. Returns a sink for the chosen file if the browser can write to it, else
 * for a download. Rejects with an AbortError if the user cancels.
 */
export async function chooseSink(
  name: string,
  { label, type, extension }: FileType,
): Promise<{ readonly sink: Sink; readonly name: string }> {
  const page: object = window;
  if (!canChoose(page)) return { sink: keepingSink((file) => download(name, file)), name };
  const handle = await page.showSaveFilePicker({
    suggestedName: name,
    types: [{ description: label, accept: { [type]: [`.${extension}`] } }],
  });
  const file = await handle.createWritable();
  return {
    name: handle.name,
    sink: { write: (bytes) => file.write(bytes), close: () => file.close(), abandon: () => file.abort() },
  };
}

/** Messages for a broken-off download and for one too large for the browser. */
export interface SavingFailures {
  readonly brokenOff: string;
  readonly tooLarge: string;
}

/**
 * Calls and writes the answer to the sink. Resolves with its size in bytes; `onBytes` receives the bytes so far and
 * the total, null if unknown. Errors: ApiError; AbortError if `signal` aborted.
 */
export async function saveAnswer(
  endpoint: ApiEndpoint,
  { url, method }: { readonly url: string; readonly method: 'GET' | 'POST' },
  failures: SavingFailures,
  sink: Sink,
  signal: AbortSignal,
  onBytes: (bytes: number, of: number | null) => void,
): Promise<number> {
  const requestId = newRequestId();
  try {
    const response = await fetch(url, { method, headers: callHeaders(endpoint, requestId), signal });
    if (!response.ok || response.body === null)
      throw errorOfAnswer(response.status, await response.json().catch(() => null), requestId);
    const length = response.headers.get('Content-Length');
    const of = length === null ? null : Number(length);
    const reader = response.body.getReader();
    return await copied(reader, sink, failures, requestId, (bytes) => onBytes(bytes, of));
  } catch (error) {
    await sink.abandon();
    if (isCancelled(error) || error instanceof ApiError) throw error;
    throw errorOfSilence(error, requestId);
  }
}

async function copied(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  sink: Sink,
  failures: SavingFailures,
  requestId: string,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw isCancelled(cause) ? cause : brokenOff(cause, failures.brokenOff, requestId);
    });
    if (done) break;
    try {
      await sink.write(value);
    } catch (error) {
      await reader.cancel();
      throw error instanceof RangeError
        ? tooLarge(failures.tooLarge, requestId)
        : notWritten(error, requestId);
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

function brokenOff(cause: unknown, title: string, requestId: string): ApiError {
  return new ApiError(
    {
      code: 'Unreachable',
      status: null,
      title,
      detail: 'The connection to the service ended before the file was whole. Nothing was saved.',
      requestId,
      errors: [],
    },
    cause,
  );
}

function tooLarge(remedy: string, requestId: string): ApiError {
  return new ApiError({
    code: 'Unreadable',
    status: null,
    title: 'The file is too large for this browser',
    detail: `This browser cannot write a file while it arrives, and buffers at most 1 GiB. ${remedy}`,
    requestId,
    errors: [],
  });
}
