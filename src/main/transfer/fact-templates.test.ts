import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { plainFactInput } from '../../engine/contract/facts.ts';
import { FactBlockBuilder, present } from '../../engine/index.ts';
import { FactTemplates } from './fact-templates.ts';

const first = '{"predicate":"p","args":["a","b"],"scope":"s"}';

/** What the templates that learned these lines make of a line between others; null: it is like none. */
function taken(line: string, learned: readonly string[] = [first]): unknown {
  const templates = new FactTemplates();
  for (const each of learned) {
    const fact = present(plainFactInput(JSON.parse(each)), 'a plain fact');
    templates.learn(Buffer.from(each), fact);
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

it('learns no line in which brackets are more than those of the arguments, and none that says more', () => {
  const brackets = '{"predicate":"p","args":["a"],"scope":"[s]"}';
  expect(taken(brackets, [brackets])).toBeNull();
  const templates = new FactTemplates();
  const line = '{"predicate":"p","args":["a"],"ttl":5}';
  const plain = present(plainFactInput({ predicate: 'p', args: ['a'] }), 'a plain fact');
  templates.learn(Buffer.from(line), { ...plain, ttl: 5 });
  expect(templates.take(Buffer.from(line), 0, line.length, new FactBlockBuilder())).toBe(false);
});
