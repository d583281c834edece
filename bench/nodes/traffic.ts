/** Writes and reads at the nodes of a store, and what they cost. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Call, must, repeat } from '../fairness/load.ts';
import type { Server } from '../http/server.ts';
import type { Cluster } from './cluster.ts';

let made = 0;
const fact = (): object => ({ predicate: 'met', args: [`n${++made}`, `n${made % 1009}`] });

const question: Call = { path: '/query', body: { predicate: 'met', args: ['n1', '?who'] } };

/** The value below which this share of the values is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const ofNodes = ({ nodes }: Cluster): number => nodes.reduce((sum, node) => sum + node.cpuSeconds(), 0);

async function timed(task: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await task();
  return performance.now() - startedAt;
}

/** Records that were appended by all nodes, their frames, and the seconds that these took. */
async function appended({ nodes }: Cluster) {
  const metrics = await Promise.all(
    nodes.map(({ address }) => must(address, { method: 'GET', path: '/metrics' })),
  );
  const sum = (name: string): number =>
    metrics
      .flatMap((text) => [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))])
      .reduce((all, [, value]) => all + Number(value), 0);
  return {
    records: sum('store_frame_records_sum'),
    frames: sum('store_frame_records_count'),
    seconds: sum('store_append_seconds_sum'),
  };
}

/** Calls after which a node's code is compiled. */
const WARM_WRITES = 2000;
const WARM_READS = 4000;

/** Runs the task so often, by so many at a time. */
async function counted(count: number, atOnce: number, task: () => Promise<unknown>): Promise<void> {
  let left = count;
  const one = async (): Promise<void> => {
    while (left-- > 0) await task();
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** Writes of one fact by 64 clients at a node, in milliseconds and microseconds of CPU a record. */
export async function smallWrites(cluster: Cluster, at: number, seconds: number) {
  const { address } = cluster.node(at);
  const write = (): Promise<unknown> => must(address, { path: '/tell', body: fact() });
  await counted(WARM_WRITES, 64, write);
  const times: number[] = [];
  const stored = await appended(cluster);
  const before = { nodes: ofNodes(cluster), server: cluster.serverCpuSeconds(), at: performance.now() };
  await repeat(performance.now() + seconds * 1000, 64, async () => void times.push(await timed(write)));
  const elapsed = (performance.now() - before.at) / 1000;
  const nodesSeconds = ofNodes(cluster) - before.nodes;
  const serverSeconds = cluster.serverCpuSeconds() - before.server;
  const storedThen = await appended(cluster);
  const frames = storedThen.frames - stored.frames;
  return {
    perSecond: times.length / elapsed,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    ownerMicros: (nodesSeconds / times.length) * 1e6,
    serverMicros: (serverSeconds / times.length) * 1e6,
    recordsPerFrame: (storedThen.records - stored.records) / frames,
    msPerFrame: ((storedThen.seconds - stored.seconds) / frames) * 1000,
  };
}

/** Writes of so many facts, by so many clients at the owner. */
export async function largeWrites(cluster: Cluster, size: number, count: number, clients: number) {
  const node = cluster.node(await cluster.owner());
  const bodies = Array.from({ length: count }, () => ({ facts: Array.from({ length: size }, fact) }));
  const cpu = node.cpuSeconds();
  const startedAt = performance.now();
  const write = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop())
      await must(node.address, { path: '/assert/facts', body });
  };
  await Promise.all(Array.from({ length: clients }, write));
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    perSecond: (size * count) / seconds,
    perCpuSecond: (size * count) / (node.cpuSeconds() - cpu),
  };
}

/** Milliseconds from the answer of a write at the owner until a copy shows it to a client that asks again and again. */
export async function copyLag(cluster: Cluster, pauseMs: number, seconds: number) {
  const owner = await cluster.owner();
  const copy = cluster.node(owner === 0 ? 1 : 0);
  const times: number[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) {
    const body = fact();
    await must(cluster.node(owner).address, { path: '/tell', body });
    const answeredAt = performance.now();
    while (!(await must(copy.address, { path: '/query', body })).includes('"n')) await pause(1);
    times.push(performance.now() - answeredAt);
    await pause(pauseMs);
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** A read with and without `X-Consistency: strong`, by turns, by one client at a copy. */
export async function strongReads(cluster: Cluster, seconds: number) {
  const owner = await cluster.owner();
  const copy = cluster.node(owner === 0 ? 1 : 0);
  const kinds = { plain: {}, strong: { 'x-consistency': 'strong' } } as const;
  const times = { plain: [] as number[], strong: [] as number[] };
  const cpu = { plain: 0, strong: 0 };
  for (let round = 0; round < 6; round++)
    for (const kind of ['plain', 'strong'] as const) {
      const before = copy.cpuSeconds();
      const read = (): Promise<unknown> => must(copy.address, { ...question, headers: kinds[kind] });
      for (const until = performance.now() + (seconds * 1000) / 6; performance.now() < until; )
        times[kind].push(await timed(read));
      cpu[kind] += copy.cpuSeconds() - before;
    }
  const micros = (kind: keyof typeof cpu): number => (cpu[kind] / times[kind].length) * 1e6;
  return {
    plainMs: quantile(times.plain, 0.5),
    strongMs: quantile(times.strong, 0.5),
    extraMicros: micros('strong') - micros('plain'),
  };
}

/** Facts of a node whose reads are measured. */
const READ_FACTS = 20_000;
const READ_CLIENTS = 48;
const asked: Call = { path: '/query', body: { predicate: 'asked', args: ['n1', '?who'] } };

/** Stores what `reads` asks for, and resolves when all of these services show it. */
export async function prepareReads(writer: Server, services: readonly Server[]): Promise<void> {
  const facts = Array.from({ length: READ_FACTS }, (_, at) => ({
    predicate: 'asked',
    args: [`n${at}`, `n${at % 1009}`],
  }));
  await must(writer.address, { path: '/assert/facts', body: { facts } });
  for (const { address } of services) {
    while (!(await must(address, asked)).includes('"n1"')) await pause(20);
    await counted(WARM_READS, READ_CLIENTS, () => must(address, asked));
  }
}

/**
 * Default reads a CPU-second of the services, by clients spread over all of them. More services on the same processors get
 * fewer requests in each turn, and each costs more then: compare with as many services.
 */
export async function reads(services: readonly Server[], seconds: number): Promise<number> {
  const cpu = (): number => services.reduce((sum, each) => sum + each.cpuSeconds(), 0);
  let answered = 0;
  const before = cpu();
  await repeat(performance.now() + seconds * 1000, READ_CLIENTS, async () => {
    await must(services[answered++ % services.length]?.address ?? '', asked);
  });
  return answered / (cpu() - before);
}
