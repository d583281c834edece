import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { factInputSchema } from '../../engine/contract/facts.ts';
import { FactBlockBuilder } from '../../engine/index.ts';
import { FactTemplates } from './fact-templates.ts';

const first = '{"predicate":"p","args":["a","b"],"scope":"s"}';

/** What the templates that learned these lines make of a line between others; null: it is like none. */
function taken(line: string, learned: readonly string[] = [first]): unknown {
  const templates = new FactTemplates();
  for (const each of learned) {
    templates.learn(Buffer.from(each), factInputSchema.parse(JSON.parse(each)));
  }
  const builder = new FactBlockBuilder();
  const bytes = Buffer.from(`[["\n${line}\n"]}`);
  const isTaken = templates.take(bytes, 4, bytes.length - 4, builder);
  const [fact, ...others] = builder.built();
  expect(others).toEqual([]);
  expect(fact === undefined).toBe(!isTaken);
  return fact ?? null;
}

const fact = (...args: string[]) => ({ predicate: 'p', args, truthVal: true, scope: 's' });

it.each([
  [first, fact('a', 'b')],
  ['{"predicate":"p","args":["",""],"scope":"s"}', fact('', '')],
  ['{"predicate":"p","args":["x y","é😀"],"scope":"s"}', fact('x y', 'é😀')],
  ['{"predicate":"p","args":["a", "b"],"scope":"s"}', fact('a', 'b')],
  ['{"predicate":"p","args":["],\'}[","{"],"scope":"s"}', fact("],'}[", '{')],
])('takes %s', (line, expected) => {
  expect(taken(line)).toEqual(expected);
});

it.each([
  '',
  '{}',
  '{"predicate":"q","args":["a","b"],"scope":"s"}',
  '{"predicate":"p","args":["a","b"],"scope":"t"}',
  '{"predicate":"p","args":["a","b"],"scope":"s" }',
  '{"predicate":"p","args":["a","b"]}',
  '{"predicate":"p","args":["a","b"],"metadata":{}}',
  '{"predicate":"p","args":["a"],"scope":"s"}',
  '{"predicate":"p","args":["a","b","c"],"scope":"s"}',
  '{"predicate":"p","args":["a",,"b"],"scope":"s"}',
  '{"predicate":"p","args":["a" "b"],"scope":"s"}',
  '{"predicate":"p","args":["a","b",],"scope":"s"}',
  '{"predicate":"p","args":["a",b],"scope":"s"}',
  '{"predicate":"p","args":["a",1],"scope":"s"}',
  '{"predicate":"p","args":["a","?b"],"scope":"s"}',
  '{"predicate":"p","args":["?","b"],"scope":"s"}',
  '{"predicate":"p","args":["a","b\\n"],"scope":"s"}',
  '{"predicate":"p","args":["a","\\"],"scope":"s"}',
  '{"predicate":"p","args":["a","b\u0001"],"scope":"s"}',
  '{"predicate":"p","args":["a","b\t"],"scope":"s"}',
  '{"predicate":"p","args":["a","b',
  `{"predicate":"p","args":["a","${'x'.repeat(5000)}"],"scope":"s"}`,
])('leaves %s to the parser', (line) => {
  expect(taken(line)).toBeNull();
});

it('knows the last eight kinds of lines, and takes each by its own', () => {
  const kinds = Array.from({ length: 10 }, (_, kind) => `{"predicate":"p${kind}","args":["a"]}`);
  for (const [kind, line] of kinds.entries())
    if (kind < 2) expect(taken(line, kinds)).toBeNull();
    else expect(taken(line, kinds)).toMatchObject({ predicate: `p${kind}`, args: ['a'], scope: null });
  const [one, other] = ['{"args":["x"],"predicate":"p"}', '{"args":["x"],"predicate":"p","truthVal":false}'];
  expect(taken('{"args":["y"],"predicate":"p","truthVal":false}', [one, other])).toMatchObject({
    args: ['y'],
    truthVal: false,
  });
  expect(taken('{"predicate":"p","args":[]}', ['{"predicate":"p","args":[]}'])).toMatchObject({ args: [] });
});

const timed =
  '{"predicate":"p","args":["a"],"validFrom":1,"validUntil":"2024-05-06T07:08:09Z","metadata":{"a":1}}';

it.each([
  [
    '{"predicate":"p","args":["b"],"validFrom":-5,"validUntil":"never","metadata":{}}',
    { validFrom: -5, validUntil: 'never', metadata: {} },
  ],
  [
    '{"predicate":"p","args":["b"],"validFrom":"always","validUntil":0,"metadata":{ "b" : 1.0, "2": "\\u0041", "1": [] }}',
    { validFrom: 'always', validUntil: 0, metadata: { 1: [], 2: 'A', b: 1 } },
  ],
  [
    '{"predicate":"p","args":["b"],"validFrom":"2024-02-29","validUntil":"2024-01-01T00:00:00.001Z","metadata":{"}":"\\"{"}}',
    {
      validFrom: Date.UTC(2024, 1, 29),
      validUntil: Date.UTC(2024, 0, 1, 0, 0, 0, 1),
      metadata: { '}': '"{' },
    },
  ],
])('takes the times and metadata of %s', (line, extras) => {
  expect(taken(line, [timed])).toEqual({
    predicate: 'p',
    args: ['b'],
    truthVal: true,
    scope: null,
    ...extras,
  });
});

it.each([
  '{"predicate":"p","args":["b"],"validFrom":01,"validUntil":2,"metadata":{}}',
  '{"predicate":"p","args":["b"],"validFrom":-0,"validUntil":2,"metadata":{}}',
  '{"predicate":"p","args":["b"],"validFrom":1.5,"validUntil":2,"metadata":{}}',
  '{"predicate":"p","args":["b"],"validFrom":1e3,"validUntil":2,"metadata":{}}',
  '{"predicate":"p","args":["b"],"validFrom":8640000000000001,"validUntil":2,"metadata":{}}',
  '{"predicate":"p","args":["b"],"validFrom":"never","validUntil":2,"metadata":{}}',
  '{"predicate":"p","args":["b"],"validFrom":"2024-02-30T00:00:00Z","validUntil":2,"metadata":{}}',
  '{"predicate":"p","args":["b"],"validFrom":null,"validUntil":2,"metadata":{}}',
  '{"predicate":"p","args":["b"],"validFrom":1,"validUntil":2,"metadata":{"a":}}',
  '{"predicate":"p","args":["b"],"validFrom":1,"validUntil":2,"metadata":{"__proto__":1}}',
  '{"predicate":"p","args":["b"],"validFrom":1,"validUntil":2,"metadata":[]}',
  '{"predicate":"p","args":["b"],"validFrom":1,"validUntil":2,"metadata":{"a":[}]}',
  '{"predicate":"p","args":["b"],"validFrom":1,"validUntil":2,"metadata":{"a":"b}',
  `{"predicate":"p","args":["b"],"validFrom":1,"validUntil":2,"metadata":{"a":"${'x'.repeat(70_000)}"}}`,
  `{"predicate":"p","args":["b"],"validFrom":1,"validUntil":2,"metadata":{"a":${'['.repeat(40)}${']'.repeat(40)}}}`,
])('leaves times and metadata of %s to the parser', (line) => {
  expect(taken(line, [timed])).toBeNull();
});

it('keeps metadata that comes again, as it is stored', () => {
  const line = '{"predicate":"p","args":["a"],"metadata":{"b": 1.0}}';
  expect(
    taken(
      line,
      Array.from({ length: 3 }, () => line),
    ),
  ).toMatchObject({ metadata: { b: 1 } });
});

it('learns no line that repeats a field or has an escape in a name, a condition, or arguments by name', () => {
  for (const line of [
    '{"predicate":"p","args":["a"],"args":["b"]}',
    '{"pr\\u0065dicate":"p","args":["a"]}',
    '{"predicate":"p","args":["a"],"ifGeneration":5}',
    '{"predicate":"p","args":{"x":"a"}}',
  ])
    expect(taken(line, [line])).toBeNull();
});
