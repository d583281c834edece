/**
 * `npm run bench -- space`: how many bytes a stored fact and a conclusion take, with and without the optional parts of
 * facts.
 *
 * Each line is a process of its own with its log in a folder that is removed at the end. "Bytes" is the growth of the
 * process, heap and buffers after a full collection, first as loaded, then with the index that the first question by key
 * makes; a conclusion is a row of a table with its justification, of the
 * rule `held(?v, ?k) :- item(?k, ?v)`. Peak is that of the whole process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openEngine, type Engine, present } from '../src/engine/index.ts';
import { caller, fact } from './calls.ts';
import { complete } from './contestants/contestant.ts';
import { heldBytes } from './contestants/rows.ts';
import { keyed } from './graphs.ts';
import { figure, table } from './report.ts';

const help = `npm run bench -- space [options]
  --facts A,B           how many (10000,100000,1000000)
  --help`;

const factsPerWrite = 50_000;
const day = 24 * 60 * 60_000;

/** The optional parts of the facts. */
const variants: Readonly<Record<string, FactForm>> = {
  plain: {},
  confidence: { metadata: (at) => ({ confidence: (at % 1000) / 1000 }) },
  'source and confidence': {
    metadata: (at) => ({ source: `source ${at % 20}`, confidence: (at % 100) / 100 }),
  },
  'a note each': { metadata: (at) => ({ source: `source ${at % 20}`, note: `what was seen in ${at}` }) },
  validity: { isTimed: true },
  'confidence and validity': { metadata: (at) => ({ confidence: (at % 1000) / 1000 }), isTimed: true },
};

interface FactForm {
  readonly metadata?: (at: number) => Record<string, string | number>;
  readonly isTimed?: true;
}

interface Weighed {
  readonly bytesPerFact: number;
  /** With an index of the first argument. */
  readonly bytesIndexed: number;
  readonly bytesPerConclusion: number;
}

async function tell(engine: Engine, count: number, { metadata, isTimed }: FactForm): Promise<void> {
  const rows = keyed(count, 61);
  const now = Date.now();
  for (let from = 0; from < rows.length; from += factsPerWrite) {
    const facts = rows.slice(from, from + factsPerWrite).map((row, at) => ({
      ...fact('item', row, { metadata: metadata?.(from + at) ?? null }),
      ...(isTimed === true ? { validFrom: now - day - from - at, validUntil: now + day + from + at } : {}),
    }));
    await engine.tellAll(caller, facts);
  }
}

/** Asks for facts by their first argument, until the store has a whole index of it. */
async function lookUp(engine: Engine): Promise<void> {
  for (let number = 0; number < 10_000; number++)
    await engine.query(caller, {
      predicate: 'item',
      args: [`key_${number}`, '?value'],
      scope: null,
      unscoped: false,
      truthVal: true,
      limit: 10,
      offset: 0,
    });
}

async function derive(engine: Engine): Promise<void> {
  const rest = { body: null, scope: null, unscoped: false, name: null, description: null, enabled: null };
  await engine.teach(caller, { text: 'held(?v, ?k) :- item(?k, ?v)', head: null, ...rest });
  await engine.ask(caller, {
    predicate: 'held',
    args: ['?v', '?k'],
    body: null,
    text: null,
    scope: null,
    unscoped: false,
    negated: false,
    withProof: false,
    allProofs: false,
    limit: 1,
    offset: 0,
    timeoutMs: 600_000,
    maxDerivations: 1_000_000_000,
  });
}

/** Memory in use once everything pending was freed. */
async function settledBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    heldBytes();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return heldBytes();
}

async function weigh(count: number, form: FactForm): Promise<Weighed> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-space-'));
  const engine = await openEngine({ storageDir: folder });
  try {
    const empty = await settledBytes();
    await tell(engine, count, form);
    // What the load set off, so that nothing is under way.
    await engine.snapshot();
    const stored = await settledBytes();
    await lookUp(engine);
    const indexed = await settledBytes();
    await derive(engine);
    const derived = await settledBytes();
    return {
      bytesPerFact: (stored - empty) / count,
      bytesIndexed: (indexed - empty) / count,
      bytesPerConclusion: (derived - indexed) / count,
    };
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true });
  }
}

async function lineOf(count: number, variant: string): Promise<string[]> {
  const self = fileURLToPath(import.meta.url);
  const args = ['--expose-gc', self, '--weigh', variant, '--facts', String(count)];
  const measured = await complete(process.execPath, args, { timeoutMs: 120_000 });
  const { bytesPerFact, bytesIndexed, bytesPerConclusion } = JSON.parse(measured.stdout) as Weighed;
  const peak = measured.peakBytes === null ? '-' : figure(measured.peakBytes / 1e6);
  return [
    `${count.toLocaleString('en-US')}, ${variant}`,
    figure(bytesPerFact),
    figure(bytesIndexed),
    figure(bytesPerConclusion),
    peak,
  ];
}

const { values } = parseArgs({
  options: {
    facts: { type: 'string', default: '10000,100000,1000000' },
    weigh: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const counts = values.facts.split(',').map(Number);
const names = Object.keys(variants);
if (values.help) console.log(help);
else if (values.weigh !== undefined) {
  const form = present(variants[values.weigh], `one of ${names.join(', ')}`);
  process.stdout.write(JSON.stringify(await weigh(counts[0] ?? 0, form)));
} else {
  const lines: string[][] = [];
  for (const count of counts) for (const variant of names) lines.push(await lineOf(count, variant));
  console.log(table(['facts', 'bytes a fact', 'with an index', 'bytes a conclusion', 'peak, MB'], lines));
}
