/** Converts tables in a worker, so that a large file does not block the page. */
import '../../ui/no-eval.ts';
import type { Mapping } from './mapping.ts';
import { TableTransformer, type Transformed } from './transform.ts';

/** Message to the worker. */
export interface TransformRequest {
  readonly file: Blob;
  readonly mapping: Mapping;
  readonly written: ',' | '\t';
}

/** Reply of the worker. */
export type TransformAnswer =
  | { readonly kind: 'progress'; readonly bytes: number }
  | { readonly kind: 'done'; readonly blob: Blob; readonly outcome: Transformed }
  | { readonly kind: 'failed'; readonly message: string };

const pieceBytes = 4 * 1024 * 1024;

function answer(message: TransformAnswer): void {
  self.postMessage(message);
}

/** The chunks become blobs at once, which the browser may keep on disk. */
async function transform({ file, mapping, written }: TransformRequest): Promise<void> {
  const transformer = new TableTransformer(mapping, written);
  const parts: Blob[] = [];
  for (let at = 0; at < file.size; at += pieceBytes) {
    const piece = new Uint8Array(await file.slice(at, at + pieceBytes).arrayBuffer());
    parts.push(new Blob([transformer.push(piece)]));
    answer({ kind: 'progress', bytes: Math.min(file.size, at + pieceBytes) });
  }
  const { text, outcome } = transformer.end();
  parts.push(new Blob([text]));
  answer({ kind: 'done', blob: new Blob(parts), outcome });
}

self.onmessage = (event: MessageEvent<TransformRequest>) => {
  transform(event.data).catch((error: unknown) =>
    answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
  );
};
