/**
 * The process that runs our own engine: reads the task in the given folder, prints one line of JSON.
 *
 * Everything uses the public interface. Facts are loaded in columns, as an engine in process loads a file. A question is
 * timed with `limit: 1`: the engine still derives every answer, but does not render them, which no contestant does; they
 * are counted afterwards, off the clock.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Engine, openEngine, present } from '../../src/engine/index.ts';
import { caller, fact } from '../calls.ts';
import type { BenchAtom } from '../program.ts';
import { type Row, shuffled } from '../graphs.ts';
import { type ChildReport, median, p95 } from './contestant.ts';
import {
  type ChildTask,
  collectGarbage,
  cpuSeconds,
  heldBytes,
  readFacts,
  readRows,
  readTask,
  threadSeconds,
} from './rows.ts';

const folder = present(process.argv[2], 'missing argument: the folder of the task');
const factsPerWrite = 10_000;
/** For figures in microseconds. */
const repetitions = 200;
const furtherChanges = 50;
/** An idle process takes at most so many CPU seconds in so many milliseconds. */
const idleCpu = 0.002;
const idleMs = 25;
const maxIdleMs = 2000;

/** CPU seconds. A question that took longer is not asked in a second engine too: others wait for their turn. */
const mostToRepeat = 30;

/** If there are several scopes, the one that gets the facts and from which the others are forked. */
const firstScope = 's0';

async function loadFacts(engine: Engine, task: ChildTask): Promise<number> {
  let count = 0;
  const scope = task.scopes > 1 ? firstScope : null;
  for (const name of task.relations) {
    for (const facts of readFacts(folder, name, { scope, factsPerBlock: factsPerWrite })) {
      await engine.tellAll(caller, facts);
      count += facts.length;
    }
  }
  for (let fork = 1; fork < task.scopes; fork++)
    await engine.fork(caller, { source: firstScope, target: `s${fork}` });
  return count * task.scopes;
}

/** As a file of rules is imported: one after the other, in one import. */
async function loadRules(engine: Engine, rules: readonly string[]): Promise<void> {
  const rest = {
    head: null,
    body: null,
    scope: null,
    unscoped: false,
    name: null,
    description: null,
    enabled: null,
  };
  const importing = engine.import(caller, false);
  await importing.teach(rules.map((text) => ({ rule: { text, ...rest }, isDefault: false })));
  await importing.end();
}

interface Wanted {
  /** null: all on one page. */
  readonly limit: number | null;
  readonly withProof?: boolean;
}

/** How many answers to the goal are on one page. */
async function ask(engine: Engine, [predicate, ...args]: BenchAtom, wanted: Wanted): Promise<number> {
  const { count } = await engine.ask(caller, {
    predicate,
    args,
    body: null,
    text: null,
    scope: null,
    unscoped: false,
    negated: false,
    withProof: wanted.withProof ?? false,
    allProofs: false,
    limit: wanted.limit,
    offset: 0,
    timeoutMs: 600_000,
    maxDerivations: 1_000_000_000,
  });
  return count;
}

/** A question that is answered without rendering every answer. */
const least = { limit: 1 };

/** How many answers the goal has, without building a page of them. */
async function countOf(engine: Engine, [predicate, ...args]: BenchAtom): Promise<number> {
  const { matchedFacts } = await engine.aggregate(caller, {
    operation: 'COUNT',
    predicate,
    args,
    variable: null,
    argIndex: null,
    groupBy: [],
    distinct: false,
    infer: true,
    scope: null,
    unscoped: false,
    timeoutMs: 600_000,
    maxDerivations: 1_000_000_000,
  });
  return matchedFacts;
}

/**
 * Waits until V8's other threads have ended what loading, or a forced collection, left them to do: compiling and sweeping
 * count as CPU time of whatever runs meanwhile. Gives up after two seconds.
 */
async function idle(): Promise<void> {
  const until = performance.now() + maxIdleMs;
  for (let before = -1, now = cpuSeconds(); now - before > idleCpu && performance.now() < until; ) {
    before = now;
    await pause(idleMs);
    now = cpuSeconds();
  }
}

async function timed(step: () => Promise<unknown>): Promise<number> {
  const start = cpuSeconds();
  await step();
  return cpuSeconds() - start;
}

/** Seconds: CPU time of all threads, CPU time of the thread that answers (null if Linux does not tell it), and by the clock. */
interface Cost {
  readonly cpu: number;
  readonly thread: number | null;
  readonly wall: number;
}

async function costOf(step: () => Promise<unknown>): Promise<Cost> {
  await idle();
  const thread = threadSeconds();
  const start = performance.now();
  const cpu = await timed(step);
  const wall = (performance.now() - start) / 1000;
  return { cpu, thread: thread === null ? null : (threadSeconds() ?? thread) - thread, wall };
}

/** What the asker waits for, beside the CPU time of all threads: the others mostly run V8's compiler and collector. */
const costFigures = (name: string, { thread, wall }: Cost): Record<string, number> => ({
  ...(thread === null ? {} : { [`${name}, the thread that answers`]: thread }),
  [`${name}, wall`]: wall,
});

/** CPU seconds of one of many steps if one is too short to be measured; of fewer if one is not short. */
async function timedEach(step: () => Promise<unknown>): Promise<number> {
  const start = cpuSeconds();
  let times = 0;
  do {
    await step();
    times++;
  } while (times < repetitions && cpuSeconds() - start < 0.5);
  return (cpuSeconds() - start) / times;
}

/** The result, the CPU seconds on the clock, and the peak of memory so far. */
type Findings = Required<Pick<ChildReport, 'answers' | 'solve' | 'peakBytes' | 'figures'>> &
  Pick<ChildReport, 'wall'>;

function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

async function askOnce(engine: Engine, { goal, withProofs }: ChildTask): Promise<Findings> {
  const cost = await costOf(() => ask(engine, goal, least));
  const solve = cost.cpu;
  const peak = peakBytes();
  const again = await timedEach(() => ask(engine, goal, least));
  const proving = withProofs ? await timed(() => ask(engine, goal, { limit: null, withProof: true })) : null;
  const figures = {
    ...costFigures('question', cost),
    again,
    ...(proving === null ? {} : { 'with proofs': solve + proving }),
  };
  return { solve, wall: cost.wall, peakBytes: peak, answers: await countOf(engine, goal), figures };
}

/**
 * What the question costs in a new engine, in a process that has answered it before, so that its code is
 * compiled. The engine that answered must be open: a forced collection also drops the hidden classes that have no object
 * left, and with them the code compiled for them. No other collection does.
 */
async function askCompiled(task: ChildTask): Promise<Record<string, number>> {
  const engine = await openEngine({ storageDir: null });
  await loadFacts(engine, task);
  await loadRules(engine, task.rules);
  if (task.before !== null) await ask(engine, task.before, least);
  collectGarbage();
  const cost = await costOf(() => ask(engine, task.goal, least));
  await engine.close();
  return { compiled: cost.cpu, ...costFigures('compiled', cost) };
}

const stored = async (engine: Engine): Promise<number> =>
  (await engine.predicates(caller)).predicates.reduce((sum, each) => sum + each.facts, 0);

async function lookUpFacts(engine: Engine, [predicate]: BenchAtom): Promise<Findings> {
  const keys = readRows(folder, 'probe').map(([key]) => key);
  // What reading the keys left behind is collected now: see decision 0160.
  collectGarbage();
  await idle();
  const rest = { scope: null, unscoped: false, truthVal: null, limit: null, offset: 0 };
  let answers = 0;
  const solve = await timed(async () => {
    for (const key of keys)
      answers += (await engine.query(caller, { predicate, args: [key, '?y'], ...rest })).length;
  });
  const measured = { solve, peakBytes: peakBytes(), figures: { 'one look-up': solve / keys.length } };
  return { ...measured, answers: answers + (await stored(engine)) };
}

/** `isWhole`: the goal was asked with nothing bound before. */
async function lookUpConclusions(engine: Engine, goal: BenchAtom, isWhole: boolean): Promise<Findings> {
  const bound = readRows(folder, 'probe').map(([key]): BenchAtom => [goal[0], key, '?y']);
  if (isWhole) await ask(engine, goal, least);
  const solve = await timed(async () => {
    for (const each of bound) await ask(engine, each, least);
  });
  const measured = { solve, peakBytes: peakBytes(), figures: { 'one look-up': solve / bound.length } };
  let answers = isWhole ? await countOf(engine, goal) : 0;
  for (const each of bound) answers += await countOf(engine, each);
  return { ...measured, answers };
}

/**
 * The changes three times: on the clock, then many more for their spread, then for the number of answers after each.
 */
async function change(engine: Engine, task: ChildTask): Promise<Findings> {
  const relation = present(task.relations[0], 'a change needs a relation');
  const rows = readRows(folder, 'probe');
  const forgetAndAsk = async (row: Row): Promise<void> => {
    await takeAway(engine, [relation, ...row]);
    await ask(engine, task.goal, least);
  };
  const tellAndAsk = async (row: Row): Promise<void> => {
    await engine.tell(caller, { ...fact(relation, row), ifGeneration: null });
    await ask(engine, task.goal, least);
  };
  await ask(engine, task.goal, least);
  const times: number[] = [];
  for (const row of rows) {
    times.push(await timed(() => forgetAndAsk(row)));
    await tellAndAsk(row);
  }
  const peak = peakBytes();
  const forgetting: number[] = [];
  const telling: number[] = [];
  for (const row of shuffled(readRows(folder, relation), 59).slice(0, furtherChanges)) {
    forgetting.push(await timed(() => forgetAndAsk(row)));
    telling.push(await timed(() => tellAndAsk(row)));
  }
  let answers = await countOf(engine, task.goal);
  for (const row of rows) {
    await takeAway(engine, [relation, ...row]);
    answers += await countOf(engine, task.goal);
    await engine.tell(caller, { ...fact(relation, row), ifGeneration: null });
  }
  const figures = {
    'retract and ask': median(forgetting),
    'retract and ask, p95': p95(forgetting),
    'assert and ask': median(telling),
    'assert and ask, p95': p95(telling),
  };
  return { solve: median(times), peakBytes: peak, answers, figures };
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

/** The same proof first, again, and after unrelated facts were told. */
async function prove(engine: Engine, task: ChildTask): Promise<Findings> {
  const relation = present(task.relations[0], 'a proof needs a relation');
  const proven = () => ask(engine, task.goal, { limit: 1, withProof: true });
  const first = await timed(proven);
  const warm = await timedEach(proven);
  const afterWrite: number[] = [];
  for (let write = 0; write < 10; write++) {
    await engine.tell(caller, { ...fact(relation, ['elsewhere', `node${write}`]), ifGeneration: null });
    afterWrite.push(await timed(proven));
  }
  const figures = { 'first proof': first, 'after a write': median(afterWrite) };
  return { solve: warm, peakBytes: peakBytes(), answers: await countOf(engine, task.goal), figures };
}

function measure(engine: Engine, task: ChildTask): Promise<Findings> {
  switch (task.kind) {
    case 'ask':
      return askOnce(engine, task);
    case 'change':
      return change(engine, task);
    case 'look-up':
      return lookUpConclusions(engine, task.goal, true);
    case 'reads':
      return lookUpConclusions(engine, task.goal, false);
    case 'load':
      return lookUpFacts(engine, task.goal);
    case 'proof':
      return prove(engine, task);
  }
}

async function run(): Promise<ChildReport> {
  const task = readTask(folder);
  const isLoad = task.kind === 'load';
  // A log in memory would be counted with the facts.
  const engine = await openEngine({ storageDir: isLoad ? join(folder, 'storage') : null });
  const before = isLoad ? heldBytes() : 0;
  const start = cpuSeconds();
  const facts = await loadFacts(engine, task);
  await loadRules(engine, task.rules);
  const load = cpuSeconds() - start;
  const weighed = isLoad ? { bytesPerFact: (heldBytes() - before) / facts } : {};
  if (isLoad) {
    // The engine writes one by itself after a while, which would be during the look-ups.
    await engine.snapshot();
    await idle();
  }
  if (task.before !== null) await ask(engine, task.before, least);
  const found = await measure(engine, task);
  const isRepeated = task.kind === 'ask' && load + found.solve < mostToRepeat;
  const figures = isRepeated ? { ...found.figures, ...(await askCompiled(task)) } : found.figures;
  await engine.close();
  return { ...found, ...weighed, figures, load };
}

process.stdout.write(`${JSON.stringify(await run())}\n`);
