/**
 * The process that runs our own engine: reads the task in the folder it is given, prints one line of JSON.
 *
 * Everything goes through the public interface. A question is timed with `limit: 1`: the engine derives
 * every answer all the same, but does not render them, which no contestant does; they are counted
 * afterwards, off the clock.
 */
import { type Engine, openEngine, present } from '../../src/engine/index.ts';
import { caller, fact } from '../calls.ts';
import type { BenchAtom } from '../program.ts';
import { type ChildReport, median } from './contestant.ts';
import { type ChildTask, cpuSeconds, heldBytes, readRows, readTask } from './rows.ts';

const folder = present(process.argv[2], 'the folder of the task is the argument');
const factsPerWrite = 50_000;

/** Of several scopes, the one that the facts are told to and the others are forked from. */
const firstScope = 's0';

async function loadFacts(engine: Engine, task: ChildTask): Promise<number> {
  let count = 0;
  const scope = task.scopes > 1 ? firstScope : null;
  for (const name of task.relations) {
    const rows = readRows(folder, name);
    for (let from = 0; from < rows.length; from += factsPerWrite)
      await engine.tellAll(
        caller,
        rows.slice(from, from + factsPerWrite).map(([x, y]) => fact(name, [x, y], { scope })),
      );
    count += rows.length;
  }
  for (let fork = 1; fork < task.scopes; fork++)
    await engine.fork(caller, { source: firstScope, target: `s${fork}` });
  return count * task.scopes;
}

async function loadRules(engine: Engine, rules: readonly string[]): Promise<void> {
  for (const text of rules)
    await engine.teach(caller, {
      text,
      head: null,
      body: null,
      scope: null,
      unscoped: false,
      name: null,
      description: null,
      enabled: null,
    });
}

/** Answers to the goal on one page; without a limit all of them. */
async function ask(engine: Engine, [predicate, ...args]: BenchAtom, limit: number | null): Promise<number> {
  const { count } = await engine.ask(caller, {
    predicate,
    args,
    body: null,
    text: null,
    scope: null,
    unscoped: false,
    negated: false,
    withProof: false,
    allProofs: false,
    limit,
    offset: 0,
    timeoutMs: 600_000,
    maxDerivations: 1_000_000_000,
  });
  return count;
}

/** What was found, the CPU seconds on the clock, and the peak of memory up to then. */
interface Findings {
  readonly answers: number;
  readonly solve: number;
  readonly peakBytes: number;
}

function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

async function askOnce(engine: Engine, goal: BenchAtom): Promise<Findings> {
  const start = cpuSeconds();
  await ask(engine, goal, 1);
  const measured = { solve: cpuSeconds() - start, peakBytes: peakBytes() };
  return { ...measured, answers: await ask(engine, goal, null) };
}

async function lookUp(engine: Engine, predicate: string): Promise<Findings> {
  const keys = readRows(folder, 'probe').map(([key]) => key);
  const start = cpuSeconds();
  let answers = 0;
  for (const key of keys) {
    const found = await engine.query(caller, {
      predicate,
      args: [key, '?y'],
      scope: null,
      unscoped: false,
      truthVal: null,
      limit: null,
      offset: 0,
    });
    answers += found.length;
  }
  return { solve: cpuSeconds() - start, peakBytes: peakBytes(), answers };
}

/** The changes twice: first on the clock, then once more for the number of answers after each. */
async function change(engine: Engine, task: ChildTask): Promise<Findings> {
  const relation = present(task.relations[0], 'a change needs a relation');
  const rows = readRows(folder, 'probe');
  const times: number[] = [];
  await ask(engine, task.goal, 1);
  for (const row of rows) {
    const start = cpuSeconds();
    await takeAway(engine, [relation, ...row]);
    await ask(engine, task.goal, 1);
    times.push(cpuSeconds() - start);
    await engine.tell(caller, { ...fact(relation, row), ifGeneration: null });
    await ask(engine, task.goal, 1);
  }
  const measured = { solve: median(times), peakBytes: peakBytes() };
  let answers = await ask(engine, task.goal, null);
  for (const row of rows) {
    await takeAway(engine, [relation, ...row]);
    answers += await ask(engine, task.goal, null);
    await engine.tell(caller, { ...fact(relation, row), ifGeneration: null });
  }
  return { ...measured, answers };
}

async function takeAway(engine: Engine, [predicate, ...args]: BenchAtom): Promise<void> {
  await engine.forget(caller, {
    predicate,
    args,
    scope: null,
    unscoped: false,
    truthVal: null,
    dryRun: false,
    dependents: 'known',
    ifGeneration: null,
    timeoutMs: 10_000,
  });
}

async function run(): Promise<ChildReport> {
  const task = readTask(folder);
  const engine = await openEngine({ storageDir: null });
  const before = task.kind === 'load' ? heldBytes() : 0;
  const start = cpuSeconds();
  const facts = await loadFacts(engine, task);
  await loadRules(engine, task.rules);
  const load = cpuSeconds() - start;
  if (task.kind === 'load') {
    const bytesPerFact = (heldBytes() - before) / facts;
    const found = await lookUp(engine, task.goal[0]);
    const stored = (await engine.predicates(caller)).predicates.reduce((sum, each) => sum + each.facts, 0);
    await engine.close();
    return { ...found, answers: found.answers + stored, load, bytesPerFact };
  }
  const found = await (task.kind === 'ask' ? askOnce(engine, task.goal) : change(engine, task));
  await engine.close();
  return { ...found, load };
}

process.stdout.write(`${JSON.stringify(await run())}\n`);
