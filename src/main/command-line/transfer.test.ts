import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { parseArguments } from './arguments.ts';
import { clientCommandOf, runCommand } from './run.ts';

let service: ServiceUnderTest;
let folder: string;
let tenants = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
  folder = await mkdtemp(join(tmpdir(), 'corollary-files-'));
});

afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly printed: string[];
  readonly complaints: string[];
  readonly output: string;
  readonly progress: (string | null)[];
}

/** Runs the command line against the service. */
async function run(
  argv: readonly string[],
  { input = '', url = service.address, takes = Number.POSITIVE_INFINITY } = {},
): Promise<Ran> {
  const ran = { printed: [] as string[], complaints: [] as string[], progress: [] as (string | null)[] };
  let output = '';
  const command = parseArguments([...argv, '--url', url]);
  const code = await runCommand(clientCommandOf(command), command, {
    terminal: {
      print: (line) => void ran.printed.push(line),
      complain: (line) => void ran.complaints.push(line),
      progress: (line) => void ran.progress.push(line),
      input: Readable.from([Buffer.from(input)]),
      output: new Writable({
        write(chunk, _encoding, done) {
          output += String(chunk);
          done(output.length > takes ? new Error('the disk is full') : null);
        },
      }),
    },
    endpointFile: join(folder, 'none.json'),
    apiKey: null,
  });
  return { code, ...ran, output };
}

const newTenant = (): string => `t${++tenants}`;

async function fileOf(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

it.each([
  ['a.ndjson', '{"predicate":"p","args":["a","b"]}\n'],
  ['a.jsonl', '{"predicate":"p","args":["a","b"]}\n'],
  ['a.csv', 'p,a,b\n'],
  ['a.TSV', 'p\ta\tb\n'],
  ['a.dl', 'p(a, b).'],
  ['a.ttl', '@prefix : <urn:> . :a :p :b .'],
  ['a.nt', '<urn:a> <urn:p> <urn:b> .\n'],
])('import reads %s by its file name', async (name, text) => {
  const tenant = newTenant();
  const { code, printed, complaints } = await run(['import', await fileOf(name, text), '--tenant', tenant]);
  expect([code, complaints]).toEqual([0, []]);
  expect(printed[0]).toMatch(/^1 asserted, 0 updated, 0 unchanged, 0 rules, 0 failed; import \S+$/);
  const { output } = await run(['export', '--format', 'csv', '--tenant', tenant]);
  expect(output.replaceAll('urn:', '')).toBe('p,a,b\r\n');
});

it('import reads standard input in the given format, into a scope and for a predicate', async () => {
  const tenant = newTenant();
  const options = ['--tenant', tenant, '--format', 'csv', '--scope', 's', '--predicate', 'q'];
  expect((await run(['import', '-', ...options], { input: 'a\nb\n' })).code).toBe(0);
  const { output } = await run(['export', '--tenant', tenant, '--scope', 's', '--predicate', 'q']);
  expect(output.split('\n')[0]).toBe('{"predicate":"q","args":["a"],"scope":"s"}');
  expect((await run(['export', '--tenant', tenant, '--scope', 'other'])).output).toBe('');
});

it('import reports failed lines by file and number and exits with 1', async () => {
  const file = await fileOf('bad.csv', 'p,a\np,?x\n"\n');
  const { code, printed, complaints } = await run(['import', file, '--tenant', newTenant()]);
  expect(code).toBe(1);
  expect(complaints).toHaveLength(2);
  expect(complaints[0]).toMatch(`${file}:2: args.0: `);
  expect(complaints[1]).toMatch(`${file}:3: the quotation mark`);
  expect(printed[0]).toMatch('1 asserted, 0 updated, 0 unchanged, 0 rules, 2 failed');
  const many = await fileOf('many.csv', ')\n'.repeat(1003));
  const last = (await run(['import', many, '--tenant', newTenant()])).complaints.at(-1);
  expect(last).toBe('3 more lines failed.');
});

it('import with --dry-run reports what it would do and stores nothing', async () => {
  const tenant = newTenant();
  const file = await fileOf('dry.csv', 'p,a\n');
  const { code, printed } = await run(['import', file, '--dry-run', '--tenant', tenant]);
  expect([code, printed]).toEqual([
    0,
    ['1 asserted, 0 updated, 0 unchanged, 0 rules, 0 failed; nothing was stored'],
  ]);
  expect((await run(['export', '--tenant', tenant])).output).toBe('');
  const { printed: json } = await run(['import', file, '--dry-run', '--json', '--tenant', tenant]);
  expect(JSON.parse(json.join(''))).toMatchObject({ done: true, dryRun: true, asserted: 1 });
});

it('import and export show their progress', async () => {
  const tenant = newTenant();
  const lines = Array.from({ length: 60_000 }, (_, at) => `n,${at},${'x'.repeat(12)}\n`).join('');
  const { progress } = await run(['import', await fileOf('long.csv', lines), '--tenant', tenant]);
  expect(progress[0]).toMatch(/^\d+ read, \d+ new, 0 failed$/);
  expect(progress.at(-1)).toBeNull();
  const file = join(folder, 'long-again.csv');
  const again = await run(['export', '--output', file, '--tenant', tenant]);
  expect([again.code, again.progress.at(-1)]).toEqual([0, null]);
  expect(again.progress[0]).toMatch(/^\d+ MiB$/);
  expect((await readFile(file, 'utf8')).length).toBe(lines.length + 60_000);
});

it('export writes a file in the format of its name and reports what it left out', async () => {
  const tenant = newTenant();
  const input = 'p(a, b). -p(c). p(d).';
  await run(['import', '-', '--format', 'datalog', '--tenant', tenant], { input });
  const file = join(folder, 'out.nt');
  const { code, complaints } = await run(['export', '-o', file, '--tenant', tenant]);
  expect(code).toBe(0);
  expect(complaints).toEqual(['2 facts and rules are left out: ntriples cannot represent them.']);
  expect(await readFile(file, 'utf8')).toBe('<urn:corollary:a> <urn:corollary:p> "b" .\n');
  const text = join(folder, 'out.dl');
  await run(['export', '-o', text, '--tenant', tenant]);
  expect((await readFile(text, 'utf8')).split('\n').toSorted()).toEqual(['', '-p(c).', 'p(a, b).', 'p(d).']);
});

it('export makes csv safe for spreadsheets, and no other format', async () => {
  await service.call(
    'POST',
    '/assert/fact',
    { predicate: 'p', args: ['=1+1'] },
    { headers: { 'x-tenant-id': 'sheet' } },
  );
  const asked = ['export', '--tenant', 'sheet', '--escape', 'spreadsheet'];
  expect((await run([...asked, '--format', 'csv'])).output).toBe("p,'=1+1\r\n");
  expect(await run(asked)).toMatchObject({
    code: 2,
    complaints: [expect.stringContaining('is for the format csv')],
  });
});

it('export leaves no partial file when it fails', async () => {
  const half = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write('{"predicate":"p","args":[]}\n', () => response.destroy());
  });
  await new Promise<void>((resolve) => half.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void half.close());
  const url = `http://127.0.0.1:${(half.address() as AddressInfo).port}`;
  const file = join(folder, 'broken.ndjson');
  for (const argv of [
    ['export', '-o', file],
    ['import', await fileOf('x.csv', 'p\n')],
  ]) {
    const { code, complaints } = await run(argv, { url });
    expect(code).toBe(3);
    expect(complaints[0]).toMatch('the connection broke');
  }
  expect((await readdir(folder)).filter((name) => name.startsWith('broken'))).toEqual([]);
});

it('import and export report failures with exit codes and plain words', async () => {
  const tenant = newTenant();
  const file = await fileOf('named.txt', 'p');
  const csv = await fileOf('named.csv', 'p');
  for (const [argv, code, words] of [
    [['import'], 2, 'import needs one file'],
    [['import', csv, csv], 2, 'import needs one file'],
    [['import', file], 2, '--format'],
    [['import', '-'], 2, '--format'],
    [['import', csv, '--format', 'xml'], 2, 'there is no format xml'],
    [['import', join(folder, 'missing.csv')], 2, 'cannot be read'],
    [['import', folder, '--format', 'csv'], 2, 'cannot be read'],
    [['export', csv], 2, '--output'],
    [['export', '--format', 'turtle'], 2, 'there is no format turtle'],
    [['export', '-o', join(folder, 'no', 'such.csv')], 2, 'cannot be written'],
    [['import', csv, '--database', 'nowhere'], 4, 'DatabaseNotFound'],
    [['export', '--database', 'nowhere'], 4, 'DatabaseNotFound'],
    [['import', csv, '--scope', '\n'], 4, 'ValidationException'],
  ] as const) {
    const ran = await run([...argv, '--tenant', tenant]);
    expect([argv, ran.code, ran.printed]).toEqual([argv, code, []]);
    expect(ran.complaints[0]).toContain(words);
  }
  const { code } = await run(['export'], { url: 'http://127.0.0.1:9' });
  expect(code).toBe(3);
});
