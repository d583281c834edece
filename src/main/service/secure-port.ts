/**
 * The port for HTTPS: the key store, the server in front of the application, and the watch over the key store's file.
 *
 * The key store is read before anything listens, so a wrong password leaves nothing half open. Later, an unusable
 * certificate never replaces a usable one.
 */
import type { Config } from '../base/config.ts';
import type { HttpApp } from '../http/app.ts';
import type { SecureServer } from '../http/secure-server.ts';
import { listenFailure } from '../base/start-failure.ts';
import { StartRefusal } from '../base/start-refusal.ts';
import type { Logger } from '../telemetry/logger.ts';
import {
  describeCertificate,
  outOfTime,
  readServerCertificate,
  type ServerCertificate,
} from '../tls/certificate.ts';
import { KeystoreProblem } from '../tls/keystore.ts';
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

export interface SecurePort {
  /** The host to which it is bound. */
  readonly host: string;
  readonly port: number;
  /** Accepts no more connections; resolves when the last one has ended. */
  close(): Promise<void>;
  /** Cuts all connections. */
  cut(): void;
}

interface SecurePortParts {
  readonly settings: KeystoreSettings & Pick<Config, 'host' | 'tlsPort'>;
  readonly log: Logger;
  /** Milliseconds between two checks of the key store's file. */
  readonly pollMs: number;
}

/** A key store that has been read, for an application. */
export interface OpenedKeystore {
  /** Listens for HTTPS in front of the application. Refuses with a StartRefusal. */
  listen(http: HttpApp): Promise<SecurePort>;
}

/** Reads the key store. Refuses with a StartRefusal that names the variable. */
export async function openSecurePort({ settings, log, pollMs }: SecurePortParts): Promise<OpenedKeystore> {
  const file = new KeystoreFile(settings);
  const certificate = await load(file, settings);
  tell(log, certificate, 'TLS certificate');
  if (certificate.otherKeys > 0)
    log.info(
      { alias: certificate.alias, others: certificate.otherKeys },
      'the key store has several private keys: the first by name that has a certificate is taken',
    );
  return {
    async listen(http) {
      const server = http.secureServer(certificate.secrets);
      const { host, tlsPort } = settings;
      const bound = await server.listen(host, tlsPort).catch((error: unknown) => {
        throw listenFailure(error, host, tlsPort, 'TLS_PORT');
      });
      const stop = watch(file, server, { settings, log, pollMs });
      return {
        host: bound.address,
        port: bound.port,
        close() {
          stop();
          return server.close();
        },
        cut: () => server.cut(),
      };
    },
  };
}

async function load(file: KeystoreFile, settings: KeystoreSettings): Promise<ServerCertificate> {
  try {
    return await file.load();
  } catch (error) {
    if (!(error instanceof KeystoreProblem)) throw error;
    throw new StartRefusal('configuration', complaintOf(error, settings), { cause: error });
  }
}

/** Checks the file at intervals; returns a function that ends it. */
function watch(
  file: KeystoreFile,
  server: SecureServer,
  { settings, log, pollMs }: SecurePortParts,
): () => void {
  let timer: NodeJS.Timeout;
  let isOver = false;
  const look = async (): Promise<void> => {
    await file.look({
      changed(certificate) {
        server.replaceCertificate(certificate.secrets);
        tell(log, certificate, 'the key store has changed: new connections get its TLS certificate');
      },
      failed(problem) {
        log.warn(
          { reason: complaintOf(problem, settings) },
          'the key store has changed and cannot be used: the TLS certificate stays, and the file is looked at again',
        );
      },
    });
    if (!isOver) next();
  };
  const next = (): void => {
    timer = setTimeout(() => {
      look().catch((error: unknown) => {
        log.error({ err: error }, 'a bug: the key store is no longer checked');
      });
    }, pollMs).unref();
  };
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

function tell(log: Logger, certificate: ServerCertificate, message: string): void {
  log.info(describeCertificate(certificate), message);
  const problem = outOfTime(certificate, Date.now());
  if (problem !== null) log.warn(describeCertificate(certificate), problem);
}

/** A key store with a long chain has a few KiB, Java's own store of all authorities 200. */
const maxFileBytes = 512 * 1024;

/** Rejects with a KeystoreProblem if it is not a file, is too long, or cannot be read. */
async function readKeystoreFile(path: string): Promise<Buffer> {
  try {
    // Opening a pipe would wait for its other end.
    const found = await stat(path);
    if (!found.isFile()) throw new KeystoreProblem('file', 'which is not a file');
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

interface KeystoreSettings {
  readonly tlsKeystorePath: string;
  readonly tlsKeystorePassword: string | null;
}

/** The problem as a line about the variable that it concerns; of the password it gives only the length. */
function complaintOf({ about, message }: KeystoreProblem, settings: KeystoreSettings): string {
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

/**
 * The key store on disk: read at the start, and again whenever its content has changed.
 *
 * Every few seconds the whole file is read and compared by its bytes, so it does not matter how it is replaced: in
 * place, by renaming, or by changing a link. If the file is unusable, such as half written, the current certificate
 * stays; that is reported once, until the file is usable again. No message contains anything of a key or of the
 * password.
 */
class KeystoreFile {
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
