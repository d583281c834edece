/**
 * The key store on disk: read at the start, and again whenever its content has changed.
 *
 * Every few seconds the whole file is read and compared by its bytes, so it does not matter how it is replaced: in
 * place, by renaming, or by changing a link. If the file is unusable, such as half written, the current certificate
 * stays; that is reported once, until the file is usable again. No message contains anything of a key or of the
 * password.
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { type ServerCertificate, readServerCertificate } from './certificate.ts';
import { KeystoreProblem } from './keystore.ts';

/** A key store with a long chain has a few KiB, Java's own store of all authorities 200. */
const maxFileBytes = 512 * 1024;

/** Rejects with a KeystoreProblem if it is not a file, is too long, or cannot be read. */
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

/** The problem as a line about the variable that it concerns; of the password it gives only the length. */
export function complaintOf({ about, message }: KeystoreProblem, settings: KeystoreSettings): string {
  const { tlsKeystorePath, tlsKeystorePassword } = settings;
  if (about === 'file') return `TLS_KEYSTORE_PATH: got ${JSON.stringify(tlsKeystorePath)}, ${message}`;
  const got = tlsKeystorePassword === null ? 'nothing' : `${tlsKeystorePassword.length} characters`;
  return `TLS_KEYSTORE_PASSWORD: got ${got} for ${JSON.stringify(tlsKeystorePath)}: ${message}`;
}

interface KeystoreObserver {
  /** The file has another certificate, or a new key. */
  changed(certificate: ServerCertificate): void;
  /** The file is unusable; reported once until it is usable again. */
  failed(problem: KeystoreProblem): void;
}

/** Reads the file and detects changes. */
export class KeystoreFile {
  readonly #settings: KeystoreSettings;
  /** Digest of the last content, usable or not. */
  #digest = '';
  #isUsable = false;
  #isTold = false;

  constructor(settings: KeystoreSettings) {
    this.#settings = settings;
  }

  /** Reads it for the first time. Rejects with a KeystoreProblem. */
  async load(): Promise<ServerCertificate> {
    return this.#take(await readKeystoreFile(this.#settings.tlsKeystorePath));
  }

  /** Checks once whether the content has changed. Never concurrently. */
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
    // The same content would fail again, so it is tried once.
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
