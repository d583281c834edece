import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { type ImportItems, singly } from './items.ts';
import { readNTriples, readTurtle } from './triples.ts';

interface Read {
  readonly facts: readonly (readonly string[])[];
  readonly problems: readonly number[];
  /** The largest number of items that arrived at once. */
  readonly most: number;
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

const pause = (): Promise<void> => Promise.resolve();

function read(text: string): Promise<Read> {
  return readAll(readTurtle(bytesOf(text), null, pause, 'n'));
}

async function readAll(given: ImportItems): Promise<Read> {
  const facts: string[][] = [];
  const problems: number[] = [];
  let most = 0;
  for await (const items of singly(given)) {
    most = Math.max(most, items.length);
    for (const { line, what } of items)
      if (what.kind === 'fact') facts.push([what.fact.predicate, ...what.fact.args]);
      else problems.push(line);
  }
  return { facts, problems, most };
}

it('reads a line of very many triples in pieces, whatever their boundaries', async () => {
  const objects = Array.from({ length: 30_000 }, (_, at) => `"😀${'x'.repeat(at % 7)}${at}"`);
  const { facts, problems, most } = await read(`<urn:s> <urn:p> ${objects.join(',')} .\n`);
  expect(problems).toEqual([]);
  expect(facts).toEqual(objects.map((object) => ['urn:p', 'urn:s', object.slice(1, -1)]));
  expect(most).toBeLessThan(10_000);
});

it('keeps the latest two hundred prefixes after a failed statement', async () => {
  const prefixes = Array.from({ length: 300 }, (_, at) => `@prefix p${at}: <urn:${at}:> .\n`).join('');
  const { facts, problems } = await read(
    `${prefixes}p0:a p1:b p2:c .\nx x x .\np299:a p100:b p200:c .\np0:a p299:b p200:c .\n`,
  );
  expect(facts).toEqual([
    ['urn:1:b', 'urn:0:a', 'urn:2:c'],
    ['urn:100:b', 'urn:299:a', 'urn:200:c'],
  ]);
  expect(problems).toEqual([302, 304]);
});

it('reads a plain line of N-Triples as it reads the same line with a comment', async () => {
  const iris = ['urn:a', 'http://e/ü#😀', 'a:', 'relative', 'urn:a b', 'urn:\\u0041', '', 'urn:{'];
  const objects = [...iris.map((iri) => `<${iri}>`), '"text"', '""', '"ü 😀\t"', '"a\\"b"', '"x"@en', '_:b'];
  const lines = iris.flatMap((subject) =>
    iris.flatMap((predicate) => objects.flatMap((object) => [`<${subject}> <${predicate}> ${object} .`])),
  );
  const [plain, parsed] = await Promise.all(
    ['', ' # with a comment'].map((comment) =>
      readAll(readNTriples(bytesOf(lines.map((line) => `${line}${comment}\n`).join('')), null, pause)),
    ),
  );
  expect(plain?.facts.length).toBeGreaterThan(100);
  expect(plain?.problems.length).toBeGreaterThan(100);
  expect(plain).toEqual(parsed);
});
