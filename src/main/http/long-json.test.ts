import { expect, test } from 'vitest';
import { parseInPieces, parseJsonBody, scanJson } from './body.ts';

/** Short bodies are parsed at once, long ones in slices. */
async function parsedBody(text: string): Promise<unknown> {
  return parseJsonBody(Buffer.from(text));
}

/** Long JSON parsed in pieces gives the result of JSON.parse, and is refused if JSON.parse refuses it. */

const breathe = async (): Promise<void> => {};

/** The value parsed in pieces; undefined if the text cannot be split. */
async function byPieces(text: string): Promise<unknown> {
  const bytes = Buffer.from(text);
  const steps = scanJson(bytes);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const { cut } = step.value;
  const parsed = cut === null ? null : await parseInPieces(bytes, cut, breathe);
  return parsed === null ? undefined : parsed.value;
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
    await expect(parseJsonBody(Buffer.from(text))).rejects.toThrow('not valid JSON');
  }
});

test('rejects a field that names the prototype, even in a long list', async () => {
  const facts = [...elements, JSON.parse('{"__proto__": {"x": 1}}') as unknown];
  await expect(parseJsonBody(Buffer.from(JSON.stringify({ facts })))).rejects.toThrow('__proto__');
});

test('rejects excessive nesting, even in a long list', async () => {
  const text = JSON.stringify([...elements, 'x']).replace('"x"]', `${'['.repeat(64)}${']'.repeat(64)}]`);
  await expect(parseJsonBody(Buffer.from(text))).rejects.toThrow('deeper than 64 levels');
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
      const got = await parsedBody(changed).catch(() => undefined);
      expect(JSON.stringify(got) === JSON.stringify(wanted), `changed at ${at}`).toBe(true);
    }
});
