/**
 * The exclusive lock of a storage folder.
 *
 * Invariant: at most one live process holds a folder, and a dead one never blocks it. A process holds the lock by
 * listening on a local socket, which closes when the process ends in any way. A dead socket stays dead, so holders are
 * numbered: a process takes number n only after it found n - 1 dead (or retired by lock.json), and it takes it with
 * link(), which the system grants once. The socket listens before it gets that name, so whoever sees the name finds it
 * alive. lock.json contains the first number to check and, for people, the holder.
 */
import { createHash } from 'node:crypto';
import { link, lstat, mkdir, mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from './backend.ts';
import {
  type FolderLock,
  LockHolder,
  type LockOptions,
  type LockOwner,
  parseOwner,
  readLockFile,
  temporaryName,
} from './lock-file.ts';
import { StartupError } from './startup-error.ts';

/** The folder of the sockets, and a short path to it that is valid until `done`. */
interface SocketFolder {
  readonly folder: string;
  readonly shortPath: string;
  readonly done: () => Promise<void>;
}

/** Below every system's limit for socket paths (104 bytes on macOS, 108 on Linux). */
const MAX_SOCKET_PATH_BYTES = 100;
const MAX_SOCKET_NAME_BYTES = 32;
/** Error codes of file systems without sockets, or without links to them. */
const NO_SOCKETS_HERE = new Set(['EOPNOTSUPP', 'ENOTSUP', 'EPERM', 'ENOSYS', 'EINVAL', 'EMLINK']);

/**
 * Locks an existing folder for this process. Rejects with a StartupError that names the live holder or says why the
 * folder cannot be locked.
 */
export async function lockFolder(folder: string, options: LockOptions): Promise<FolderLock> {
  try {
    const root = await realpath(folder);
    return process.platform === 'win32' ? await holdByPipe(root, options) : await holdBySocket(root, options);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === '' || error instanceof StartupError) throw error;
    throw new StartupError(
      `The storage folder ${folder} cannot be locked: ${code}. Check that it is writable.`,
      {},
      { cause: error },
    );
  }
}

async function holdBySocket(root: string, options: LockOptions): Promise<FolderLock> {
  const holder = new LockHolder(root, options);
  try {
    return await takeIn(root, holder);
  } catch (error) {
    if (!NO_SOCKETS_HERE.has(systemErrorCode(error))) throw error;
    return await takeIn(await fallbackFolder(root), holder);
  }
}

/** Takes the lock with sockets in this folder. */
async function takeIn(folder: string, holder: LockHolder): Promise<FolderLock> {
  const sockets = await shortPathTo(folder);
  try {
    const { number, server } = await takeNumber(sockets, holder);
    if (await holder.write(number)) await removeOthers(sockets.folder, holder.root, number);
    return holder.lock(async () => {
      // The name may become free only after lock.json has retired its number.
      if (await holder.retire(number)) await rm(join(folder, socketName(number)), { force: true });
      await closeServer(server);
    });
  } finally {
    await sockets.done();
  }
}

async function takeNumber(
  sockets: SocketFolder,
  holder: LockHolder,
): Promise<{ number: number; server: Server }> {
  for (;;) {
    const number = await firstFreeNumber(sockets, holder.root);
    const server = await claim(sockets, number, holder);
    if (server === null) continue;
    if ((await readLockFile(holder.root)).next <= number) return { number, server };
    // The number was taken, used and retired between the check and the claim.
    await rm(join(sockets.folder, socketName(number)), { force: true });
    await closeServer(server);
  }
}

/** The first free number from `next` on; all before it are dead. Throws if one is alive. */
async function firstFreeNumber(sockets: SocketFolder, root: string): Promise<number> {
  const file = await readLockFile(root);
  for (let number = file.next; ; number++) {
    const reading = await askSocket(join(sockets.shortPath, socketName(number)));
    if (reading.kind === 'absent') return number;
    if (reading.kind === 'alive') throw inUse(root, parseOwner(reading.text) ?? file.owner);
  }
}

/** Links a listening socket to the number's name; null: another process was faster. */
async function claim(sockets: SocketFolder, number: number, holder: LockHolder): Promise<Server | null> {
  const draft = temporaryName();
  const server = await listenAt(join(sockets.shortPath, draft), () => holder.answer());
  try {
    await link(join(sockets.folder, draft), join(sockets.folder, socketName(number)));
    return server;
  } catch (error) {
    await closeServer(server);
    // ENOENT: the faster process has removed our draft.
    const code = systemErrorCode(error);
    if (code === 'EEXIST' || code === 'ENOENT') return null;
    throw error;
  } finally {
    await rm(join(sockets.folder, draft), { force: true });
  }
}

/** Removes what dead processes left behind: sockets with lower numbers, and drafts. */
async function removeOthers(folder: string, root: string, number: number): Promise<void> {
  for (const place of new Set([folder, root])) {
    for (const name of await readdir(place)) {
      const found = /^lock-(\d+)\.sock$/.exec(name);
      const lower = found !== null && Number(found[1]) < number;
      if (lower || /^lock-[0-9a-f]+\.tmp$/.test(name)) await rm(join(place, name), { force: true });
    }
  }
}

async function holdByPipe(root: string, options: LockOptions): Promise<FolderLock> {
  const holder = new LockHolder(root, options);
  const path = pipeName(root);
  for (;;) {
    try {
      const server = await listenAt(path, () => holder.answer());
      await holder.write(1);
      return holder.lock(async () => {
        await holder.retire(0);
        await closeServer(server);
      });
    } catch (error) {
      if (systemErrorCode(error) !== 'EADDRINUSE') throw error;
      const reading = await askSocket(path);
      if (reading.kind === 'alive') throw inUse(root, parseOwner(reading.text));
    }
  }
}

/** The folder's named pipe on Windows, where file names ignore case. */
export function pipeName(root: string): string {
  return `\\\\.\\pipe\\corollary-${digest(root.toLowerCase())}`;
}

function inUse(root: string, owner: LockOwner | null): StartupError {
  const who = owner === null ? 'another process' : `process ${owner.pid}`;
  const where = owner === null || owner.address === null ? '' : ` at ${owner.address}`;
  return new StartupError(
    `The storage folder ${root} is in use by ${who}${where}. Stop that process, or choose another STORAGE_DIR.`,
    { holder: { address: owner?.address ?? null } },
  );
}

/** A path to the folder that leaves room for a socket's name: the folder itself, or a link in the temporary folder. */
async function shortPathTo(folder: string): Promise<SocketFolder> {
  const fits = (path: string): boolean =>
    Buffer.byteLength(path) + MAX_SOCKET_NAME_BYTES <= MAX_SOCKET_PATH_BYTES;
  if (fits(folder)) return { folder, shortPath: folder, done: async () => undefined };
  const base = fits(join(tmpdir(), 'corollary-123456/folder')) ? tmpdir() : '/tmp';
  // A private folder, since anybody could have created a link of that name in the shared one.
  const own = await mkdtemp(join(base, 'corollary-'));
  const shortPath = join(own, 'folder');
  await symlink(folder, shortPath);
  return { folder, shortPath, done: () => rm(own, { recursive: true, force: true }) };
}

/** The socket folder to use if the folder's file system has no sockets: in the temporary folder, for this user only. */
async function fallbackFolder(root: string): Promise<string> {
  const user = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `corollary-${user}-${digest(root)}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== user) {
    throw new StartupError(`The storage folder ${root} cannot be locked: ${folder} belongs to another user.`);
  }
  return folder;
}

function socketName(number: number): string {
  return `lock-${number}.sock`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * The sockets of the lock: a server that sends every caller one line of text and hangs up, and the call that checks for
 * one. Paths must fit the system's limit.
 */

/** The state of a socket name: absent, left by a dead process, or alive. */
type SocketReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'dead' }
  /** `text` is '' if the process did not answer in time: it is stopped or busy. */
  | { readonly kind: 'alive'; readonly text: string };

const ANSWER_TIMEOUT_MS = 1000;

/** Listens at `path` and sends every caller `answer()`. Does not keep the process alive. */
function listenAt(path: string, answer: () => string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      // A caller that hangs up early already has its answer, or wants none.
      socket.on('error', () => socket.destroy());
      socket.end(answer());
    });
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      server.unref();
      resolve(server);
    });
  });
}

/** Stops listening; resolves when closed. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Checks for a listener at `path`. If that cannot be determined (no permission to connect), counts as alive. */
function askSocket(path: string): Promise<SocketReading> {
  return new Promise((resolve) => {
    let text = '';
    let failure = '';
    const socket = connect(path);
    const timer = setTimeout(() => socket.destroy(), ANSWER_TIMEOUT_MS);
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.on('error', (error) => {
      failure = systemErrorCode(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      if (failure === 'ENOENT') resolve({ kind: 'absent' });
      else if (failure === 'ECONNREFUSED' || failure === 'ENOTSOCK') resolve({ kind: 'dead' });
      else resolve({ kind: 'alive', text });
    });
  });
}
