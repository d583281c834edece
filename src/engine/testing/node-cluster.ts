/**
 * Three services as processes over one store in a PostgreSQL server with a synchronous standby, for tests that break parts
 * of it. As root on Linux each of them has a network namespace, so that any two can be cut apart; else all share the
 * loopback address.
 *
 * The nodes reach the server through a relay, as through an address that moves with the primary. This process reaches a
 * node in a namespace over a socket in the file system, which all namespaces share.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { bundleProgram } from './child-program.ts';
import { type PrivatePostgres, startPostgres } from './private-postgres.ts';

const run = promisify(execFile);

/** The key of the services. */
export const clusterKey = 'the-key-of-this-test';

/** Where a program runs. */
interface Place {
  readonly host: string;
  /** Runs a program there. */
  readonly prefix: readonly string[];
}

/** Places for three nodes and the server, and how to cut two of them apart. */
interface Network {
  readonly places: readonly Place[];
  /** null: they cannot be cut apart. */
  readonly cut: ((one: number, other: number) => Promise<() => Promise<void>>) | null;
  remove(): Promise<void>;
}

/** The place of the server; the nodes have the others. */
const serverPlace = 3;

const loopback: Network = {
  places: Array.from({ length: 4 }, () => ({ host: '127.0.0.1', prefix: [] })),
  cut: null,
  remove: () => Promise.resolve(),
};

/** Four namespaces with addresses of their own, joined by a bridge in a fifth one. */
async function separated(): Promise<Network> {
  const ip = async (...words: string[]): Promise<void> => {
    await run('ip', words);
  };
  const hub = `cor${process.pid}h`;
  const names = [0, 1, 2, serverPlace].map((at) => `cor${process.pid}n${at}`);
  const host = (at: number): string => `10.77.0.${at + 1}`;
  const remove = async (): Promise<void> => {
    for (const name of [...names, hub])
      await ip('netns', 'del', name).catch(() => {
        // It was not made.
      });
  };
  try {
    await ip('netns', 'add', hub);
    await ip('-n', hub, 'link', 'add', 'bridge', 'type', 'bridge');
    await ip('-n', hub, 'link', 'set', 'bridge', 'up');
    for (const [at, name] of names.entries()) {
      await ip('netns', 'add', name);
      await ip('-n', name, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', `port${at}`, 'netns', hub);
      await ip('-n', hub, 'link', 'set', `port${at}`, 'master', 'bridge', 'up');
      await ip('-n', name, 'addr', 'add', `${host(at)}/24`, 'dev', 'eth0');
      for (const link of ['lo', 'eth0']) await ip('-n', name, 'link', 'set', link, 'up');
    }
  } catch (error) {
    await remove();
    throw error;
  }
  const route = (what: 'add' | 'del', from: number, to: number): Promise<void> =>
    ip('-n', names[from] ?? '', 'route', what, 'blackhole', `${host(to)}/32`);
  return {
    places: names.map((name, at) => ({ host: host(at), prefix: ['ip', 'netns', 'exec', name] })),
    cut: async (one, other) => {
      await route('add', one, other);
      await route('add', other, one);
      return async () => {
        await route('del', one, other);
        await route('del', other, one);
      };
    },
    remove,
  };
}

function canSeparate(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const name = `cor${process.pid}try`;
  try {
    execFileSync('ip', ['netns', 'add', name], { stdio: 'ignore' });
    execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
    return true;
  } catch {
    // Without the right, or without `ip`.
    return false;
  }
}

/** Passes connections on: to what the file says at the time, `host:port`. */
const relayProgram = `
import { connect, createServer } from 'node:net';
import { readFileSync } from 'node:fs';
const [listen, target] = process.argv.slice(2);
const server = createServer((client) => {
  const [host, port] = readFileSync(target, 'utf8').split(':');
  const onward = connect(Number(port), host);
  for (const [one, other] of [[client, onward], [onward, client]])
    one.on('error', () => other.destroy()).on('close', () => other.destroy()).pipe(other);
});
const [host, port] = listen.split(':');
server.listen(port === undefined ? { path: listen } : { host, port: Number(port) }, () => console.log('ready'));
`;

/** A node of the cluster. */
export interface ClusterNode {
  /** Where this process reaches it. */
  readonly address: string;
  process: ChildProcess;
}

/** The cluster, and what can be done to it. */
export class NodeCluster {
  readonly nodes: ClusterNode[] = [];
  /** What a node said last that ended by itself; null: none did. */
  ended: string | null = null;
  /** True: any two of the nodes and the server can be cut apart. */
  readonly isSeparated: boolean;
  readonly #network: Network;
  readonly #folder: string;
  readonly #program: string;
  readonly #relays: ChildProcess[] = [];
  readonly #fronts: Server[] = [];
  readonly #ports: number[] = [];
  #primary: PrivatePostgres;
  #standby: PrivatePostgres;
  #storeUrl = '';

  private constructor(
    network: Network,
    folder: string,
    program: string,
    primary: PrivatePostgres,
    standby: PrivatePostgres,
  ) {
    this.#network = network;
    this.isSeparated = network.cut !== null;
    this.#folder = folder;
    this.#program = program;
    this.#primary = primary;
    this.#standby = standby;
  }

  static async start(): Promise<NodeCluster> {
    const program = await bundleProgram(new URL('../../main/entry/headless.ts', import.meta.url));
    // By which a program finds what it was installed with.
    await writeFile(
      join(program, '../package.json'),
      JSON.stringify({ name: 'corollary', version: '0.0.0', type: 'module' }),
    );
    const folder = await mkdtemp(join(tmpdir(), 'corollary-cluster-'));
    const network = canSeparate() ? await separated() : loopback;
    const place = network.places[serverPlace];
    const ends: (() => Promise<void>)[] = [() => network.remove()];
    try {
      const primary = await startPostgres({}, network === loopback ? {} : place);
      ends.unshift(() => primary.remove());
      const standby = await primary.standby();
      ends.unshift(() => standby.remove());
      await primary.set('synchronous_standby_names', 'standby');
      const cluster = new NodeCluster(network, folder, program, primary, standby);
      ends.splice(0, ends.length, () => cluster.end());
      await cluster.#begin();
      return cluster;
    } catch (error) {
      for (const end of ends) await end();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    await writeFile(join(this.#folder, 'secret'), 'a secret of at least 32 characters');
    await writeFile(join(this.#folder, 'relay.mjs'), relayProgram);
    const server = this.#placeOf(serverPlace);
    const port = await freePort();
    await this.#point('server', `${server.host}:${this.#primary.port}`);
    await this.#relay(serverPlace, `${server.host}:${port}`, 'server');
    this.#storeUrl = `postgres://postgres@${server.host}:${port}/postgres`;
    for (let at = 0; at < serverPlace; at++) {
      const own = await freePort();
      this.#ports.push(own);
      const address = this.isSeparated ? await this.#front(at) : `http://127.0.0.1:${own}`;
      this.nodes.push({ address, process: await this.#launch(at) });
    }
  }

  /** Ends everything. */
  async end(): Promise<void> {
    for (const { process: child } of this.nodes) {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
    }
    for (const relay of this.#relays) relay.kill('SIGKILL');
    for (const front of this.#fronts) front.close();
    await this.#standby.remove();
    await this.#primary.remove();
    await this.#network.remove();
    await rm(this.#folder, { recursive: true, force: true });
    await rm(join(this.#program, '..'), { recursive: true, force: true });
  }

  /** Starts a node that has ended. */
  async restart(at: number): Promise<void> {
    const node = this.nodes[at];
    if (node !== undefined) node.process = await this.#launch(at);
  }

  /** Asks the primary. */
  async query(text: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.#primary.socketUrl });
    client.on('error', () => {
      // The server ends it, or the statement that runs rejects.
    });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** The number of the node that has the log of the database; -1: none. */
  async owner(database: string): Promise<number> {
    const [row] = await this.query(
      `SELECT n.address FROM corollary.log l JOIN corollary.node n ON n.id = l.owner WHERE l.name = '${database}'`,
    );
    return this.#ports.findIndex(
      (port, at) => row?.['address'] === `http://${this.#placeOf(at).host}:${port}`,
    );
  }

  crash(): Promise<void> {
    return this.#primary.crash();
  }

  /** Stops the standby for so long, and cancels every wait for it meanwhile. */
  async cancelWaits(ms: number): Promise<void> {
    await this.#standby.stop();
    for (const until = performance.now() + ms; performance.now() < until; ) {
      await this.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      await pause(200);
    }
    await this.#standby.start();
  }

  /** The primary is gone for good, and the standby takes its place; then a new standby is made. */
  async promote(): Promise<void> {
    const former = this.#primary;
    await former.stop();
    await pause(500);
    await this.#standby.promote();
    this.#primary = this.#standby;
    await this.#point('server', `${this.#placeOf(serverPlace).host}:${this.#primary.port}`);
    await pause(2000);
    this.#standby = await this.#primary.standby();
    await this.#primary.set('synchronous_standby_names', 'standby');
    await former.remove();
  }

  /** Cuts two nodes apart, or a node from the server; resolves with how to join them again. */
  async cut(one: number, other: number | 'server'): Promise<() => Promise<void>> {
    if (this.#network.cut === null) throw new Error('they share a network');
    return this.#network.cut(one, other === 'server' ? serverPlace : other);
  }

  #placeOf(at: number): Place {
    const place = this.#network.places[at];
    if (place === undefined) throw new Error(`there is no place ${at}`);
    return place;
  }

  async #point(name: string, target: string): Promise<void> {
    // At once: a relay may read it now.
    await writeFile(join(this.#folder, `${name}.new`), target);
    await rename(join(this.#folder, `${name}.new`), join(this.#folder, name));
  }

  async #relay(at: number, listen: string, target: string): Promise<void> {
    const [first, ...rest] = [
      ...this.#placeOf(at).prefix,
      process.execPath,
      join(this.#folder, 'relay.mjs'),
      listen,
      join(this.#folder, target),
    ];
    const child = spawn(first, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#relays.push(child);
    await once(child.stdout, 'data');
  }

  /** An address here that leads to the node in its namespace. */
  async #front(at: number): Promise<string> {
    const path = join(this.#folder, `node${at}.socket`);
    await this.#point(`node${at}`, `${this.#placeOf(at).host}:${this.#ports[at]}`);
    await this.#relay(at, path, `node${at}`);
    const front = createServer((client) => {
      const onward = connect(path);
      client.on('error', () => onward.destroy()).on('close', () => onward.destroy());
      onward.on('error', () => client.destroy()).on('close', () => client.destroy());
      client.pipe(onward).pipe(client);
    }).listen(0, '127.0.0.1');
    this.#fronts.push(front);
    await once(front, 'listening');
    const address = front.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  async #launch(at: number): Promise<ChildProcess> {
    const { host, prefix } = this.#placeOf(at);
    const [first, ...rest] = [...prefix, process.execPath, this.#program, 'serve'];
    const child = spawn(first, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        HOST: host,
        PORT: String(this.#ports[at]),
        API_KEY: clusterKey,
        NODE_ADDRESS: `http://${host}:${this.#ports[at]}`,
        STORE_URL: this.#storeUrl,
        NODE_SECRET_FILE: join(this.#folder, 'secret'),
        // The check reads all frames at the end.
        SNAPSHOT_INTERVAL_MS: '86400000',
        COROLLARY_ENDPOINT_FILE: join(this.#folder, `endpoint-${at}.json`),
      },
    });
    let said = '';
    child.stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-4000);
      if (process.env['NODES_LOG'] !== undefined) process.stderr.write(`node ${at}: ${bytes.toString()}`);
    });
    child.once('exit', (code) => {
      // One that this process kills ends with a signal, one that it asks to end with 0.
      if (code !== null && code !== 0) this.ended ??= `node ${at} ended with ${code}: ${said}`;
    });
    const started = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => null)]);
    if (started === null) throw new Error(`a node ended at its start: ${said}`);
    return child;
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function freePort(): Promise<number> {
  const listening = createServer().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address();
  await new Promise((resolve) => listening.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
