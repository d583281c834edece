/**
 * lock.json: from which number on to look for the holder of a folder, and who that is.
 *
 * Invariant: only the holder writes it, whole (by a rename) and one write after the other, so `next` never goes back
 * while anybody holds the folder. It decides nothing about who holds: the sockets do (lock.ts).
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from './backend.ts';

/** Who holds a folder. */
export interface LockOwner {
  readonly pid: number;
  /** Address of its service; null until it listens. */
  readonly address: string | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

export interface FolderLock {
  /** Says where the service of this process is, for the message a second process ends with. */
  announce(address: string): Promise<void>;
  /** Lets go of the folder. May be called again. */
  release(): Promise<void>;
}

export interface LockOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Told, in words for people, what an operator should know. Does not throw. */
  readonly onWarn: (message: string) => void;
}

/** What lock.json says. Numbers below `next` are of the past; `owner` is null where nobody holds the folder. */
export interface LockFile {
  readonly next: number;
  readonly owner: LockOwner | null;
}

const LOCK_FILE = 'lock.json';
const NOBODY = { pid: null, address: null, startedAt: null };

/** What this process says of itself, on its socket and in lock.json, while it holds a folder. */
export class LockHolder {
  readonly root: string;
  readonly #onWarn: (message: string) => void;
  #owner: LockOwner;
  #number = 0;
  #ended: Promise<void> | null = null;
  /** Writes of lock.json follow one another: an earlier one that lands later would turn `next` back. */
  #writing: Promise<boolean> = Promise.resolve(true);

  constructor(root: string, options: LockOptions) {
    this.root = root;
    this.#onWarn = options.onWarn;
    this.#owner = { pid: process.pid, address: null, startedAt: options.now() };
  }

  answer(): string {
    return JSON.stringify(this.#owner);
  }

  /** The lock, once the folder is held; `end` lets go of it. */
  lock(end: () => Promise<void>): FolderLock {
    return {
      announce: async (address) => {
        this.#owner = { ...this.#owner, address };
        if (this.#ended === null) await this.write(this.#number);
      },
      release: () => {
        this.#ended ??= end();
        return this.#ended;
      },
    };
  }

  /** Notes that this process holds the folder under the number. False where it could not be written. */
  write(number: number): Promise<boolean> {
    this.#number = number;
    return this.#enqueue({ next: number, owner: this.#owner });
  }

  /** Notes that nobody holds the folder, and that the number will not come back. False where it could not be. */
  retire(number: number): Promise<boolean> {
    return this.#enqueue({ next: number + 1, owner: null });
  }

  #enqueue(file: LockFile): Promise<boolean> {
    this.#writing = this.#writing.then(() => this.#put(file));
    return this.#writing;
  }

  /** The sockets are the lock; lock.json only helps. So a full disk is no reason not to start. */
  async #put(file: LockFile): Promise<boolean> {
    const draft = join(this.root, temporaryName());
    const text = JSON.stringify({ next: file.next, ...(file.owner ?? NOBODY) });
    try {
      await writeFile(draft, `${text}\n`, { mode: 0o600 });
      await rename(draft, join(this.root, LOCK_FILE));
      return true;
    } catch (error) {
      this.#onWarn(`${join(this.root, LOCK_FILE)} could not be written: ${String(error)}`);
      return false;
    }
  }
}

/** What lock.json says; the beginning of all where there is none, or a power cut left it empty. */
export async function readLockFile(root: string): Promise<LockFile> {
  try {
    const text = await readFile(join(root, LOCK_FILE), 'utf8');
    const next = parseObject(text)?.['next'];
    return {
      next: typeof next === 'number' && Number.isSafeInteger(next) && next > 0 ? next : 1,
      owner: parseOwner(text),
    };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { next: 1, owner: null };
    throw error;
  }
}

/** The owner in a line of JSON, or null where it has none. */
export function parseOwner(text: string): LockOwner | null {
  const value = parseObject(text);
  const pid = value?.['pid'];
  const address = value?.['address'];
  const startedAt = value?.['startedAt'];
  if (typeof pid !== 'number' || typeof startedAt !== 'number') return null;
  return { pid, address: typeof address === 'string' ? address : null, startedAt };
}

/** A name for what is not finished, or has no name, yet. */
export function temporaryName(): string {
  return `lock-${randomBytes(6).toString('hex')}.tmp`;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
