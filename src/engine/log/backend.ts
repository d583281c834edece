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
  /** A file's location for messages: a path, or a name in memory; '' is the folder. */
  location(name: string): string;
  /**
   * What is at a file's location now, '' for the folder: a value that no other file has; null: nothing. Absent where
   * nobody else can move files. A folder that was moved, removed or replaced rejects changes of names with ESTALE.
   */
  identityOf?(name: string): Promise<string | null>;
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
  /** The file's own value of `StorageBackend.identityOf`, wherever it is; absent beside that. */
  identity?(): Promise<string>;
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

/**
 * In-memory files, for tests and for engines without storage. They count syncs, since group commit exists to save them.
 */
export interface MemoryBackend extends StorageBackend {
  /** Number of file syncs and of directory syncs. */
  readonly counts: { syncs: number; directorySyncs: number };
  /** A copy of a file's bytes. Throws ENOENT. */
  contents(name: string): Uint8Array;
  /** Stores a file, replacing one of that name. */
  put(name: string, bytes: Uint8Array): void;
}

/** Creates a backend, optionally with these files. */
export function memoryBackend(files: ReadonlyMap<string, Uint8Array> = new Map()): MemoryBackend {
  const stored = new Map<string, GrowingBytes>();
  for (const [name, bytes] of files) stored.set(name, new GrowingBytes(bytes));
  const counts = { syncs: 0, directorySyncs: 0 };
  const find = (name: string): GrowingBytes => {
    const bytes = stored.get(name);
    if (bytes === undefined) throw systemError('ENOENT', `no file ${name}`);
    return bytes;
  };
  return {
    counts,
    contents: (name) => find(name).copy(),
    put: (name, bytes) => void stored.set(name, new GrowingBytes(bytes)),
    list: async () => [...stored.keys()].sort(),
    create: async (name) => {
      if (stored.has(name)) throw systemError('EEXIST', `${name} exists`);
      const bytes = new GrowingBytes(new Uint8Array(0));
      stored.set(name, bytes);
      return memoryFile(bytes, 'write', counts);
    },
    open: async (name, access) => memoryFile(find(name), access, counts),
    rename: async (from, to) => {
      const bytes = find(from);
      stored.delete(from);
      stored.set(to, bytes);
    },
    remove: async (name) => {
      find(name);
      stored.delete(name);
    },
    syncDirectory: async () => void counts.directorySyncs++,
    location: (name) => `memory:${name}`,
  };
}

function memoryFile(bytes: GrowingBytes, access: 'read' | 'write', counts: { syncs: number }): StorageFile {
  let open = true;
  const check = (wanted: 'read' | 'write'): void => {
    if (!open) throw systemError('EBADF', 'the file is closed');
    if (wanted === 'write' && access === 'read') throw systemError('EBADF', 'the file is open for reading');
  };
  return {
    size: async () => {
      check('read');
      return bytes.length;
    },
    read: async (target, position) => {
      check('read');
      return bytes.read(target, position);
    },
    write: async (data, position) => {
      check('write');
      bytes.write(data, position);
    },
    truncate: async (size) => {
      check('write');
      bytes.resize(size);
    },
    sync: async () => {
      check('read');
      counts.syncs++;
    },
    close: async () => {
      open = false;
    },
  };
}

/** The bytes of one file. Capacity grows by doubling; bytes beyond the length are zero, as in a sparse file. */
export class GrowingBytes {
  #room: Uint8Array;
  #length: number;

  constructor(initial: Uint8Array) {
    this.#room = initial.slice();
    this.#length = initial.length;
  }

  get length(): number {
    return this.#length;
  }

  copy(): Uint8Array {
    return this.#room.slice(0, this.#length);
  }

  read(target: Uint8Array, position: number): number {
    const part = this.#room.subarray(
      Math.min(position, this.#length),
      Math.min(position + target.length, this.#length),
    );
    target.set(part);
    return part.length;
  }

  write(data: Uint8Array, position: number): void {
    this.resize(Math.max(this.#length, position + data.length));
    this.#room.set(data, position);
  }

  resize(size: number): void {
    if (size > this.#room.length) {
      const room = new Uint8Array(Math.max(size, this.#room.length * 2));
      room.set(this.#room.subarray(0, this.#length));
      this.#room = room;
    }
    if (size < this.#length) this.#room.fill(0, size, this.#length);
    this.#length = size;
  }
}
