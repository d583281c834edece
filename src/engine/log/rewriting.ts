/**
 * Replaces the retained files of a folder with rewritten ones, all of them or none.
 *
 * The new files are written beside the old ones, under names that nothing else reads. A mark that is durable after all of
 * them says that they are whole; only then do they take the names of the old ones, and a start completes what a power cut
 * interrupts. Without the mark, a start removes them.
 *
 * If they belong to a snapshot that replaces the whole folder, another mark names that snapshot, and the files are whole
 * once it is there: its name is the one step that decides for all of them.
 */
import { present } from '../base/assert.ts';
import type { StorageBackend, StorageFile } from './backend.ts';
import { type FolderKey, type Sealer, sealingOf } from './cipher.ts';
import {
  decodeFrameHeader,
  encodeFrame,
  encodeRecord,
  encodeSegmentHeader,
  FRAME_HEADER_BYTES,
  hexadecimal,
  type LogRecord,
  SALT_BYTES,
} from './codec.ts';
import { unmarkErasing } from './erasing.ts';
import { type Segment, segmentId, segmentNames, withFile } from './recovery.ts';
import type { RetainedBase, RetainedLog } from './retained.ts';
import type { SnapshotHeader } from './snapshot-codec.ts';
import { snapshotName, snapshotNames } from './snapshot-reader.ts';
import { type SnapshotPart, writeSnapshot } from './snapshot-writer.ts';

/** A snapshot or a record as it shall be. Take a snapshot's parts before the next piece. */
export type RewrittenPiece =
  | {
      readonly kind: 'snapshot';
      readonly base: RetainedBase;
      readonly parts: AsyncIterable<SnapshotPart>;
    }
  | { readonly kind: 'record'; readonly record: LogRecord };

/** How a history is rewritten. */
export interface HistoryRewrite {
  /** The history up to the record `through` as it shall be, in order. */
  pieces(retained: RetainedLog, through: number): AsyncIterable<RewrittenPiece>;
  /** True if a record up to this one erased something, and has not been rewritten itself. */
  hasErasures(retained: RetainedLog, through: number): Promise<boolean>;
  /** Called once the files are replaced, or gone. */
  ended(): void;
}

interface RewritingOptions {
  readonly key: FolderKey | null;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
}

const mark = 'rewritten';
/** The files are whole once a certain snapshot is there. */
const markFor = 'converted';
const suffix = '.rewritten';
/** Bytes of records in a frame, at least. */
const frameBytes = 1024 * 1024;

/**
 * Writes the files that the newest snapshot covers again, beside them; `completeRewriting` puts them in their place. Rejects
 * with the error of the pieces, or the system's: nothing remains then.
 */
export async function writeAgain(
  backend: StorageBackend,
  retained: RetainedLog,
  newest: SnapshotHeader,
  rewrite: HistoryRewrite,
  options: RewritingOptions,
): Promise<void> {
  const covered = retained.segments.filter(({ header }) => header.id < newest.segment);
  await writeFiles(backend, covered, rewrite.pieces(retained, newest.sequence), options);
  await putMark(backend, mark, '');
}

/**
 * Writes everything that is retained again, unchanged, under another key, for a snapshot that will be alone with it; null:
 * nothing will be retained. Put the snapshot in its place, then call `completeRewriting`: until then nothing has changed.
 * Rejects like `writeAgain`.
 */
export async function writeFor(
  backend: StorageBackend,
  retained: RetainedLog | null,
  alone: SnapshotHeader,
  options: RewritingOptions,
): Promise<void> {
  await removeUnfinished(backend);
  if (retained !== null)
    await writeFiles(
      backend,
      Array.from(retained.parts(), ({ segments }) => segments).flat(),
      unchanged(retained, alone.sequence),
      options,
    );
  const names = rewrittenNames(await backend.list()).map(nameOfRewritten);
  await putMark(backend, markFor, JSON.stringify({ salt: hexadecimal(alone.salt), names }));
}

async function* unchanged(
  retained: RetainedLog,
  through: number,
): AsyncGenerator<RewrittenPiece, void, undefined> {
  for (const part of retained.parts()) {
    const [first] = part.segments;
    for (const base of part.bases) {
      const { snapshot, sequence } = base;
      if (snapshot !== null && sequence < through)
        yield { kind: 'snapshot', base, parts: part.partsOf(snapshot) };
    }
    if (first === undefined) continue;
    for await (const record of part.records(first.header.firstSequence - 1)) yield { kind: 'record', record };
  }
}

async function writeFiles(
  backend: StorageBackend,
  segments: readonly Segment[],
  pieces: AsyncIterable<RewrittenPiece>,
  options: RewritingOptions,
): Promise<void> {
  try {
    const writer = new HistoryWriter(backend, segments, options);
    for await (const piece of pieces) {
      if (piece.kind === 'record') await writer.record(piece.record);
      else await snapshotAgain(backend, piece, options);
    }
    await writer.end();
  } catch (error) {
    await removeUnfinished(backend);
    throw error;
  }
  await backend.syncDirectory();
}

async function putMark(backend: StorageBackend, name: string, text: string): Promise<void> {
  await withFileCreated(backend, name, async (file) => {
    await file.write(new TextEncoder().encode(text), 0);
    await file.sync();
  });
  await backend.syncDirectory();
}

/**
 * Completes a rewriting whose files are whole, and removes those of another; `newest`: the header of the newest snapshot.
 * Rejects with the system's error.
 */
export async function completeRewriting(backend: StorageBackend, newest: SnapshotHeader): Promise<void> {
  const names = await backend.list();
  const belonging = names.includes(markFor) ? await namesFor(backend, newest) : null;
  if (belonging !== null) {
    await removeOthers(backend, newest, belonging);
    await takeNames(backend);
    await backend.remove(markFor);
    return backend.syncDirectory();
  }
  if (!names.includes(mark)) return removeUnfinished(backend);
  await takeNames(backend);
  // What was to be erased is gone.
  await unmarkErasing(backend);
  await backend.remove(mark);
  await backend.syncDirectory();
}

/** The names of the files that were written for this snapshot; null: they were for another, which is not there. */
async function namesFor(backend: StorageBackend, { salt }: SnapshotHeader): Promise<string[] | null> {
  return withFile(backend, markFor, 'read', async (file) => {
    const bytes = new Uint8Array(await file.size());
    await file.read(bytes, 0);
    const text = new TextDecoder().decode(bytes);
    // The snapshot gets its name once the mark is durable as a whole.
    if (!text.startsWith(`{"salt":"${hexadecimal(salt)}"`)) return null;
    return (JSON.parse(text) as { readonly names: string[] }).names;
  });
}

/** Removes what the snapshot covers, except for these names. */
async function removeOthers(
  backend: StorageBackend,
  { sequence, segment }: SnapshotHeader,
  kept: readonly string[],
): Promise<void> {
  const names = await backend.list();
  const others = [
    ...snapshotNames(names).filter((name) => Number.parseInt(name, 10) < sequence),
    ...segmentNames(names).filter((name) => segmentId(name) < segment),
  ].filter((name) => !kept.includes(name));
  for (const name of others) await backend.remove(name);
  await backend.syncDirectory();
}

async function takeNames(backend: StorageBackend): Promise<void> {
  for (const name of rewrittenNames(await backend.list())) await backend.rename(name, nameOfRewritten(name));
  await backend.syncDirectory();
}

async function removeUnfinished(backend: StorageBackend): Promise<void> {
  const names = await backend.list();
  const left = names.filter(
    (name) => name.endsWith(`${suffix}.tmp`) || name.endsWith(suffix) || name === markFor,
  );
  for (const name of left) await backend.remove(name);
  if (left.length > 0) await backend.syncDirectory();
}

/** The name that a rewritten file takes. */
function nameOfRewritten(name: string): string {
  return name.slice(0, -suffix.length);
}

function rewrittenNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{10,}\.(?:log|snapshot)\.rewritten$/.test(name));
}

async function withFileCreated(
  backend: StorageBackend,
  name: string,
  step: (file: StorageFile) => Promise<void>,
): Promise<void> {
  const file = await backend.create(name);
  try {
    await step(file);
  } finally {
    await file.close();
  }
}

async function snapshotAgain(
  backend: StorageBackend,
  { base, parts }: Extract<RewrittenPiece, { kind: 'snapshot' }>,
  { key, random, onWarn }: RewritingOptions,
): Promise<void> {
  const { header } = present(base.snapshot, 'the empty state has no file');
  const again = { ...header, salt: random(SALT_BYTES) };
  const sealing = sealingOf(key, again.salt, random);
  const name = `${snapshotName(header.sequence)}${suffix}`;
  const written = await writeSnapshot(backend, again, sealing, parts, onWarn, name);
  await written.install();
}

/** Writes rewritten records into segments like those that had them. */
class HistoryWriter {
  readonly #backend: StorageBackend;
  readonly #segments: readonly Segment[];
  readonly #options: RewritingOptions;
  #next = 0;
  #current: RewrittenSegment | null = null;
  #lines: Uint8Array[] = [];
  #bytes = 0;

  constructor(backend: StorageBackend, segments: readonly Segment[], options: RewritingOptions) {
    this.#backend = backend;
    this.#segments = segments;
    this.#options = options;
  }

  /** Adds the record after the last one. */
  async record(record: LogRecord): Promise<void> {
    while ((this.#current?.of.lastSequence ?? -1) < record.sequence && this.#next < this.#segments.length)
      await this.#begin();
    const current = this.#current;
    // Records behind the covered segments are in others, which stay.
    if (current === null || current.of.lastSequence < record.sequence) return;
    const line = encodeRecord(record);
    this.#lines.push(line);
    this.#bytes += line.length;
    if (this.#bytes >= frameBytes) await this.#flush(record.sequence);
    current.lastSequence = record.sequence;
  }

  /** Makes everything durable. */
  async end(): Promise<void> {
    while (this.#next < this.#segments.length) await this.#begin();
    await this.#close();
  }

  async #begin(): Promise<void> {
    await this.#close();
    const of = present(this.#segments[this.#next++], 'a segment is left');
    const { random, key } = this.#options;
    const salt = random(SALT_BYTES);
    const sealing = sealingOf(key, salt, random);
    const head = encodeSegmentHeader({ ...of.header, salt }, sealing);
    const epoch = await epochOf(this.#backend, of);
    const file = await this.#backend.create(`${of.name}${suffix}`);
    this.#current = {
      of,
      salt,
      sealer: sealing.sealer,
      epoch,
      file,
      end: head.length,
      lastSequence: of.header.firstSequence - 1,
    };
    await file.write(head, 0);
  }

  async #flush(lastSequence: number): Promise<void> {
    if (this.#lines.length === 0) return;
    const current = present(this.#current, 'records belong to a segment');
    const { salt, end, epoch, sealer, file, of } = current;
    const count = this.#lines.length;
    const { historyId } = of.header;
    const header = { flags: 0, historyId, epoch, firstSequence: lastSequence - count + 1, count };
    const frame = encodeFrame(salt, end, header, this.#lines, sealer);
    await file.write(frame, end);
    current.end += frame.length;
    this.#lines = [];
    this.#bytes = 0;
  }

  async #close(): Promise<void> {
    const current = this.#current;
    if (current === null) return;
    try {
      await this.#flush(current.lastSequence);
      await current.file.sync();
    } finally {
      this.#current = null;
      await current.file.close();
    }
  }
}

/** A segment that is being written again. */
interface RewrittenSegment {
  readonly of: Segment;
  readonly salt: Uint8Array;
  readonly sealer: Sealer;
  readonly epoch: number;
  readonly file: StorageFile;
  end: number;
  lastSequence: number;
}

/** The epoch of the frames of a segment, which is one for all; of an empty one it does not matter. */
async function epochOf(backend: StorageBackend, { name, start, end, header }: Segment): Promise<number> {
  if (end === start) return 1;
  const bytes = new Uint8Array(FRAME_HEADER_BYTES);
  await withFile(backend, name, 'read', (file) => file.read(bytes, start));
  return decodeFrameHeader(header.salt, start, bytes)?.epoch ?? 1;
}
