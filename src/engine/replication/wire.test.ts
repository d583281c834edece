import { describe, expect, it } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { continueChecksum } from '../log/codec.ts';
import {
  type AnswerHead,
  PartWriter,
  readParts,
  decodeLines,
  ReplicationError,
  type WirePart,
} from './wire.ts';

/** The replication protocol: docs/replication.md. */

const head: AnswerHead = {
  version: 1,
  historyId: 'ab'.repeat(16),
  epoch: 2,
  parent: { historyId: 'cd'.repeat(16), sequence: 4 },
  first: 5,
  position: 9,
  after: 7,
  before: 123,
  snapshot: null,
};
const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => index % 251);
const parts: readonly WirePart[] = [
  { kind: 'head', head },
  { kind: 'records', bytes: bytes(300) },
  { kind: 'state', bytes: bytes(0) },
  { kind: 'records', bytes: bytes(70) },
  { kind: 'end' },
];

function written(those: readonly WirePart[] = parts): Uint8Array[] {
  const writer = new PartWriter();
  return those.map((part) => writer.write(part));
}

/** The same bytes in pieces of random sizes, including empty ones. */
async function* inPieces(whole: Uint8Array, prng: Prng, longest = 60): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < whole.length; ) {
    const length = prng.below(longest);
    yield whole.subarray(at, at + length);
    at += length;
  }
}

async function read(whole: Uint8Array, seed = 1): Promise<WirePart[]> {
  const found: WirePart[] = [];
  for await (const part of readParts(inPieces(whole, new Prng(seed)))) found.push(part);
  return found;
}

/** The error that reading ends with. */
async function failure(whole: Uint8Array): Promise<unknown> {
  return read(whole).then(
    () => null,
    (error: unknown) => error,
  );
}

const broken = expect.objectContaining({ name: 'ReplicationError', kind: 'broken' });

describe('an answer', () => {
  it('arrives as sent, in any pieces', async () => {
    for (let seed = 1; seed <= 20; seed++) expect(await read(Buffer.concat(written()), seed)).toEqual(parts);
  });

  it('that is truncated anywhere is broken', async () => {
    const whole = Buffer.concat(written());
    for (let length = 0; length < whole.length; length++)
      expect(await failure(whole.subarray(0, length)), `${length} bytes`).toEqual(broken);
  });

  it('with any bit flipped is broken', async () => {
    const whole = Buffer.concat(written());
    for (let at = 0; at < whole.length; at++) {
      const turned = Uint8Array.from(whole);
      turned[at] = (turned[at] ?? 0) ^ (1 << (at % 8));
      expect(await failure(turned), `byte ${at}`).toEqual(broken);
    }
  });

  it('with a part repeated, missing or swapped is broken', async () => {
    const [first, second, third, fourth, last] = written() as [Buffer, Buffer, Buffer, Buffer, Buffer];
    for (const those of [
      [first, second, second, third, fourth, last],
      [first, third, fourth, last],
      [first, fourth, third, second, last],
      [second, third, fourth, last],
    ])
      expect(await failure(Buffer.concat(those))).toEqual(broken);
  });

  it('ends with its end: bytes after it are not read', async () => {
    expect(await read(Buffer.concat([...written(), bytes(100)]))).toEqual(parts);
  });

  it('whose part exceeds the maximum size is broken at once, without waiting', async () => {
    const claim = new Uint8Array(5);
    new DataView(claim.buffer).setUint8(0, 2);
    new DataView(claim.buffer).setUint32(1, 0xffff_ffff, true);
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield claim;
      throw new Error('more was asked for');
    }
    await expect(readParts(endless()).next()).rejects.toEqual(broken);
  });

  it('of another version is refused, and one with an invalid head is broken', async () => {
    const newer = { kind: 'head', head: { ...head, version: 2 } } as const;
    const error = await failure(Buffer.concat(written([newer])));
    expect(error).toBeInstanceOf(ReplicationError);
    expect(error).toMatchObject({ kind: 'refused', message: expect.stringContaining('version 2') });
    for (const wrong of [null, 'text', [], { ...head, position: '9' }, { ...head, epoch: 1.5 }]) {
      const part = { kind: 'head', head: wrong as unknown as AnswerHead } as const;
      expect(await failure(Buffer.concat(written([part]))), JSON.stringify(wrong)).toEqual(broken);
    }
    expect(await failure(headOf('no JSON'))).toEqual(broken);
  });
});

/** A head with this text, encoded by hand. */
function headOf(text: string): Uint8Array {
  const content = new TextEncoder().encode(text);
  const part = new Uint8Array(content.length + 9);
  const view = new DataView(part.buffer);
  view.setUint8(0, 1);
  view.setUint32(1, content.length, true);
  part.set(content, 5);
  view.setUint32(content.length + 5, continueChecksum(0, part.subarray(0, content.length + 5)), true);
  return part;
}

it('lines that are not records are broken, and their contents are not shown', () => {
  for (const text of ['no record\n', '{"sequence":1}\n', '{"sequence":1'])
    expect(() => decodeLines(new TextEncoder().encode(text))).toThrow(
      expect.objectContaining({ kind: 'broken', message: 'the leader sent records that cannot be read' }),
    );
});
