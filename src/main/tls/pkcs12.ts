/**
 * PKCS12 files (RFC 7292): a checksum by password over a list of safes, encrypted or not, each a list of bags.
 *
 * Keys and certificates are taken from their bags as bytes, so they can be of every kind that Node supports. Other bags
 * (revocation lists, secrets) are skipped.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  type Asn1,
  bytesOf,
  childrenOf,
  integerOf,
  derOf,
  misshapen,
  oidOf,
  parseAsn1,
  wideTextOf,
} from './asn1.ts';
import {
  KeystoreProblem,
  wrongPassword,
  type Keystore,
  type KeystoreKey,
  requireModest,
} from './keystore.ts';
import { decryptContent, type FileKey, fileKeyOf, isAuthentic } from './password-cipher.ts';

const dataId = '1.2.840.113549.1.7.1';
const encryptedDataId = '1.2.840.113549.1.7.6';
const keyBagId = '1.2.840.113549.1.12.10.1.1';
const shroudedKeyBagId = '1.2.840.113549.1.12.10.1.2';
const certificateBagId = '1.2.840.113549.1.12.10.1.3';
const safeBagId = '1.2.840.113549.1.12.10.1.6';
const x509Id = '1.2.840.113549.1.9.22.1';
const friendlyNameId = '1.2.840.113549.1.9.20';

const many = Number.POSITIVE_INFINITY;

/** Reads a PKCS12 file. Rejects with a KeystoreProblem. */
export async function openPkcs12(bytes: Buffer, password: string): Promise<Keystore> {
  const [version, content, macData] = childrenOf(parseAsn1(bytes), 2, 3);
  if (integerOf(version) !== 3) throw misshapen();
  const [contentId, wrapped] = childrenOf(content, 2);
  if (oidOf(contentId) !== dataId)
    throw new KeystoreProblem('file', 'which is locked by a key and not by a password, as none here can be');
  const safes = bytesOf(childrenOf(wrapped, 1)[0]);
  const key = fileKeyOf(password);
  if (macData !== undefined) await authenticate(macData, safes, key);
  const found: Found = { keys: [], certificates: [] };
  for (const safe of childrenOf(parseAsn1(safes), 0, many)) await readSafe(safe, key, found);
  return found;
}

interface Found {
  readonly keys: KeystoreKey[];
  readonly certificates: X509Certificate[];
}

async function authenticate(macData: Asn1, safes: Buffer, key: FileKey): Promise<void> {
  if (await isAuthentic(macData, safes, key)) return;
  if (key.text === '') {
    // The empty password has two encodings, and a file does not say which it uses.
    key.wide = Buffer.alloc(0);
    if (await isAuthentic(macData, safes, key)) return;
  }
  throw new KeystoreProblem('password', wrongPassword);
}

async function readSafe(safe: Asn1, key: FileKey, found: Found): Promise<void> {
  const [id, wrapped] = childrenOf(safe, 2);
  const content = childrenOf(wrapped, 1)[0];
  switch (oidOf(id)) {
    case dataId:
      return readBags(parseAsn1(bytesOf(content)), key, found);
    case encryptedDataId: {
      const [, encrypted] = childrenOf(content, 2, 3);
      const [, algorithm, sealed] = childrenOf(encrypted, 3);
      return readBags(parseAsn1(await decryptContent(algorithm, bytesOf(sealed), key)), key, found);
    }
    default:
      throw new KeystoreProblem('file', 'which has a part that is locked by a key and not by a password');
  }
}

async function readBags(bags: Asn1 | undefined, key: FileKey, found: Found): Promise<void> {
  for (const bag of childrenOf(bags, 0, many)) {
    const [id, wrapped, attributes] = childrenOf(bag, 2, 3);
    const value = childrenOf(wrapped, 1)[0];
    switch (oidOf(id)) {
      case keyBagId:
        addKey(found, aliasOf(attributes), derOf(value));
        break;
      case shroudedKeyBagId: {
        const [algorithm, sealed] = childrenOf(value, 2);
        addKey(found, aliasOf(attributes), await decryptContent(algorithm, bytesOf(sealed), key));
        break;
      }
      case certificateBagId:
        addCertificate(found, value);
        break;
      case safeBagId:
        await readBags(value, key, found);
        break;
      default:
    }
  }
}

function addKey(found: Found, alias: string, der: Buffer): void {
  found.keys.push({ alias, key: keyOf(der) });
  requireModest(found);
}

function keyOf(der: Buffer): KeyObject {
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch {
    // The reason may contain bytes of the key, so it is dropped.
    throw new KeystoreProblem('file', 'whose private key is damaged or of a kind that cannot be used here');
  }
}

function addCertificate(found: Found, value: Asn1 | undefined): void {
  const [id, wrapped] = childrenOf(value, 2);
  if (oidOf(id) !== x509Id) return;
  try {
    found.certificates.push(new X509Certificate(bytesOf(childrenOf(wrapped, 1)[0])));
  } catch (error) {
    throw new KeystoreProblem('file', 'which holds a damaged certificate', { cause: error });
  }
  requireModest(found);
}

/** The name in the attributes of a bag; empty if they have none. */
function aliasOf(attributes: Asn1 | undefined): string {
  if (attributes === undefined) return '';
  for (const attribute of childrenOf(attributes, 0, many)) {
    const [id, values] = childrenOf(attribute, 2);
    if (oidOf(id) !== friendlyNameId) continue;
    return wideTextOf(childrenOf(values, 1)[0]) ?? '';
  }
  return '';
}
