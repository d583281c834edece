/**
 * Whom the service shows itself to be over TLS: one private key of a key store, its certificate and what leads from that
 * to a root.
 *
 * Of several keys it is the first by name (by code point) that has a certificate. What cannot work in a handshake is
 * refused here; a certificate out of its time is not, since clients may look at that differently.
 */
import { type KeyObject, sign, verify, type X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { openJks } from './jks.ts';
import { KeystoreProblem } from './keystore.ts';
import type { Keystore } from './keystore.ts';
import { openPkcs12 } from './pkcs12.ts';

export interface ServerCertificate {
  /** Name of the key in the store; empty where it has none. */
  readonly alias: string;
  /** Private keys in the store beside this one. */
  readonly otherKeys: number;
  /** The certificate first, then each one's issuer, as far as the store has them. */
  readonly chain: readonly [X509Certificate, ...X509Certificate[]];
  /** What `node:tls` takes, as PEM: the private key, and the chain. */
  readonly secrets: { readonly key: string; readonly cert: string };
}

const kindsForTls: ReadonlySet<string> = new Set(['rsa', 'rsa-pss', 'ec', 'ed25519', 'ed448']);

/** Longest way to a root that is looked for. */
const maxChain = 20;

/** Rejects with a KeystoreProblem. */
export async function readServerCertificate(bytes: Buffer, password: string): Promise<ServerCertificate> {
  const store = await openKeystore(bytes, password);
  if (store.keys.length === 0)
    throw new KeystoreProblem(
      'file',
      'which has no private key: it holds certificates of others, and not what the service could show itself with',
    );
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
    // Thrown for kinds of keys that cannot even be compared.
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

/** A key can be damaged and still look like the one of the certificate: it is put to the test. */
function requireSigning(key: KeyObject, leaf: X509Certificate): void {
  const words = Buffer.from('who shows this certificate has its key');
  const kind = key.asymmetricKeyType ?? '';
  const algorithm = kind.startsWith('ed') ? null : 'sha256';
  try {
    if (kindsForTls.has(kind) && verify(algorithm, words, leaf.publicKey, sign(algorithm, words, key)))
      return;
  } catch {
    // The reason may show bytes of the key, so it goes no further.
  }
  throw new KeystoreProblem('file', 'whose private key is damaged or of a kind that cannot be used here');
}

/** What the TLS of this process says to key and certificate, rather than what a client would be told. */
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

/** What a log line says of a certificate; nothing of it is secret. */
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

/** As it stands in the certificate where that is no time that can be written. */
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
 * A key store, from bytes to what is in it: private keys with their names, and certificates.
 *
 * PKCS12 and JKS are told apart by content, never by the name of the file. What is neither is recognised as far as it
 * can be, and refused with the command that makes a PKCS12 file of it. All work is bounded: a file of any content ends
 * in an answer or in a KeystoreProblem, without holding the thread.
 */

/** Rejects with a KeystoreProblem. */
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
