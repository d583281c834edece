/**
 * `npm run bench -- large`: ten million facts of two arguments in one process: load, ask, retract, snapshot, restart.
 *
 * Two processes, one after the other, on one folder that is removed at the end. Each step shows the CPU time of the process
 * and its memory, resident, by the operating system's count: after the step, and the most so far. More than the limit, or
 * a wrong answer, makes the benchmark fail.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { queryInputSchema, retractInputSchema } from '../src/engine/contract/facts.ts';
import { assert, type Engine, openEngine } from '../src/engine/index.ts';
import { caller, fact } from './calls.ts';
import { complete } from './contestants/contestant.ts';
import { figure, table } from './report.ts';

const help = `npm run bench -- large [options]
  --facts N             how many (10000000)
  --limit GIGABYTES     of memory, for each process (2)
  --help`;

const factsPerWrite = 20_000;
const asked = 10_000;
const retracted = 1000;

/** Keys are all different; there are a fifth as many values. */
const key = (number: number): string => `key_${number}`;
const valueOf = (number: number, facts: number): string => `value_${(number * 7919) % Math.ceil(facts / 5)}`;

/** What a step took: CPU seconds, and bytes. */
interface Step {
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
  readonly peak: number;
}

class Steps {
  readonly all: Step[] = [];

  async take(name: string, step: () => Promise<void>): Promise<void> {
    const before = process.cpuUsage();
    await step();
    const { user, system } = process.cpuUsage(before);
    const peak = process.resourceUsage().maxRSS * 1024;
    this.all.push({ name, seconds: (user + system) / 1e6, bytes: process.memoryUsage().rss, peak });
  }
}

async function load(engine: Engine, facts: number): Promise<void> {
  for (let from = 0; from < facts; from += factsPerWrite)
    await engine.tellAll(
      caller,
      Array.from({ length: Math.min(factsPerWrite, facts - from) }, (_, at) =>
        fact('item', [key(from + at), valueOf(from + at, facts)]),
      ),
    );
}

/** Looks up facts by their key; those retracted must be gone. */
async function ask(engine: Engine, facts: number, gone: number): Promise<void> {
  const step = Math.max(1, Math.floor(facts / asked));
  for (let number = 0; number < facts; number += step) {
    const query = queryInputSchema.parse({ predicate: 'item', args: [key(number), '?value'] });
    const found = await engine.query(caller, query);
    const values = found.map(({ args }) => args[1]);
    const expected = number < gone ? [] : [valueOf(number, facts)];
    assert(values.join() === expected.join(), `${key(number)} has ${expected.join()}, not ${values.join()}`);
  }
}

async function retract(engine: Engine, facts: number): Promise<void> {
  for (let number = 0; number < retracted; number++)
    await engine.forget(
      caller,
      retractInputSchema.parse({ predicate: 'item', args: [key(number), valueOf(number, facts)] }),
    );
}

const lives = {
  async first(storageDir: string, facts: number, steps: Steps): Promise<void> {
    const engine = await openEngine({ storageDir });
    await steps.take('load', () => load(engine, facts));
    await steps.take(`ask, ${asked} times`, () => ask(engine, facts, 0));
    await steps.take(`retract ${retracted}`, () => retract(engine, facts));
    await steps.take('snapshot', async () => {
      await engine.snapshot();
    });
    await steps.take('close', () => engine.close());
  },
  async second(storageDir: string, facts: number, steps: Steps): Promise<void> {
    let engine: Engine | null = null;
    await steps.take('start again', async () => {
      engine = await openEngine({ storageDir });
    });
    assert(engine !== null, 'it was opened');
    const opened: Engine = engine;
    await steps.take(`ask, ${asked} times`, () => ask(opened, facts, retracted));
    await steps.take('close', () => opened.close());
  },
};
type Life = keyof typeof lives;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      facts: { type: 'string', default: '10000000' },
      limit: { type: 'string', default: '2' },
      folder: { type: 'string' },
      life: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const facts = Number(values.facts);
  if (values.help) console.log(help);
  else if (values.folder !== undefined) {
    const steps = new Steps();
    await lives[values.life as Life](values.folder, facts, steps);
    process.stdout.write(JSON.stringify(steps.all));
  } else await run(facts, Number(values.limit) * 1e9);
}

async function run(facts: number, limit: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-large-'));
  const lines: string[][] = [];
  try {
    for (const life of Object.keys(lives) as Life[]) {
      const args = [
        fileURLToPath(import.meta.url),
        '--folder',
        folder,
        '--life',
        life,
        '--facts',
        String(facts),
      ];
      const { stdout } = await complete(process.execPath, args, { timeoutMs: 3_600_000 });
      const steps = JSON.parse(stdout) as Step[];
      for (const { name, seconds, bytes, peak } of steps)
        lines.push([name, figure(seconds), figure(bytes / 1e6), figure(peak / 1e6)]);
      const peak = Math.max(...steps.map((step) => step.peak));
      if (peak > limit) {
        process.exitCode = 1;
        console.error(`${figure(peak / 1e9)} GB are more than the limit of ${figure(limit / 1e9)} GB`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  console.log(`${facts.toLocaleString('en-US')} facts of two arguments`);
  console.log(table(['step', 'CPU s', 'memory, MB', 'peak, MB'], lines));
}

await main();
