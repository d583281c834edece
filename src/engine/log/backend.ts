/**
 * The storage interface: the few file operations that durability depends on.
 *
 * Everything above it (codec, recovery, log) runs unchanged on a disk, in memory, and under simulated power cuts. An
 * implementation guarantees that a file's contents when its `sync` resolved, and the folder's names when
 * `syncDirectory` resolved, survive a power cut; of later changes, any part may survive, or none. A failed operation
 * rejects with an error whose `code` is the system's (ENOSPC, EIO, ENOENT, …), and a failed `write` may have written a
 * part. The caller serialises the calls on one file.
 */
export interface StorageBackend {
  /** Names of the files in the folder, sorted. */
  list(): Promise<string[]>;
  /** Creates an empty file, open for reading and writing. Rejects with EEXIST if the name is taken. */
  create(name: string): Promise<StorageFile>;
  /** Opens an existing file; with `write` it may also be written and truncated. */
  open(name: string, access: 'read' | 'write'): Promise<StorageFile>;
  /** Renames a file, replacing a file of that name. */
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes name changes durable: files created, renamed and removed. */
  syncDirectory(): Promise<void>;
  /** A file's location for messages: a path, or a name in memory. */
  location(name: string): string;
}

/** An open file. Positions and sizes are bytes from its start. */
export interface StorageFile {
  size(): Promise<number>;
  /** Fills `target` from `position` on; returns the number of bytes read, fewer only at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>;
  /** Writes all of `data` at `position`, or rejects with a part of it written. */
  write(data: Uint8Array, position: number): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Makes contents and size durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** An error like the system's, for backends that are not the system. */
export function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

/** The system's code of a backend's error; '' if it has none. */
export function systemErrorCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
