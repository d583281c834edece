import type { KeyObject, X509Certificate } from 'node:crypto';

export interface KeystoreKey {
  /** The name in the store; empty where it has none. */
  readonly alias: string;
  readonly key: KeyObject;
}

/** What a key store holds, in its order. */
export interface Keystore {
  readonly keys: readonly KeystoreKey[];
  readonly certificates: readonly X509Certificate[];
}
