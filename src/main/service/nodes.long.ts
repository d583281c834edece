/**
 * Three services as processes over one store in a real PostgreSQL server, while they are killed, stopped for longer than
 * their lease, cut off from the server, and the server crashes. Clients repeat what is 503 or 504 or got no answer, with the
 * same Idempotency-Key, at any node. What they saw is held against the log.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { bundleProgram } from '../../engine/testing/child-program.ts';
import { holdAgainstLog, type Seen } from '../../engine/testing/hold-against-log.ts';
import {
  type PrivatePostgres,
  postgresMissing,
  postgresNotice,
  startPostgres,
} from '../../engine/testing/private-postgres.ts';
import { Prng } from '../../engine/testing/prng.ts';

const seconds = Number(process.env['NODES_SECONDS'] ?? 120);
const tenant = { 'x-tenant-id': 'default' };

it.skipIf(postgresMissing !== null)(
  `${seconds} s of faults lose and invent nothing${postgresNotice}`,
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const cluster = await startCluster(server);
    onTestFinished(() => cluster.end());
    const prng = new Prng(Number(process.env['SEED'] ?? 1));
    const seen: Seen = { writes: [], refused: new Set(), reads: [] };
    const run = { clock: 0, isOver: false, longestGapMs: 0, lastAckAt: performance.now(), repeats: 0 };
    const clients = [1, 2, 3, 4].map((name) => writer(cluster, `c${name}`, seen, run));
    const readers = ['default', 'strong', 'token'].map((what) => reader(cluster, what, seen, run));
    const gaps: number[] = [];
    const until = performance.now() + seconds * 1000;
    const faults: Record<string, number> = {};
    while (performance.now() < until) {
      run.longestGapMs = 0;
      run.lastAckAt = performance.now();
      const fault = prng.pick([
        'kill',
        'kill',
        'kill owner',
        'kill owner',
        'stop owner',
        'stop',
        'cut',
        'crash',
      ]);
      faults[fault] = (faults[fault] ?? 0) + 1;
      await inflict(fault, cluster, server, prng);
      await pause(1000);
      if (fault === 'kill owner') gaps.push(Math.max(run.longestGapMs, performance.now() - run.lastAckAt));
    }
    run.isOver = true;
    await Promise.all([...clients, ...readers]);
    const ends = await Promise.all(
      cluster.nodes.map((_, at) => marksAt(cluster, at, { 'x-consistency': 'strong' })),
    );
    const frames = await query(server.url, 'SELECT payload FROM corollary.frame ORDER BY first_sequence');
    const payloads = frames.map(({ payload }) => payload as Uint8Array);
    holdAgainstLog('the run', payloads, seen, ends);
    const [row] = await query(server.url, 'SELECT epoch FROM corollary.log');
    const figures = { faults, writes: seen.writes.length, reads: seen.reads.length, repeats: run.repeats };
    const gapsMs = gaps.map(Math.round).toSorted((left, right) => left - right);
    process.stdout.write(
      `nodes: ${JSON.stringify({ ...figures, epoch: row?.['epoch'], ownerKilledGapsMs: gapsMs })}\n`,
    );
    expect(seen.writes.length).toBeGreaterThan(seconds);
    expect(seen.reads.length).toBeGreaterThan(seconds / 2);
    expect(Number(row?.['epoch'])).toBeGreaterThan(2);
  },
);

interface Cluster {
  readonly nodes: { process: ChildProcess; readonly address: string }[];
  start(at: number): Promise<void>;
  end(): Promise<void>;
}

interface Run {
  clock: number;
  isOver: boolean;
  longestGapMs: number;
  lastAckAt: number;
  repeats: number;
}

async function startCluster(server: PrivatePostgres): Promise<Cluster> {
  const program = await bundleProgram(new URL('../entry/headless.ts', import.meta.url));
  // By which a program finds what it was installed with.
  await writeFile(join(program, '../package.json'), JSON.stringify({ name: 'corollary', version: '0.0.0' }));
  const folder = await mkdtemp(join(tmpdir(), 'corollary-cluster-'));
  const secret = join(folder, 'secret');
  await writeFile(secret, 'a secret of at least 32 characters');
  const nodes: Cluster['nodes'] = [];
  const launch = async (port: number, at: number): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [program, 'serve'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        HOST: '127.0.0.1',
        PORT: String(port),
        STORE_URL: server.url,
        NODE_SECRET_FILE: secret,
        COROLLARY_ENDPOINT_FILE: join(folder, `endpoint-${at}.json`),
      },
    });
    let said = '';
    child.stderr.on('data', (bytes: Buffer) => {
      said = bytes.toString();
    });
    const started = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => null)]);
    if (started === null) throw new Error(`a node ended at its start: ${said}`);
    return child;
  };
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  for (const [at, port] of ports.entries())
    nodes.push({ process: await launch(port, at), address: `http://127.0.0.1:${port}` });
  return {
    nodes,
    start: async (at) => {
      const node = nodes[at];
      if (node !== undefined) node.process = await launch(ports[at] ?? 0, at);
    },
    end: async () => {
      for (const { process: child } of nodes) {
        child.kill('SIGCONT');
        child.kill('SIGKILL');
      }
      await rm(folder, { recursive: true, force: true });
      await rm(join(program, '..'), { recursive: true, force: true });
    },
  };
}

async function inflict(fault: string, cluster: Cluster, server: PrivatePostgres, prng: Prng): Promise<void> {
  const owner = await ownerOf(cluster, server);
  const at = fault.endsWith('owner') && owner >= 0 ? owner : prng.below(cluster.nodes.length);
  const child = cluster.nodes[at]?.process;
  switch (fault.split(' ')[0]) {
    case 'kill':
      child?.kill('SIGKILL');
      await pause(3000 + prng.below(3000));
      return cluster.start(at);
    case 'stop':
      child?.kill('SIGSTOP');
      await pause(4000 + prng.below(3000));
      child?.kill('SIGCONT');
      return;
    case 'cut':
      await query(
        server.url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'corollary'",
      );
      return;
    default:
      return server.crash();
  }
}

async function ownerOf({ nodes }: Cluster, server: PrivatePostgres): Promise<number> {
  const [row] = await query(
    server.url,
    'SELECT n.address FROM corollary.log l JOIN corollary.node n ON n.id = l.owner',
  );
  return nodes.findIndex(({ address }) => address === row?.['address']);
}

async function writer(cluster: Cluster, name: string, seen: Seen, run: Run): Promise<void> {
  for (let number = 0; !run.isOver; number++) {
    const mark = `${name}_${number}`;
    const began = ++run.clock;
    const key = crypto.randomUUID();
    for (;;) {
      const told = await called(
        cluster,
        '/tell',
        { predicate: 'w', args: [mark] },
        { 'idempotency-key': key },
      );
      if (told !== null) {
        const { generation } = JSON.parse(told.text) as { generation: number };
        seen.writes.push({ mark, began, ended: ++run.clock, generation });
        break;
      }
      run.repeats++;
      await pause(50);
    }
    const now = performance.now();
    run.longestGapMs = Math.max(run.longestGapMs, now - run.lastAckAt);
    run.lastAckAt = now;
    await pause(20);
  }
}

async function reader(cluster: Cluster, what: string, seen: Seen, run: Run): Promise<void> {
  while (!run.isOver) {
    const began = ++run.clock;
    const answered = seen.writes.filter(({ ended }) => ended < began);
    const latest = Math.max(0, ...answered.map(({ generation }) => generation));
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
    if (answer !== null) {
      const { results, generation } = JSON.parse(answer.text) as { results: string[]; generation: number };
      seen.reads.push({ atoms: results, generation, least, what });
    }
    await pause(100);
  }
}

const question = { text: 'w(?x)', limit: 100_000 };

async function marksAt({ nodes }: Cluster, at: number, headers: Record<string, string>): Promise<string[]> {
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
  { nodes }: Cluster,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<Answered | null> {
  const node = nodes[Math.floor(Math.random() * nodes.length)];
  const answer = await post(node?.address ?? '', path, body, headers);
  if (answer === null || answer.status === 200) return answer;
  expect([503, 504, 409], answer.text).toContain(answer.status);
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
      headers: { ...tenant, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch {
    // The node is gone, or stopped.
    return null;
  }
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function freePort(): Promise<number> {
  const listening = createServer().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  await new Promise((resolve) => listening.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
