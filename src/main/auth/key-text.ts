/**
 * What a key looks like: `cor_`, 43 characters of chance, 6 of checksum.
 *
 * The chance is 256 bits, so a plain hash is enough to keep it by: nobody can try them all. The checksum tells a
 * mistyped key from an unknown one without asking anybody. How a key begins says which it is, and is no secret.
 */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const mark = 'cor_';
const secretBytes = 32;
/** So many characters of 62 have room for so many bytes. */
const secretLength = 43;
const checkLength = 6;
const prefixLength = mark.length + 8;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base = BigInt(digits.length);

/** A key that nobody has yet. */
export function newKeyText(): string {
  const secret = inBase62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretLength);
  return `${mark}${secret}${checksumOf(`${mark}${secret}`)}`;
}

/** What the text is by its form: `foreign` is no key of this service, `mistyped` one whose checksum does not fit. */
export function formOf(text: string): 'key' | 'foreign' | 'mistyped' {
  if (text.length !== mark.length + secretLength + checkLength || !/^cor_[0-9A-Za-z]+$/.test(text))
    return 'foreign';
  const body = text.slice(0, -checkLength);
  return text.slice(-checkLength) === checksumOf(body) ? 'key' : 'mistyped';
}

/** How the key begins: what is shown of it, and what it is found by. */
export function prefixOf(key: string): string {
  return key.slice(0, prefixLength);
}

/** SHA-256, 32 bytes. */
export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function checksumOf(text: string): string {
  return inBase62(BigInt(crc32(text)), checkLength);
}

function inBase62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= base) text = `${digits[Number(rest % base)]}${text}`;
  return text;
}
