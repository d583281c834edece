import { createPrivateKey, X509Certificate } from 'node:crypto';
import { decrypt, type KeyEntry, parseJks, type TrustedKeyEntry } from 'jks-js';
import {
  KeystoreProblem,
  wrongPassword,
  type Keystore,
  type KeystoreKey,
  requireModest,
} from './keystore.ts';

/** Longer than any key that TLS can use; the time to recover a key grows with the square of its length. */
const maxKeyBytes = 65_536;

/** Reads a store in Java's older format. Throws a KeystoreProblem. */
export function openJks(bytes: Buffer, password: string): Keystore {
  // Without a password nothing would be verified, and a key requires one.
  if (password === '') throw new KeystoreProblem('password', 'a JKS key store has a password');
  const keys: KeystoreKey[] = [];
  const certificates: X509Certificate[] = [];
  for (const entry of entriesOf(bytes, password)) {
    if ('chain' in entry) {
      keys.push({ alias: entry.alias, key: keyOf(entry, password) });
      for (const { value } of entry.chain) certificates.push(certificateOf(value));
    } else certificates.push(certificateOf(entry.cert.value));
    requireModest({ keys, certificates });
  }
  return { keys, certificates };
}

function entriesOf(bytes: Buffer, password: string): (KeyEntry | TrustedKeyEntry)[] {
  try {
    return parseJks(bytes, password);
  } catch (error) {
    if (error instanceof Error && error.message === 'Password verification failed')
      throw new KeystoreProblem('password', wrongPassword);
    throw damaged();
  }
}

function keyOf({ protectedPrivateKey }: KeyEntry, password: string): KeystoreKey['key'] {
  if (protectedPrivateKey.length > maxKeyBytes) throw damaged();
  try {
    return createPrivateKey(decrypt(protectedPrivateKey, password));
  } catch (error) {
    if (error instanceof Error && error.message === 'Cannot recover key')
      throw new KeystoreProblem(
        'password',
        'it opens the key store and not the key in it; give the key the same password: keytool -keypasswd -keystore FILE -alias NAME',
      );
    // The reason may contain bytes of the key, so it is dropped.
    throw new KeystoreProblem('file', 'whose private key is damaged or of a kind that cannot be used here');
  }
}

function certificateOf(der: Uint8Array): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch (error) {
    throw new KeystoreProblem('file', 'which holds a damaged certificate', { cause: error });
  }
}

function damaged(): KeystoreProblem {
  return new KeystoreProblem('file', 'which is a damaged JKS key store');
}
