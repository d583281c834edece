/**
 * `npm run bench -- mcp`: what a tool call costs the server, compared with bare servers of the SDK and the official
 * memory server.
 *
 * The built service runs with its defaults, with its log and every write durable, and so do the others, each in a
 * process of its own. The clients are lean and in this process. Servers take turns, round by round; first their answers
 * are checked.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type Measured,
  perCpuSecond,
  perSecond,
  rateTable,
  ratioOf,
  type Rounds,
  thousands,
  verdict,
} from '../http/figures.ts';
import { post } from '../http/load.ts';
import { rule } from '../http/requests.ts';
import { builtService, type Server, startServer } from '../http/server.ts';
import { figure } from '../report.ts';
import { type Client, type Place, sessionClient, sseClient, statelessClient } from './clients.ts';
import { measureIdle } from './idle.ts';
import { load, type Loaded } from './load.ts';
import { startMemoryServer } from './memory-server.ts';
import {
  checkMemory,
  checkService,
  facts,
  type Kind,
  kinds,
  memoryWorks,
  resultIn,
  serviceCalls,
  type Work,
} from './questions.ts';

const help = `npm run bench -- mcp [options]     (after npm run build)
  --rounds N            rounds, of which the median counts (3)
  --calls N             calls of each load (3000; of the memory server a fiftieth)
  --only A,B            only these parts: calls, memory, idle
  --output FILE         write the tables there too, as Markdown
  --help`;

const own = 'Corollary';
const second = 'SDK, bare';
const first = 'first SDK, bare';
const memory = 'memory server';

/** Clients of each server except the memory server, which always has one. */
const manyClients = 16;
/** The memory server is so much slower that as many calls would take minutes. */
const fewer = 50;
/** On a busy machine a load ends early. */
const mostSeconds = 5;
/** A program becomes fast by the number of calls: so many of each load before the first round. */
const warming = 2;

const parts = ['calls', 'memory', 'idle'] as const;
type Part = (typeof parts)[number];

interface Options {
  readonly rounds: number;
  readonly calls: number;
  readonly chosen: readonly Part[];
}

const here = dirname(fileURLToPath(import.meta.url));

/** The transports, and the address of each server's. */
const transports = [
  {
    name: '2025-11-25, session',
    open: sessionClient,
    paths: { [own]: '/mcp', [second]: '/mcp', [first]: '/mcp' },
  },
  { name: '2026-07-28', open: statelessClient, paths: { [own]: '/mcp', [second]: '/stateless' } },
  { name: 'SSE', open: sseClient, paths: { [own]: '/mcp/sse', [first]: '/sse' } },
] as const;

type Transport = (typeof transports)[number];

const titles: Readonly<Record<Kind, string>> = {
  fact: 'ask for stored facts',
  rule: 'ask, one rule',
  tell: 'tell',
};

async function clientsOf(open: Transport['open'], place: Place, count: number): Promise<Client[]> {
  const clients: Client[] = [];
  for (let opened = 0; opened < count; opened++) clients.push(await open(place));
  return clients;
}

/** Starts the service and tells it everything; answers are checked over each transport. */
async function startService(folder: string): Promise<Server> {
  const service = await startServer(builtService(own, here, folder, 'always'), folder);
  try {
    await post(service, '/assert/facts', JSON.stringify({ facts }));
    await post(service, '/teach', JSON.stringify({ text: rule }));
    for (const { open, paths } of transports) {
      const client = await open({ address: service.address, path: paths[own] });
      await checkService(client);
      client.close();
    }
    return service;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** Starts the bare servers, which return for each kind of call the service's answer to one of that kind. */
async function startBare(service: Server, folder: string, servers: Server[]): Promise<void> {
  const client = await sessionClient({ address: service.address, path: '/mcp' });
  const answers: Record<string, unknown> = {};
  for (const kind of kinds) answers[kind] = resultIn(await client.call(serviceCalls[kind](5)));
  client.close();
  for (const [name, program] of [
    [second, 'sdk-child.js'],
    [first, 'sdk-v1-child.js'],
  ] as const) {
    const args = [join(here, program), JSON.stringify(answers)];
    servers.push(await startServer({ name, command: process.execPath, args }, folder));
  }
}

/** The bare servers have a tool for each kind of work. */
function workOf(kind: Kind, server: string): Work {
  return {
    label: titles[kind],
    run: (client, turn) => {
      const call = serviceCalls[kind](turn);
      return client.call(server === own ? call : { ...call, tool: kind });
    },
  };
}

class Cells {
  readonly rounds = new Map<string, Map<string, Measured[]>>();

  note(cell: string, server: string, measured: Measured): void {
    const byServer = this.rounds.get(cell) ?? new Map<string, Measured[]>();
    byServer.set(server, [...(byServer.get(server) ?? []), measured]);
    this.rounds.set(cell, byServer);
    const [cpu, perSec] = [perCpuSecond(measured), perSecond(measured)].map(thousands);
    console.log(`  ${cell}: ${server}: ${cpu} by CPU-second, ${perSec} by second`);
  }
}

async function warm(loaded: Loaded, work: Work, calls: number): Promise<void> {
  await load(loaded, work, { calls: calls * warming, mostSeconds: mostSeconds * warming });
}

async function measureCalls(
  servers: readonly Server[],
  { rounds, calls }: Options,
): Promise<ReadonlyMap<string, Rounds>> {
  const cells = new Cells();
  const all: { cell: string; loaded: Loaded; work: Work }[] = [];
  for (const { name, open, paths } of transports)
    for (const kind of kinds)
      for (const server of servers) {
        const path = (paths as Readonly<Record<string, string>>)[server.name];
        if (path === undefined) continue;
        const place = { address: server.address, path };
        all.push({
          cell: `${titles[kind]} (${name})`,
          loaded: {
            name: server.name,
            open: () => clientsOf(open, place, manyClients),
            cpuSeconds: server.cpuSeconds,
          },
          work: workOf(kind, server.name),
        });
      }
  console.log(`warming up, ${loadOfMachine()}`);
  for (const { loaded, work } of all) await warm(loaded, work, calls);
  for (let round = 0; round < rounds; round++) {
    console.log(`round ${round + 1} of ${rounds}`);
    for (const { cell, loaded, work } of all)
      cells.note(cell, loaded.name, await load(loaded, work, { calls, mostSeconds }));
  }
  return cells.rounds;
}

/** One client each: its calls of the memory server for one call of the service. */
async function measureMemory(
  service: Server,
  folder: string,
  { rounds, calls }: Options,
): Promise<ReadonlyMap<string, Rounds>> {
  const cells = new Cells();
  const { server, client } = await startMemoryServer(folder);
  try {
    // Its process accepts one client, which stays.
    const kept: Client = { call: (call) => client.call(call), close: () => undefined };
    await checkMemory(client);
    const theirs: Loaded = {
      name: memory,
      open: () => Promise.resolve([kept]),
      cpuSeconds: server.cpuSeconds,
    };
    const place = { address: service.address, path: '/mcp' };
    const ours: Loaded = {
      name: own,
      open: () => clientsOf(sessionClient, place, 1),
      cpuSeconds: service.cpuSeconds,
    };
    const all = kinds.flatMap((kind) =>
      memoryWorks[kind].map((work) => ({ cell: `${titles[kind]} / ${work.label}`, kind, work })),
    );
    console.log(`warming up, ${loadOfMachine()}`);
    for (const { kind, work } of all) {
      await warm(theirs, work, calls / fewer);
      await warm(ours, workOf(kind, own), calls);
    }
    for (let round = 0; round < rounds; round++) {
      console.log(`round ${round + 1} of ${rounds}`);
      for (const { cell, kind, work } of all) {
        cells.note(cell, own, await load(ours, workOf(kind, own), { calls, mostSeconds }));
        cells.note(cell, memory, await load(theirs, work, { calls: calls / fewer, mostSeconds }));
      }
    }
    return cells.rounds;
  } finally {
    await server.stop();
  }
}

function loadOfMachine(): string {
  return `load average ${figure(loadavg()[0] ?? 0)} on ${availableParallelism()} processors`;
}

function verdicts(cells: ReadonlyMap<string, Rounds>, other: string, wanted: number): string[] {
  return [...cells].flatMap(([cell, rounds]) => {
    const value = ratioOf(rounds, own, other, perCpuSecond);
    if (value === null) return [];
    const title = `${cell} by CPU-second, of what ${other} does,`;
    return [verdict({ title, value, wanted, isMost: false, print: figure })];
  });
}

function isPart(name: string): name is Part {
  return (parts as readonly string[]).includes(name);
}

function readOptions(): (Options & { output: string | null }) | null {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      calls: { type: 'string', default: '3000' },
      only: { type: 'string', default: parts.join(',') },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const [rounds, calls] = [Number(values.rounds), Number(values.calls)];
  if (![rounds, calls].every((each) => Number.isInteger(each) && each > 0))
    throw new Error('--rounds and --calls take whole numbers above 0');
  const chosen = values.only.split(',').map((name) => {
    if (!isPart(name)) throw new Error(`--only takes ${parts.join(', ')}, not "${name}"`);
    return name;
  });
  return { rounds, calls, chosen, output: values.output ?? null };
}

async function measureAll(options: Options, folder: string, servers: Server[]): Promise<string> {
  const service = await startService(folder);
  servers.push(service);
  const tables: string[] = [];
  const told: string[] = [];
  if (options.chosen.includes('calls')) {
    await startBare(service, folder, servers);
    const cells = await measureCalls(servers, options);
    tables.push(rateTable([own, second, first], cells));
    told.push(...verdicts(cells, second, 0.8), ...verdicts(cells, first, 0.8));
  }
  if (options.chosen.includes('memory')) {
    const cells = await measureMemory(service, folder, options);
    tables.push(rateTable([own, memory], cells));
    told.push(...verdicts(cells, memory, 10));
  }
  if (options.chosen.includes('idle')) tables.push(await measureIdle(here, folder));
  const text = tables.join('\n\n');
  console.log(
    `\nCalls by server CPU-second / by second, median of ${options.rounds}; in brackets: what ${own} reaches of it by CPU-second.\n`,
  );
  console.log(text);
  console.log(`\n${loadOfMachine()}`);
  console.log(`\n${told.join('\n')}`);
  return text;
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) {
    console.log(help);
    return;
  }
  if (!existsSync('/proc/self/stat')) throw new Error('CPU time is read from /proc: this needs Linux');
  const folder = mkdtempSync(join(tmpdir(), 'corollary-mcp-'));
  const servers: Server[] = [];
  try {
    const text = await measureAll(options, folder, servers);
    if (options.output !== null) writeFileSync(options.output, `${text}\n`);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
