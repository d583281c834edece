import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { jsonPieceBytes, maxJsonFields, parseLongJson } from './long-json.ts';

/** Long JSON parsed in pieces gives the result of JSON.parse, and is refused if JSON.parse refuses it. */

const maxDepth = 64;

async function reading(text: string, breathe = async (): Promise<void> => {}) {
  return parseLongJson(Buffer.from(text), maxDepth, breathe);
}

/** The value parsed in pieces; undefined if the text is refused. */
async function byPieces(text: string): Promise<unknown> {
  const read = await reading(text);
  return 'value' in read ? read.value : undefined;
}

/** How often a text lets others run. */
async function breathsOf(text: string): Promise<number> {
  let breaths = 0;
  await reading(text, async () => {
    breaths++;
  });
  return breaths;
}

const elements: unknown[] = Array.from({ length: 6000 }, (_, at) => [
  {
    predicate: 'p',
    args: [`a, "b" \\ ${at} ] }`, 'é\u{1f600}\u2028'],
    metadata: { deep: [[at, { x: [] }]] },
  },
  at,
  null,
  `[,{"${at}`,
  [],
  {},
]).flat();

test('splits a long list, on its own or as a field among others', async () => {
  for (const value of [
    elements,
    { facts: elements },
    { scope: 's', facts: elements, other: [1, { a: [] }], more: { b: elements.slice(0, 3) } },
    { first: [1, 2], second: elements, third: elements },
  ])
    for (const text of [JSON.stringify(value), ` ${JSON.stringify(value, null, 1)}\n`])
      expect(await byPieces(text)).toEqual(JSON.parse(text));
});

test('keeps the last of two fields with one name', async () => {
  const long = JSON.stringify(elements);
  for (const text of [`{"a":${long},"a":[1]}`, `{"a":[1],"a":${long}}`, `{"a":${long},"b":1,"a":${long}}`])
    expect(await byPieces(text)).toEqual(JSON.parse(text));
});

test('rejects invalid JSON wherever the error is', async () => {
  const long = JSON.stringify(elements);
  const middle = long.indexOf(',', 200_000) + 1;
  const wrong = [
    `${long.slice(0, -1)},]`,
    `[,${long.slice(1)}`,
    `${long.slice(0, middle)},${long.slice(middle)}`,
    `${long.slice(0, middle)}}${long.slice(middle)}`,
    `${long.slice(0, -1)}}`,
    `${long}]`,
    `${long} 1`,
    `{"a":${long}`,
    `{a:${long}}`,
    `{"a":${long},}`,
    `{"a" ${long}}`,
    long.slice(0, -1),
    long.slice(0, middle),
  ];
  for (const text of wrong) {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(await reading(text)).toMatchObject({ problem: { kind: 'malformed' } });
  }
});

test('rejects a field that names the prototype, even in a long list', async () => {
  const facts = [...elements, JSON.parse('{"__proto__": {"x": 1}}') as unknown];
  expect(await reading(JSON.stringify({ facts }))).toEqual({ problem: { kind: 'prototype' } });
});

test('rejects excessive nesting, even in a long list', async () => {
  const text = JSON.stringify([...elements, 'x']).replace('"x"]', `${'['.repeat(64)}${']'.repeat(64)}]`);
  expect(await reading(text)).toEqual({ problem: { kind: 'tooDeep' } });
});

test('accepts or rejects a text with any one byte changed as JSON.parse does', async () => {
  const text = JSON.stringify({ a: 1, facts: elements.slice(0, 900), b: [2] });
  const pad = JSON.stringify({
    a: 1,
    facts: [...elements.slice(0, 12), 'x'.repeat(70_000), 'y'.repeat(70_000), 1, { a: 2 }],
  });
  for (const base of [text, pad])
    for (let at = 0; at < base.length; at += at < 300 || base.length - at < 60 ? 1 : 4001) {
      // Half a surrogate pair cannot be sent.
      if (base.charCodeAt(at) > 0x7f) continue;
      const changed = `${base.slice(0, at)}${'[]{},:" 1'[at % 9] ?? ''}${base.slice(at + 1)}`;
      let wanted: unknown;
      try {
        wanted = JSON.parse(changed);
      } catch {
        wanted = undefined;
      }
      const got = await byPieces(changed);
      expect(JSON.stringify(got) === JSON.stringify(wanted), `changed at ${at}`).toBe(true);
    }
});

const longText = `"\\\n\u0000é\u2028\u{1f600}`.repeat(20_000);

test('splits whatever is long: several lists, objects of many fields, long texts, and what is inside of them', async () => {
  const fields = Object.fromEntries(elements.slice(0, 5000).map((value, at) => [`field ${at}`, value]));
  for (const value of [
    { assert: elements, retract: elements, goals: [elements, [elements]] },
    fields,
    { deep: { deeper: { list: [fields, { text: longText, more: [longText, 1, longText] }] } } },
    longText,
    [longText, 'short', longText],
    { [longText]: longText, after: 1 },
    [[[[['x'.repeat(70_000)]], 'y'.repeat(70_000)]]],
    { 2: 'x'.repeat(70_000), 1: 'y', b: 'z'.repeat(70_000), a: 1 },
  ]) {
    const text = JSON.stringify(value);
    for (const each of [text, `\uFEFF${text}`, JSON.stringify(value, null, 2)]) {
      const got = await byPieces(each);
      expect(got).toEqual(value);
      // In the same order of fields.
      expect(JSON.stringify(got)).toBe(text);
    }
  }
});

test('rejects an object of more fields than anything takes, wherever it is', async () => {
  const object = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`field ${at}`, at]));
  expect(await byPieces(JSON.stringify([object(maxJsonFields)]))).toEqual([object(maxJsonFields)]);
  for (const value of [object(maxJsonFields + 1), { facts: [{ metadata: object(1_000_000) }] }])
    expect(await reading(JSON.stringify(value))).toEqual({ problem: { kind: 'tooManyFields' } });
});

test('takes escapes and characters of several bytes wherever a text is cut', async () => {
  for (let shift = 0; shift < 40; shift++) {
    const written = `"${'x'.repeat(jsonPieceBytes - 20 + shift)}${String.raw`\ud83d\ude00\"\\\u00e9`}é\u{1f600}${'y'.repeat(30)}${'z'.repeat(jsonPieceBytes)}"`;
    expect(await byPieces(written)).toBe(JSON.parse(written));
  }
});

test('lets others run after every piece, whatever is long', async () => {
  const long = 40 * jsonPieceBytes;
  // Scanned once and read once.
  for (const value of [
    'x'.repeat(long),
    { turns: ['x'.repeat(long)] },
    Object.fromEntries(Array.from({ length: long / 20 }, (_, at) => [`field${at}`, 'value value'])),
    { a: { b: Array.from({ length: long / 20 }, (_, at) => ({ value: at })) } },
  ])
    expect(await breathsOf(JSON.stringify(value))).toBeGreaterThan(60);
});

test('reads or refuses random texts as JSON.parse does', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const prng = new Prng(seed);
    const value = (depth: number): unknown => {
      const kind = prng.below(depth > 4 ? 3 : 6);
      if (kind === 0) return prng.below(1000);
      if (kind === 1) return prng.pick(['', 'é"\\', '[', '},{', 'x'.repeat(prng.below(100_000))]);
      if (kind === 2) return prng.pick([null, true, false, -1.5]);
      const many = Array.from({ length: prng.below(6) }, () => value(depth + 1));
      return kind === 3 ? Object.fromEntries(many.map((each, at) => [`f${at % 4}`, each])) : many;
    };
    const text = JSON.stringify([value(0), value(0), value(0)]);
    expect(JSON.stringify(await byPieces(text))).toBe(text);
    for (let change = 0; change < 20; change++) {
      const at = prng.below(text.length);
      const changed = text.slice(0, at) + prng.pick([...'[]{},:"\\ 1']) + text.slice(at + prng.below(2));
      let wanted: unknown;
      try {
        wanted = JSON.parse(changed);
      } catch {
        wanted = undefined;
      }
      expect(JSON.stringify(await byPieces(changed)), `seed ${seed}, changed at ${at}`).toBe(
        JSON.stringify(wanted),
      );
    }
  }
});
