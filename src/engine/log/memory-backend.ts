/**
 * In-memory files, for tests and for engines without storage.
 *
 * They follow the contract of StorageBackend exactly (EEXIST, ENOENT, reads that end at the end of the file) and count
 * syncs, since group commit exists to save them.
 */
import { systemError, type StorageBackend, type StorageFile } from './backend.ts';

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
