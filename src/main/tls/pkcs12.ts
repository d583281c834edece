/**
 * PKCS12 files (RFC 7292): a checksum by password over a list of safes, encrypted or not, each a list of bags.
 *
 * Keys and certificates are taken from their bags as bytes, so they can be of every kind that Node supports. Other bags
 * (revocation lists, secrets) are skipped. ASN.1 is read with node-forge's parser, whose errors become a
 * KeystoreProblem.
 *
 * Decryption by password (RFC 8018) supports both families: PBES2 with AES, as in current files, and the ciphers of
 * PKCS12 with triple DES and RC2, as in files of older programs. The old ciphers come from node-forge, since neither
 * OpenSSL 3 nor BoringSSL guarantees them, so a file opens in Node and in Electron alike. The number of hash rounds is
 * bounded for the whole file, and hashing does not block the thread: a hostile count costs a message and nothing else.
 */
import {
  createDecipheriv,
  createHmac,
  createPrivateKey,
  hash,
  type KeyObject,
  pbkdf2,
  timingSafeEqual,
  X509Certificate,
} from 'node:crypto';
import {
  type Keystore,
  type KeystoreKey,
  KeystoreProblem,
  requireModest,
  wrongPassword,
} from './keystore.ts';
import forge from 'node-forge';
import { promisify } from 'node:util';
import { serving, Slices } from '../../engine/index.ts';

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
    throw new KeystoreProblem(
      'file',
      'which is locked by a key instead of a password, which is not supported',
    );
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
      throw new KeystoreProblem('file', 'which has a part that is locked by a key instead of a password');
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
    throw new KeystoreProblem('file', 'which contains a damaged certificate', { cause: error });
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

type Asn1 = forge.asn1.Asn1;

/** Throws a KeystoreProblem if the bytes are not exactly one ASN.1 value; a truncated file is not one. */
function parseAsn1(bytes: Buffer): Asn1 {
  try {
    return forge.asn1.fromDer(forge.util.createBuffer(bytes.toString('latin1')), true);
  } catch (error) {
    throw new KeystoreProblem('file', 'which is damaged or not a PKCS12 key store', { cause: error });
  }
}

/** The parts of a constructed value, between `least` and `most` of them. */
function childrenOf(node: Asn1 | undefined, least: number, most = least): Asn1[] {
  if (node === undefined || !Array.isArray(node.value)) throw misshapen();
  const { length } = node.value;
  if (length < least || length > most) throw misshapen();
  return node.value;
}

/** The bytes of a primitive value, or of an octet string in pieces. */
function bytesOf(node: Asn1 | undefined): Buffer {
  if (node === undefined) throw misshapen();
  if (typeof node.value === 'string') return Buffer.from(node.value, 'latin1');
  return Buffer.concat(node.value.map((piece) => bytesOf(piece)));
}

/** The object identifier of a value. */
function oidOf(node: Asn1 | undefined): string {
  if (node === undefined || typeof node.value !== 'string' || node.type !== forge.asn1.Type.OID)
    throw misshapen();
  return forge.asn1.derToOid(node.value);
}

/** A non-negative integer; Infinity if it has too many digits for a count. */
function integerOf(node: Asn1 | undefined): number {
  if (node === undefined || typeof node.value !== 'string' || node.type !== forge.asn1.Type.INTEGER)
    throw misshapen();
  const bytes = Buffer.from(node.value, 'latin1');
  if (bytes.length === 0 || (bytes[0] ?? 0) >= 0x80) throw misshapen();
  return bytes.length > 6 ? Number.POSITIVE_INFINITY : bytes.readUIntBE(0, bytes.length);
}

/** A text of two bytes per character, or null if the value is not one. */
function wideTextOf(node: Asn1 | undefined): string | null {
  const isText = node !== undefined && node.type === forge.asn1.Type.BMPSTRING;
  return isText && typeof node.value === 'string' ? node.value : null;
}

/** The bytes of the value, as DER. */
function derOf(node: Asn1 | undefined): Buffer {
  if (node === undefined) throw misshapen();
  return Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');
}

/** The problem of a value with an unexpected structure. */
function misshapen(): KeystoreProblem {
  return new KeystoreProblem('file', 'which is damaged or not a PKCS12 key store');
}

/** Rounds that a whole file may ask for; Java uses 10,000 for each part of it, OpenSSL 2,048. */
export const maxRounds = 10_000_000;

/** The password of a file in the two forms that derivations take, and the rounds that are left. */
interface FileKey {
  /** UTF-16, big-endian, with a terminating zero; or empty, as some programs encode the empty password. */
  wide: Buffer;
  readonly text: string;
  roundsLeft: number;
}

/** The key of a file from its password. */
function fileKeyOf(password: string): FileKey {
  return { wide: Buffer.from(`${password}\0`, 'utf16le').swap16(), text: password, roundsLeft: maxRounds };
}

interface Hash {
  readonly name: string;
  readonly bytes: number;
  readonly blockBytes: number;
}

const hashOf = (name: string, bytes: number, blockBytes: number): Hash => ({ name, bytes, blockBytes });

const sha1 = hashOf('sha1', 20, 64);

/** By object identifier: of the hash itself, and of its HMAC. */
const hashes: Readonly<Record<string, Hash>> = {
  '1.3.14.3.2.26': sha1,
  '2.16.840.1.101.3.4.2.4': hashOf('sha224', 28, 64),
  '2.16.840.1.101.3.4.2.1': hashOf('sha256', 32, 64),
  '2.16.840.1.101.3.4.2.2': hashOf('sha384', 48, 128),
  '2.16.840.1.101.3.4.2.3': hashOf('sha512', 64, 128),
  '1.2.840.113549.2.7': sha1,
  '1.2.840.113549.2.8': hashOf('sha224', 28, 64),
  '1.2.840.113549.2.9': hashOf('sha256', 32, 64),
  '1.2.840.113549.2.10': hashOf('sha384', 48, 128),
  '1.2.840.113549.2.11': hashOf('sha512', 64, 128),
};

const pbes2 = '1.2.840.113549.1.5.13';
const pbkdf2Id = '1.2.840.113549.1.5.12';

type Decrypt = (key: Buffer, iv: Buffer, content: Buffer) => Buffer;

interface Cipher {
  readonly keyBytes: number;
  readonly decrypt: Decrypt;
}

/** Ciphers of PBES2; the initialization vector is in the file. */
const modernCiphers: Readonly<Record<string, Cipher>> = {
  '2.16.840.1.101.3.4.1.2': { keyBytes: 16, decrypt: aes('aes-128-cbc') },
  '2.16.840.1.101.3.4.1.22': { keyBytes: 24, decrypt: aes('aes-192-cbc') },
  '2.16.840.1.101.3.4.1.42': { keyBytes: 32, decrypt: aes('aes-256-cbc') },
  '1.2.840.113549.3.7': { keyBytes: 24, decrypt: tripleDes },
};

/** Ciphers of PKCS12 itself; the initialization vector too is derived from the password. */
const oldCiphers: Readonly<Record<string, Cipher>> = {
  '1.2.840.113549.1.12.1.3': { keyBytes: 24, decrypt: tripleDes },
  '1.2.840.113549.1.12.1.4': {
    keyBytes: 16,
    decrypt: (key, iv, content) => tripleDes(Buffer.concat([key, key.subarray(0, 8)]), iv, content),
  },
  '1.2.840.113549.1.12.1.5': { keyBytes: 16, decrypt: rc2(128) },
  '1.2.840.113549.1.12.1.6': { keyBytes: 5, decrypt: rc2(40) },
};

/** Decrypts `content` as the AlgorithmIdentifier says. Rejects with a KeystoreProblem. */
async function decryptContent(algorithm: Asn1 | undefined, content: Buffer, key: FileKey): Promise<Buffer> {
  const [id, parameters] = childrenOf(algorithm, 2);
  const oid = oidOf(id);
  if (oid === pbes2) return decryptModern(parameters, content, key);
  const cipher = oldCiphers[oid];
  if (cipher === undefined) throw unknownAlgorithm('cipher', oid);
  const [salt, count] = childrenOf(parameters, 2);
  const rounds = takeRounds(key, integerOf(count), 2);
  const derive = (purpose: number, length: number): Promise<Buffer> =>
    deriveWide(sha1, key.wide, bytesOf(salt), purpose, rounds, length);
  return unlocked(cipher.decrypt, await derive(1, cipher.keyBytes), await derive(2, 8), content);
}

/** Whether the MacData of the file matches its content. */
async function isAuthentic(macData: Asn1, content: Buffer, key: FileKey): Promise<boolean> {
  const [digestInfo, salt, count] = childrenOf(macData, 2, 3);
  const [algorithm, expected] = childrenOf(digestInfo, 2);
  const oid = oidOf(childrenOf(algorithm, 1, 2)[0]);
  const of = hashes[oid];
  if (of === undefined) throw unknownAlgorithm('checksum', oid);
  const rounds = takeRounds(key, count === undefined ? 1 : integerOf(count), 1);
  const macKey = await deriveWide(of, key.wide, bytesOf(salt), 3, rounds, of.bytes);
  const actual = createHmac(of.name, macKey).update(content).digest();
  const given = bytesOf(expected);
  return given.length === actual.length && timingSafeEqual(actual, given);
}

async function decryptModern(parameters: Asn1 | undefined, content: Buffer, key: FileKey): Promise<Buffer> {
  const [derivation, encryption] = childrenOf(parameters, 2);
  const [derivationId, derivationParameters] = childrenOf(derivation, 2);
  if (oidOf(derivationId) !== pbkdf2Id) throw unknownAlgorithm('key derivation', oidOf(derivationId));
  const [encryptionId, iv] = childrenOf(encryption, 2);
  const cipher = modernCiphers[oidOf(encryptionId)];
  if (cipher === undefined) throw unknownAlgorithm('cipher', oidOf(encryptionId));
  const [salt, count, ...rest] = childrenOf(derivationParameters, 2, 4);
  // The length of the key may come before the pseudorandom function; the cipher determines it anyway.
  const named = rest.find((part) => Array.isArray(part.value));
  const oid = named === undefined ? null : oidOf(childrenOf(named, 1, 2)[0]);
  const of = oid === null ? sha1 : hashes[oid];
  if (of === undefined) throw unknownAlgorithm('key derivation', oid ?? '');
  const rounds = takeRounds(key, integerOf(count), 1);
  const derived = await deriveText(key.text, bytesOf(salt), rounds, cipher.keyBytes, of.name);
  return unlocked(cipher.decrypt, derived, bytesOf(iv), content);
}

const deriveText = promisify(pbkdf2);

/** Bad padding or a bad length means a wrong key, or a damaged file. */
function unlocked(decrypt: Decrypt, key: Buffer, iv: Buffer, content: Buffer): Buffer {
  try {
    return decrypt(key, iv, content);
  } catch (error) {
    throw new KeystoreProblem('password', wrongPassword, {
      cause: error,
    });
  }
}

function takeRounds(key: FileKey, rounds: number, times: number): number {
  key.roundsLeft -= rounds * times;
  if (rounds < 1 || !(key.roundsLeft >= 0))
    throw new KeystoreProblem(
      'file',
      `which asks for more than ${maxRounds} rounds of hashing, or for none; make it again with fewer`,
    );
  return rounds;
}

/**
 * The key derivation of RFC 7292, appendix B. `purpose` 1 is for a key, 2 for an initialization vector, 3 for a
 * checksum.
 */
async function deriveWide(
  { name, bytes, blockBytes }: Hash,
  password: Buffer,
  salt: Buffer,
  purpose: number,
  rounds: number,
  length: number,
): Promise<Buffer> {
  const slices = new Slices(serving.pauseOf(null, 'open a keystore'));
  const diversifier = Buffer.alloc(blockBytes, purpose);
  const state = Buffer.concat([filled(salt, blockBytes), filled(password, blockBytes)]);
  const parts: Buffer[] = [];
  for (let made = 0; made < length; made += bytes) {
    let digest: Buffer = hash(name, Buffer.concat([diversifier, state]), 'buffer');
    for (let round = 1; round < rounds; round += 1) {
      digest = hash(name, digest, 'buffer');
      if (round % 256 === 0) await slices.breathe();
    }
    parts.push(digest);
    const addend = Buffer.alloc(blockBytes, digest);
    for (let at = 0; at < state.length; at += blockBytes) addTo(state.subarray(at, at + blockBytes), addend);
  }
  return Buffer.concat(parts).subarray(0, length);
}

/** Repeated until it fills whole blocks; empty stays empty. */
function filled(bytes: Buffer, blockBytes: number): Buffer {
  if (bytes.length === 0) return Buffer.alloc(0);
  return Buffer.alloc(Math.ceil(bytes.length / blockBytes) * blockBytes, bytes);
}

/** block := block + addend + 1, as big-endian numbers that wrap around. */
function addTo(block: Buffer, addend: Buffer): void {
  let carry = 1;
  for (let index = block.length - 1; index >= 0; index -= 1) {
    carry += (block[index] ?? 0) + (addend[index] ?? 0);
    block[index] = carry & 0xff;
    carry >>= 8;
  }
}

function aes(name: string): Decrypt {
  return (key, iv, content) => {
    const decipher = createDecipheriv(name, key, iv);
    return Buffer.concat([decipher.update(content), decipher.final()]);
  };
}

function tripleDes(key: Buffer, iv: Buffer, content: Buffer): Buffer {
  const decipher = forge.cipher.createDecipher('3DES-CBC', forge.util.createBuffer(key.toString('latin1')));
  decipher.start({ iv: iv.toString('latin1') });
  return forgeOutput(decipher, content);
}

function rc2(bits: number): Decrypt {
  return (key, iv, content) => {
    const decipher = forge.rc2.createDecryptionCipher(key.toString('latin1'), bits);
    decipher.start(iv.toString('latin1'));
    return forgeOutput(decipher, content);
  };
}

interface ForgeDecipher {
  update(input: forge.util.ByteBuffer): unknown;
  finish(): boolean;
  readonly output: forge.util.ByteBuffer;
}

function forgeOutput(decipher: ForgeDecipher, content: Buffer): Buffer {
  if (content.length === 0 || content.length % 8 !== 0) throw new Error('no whole number of blocks');
  decipher.update(forge.util.createBuffer(content.toString('latin1')));
  if (!decipher.finish()) throw new Error('the padding does not fit');
  return Buffer.from(decipher.output.getBytes(), 'latin1');
}

function unknownAlgorithm(what: string, oid: string): KeystoreProblem {
  return new KeystoreProblem(
    'file',
    `whose ${what} (${oid}) is not known here; make it again: keytool -importkeystore -srckeystore FILE -destkeystore keystore.p12 -deststoretype pkcs12`,
  );
}
