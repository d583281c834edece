/**
 * What questions cost that move to a reasoning thread: `npm run bench -- threads [--long]`, after npm run build.
 *
 * Services with 0, 1 and 2 threads, asked in turns so that all meet the same machine. Each tenant asks who is reached from a node
 * of a graph, in graphs of several sizes: a first time, when nothing is known of the question, a second time, when a thread may have
 * its facts, and then from other nodes. Then two tenants ask at once what they asked one after the other. Elapsed time as a client
 * sees it, in milliseconds; the memory is what the process holds. Each figure is held against the
 * target: see `isMet`. With `--long` only first questions of seconds, each of a tenant of its own: pairs of nodes that walks of some length
 * join, over two graphs, whose facts the thread has soon, and after a second or so.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Prng } from '../src/engine/testing/prng.ts';
import { builtService, type Server, startServer } from './http/server.ts';

/** Edges of the graphs. */
const sizes = [1000, 4000, 20_000, 60_000, 200_000, 600_000];
const tenants = ['t0', 't1', 't2', 't3', 't4'];
/** Questions of a tenant about a graph after the first two. */
const again = 3;
const columns = ['first', 'second', 'then'];
/** Milliseconds. */
const short = 20;
const long = 400;
const mayTakeMore = 20;
/** Medians of requests over HTTP differ by so much between two runs. */
const noiseMs = 2;
const mayTakeTimes = 1.05;
const pairs = 5;
/** Of first questions that take seconds: edges of the graph, lengths of walks, and how often each is asked. */
const longSizes = [4000, 200_000];
const walks: Readonly<Record<number, readonly number[]>> = { 4000: [9, 10, 11], 200_000: [4, 5, 6] };
const longTurns = Number(process.env['LONG_TURNS'] ?? 3);

function call(
  server: Server,
  tenant: string,
  path: string,
  body: string | Iterable<string>,
): Promise<string> {
  const type = typeof body === 'string' ? 'application/json' : 'application/x-ndjson';
  const headers = { 'x-tenant-id': tenant, 'content-type': type };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, server.address), { method: 'POST', headers }, (response) => {
      text(response).then((told) => {
        if (response.statusCode === 200) resolve(told);
        else reject(new Error(`${path} was answered with ${response.statusCode}: ${told.slice(0, 300)}`));
      }, reject);
    });
    sent.on('error', reject);
    if (typeof body === 'string') sent.end(body);
    else Readable.from(body).pipe(sent);
  });
}

/** A ring, so that every node is reached, with as many chords. */
function* edges(graphs = sizes): Generator<string> {
  for (const size of graphs) {
    const prng = new Prng(size);
    const nodes = size / 2;
    let lines = '';
    for (let from = 0; from < nodes; from++) {
      for (const to of [(from + 1) % nodes, prng.below(nodes)])
        lines += `{"predicate":"edge${size}","args":["n${from}","n${to}"]}\n`;
      if (lines.length > 65_536) {
        yield lines;
        lines = '';
      }
    }
    yield lines;
  }
}

async function load(server: Server): Promise<void> {
  for (const size of sizes)
    for (const rule of [
      `reach${size}(?x, ?y) :- edge${size}(?x, ?y)`,
      `reach${size}(?x, ?z) :- reach${size}(?x, ?y), edge${size}(?y, ?z)`,
    ])
      await call(server, 'default', '/teach', JSON.stringify({ text: rule }));
  for (const tenant of tenants) await call(server, tenant, '/import', edges());
}

/** Milliseconds until the whole answer is here. */
async function asked(server: Server, tenant: string, size: number, node: number): Promise<number> {
  const before = performance.now();
  const body = {
    predicate: `reach${size}`,
    args: [`n${node}`, '?who'],
    limit: 10,
    timeoutMs: 60_000,
    maxDerivations: 10_000_000,
  };
  await call(server, tenant, '/ask', JSON.stringify(body));
  return performance.now() - before;
}

/** The first question about walks of a tenant of its own, in milliseconds. */
async function askedFirst(server: Server, size: number, length: number, turn: number): Promise<number> {
  const tenant = `walk${size}-${length}-${turn}`;
  await call(server, tenant, '/import', edges([size]));
  await sleep(1000);
  const before = performance.now();
  const predicate = `walk${size}of${length}`;
  const limits = { limit: 10, timeoutMs: 120_000, maxDerivations: 100_000_000 };
  await call(server, tenant, '/ask', JSON.stringify({ predicate, args: ['?from', '?to'], ...limits }));
  return performance.now() - before;
}

async function teachWalks(server: Server): Promise<void> {
  for (const size of longSizes)
    for (const length of walks[size] ?? []) {
      const steps = Array.from({ length }, (_, at) => `edge${size}(?n${at}, ?n${at + 1})`);
      const text = `walk${size}of${length}(?n0, ?n${length}) :- ${steps.join(', ')}`;
      await call(server, 'default', '/teach', JSON.stringify({ text }));
    }
}

/** First questions that take seconds, on each server in turns. */
async function compareLong(): Promise<void> {
  for (const server of servers) await teachWalks(server);
  for (const size of longSizes)
    for (const length of walks[size] ?? []) {
      const times = servers.map((): number[] => []);
      for (let turn = 0; turn < longTurns; turn++)
        for (let at = 0; at < servers.length; at++) {
          const which = (at + turn) % servers.length;
          times[which]?.push(await askedFirst(servers[which] as Server, size, length, turn));
        }
      const [without = Number.NaN, ...moved] = times.map(median);
      const shown = moved.map((ms) => `${ms.toFixed(0)} (${(ms / without).toFixed(2)} times)`);
      console.log(
        `${size} edges, walks of ${length}, first: ${without.toFixed(0)} ms without, ${shown.join(', ')} with ${times.length - 1} threads; load ${loadavg()[0]?.toFixed(1)}`,
      );
    }
}

/** Whether a question takes no longer than it may, given what it takes without threads. */
function isMet(ms: number, without: number): boolean {
  const most = without < short || without > long ? mayTakeTimes * without : without + mayTakeMore;
  return ms <= Math.max(most, without + noiseMs);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function mebibytes({ pid }: Server): number {
  const [, kibibytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) / 1024;
}

/** Questions about graphs of every size, on each server in turns; then those of two tenants at once. */
async function compareSizes(): Promise<void> {
  for (const server of servers) await load(server);
  await sleep(2000);
  console.log(
    `load ${loadavg()[0]?.toFixed(1)}; MiB loaded: ${servers.map((each) => mebibytes(each).toFixed(0)).join(', ')}`,
  );
  const misses: string[] = [];
  for (const size of sizes) {
    const times = columns.map(() => servers.map((): number[] => []));
    for (const [turn, tenant] of tenants.entries())
      for (let node = 0; node <= again + 1; node++)
        for (let at = 0; at < servers.length; at++) {
          const which = (at + turn) % servers.length;
          const took = await asked(servers[which] as Server, tenant, size, node * 7);
          times[Math.min(node, columns.length - 1)]?.[which]?.push(took);
        }
    const shown = columns.map((column, at) => {
      const medians = times[at]?.map(median) ?? [];
      const [without = Number.NaN, ...moved] = medians;
      for (const [less, ms] of moved.entries())
        if (!isMet(ms, without))
          misses.push(
            `${size} edges, ${column}, threads ${less + 1}: ${ms.toFixed(1)} beside ${without.toFixed(1)} ms`,
          );
      return `${column} ${medians.map((ms) => ms.toFixed(1)).join(', ')} ms`;
    });
    console.log(`${size} edges, with 0, 1, 2 threads: ${shown.join('; ')}`);
  }
  console.log(
    `target (at most ${mayTakeTimes} times under ${short} and over ${long} ms, ${mayTakeMore} ms more between): ${misses.length === 0 ? 'met' : 'missed'}`,
  );
  for (const miss of misses) console.log(`  ${miss}`);
  console.log(`MiB after questions: ${servers.map((each) => mebibytes(each).toFixed(0)).join(', ')}`);
  for (const [threads, server] of servers.entries()) {
    const ratios: number[] = [];
    const [one = '', other = ''] = tenants;
    const size = sizes.at(-1) ?? 0;
    for (let pair = 0; pair < pairs; pair++) {
      const alone =
        (await asked(server, one, size, 100 + pair)) + (await asked(server, other, size, 100 + pair));
      const before = performance.now();
      await Promise.all([asked(server, one, size, 200 + pair), asked(server, other, size, 200 + pair)]);
      ratios.push((performance.now() - before) / alone);
    }
    console.log(
      `two tenants at once over one after the other, ${threads} threads: ${median(ratios).toFixed(2)} (${ratios.map((each) => each.toFixed(2)).join(', ')})`,
    );
  }
}

const bundles = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'corollary-threads-'));
const servers: Server[] = [];
const isLong = process.argv.includes('--long');
try {
  for (const threads of isLong ? [0, 1] : [0, 1, 2]) {
    const program = builtService(`threads-${threads}`, bundles, join(folder, `${threads}`), 'never');
    const environment = {
      ...program.environment,
      REASONING_THREADS: `${threads}`,
      RATE_LIMIT_PER_MINUTE: '1000000',
    };
    servers.push(await startServer({ ...program, environment }, folder));
  }
  await (isLong ? compareLong() : compareSizes());
} finally {
  for (const server of servers) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
