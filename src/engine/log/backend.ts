/**
 * The seam between the log and the world: the few file operations that durability is made of.
 *
 * Everything above it (codec, recovery, log) is the same on a disk, in memory, and under a simulated power cut.
 * An implementation keeps one promise: what a file held when its `sync` resolved, and which names the folder had
 * when `syncDirectory` resolved, survive a power cut; of everything later any part may survive, or none. A failed
 * operation rejects with an error whose `code` is the system's (ENOSPC, EIO, ENOENT, …), and a failed `write` may
 * have written a part. Serialising the calls on one file is the caller's business.
 */
export interface StorageBackend {
  /** Names of the files in the folder, sorted. */
  list(): Promise<string[]>;
  /** Makes a new, empty file, open for reading and writing. Rejects with EEXIST where the name is taken. */
  create(name: string): Promise<StorageFile>;
  /** Opens a file that exists; `read` changes nothing, `write` may truncate and write too. */
  open(name: string, access: 'read' | 'write'): Promise<StorageFile>;
  /** Gives a file another name, in place of a file that had it. */
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes the names durable: what was created, renamed and removed. */
  syncDirectory(): Promise<void>;
  /** Where a file is, in words for people: a path, or a name in memory. */
  location(name: string): string;
}

/** An open file. Positions and sizes are bytes from its start. */
export interface StorageFile {
  size(): Promise<number>;
  /** Fills `target` from `position` on and says how many bytes there were: fewer only at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>;
  /** Writes the whole of `data` at `position`, or rejects with a part of it written. */
  write(data: Uint8Array, position: number): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Makes contents and size durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** An error as the system reports it, for backends that are not the system. */
export function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

/** The system's code of an error a backend rejected with, or '' where it has none. */
export function systemErrorCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
