import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Slices } from '../../base/slices.ts';
import { Dictionary } from '../../store/dictionary.ts';
import { ColumnReader, ColumnWriter } from './columns.ts';

const slices = new Slices(async () => {});

type Value =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'int32'; readonly value: Int32Array }
  | { readonly kind: 'float64'; readonly value: Float64Array }
  | { readonly kind: 'texts'; readonly value: string[] };

/** As it returns from JSON, which has no -0. */
const json = fc
  .jsonValue({ noUnicodeString: false })
  .map((each): unknown => JSON.parse(JSON.stringify(each)));

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.record({ kind: fc.constant('json' as const), value: json }),
  fc.record({ kind: fc.constant('int32' as const), value: fc.int32Array() }),
  fc.record({ kind: fc.constant('float64' as const), value: fc.float64Array() }),
  fc.record({ kind: fc.constant('texts' as const), value: fc.array(fc.string({ unit: 'binary' })) }),
);

async function* written(values: readonly Value[]): AsyncGenerator<Uint8Array> {
  const columns = new ColumnWriter(slices);
  const encoder = new TextEncoder();
  for (const each of values)
    if (each.kind === 'json') yield* columns.json(each.value);
    else if (each.kind === 'texts') yield* columns.texts(each.value.map((text) => encoder.encode(text)));
    else if (each.kind === 'int32')
      yield* columns.int32(each.value.length, (piece, from) =>
        piece.set(each.value.subarray(from, from + piece.length)),
      );
    else
      yield* columns.float64(each.value.length, (piece, from) =>
        piece.set(each.value.subarray(from, from + piece.length)),
      );
}

async function read(columns: ColumnReader, kind: Value['kind']): Promise<unknown> {
  if (kind === 'json') return columns.json();
  if (kind === 'int32') return columns.int32();
  if (kind === 'float64') return columns.float64();
  const texts: string[] = [];
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  await columns.texts((text, place) => {
    expect(place).toBe(texts.length);
    texts.push(decoder.decode(text));
  });
  return texts;
}

async function bytesOf(values: readonly Value[]): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of written(values)) pieces.push(piece);
  return new Uint8Array(await new Blob(pieces as Uint8Array<ArrayBuffer>[]).arrayBuffer());
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

/** The bytes in pieces of this size, in one buffer that is reused. */
async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(size);
  for (let from = 0; from < bytes.length; from += size) {
    const part = bytes.subarray(from, from + size);
    buffer.set(part);
    yield buffer.subarray(0, part.length);
  }
}

test('round-trips values, however their bytes are split', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(value), fc.integer({ min: 1, max: 200 }), async (values, size) => {
      const columns = new ColumnReader(inPieces(await bytesOf(values), size), slices);
      for (const each of values) expect(await read(columns, each.kind)).toEqual(each.value);
      expect(await columns.isAtEnd()).toBe(true);
    }),
  );
});

test('round-trips long columns and many texts piece by piece', async () => {
  const values: Value[] = [
    { kind: 'int32', value: Int32Array.from({ length: 70_000 }, (_, at) => at * 7) },
    { kind: 'float64', value: Float64Array.from({ length: 40_000 }, (_, at) => at / 3) },
    { kind: 'texts', value: Array.from({ length: 40_000 }, (_, at) => `text ${at}`) },
    { kind: 'texts', value: ['x'.repeat(700_000), '', 'é'] },
  ];
  const columns = new ColumnReader(inPieces(await bytesOf(values), 1000), slices);
  for (const each of values) expect(await read(columns, each.kind)).toEqual(each.value);
});

test('writes the constants of a dictionary as their texts, whichever are left out', async () => {
  const texts = ['', 'é', 'x'.repeat(300_000), ...Array.from({ length: 5000 }, (_, at) => `text ${at}`)];
  const dictionary = new Dictionary();
  for (const text of texts) dictionary.intern(text);
  const ids = Int32Array.from(texts.keys()).filter((id) => id % 7 !== 3);
  const wanted = [...ids].map((id) => new TextEncoder().encode(texts[id]));
  const columns = new ColumnWriter(slices);
  const [copied, one] = await Promise.all(
    [columns.constants(dictionary, ids), columns.texts(wanted, ids.length)].map(joined),
  );
  expect(copied?.equals(one as Buffer)).toBe(true);
});

test('writes numbers in little-endian order', async () => {
  const bytes = await bytesOf([{ kind: 'int32', value: Int32Array.of(0x01020304) }]);
  expect([...bytes]).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1]);
});

test('rejects a value of another kind, or an incomplete one', async () => {
  const bytes = await bytesOf([{ kind: 'int32', value: Int32Array.of(1, 2, 3) }]);
  await expect(new ColumnReader(inPieces(bytes, 5), slices).float64()).rejects.toThrow('float64');
  await expect(new ColumnReader(inPieces(bytes.slice(0, -1), 5), slices).int32()).rejects.toThrow('whole');
});
