/**
 * Hostile knowledge is exported in every format and comes back as the format promises, and any input reads the same,
 * however it is cut into pieces.
 */
import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { factSchema } from '../../engine/contract/facts.ts';
import {
  type ExportFormat,
  exportQuerySchema,
  type ImportDone,
  importQuerySchema,
  type ImportType,
  importTypes,
} from '../../engine/contract/transfer.ts';
import { ruleInputSchema } from '../../engine/contract/rules.ts';
import { type Engine, openEngine } from '../../engine/index.ts';
import { testCaller } from '../../engine/testing/engine-fixtures.ts';
import { exportDownload } from './export-knowledge.ts';
import { importKnowledge } from './import-knowledge.ts';

const numRuns = process.env['LONG'] === undefined ? 40 : 1000;
let engine: Engine;
let tenants = 0;

beforeAll(async () => {
  engine = await openEngine({ storageDir: null });
});

afterAll(() => engine.close());

const newTenant = (): string => `tenant-${++tenants}`;

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function imported(
  tenant: string,
  type: ImportType,
  bytes: Buffer,
  sizes: readonly number[],
  database = 'default',
): Promise<ImportDone> {
  const upload = { type, bytes: bytes.length, chunks: cut(bytes, sizes), once: null };
  let last: unknown = null;
  const lines = importKnowledge(
    engine,
    testCaller({ tenant, database }),
    importQuerySchema.parse({}),
    upload,
  );
  for await (const line of lines) last = line;
  return last as ImportDone;
}

async function exported(
  tenant: string,
  format: ExportFormat,
  database = 'default',
): Promise<{ text: string; omitted: number | null }> {
  let text = '';
  const query = exportQuerySchema.parse({ format });
  const { omitted } = await exportDownload(engine, testCaller({ tenant, database }), query).run(
    async (part) => {
      text += part;
    },
  );
  return { text, omitted };
}

const constant = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom(...'",\\\r\n\t ().%#?_:<>x\u0000\u007f\u0085\u2028\ufeff😀'),
      maxLength: 8,
    }),
    fc.constantFrom('_:b1', '_:x.', 'http://e/a', 'http://e/a b', 'urn:x:%20', '007', '-1e3'),
  )
  .map((text) => text.replace(/^\?/, '!'));
const predicate = fc.constantFrom('p', 'a.b', '=p', 'ü', 'x:y', 'not', 'count', 'http://e/p#q', '<', '_');
const fact = fc.record(
  {
    predicate: predicate.filter((name) => name !== '<'),
    args: fc.array(constant, { maxLength: 3 }),
    truthVal: fc.boolean(),
    scope: fc.constantFrom('s', 'T u', 'ü/"'),
    validFrom: fc.constantFrom(1, 32_503_670_000_000),
    validUntil: fc.constantFrom(32_503_680_000_000, 32_503_680_000_001),
    // A field of this name is refused, at any depth.
    metadata: fc
      .dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 })
      .filter((metadata) => !JSON.stringify(metadata).includes('"__proto__"')),
  },
  { requiredKeys: ['predicate', 'args'] },
);
const knowledge = fc.array(fact, { minLength: 1, maxLength: 30 });
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

async function stored(facts: readonly unknown[]): Promise<string> {
  const tenant = newTenant();
  const valid = facts.flatMap((each) => {
    const parsed = factSchema.safeParse(JSON.parse(JSON.stringify(each)));
    return parsed.success ? [parsed.data] : [];
  });
  if (valid.length > 0) await engine.tellAll(testCaller({ tenant }), valid);
  return tenant;
}

const typeOf: Readonly<Record<ExportFormat, ImportType>> = {
  ndjson: 'application/x-ndjson',
  datalog: 'text/x-datalog',
  csv: 'text/csv',
  ntriples: 'application/n-triples',
};

it.each(['ndjson', 'datalog', 'csv'] as const)('an export as %s comes back the same', async (format) => {
  await fc.assert(
    fc.asyncProperty(knowledge, sizes, async (facts, pieces) => {
      const tenant = await stored(facts);
      const { text, omitted } = await exported(tenant, format);
      const held = await everything(tenant);
      expect(omitted).toBe(format === 'csv' ? held.filter(({ truthVal }) => !truthVal).length : 0);
      const other = newTenant();
      const done = await imported(other, typeOf[format], Buffer.from(text), pieces);
      expect(done.errors).toEqual([]);
      // Facts of several scopes may be equal without them.
      const again = (await exported(other, format)).text;
      if (format === 'ndjson') {
        expect(again).toBe(text);
        expect(await everything(other)).toEqual(held);
        return;
      }
      expect(distinct(again)).toEqual(distinct(text));
      const promised = held.filter(({ truthVal }) => truthVal || format === 'datalog');
      expect(identities(await everything(other))).toEqual(identities(promised));
    }),
    { numRuns },
  );
});

it('an export as ntriples has the true binary facts, and counts the rest', async () => {
  await fc.assert(
    fc.asyncProperty(knowledge, sizes, async (facts, pieces) => {
      const tenant = await stored(facts);
      const { text, omitted } = await exported(tenant, 'ntriples');
      const held = await everything(tenant);
      const promised = held.filter(({ truthVal, args }) => truthVal && args.length === 2);
      expect(omitted).toBe(held.length - promised.length);
      const other = newTenant();
      const done = await imported(other, 'application/n-triples', Buffer.from(text), pieces);
      expect(done.errors).toEqual([]);
      // A term that was no IRI becomes one where only an IRI is allowed.
      const names = (facts: readonly Stated[]): string[] =>
        identities(facts.map((fact) => ({ ...fact, args: fact.args.slice(1) }))).map(plain);
      expect(new Set(names(await everything(other)))).toEqual(new Set(names(promised)));
    }),
    { numRuns },
  );
});

it('rules come back with scope, name, description and enabled flag', async () => {
  const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
  const rule = fc.record(
    {
      at: fc.nat(5),
      constant,
      truthVal: fc.boolean(),
      scope: fc.constantFrom('s', 'T u', 'ü/"'),
      name: words,
      description: words,
      enabled: fc.boolean(),
    },
    { requiredKeys: ['at', 'constant', 'truthVal'] },
  );
  let databases = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { minLength: 1, maxLength: 8 }), sizes, async (rules, pieces) => {
      const [database, other] = [`one-${++databases}`, `two-${databases}`];
      for (const each of [database, other]) await engine.createDatabase(testCaller(), each);
      for (const { at, constant: text, truthVal, ...rest } of rules) {
        const head = { predicate: `h${at}`, args: ['?x', text], negated: !truthVal };
        const body = [
          { predicate: 'p', args: ['?x', text] },
          { predicate: 'q', args: ['?x', '?_'], naf: true },
        ];
        const parsed = ruleInputSchema.safeParse({ head, body, ...rest });
        if (parsed.success) await engine.teach(testCaller({ database }), parsed.data);
      }
      for (const format of ['ndjson', 'datalog'] as const) {
        const { text, omitted } = await exported('default', format, database);
        expect(omitted).toBe(0);
        const into = format === 'ndjson' ? other : `${other}-datalog`;
        if (into !== other) await engine.createDatabase(testCaller(), into);
        const done = await imported('default', typeOf[format], Buffer.from(text), pieces, into);
        expect(done.errors).toEqual([]);
        const again = (await exported('default', format, into)).text;
        // Rules that differ only in their scopes are equal without them.
        if (format === 'ndjson') expect(again).toBe(text);
        else expect(distinct(again)).toEqual(distinct(text));
      }
    }),
    { numRuns: numRuns / 2 },
  );
});

it('every text comes back as the object of a triple', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(constant, { minLength: 1, maxLength: 20 }), sizes, async (texts, pieces) => {
      const facts = texts.map((object) => ({ predicate: 'http://e/p', args: ['http://e/s', object] }));
      const { text, omitted } = await exported(await stored(facts), 'ntriples');
      const other = newTenant();
      const done = await imported(other, 'application/n-triples', Buffer.from(text), pieces);
      expect([omitted, done.errors, done.asserted]).toEqual([0, [], new Set(texts).size]);
      const found = await engine.query(testCaller({ tenant: other }), {
        predicate: 'http://e/p',
        args: ['http://e/s', '?o'],
        scope: null,
        unscoped: false,
        truthVal: null,
        limit: null,
        offset: 0,
      });
      expect(new Set(found.map(({ args }) => args[1]))).toEqual(new Set(texts));
    }),
    { numRuns },
  );
});

it.each(importTypes)('any input as %s reads the same, however it is cut', async (type) => {
  const text = fc.string({
    unit: fc.constantFrom(
      ...'pq(),.:-?x "\\\n\r\t%#<>{}[]@_;\ufeff',
      'p(a).\n',
      '<http://e/a> ',
      '{"predicate":"p",',
      '"args":[]}\n',
      '@prefix e: <http://e/> .\n',
      'e:a e:b "c" .\n',
      ' .\n',
    ),
    maxLength: 60,
  });
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    text.map((each) => Buffer.from(each)),
    fc
      .tuple(text, fc.uint8Array({ maxLength: 3 }), text)
      .map(([before, bytes, after]) => Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])),
  );
  await fc.assert(
    fc.asyncProperty(anything, sizes, async (bytes, pieces) => {
      const [one, other] = [newTenant(), newTenant()];
      const whole = await imported(one, type, bytes, [bytes.length + 1]);
      const inPieces = await imported(other, type, bytes, pieces);
      const { id: _one, generation: _first, ...expected } = whole;
      const { id: _other, generation: _second, ...found } = inPieces;
      expect(found.failed).toBe(expected.failed);
      expect(found.errors).toEqual(expected.errors);
      expect(found.asserted).toBe(expected.asserted);
    }),
    { numRuns },
  );
});

/** A fact as NDJSON has it. */
interface Stated {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}

/** Everything stored, in the order of an export. */
async function everything(tenant: string): Promise<Stated[]> {
  const { text } = await exported(tenant, 'ndjson');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => ({ truthVal: true, ...(JSON.parse(line) as Omit<Stated, 'truthVal'>) }))
    .filter((each) => 'predicate' in each);
}

/** Predicate, arguments and truth value of each, distinct and sorted. */
function identities(facts: readonly Stated[]): string[] {
  const names = facts.map(({ predicate: name, args, truthVal }) => JSON.stringify([name, args, truthVal]));
  return [...new Set(names)].toSorted();
}

/** Without what turns a text into an IRI. */
function plain(identity: string): string {
  const [name, ...rest] = JSON.parse(identity) as [string, ...unknown[]];
  const prefix = 'urn:corollary:';
  const text = name.startsWith(prefix) ? decodeURIComponent(name.slice(prefix.length)) : name;
  return JSON.stringify([text, ...rest]);
}

function distinct(text: string): string[] {
  return [...new Set(text.split('\n'))].sort((left, right) => (left < right ? -1 : Number(left > right)));
}

/** A line of NDJSON as programs write them, and then with a few characters changed, or not. */
const line = fc
  .tuple(
    fc.record({
      predicate: fc.constantFrom('p', 'q', 'ü'),
      args: fc.array(constant, { minLength: 1, maxLength: 3 }),
    }),
    fc.constantFrom(
      (fact: object) => JSON.stringify(fact),
      (fact: object) => JSON.stringify({ ...fact, scope: 's' }),
      (fact: object) => JSON.stringify({ scope: 's', truthVal: false, ...fact }),
      (fact: object) => JSON.stringify({ ...fact, metadata: { importance: 1 } }),
      (fact: object) => JSON.stringify({ ...fact, validFrom: 1, validUntil: 32_503_680_000_000 }),
      (fact: object) => JSON.stringify({ ...fact, validFrom: '2024-01-01T00:00:00Z' }),
      (fact: object) => JSON.stringify({ ...fact, metadata: { note: ['x', { y: null }], of: 0.5 } }),
      (fact: object) => ` ${JSON.stringify(fact)}\r`,
      (fact: object) => JSON.stringify(fact).replaceAll('","', '", "').replaceAll(':', ': '),
    ),
    fc.array(
      fc.record({
        at: fc.nat(100),
        cut: fc.nat(1),
        put: fc.constantFrom(
          '',
          '"',
          ',',
          ' ',
          '[',
          ']',
          '?',
          '\\',
          '{',
          '}',
          '\u0001',
          'é',
          '\\u00e9',
          '\n',
          '0',
          '-',
          '.',
          'e',
          ':',
        ),
      }),
      { maxLength: 2 },
    ),
  )
  .map(([each, write, changes]) => {
    let text = write(each);
    for (const { at, cut: gone, put } of changes) text = text.slice(0, at) + put + text.slice(at + gone);
    return text;
  });

it('a line of NDJSON reads the same, whatever is before it', { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 40 }), sizes, async (written, pieces) => {
      const lines = written.join('\n').split('\n');
      const [together, apart] = [newTenant(), newTenant()];
      const done = await imported(together, 'application/x-ndjson', Buffer.from(lines.join('\n')), pieces);
      const counts = { asserted: 0, updated: 0, unchanged: 0, failed: 0 };
      const errors: ImportDone['errors'][number][] = [];
      for (const [at, each] of lines.entries()) {
        const alone = await imported(apart, 'application/x-ndjson', Buffer.from(each), [1000]);
        for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += alone[name];
        errors.push(...alone.errors.map(({ message }) => ({ line: at + 1, message })));
      }
      expect(done).toMatchObject({ ...counts, errors });
      expect(await exported(together, 'ndjson')).toEqual(await exported(apart, 'ndjson'));
    }),
    { numRuns },
  );
});
