/**
 * Nodes of one store over a private PostgreSQL server, each the built service in a process of its own; they reach the server and
 * each other directly, or over relays that delay.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeList } from '../../src/engine/contract/administration.ts';
import { PostgresConnection } from '../../src/engine/log/postgres-connection.ts';
import { type PrivatePostgres, startPostgres } from '../../src/engine/testing/private-postgres.ts';
import { must } from '../fairness/load.ts';
import { builtService, type Server, startServer } from '../http/server.ts';
import { cpuSecondsIn } from '../measure.ts';
import { Relays } from './relay.ts';

/** The nodes and their server. */
export class Cluster {
  readonly nodes: Server[] = [];
  /** Where the other nodes reach each of them. */
  readonly #addresses: string[] = [];
  readonly #bundles: string;
  readonly #folder: string;
  readonly #postgres: PrivatePostgres;
  readonly #relays: Relays | null;
  /** Of the server, as the nodes reach it. */
  #url: string;

  private constructor(bundles: string, folder: string, postgres: PrivatePostgres, delayMs: number) {
    this.#bundles = bundles;
    this.#folder = folder;
    this.#postgres = postgres;
    this.#relays = delayMs === 0 ? null : new Relays(bundles, delayMs);
    this.#url = postgres.url;
  }

  /**
   * Starts the server and so many nodes; their files are in `folder`. What passes between nodes, and between a node and the
   * server, takes `delayMs` longer in each direction. The clients of the benchmark reach nodes directly.
   */
  static async start(bundles: string, folder: string, count: number, delayMs: number): Promise<Cluster> {
    writeFileSync(join(folder, 'secret'), 'the secret of the nodes of this benchmark');
    const cluster = new Cluster(bundles, folder, await startPostgres(), delayMs);
    try {
      await cluster.#relayServer();
      for (let at = 0; at < count; at++) cluster.nodes.push(await cluster.#startNode(at));
      return cluster;
    } catch (error) {
      await cluster.end();
      throw error;
    }
  }

  async #relayServer(): Promise<void> {
    if (this.#relays === null) return;
    const port = await this.#relays.listen();
    this.#relays.aim(port, this.#postgres.port);
    this.#url = this.#url.replace(`:${this.#postgres.port}/`, `:${port}/`);
  }

  async #startNode(at: number): Promise<Server> {
    const { name, command, args, environment } = builtService(
      `node ${at}`,
      this.#bundles,
      this.#folder,
      'always',
    );
    // A node that is started again is another one.
    const port = await this.#relays?.listen();
    const own = {
      ...(port === undefined ? {} : { NODE_ADDRESS: `http://127.0.0.1:${port}` }),
      STORAGE_DIR: join(this.#folder, `journals-${at}`),
      COROLLARY_ENDPOINT_FILE: join(this.#folder, `node-${at}.json`),
      STORE_URL: this.#url,
      NODE_SECRET_FILE: join(this.#folder, 'secret'),
      // What a snapshot costs is measured elsewhere.
      SNAPSHOT_INTERVAL_MS: '86400000',
      LOG_LEVEL: 'WARN',
    };
    const program = { name, command, args, environment: { ...environment, ...own } };
    const server = await startServer(program, this.#folder);
    if (port !== undefined) this.#relays?.aim(port, Number(new URL(server.address).port));
    this.#addresses[at] = own.NODE_ADDRESS ?? server.address;
    return server;
  }

  /** Replaces a node that was killed. */
  async restart(at: number): Promise<void> {
    this.nodes[at] = await this.#startNode(at);
  }

  node(at: number): Server {
    const node = this.nodes[at];
    if (node === undefined) throw new Error(`there is no node ${at}`);
    return node;
  }

  /** The id of a node, as another one lists it. */
  async idOf(at: number, from: number): Promise<string | undefined> {
    return (await this.list(from)).nodes.find(({ address }) => address === this.#addresses[at])?.id;
  }

  /** The nodes as one of them lists them. */
  async list(at: number): Promise<NodeList> {
    return JSON.parse(await must(this.node(at).address, { method: 'GET', path: '/admin/nodes' })) as NodeList;
  }

  /** The number of the node that has the log of the database `default`, as this one sees it; -1: none. */
  async owner(from = 0): Promise<number> {
    const { databases, nodes } = await this.list(from);
    const owner = databases.find(({ name }) => name === 'default')?.owner;
    const address = nodes.find(({ id }) => id === owner)?.address;
    return this.#addresses.findIndex((each) => each === address);
  }

  /** CPU seconds of PostgreSQL, with those of its processes that have ended. */
  serverCpuSeconds(): number {
    const main = this.#postgres.pid();
    const stats = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => statOf(name))
      .filter((stat) => stat !== null);
    const parent = stats.find(({ pid }) => pid === main);
    const children = stats.filter(({ ppid }) => ppid === main);
    return [parent, ...children].reduce((sum, stat) => sum + (stat?.cpu ?? 0), parent?.ended ?? 0);
  }

  /** CPU seconds of the relays. */
  relayCpuSeconds(): number {
    return this.#relays?.cpuSeconds() ?? 0;
  }

  /** Milliseconds of statements that do nothing, by turns as the nodes reach the server, and directly. */
  async roundTrips(count: number): Promise<{ readonly nodes: number[]; readonly direct: number[] }> {
    const connections = {
      nodes: new PostgresConnection(this.#url),
      direct: new PostgresConnection(this.#postgres.url),
    };
    const times = { nodes: [] as number[], direct: [] as number[] };
    for (let number = 0; number < count; number++)
      for (const way of ['nodes', 'direct'] as const) {
        await connections[way].open();
        const startedAt = performance.now();
        await connections[way].open();
        times[way].push(performance.now() - startedAt);
      }
    await Promise.all([connections.nodes.close(), connections.direct.close()]);
    return times;
  }

  async end(): Promise<void> {
    for (const node of this.nodes) {
      node.signal('SIGCONT');
      await node.stop();
    }
    this.#relays?.end();
    await this.#postgres.remove();
    rmSync(join(this.#folder, 'secret'), { force: true });
  }
}

interface Stat {
  readonly pid: number;
  readonly ppid: number;
  readonly cpu: number;
  /** Of its children that have ended. */
  readonly ended: number;
}

function statOf(pid: string): Stat | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    const ended = ((fields[13] ?? 0) + (fields[14] ?? 0)) / 100;
    return { pid: Number(pid), ppid: fields[1] ?? 0, cpu: cpuSecondsIn(stat), ended };
  } catch {
    // It has ended since the folder was listed.
    return null;
  }
}
