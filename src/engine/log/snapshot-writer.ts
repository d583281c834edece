/**
 * Writes one snapshot, the log's checkpoint, in pieces as they arrive.
 *
 * Invariant: a file gets a snapshot's name only once all of it is durable. It is written under a temporary name, synced
 * every few megabytes (so that the last sync is short and does not delay log writes), and renamed at the end. A failure
 * leaves at most a file with the temporary name, which the next snapshot or start removes. The log decides when covered
 * files may be removed.
 */
import { assert } from '../base/assert.ts';
import type { StorageBackend, StorageFile } from './backend.ts';
import { type FileSealing, type Opener, type Sealer } from './cipher.ts';
import { encodeFrame, FrameRoom } from './codec.ts';
import {
  encodeSnapshotHeader,
  SNAPSHOT_PAYLOAD_BYTES,
  snapshotSections,
  type SnapshotHeader,
} from './snapshot-codec.ts';
import { snapshotName, temporarySnapshotName } from './snapshot-reader.ts';

/** A piece of a section. All of `state` comes before `observed`. */
export interface SnapshotPart {
  readonly section: 'state' | 'observed';
  readonly bytes: Uint8Array;
}

/** Bytes written between two syncs. */
const SYNC_BYTES = 8 * 1024 * 1024;

/** A snapshot that is complete and durable under its temporary name. */
export interface WrittenSnapshot {
  readonly temporaryName: string;
  readonly bytes: number;
  readonly start: number;
  readonly opener: Opener;
  /** Renames it to its final name, durably. */
  install(): Promise<void>;
  /** Removes it unless it was installed. Never rejects. */
  discard(): Promise<void>;
}

/**
 * Writes a snapshot of these parts with this sealing under a temporary name; `name` is its final one. Rejects with the
 * system's error or the error of the parts; calls `onWarn` if the file cannot be removed then.
 */
export async function writeSnapshot(
  backend: StorageBackend,
  header: SnapshotHeader,
  sealing: FileSealing,
  parts: AsyncIterable<SnapshotPart>,
  onWarn: (message: string) => void,
  name = snapshotName(header.sequence),
): Promise<WrittenSnapshot> {
  const temporary = temporarySnapshotName(name);
  if ((await backend.list()).includes(temporary)) await backend.remove(temporary);
  let isInstalled = false;
  const discard = async (): Promise<void> => {
    if (isInstalled) return;
    await backend.remove(temporary).catch((error: unknown) => {
      onWarn(`${backend.location(temporary)} could not be removed: ${String(error)}`);
    });
  };
  const head = encodeSnapshotHeader(header, sealing);
  const file = await backend.create(temporary);
  let bytes: number;
  try {
    try {
      bytes = await new FrameWriter(file, header, sealing.sealer).write(head, parts);
    } finally {
      await file.close();
    }
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    temporaryName: temporary,
    bytes,
    start: head.length,
    opener: sealing.opener,
    install: async () => {
      await backend.rename(temporary, name);
      isInstalled = true;
      await backend.syncDirectory();
    },
    discard,
  };
}

/** Collects the bytes of each section into frames. */
class FrameWriter {
  readonly #file: StorageFile;
  readonly #header: SnapshotHeader;
  readonly #sealer: Sealer;
  readonly #payload = new Uint8Array(SNAPSHOT_PAYLOAD_BYTES);
  #filled = 0;
  #section: number = snapshotSections.state;
  #frames = 0;
  #end = 0;
  #unsynced = 0;
  readonly #room = new FrameRoom();

  constructor(file: StorageFile, header: SnapshotHeader, sealer: Sealer) {
    this.#file = file;
    this.#header = header;
    this.#sealer = sealer;
  }

  /** Writes header, parts and end, and makes everything durable. Returns the number of bytes. */
  async write(head: Uint8Array, parts: AsyncIterable<SnapshotPart>): Promise<number> {
    await this.#put(head);
    for await (const { section, bytes } of parts) {
      const number = snapshotSections[section];
      assert(number >= this.#section, 'the sections of a snapshot come in their order');
      if (number !== this.#section) await this.#flush();
      this.#section = number;
      await this.#add(bytes);
    }
    await this.#flush();
    this.#section = snapshotSections.end;
    await this.#add(new Uint8Array([0]));
    await this.#flush();
    await this.#file.sync();
    return this.#end;
  }

  async #add(bytes: Uint8Array): Promise<void> {
    let from = 0;
    while (from < bytes.length) {
      const part = bytes.subarray(from, from + this.#payload.length - this.#filled);
      this.#payload.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === this.#payload.length) await this.#flush();
    }
  }

  async #flush(): Promise<void> {
    if (this.#filled === 0) return;
    const { salt, historyId, epoch } = this.#header;
    const frame = { flags: 0, historyId, epoch, firstSequence: ++this.#frames, count: this.#section };
    const payload = this.#payload.subarray(0, this.#filled);
    this.#filled = 0;
    await this.#put(encodeFrame(salt, this.#end, frame, [payload], this.#sealer, this.#room));
  }

  async #put(bytes: Uint8Array): Promise<void> {
    await this.#file.write(bytes, this.#end);
    this.#end += bytes.length;
    this.#unsynced += bytes.length;
    if (this.#unsynced < SYNC_BYTES) return;
    await this.#file.sync();
    this.#unsynced = 0;
  }
}
