/**
 * `npm run bench`, or `npm run bench -- engine`: our engine and its peers on the same workloads, in one run, each in a
 * process of its own.
 *
 * Runs alternate: every contestant runs everything once, then all again, so that a disturbance of the machine does not
 * affect only one of them; the tables show medians. Answers are counted, not printed, and compared: a contestant that
 * finds a different number of answers makes the benchmark fail.
 */
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Contestant, RunFailure, type Task } from './contestants/contestant.ts';
import { corollary, engineName } from './contestants/corollary.ts';
import { duckdb, swiplWasm } from './contestants/fetched.ts';
import { gringo } from './contestants/gringo.ts';
import { n3 } from './contestants/n3.ts';
import { swiProlog } from './contestants/prolog.ts';
import { souffle } from './contestants/souffle.ts';
import { sqlite } from './contestants/sqlite.ts';
import { disagreements, figure, growth, type Line, report } from './report.ts';
import { type Place, Runs } from './runs.ts';
import { bestPeerTable, largeTargets, targets, targetTable } from './targets.ts';
import { hasSize, rulesOf, type Size, sizes, type Workload } from './workloads/workload.ts';
import { workloads } from './workloads/workloads.ts';

const help = `npm run bench -- [engine] [options]
  --size A,B            how large the inputs are: ${sizes.join(', ')} (small)
  --runs N              runs of each, of which the median counts (3)
  --only A,B            only these workloads: ${workloads.map(({ name }) => name).join(', ')}
  --without A,B         leave these contestants out
  --timeout SECONDS     of CPU per process (120)
  --minutes N           begin nothing more after so many minutes (60)
  --output FILE         keep each run there, a line of JSON; what is there already is not measured again
  --report FILE         write the tables there too, as Markdown
  --help`;

interface Options {
  readonly sizes: readonly Size[];
  readonly runs: number;
  readonly timeoutMs: number;
  readonly deadline: number;
  readonly chosen: readonly Workload[];
  readonly without: readonly string[];
  readonly output: string | null;
  readonly report: string | null;
}

function positive(text: string, option: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${option} takes a number above 0, not "${text}"`);
  return value;
}

/** The items that a comma-separated list names. */
function chosen<T>(text: string, all: readonly T[], nameOf: (item: T) => string, what: string): T[] {
  return text.split(',').map((name) => {
    const item = all.find((each) => nameOf(each) === name);
    if (item === undefined)
      throw new Error(`there is no ${what} "${name}": choose among ${all.map(nameOf).join(', ')}`);
    return item;
  });
}

function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      size: { type: 'string', default: 'small' },
      runs: { type: 'string', default: '3' },
      only: { type: 'string' },
      without: { type: 'string', default: '' },
      timeout: { type: 'string', default: '120' },
      minutes: { type: 'string', default: '60' },
      output: { type: 'string' },
      report: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  return {
    sizes: chosen(values.size, sizes, (size) => size, 'size'),
    runs: Math.ceil(positive(values.runs, 'runs')),
    timeoutMs: positive(values.timeout, 'timeout') * 1000,
    deadline: performance.now() + positive(values.minutes, 'minutes') * 60_000,
    chosen:
      values.only === undefined ? workloads : chosen(values.only, workloads, ({ name }) => name, 'workload'),
    without: values.without.split(',').map((name) => name.toLowerCase()),
    output: values.output ?? null,
    report: values.report ?? null,
  };
}

/** Version of an installed package, or null. */
function packageVersion(name: string): string | null {
  try {
    const path = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

/** An available contestant. */
interface Present {
  readonly contestant: Contestant;
  readonly version: string;
}

function present(options: Options): Present[] {
  const here = dirname(fileURLToPath(import.meta.url));
  const all = [
    corollary(join(here, 'corollary-child.js')),
    swiProlog,
    souffle,
    sqlite,
    duckdb(join(here, 'duckdb-child.js')),
    gringo,
    swiplWasm(join(here, 'swipl-wasm-child.js')),
    n3(join(here, 'n3-child.js'), packageVersion('n3')),
  ];
  return all.flatMap((contestant) => {
    if (options.without.includes(contestant.name.toLowerCase())) return [];
    const version = contestant.version();
    console.log(
      version === null ? `${contestant.name}: not installed, left out` : `${contestant.name}: ${version}`,
    );
    return version === null ? [] : [{ contestant, version }];
  });
}

type Input = Pick<Task, 'workload' | 'rules' | 'relations' | 'probes' | 'scopes'>;

function inputOf(workload: Workload, size: Size): Input {
  const relations = workload.build(size);
  return {
    workload,
    rules: rulesOf(workload, size),
    relations,
    probes: workload.probes(relations, size),
    scopes: workload.scopes?.[size] ?? 1,
  };
}

/** Why the contestant does not run, or null if it does; the engine itself always runs. */
function reasonAgainst(contestant: Contestant, { workload, rules }: Input, size: Size): string | null {
  const atLarge: readonly string[] = [engineName, ...(workload.largePeers ?? [])];
  if (size === 'large' && !atLarge.includes(contestant.name)) return 'left out';
  return contestant.declines(workload, rules);
}

async function runOnce(
  contestant: Contestant,
  input: Input,
  size: Size,
  timeoutMs: number,
): Promise<Parameters<Runs['add']>[1]> {
  const reason = reasonAgainst(contestant, input, size);
  if (reason !== null) return { reason };
  const folder = mkdtempSync(join(tmpdir(), 'corollary-bench-'));
  try {
    return await contestant.run({ ...input, folder, timeoutMs });
  } catch (error) {
    if (error instanceof RunFailure) return { reason: error.message };
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const placeOf = (workload: Workload, size: Size, { contestant, version }: Present): Place => ({
  workload: workload.name,
  size,
  contestant: contestant.name,
  version,
});

/** Runs every contestant once that has too few runs. Returns false if the time is up. */
async function round(
  contestants: readonly Present[],
  runs: Runs,
  number: number,
  options: Options,
): Promise<boolean> {
  for (const size of options.sizes)
    for (const workload of options.chosen.filter((each) => hasSize(each, size))) {
      const waiting = contestants.filter((each) => runs.count(placeOf(workload, size, each)) < number);
      if (waiting.length === 0) continue;
      console.log(`\n${workload.name}, ${size}, run ${number}: ${workload.title}`);
      const input = inputOf(workload, size);
      for (const each of waiting) {
        if (performance.now() > options.deadline) return false;
        const run = await runOnce(each.contestant, input, size, options.timeoutMs);
        runs.add(placeOf(workload, size, each), run);
        console.log(`  ${each.contestant.name}: ${'reason' in run ? run.reason : `${figure(run.solve)} s`}`);
      }
    }
  return true;
}

/** All tables of the measurements, size by size. */
function tables(names: readonly string[], lines: readonly Line[], options: Options): string {
  const bySize = options.sizes.map((size) => {
    const ofSize = lines.filter((line) => line.size === size);
    return `## Inputs: ${size}\n\n${report(names, ofSize)}`;
  });
  const full = lines.filter(({ size }) => size === 'full');
  const large = lines.filter(({ size }) => size === 'large');
  return [
    `Median of up to ${options.runs}; (xN): N times what ${names[0]} takes; in brackets behind a workload: answers.`,
    ...bySize,
    ...(options.sizes.length > 1 ? [`## Growth\n\n${growth(lines)}\n`] : []),
    ...(full.length > 0 ? [`## Targets\n\n${targetTable(names, full, targets)}\n`] : []),
    ...(large.length > 0
      ? [
          `## Inputs: large, beside the best peer\n\n${bestPeerTable(names, large)}\n`,
          `## Targets of large inputs\n\n${targetTable(names, large, largeTargets)}\n`,
        ]
      : []),
  ].join('\n\n');
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) {
    console.log(help);
    return;
  }
  const contestants = present(options);
  const names = contestants.map(({ contestant }) => contestant.name);
  const runs = new Runs(options.output);
  for (let number = 1; number <= options.runs; number++)
    if (!(await round(contestants, runs, number, options))) {
      console.log('\nThe time is up; with --output the same command goes on from here.');
      break;
    }
  const lines = options.sizes.flatMap((size) =>
    options.chosen
      .filter((workload) => hasSize(workload, size))
      .map(
        (workload): Line => ({
          workload: workload.name,
          title: workload.title,
          kind: workload.kind,
          size,
          cells: contestants.map((each) => runs.cell(placeOf(workload, size, each))),
        }),
      ),
  );
  const text = tables(names, lines, options);
  console.log(`\n${text}`);
  if (options.report !== null) writeFileSync(options.report, text);
  const differing = disagreements(names, lines);
  for (const line of differing) console.error(`different numbers of answers: ${line}`);
  if (differing.length > 0) process.exitCode = 1;
}

await main();
