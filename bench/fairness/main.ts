/**
 * `npm run bench -- fairness`: what other clients wait for while one client asks for as much as it can.
 *
 * A prober in a process of its own, at another address and in another tenant, sends `/health`, a small `/ask` and a small
 * `/tell` at a fixed rate, first to an idle service and then during each scenario. Beside them it calls a bare Fastify in
 * yet another process: what that one waits is the machine's noise. The promise is at most 50 ms at p99 beyond idle, no
 * turn of the service's thread over 50 ms of processor time, and no probe refused.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { builtService, type Server, startServer } from '../http/server.ts';
import { figure } from '../report.ts';
import { fairnessTable, type LoadFigures, type Measurement, verdicts } from './figures.ts';
import { must } from './load.ts';
import type { Probe, ProberCommand, ProberReport } from './prober-child.ts';
import { type Scenario, type Scene, type Sizes, stages } from './scenarios.ts';
import type { Turns } from '../turns/monitor.ts';
import { turnsAt, withMonitor } from '../turns/service.ts';

const help = `npm run bench -- fairness [options]     (after npm run build)
  --small               fewer facts and shorter, to see that it works: 2 minutes instead of 15
  --seconds N           least length of a scenario that repeats itself (10; small: 3)
  --rate N              requests a second of each probe (20)
  --only TEXT           only scenarios whose name contains the text
  --profile             what the longest turns did
  --output FILE         write the table there too, as Markdown
  --help`;

const full: Sizes = { facts: 1_000_000, forked: 100_000, keys: 50_000, halfSent: 2500, edges: 3000 };
const small: Sizes = { facts: 50_000, forked: 10_000, keys: 5000, halfSent: 2500, edges: 1500 };

interface Options {
  readonly sizes: Sizes;
  readonly seconds: number;
  readonly rate: number;
  readonly only: string;
  readonly profile: boolean;
  readonly output: string | null;
}

const here = dirname(fileURLToPath(import.meta.url));
const tenant = { 'x-tenant-id': 'prober', 'content-type': 'application/json' };
const own = ['/health', '/ask', '/tell'];
const bareName = 'bare Fastify';
/** For connections and caches to settle between two scenarios. */
const settleMs = 1000;
/** A profile of a shorter turn is not printed. */
const printedFromMs = 20;

function probesOf(service: Server, bare: Server): Probe[] {
  const post = (path: string, body: object): Probe => ({
    name: path,
    url: `${service.address}${path}`,
    method: 'POST',
    headers: tenant,
    body: JSON.stringify(body),
  });
  return [
    { name: '/health', url: `${service.address}/health`, method: 'GET', headers: {}, body: null },
    post('/ask', { text: 'grandparent(pia, ?who)' }),
    post('/tell', { predicate: 'seen', args: ['{n}', process.hrtime.bigint().toString()] }),
    { ...post('/health', {}), name: bareName, url: `${bare.address}/health` },
  ];
}

/** The prober's process. */
class Prober {
  readonly #child: ChildProcess;
  readonly #rate: number;

  constructor(rate: number) {
    this.#child = fork(join(here, 'fairness-prober-child.js'));
    this.#rate = rate;
  }

  start(probes: readonly Probe[], newConnections: boolean): void {
    this.#send({ start: probes, perSecond: this.#rate, newConnections });
  }

  async stop(): Promise<ProberReport> {
    const report = once(this.#child, 'message') as Promise<[ProberReport]>;
    this.#send({ stop: true });
    return (await report)[0];
  }

  end(): void {
    this.#child.disconnect();
  }

  #send(command: ProberCommand): void {
    this.#child.send(command);
  }
}

/** The service with its monitor. */
class Monitored {
  readonly server: Server;
  readonly #socket: string;

  constructor(server: Server, socket: string) {
    this.server = server;
    this.#socket = socket;
  }

  static async start(folder: string, isProfiled: boolean): Promise<Monitored> {
    const socket = join(folder, 'turns');
    rmSync(socket, { force: true });
    const program = withMonitor(builtService('Corollary', here, folder, 'always'), here, socket, isProfiled);
    return new Monitored(await startServer(program, folder), socket);
  }

  /** The longest turn since the last call. */
  longestTurn(): Promise<Turns> {
    return turnsAt(this.#socket);
  }
}

async function measure(
  service: Monitored,
  bare: Server,
  prober: Prober,
  scenario: Pick<Scenario, 'name' | 'newConnections'>,
  run: () => Promise<LoadFigures | null>,
): Promise<Measurement> {
  await pause(settleMs);
  await service.longestTurn();
  prober.start(probesOf(service.server, bare), scenario.newConnections ?? false);
  const load = await run();
  const probes = await prober.stop();
  const turn = await service.longestTurn();
  const waits = own.map((name) => `${name} ${figure(probes[name]?.p99 ?? Number.NaN)}`);
  console.log(`  ${scenario.name}: p99 ${waits.join(', ')} ms; longest turn ${figure(turn.cpuMs)} ms of CPU`);
  if (turn.cpuMs > printedFromMs) for (const call of turn.calls) console.log(`    ${call}`);
  return { scenario: scenario.name, probes, turn, load };
}

/**
 * What the probes of the bare Fastify wait for while it gets the load itself: how much of the service's figures is Node's. It is
 * no target, and has no row.
 */
async function ofBare(
  prober: Prober,
  probes: readonly Probe[],
  run: () => Promise<unknown>,
): Promise<string> {
  await pause(settleMs);
  prober.start(probes, true);
  await run();
  const { p50, p99 } = (await prober.stop())[bareName] ?? { p50: Number.NaN, p99: Number.NaN };
  return `  the same to the bare Fastify: p50 ${figure(p50)}, p99 ${figure(p99)} ms`;
}

/** A service with what the prober asks, warmed up. */
async function begun({ profile }: Options, folder: string, bare: Server, prober: Prober): Promise<Monitored> {
  const service = await Monitored.start(mkdtempSync(join(folder, 'stage-')), profile);
  const { address } = service.server;
  const facts = [
    ['alma', 'pia'],
    ['nora', 'alma'],
    ['pia', 'eve'],
    ['eve', 'ida'],
  ].map((args) => ({ predicate: 'parent', args }));
  await must(address, { path: '/assert/facts', body: { facts }, headers: tenant });
  const text = 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)';
  await must(address, { path: '/teach', body: { text }, headers: tenant });
  prober.start(probesOf(service.server, bare), false);
  await pause(2 * settleMs);
  await prober.stop();
  return service;
}

async function measureAll(options: Options, folder: string, prober: Prober): Promise<Measurement[]> {
  const { sizes, seconds, only } = options;
  const answers = JSON.stringify({ '/health': { status: 'UP' } });
  const program = {
    name: 'Fastify',
    command: process.execPath,
    args: [join(here, 'fastify-child.js'), answers],
  };
  const bare = await startServer(program, folder);
  const measured: Measurement[] = [];
  try {
    for (const { prepare, scenarios } of stages) {
      const chosen = scenarios.filter(({ name }) => name.includes(only));
      if (chosen.length === 0) continue;
      const service = await begun(options, folder, bare, prober);
      try {
        const { address } = service.server;
        if (measured.length === 0)
          measured.push(
            await measure(service, bare, prober, { name: 'idle' }, () => pause(1000 * seconds, null)),
          );
        await prepare(address, sizes);
        for (const scenario of chosen) {
          const scene = (): Scene => ({ address, sizes, until: performance.now() + 1000 * seconds });
          measured.push(await measure(service, bare, prober, scenario, () => scenario.run(scene())));
          if (scenario.newConnections === true) {
            const probes = probesOf(service.server, bare).filter(({ name }) => name === bareName);
            console.log(
              await ofBare(prober, probes, () => scenario.run({ ...scene(), address: bare.address })),
            );
          }
        }
      } finally {
        await service.server.stop();
      }
    }
  } finally {
    await bare.stop();
  }
  return measured;
}

function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      small: { type: 'boolean', default: false },
      seconds: { type: 'string' },
      rate: { type: 'string', default: '20' },
      only: { type: 'string', default: '' },
      profile: { type: 'boolean', default: false },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const seconds = Number(values.seconds ?? (values.small ? 3 : 10));
  const rate = Number(values.rate);
  if (!(seconds > 0 && rate > 0)) throw new Error('--seconds and --rate take numbers above 0');
  const { only, profile, output = null } = values;
  return { sizes: values.small ? small : full, seconds, rate, only, profile, output };
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) {
    console.log(help);
    return;
  }
  if (!existsSync('/proc/thread-self/schedstat'))
    throw new Error('CPU time is read from /proc: this needs Linux');
  const folder = mkdtempSync(join(tmpdir(), 'corollary-fairness-'));
  const prober = new Prober(options.rate);
  try {
    const measured = await measureAll(options, folder, prober);
    const text = fairnessTable(measured);
    console.log(`\n${text}`);
    console.log(`\nload average ${figure(loadavg()[0] ?? 0)} on ${availableParallelism()} processors`);
    console.log(`\n${verdicts(measured, own).join('\n')}`);
    if (options.output !== null) writeFileSync(options.output, `${text}\n`);
  } finally {
    prober.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
