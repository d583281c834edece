/** What threads answer, against what the serving thread does and the naive model. */
import { expect } from 'vitest';
import { aggregateInputSchema } from '../contract/aggregation.ts';
import { explainInputSchema, traceInputSchema, whatIfInputSchema } from '../contract/explanation.ts';
import { queryInputSchema } from '../contract/facts.ts';
import { askInputSchema } from '../contract/inference.ts';
import { type Atom, isVariable, type Literal } from '../contract/language.ts';
import { optimizeInputSchema } from '../contract/context.ts';
import { recallInputSchema } from '../contract/memory.ts';
import { searchInputSchema } from '../contract/search.ts';
import { openEngine } from '../open-engine.ts';
import type { Engine } from '../operations/engine.ts';
import type { ExportInput } from '../read/export-text.ts';
import type { ThreadHost } from '../reasoning/reasoning-threads.ts';
import {
  type Flavour,
  randomBody,
  type RandomCase,
  randomQuestion,
  randomUpdate,
  randomView,
} from './generators.ts';
import { type ModelView, modelOf } from './naive-model.ts';
import { Prng } from './prng.ts';
import { randomPause } from './random-pause.ts';
import { expectAnswer, fuzzCaller, Twin, viewFields } from './twin.ts';

/** A host whose questions move at once or, with Infinity, stay; `kill` ends the thread that was started last. */
interface ComparedThreads extends ThreadHost {
  afterMs: number;
  kill(): void;
}

interface Comparison {
  readonly seed: number;
  readonly flavour: Flavour;
  readonly makeCase: (prng: Prng, flavour: Flavour) => RandomCase;
  readonly threadHost: ComparedThreads;
}

/** Random knowledge, random updates: answers, proofs and figures of a thread are those of the serving thread and of the model. */
export async function compareThreads({ seed, flavour, makeCase, threadHost }: Comparison): Promise<void> {
  const prng = new Prng(seed);
  const start = makeCase(prng, flavour);
  const pause = randomPause(new Prng(seed + 1));
  const twin = await Twin.open(start, pause, (options) =>
    openEngine({ storageDir: null, pause, threadHost, ...options }),
  );
  try {
    for (let round = 0; round < 12; round++) {
      if (round > 0) await twin.apply(randomUpdate(prng, start.vocabulary, flavour, twin.current));
      if (prng.chance(0.1)) threadHost.kill();
      const view: ModelView = flavour.scopes ? randomView(prng, start.vocabulary) : { kind: 'all' };
      const body: readonly Literal[] = prng.chance(0.75)
        ? [{ ...randomQuestion(prng, start.vocabulary, flavour), naf: false }]
        : randomBody(prng, start.vocabulary, flavour);
      threadHost.afterMs = 0;
      const there = await twin.ask(body, view, { limit: 99_999 });
      threadHost.afterMs = Number.POSITIVE_INFINITY;
      // Another limit: else the answer would be found in the cache.
      const here = await twin.ask(body, view, { limit: 99_998 });
      expect(JSON.stringify({ ...there, elapsedMs: 0 })).toBe(JSON.stringify({ ...here, elapsedMs: 0 }));
      expectAnswer(there, body, view, modelOf(twin.knowledge(), view));
      if (prng.chance(0.4))
        await compareOthers(prng, twin, threadHost, randomQuestion(prng, start.vocabulary, flavour), view);
      if (prng.chance(0.2) || round === 0) {
        const atom = randomQuestion(prng, start.vocabulary, flavour);
        await compareRankings(prng, twin, threadHost, atom, view, round === 0);
      }
      if (prng.chance(0.3) || round === 0)
        await compareEvaluations(twin, threadHost, { body, ...viewFields(view) }, round === 0);
    }
  } finally {
    await twin.engine.close();
  }
}

/** The same for the other reads that move. */
async function compareOthers(
  prng: Prng,
  { engine }: Twin,
  threadHost: ComparedThreads,
  { predicate, args, negated }: Atom,
  view: ModelView,
): Promise<void> {
  const groupBy = args.filter((term) => isVariable(term) && term !== '?_').slice(0, prng.below(2));
  const [aggregated] = groupBy;
  const figure =
    aggregated === undefined
      ? { operation: 'COUNT' }
      : { operation: prng.pick(['COUNT', 'MIN', 'SUM']), variable: aggregated, distinct: prng.chance(0.5) };
  const scope = viewFields(view);
  const atom = { predicate, args, negated };
  const ground = args.map((term) => (isVariable(term) ? prng.pick(['a', 'b', 'c', '1']) : term));
  const counted = { predicate, args, infer: prng.chance(0.7), groupBy, ...figure, ...scope };
  const any = { predicate, infer: prng.chance(0.7), operation: 'COUNT', ...scope };
  const change = { predicate, args: ground, truthVal: !negated };
  const ways = [{ assert: [change] }, { retract: [change] }, { assert: [change], goals: [atom] }];
  const supposed = { ...prng.pick(ways), ...scope };
  const choice = {
    scope: null,
    unscoped: false,
    ...scope,
    predicate: prng.chance(0.3) ? predicate : null,
    ended: prng.chance(0.3),
    rules: prng.chance(0.5),
  };
  const format = prng.pick(['ndjson', 'datalog', 'csv', 'ntriples', 'spreadsheet'] as const);
  await compareReads(threadHost, [
    () => engine.explain(fuzzCaller, explainInputSchema.parse({ ...atom, mode: 'why', ...scope })),
    () =>
      engine.explain(
        fuzzCaller,
        explainInputSchema.parse({ ...atom, args: ground, mode: 'whyNot', ...scope }),
      ),
    () => engine.aggregate(fuzzCaller, aggregateInputSchema.parse(counted)),
    () => engine.aggregate(fuzzCaller, aggregateInputSchema.parse(any)),
    () => engine.query(fuzzCaller, queryInputSchema.parse({ predicate, args, ...scope })),
    () => engine.whatIf(fuzzCaller, whatIfInputSchema.parse(supposed)),
    () => exported(engine, { choice, format }),
  ]);
}

/** Compares what these reads answer, or are refused with, on a thread and in place. */
async function compareReads(
  threadHost: ComparedThreads,
  reads: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const answers = async (): Promise<string[]> => {
    const outcomes: unknown[] = [];
    for (const read of reads) outcomes.push(await read().catch((error: unknown) => String(error)));
    return outcomes.map(timeless);
  };
  threadHost.afterMs = 0;
  const there = await answers();
  threadHost.afterMs = Number.POSITIVE_INFINITY;
  expect(there).toEqual(await answers());
}

/**
 * The same for reads that rank by salience, which are no uses themselves. What is found by words is compared while nothing was
 * retracted: words are weighed by all constants that a store has, those of facts that are gone too.
 */
async function compareRankings(
  prng: Prng,
  { engine }: Twin,
  threadHost: ComparedThreads,
  atom: Atom,
  view: ModelView,
  isFresh: boolean,
): Promise<void> {
  const choice = { ...viewFields(view), includeInferred: true, maxFacts: 1 + prng.below(20) };
  const wanted = { ...choice, explainOmitted: prng.chance(0.5), autoResolveContradictions: prng.chance(0.5) };
  const text = `${atom.predicate} ${atom.args.filter((term) => !isVariable(term)).join(' ')}`;
  const byWords = [
    () => engine.optimizeContext(fuzzCaller, optimizeInputSchema.parse({ ...wanted, query: text })),
    () => engine.recall(fuzzCaller, recallInputSchema.parse({ ...choice, query: text })),
    () => engine.search(fuzzCaller, searchInputSchema.parse({ text, ...viewFields(view) })),
  ];
  await compareReads(threadHost, [
    () => engine.optimizeContext(fuzzCaller, optimizeInputSchema.parse({ ...wanted, goals: [atom] })),
    () => engine.recall(fuzzCaller, recallInputSchema.parse(choice)),
    ...(isFresh ? byWords : []),
  ]);
}

/**
 * The same for reads that show an evaluation. Where rows died, those of a copy are fewer: only what does not depend on that is
 * compared.
 */
async function compareEvaluations(
  { engine }: Twin,
  threadHost: ComparedThreads,
  question: object,
  isWithoutDeadRows: boolean,
): Promise<void> {
  const evaluated = async (): Promise<unknown[]> => {
    const plan = await engine.plan(fuzzCaller, askInputSchema.parse(question));
    const trace = await engine.trace(fuzzCaller, traceInputSchema.parse({ ...question, maxEvents: 100_000 }));
    const counted = await engine.ask(fuzzCaller, askInputSchema.parse({ ...question, plan: true }));
    // What the steps of its plan counted depends on the tables that earlier questions left.
    const { plan: { rows = null } = {}, planText: _, ...answer } = counted;
    return [...(isWithoutDeadRows ? [plan, trace] : [plan.plan.detail, trace.answers]), rows, answer];
  };
  threadHost.afterMs = 0;
  const there = (await evaluated()).map(timeless);
  threadHost.afterMs = Number.POSITIVE_INFINITY;
  expect(there).toEqual((await evaluated()).map(timeless));
}

/** An outcome as text, without the time that it took, and the ids of windows. */
function timeless(outcome: unknown): string {
  return JSON.stringify(outcome, (key, value: unknown) =>
    key === 'elapsedMs' || key === 'windowId' ? 0 : value,
  );
}

/** An export as one text, with what its format left out. */
async function exported(engine: Engine, input: ExportInput): Promise<string> {
  let text = '';
  const { omitted } = await engine.export(fuzzCaller, input, async (part) => {
    text += typeof part === 'string' ? part : new TextDecoder().decode(part);
  });
  return `${text}${omitted}`;
}
