/**
 * `npm run bench -- nodes`: three nodes over one store in PostgreSQL, all on this machine: what a write costs, how far copies
 * are behind, what a strong read costs, and how long writes stand still when the owner of the log is gone.
 *
 * All share the processors, so that times are those of a busy machine; CPU time of PostgreSQL and of the nodes is told apart.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { figure, table } from '../report.ts';
import { Cluster } from './cluster.ts';
import { interrupt, type Interrupted, type Interruption } from './interruptions.ts';
import { copyLag, largeWrites, reads, smallWrites, strongReads } from './traffic.ts';

const help = `npm run bench -- nodes [options]     (after npm run build; PostgreSQL must be installed)
  --seconds N           length of a measurement (5)
  --rounds N            interruptions of each kind (5)
  --output FILE         write the table there too, as Markdown
  --help`;

type Row = readonly [what: string, measured: string, wanted: string];

const interruptions = {
  killed: 'killed',
  stopped: 'stopped (SIGSTOP)',
  ended: 'ended (SIGTERM)',
  moved: 'replaced by a move',
} as const satisfies Record<Interruption, string>;

const ms = (value: number): string => `${Math.round(value)} ms`;

async function interrupted(cluster: Cluster, what: Interruption, rounds: number): Promise<Row> {
  const all: Interrupted[] = [];
  while (all.length < rounds) all.push(await interrupt(cluster, what));
  const between = (pick: (each: Interrupted) => number): string => {
    const sorted = all.map(pick).toSorted((one, other) => one - other);
    return `${Math.round(sorted[0] ?? 0)} to ${ms(sorted.at(-1) ?? 0)}`;
  };
  const measured = `taken after ${between(({ takenMs }) => takenMs)}, next write ${between(({ storedMs }) => storedMs)}, the last of three writers ${between(({ allMs }) => allMs)}`;
  return [
    `the owner is ${interruptions[what]}, ${rounds} times`,
    measured,
    what === 'moved' ? '200 ms' : '4 s',
  ];
}

async function measured(cluster: Cluster, seconds: number, rounds: number): Promise<Row[]> {
  const rows: Row[] = [];
  const add = (...row: Row): void => {
    rows.push(row);
    console.log(`${row.join(' | ')} (load ${figure(loadavg()[0] ?? 0)})`);
  };
  for (const at of [await cluster.owner(), (await cluster.owner()) === 0 ? 1 : 0]) {
    const { perSecond, p50, p99, ownerMicros, serverMicros } = await smallWrites(cluster, at, seconds);
    const where = at === (await cluster.owner()) ? 'the owner' : 'a copy';
    add(
      `one fact a write, 64 clients at ${where}`,
      `${figure(perSecond)} a second, median ${ms(p50)}, p99 ${ms(p99)}; CPU a record: ${figure(ownerMicros)} µs of all nodes, ${figure(serverMicros)} µs of PostgreSQL`,
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
  const one = await reads(cluster, 1, seconds);
  const three = await reads(cluster, 3, seconds);
  add(
    'reads on three nodes over one, by CPU time',
    `${figure(three)} a CPU-second over ${figure(one)}: ${figure(three / one)}`,
    '0.9 (2.7 times with three machines)',
  );
  for (const what of rounds === 0 ? [] : (['killed', 'stopped', 'ended', 'moved'] as const))
    add(...(await interrupted(cluster, what, rounds)));
  return rows;
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    output: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const here = dirname(fileURLToPath(import.meta.url));
if (values.help) console.log(help);
else if (!existsSync(join(here, '..', 'main', 'headless.js')))
  throw new Error('the service is not built: npm run build');
else {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-bench-'));
  const cluster = await Cluster.start(here, folder, 3);
  try {
    const rows = await measured(cluster, Number(values.seconds), Number(values.rounds));
    const text = table(['what', 'measured', 'wanted'], rows);
    console.log(`\n${text}`);
    if (values.output !== undefined) writeFileSync(values.output, `${text}\n`);
  } finally {
    await cluster.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
