/**
 * `npm run bench -- memory`: the time for the most salient of many facts, the statistics of memory and the summary, and
 * the memory of their caches.
 *
 * The clock is the benchmark's own, so that a year of facts and uses is written in seconds. A day later the engine's
 * public interface is asked, with a minute between two questions: the first time separately, then the given number of
 * times. Everything is in memory. Times are CPU time of all threads, as in the other benchmarks. The answers are
 * compared with those of a scan of all facts (`GET /facts` by salience).
 */
import { parseArgs } from 'node:util';
import { assert, type Engine, openEngine } from '../src/engine/index.ts';
import { caller } from './calls.ts';

const help = `npm run bench -- memory [options]
  --facts N             facts to store (1000000)
  --rounds N            how often each question is put after the first time (50)
  --only LIST           some of: alike, year, used, weighted, scopes
  --help`;

const minute = 60_000;
const day = 24 * 60 * minute;

/** A clock that is advanced by hand. */
class Hand {
  time = Date.UTC(2024, 0, 1);

  now(): number {
    return this.time;
  }

  monotonic(): number {
    return this.time;
  }
}

/** Reproducible pseudo-random numbers. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Workload {
  readonly name: string;
  readonly title: string;
  /** How many writes there are, over a year or all at once. */
  readonly writes: number;
  readonly overDays: number;
  /** How many of a thousand facts have importance and confidence. */
  readonly weighted: number;
  /** Questions that use a fact each, over the year. */
  readonly questions: number;
  readonly scopes: number;
}

const plain = { overDays: 0, weighted: 0, questions: 0, scopes: 0 };
const workloads: readonly Workload[] = [
  { ...plain, name: 'alike', title: 'all alike: one instant, used once', writes: 10 },
  { ...plain, name: 'year', title: 'over a year', writes: 10_000, overDays: 365 },
  {
    ...plain,
    name: 'used',
    title: 'over a year, one in five with importance and confidence, 200,000 uses',
    writes: 10_000,
    overDays: 365,
    weighted: 200,
    questions: 200_000,
  },
  {
    ...plain,
    name: 'weighted',
    title: 'one instant, all with importance and confidence',
    writes: 10,
    weighted: 1000,
  },
  {
    ...plain,
    name: 'scopes',
    title: 'over a year, in 100 scopes, one asked for',
    writes: 10_000,
    overDays: 365,
    scopes: 100,
  },
];

const predicates = 50;

function fact(number: number, { weighted, scopes }: Workload, next: () => number) {
  const metadata = next() * 1000 < weighted ? { importance: next(), confidence: next() } : null;
  return {
    predicate: `relation${number % predicates}`,
    args: [`node${Math.floor(number / 10)}`, `value${(number * 7919) % 1_000_003}`],
    truthVal: true,
    scope: scopes === 0 ? null : `scope${number % scopes}`,
    unscoped: false,
    ttl: null,
    validFrom: null,
    validUntil: null,
    metadata,
  };
}

/** Writes the facts, and uses some of them in between. */
async function write(engine: Engine, clock: Hand, facts: number, workload: Workload): Promise<void> {
  const next = random(42);
  const size = Math.ceil(facts / workload.writes);
  let asked = 0;
  for (let from = 0; from < facts; from += size) {
    const count = Math.min(size, facts - from);
    await engine.tellAll(
      caller,
      Array.from({ length: count }, (_, at) => fact(from + at, workload, next)),
    );
    for (; asked < (workload.questions * (from + count)) / facts; asked++) {
      const number = Math.floor(next() * (from + count));
      const { predicate, args } = fact(number, workload, next);
      await engine.query(caller, {
        predicate,
        args: [...args.slice(0, 1), '?value'],
        scope: null,
        unscoped: false,
        truthVal: true,
        limit: 10,
        offset: 0,
      });
    }
    clock.time += Math.floor((workload.overDays * day * count) / facts);
  }
  clock.time += day;
}

interface Times {
  readonly first: number;
  readonly median: number;
  readonly p95: number;
}

async function timed(clock: Hand, rounds: number, step: () => Promise<unknown>): Promise<Times> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const startedAt = process.cpuUsage();
    await step();
    const { user, system } = process.cpuUsage(startedAt);
    times.push((user + system) / 1000);
    clock.time += minute;
  }
  const [first = 0, ...others] = times;
  others.sort((left, right) => left - right);
  const at = (part: number): number =>
    others[Math.min(others.length - 1, Math.floor(others.length * part))] ?? 0;
  return { first, median: at(0.5), p95: at(0.95) };
}

const shown = ({ first, median, p95 }: Times): string =>
  [first, median, p95].map((time) => time.toFixed(1)).join(' / ');

/** Of buffers, in which everything is that grows with the facts, once unreferenced ones are freed. */
async function bytesHeld(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return process.memoryUsage().arrayBuffers;
}

const recalled = {
  query: null,
  maxTokens: null,
  minSalience: 0,
  unscoped: false,
  includeInferred: false,
  format: 'json' as const,
  timeoutMs: 600_000,
};

async function check(engine: Engine, scope: string | null): Promise<void> {
  const { facts } = await engine.recall(caller, { ...recalled, scope, maxFacts: 1000, predicates: null });
  const query = {
    predicate: null,
    scope,
    unscoped: false,
    q: null,
    truthVal: null,
    derived: false,
    cursor: null,
    offset: null,
  };
  const listed = await engine.facts(caller, { ...query, sort: 'salience', order: 'desc', limit: 1000 });
  const saliences = (list: readonly { salience: number }[]): string =>
    list.map(({ salience }) => salience).join();
  assert(
    saliences(facts) === saliences(listed.facts),
    'the most salient facts are not those of all facts sorted',
  );
}

async function measure(workload: Workload, facts: number, rounds: number): Promise<string> {
  const clock = new Hand();
  const engine = await openEngine({ storageDir: null, clock, snapshotIntervalMs: 2 ** 31 - 1 });
  const scope = workload.scopes === 0 ? null : 'scope7';
  await write(engine, clock, facts, workload);
  // A pending one would otherwise run during the first question.
  await engine.snapshot();
  const before = await bytesHeld();
  const recall = (predicates: string[] | null) => () =>
    engine.recall(caller, { ...recalled, scope, maxFacts: 100, predicates });
  const top = await timed(clock, rounds, recall(null));
  const bytes = ((await bytesHeld()) - before) / facts;
  const ofOne = await timed(clock, rounds, recall(['relation7']));
  const stats = await timed(clock, Math.ceil(rounds / 10), () =>
    engine.memoryStats(caller, { scope, unscoped: false, inDays: 0 }),
  );
  const summary = await timed(clock, Math.ceil(rounds / 10), () =>
    engine.summarizeContext(caller, { scope, unscoped: false }),
  );
  await check(engine, scope);
  await engine.close();
  const figures = [top, ofOne, stats, summary].map(shown).join(' | ');
  return `| ${workload.title} | ${figures} | ${bytes.toFixed(1)} |`;
}

const { values } = parseArgs({
  options: {
    facts: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '50' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) console.log(help);
else {
  const [facts, rounds] = [Number(values.facts), Number(values.rounds)];
  assert(facts > 0 && rounds > 0, '--facts and --rounds take numbers above 0');
  const only = values.only?.split(',') ?? workloads.map(({ name }) => name);
  console.log(
    `${facts} facts; CPU milliseconds: the first time / median / 95th percentile of ${rounds} times after it\n`,
  );
  console.log('| facts | top 100 | top 100 of one predicate | statistics | summary | bytes a fact |');
  console.log('|---|---:|---:|---:|---:|---:|');
  for (const workload of workloads)
    if (only.includes(workload.name)) console.log(await measure(workload, facts, rounds));
}
