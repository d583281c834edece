import { expect, test } from 'vitest';
import { JsonText, TextList } from './json-text.ts';

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

test('a list of texts is an array while it is short, and then the JSON that JSON.stringify gives', () => {
  const before = { evicted: 3, expired: 0 };
  for (const [count, isLong] of [
    [0, false],
    [1000, false],
    [30_000, true],
  ] as const) {
    const all = Array.from({ length: count }, (_, at) => `said(${at}, "a \\"quoted\\" ü😀")`);
    const [list, kept] = [new TextList(), new TextList(true)];
    for (const text of all) for (const each of [list, kept]) each.add(text);
    expect(list).toHaveLength(count);
    expect(list.texts).toEqual(isLong ? null : all);
    expect(kept.texts).toEqual(all);
    for (const after of [{}, { generation: 7, dryRun: true }])
      expect(Buffer.from(list.within(before, 'atoms', after).whole()).toString()).toBe(
        JSON.stringify({ ...before, atoms: all, ...after }),
      );
  }
});
