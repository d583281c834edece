/**
 * Encrypts and decrypts frame payloads with AES-256-GCM, or passes them through.
 *
 * Each file has its own random data key, which its header stores wrapped under the folder's key (ENCRYPTION_KEY). Only
 * the process that creates a file seals frames in it. The nonce is a counter that advances even if a frame fails and
 * another takes its place, so no two payloads share key and nonce. The file header and frame headers are authenticated
 * with the data after them. Callers use a Sealer or Opener without knowing which kind it is.
 */
import { createCipheriv, createDecipheriv, hkdfSync, timingSafeEqual } from 'node:crypto';
import { assert } from '../base/assert.ts';

/** Length of a folder's key and of a file's data key. */
export const KEY_BYTES = 32;

/** Extra header bytes of an encrypted file: key check, wrapped data key and its tag. */
export const ENVELOPE_BYTES = 64;

/** Flag in file headers and frame headers: encrypted with AES-256-GCM. */
export const SEALED_FLAG = 1;

const ALGORITHM = 'aes-256-gcm';
const TAG_BYTES = 16;
const CHECK_BYTES = 16;
const NONCE_BYTES = 12;

/** A frame header has 4 bytes for the nonce. */
const MAX_NONCE = 0xffff_ffff;

/** Seals payloads for a file. Each file has one, created with the file. */
export interface Sealer {
  /** Flags of every frame that it seals. */
  readonly flags: number;
  /** Bytes by which sealing lengthens a payload. */
  readonly overhead: number;
  /** The next frame's nonce, unique within the file; 0: none is needed. */
  nextNonce(): number;
  /** Seals a payload given in parts, and authenticates `head` with it. */
  seal(nonce: number, head: Uint8Array, parts: readonly Uint8Array[]): readonly Uint8Array[];
}

/** Opens the sealed payloads of a file. */
export interface Opener {
  /** Flags that every frame of the file must have. */
  readonly flags: number;
  readonly overhead: number;
  /** The original payload; null: the payload or `head` was altered. */
  open(nonce: number, head: Uint8Array, payload: Uint8Array): Uint8Array | null;
}

/** The sealing of a new file, and the envelope for its header (null: none). */
export interface FileSealing {
  readonly sealer: Sealer;
  readonly opener: Opener;
  /** Wraps the data key in an envelope and authenticates `head`, the header before it. */
  readonly wrap: ((head: Uint8Array) => Uint8Array) | null;
}

/** For files that are not encrypted. */
export const plainOpener: Opener = { flags: 0, overhead: 0, open: (_nonce, _head, payload) => payload };
export const plainSealer: Sealer = {
  flags: 0,
  overhead: 0,
  nextNonce: () => 0,
  seal: (_nonce, _head, parts) => parts,
};
export const plainFile: FileSealing = { sealer: plainSealer, opener: plainOpener, wrap: null };

/** The sealing of a new file with this salt, under the folder's key or none. */
export function sealingOf(
  key: FolderKey | null,
  salt: Uint8Array,
  random: (bytes: number) => Uint8Array,
): FileSealing {
  return key === null ? plainFile : key.newFile(salt, random(KEY_BYTES));
}

/** A folder's key. The secret cannot be read back. */
export class FolderKey {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    assert(secret.length === KEY_BYTES, 'a key has 32 bytes');
    this.#secret = secret.slice();
  }

  /** Parses a key of 64 hexadecimal digits. */
  static fromHexadecimal(text: string): FolderKey {
    assert(/^[0-9a-f]{64}$/i.test(text), 'a key has 64 hexadecimal digits');
    return new FolderKey(Buffer.from(text, 'hex'));
  }

  /** The sealing of a new file with this salt and data key, both random. */
  newFile(salt: Uint8Array, dataKey: Uint8Array): FileSealing {
    const { wrappingKey, check } = this.#derived(salt);
    return {
      sealer: aesSealer(dataKey),
      opener: aesOpener(dataKey),
      wrap: (head) => {
        const cipher = createCipheriv(ALGORITHM, wrappingKey, nonceBytes(0));
        cipher.setAAD(Buffer.concat([head, check]));
        const wrapped = Buffer.concat([cipher.update(dataKey), cipher.final()]);
        return Buffer.concat([check, wrapped, cipher.getAuthTag()]);
      },
    };
  }

  /** True if the file with this salt and envelope was created with this key. */
  fits(salt: Uint8Array, envelope: Uint8Array): boolean {
    return timingSafeEqual(this.#derived(salt).check, envelope.subarray(0, CHECK_BYTES));
  }

  /** The opener for that file's frames; null: the header was altered. */
  openerOf(salt: Uint8Array, head: Uint8Array, envelope: Uint8Array): Opener | null {
    const { wrappingKey, check } = this.#derived(salt);
    const wrapped = envelope.subarray(CHECK_BYTES);
    const dataKey = opened(wrappingKey, 0, Buffer.concat([head, check]), wrapped);
    return dataKey === null ? null : aesOpener(dataKey);
  }

  /** Derives a file's wrapping key, and the check that identifies the right key. */
  #derived(salt: Uint8Array): { wrappingKey: Uint8Array; check: Uint8Array } {
    const bytes = new Uint8Array(
      hkdfSync('sha256', this.#secret, salt, 'corollary file key', KEY_BYTES + CHECK_BYTES),
    );
    return { wrappingKey: bytes.subarray(0, KEY_BYTES), check: bytes.subarray(KEY_BYTES) };
  }
}

function aesSealer(dataKey: Uint8Array): Sealer {
  let frames = 0;
  return {
    flags: SEALED_FLAG,
    overhead: TAG_BYTES,
    nextNonce: () => {
      assert(frames < MAX_NONCE, 'a file has fewer frames than nonces');
      return ++frames;
    },
    seal: (nonce, head, parts) => {
      const cipher = createCipheriv(ALGORITHM, dataKey, nonceBytes(nonce));
      cipher.setAAD(head);
      const sealed: Uint8Array[] = parts.map((part) => cipher.update(part));
      sealed.push(cipher.final(), cipher.getAuthTag());
      return sealed;
    },
  };
}

function aesOpener(dataKey: Uint8Array): Opener {
  return {
    flags: SEALED_FLAG,
    overhead: TAG_BYTES,
    open: (nonce, head, payload) => opened(dataKey, nonce, head, payload),
  };
}

/** Decrypts the text before a tag; null: the tag does not match the text and `head`. */
function opened(key: Uint8Array, nonce: number, head: Uint8Array, textAndTag: Uint8Array): Uint8Array | null {
  if (textAndTag.length < TAG_BYTES) return null;
  const end = textAndTag.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, nonceBytes(nonce), { authTagLength: TAG_BYTES });
  decipher.setAAD(head);
  decipher.setAuthTag(textAndTag.subarray(end));
  const text = decipher.update(textAndTag.subarray(0, end));
  try {
    decipher.final();
  } catch {
    // `final` fails for one reason only: the tag does not match.
    return null;
  }
  return text;
}

function nonceBytes(counter: number): Uint8Array {
  const bytes = new Uint8Array(NONCE_BYTES);
  new DataView(bytes.buffer).setUint32(0, counter, true);
  return bytes;
}

/** Parses the key; null: none was given. */
export function folderKeyOf(hexadecimal: string | null | undefined): FolderKey | null {
  return hexadecimal === null || hexadecimal === undefined ? null : FolderKey.fromHexadecimal(hexadecimal);
}
