/**
 * Decryption and authentication by password for PKCS12 files (RFC 7292 and RFC 8018).
 *
 * It implements both families: PBES2 with AES, as in current files, and the ciphers of PKCS12 with triple DES and RC2,
 * as in files of older programs. The old ciphers come from node-forge, since neither OpenSSL 3 nor BoringSSL guarantees
 * them, so a file opens in Node and in Electron alike. The number of hash rounds is bounded for the whole file, and
 * hashing does not block the thread: a hostile count costs a message and nothing else.
 */
import { createDecipheriv, createHmac, hash, pbkdf2, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import forge from 'node-forge';
import { Slices } from '../../engine/index.ts';
import { type Asn1, bytesOf, childrenOf, integerOf, oidOf } from './asn1.ts';
import { KeystoreProblem, wrongPassword } from './keystore.ts';

/** Rounds that a whole file may ask for; Java uses 10,000 for each part of it, OpenSSL 2,048. */
export const maxRounds = 10_000_000;

/** The password of a file in the two forms that derivations take, and the rounds that are left. */
export interface FileKey {
  /** UTF-16, big-endian, with a terminating zero; or empty, as some programs encode the empty password. */
  wide: Buffer;
  readonly text: string;
  roundsLeft: number;
}

/** The key of a file from its password. */
export function fileKeyOf(password: string): FileKey {
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
export async function decryptContent(
  algorithm: Asn1 | undefined,
  content: Buffer,
  key: FileKey,
): Promise<Buffer> {
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
export async function isAuthentic(macData: Asn1, content: Buffer, key: FileKey): Promise<boolean> {
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
  const slices = new Slices(() => setImmediate());
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
