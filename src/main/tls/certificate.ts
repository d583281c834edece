/**
 * The TLS identity of the service: one private key of a key store, its certificate and the chain to a root.
 *
 * Of several keys it uses the first by name (by code point) that has a certificate. Whatever cannot work in a handshake
 * is refused here; a certificate outside its validity is not, since clients decide that themselves.
 */
import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import {
  type Keystore,
  type KeystoreKey,
  KeystoreProblem,
  requireModest,
  wrongPassword,
} from './keystore.ts';
import { openPkcs12 } from './pkcs12.ts';
import { decrypt, type KeyEntry, parseJks, type TrustedKeyEntry } from 'jks-js';

export interface ServerCertificate {
  /** Name of the key in the store; empty if it has none. */
  readonly alias: string;
  /** Number of other private keys in the store. */
  readonly otherKeys: number;
  /** The certificate first, then its issuers, as far as the store has them. */
  readonly chain: readonly [X509Certificate, ...X509Certificate[]];
  /** For `node:tls`, as PEM: the private key, and the chain. */
  readonly secrets: { readonly key: string; readonly cert: string };
}

const kindsForTls: ReadonlySet<string> = new Set(['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448']);

/** Maximum length of a chain. */
const maxChain = 20;

/** Reads the key and the certificates. Rejects with a KeystoreProblem. */
export async function readServerCertificate(bytes: Buffer, password: string): Promise<ServerCertificate> {
  const store = await openKeystore(bytes, password);
  if (store.keys.length === 0)
    throw new KeystoreProblem('file', 'which has no private key, only certificates of others');
  for (const { alias, key } of byAlias(store)) {
    const leaf = store.certificates.find((each) => belongs(each, key));
    if (leaf === undefined) continue;
    const chain = chainFrom(leaf, store.certificates);
    const secrets = {
      key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
      cert: chain.map((each) => each.toString()).join(''),
    };
    requireSigning(key, leaf);
    requireUsable(secrets);
    return { alias, otherKeys: store.keys.length - 1, chain, secrets };
  }
  throw new KeystoreProblem('file', 'in which no certificate belongs to the private key');
}

function byAlias({ keys }: Keystore): Keystore['keys'] {
  return [...keys].sort((a, b) => Buffer.compare(Buffer.from(a.alias), Buffer.from(b.alias)));
}

function belongs(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    // Comparison throws for kinds of keys that it does not support.
    return false;
  }
}

function chainFrom(leaf: X509Certificate, all: readonly X509Certificate[]): ServerCertificate['chain'] {
  const issuers: X509Certificate[] = [];
  let last = leaf;
  while (issuers.length < maxChain) {
    const isIssuer = (each: X509Certificate): boolean =>
      last.checkIssued(each) && last.verify(each.publicKey);
    if (isIssuer(last)) break;
    const issuer = all.find((each) => !issuers.includes(each) && isIssuer(each));
    if (issuer === undefined) break;
    issuers.push(issuer);
    last = issuer;
  }
  return [leaf, ...issuers];
}

/** A damaged key can still match its certificate, so it has to sign something. */
function requireSigning(key: KeyObject, leaf: X509Certificate): void {
  const words = Buffer.from('who shows this certificate has its key');
  const kind = key.asymmetricKeyType ?? '';
  const algorithm = kind.startsWith('ed') ? null : 'sha256';
  try {
    if (kindsForTls.has(kind) && verify(algorithm, words, leaf.publicKey, sign(algorithm, words, key)))
      return;
  } catch {
    // The reason may contain bytes of the key, so it is dropped.
  }
  throw new KeystoreProblem('file', 'whose private key is damaged or of a kind that cannot be used here');
}

/** Tests key and certificate with the TLS of this process, so that no client has to. */
function requireUsable(secrets: ServerCertificate['secrets']): void {
  try {
    createSecureContext(secrets);
  } catch (error) {
    const reason = error instanceof Error ? Reflect.get(error, 'reason') : undefined;
    throw new KeystoreProblem(
      'file',
      `whose key or certificate cannot be used for TLS${typeof reason === 'string' ? ` (${reason})` : ''}; RSA from 2048 bits and the curves P-256 and P-384 can`,
      { cause: error },
    );
  }
}

/** Describes a certificate for a log line; nothing of it is secret. */
export function describeCertificate({ chain, alias }: ServerCertificate): Record<string, unknown> {
  const [{ subject, subjectAltName, validTo, fingerprint256 }] = chain;
  return {
    ...(alias === '' ? {} : { alias }),
    subject: subject.replaceAll('\n', ', '),
    names: subjectAltName ?? '',
    validUntil: isoTimeOf(validTo),
    fingerprint256,
    chain: chain.length,
  };
}

/** Unchanged if the text in the certificate is not a valid time. */
function isoTimeOf(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}

/** Why clients may refuse the certificate at the time `now`, or null. */
export function outOfTime(
  { chain: [{ validFrom, validTo }] }: ServerCertificate,
  now: number,
): string | null {
  if (now > Date.parse(validTo)) return 'the TLS certificate has expired: clients will refuse it';
  if (now < Date.parse(validFrom)) return 'the TLS certificate is not valid yet: clients will refuse it';
  return null;
}

/**
 * Reads a key store: its private keys with their names, and its certificates. Rejects with a KeystoreProblem.
 *
 * PKCS12 and JKS are told apart by content, never by the name of the file. Other known formats are refused with the
 * command that converts them to PKCS12. All work is bounded: a file of any content ends in an answer or in a
 * KeystoreProblem, without blocking the thread.
 */
async function openKeystore(bytes: Buffer, password: string): Promise<Keystore> {
  if (bytes.length === 0) throw new KeystoreProblem('file', 'which is empty');
  const magic = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  if (magic === 0xfeedfeed) return openJks(bytes, password);
  if (magic === 0xcececece)
    throw new KeystoreProblem(
      'file',
      'which is a JCEKS key store; make a PKCS12 of it: keytool -importkeystore -srckeystore FILE -srcstoretype jceks -destkeystore keystore.p12 -deststoretype pkcs12',
    );
  if (bytes.subarray(0, 65_536).includes('-----BEGIN '))
    throw new KeystoreProblem(
      'file',
      'which is PEM; make a PKCS12 of key and certificates: openssl pkcs12 -export -inkey key.pem -in certificates.pem -out keystore.p12',
    );
  if (bytes[0] === 0x30) return openPkcs12(bytes, password);
  throw new KeystoreProblem('file', 'which is neither PKCS12 nor JKS');
}

/** Longer than any key that TLS can use; the time to recover a key grows with the square of its length. */
const maxKeyBytes = 65_536;

/** Reads a store in Java's older format. Throws a KeystoreProblem. */
function openJks(bytes: Buffer, password: string): Keystore {
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
        'it opens the key store but not the key in it; give the key the same password: keytool -keypasswd -keystore FILE -alias NAME',
      );
    // The reason may contain bytes of the key, so it is dropped.
    throw new KeystoreProblem('file', 'whose private key is damaged or of a kind that cannot be used here');
  }
}

function certificateOf(der: Uint8Array): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch (error) {
    throw new KeystoreProblem('file', 'which contains a damaged certificate', { cause: error });
  }
}

function damaged(): KeystoreProblem {
  return new KeystoreProblem('file', 'which is a damaged JKS key store');
}
