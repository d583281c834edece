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
import { describeCertificate, outOfTime, type ServerCertificate } from '../tls/certificate.ts';
import { complaintOf, KeystoreFile, type KeystoreSettings } from '../tls/keystore-file.ts';
import { KeystoreProblem } from '../tls/keystore.ts';

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
        log.error({ err: error }, 'a bug: the key store is no longer looked at');
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
