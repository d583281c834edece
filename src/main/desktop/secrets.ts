/**
 * Secrets of the desktop application, encrypted by the system's own store: `secrets.json` in the user-data folder, mode
 * 0600.
 *
 * If the system has no store they stay in memory until the program ends, and are never written in the clear. A secret
 * that cannot be decrypted counts as absent and stays in the file: the store may only be locked. A store may also wait
 * for its password, for as long as the user likes: then the caller decides whether to go on without it.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SecretPlace } from '../../desktop-contract/channels.ts';

/** The part of the system's store that is used here. */
export interface Vault {
  isAvailable(): Promise<boolean>;
  encrypt(text: string): Promise<Buffer>;
  /** `isStale`: the store has a new key, and the text has to be encrypted again. */
  decrypt(bytes: Buffer): Promise<{ text: string; isStale: boolean }>;
}

/** The secrets by name. */
export class Secrets {
  readonly place: SecretPlace;
  readonly #file: string;
  readonly #vault: Vault;
  readonly #plain = new Map<string, string>();
  #encrypted: ReadonlyMap<string, string>;
  /** Serializes writes: the last one requested is the last one in the file. */
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(
    file: string,
    vault: Vault,
    place: SecretPlace,
    encrypted: ReadonlyMap<string, string>,
  ) {
    this.#file = file;
    this.#vault = vault;
    this.place = place;
    this.#encrypted = encrypted;
  }

  /**
   * Reads the file. Calls `warn`, without any secret, if something cannot be read or decrypted. Once `without` is
   * aborted, the store is no longer waited for and the secrets last for this session.
   */
  static async open(
    file: string,
    vault: Vault,
    warn: (message: string) => void,
    without: AbortSignal = new AbortController().signal,
  ): Promise<Secrets> {
    const isAvailable = vault.isAvailable().catch((error: unknown) => {
      warn(`the system's store for secrets cannot be used: ${String(error)}`);
      return false;
    });
    const encrypted = readEncrypted(file, warn);
    const opened = isAvailable.then(async (isThere) => {
      const secrets = new Secrets(file, vault, isThere ? 'kept' : 'session', encrypted);
      if (isThere) await secrets.#decryptAll(warn, without);
      return secrets;
    });
    const givenUp = new Promise<Secrets>((resolve) => {
      const giveUp = () => resolve(new Secrets(file, vault, 'session', encrypted));
      if (without.aborted) giveUp();
      else without.addEventListener('abort', giveUp, { once: true });
    });
    return Promise.race([opened, givenUp]);
  }

  get(name: string): string | null {
    return this.#plain.get(name) ?? null;
  }

  /** Stores a secret, or deletes it. Rejects if the system's store or the file fails; the secret is not stored then. */
  put(name: string, secret: string | null): Promise<void> {
    const write = this.#lastWrite.then(() => this.#put(name, secret));
    // The next write waits for this one, but must not fail because of it; its own caller gets the failure.
    this.#lastWrite = write.catch(() => undefined);
    return write;
  }

  async #put(name: string, secret: string | null): Promise<void> {
    const next = new Map(this.#encrypted);
    // Without a store the value in the file is outdated, so it is removed.
    if (secret === null || this.place === 'session') next.delete(name);
    else next.set(name, (await this.#vault.encrypt(secret)).toString('base64'));
    if (next.get(name) !== this.#encrypted.get(name)) writeEncrypted(this.#file, next);
    this.#encrypted = next;
    if (secret === null) this.#plain.delete(name);
    else this.#plain.set(name, secret);
  }

  async #decryptAll(warn: (message: string) => void, without: AbortSignal): Promise<void> {
    const found = this.#encrypted;
    for (const [name, encrypted] of found)
      try {
        const { text, isStale } = await this.#vault.decrypt(Buffer.from(encrypted, 'base64'));
        // These secrets are nobody's any more, and must not write over those of the session.
        if (without.aborted) return;
        this.#plain.set(name, text);
        if (isStale) await this.put(name, text);
      } catch (error) {
        warn(`the secret “${name}” cannot be read from the system's store: ${String(error)}`);
      }
  }
}

/** What to do about a store that makes the start wait. */
export type WithoutStore = 'without' | 'quit';

interface LateStore {
  /** Resolves when the wait has become long. */
  readonly isLate: Promise<unknown>;
  /** Asks the user; `signal` withdraws the question when the store answers after all. */
  readonly ask: (signal: AbortSignal) => Promise<WithoutStore>;
}

/**
 * Opens the secrets by `open`, and asks the user if that takes long: a keyring waits for its password. Returns null if
 * the user quits. `isWithout`: the user goes on without the store.
 */
export async function openOrAsk(
  open: (without: AbortSignal) => Promise<Secrets>,
  { isLate, ask }: LateStore,
): Promise<{ secrets: Secrets; isWithout: boolean } | null> {
  const without = new AbortController();
  const answered = new AbortController();
  const secrets = open(without.signal);
  const first = await Promise.race([secrets, isLate.then(() => null)]);
  if (first !== null) return { secrets: first, isWithout: false };
  const decision = ask(answered.signal);
  const answer = await Promise.race([secrets, decision]);
  if (answer instanceof Secrets) {
    answered.abort();
    return { secrets: answer, isWithout: false };
  }
  without.abort();
  return answer === 'quit' ? null : { secrets: await secrets, isWithout: true };
}

function readEncrypted(file: string, warn: (message: string) => void): Map<string, string> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value !== 'object' || value === null) throw new Error('it holds no object');
    const entries = Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return new Map(entries);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      warn(`${file} cannot be read: ${String(error)}`);
    return new Map();
  }
}

function writeEncrypted(file: string, entries: ReadonlyMap<string, string>): void {
  const draft = `${file}.new`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
