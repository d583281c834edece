/** Converts tables in a worker. Caches one result, since check and import send the same. */
import type { Mapping } from './mapping.ts';
import type { Transformed } from './transform.ts';
import TransformWorker from './transform.worker.ts?worker';
import type { TransformAnswer, TransformRequest } from './transform.worker.ts';

/** A converted table. */
interface PreparedTable {
  readonly blob: Blob;
  readonly outcome: Transformed;
}

let kept: { readonly file: File; readonly mapping: string; readonly prepared: PreparedTable } | null = null;

/** Drops the cached file. */
export function forgetPrepared(): void {
  kept = null;
}

/**
 * Converts a table. `onBytes`: bytes of the file read so far. Rejects with the signal's reason or the problem of the
 * file.
 */
export async function prepareTable(
  file: File,
  mapping: Mapping,
  written: ',' | '\t',
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<PreparedTable> {
  const key = JSON.stringify([mapping, written]);
  if (kept !== null && kept.file === file && kept.mapping === key) return kept.prepared;
  kept = null;
  const prepared = await inWorker({ file, mapping, written }, signal, onBytes);
  kept = { file, mapping: key, prepared };
  return prepared;
}

function inWorker(
  request: TransformRequest,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<PreparedTable> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = new TransformWorker();
    function abort(): void {
      finish();
      reject(signal.reason as Error);
    }
    function finish(): void {
      signal.removeEventListener('abort', abort);
      worker.terminate();
    }
    worker.onmessage = ({ data }: MessageEvent<TransformAnswer>) => {
      if (data.kind === 'progress') {
        onBytes(data.bytes);
        return;
      }
      finish();
      if (data.kind === 'done') resolve({ blob: data.blob, outcome: data.outcome });
      else reject(new Error(data.message));
    };
    worker.onerror = (event) => {
      finish();
      reject(new Error(event.message));
    };
    signal.addEventListener('abort', abort);
    worker.postMessage(request);
  });
}
