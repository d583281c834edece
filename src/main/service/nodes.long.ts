/**
 * Three services as processes over one store in a real PostgreSQL server with a synchronous standby, while they are killed,
 * stopped for longer than their lease, and cut off from the server and from each other, and while the server crashes, loses
 * its connections or its standby, or gives way to it. What clients saw is held against the log.
 *
 * Writers use the client package, and must never get an error; readers ask any node.
 */
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
  'backends',
  'crash',
  'cancelled waits',
  'promote',
  'cut from the server',
  'cut from each other',
];

it.skipIf(postgresMissing !== null)(
  `${seconds} s of faults lose and invent nothing${postgresNotice}`,
  async () => {
    const cluster = await NodeCluster.start();
    onTestFinished(() => cluster.end());
    const prng = new Prng(Number(process.env['SEED'] ?? 1));
    const seen: Seen = { writes: [], refused: new Set(), reads: [] };
    const run = {
      clock: 0,
      highest: 0,
      isOver: false,
      longestGapMs: 0,
      lastAckAt: performance.now(),
      unanswered: 0,
    };
    const clients = [1, 2, 3, 4].map((name) => writer(cluster, name, seen, run));
    const readers = ['default', 'strong', 'token'].map((what) => reader(cluster, what, seen, run));
    const all = Promise.all([...clients, ...readers]);
    all.catch(() => {
      // It fails the test below.
      run.isOver = true;
    });
    const gaps: Record<string, number[]> = {};
    const kinds = faultKinds.filter((kind) => cluster.isSeparated || !kind.startsWith('cut'));
    for (const until = performance.now() + seconds * 1000; performance.now() < until && !run.isOver; ) {
      run.longestGapMs = 0;
      run.lastAckAt = performance.now();
      const fault = prng.pick(kinds);
      await inflict(fault, cluster, prng);
      await pause(1500);
      (gaps[fault] ??= []).push(Math.round(Math.max(run.longestGapMs, performance.now() - run.lastAckAt)));
    }
    run.isOver = true;
    await all;
    const ends = await Promise.all(
      cluster.nodes.map((_, at) => marksAt(cluster, at, { 'x-consistency': 'strong' })),
    );
    const frames = await cluster.query(
      "SELECT payload FROM corollary.frame f JOIN corollary.log l ON l.id = f.log WHERE l.name = 'default' ORDER BY f.first_sequence",
    );
    const payloads = frames.map(({ payload }) => payload as Uint8Array);
    const [row] = await cluster.query("SELECT epoch FROM corollary.log WHERE name = 'default'");
    const { writes, reads } = seen;
    const figures = {
      writes: writes.length,
      reads: reads.length,
      readsUnanswered: run.unanswered,
      epoch: row?.['epoch'],
    };
    const longestPauses = Object.fromEntries(
      Object.entries(gaps).map(([fault, ms]) => [fault, ms.toSorted((left, right) => left - right)]),
    );
    process.stdout.write(`nodes: ${JSON.stringify({ ...figures, longestPauses })}\n`);
    holdAgainstLog('the run', payloads, seen, ends);
    expect(writes.length).toBeGreaterThan(seconds);
    expect(reads.length).toBeGreaterThan(seconds / 4);
    expect(Number(row?.['epoch'])).toBeGreaterThan(2);
  },
  (seconds + 900) * 1000,
);

interface Run {
  clock: number;
  /** The highest generation of any answer. */
  highest: number;
  isOver: boolean;
  longestGapMs: number;
  lastAckAt: number;
  /** Reads that were 503, or got no answer. */
  unanswered: number;
}

async function inflict(fault: string, cluster: NodeCluster, prng: Prng): Promise<void> {
  const owner = fault.endsWith('owner') ? await cluster.owner() : -1;
  const at = owner >= 0 ? owner : prng.below(cluster.nodes.length);
  const child = cluster.nodes[at]?.process;
  switch (fault) {
    case 'kill':
    case 'kill owner':
      child?.kill('SIGKILL');
      await pause(3000 + prng.below(3000));
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

async function writer({ nodes }: NodeCluster, name: number, seen: Seen, run: Run): Promise<void> {
  const addresses = nodes.map(({ address }) => address);
  const [first = '', ...others] = [...addresses.slice(name % 3), ...addresses.slice(0, name % 3)];
  const client = createClient({ url: [first, ...others], tenant: 'default', key: clusterKey, retryMs });
  for (let number = 0; !run.isOver; number++) {
    const mark = `c${name}_${number}`;
    const began = ++run.clock;
    const { generation } = await client.assertFact({ predicate: 'w', args: [mark] });
    seen.writes.push({ mark, began, ended: ++run.clock, generation });
    run.highest = Math.max(run.highest, generation);
    const now = performance.now();
    run.longestGapMs = Math.max(run.longestGapMs, now - run.lastAckAt);
    run.lastAckAt = now;
    await pause(50);
  }
}

async function reader(cluster: NodeCluster, what: string, seen: Seen, run: Run): Promise<void> {
  while (!run.isOver) {
    // What any answer has shown before: a copy may show a write before its owner has answered it.
    const latest = run.highest;
    const headers: Record<string, string> = {};
    let least = what === 'strong' ? latest : 0;
    if (what === 'strong') headers['x-consistency'] = 'strong';
    if (what === 'token') {
      const first = await called(cluster, '/ask', { text: 'w(none)' }, { 'x-consistency': 'strong' });
      const token = first?.headers.get('x-token') ?? null;
      if (token !== null) headers['x-at-least'] = token;
      if (token !== null) least = Number(token.split('.')[1]);
    }
    const answer = await called(cluster, '/ask', question, headers);
    if (answer === null) run.unanswered++;
    else {
      const { results, generation } = JSON.parse(answer.text) as { results: string[]; generation: number };
      run.highest = Math.max(run.highest, generation);
      seen.reads.push({ shown: shownBy(results), generation, least, what });
    }
    await pause(300);
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
      headers: { ...common, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch {
    // The node is gone, or stopped.
    return null;
  }
}
