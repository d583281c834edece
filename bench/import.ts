/**
 * `npm run bench -- import`: how long a large import over HTTP takes, durable, and how much memory it needs.
 *
 * The whole service runs in this process, with a folder of its own that is removed at the end; the file is generated
 * while it is sent. It is imported twice, the second time with nothing new except uses of the facts; then as many lines
 * are sent that all fail, so that the growth of the process shows what importing itself needs. At the end everything is
 * exported.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { importTypes, type ImportDone } from '../src/engine/contract/transfer.ts';
import { assert } from '../src/engine/index.ts';
import { parseConfig } from '../src/main/base/config.ts';
import { startService } from '../src/main/service/service.ts';
import { createLogger } from '../src/main/telemetry/logger.ts';

const help = `npm run bench -- import [options]
  --facts N             facts in the file (1000000)
  --type TYPE           ${importTypes.join(', ')} (application/x-ndjson)
  --lines KIND          of NDJSON: plain, metadata, notes, validity, ttl, reject or supersede (plain)
  --help`;

const lineOf: Readonly<Record<(typeof importTypes)[number], (number: number) => string>> = {
  'application/x-ndjson': (number) => lineWith(() => '')(number),
  'text/csv': (number) => `edge,node${number},node${other(number)}\n`,
  'text/tab-separated-values': (number) => `edge\tnode${number}\tnode${other(number)}\n`,
  'text/x-datalog': (number) => `edge(node${number}, node${other(number)}).\n`,
  'text/turtle': (number) => `<http://e/${number}> <http://e/edge> <http://e/${other(number)}> .\n`,
  'application/n-triples': (number) => `<http://e/${number}> <http://e/edge> <http://e/${other(number)}> .\n`,
};

/** The optional fields of a line of NDJSON; with `reject` and `supersede` its relation has a declared key. */
const fieldsOf: Readonly<Record<string, (number: number) => string>> = {
  plain: () => '',
  metadata: (number) => `,"metadata":{"source":"source ${number % 20}","confidence":${(number % 100) / 100}}`,
  notes: (number) => `,"metadata":{"source":"source ${number % 20}","note":"what was seen in ${number}"}`,
  validity: (number) => `,"validFrom":${1_700_000_000_000 + number},"validUntil":"2199-01-01T00:00:00Z"`,
  ttl: (number) => `,"ttl":${1_000_000_000 + number}`,
  reject: () => '',
  supersede: () => '',
};

function lineWith(fields: (number: number) => string): (number: number) => string {
  return (number) =>
    `{"predicate":"edge","args":["node${number}","node${other(number)}"]${fields(number)}}\n`;
}

function other(number: number): number {
  return (number * 7919) % 1_000_003;
}

function* file(facts: number, line: (number: number) => string): Generator<Buffer> {
  const linesInChunk = 1000;
  for (let from = 0; from < facts; from += linesInChunk) {
    let chunk = '';
    for (let at = from; at < Math.min(facts, from + linesInChunk); at++) chunk += line(at);
    yield Buffer.from(chunk);
  }
}

/** Sends the file as clients do, which say its length. */
function post(address: string, type: string, body: () => Iterable<Buffer>): Promise<string> {
  let length = 0;
  for (const chunk of body()) length += chunk.length;
  return new Promise((resolve, reject) => {
    const headers = { 'x-tenant-id': 'bench', 'content-type': type, 'content-length': length };
    const sent = request(`${address}/import`, { method: 'POST', headers }, (response) => {
      text(response).then(resolve, reject);
    });
    sent.on('error', reject);
    Readable.from(body()).pipe(sent);
  });
}

async function declareKey(address: string, onConflict: 'reject' | 'supersede'): Promise<void> {
  const declaration = { arguments: [{ name: 'from' }, { name: 'to' }], key: ['from'], onConflict };
  const response = await fetch(`${address}/predicates/edge/2`, {
    method: 'PUT',
    headers: { 'x-tenant-id': 'bench', 'content-type': 'application/json' },
    body: JSON.stringify(declaration),
  });
  assert(response.ok, `the key is declared: ${await response.text()}`);
}

const mebibyte = 1024 * 1024;

/** Runs the step and prints its cost: seconds, and the maximum growth of the process. */
async function measured(name: string, step: () => Promise<string>): Promise<void> {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let greatest = before;
  const timer = setInterval(() => {
    greatest = Math.max(greatest, process.memoryUsage().rss);
  }, 20);
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const told = await step();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(timer);
  const grown = Math.round((greatest - before) / mebibyte);
  const worked = ((user + system) / 1e6).toFixed(1);
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${worked} s of them CPU, at most ${grown} MiB more memory${told}`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      facts: { type: 'string', default: '1000000' },
      type: { type: 'string', default: 'application/x-ndjson' },
      lines: { type: 'string', default: 'plain' },
      help: { type: 'boolean', default: false },
    },
  });
  const type = importTypes.find((each) => each === values.type);
  const fields = fieldsOf[values.lines];
  if (values.help || type === undefined || fields === undefined) {
    console.log(help);
    return;
  }
  const facts = Number(values.facts);
  const line = type === 'application/x-ndjson' ? lineWith(fields) : lineOf[type];
  const folder = mkdtempSync(join(tmpdir(), 'corollary-import-'));
  const config = parseConfig({ STORAGE_DIR: folder }, { host: '127.0.0.1', port: 0 });
  const log = createLogger({ level: 'ERROR', format: 'json', write: (line) => process.stderr.write(line) });
  const service = await startService({ ...config, endpointFile: null }, { log });
  try {
    if (values.lines === 'reject' || values.lines === 'supersede')
      await declareKey(service.address, values.lines);
    for (const name of ['import', 'the same again'])
      await measured(name, async () => {
        const answer = await post(service.address, type, () => file(facts, line));
        const done = JSON.parse(answer.trim().split('\n').at(-1) ?? '') as ImportDone;
        // A `ttl` sent again ends later.
        const stored = name === 'import' ? done.asserted : done.unchanged + done.updated;
        assert(stored === facts && done.failed === 0, `${name} stores all: ${JSON.stringify(done)}`);
        return '';
      });
    await measured('lines that fail', async () => {
      const answer = await post(service.address, type, () => file(facts, (number) => `)${number}\n`));
      const done = JSON.parse(answer.trim().split('\n').at(-1) ?? '') as ImportDone;
      assert(done.asserted === 0 && done.failed > 0, `all fail: ${JSON.stringify(done).slice(0, 500)}`);
      return '';
    });
    await measured('export', async () => {
      const response = await fetch(`${service.address}/export`, { headers: { 'x-tenant-id': 'bench' } });
      let bytes = 0;
      for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length;
      return `, ${Math.round(bytes / mebibyte)} MiB`;
    });
  } finally {
    await service.close();
    rmSync(folder, { recursive: true });
  }
}

await main();
