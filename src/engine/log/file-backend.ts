/**
 * The folder on disk, through node:fs.
 *
 * It retries nothing: system errors are passed on, and the log decides what they mean. It knows the folder that it was
 * opened on, so that nothing is created, renamed or removed in another one at its path. Files are
 * created for their owner only. `sync` is fdatasync, which also makes the size durable; a folder is synced through its
 * own descriptor, which Windows neither offers nor needs.
 */
import fs from 'node:fs';
import { mkdir, readdir, rename, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemError, systemErrorCode, type StorageBackend, type StorageFile } from './backend.ts';
import { StartupError } from './startup-error.ts';

/** The backend of a folder; creates the folder and its parents if needed. Rejects with a StartupError if that fails. */
export async function openFileBackend(folder: string): Promise<StorageBackend> {
  const root = resolve(folder);
  await makeFolder(root);
  return existingFolder(root);
}

/** The backend of a folder that is there, for whoever must not create one. */
export async function existingFolder(folder: string): Promise<StorageBackend> {
  const root = resolve(folder);
  const opened = await identityAt(root);
  const inPlace = async (): Promise<void> => {
    if ((await identityAt(root)) !== opened) throw elsewhere(root);
  };
  return {
    list: async () => {
      const entries = await readdir(root, { withFileTypes: true });
      // Symbolic links count as files; otherwise a linked log would be overlooked and begun anew.
      return entries
        .filter((entry) => entry.isFile() || entry.isSymbolicLink())
        .map((entry) => entry.name)
        .sort();
    },
    create: async (name) => {
      await inPlace();
      return storageFile(await openDescriptor(join(root, name), 'wx+'));
    },
    open: async (name, access) =>
      storageFile(await openDescriptor(join(root, name), access === 'read' ? 'r' : 'r+')),
    rename: async (from, to) => {
      await inPlace();
      await rename(join(root, from), join(root, to));
    },
    remove: async (name) => {
      await inPlace();
      await unlink(join(root, name));
    },
    syncDirectory: () => syncFolder(root),
    location: (name) => join(root, name),
    identityOf: (name) => identityAt(join(root, name)),
  };
}

/** Device and inode of what is at the path; null: nothing. */
export function identityAt(path: string): Promise<string | null> {
  return new Promise((done, fail) => {
    fs.stat(path, { bigint: true }, (error, found) => {
      if (error === null) done(identityIn(found));
      else if (error.code === 'ENOENT' || error.code === 'ENOTDIR') done(null);
      else fail(error);
    });
  });
}

function identityIn({ dev, ino }: fs.BigIntStats): string {
  return `${dev}:${ino}`;
}

/** The error of a change in a folder that is not the one at its path any more. */
function elsewhere(root: string): Error {
  return systemError('ESTALE', `${root} is not the folder that was opened`);
}

async function makeFolder(root: string): Promise<void> {
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = systemErrorCode(error);
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file is in its place' : code;
    const message = `The storage folder ${root} cannot be created: ${why}. Choose another STORAGE_DIR, or grant access to this one.`;
    throw new StartupError(message, {}, { cause: error });
  }
}

function storageFile(descriptor: number): StorageFile {
  return {
    size: () =>
      new Promise((done, fail) =>
        fs.fstat(descriptor, (error, stats) => (error ? fail(error) : done(stats.size))),
      ),
    read: async (target, position) => {
      let filled = 0;
      while (filled < target.length) {
        const count = await readSome(descriptor, target, filled, position + filled);
        if (count === 0) break;
        filled += count;
      }
      return filled;
    },
    write: async (data, position) => {
      let written = 0;
      while (written < data.length) {
        const count = await writeSome(descriptor, data, written, position + written);
        if (count === 0) throw systemError('EIO', 'the system wrote nothing');
        written += count;
      }
    },
    truncate: (size) => settled((done) => fs.ftruncate(descriptor, size, done)),
    sync: () => settled((done) => fs.fdatasync(descriptor, done)),
    identity: () =>
      new Promise((done, fail) =>
        fs.fstat(descriptor, { bigint: true }, (error, found) =>
          error === null ? done(identityIn(found)) : fail(error),
        ),
      ),
    close: () => settled((done) => fs.close(descriptor, done)),
  };
}

// The callback API costs a third of the promise API's file handles, and these two calls are on the path of every write.
function readSome(descriptor: number, target: Uint8Array, offset: number, position: number): Promise<number> {
  return new Promise((done, fail) => {
    fs.read(descriptor, target, offset, target.length - offset, position, (error, count) =>
      error ? fail(error) : done(count),
    );
  });
}

function writeSome(descriptor: number, data: Uint8Array, offset: number, position: number): Promise<number> {
  return new Promise((done, fail) => {
    fs.write(descriptor, data, offset, data.length - offset, position, (error, count) =>
      error ? fail(error) : done(count),
    );
  });
}

function openDescriptor(path: string, flags: string): Promise<number> {
  return new Promise((done, fail) => {
    fs.open(path, flags, 0o600, (error, descriptor) => (error ? fail(error) : done(descriptor)));
  });
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const descriptor = await openDescriptor(folder, 'r');
  try {
    await settled((done) => fs.fsync(descriptor, done));
  } finally {
    await settled((done) => fs.close(descriptor, done));
  }
}

function settled(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((done, fail) => start((error) => (error ? fail(error) : done())));
}
