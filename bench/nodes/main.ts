/**
 * `npm run bench -- nodes`: three nodes over one store in PostgreSQL, all on this machine: what a write costs, how far copies
 * are behind, what a strong read costs, and how long writes stand still when the owner of the log is gone. With `--delay`
 * PostgreSQL and the other nodes are as far as in a network.
 *
 * All share the processors, so that times are those of a busy machine; CPU time of PostgreSQL and of the nodes is told apart.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { builtService, type Server, startServer } from '../http/server.ts';
import { figure, table } from '../report.ts';
import { Cluster } from './cluster.ts';
import { interrupt, type Interrupted, type Interruption } from './interruptions.ts';
import { copyLag, largeWrites, prepareReads, quantile, reads, smallWrites, strongReads } from './traffic.ts';

const help = `npm run bench -- nodes [options]     (after npm run build; PostgreSQL must be installed)
  --seconds N           length of a measurement (5)
  --rounds N            interruptions of each kind (5)
  --interruptions       these alone
  --delay MS            what passes between nodes, and to and from PostgreSQL, takes so much longer in each direction (0)
  --output FILE         write the table there too, as Markdown
  --help`;

type Row = readonly [what: string, measured: string, wanted: string];

const interruptions = {
  killed: 'killed',
  stopped: 'stopped (SIGSTOP)',
  ended: 'ended (SIGTERM)',
  moved: 'replaced by a move',
} as const satisfies Record<Interruption, string>;

const here = dirname(fileURLToPath(import.meta.url));

const ms = (value: number): string => `${Math.round(value)} ms`;

async function interrupted(cluster: Cluster, what: Interruption, rounds: number): Promise<Row> {
  const all: Interrupted[] = [];
  while (all.length < rounds) all.push(await interrupt(cluster, what));
  const between = (pick: (each: Interrupted) => number): string => {
    const sorted = all.map(pick).toSorted((one, other) => one - other);
    return `${Math.round(sorted[0] ?? 0)} to ${ms(sorted.at(-1) ?? 0)}`;
  };
  const command = what === 'moved' ? `the command took ${between(({ commandMs }) => commandMs)}, ` : '';
  const measured = `${command}taken after ${between(({ takenMs }) => takenMs)}, next write ${between(({ storedMs }) => storedMs)}, the last of three writers ${between(({ allMs }) => allMs)}; longest gap between two answers of a writer ${between(({ gapMs }) => gapMs)}`;
  const isPlanned = what === 'moved' || what === 'ended';
  return [
    `the owner is ${interruptions[what]}, ${rounds} times`,
    measured,
    isPlanned ? 'a gap of 200 ms' : '4 s',
  ];
}

/** Rounds in which the services take turns. */
const READ_ROUNDS = 5;

/** Reads at the nodes beside reads at as many services that have nothing to do with each other. */
async function readRows(cluster: Cluster, folder: string, seconds: number): Promise<Row[]> {
  const owner = await cluster.owner();
  const nodes = [...cluster.nodes.slice(owner), ...cluster.nodes.slice(0, owner)];
  const [first, copy] = nodes;
  if (first === undefined || copy === undefined) throw new Error('there are three nodes');
  await prepareReads(first, nodes);
  const alone: Server[] = [];
  try {
    while (alone.length < nodes.length) alone.push(await startAlone(folder, alone.length));
    for (const service of alone) await prepareReads(service, [service]);
    const kinds = { owner: [first], copy: [copy], three: nodes, alone: alone.slice(0, 1), threeAlone: alone };
    const figures = { owner: 0, copy: 0, three: 0, alone: 0, threeAlone: 0 };
    for (let round = 0; round < READ_ROUNDS; round++)
      for (const kind of Object.keys(kinds) as (keyof typeof kinds)[])
        figures[kind] += (await reads(kinds[kind], seconds / READ_ROUNDS)) / READ_ROUNDS;
    const row = (what: string, of: number, over: number, wanted: string): Row => [
      what,
      `${figure(of)} a CPU-second over ${figure(over)}: ${figure(of / over)}`,
      wanted,
    ];
    return [
      row('reads at a copy over reads at the owner', figures.copy, figures.owner, '0.9'),
      row('reads on three nodes over three single services', figures.three, figures.threeAlone, '0.9'),
      row('reads on three nodes over one node, on the same processors', figures.three, figures.owner, ''),
      row('reads on three single services over one, there', figures.threeAlone, figures.alone, ''),
    ];
  } finally {
    for (const service of alone) await service.stop();
  }
}

/** A service with a folder of its own. */
function startAlone(folder: string, at: number): Promise<Server> {
  const own = join(folder, `alone-${at}`);
  mkdirSync(own);
  return startServer(builtService(`alone ${at}`, here, own, 'always'), own);
}

/** Is told each row when it is measured. */
type Add = (...row: Row) => void;

const ROUND_TRIPS = 300;

async function addRoundTrip(cluster: Cluster, add: Add): Promise<void> {
  const { nodes, direct } = await cluster.roundTrips(ROUND_TRIPS);
  add(
    'a statement that does nothing, from node to PostgreSQL',
    `median ${figure(quantile(nodes, 0.5))} ms, p99 ${figure(quantile(nodes, 0.99))} ms; without the delay ${figure(quantile(direct, 0.5))} and ${figure(quantile(direct, 0.99))} ms`,
    '',
  );
}

async function addTraffic(cluster: Cluster, folder: string, seconds: number, add: Add): Promise<void> {
  for (const at of [await cluster.owner(), (await cluster.owner()) === 0 ? 1 : 0]) {
    const { perSecond, p50, p99, ownerMicros, serverMicros, recordsPerFrame, msPerFrame } = await smallWrites(
      cluster,
      at,
      seconds,
    );
    const where = at === (await cluster.owner()) ? 'the owner' : 'a copy';
    add(
      `one fact a write, 64 clients at ${where}`,
      `${figure(perSecond)} a second, median ${ms(p50)}, p99 ${ms(p99)}; CPU a record: ${figure(ownerMicros)} µs of all nodes, ${figure(serverMicros)} µs of PostgreSQL; ${figure(recordsPerFrame)} records a frame, which takes ${figure(msPerFrame)} ms`,
      '5,000 a second, p99 30 ms, 10 µs of PostgreSQL',
    );
  }
  const large = await largeWrites(cluster, 10_000, 20, 4);
  add(
    '10,000 facts a write, 4 clients',
    `${figure(large.perSecond)} facts a second, ${figure(large.perCpuSecond)} a CPU-second of the owner`,
    '100,000 facts a second',
  );
  for (const [what, pauseMs] of [
    ['50', 20],
    ['1.3', 750],
  ] as const) {
    const { p50, p99 } = await copyLag(cluster, pauseMs, seconds);
    add(
      `a copy shows a write after its answer, ${what} writes a second`,
      `median ${ms(p50)}, p99 ${ms(p99)}`,
      '100 ms',
    );
  }
  const strong = await strongReads(cluster, seconds);
  add(
    'a strong read over a default one, at a copy',
    `median ${figure(strong.strongMs)} ms over ${figure(strong.plainMs)} ms; ${figure(strong.extraMicros / 1000)} ms more CPU of that node`,
    'a round trip, 0.3 ms of CPU',
  );
  for (const row of await readRows(cluster, folder, seconds)) add(...row);
}

async function addInterruptions(cluster: Cluster, rounds: number, add: Add): Promise<void> {
  for (const what of rounds === 0 ? [] : (['moved', 'ended', 'killed', 'stopped'] as const))
    add(...(await interrupted(cluster, what, rounds)));
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    interruptions: { type: 'boolean', default: false },
    delay: { type: 'string', default: '0' },
    output: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(help);
else if (!existsSync(join(here, '..', 'main', 'headless.js')))
  throw new Error('the service is not built: npm run build');
else {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-bench-'));
  const cluster = await Cluster.start(here, folder, 3, Number(values.delay));
  try {
    const rows: Row[] = [];
    const add: Add = (...row) => {
      rows.push(row);
      console.log(`${row.join(' | ')} (load ${figure(loadavg()[0] ?? 0)})`);
    };
    await addRoundTrip(cluster, add);
    const startedAt = performance.now();
    if (!values.interruptions) await addTraffic(cluster, folder, Number(values.seconds), add);
    await addInterruptions(cluster, Number(values.rounds), add);
    const seconds = (performance.now() - startedAt) / 1000;
    if (Number(values.delay) > 0)
      add(
        'the relays themselves',
        `${figure((cluster.relayCpuSeconds() / seconds) * 100)}% of a processor`,
        '',
      );
    const text = table(['what', 'measured', 'wanted'], rows);
    console.log(`\n${text}`);
    if (values.output !== undefined) writeFileSync(values.output, `${text}\n`);
  } finally {
    await cluster.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
