import { expect, test } from 'vitest';
import { JsonText } from './json-text.ts';

const textOf = (...parts: string[]): JsonText =>
  new JsonText(parts.map((part) => new TextEncoder().encode(part)));

test.each([
  [['{"a":1}'], { a: 1, g: 2 }],
  [['{', '"a":', '[1,2]}'], { a: [1, 2], g: 2 }],
  [['{"a":1', '}', ''], { a: 1, g: 2 }],
  [['{}'], { g: 2 }],
  [['[{"a":1}]'], [{ a: 1 }]],
  [['"{}"'], '{}'],
])('an object gets one more member, and anything else stays as it is (%j)', (parts, value) => {
  const text = textOf(...parts).withMember('g', 2);
  expect(text.value()).toEqual(value);
  expect(text.bytes).toBe(text.whole().length);
});
