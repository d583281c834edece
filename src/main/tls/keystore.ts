import type { KeyObject, X509Certificate } from 'node:crypto';

export interface KeystoreKey {
  /** The name in the store; empty if it has none. */
  readonly alias: string;
  readonly key: KeyObject;
}

/** The contents of a key store, in its order. */
export interface Keystore {
  readonly keys: readonly KeystoreKey[];
  readonly certificates: readonly X509Certificate[];
}

const maxKeys = 100;
/** Java's own store of authorities has 150. */
const maxCertificates = 500;

/** Throws a KeystoreProblem if there are more keys or certificates than any real store has. */
export function requireModest({ keys, certificates }: Keystore): void {
  if (keys.length > maxKeys) throw new KeystoreProblem('file', `which has more than ${maxKeys} private keys`);
  if (certificates.length > maxCertificates)
    throw new KeystoreProblem('file', `which has more than ${maxCertificates} certificates`);
}

/** Without a checksum the two cannot be told apart. */
export const wrongPassword = 'the password is wrong, or the file is damaged';

/**
 * What is wrong with a key store: its file, or the password for it. `message` contains no secret. About a file it
 * continues after the file's name ("which is empty"); about a password it is a whole sentence.
 */
export class KeystoreProblem extends Error {
  readonly about: 'file' | 'password';

  constructor(about: 'file' | 'password', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeystoreProblem';
    this.about = about;
  }
}
