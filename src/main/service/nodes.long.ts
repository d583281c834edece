/**
 * Three services as processes over one store with several databases in a real PostgreSQL server with a synchronous standby, while they are killed,
 * stopped for longer than their lease, and cut off from the server and from each other, and while the server crashes, loses
 * its connections or its standby, or gives way to it. What clients saw is held against the log.
 *
 * Writers use the client package, and must never get an error; readers ask any node.
 */
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../../client/src/client.ts';
import { holdAgainstLog, type Seen, shownBy } from '../../engine/testing/hold-against-log.ts';
import { postgresMissing, postgresNotice } from '../../engine/testing/private-postgres.ts';
import { Prng } from '../../engine/testing/prng.ts';
import { clusterKey, NodeCluster, pause } from '../../engine/testing/node-cluster.ts';

const seconds = Number(process.env['NODES_SECONDS'] ?? 120);
const common = { 'x-tenant-id': 'default', 'x-api-key': clusterKey };
/** Clients repeat a call for as long as several faults last. */
const retryMs = 240_000;

const faultKinds = [
  'kill',
  'kill owner',
  'kill owner',
  'stop',
  'stop owner',
  'end owner',
  'backends',
  'crash',
  'cancelled waits',
  'promote',
  'cut from the server',
  'cut from each other',
];

/** Each has a log of its own; the nodes that create them are their first owners. */
const databases = ['default', 'one', 'two'];

it.skipIf(postgresMissing !== null)(
  `${seconds} s of faults lose and invent nothing${postgresNotice}`,
  async () => {
    const cluster = await NodeCluster.start();
    onTestFinished(() => cluster.end());
    const prng = new Prng(Number(process.env['SEED'] ?? 1));
    const run: Run = { isOver: false, unanswered: 0 };
    onTestFinished(() => {
      run.isOver = true;
    });
    const parts = databases.map(partOf);
    for (const [at, { database }] of parts.entries()) if (at > 0) await create(cluster, at, database);
    const clients = parts.flatMap((part) => [1, 2].map((name) => writer(cluster, name, part, run)));
    const readers = parts.flatMap((part) =>
      ['default', 'strong', 'token'].map((what) => reader(cluster, what, part, run)),
    );
    const all = Promise.all([...clients, ...readers, ...parts.map((part) => collector(cluster, part, run))]);
    all.catch(() => {
      // It fails the test below.
      run.isOver = true;
    });
    const pauses: Record<string, number[]> = {};
    const kinds = faultKinds.filter((kind) => cluster.isSeparated || !kind.startsWith('cut'));
    for (const until = performance.now() + seconds * 1000; performance.now() < until && !run.isOver; ) {
      for (const part of parts) {
        part.longestPauseMs = 0;
        part.answeredAt = performance.now();
      }
      const fault = prng.pick(kinds);
      const { database } = prng.pick(parts);
      const beganAt = new Date().toISOString();
      await inflict(fault, database, cluster, prng);
      await pause(1500);
      const longest = parts.map(({ longestPauseMs, answeredAt }) =>
        Math.round(Math.max(longestPauseMs, performance.now() - answeredAt)),
      );
      (pauses[fault] ??= []).push(Math.max(...longest));
      const told = { fault, database, beganAt, longest, load: Number(loadavg()[0]?.toFixed(1)) };
      process.stdout.write(`nodes: ${JSON.stringify(told)}\n`);
      expect(cluster.ended).toBeNull();
    }
    run.isOver = true;
    await all;
    let faults = 0;
    for (const each of Object.values(pauses)) {
      each.sort((left, right) => left - right);
      faults += each.length;
    }
    const figures = await Promise.all(parts.map((part) => held(cluster, part)));
    const told = {
      seconds,
      faults,
      readsUnanswered: run.unanswered,
      databases: figures,
      longestPauses: pauses,
    };
    process.stdout.write(`nodes: ${JSON.stringify(told)}\n`);
    for (const { writes, reads, epoch } of figures) {
      expect(writes).toBeGreaterThan(seconds / 3);
      expect(reads).toBeGreaterThan(seconds / 12);
      expect(epoch).toBeGreaterThan(1);
    }
  },
  (seconds + 900) * 1000,
);

interface Run {
  isOver: boolean;
  /** Reads that were 503, or got no answer. */
  unanswered: number;
}

/** What clients did with one database. */
interface Part {
  readonly database: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly seen: Seen;
  clock: number;
  /** The highest generation of any answer. */
  highest: number;
  longestPauseMs: number;
  /** When a write was answered last. */
  answeredAt: number;
  /** Frames by their first sequence: an owner that ends writes a snapshot, and what the second newest covers is trimmed. */
  readonly frames: Map<number, Uint8Array>;
}

function partOf(database: string): Part {
  return {
    database,
    headers: { ...common, 'x-database': database },
    seen: { writes: [], refused: new Set(), reads: [] },
    clock: 0,
    highest: 0,
    longestPauseMs: 0,
    answeredAt: performance.now(),
    frames: new Map(),
  };
}

async function create({ nodes }: NodeCluster, at: number, name: string): Promise<void> {
  const created = await post(nodes[at]?.address ?? '', '/databases', { name }, common);
  expect(created?.status, created?.text).toBe(201);
}

/** Notes the frames of the log while they are there. */
async function collector(cluster: NodeCluster, { database, frames }: Part, run: Run): Promise<void> {
  while (!run.isOver) {
    try {
      const last = Math.max(0, ...frames.keys());
      for (const [sequence, payload] of await framesOf(cluster, database, last))
        frames.set(sequence, payload);
    } catch {
      // The server is down, or gives way to another one.
    }
    await pause(500);
  }
}

/** The frames of the log from this sequence on, by their first sequences, in order. */
async function framesOf(cluster: NodeCluster, database: string, from = 0): Promise<Map<number, Uint8Array>> {
  const rows = await cluster.query(
    'SELECT f.first_sequence, payload FROM corollary.frame f JOIN corollary.log l ON l.id = f.log ' +
      `WHERE l.name = '${database}' AND f.first_sequence >= ${from} ORDER BY f.first_sequence`,
  );
  return new Map(rows.map((row) => [Number(row['first_sequence']), row['payload'] as Uint8Array]));
}

/** Holds what clients saw of a database against its log. */
async function held(cluster: NodeCluster, { database, headers, seen, frames }: Part) {
  const strong = { ...headers, 'x-consistency': 'strong' };
  const ends = await Promise.all(cluster.nodes.map((_, at) => marksAt(cluster, at, strong)));
  const kept = await framesOf(cluster, database);
  const [first = 1] = kept.keys();
  // Of what is still there the log counts, of what was trimmed what was seen of it.
  const trimmed = [...frames].filter(([sequence]) => sequence < first);
  const payloads = [...trimmed, ...kept].map(([, payload]) => payload);
  const [row] = await cluster.query(`SELECT epoch FROM corollary.log WHERE name = '${database}'`);
  holdAgainstLog(database, payloads, seen, ends);
  const { writes, reads } = seen;
  return { database, writes: writes.length, reads: reads.length, epoch: Number(row?.['epoch']) };
}

async function inflict(fault: string, database: string, cluster: NodeCluster, prng: Prng): Promise<void> {
  const owner = fault.endsWith('owner') ? await cluster.owner(database) : -1;
  const at = owner >= 0 ? owner : prng.below(cluster.nodes.length);
  const child = cluster.nodes[at]?.process;
  switch (fault) {
    case 'kill':
    case 'kill owner':
      child?.kill('SIGKILL');
      await pause(3000 + prng.below(3000));
      return cluster.restart(at);
    case 'end owner':
      child?.kill('SIGTERM');
      await once(child ?? process, 'exit');
      return cluster.restart(at);
    case 'stop':
    case 'stop owner':
      child?.kill('SIGSTOP');
      await pause(4000 + prng.below(3000));
      child?.kill('SIGCONT');
      return;
    case 'backends':
      await cluster.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'corollary'",
      );
      return;
    case 'cancelled waits':
      return cluster.cancelWaits(2000);
    case 'promote':
      return cluster.promote();
    case 'cut from the server':
    case 'cut from each other': {
      const other = (at + 1 + prng.below(2)) % cluster.nodes.length;
      const join = await cluster.cut(at, fault === 'cut from the server' ? 'server' : other);
      await pause(4000 + prng.below(4000));
      return join();
    }
    default:
      return cluster.crash();
  }
}

async function writer({ nodes }: NodeCluster, name: number, part: Part, run: Run): Promise<void> {
  const { database, seen } = part;
  const addresses = nodes.map(({ address }) => address);
  const [first = '', ...others] = [...addresses.slice(name % 3), ...addresses.slice(0, name % 3)];
  const client = createClient({
    url: [first, ...others],
    database,
    tenant: 'default',
    key: clusterKey,
    retryMs,
  });
  for (let number = 0; !run.isOver; number++) {
    const mark = `c${name}_${number}`;
    const began = ++part.clock;
    const { generation } = await client.assertFact({ predicate: 'w', args: [mark] });
    seen.writes.push({ mark, began, ended: ++part.clock, generation });
    part.highest = Math.max(part.highest, generation);
    const now = performance.now();
    part.longestPauseMs = Math.max(part.longestPauseMs, now - part.answeredAt);
    part.answeredAt = now;
    await pause(100);
  }
}

async function reader(cluster: NodeCluster, what: string, part: Part, run: Run): Promise<void> {
  while (!run.isOver) {
    // What any answer has shown before: a copy may show a write before its owner has answered it.
    const latest = part.highest;
    const headers: Record<string, string> = { ...part.headers };
    let least = what === 'strong' ? latest : 0;
    if (what === 'strong') headers['x-consistency'] = 'strong';
    if (what === 'token') {
      const strong = { ...part.headers, 'x-consistency': 'strong' };
      const first = await called(cluster, '/ask', { text: 'w(none)' }, strong);
      const token = first?.headers.get('x-token') ?? null;
      if (token !== null) headers['x-at-least'] = token;
      if (token !== null) least = Number(token.split('.')[1]);
    }
    const answer = await called(cluster, '/ask', question, headers);
    if (answer === null) run.unanswered++;
    else {
      const { results, generation } = JSON.parse(answer.text) as { results: string[]; generation: number };
      part.highest = Math.max(part.highest, generation);
      part.seen.reads.push({ shown: shownBy(results), generation, least, what });
    }
    await pause(900);
  }
}

const question = { text: 'w(?x)', limit: 100_000 };

async function marksAt(
  { nodes }: NodeCluster,
  at: number,
  headers: Record<string, string>,
): Promise<string[]> {
  let text = '';
  const ask = async (): Promise<number | undefined> => {
    const answer = await post(nodes[at]?.address ?? '', '/ask', question, headers);
    text = answer?.text ?? '';
    return answer?.status;
  };
  await expect.poll(ask).toBe(200);
  return (JSON.parse(text) as { results: string[] }).results;
}

/** An answer, read to its end. */
interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The answer of any node; null: 503, 504, or none. Anything else is a failure. */
async function called(
  { nodes }: NodeCluster,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<Answered | null> {
  const node = nodes[Math.floor(Math.random() * nodes.length)];
  const answer = await post(node?.address ?? '', path, body, headers);
  if (answer === null || answer.status === 200) return answer;
  // A node that was stopped while it answered took longer than its limit.
  expect([503, 504, 409, 422], answer.text).toContain(answer.status);
  if (answer.status === 422) expect(answer.text).toContain('"InferenceLimitExceeded"');
  // The first request with the same key is still running.
  if (answer.status === 409) expect(answer.text).toContain('"Conflict"');
  return null;
}

async function post(
  address: string,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<Answered | null> {
  try {
    const response = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch {
    // The node is gone, or stopped.
    return null;
  }
}
