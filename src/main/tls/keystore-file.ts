/**
 * The key store on disk: read at the start, and again whenever its content has changed.
 *
 * Every few seconds the file is read whole and compared by its bytes, so that it does not matter how it was replaced:
 * in place, by renaming, or by a link that points elsewhere. What cannot be used, such as a file that is half written,
 * leaves the certificate as it was; it is told once, until one can be used again. Nothing of a key or of the password
 * is in a message.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { type ServerCertificate, readServerCertificate } from './certificate.ts';
import { KeystoreProblem } from './keystore.ts';

/** A key store with a long chain has a few KiB, Java's own of all authorities 200. */
const maxFileBytes = 512 * 1024;

/** Rejects with a KeystoreProblem where it is no file, is too long, or cannot be read. */
async function readKeystoreFile(path: string): Promise<Buffer> {
  try {
    // Opening a pipe would wait for its other end.
    const found = await stat(path);
    if (!found.isFile()) throw new KeystoreProblem('file', 'which is no file');
    if (found.size > maxFileBytes)
      throw new KeystoreProblem('file', `which is longer than a key store can be (${maxFileBytes} bytes)`);
    return await readFile(path);
  } catch (error) {
    if (error instanceof KeystoreProblem || !(error instanceof Error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'which is not there' : `which cannot be read (${code ?? 'unknown'})`;
    throw new KeystoreProblem('file', reason, { cause: error });
  }
}

export interface KeystoreSettings {
  readonly tlsKeystorePath: string;
  readonly tlsKeystorePassword: string | null;
}

/** The problem as a line about the variable that it concerns; of the password it says the length alone. */
export function complaintOf({ about, message }: KeystoreProblem, settings: KeystoreSettings): string {
  const { tlsKeystorePath, tlsKeystorePassword } = settings;
  if (about === 'file') return `TLS_KEYSTORE_PATH: got ${JSON.stringify(tlsKeystorePath)}, ${message}`;
  const got = tlsKeystorePassword === null ? 'nothing' : `${tlsKeystorePassword.length} characters`;
  return `TLS_KEYSTORE_PASSWORD: got ${got} for ${JSON.stringify(tlsKeystorePath)}: ${message}`;
}

interface KeystoreObserver {
  /** The file has another certificate now, or a new key. */
  changed(certificate: ServerCertificate): void;
  /** What is in the file now cannot be used; told once until something can be. */
  failed(problem: KeystoreProblem): void;
}

export class KeystoreFile {
  readonly #settings: KeystoreSettings;
  /** Of the content that was looked at last, usable or not. */
  #digest = '';
  #isUsable = false;
  #isTold = false;

  constructor(settings: KeystoreSettings) {
    this.#settings = settings;
  }

  /** The first reading. Rejects with a KeystoreProblem. */
  async load(): Promise<ServerCertificate> {
    return this.#take(await readKeystoreFile(this.#settings.tlsKeystorePath));
  }

  /** Looks once whether the content has changed. Never two at a time. */
  async look(observer: KeystoreObserver): Promise<void> {
    try {
      const bytes = await readKeystoreFile(this.#settings.tlsKeystorePath);
      if (digestOf(bytes) !== this.#digest) observer.changed(await this.#take(bytes));
      if (this.#isUsable) this.#isTold = false;
    } catch (error) {
      if (!(error instanceof KeystoreProblem)) throw error;
      if (!this.#isTold) observer.failed(error);
      this.#isTold = true;
    }
  }

  async #take(bytes: Buffer): Promise<ServerCertificate> {
    // The same content would come to the same end, so it is tried once.
    this.#digest = digestOf(bytes);
    this.#isUsable = false;
    const certificate = await readServerCertificate(bytes, this.#settings.tlsKeystorePassword ?? '');
    this.#isUsable = true;
    return certificate;
  }
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64');
}
