/**
 * The format of a key: `cor_`, 43 random characters, 6 characters of checksum.
 *
 * The random part has 256 bits, too many to try them all, so a plain hash is enough to store the key. The checksum
 * tells a mistyped key from an unknown one without a look-up. The prefix identifies a key and is not secret.
 */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const mark = 'cor_';
const secretBytes = 32;
/** 43 base-62 characters encode 32 bytes. */
const secretLength = 43;
const checkLength = 6;
const prefixLength = mark.length + 8;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base = BigInt(digits.length);

/** Generates a new key. */
export function newKeyText(): string {
  const secret = inBase62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretLength);
  return `${mark}${secret}${checksumOf(`${mark}${secret}`)}`;
}

/** What kind of text this is: `foreign` is not a key of this service, `mistyped` a key with a wrong checksum. */
export function formOf(text: string): 'key' | 'foreign' | 'mistyped' {
  if (text.length !== mark.length + secretLength + checkLength || !/^cor_[0-9A-Za-z]+$/.test(text))
    return 'foreign';
  const body = text.slice(0, -checkLength);
  return text.slice(-checkLength) === checksumOf(body) ? 'key' : 'mistyped';
}

/** The prefix of a key, by which it is displayed and looked up. */
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
