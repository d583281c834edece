/** Nodes of one store over a private PostgreSQL server, each the built service in a process of its own. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeList } from '../../src/engine/contract/administration.ts';
import { type PrivatePostgres, startPostgres } from '../../src/engine/testing/private-postgres.ts';
import { must } from '../fairness/load.ts';
import { builtService, type Server, startServer } from '../http/server.ts';
import { cpuSecondsIn } from '../measure.ts';

/** The nodes and their server. */
export class Cluster {
  readonly nodes: Server[] = [];
  readonly #bundles: string;
  readonly #folder: string;
  readonly #postgres: PrivatePostgres;

  private constructor(bundles: string, folder: string, postgres: PrivatePostgres) {
    this.#bundles = bundles;
    this.#folder = folder;
    this.#postgres = postgres;
  }

  /** Starts the server and so many nodes; their files are in `folder`. */
  static async start(bundles: string, folder: string, count: number): Promise<Cluster> {
    writeFileSync(join(folder, 'secret'), 'the secret of the nodes of this benchmark');
    const cluster = new Cluster(bundles, folder, await startPostgres());
    try {
      for (let at = 0; at < count; at++) cluster.nodes.push(await cluster.#startNode(at));
      return cluster;
    } catch (error) {
      await cluster.end();
      throw error;
    }
  }

  #startNode(at: number): Promise<Server> {
    const { name, command, args, environment } = builtService(
      `node ${at}`,
      this.#bundles,
      this.#folder,
      'always',
    );
    const own = {
      STORAGE_DIR: join(this.#folder, `journals-${at}`),
      COROLLARY_ENDPOINT_FILE: join(this.#folder, `node-${at}.json`),
      STORE_URL: this.#postgres.url,
      NODE_SECRET_FILE: join(this.#folder, 'secret'),
      // What a snapshot costs is measured elsewhere.
      SNAPSHOT_INTERVAL_MS: '86400000',
      LOG_LEVEL: 'WARN',
    };
    return startServer({ name, command, args, environment: { ...environment, ...own } }, this.#folder);
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

  /** The nodes as one of them lists them. */
  async list(at: number): Promise<NodeList> {
    return JSON.parse(await must(this.node(at).address, { method: 'GET', path: '/admin/nodes' })) as NodeList;
  }

  /** The number of the node that has the log of the database `default`, as this one sees it; -1: none. */
  async owner(from = 0): Promise<number> {
    const { databases, nodes } = await this.list(from);
    const owner = databases.find(({ name }) => name === 'default')?.owner;
    const address = nodes.find(({ id }) => id === owner)?.address;
    return this.nodes.findIndex((node) => node.address === address);
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

  async end(): Promise<void> {
    for (const node of this.nodes) {
      node.signal('SIGCONT');
      await node.stop();
    }
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
