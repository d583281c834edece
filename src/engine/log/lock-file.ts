/**
 * lock.json: the first lock number to check, and the holder of the folder.
 *
 * Invariant: only the holder writes it, atomically (by rename) and one write after another, so `next` never decreases
 * while the folder is held. It does not decide who holds the lock; the sockets do (lock.ts).
 */
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from './backend.ts';
import { identityAt } from './file-backend.ts';

/** The holder of a folder. */
export interface LockOwner {
  readonly pid: number;
  /** Address of its service; null until it listens. */
  readonly address: string | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** A held lock. */
export interface FolderLock {
  /** Publishes the address of this process's service, for the message of a second process. */
  announce(address: string): Promise<void>;
  /** Releases the folder. May be called again. */
  release(): Promise<void>;
}

export interface LockOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Receives warnings for the operator, in plain language. Must not throw. */
  readonly onWarn: (message: string) => void;
}

/** The contents of lock.json. Numbers below `next` are retired; `owner` null: no process holds the folder. */
interface LockFile {
  readonly next: number;
  readonly owner: LockOwner | null;
}

const LOCK_FILE = 'lock.json';
const NOBODY = { pid: null, address: null, startedAt: null };

/** This process as a lock holder: what it says on its socket and in lock.json. */
export class LockHolder {
  readonly root: string;
  readonly #onWarn: (message: string) => void;
  #owner: LockOwner;
  #number = 0;
  /** Identity of the folder when it was first written to. */
  #folder: string | null = null;
  #ended: Promise<void> | null = null;
  /** Writes of lock.json run one after another; an earlier one that finished later would turn `next` back. */
  #writing: Promise<boolean> = Promise.resolve(true);

  constructor(root: string, options: LockOptions) {
    this.root = root;
    this.#onWarn = options.onWarn;
    this.#owner = { pid: process.pid, address: null, startedAt: options.now() };
  }

  answer(): string {
    return JSON.stringify(this.#owner);
  }

  /** The lock, once the folder is held; `end` releases it. */
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

  /** Records that this process holds the folder under this number. False: it could not be written. */
  write(number: number): Promise<boolean> {
    this.#number = number;
    return this.#enqueue({ next: number, owner: this.#owner });
  }

  /** Records that no process holds the folder and that this number is retired. False: it could not be written. */
  retire(number: number): Promise<boolean> {
    return this.#enqueue({ next: number + 1, owner: null });
  }

  #enqueue(file: LockFile): Promise<boolean> {
    this.#writing = this.#writing.then(() => this.#put(file));
    return this.#writing;
  }

  /** The sockets are the lock and lock.json only assists, so a full disk must not prevent a start. */
  async #put(file: LockFile): Promise<boolean> {
    // Another folder at this path may be another service's.
    this.#folder ??= await identityAt(this.root);
    if ((await identityAt(this.root)) !== this.#folder) return false;
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

/** Reads lock.json; returns the initial state if it is absent, or empty after a power cut. */
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

/** Parses the owner from a line of JSON; null: none. */
export function parseOwner(text: string): LockOwner | null {
  const value = parseObject(text);
  const pid = value?.['pid'];
  const address = value?.['address'];
  const startedAt = value?.['startedAt'];
  if (typeof pid !== 'number' || typeof startedAt !== 'number') return null;
  return { pid, address: typeof address === 'string' ? address : null, startedAt };
}

/** A temporary name for a file or socket that is not ready yet. */
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
