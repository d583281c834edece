/**
 * A bounded list of small records beside the log, kept across restarts, which the service could lose without harm.
 *
 * Each journal is one file, sealed under the folder's key like the log, and never part of a snapshot or backup. Records
 * are appended as they arrive. The file is rewritten, with an atomic rename, when appended records outweigh the wanted
 * ones, and once after each start. A failed write never reaches the caller of `append`: it causes one warning and is
 * retried. A power cut leaves what was flushed durably, and any prefix of the rest. A file that does not verify never
 * prevents a start; it is set aside. The owner defines the records and limits their number.
 */
import { crc32 } from 'node:zlib';
import { type StorageBackend, type StorageFile, systemErrorCode } from './backend.ts';
import { type FolderKey, type Opener, plainOpener, type Sealer, sealingOf } from './cipher.ts';
import { SALT_BYTES } from './codec.ts';
import {
  decodeFileHeader,
  encodeFileHeader,
  type FileKind,
  openerFor,
  readHeaderBytes,
} from './file-header.ts';
import { withFile } from './recovery.ts';
import { StartupError } from './startup-error.ts';

/** The names of all journals that a folder can have, for tasks on folders. */
export const journalNames = [
  'mcp-calls',
  'mcp-sessions',
  'metrics-history',
  'session-key',
  'vectors',
] as const;
export type JournalName = (typeof journalNames)[number];

interface JournalParts {
  readonly backend: StorageBackend;
  readonly name: JournalName;
  /** The folder's key; null: no encryption. */
  readonly key: FolderKey | null;
  readonly random: (bytes: number) => Uint8Array;
  /** Receives warnings for the operator, in plain language. */
  readonly onWarn: (message: string) => void;
}

const kind: FileKind = {
  magic: new Uint8Array([0x43, 0x4f, 0x52, 0x4a, 0x4f, 0x55, 0x0d, 0x0a]), // "CORJOU\r\n"
  version: 1,
  flags: 0,
};
const SALT_AT = 32;
/** Bytes of a frame's head: payload length, nonce, checksum. */
const FRAME_HEAD_BYTES = 12;
const CHECKED_HEAD_BYTES = 8;
/** Bytes of a record's length in a payload. */
const LENGTH_BYTES = 4;
/** The file is rewritten once this many bytes were appended, and at least its size when last rewritten. */
const MIN_APPENDED_BYTES = 1024 * 1024;
/** Approximate size of a frame. */
const FRAME_BYTES = 256 * 1024;
/** Maximum size of a frame; a longer one counts as damage. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Milliseconds between two automatic writes, and after a failed one. */
const gatherMs = 100;
const retryMs = 10_000;

/** A journal file with buffered appends. */
export class Journal {
  readonly #parts: JournalParts;
  #all: () => readonly Uint8Array[] = () => [];
  #waiting: Uint8Array[] = [];
  #open: OpenFile | null = null;
  /** The file must be rewritten, however little was appended. */
  #isStale = true;
  #isFailing = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #notBefore = 0;

  constructor(parts: JournalParts) {
    this.#parts = parts;
  }

  /**
   * Reads the existing records, in order. Call it once, before anything else. From then on, `all` returns the records
   * to keep whenever the file is rewritten. Resolves whatever the file contains.
   */
  async load(all: () => readonly Uint8Array[]): Promise<Uint8Array[]> {
    this.#all = all;
    const { records, isAsWritten } = await readJournal(this.#parts);
    // A file that is not in its proper form, such as unencrypted, is replaced as soon as possible.
    if (!isAsWritten) setImmediate(() => void this.flush());
    return records;
  }

  /** Appends a record; it is written soon. */
  append(record: Uint8Array): void {
    this.#waiting.push(record);
    this.#schedule();
  }

  /** Requests a rewrite at the next flush, since some appended records are no longer wanted. */
  rewrite(): void {
    this.#isStale = true;
    this.#schedule();
  }

  /** Writes waiting records; with `isDurable` they survive a power cut. True if written. Never rejects. */
  flush(isDurable = false): Promise<boolean> {
    const mine = this.#turn.then(() => this.#write(isDurable));
    this.#turn = mine;
    return mine;
  }

  /** Writes waiting records durably and closes the file. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#waiting.length > 0 || this.#open !== null) await this.flush(true);
    await this.#turn;
    await this.#closeFile();
  }

  #schedule(): void {
    if (this.#timer !== null || this.#isClosed) return;
    const waitMs = Math.max(0, this.#notBefore - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.flush();
    }, waitMs).unref();
  }

  async #write(isDurable: boolean): Promise<boolean> {
    const records = this.#waiting;
    this.#waiting = [];
    this.#notBefore = performance.now() + gatherMs;
    try {
      const open = this.#open;
      if (open === null || this.#isStale || open.appended > Math.max(MIN_APPENDED_BYTES, open.written))
        await this.#rewriteFile();
      else if (records.length > 0) await appendTo(open, records);
      if (isDurable) await this.#open?.file.sync();
      this.#isFailing = false;
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  async #rewriteFile(): Promise<void> {
    const { backend, name, key, random } = this.#parts;
    // Records appended from here on are not among them.
    this.#isStale = false;
    const records = this.#all();
    await this.#closeFile();
    const sealer = await writeJournal({ backend, name, key, random }, records);
    const file = await backend.open(name, 'write');
    const size = await file.size();
    this.#open = { ...sealer, file, size, written: size, appended: 0 };
  }

  #failed(error: unknown): void {
    this.#isStale = true;
    this.#notBefore = performance.now() + retryMs;
    if (this.#isFailing) return;
    this.#isFailing = true;
    const { backend, name, onWarn } = this.#parts;
    onWarn(
      `${backend.location(name)} could not be written: ${systemErrorCode(error) || String(error)}. Calls continue; the ` +
        'records are written as soon as that succeeds.',
    );
  }

  async #closeFile(): Promise<void> {
    const file = this.#open?.file;
    this.#open = null;
    await file?.close().catch(() => {
      // The file is no longer needed; what had to be durable was synced.
    });
  }
}

interface Sealed {
  readonly sealer: Sealer;
  readonly salt: Uint8Array;
}

interface OpenFile extends Sealed {
  readonly file: StorageFile;
  size: number;
  /** Bytes when last rewritten, and appended since. */
  readonly written: number;
  appended: number;
}

async function appendTo(open: OpenFile, records: readonly Uint8Array[]): Promise<void> {
  for (const part of frames(open, open.size, records)) {
    await open.file.write(part, open.size);
    open.size += part.length;
    open.appended += part.length;
  }
}

/** Replaces the file with one of these records, durably. Rejects with the system's error. */
export async function writeJournal(
  { backend, name, key, random }: Omit<JournalParts, 'onWarn'>,
  records: readonly Uint8Array[],
): Promise<Sealed> {
  const temporary = `${name}.tmp`;
  if ((await backend.list()).includes(temporary)) await backend.remove(temporary);
  const salt = random(SALT_BYTES);
  const sealing = sealingOf(key, salt, random);
  const header = encodeFileHeader(kind, 0, sealing, (bytes) => bytes.set(salt, SALT_AT));
  const sealed = { sealer: sealing.sealer, salt };
  const file = await backend.create(temporary);
  try {
    await file.write(header, 0);
    let size = header.length;
    for (const part of frames(sealed, size, records)) {
      await file.write(part, size);
      size += part.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await backend.rename(temporary, name);
  await backend.syncDirectory();
  return sealed;
}

/** Encodes the records as frames, lazily; the first is for `offset`. */
function* frames(
  { sealer, salt }: Sealed,
  offset: number,
  records: readonly Uint8Array[],
): Generator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let at = offset;
  for (const [index, record] of records.entries()) {
    const length = new Uint8Array(LENGTH_BYTES);
    new DataView(length.buffer).setUint32(0, record.length, true);
    parts.push(length, record);
    bytes += LENGTH_BYTES + record.length;
    if (bytes < FRAME_BYTES && index < records.length - 1) continue;
    const head = new Uint8Array(FRAME_HEAD_BYTES);
    const view = new DataView(head.buffer);
    const nonce = sealer.nextNonce();
    view.setUint32(0, bytes + sealer.overhead, true);
    view.setUint32(4, nonce, true);
    const payload = sealer.seal(nonce, authenticated(head, at), parts);
    const frame = Buffer.concat([head, ...payload]);
    view.setUint32(CHECKED_HEAD_BYTES, checksum(salt, at, head, frame.subarray(FRAME_HEAD_BYTES)), true);
    frame.set(head, 0);
    yield frame;
    at += frame.length;
    parts = [];
    bytes = 0;
  }
}

/** The bytes of a frame's head and position that an encrypted payload is bound to. */
function authenticated(head: Uint8Array, offset: number): Uint8Array {
  const bytes = new Uint8Array(CHECKED_HEAD_BYTES + 8);
  bytes.set(head.subarray(0, CHECKED_HEAD_BYTES));
  new DataView(bytes.buffer).setBigUint64(CHECKED_HEAD_BYTES, BigInt(offset), true);
  return bytes;
}

function checksum(salt: Uint8Array, offset: number, head: Uint8Array, payload: Uint8Array): number {
  return crc32(payload, crc32(authenticated(head, offset), crc32(salt)));
}

interface ReadJournal {
  readonly records: Uint8Array[];
  /** False if the file differs from one written now, or was set aside. */
  readonly isAsWritten: boolean;
}

/** Reads a journal's records. A file that does not verify is set aside with a warning. Never rejects. */
export async function readJournal(parts: JournalParts): Promise<ReadJournal> {
  const { backend, name, onWarn } = parts;
  try {
    if (!(await backend.list()).includes(name)) return { records: [], isAsWritten: true };
    const { records, problem, isAsWritten } = await withFile(backend, name, 'read', (file) =>
      readRecords(parts, file),
    );
    if (problem === null) return { records, isAsWritten };
    const aside = asideName(name);
    await backend.rename(name, aside);
    const kept =
      records.length === 0 ? 'It starts empty' : `The ${records.length} records before that are kept`;
    onWarn(`${backend.location(name)} ${problem}: it was set aside as ${backend.location(aside)}. ${kept}.`);
    return { records, isAsWritten: false };
  } catch (error) {
    const why = systemErrorCode(error) || String(error);
    onWarn(`${backend.location(name)} could not be read: ${why}. It starts empty.`);
    return { records: [], isAsWritten: false };
  }
}

/** The name for a journal that is set aside. */
export function asideName(name: JournalName): string {
  return `${name}.damaged`;
}

interface ReadRecords extends ReadJournal {
  /** What is wrong with the file; null: nothing. */
  readonly problem: string | null;
}

async function readRecords(parts: JournalParts, file: StorageFile): Promise<ReadRecords> {
  const broken = (problem: string, records: Uint8Array[] = []): ReadRecords => ({
    records,
    isAsWritten: false,
    problem,
  });
  const reading = decodeFileHeader(kind, await readHeaderBytes(file));
  if (reading.kind === 'newer') return broken(`is of a newer version (${reading.version})`);
  if (reading.kind !== 'header') return broken('is damaged at offset 0');
  const { bytes: header } = reading;
  const salt = header.subarray(SALT_AT, SALT_AT + SALT_BYTES);
  const isPlain = reading.flags === 0;
  // An unencrypted file from before the folder was encrypted is read, and rewritten at once.
  const opener = isPlain ? plainOpener : openerOf(parts, header);
  if (opener === null) return broken('was written under another key');
  const records: Uint8Array[] = [];
  const size = await file.size();
  for (let offset = header.length; offset < size; ) {
    const frame = await readFrame(file, offset, salt, opener);
    // A power cut during a write may leave any bytes at the very end.
    if (frame === 'torn') break;
    if (frame === 'damaged') return broken(`is damaged at offset ${offset}`, records);
    records.push(...frame.records);
    offset += frame.bytes;
  }
  return { records, problem: null, isAsWritten: isPlain === (parts.key === null) };
}

function openerOf({ backend, name, key }: JournalParts, header: Uint8Array): Opener | null {
  try {
    return openerFor(backend, name, header, key);
  } catch (error) {
    if (error instanceof StartupError) return null;
    throw error;
  }
}

async function readFrame(
  file: StorageFile,
  offset: number,
  salt: Uint8Array,
  opener: Opener,
): Promise<{ records: Uint8Array[]; bytes: number } | 'torn' | 'damaged'> {
  const head = new Uint8Array(FRAME_HEAD_BYTES);
  if ((await file.read(head, offset)) < FRAME_HEAD_BYTES) return 'torn';
  const view = new DataView(head.buffer);
  const length = view.getUint32(0, true);
  if (length > MAX_FRAME_BYTES) return 'damaged';
  const size = await file.size();
  const end = offset + FRAME_HEAD_BYTES + length;
  if (end > size) return 'torn';
  const payload = new Uint8Array(length);
  await file.read(payload, offset + FRAME_HEAD_BYTES);
  if (checksum(salt, offset, head, payload) !== view.getUint32(CHECKED_HEAD_BYTES, true))
    return end === size ? 'torn' : 'damaged';
  const opened = opener.open(view.getUint32(4, true), authenticated(head, offset), payload);
  const records = opened === null ? null : recordsOf(opened);
  return records === null ? 'damaged' : { records, bytes: FRAME_HEAD_BYTES + length };
}

function recordsOf(payload: Uint8Array): Uint8Array[] | null {
  const records: Uint8Array[] = [];
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  for (let at = 0; at < payload.length; ) {
    if (at + LENGTH_BYTES > payload.length) return null;
    const end = at + LENGTH_BYTES + view.getUint32(at, true);
    if (end > payload.length) return null;
    // Copies each record, so that a kept one does not retain the whole frame: `slice` of a Buffer would not.
    records.push(new Uint8Array(payload.subarray(at + LENGTH_BYTES, end)));
    at = end;
  }
  return records;
}
