/**
 * One call of POST /import: a file goes up, lines come back.
 *
 * Browsers tell of a body that is being sent only through XMLHttpRequest, and begin to read the answer when it was sent
 * whole: until then the bytes are the progress (the service takes no more than it has worked off), after it the lines.
 */
import type { OperationOutput } from '../../../engine/contract/operations.ts';
import type { ImportDone, ImportProgress } from '../../../engine/contract/transfer.ts';
import { ApiError, errorOfAnswer, errorOfSilence } from '../../api/problem.ts';

type ImportLine = OperationOutput<'importKnowledge'>;

export interface ImportUpload {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly onSent: (bytes: number) => void;
  readonly onProgress: (progress: ImportProgress) => void;
}

/** Reads the lines of an answer as it grows. */
export class AnswerLines {
  #read = 0;

  /** The whole lines that are new; `text` is all of the answer so far. */
  take(text: string, isAll: boolean): ImportLine[] {
    const end = isAll ? text.length : text.lastIndexOf('\n') + 1;
    const fresh = text.slice(this.#read, end);
    this.#read = Math.max(this.#read, end);
    return fresh
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as ImportLine);
  }
}

function brokenOff(requestId: string): ApiError {
  return new ApiError({
    code: 'Unreachable',
    status: null,
    title: 'The import broke off',
    detail:
      'The connection to the service ended before the import did. What was stored before stays stored; to import the file again does no harm.',
    requestId,
    errors: [],
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // No answer of this service: the status alone is told.
    return null;
  }
}

/** Resolves with the last line. Errors: ApiError; the signal's reason where it ended it. */
export function upload({
  url,
  headers,
  body,
  requestId,
  signal,
  onSent,
  onProgress,
}: ImportUpload): Promise<ImportDone> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const lines = new AnswerLines();
    let hasSent = false;
    let outcome: ImportDone | ApiError | null = null;

    function take(isAll: boolean): void {
      if (request.status !== 200) return;
      for (const line of lines.take(request.responseText, isAll)) {
        if ('done' in line) outcome = line;
        else if ('error' in line) {
          const { status } = line.error;
          outcome = errorOfAnswer(typeof status === 'number' ? status : 500, line.error, requestId);
        } else onProgress(line);
      }
    }

    function finish(): void {
      signal.removeEventListener('abort', abort);
      if (request.status !== 200)
        reject(errorOfAnswer(request.status, parsed(request.responseText), requestId));
      else if (outcome === null) reject(brokenOff(requestId));
      else if (outcome instanceof ApiError) reject(outcome);
      else resolve(outcome);
    }

    function abort(): void {
      request.abort();
      reject(signal.reason as Error);
    }

    request.open('POST', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => {
      hasSent = true;
      onSent(loaded);
    };
    request.upload.onload = () => onSent(body.size);
    request.onprogress = () => take(false);
    request.onload = () => {
      take(true);
      finish();
    };
    request.onerror = () => {
      signal.removeEventListener('abort', abort);
      reject(hasSent ? brokenOff(requestId) : errorOfSilence('the request failed', requestId));
    };
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    signal.addEventListener('abort', abort);
    request.send(body);
  });
}
