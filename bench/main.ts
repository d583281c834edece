/**
 * `npm run bench`: our engine and its peers on the same workloads, in one run, each in a process of its own.
 *
 * Runs go round: every contestant once, then all again, so that a disturbance of the machine does not fall on
 * one of them alone; the tables show medians. Answers are counted, not printed, and compared: a contestant that
 * finds another number of answers makes the benchmark fail.
 */
import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Contestant, type Outcome, RunFailure, type Task } from './contestants/contestant.ts';
import { corollary } from './contestants/corollary.ts';
import { gringo } from './contestants/gringo.ts';
import { n3 } from './contestants/n3.ts';
import { sqlite } from './contestants/sqlite.ts';
import { swiProlog } from './contestants/swi-prolog.ts';
import { type Cell, disagreements, figure, type Line, report } from './report.ts';
import { type Size, sizes, type Workload, workloads } from './workloads.ts';

const help = `npm run bench -- [options]
  --size ${sizes.join('|')}   how large the inputs are (small)
  --runs N              runs of each, of which the median counts (3)
  --only A,B            only these workloads: ${workloads.map(({ name }) => name).join(', ')}
  --without A,B         leave these contestants out
  --timeout SECONDS     per process (120)
  --output FILE         write the tables there too, as Markdown
  --help`;

interface Options {
  size: Size;
  runs: number;
  timeoutMs: number;
  chosen: readonly Workload[];
  without: readonly string[];
  output: string | null;
}

function positive(text: string, option: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${option} takes a number above 0, not "${text}"`);
  return value;
}

function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      size: { type: 'string', default: 'small' },
      runs: { type: 'string', default: '3' },
      only: { type: 'string' },
      without: { type: 'string', default: '' },
      timeout: { type: 'string', default: '120' },
      output: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const size = sizes.find((name) => name === values.size);
  if (size === undefined) throw new Error(`--size takes ${sizes.join(', ')}, not "${values.size}"`);
  const names = values.only?.split(',') ?? workloads.map(({ name }) => name);
  const chosen = names.map((name) => {
    const workload = workloads.find((each) => each.name === name);
    if (workload === undefined) throw new Error(`there is no workload "${name}"`);
    return workload;
  });
  return {
    size,
    runs: Math.ceil(positive(values.runs, 'runs')),
    timeoutMs: positive(values.timeout, 'timeout') * 1000,
    chosen,
    without: values.without.split(',').map((name) => name.toLowerCase()),
    output: values.output ?? null,
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

function present(options: Options): Contestant[] {
  const here = dirname(fileURLToPath(import.meta.url));
  const all = [
    corollary(join(here, 'corollary-child.js')),
    swiProlog,
    sqlite,
    n3(join(here, 'n3-child.js'), packageVersion('n3')),
    gringo,
  ];
  return all.filter((contestant) => {
    if (options.without.includes(contestant.name.toLowerCase())) return false;
    const version = contestant.version();
    console.log(
      version === null ? `${contestant.name}: not installed, left out` : `${contestant.name}: ${version}`,
    );
    return version !== null;
  });
}

async function runOnce(
  contestant: Contestant,
  workload: Workload,
  options: Options,
  input: Input,
): Promise<Cell> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-bench-'));
  try {
    return { outcomes: [await contestant.run({ workload, folder, timeoutMs: options.timeoutMs, ...input })] };
  } catch (error) {
    if (error instanceof RunFailure) return { reason: error.message };
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Input = Pick<Task, 'relations' | 'probes' | 'scopes'>;

async function runWorkload(
  contestants: readonly Contestant[],
  workload: Workload,
  options: Options,
): Promise<Line> {
  const relations = workload.build(options.size);
  const scopes = workload.scopes?.[options.size] ?? 1;
  const input = { relations, probes: workload.probes(relations, options.size), scopes };
  const cells = contestants.map((contestant): Cell => {
    const reason = contestant.declines(workload);
    return reason === null ? { outcomes: [] } : { reason };
  });
  console.log(`\n${workload.name}: ${workload.title}`);
  for (let run = 0; run < options.runs; run++)
    for (const [index, contestant] of contestants.entries()) {
      const cell = cells[index];
      if (cell === undefined || 'reason' in cell) continue;
      const next = await runOnce(contestant, workload, options, input);
      const outcomes: readonly Outcome[] = 'outcomes' in next ? next.outcomes : [];
      cells[index] = 'reason' in next ? next : { outcomes: [...cell.outcomes, ...outcomes] };
      const text = 'reason' in next ? next.reason : outcomes.map(({ solve }) => `${figure(solve)} s`).join();
      console.log(`  ${contestant.name}: ${text}`);
    }
  return { workload: workload.name, title: workload.title, kind: workload.kind, cells };
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) {
    console.log(help);
    return;
  }
  const contestants = present(options);
  const names = contestants.map(({ name }) => name);
  const lines: Line[] = [];
  for (const workload of options.chosen) lines.push(await runWorkload(contestants, workload, options));
  const text = report(names, lines);
  console.log(
    `\nMedian of ${options.runs}; (xN): N times what ${names[0]} takes; in brackets behind a workload: answers.\n`,
  );
  console.log(text);
  if (options.output !== null) writeFileSync(options.output, text);
  const differing = disagreements(names, lines);
  for (const line of differing) console.error(`different numbers of answers: ${line}`);
  if (differing.length > 0) process.exitCode = 1;
}

await main();
