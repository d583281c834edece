/**
 * `npm run bench -- http`: what a call over HTTP costs the server, compared with a bare Fastify and SWI-Prolog's HTTP
 * library.
 *
 * The built service runs with its defaults, with its log and every write durable. All servers get the same bodies from
 * the same clients in this process and take turns, round by round; first every server's answers are checked.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from '../contestants/contestant.ts';
import { figure } from '../report.ts';
import {
  type Measured,
  perCpuSecond,
  perSecond,
  rateTable,
  ratioOf,
  type Rounds,
  shareOf,
  thousands,
  verdict,
} from './figures.ts';
import { load, type Load, post, storeBatches } from './load.ts';
import { prologProgram } from './prolog-program.ts';
import { expectedAnswers, familyTree, namedIn, newFact, questions, rule } from './requests.ts';
import { builtService, type Server, startServer } from './server.ts';

const help = `npm run bench -- http [options]     (after npm run build)
  --rounds N            rounds, of which the median counts (3)
  --seconds N           seconds of each load (2)
  --output FILE         write the table there too, as Markdown
  --help`;

const own = 'Corollary';
const undurable = 'Corollary, FSYNC=never';
const bare = 'Fastify, bare';
const prolog = 'SWI-Prolog';

const manyConnections = 64;
const batches = { size: 10_000, count: 10, clients: 4 };

/** Calls before the first round, but for at most this many seconds. */
const warmingCalls = 20_000;
const mostWarmings = 6;

interface Options {
  readonly rounds: number;
  readonly seconds: number;
}

function loads(seconds: number): Load[] {
  return [
    { path: '/query', connections: manyConnections, seconds },
    { path: '/ask', connections: manyConnections, seconds },
    ...[1, 8, manyConnections].map((connections) => ({ path: '/tell', connections, seconds }) as const),
  ];
}

function labelOf({ path, connections }: Load): string {
  return `${path}, ${connections} ${connections === 1 ? 'client' : 'clients'}`;
}

const here = dirname(fileURLToPath(import.meta.url));

async function teach(server: Server): Promise<void> {
  await post(server, '/assert/facts', JSON.stringify({ facts: familyTree() }));
  if (server.name !== prolog) await post(server, '/teach', JSON.stringify({ text: rule }));
}

/** Rejects a server that does not answer every question correctly. */
async function checkAnswers(server: Server): Promise<void> {
  for (const path of ['/query', '/ask'] as const) {
    const expected = expectedAnswers(path);
    for (const [index, body] of questions(path).entries()) {
      const found = namedIn(path, await post(server, path, body));
      if (JSON.stringify(found) !== JSON.stringify(expected[index]))
        throw new Error(`${server.name} answered ${path} ${body} with ${found.join(', ')}`);
    }
  }
  const body = newFact();
  const { args, ...rest } = JSON.parse(body) as { predicate: string; args: string[] };
  const { status } = (await post(server, '/tell', body)) as { status: string };
  const question = JSON.stringify({ ...rest, args: [args[0], '?other'] });
  const found = await post(server, '/query', question);
  if (status !== 'asserted' || (found as unknown[]).length !== 1)
    throw new Error(`${server.name} does not know the facts that it was told`);
}

/** Starts, teaches and checks all servers; running ones are in `servers` even if it fails. */
async function startAll(folder: string, servers: Server[]): Promise<void> {
  const service = await startServer(builtService(own, here, folder, 'always'), folder);
  servers.push(service);
  await teach(service);
  const answers = {
    '/query': await post(service, '/query', questions('/query')[5] ?? ''),
    '/ask': await post(service, '/ask', questions('/ask')[5] ?? ''),
    '/tell': await post(service, '/tell', newFact()),
  };
  const args = [join(here, 'fastify-child.js'), JSON.stringify(answers)];
  servers.push(await startServer({ name: bare, command: process.execPath, args }, folder));
  if (spawnSync('swipl', ['--version']).error === undefined) {
    const program = join(folder, 'server.pl');
    writeFileSync(program, prologProgram(manyConnections));
    const server = await startServer({ name: prolog, command: 'swipl', args: [program] }, folder);
    servers.push(server);
    await teach(server);
  } else console.log('SWI-Prolog: not installed, left out');
  const second = await startServer(builtService(undurable, here, folder, 'never'), folder);
  servers.push(second);
  await teach(second);
  for (const server of servers) if (server.name !== bare) await checkAnswers(server);
}

/** The servers of a load: one that is not durable takes part only in writes by many. */
function measuredFor(servers: readonly Server[], { path, connections }: Load): Server[] {
  return servers.filter(
    ({ name }) => name !== undurable || (path === '/tell' && connections === manyConnections),
  );
}

function note(
  rounds: Map<string, Map<string, Measured[]>>,
  cell: string,
  server: string,
  measured: Measured,
): void {
  const byServer = rounds.get(cell) ?? new Map<string, Measured[]>();
  byServer.set(server, [...(byServer.get(server) ?? []), measured]);
  rounds.set(cell, byServer);
  const [cpu, second] = [perCpuSecond(measured), perSecond(measured)].map(thousands);
  console.log(`  ${cell}: ${server}: ${cpu} by CPU-second, ${second} by second`);
}

/** A program becomes fast by the number of calls, not by time. */
async function warm(server: Server, each: Load): Promise<void> {
  let calls = 0;
  for (let tries = 0; calls < warmingCalls && tries < mostWarmings; tries++)
    calls += (await load(server, { ...each, seconds: 1 })).answered;
  if (calls < warmingCalls)
    console.log(
      `  ${server.name}: ${each.path}: ${thousands(calls)} of ${thousands(warmingCalls)} calls to warm up`,
    );
}

function loadOfMachine(): string {
  return `load average ${figure(loadavg()[0] ?? 0)} on ${availableParallelism()} processors`;
}

async function measureAll(
  servers: readonly Server[],
  options: Options,
): Promise<ReadonlyMap<string, Rounds>> {
  const all = loads(options.seconds);
  console.log(`warming up, ${loadOfMachine()}`);
  for (const each of all.filter(({ connections }) => connections === manyConnections))
    for (const server of measuredFor(servers, each)) await warm(server, each);
  const rounds = new Map<string, Map<string, Measured[]>>();
  const service = servers.find(({ name }) => name === own);
  if (service === undefined) throw new Error('the service was not started');
  await storeBatches(service, batches);
  for (let round = 0; round < options.rounds; round++) {
    console.log(`round ${round + 1} of ${options.rounds}`);
    for (const each of all)
      for (const server of measuredFor(servers, each))
        note(rounds, labelOf(each), server.name, await load(server, each));
    const label = `/assert/facts, facts, ${batches.size} a batch, ${batches.clients} clients`;
    note(rounds, label, own, await storeBatches(service, batches));
  }
  return rounds;
}

function verdicts(cells: ReadonlyMap<string, Rounds>): string[] {
  const cell = (start: string): Rounds =>
    [...cells].find(([label]) => label.startsWith(start))?.[1] ?? new Map<string, Measured[]>();
  const ratio = (start: string, other: string): number | null =>
    ratioOf(cell(start), own, other, perCpuSecond);
  const questionsOf = (other: string, wanted: number) =>
    ['/query', '/ask'].map((path) => ({
      title: `${path} by CPU-second, of what ${other} does,`,
      value: ratio(path, other),
      wanted,
      isMost: false,
      print: figure,
    }));
  const durable = cell('/assert/facts').get(own) ?? [];
  return [
    ...questionsOf(bare, 0.6),
    ...questionsOf(prolog, 2),
    {
      title: `durability's share of the CPU time of /tell by ${manyConnections}`,
      value: shareOf(cell(`/tell, ${manyConnections}`), own, undurable),
      wanted: 0.2,
      isMost: true,
      print: (value: number) => `${(100 * value).toFixed(0)}%`,
    },
    {
      title: 'durable facts a second by /assert/facts',
      value: durable.length === 0 ? null : median(durable.map(perSecond)),
      wanted: 80_000,
      isMost: false,
      print: thousands,
    },
  ].map(verdict);
}

function readOptions(): (Options & { output: string | null }) | null {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '2' },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  if (!(Number.isInteger(rounds) && rounds > 0 && seconds > 0))
    throw new Error('--rounds and --seconds take numbers above 0');
  return { rounds, seconds, output: values.output ?? null };
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) {
    console.log(help);
    return;
  }
  if (!existsSync('/proc/self/stat')) throw new Error('CPU time is read from /proc: this needs Linux');
  const folder = mkdtempSync(join(tmpdir(), 'corollary-http-'));
  const servers: Server[] = [];
  try {
    await startAll(folder, servers);
    const cells = await measureAll(servers, options);
    const text = rateTable(
      servers.map(({ name }) => name),
      cells,
    );
    console.log(
      `\nAnswers by server CPU-second / by second, median of ${options.rounds}; in brackets: what ${own} reaches of it by CPU-second.\n`,
    );
    console.log(text);
    console.log(`\n${loadOfMachine()}`);
    console.log(`\n${verdicts(cells).join('\n')}`);
    if (options.output !== null) writeFileSync(options.output, `${text}\n`);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
