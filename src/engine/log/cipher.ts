/**
 * What is done to the payload of a frame on its way to a file and back: nothing, or AES-256-GCM.
 *
 * Each file has a data key of its own, random, which its header holds wrapped under the folder's key (ENCRYPTION_KEY).
 * Only who makes a file seals frames in it, with a counter as nonce that goes on even where a frame failed and another
 * takes its place: so no two payloads ever share key and nonce. Header and frame headers are authenticated with what
 * they stand before. Who writes or reads frames calls a sealer or an opener and does not know which kind it is.
 * Which files there are, and what a refusal says, is for others.
 */
import { createCipheriv, createDecipheriv, hkdfSync, timingSafeEqual } from 'node:crypto';
import { assert } from '../base/assert.ts';

/** The bytes of a folder's key, and of the data key of a file. */
export const KEY_BYTES = 32;

/** What an encrypted file's header has beside a plain one's: key check, wrapped data key and its tag. */
export const ENVELOPE_BYTES = 64;

/** In the flags of a header, and of each frame: encrypted with AES-256-GCM. */
export const SEALED_FLAG = 1;

const ALGORITHM = 'aes-256-gcm';
const TAG_BYTES = 16;
const CHECK_BYTES = 16;
const NONCE_BYTES = 12;

/** A frame's nonce has 4 bytes in its header. */
const MAX_NONCE = 0xffff_ffff;

/** Makes payloads what they are in the file. One for each file, by whoever makes the file. */
export interface Sealer {
  /** Of every frame that it seals. */
  readonly flags: number;
  /** So many bytes a payload is longer in the file. */
  readonly overhead: number;
  /** The nonce of the next frame, which no other frame of the file has had; 0 where none is needed. */
  nextNonce(): number;
  /** The payload, given in parts, as the file is to have it. `head` is authenticated with it. */
  seal(nonce: number, head: Uint8Array, parts: readonly Uint8Array[]): readonly Uint8Array[];
}

/** Makes payloads of a file what they were. */
export interface Opener {
  /** Of every frame of the file; one with others is not of this file. */
  readonly flags: number;
  readonly overhead: number;
  /** The payload as it was sealed; null where it, or `head`, is not what was sealed. */
  open(nonce: number, head: Uint8Array, payload: Uint8Array): Uint8Array | null;
}

/** A file that is being made: how its frames are sealed, and the envelope of its header (null: it has none). */
export interface FileSealing {
  readonly sealer: Sealer;
  readonly opener: Opener;
  /** The envelope around the data key; `head` is all that the header has before it, and is authenticated. */
  readonly wrap: ((head: Uint8Array) => Uint8Array) | null;
}

/** Of a file that is not encrypted. */
export const plainOpener: Opener = { flags: 0, overhead: 0, open: (_nonce, _head, payload) => payload };
export const plainSealer: Sealer = {
  flags: 0,
  overhead: 0,
  nextNonce: () => 0,
  seal: (_nonce, _head, parts) => parts,
};
export const plainFile: FileSealing = { sealer: plainSealer, opener: plainOpener, wrap: null };

/** How the frames of a new file with this salt are sealed, where the folder has this key, or none. */
export function sealingOf(
  key: FolderKey | null,
  salt: Uint8Array,
  random: (bytes: number) => Uint8Array,
): FileSealing {
  return key === null ? plainFile : key.newFile(salt, random(KEY_BYTES));
}

/** The key of a folder. What it is made of cannot be had from it again. */
export class FolderKey {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    assert(secret.length === KEY_BYTES, 'a key has 32 bytes');
    this.#secret = secret.slice();
  }

  /** The key that these 64 hexadecimal digits write. */
  static fromHexadecimal(text: string): FolderKey {
    assert(/^[0-9a-f]{64}$/i.test(text), 'a key has 64 hexadecimal digits');
    return new FolderKey(Buffer.from(text, 'hex'));
  }

  /** The sealing of a new file with this salt and this data key, both random. */
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

  /** True where this is the key that the file with this salt and envelope was made with. */
  fits(salt: Uint8Array, envelope: Uint8Array): boolean {
    return timingSafeEqual(this.#derived(salt).check, envelope.subarray(0, CHECK_BYTES));
  }

  /** What opens the frames of that file; null where its header is not the one that was written. */
  openerOf(salt: Uint8Array, head: Uint8Array, envelope: Uint8Array): Opener | null {
    const { wrappingKey, check } = this.#derived(salt);
    const wrapped = envelope.subarray(CHECK_BYTES);
    const dataKey = opened(wrappingKey, 0, Buffer.concat([head, check]), wrapped);
    return dataKey === null ? null : aesOpener(dataKey);
  }

  /** What wraps the data key of one file, and what tells whether a key is the right one. */
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

/** The text before a tag; null where the tag is not that of it and `head`. */
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
    // The one thing that `final` fails for, and it says no more: the tag is not that of the text.
    return null;
  }
  return text;
}

function nonceBytes(counter: number): Uint8Array {
  const bytes = new Uint8Array(NONCE_BYTES);
  new DataView(bytes.buffer).setUint32(0, counter, true);
  return bytes;
}

/** The key that is written so; null where there is none. */
export function folderKeyOf(hexadecimal: string | null | undefined): FolderKey | null {
  return hexadecimal === null || hexadecimal === undefined ? null : FolderKey.fromHexadecimal(hexadecimal);
}
