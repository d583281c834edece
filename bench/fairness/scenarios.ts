/**
 * What one client does to the service while the prober wants its answers. Each scenario belongs to a stage: a service of
 * its own with knowledge that is loaded before anything is measured. `long` knowledge has constants of 64 kB, of the same
 * total bytes as the short ones.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { finished } from 'node:stream/promises';
import type { LoadFigures } from './figures.ts';
import { Counts, must, open, repeat } from './load.ts';

export interface Sizes {
  /** Facts where the promise says a million. */
  readonly facts: number;
  /** Facts of the scope that is forked and merged. */
  readonly forked: number;
  readonly keys: number;
  readonly halfSent: number;
  /** Edges that the explosive questions join. */
  readonly edges: number;
}

/** Where a scenario runs: `until` is the time on `performance`'s clock after which it begins nothing more. */
export interface Scene {
  readonly address: string;
  readonly sizes: Sizes;
  readonly until: number;
}

export type Knowledge = 'short' | 'long';

export interface Scenario {
  readonly name: string;
  /** True: the prober opens a connection for each request. */
  readonly newConnections?: boolean;
  run(scene: Scene): Promise<LoadFigures>;
}

export interface Stage {
  prepare(address: string, sizes: Sizes): Promise<void>;
  readonly scenarios: readonly Scenario[];
}

/** UTF-8 bytes of a line of a short fact, of which a long constant takes as many as it has room for. */
const shortLineBytes = 52;
const longBytes = 65_000;

function countOf(facts: number, kind: Knowledge): number {
  return kind === 'short' ? facts : Math.max(20, Math.ceil((facts * shortLineBytes) / longBytes));
}

/** A constant of 64 kB that differs from others in its last characters. */
function longConstant(number: number): string {
  return `${'x'.repeat(longBytes - 10)}${String(number).padStart(10, '0')}`;
}

function argsOf(kind: Knowledge, number: number): readonly string[] {
  return kind === 'short'
    ? [`node${number}`, `node${(number * 7919) % 1_000_003}`]
    : [longConstant(number), `node${number}`];
}

/** Facts as lines of NDJSON, generated while they are sent. */
function* lines(kind: Knowledge, facts: number, from = 0): Generator<Buffer> {
  const count = countOf(facts, kind);
  const together = kind === 'short' ? 1000 : 4;
  for (let at = 0; at < count; at += together) {
    let chunk = '';
    for (let number = at; number < Math.min(count, at + together); number++)
      chunk += `${JSON.stringify({ predicate: 'edge', args: argsOf(kind, from + number) })}\n`;
    yield Buffer.from(chunk);
  }
}

const titleOf = (kind: Knowledge): string => (kind === 'short' ? '' : ', 64 kB constants');

/** Eight questions of one tenant at a time, of which each would take minutes. */
function explosive(name: string, question: object): Scenario {
  return {
    name,
    async run({ address, until }) {
      const counts = new Counts('questions');
      await repeat(until, 8, () => counts.call(address, { path: '/ask', body: question }));
      return counts.figures;
    },
  };
}

function importing(kind: Knowledge): Scenario {
  return {
    name: `import${titleOf(kind)}`,
    async run({ address, sizes }) {
      const counts = new Counts('facts');
      const answer = await must(address, { path: '/import', body: lines(kind, sizes.facts, 1e8) });
      const done = JSON.parse(answer.trimEnd().split('\n').at(-1) ?? '{}') as Record<string, number>;
      if (done['asserted'] === undefined) throw new Error(`the import ended with ${answer.slice(-300)}`);
      counts.add(done['asserted']);
      return counts.figures;
    },
  };
}

/** Six exports at a time: three readers take a chunk now and then, three everything at once. */
function exporting(kind: Knowledge): Scenario {
  return {
    name: `export to six readers, three of them slow${titleOf(kind)}`,
    async run({ address, until }) {
      const counts = new Counts('exports');
      const call = { method: 'GET', path: '/export' } as const;
      const readSlowly = async (): Promise<void> => {
        const response = await open(address, call);
        response.on('error', () => response.destroy());
        while (performance.now() < until && !response.destroyed) {
          response.read();
          await pause(50);
        }
        response.destroy();
      };
      const readFast = repeat(until, 3, () => counts.call(address, call));
      await Promise.all([readFast, readSlowly(), readSlowly(), readSlowly()]);
      return counts.figures;
    },
  };
}

function forking(kind: Knowledge): Scenario {
  let number = 0;
  return {
    name: `fork and merge${titleOf(kind)}`,
    async run({ address, until }) {
      const counts = new Counts('forks and merges');
      await repeat(until, 1, async () => {
        const [fork, merged] = [`fork${number}`, `merged${number++}`];
        await counts.call(address, { path: '/scope/fork', body: { source: 'base', target: fork } });
        const body = { source: fork, target: merged, strategy: 'SOURCE_WINS', base: null };
        await counts.call(address, { path: '/scope/merge', body });
        for (const name of [fork, merged])
          await counts.call(address, { method: 'DELETE', path: `/scope/${name}` });
      });
      return counts.figures;
    },
  };
}

function snapshots(kind: Knowledge): Scenario {
  let number = 0;
  return {
    name: `snapshots${titleOf(kind)}`,
    async run({ address, until }) {
      const counts = new Counts('snapshots');
      await repeat(until, 1, async () => {
        // Nothing is written where nothing has changed.
        await must(address, { path: '/tell', body: { predicate: 'changed', args: [number++] } });
        await counts.call(address, { path: '/admin/snapshot' });
      });
      return counts.figures;
    },
  };
}

function reading(kind: Knowledge): Scenario {
  const calls = [
    { path: '/context/optimize', body: { maxFacts: 1000, maxChars: 1_000_000, explainOmitted: true } },
    { method: 'GET', path: '/facts?predicate=edge&sort=arg0&order=desc&limit=50' },
    { method: 'GET', path: '/facts?q=99&sort=salience&limit=50' },
    { method: 'GET', path: '/memory/stats' },
    { path: '/query', body: { predicate: 'edge', args: ['?x', '?y'], limit: 100, offset: 5000 } },
  ] as const;
  return {
    name: `context/optimize and listings${titleOf(kind)}`,
    async run({ address, until }) {
      const counts = new Counts('calls');
      await repeat(until, 1, async () => {
        for (const call of calls) await counts.call(address, call);
      });
      return counts.figures;
    },
  };
}

/** Previews, and at last what they preview: everything goes. So it must be the last of its stage. */
function decay(kind: Knowledge): Scenario {
  return {
    name: `decay${titleOf(kind)}`,
    async run({ address, until }) {
      const counts = new Counts('calls');
      const body = { threshold: 1 };
      await repeat(until, 1, () =>
        counts.call(address, { path: '/memory/decay', body: { ...body, dryRun: true } }),
      );
      await counts.call(address, { path: '/memory/decay', body });
      return counts.figures;
    },
  };
}

const idempotencyKeys: Scenario = {
  name: 'writes with idempotency keys',
  async run({ address, sizes }) {
    const counts = new Counts('writes');
    let number = 0;
    const write = async (): Promise<void> => {
      while (number < sizes.keys) {
        const key = `key-${number++}`;
        const body = { predicate: 'keyed', args: [key] };
        await counts.call(address, { path: '/tell', body, headers: { 'idempotency-key': key } });
      }
    };
    await Promise.all(Array.from({ length: 16 }, write));
    return counts.figures;
  },
};

/** As many half-sent requests as the sizes say, at once; then more in place of those that the service closes. */
const halfSent: Scenario = {
  name: 'half-sent requests of one address',
  newConnections: true,
  async run({ address, sizes, until }) {
    const counts = new Counts('connections opened');
    const { hostname, port } = new URL(address);
    const sockets = new Set<Socket>();
    const openOne = (): void => {
      const socket = connect(Number(port), hostname, () => counts.add(1));
      sockets.add(socket);
      socket
        .on('error', () => socket.destroy())
        .on('close', () => sockets.delete(socket))
        .resume()
        .write('POST /tell HTTP/1.1\r\nHost: localhost\r\nX-Tenant-');
    };
    for (let opened = 0; opened < sizes.halfSent; opened++) openOne();
    while (performance.now() < until) {
      for (let opened = 0; opened < 5 && sockets.size < sizes.halfSent; opened++) openOne();
      await pause(50);
    }
    await Promise.all([...sockets].map((socket) => finished(socket.destroy()).catch(() => {})));
    return counts.figures;
  },
};

/** Questions over few facts: the work is in what they derive. */
const questions: Stage = {
  async prepare(address, { edges, facts }) {
    const edge = function* (): Generator<Buffer> {
      for (let number = 0; number < edges; number++)
        yield Buffer.from(`{"predicate":"e","args":["a${number % 997}","b${number}"]}\n`);
    };
    await must(address, { path: '/import', body: edge() });
    await must(address, { path: '/import', body: lines('long', facts) });
    for (const text of [
      'tri(?a, ?b, ?c, ?d) :- e(?a, ?b), e(?c, ?d), ?a != ?d',
      'less(?x, ?y) :- edge(?x, ?a), edge(?y, ?b), ?x < ?y',
    ])
      await must(address, { path: '/teach', body: { text } });
  },
  scenarios: [
    explosive('eight explosive questions', { text: 'tri(?a, ?b, ?c, ?d)', limit: 10 }),
    explosive('eight comparisons of 64 kB constants', { text: 'less(?x, ?y)', limit: 10, timeoutMs: 2000 }),
  ],
};

const writes: Stage = {
  prepare: () => Promise.resolve(),
  scenarios: [importing('short'), importing('long'), idempotencyKeys, halfSent],
};

function stored(kind: Knowledge): Stage {
  return {
    async prepare(address, { facts, forked }) {
      await must(address, { path: '/import', body: lines(kind, facts) });
      await must(address, { path: '/import?scope=base', body: lines(kind, forked) });
    },
    scenarios: [exporting(kind), snapshots(kind), forking(kind), reading(kind), decay(kind)],
  };
}

/** All stages, in the order in which they are measured. */
export const stages: readonly Stage[] = [questions, writes, stored('short'), stored('long')];
