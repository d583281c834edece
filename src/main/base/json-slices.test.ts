import { expect, it } from 'vitest';
import { isLarge, jsonBytes, jsonLength, jsonSlices, pieceLength } from './json-slices.ts';

const noPause = async (): Promise<void> => {};
const long = Array.from({ length: 5000 }, (_, index) => ({ index, text: '",]}' }));
const longText = `${'x'.repeat(pieceLength - 2)}"\u{1f600}\\\n\u2028${'é\u{1f600}'.repeat(pieceLength)}`;

it.each([
  [
    {
      results: long,
      bindings: [],
      count: 7,
      absent: undefined,
      proof: { roots: [], steps: long },
      last: null,
    },
  ],
  [long],
  [{ absent: undefined, deep: { a: { b: long } }, long }],
  [[]],
  [{}],
  [null],
  [{ results: long.slice(0, 1000) }],
  [{ facts: [{ a: 1 }, { metadata: { consolidated: { values: long } } }, undefined, { b: [] }] }],
  [[long, long, 'between', long]],
  [[...long.slice(0, 999), { long }, ...long.slice(0, 1200), { long }]],
  [{ one: { two: { three: { four: { five: { six: { seven: { eight: { nine: long } } } } } } } } }],
  [longText],
  [{ args: [longText, 'short', longText], [longText]: longText, none: undefined }],
  [Array.from({ length: 50 }, () => 'y'.repeat(10_000))],
])('writes the same text in pieces as JSON.stringify at once', async (value) => {
  let text = '';
  for await (const piece of jsonSlices(value, noPause)) text += piece;
  expect(text).toBe(JSON.stringify(value));
  expect((await jsonBytes(value, noPause)).toString('utf8')).toBe(text);
  expect(await jsonLength(value, noPause)).toBe(text.length);
});

it.each([
  ['many short elements', Array.from({ length: 300_000 }, () => 'short')],
  ['few long elements', Array.from({ length: 30 }, () => 'x'.repeat(60_000))],
  ['one long text', { args: ['x'.repeat(2_000_000)] }],
  ['many fields', Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`field${at}`, 'value']))],
  ['long texts far down', { a: [{ b: { c: [{ d: [{ e: { f: ['x'.repeat(900_000)] } }] }] } }] }],
])('writes no long piece, and pauses after each: %s', async (_, value) => {
  let pauses = 0;
  const lengths: number[] = [];
  const pause = async (): Promise<void> => {
    pauses++;
  };
  for await (const piece of jsonSlices(value, pause)) lengths.push(piece.length);
  expect(Math.max(...lengths)).toBeLessThan(3 * pieceLength);
  expect(pauses).toBeGreaterThanOrEqual(lengths.length - 1);
  expect(isLarge(value)).toBe(true);
});

it('looks at no more of a value than one piece to say that it is large', () => {
  let seen = 0;
  const looked = new Proxy(
    Array.from({ length: 120_000 }, () => 'x'.repeat(100)),
    {
      get: (list, key) => {
        seen++;
        return Reflect.get(list, key) as unknown;
      },
    },
  );
  expect(isLarge(looked)).toBe(true);
  expect(seen).toBeLessThan(4000);
  expect(isLarge(['x'.repeat(pieceLength - 100)])).toBe(false);
});
