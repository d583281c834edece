import { expect, test } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { type Trace, type TraceEvent, traceInputSchema } from '../contract/explanation.ts';
import { askInputSchema } from '../contract/inference.ts';
import type { Atom, Literal } from '../contract/language.ts';
import { parseAtom } from '../language/parse.ts';
import { renderBody } from '../language/print.ts';
import {
  type Flavour,
  plainFlavour,
  randomBody,
  randomCase,
  randomQuestion,
  randomUpdate,
  randomView,
  richFlavour,
} from '../testing/generators.ts';
import { modelOf, type ModelView, type NaiveModel } from '../testing/naive-model.ts';
import { fuzzCaller, overSeeds, Twin, viewFields } from '../testing/twin.ts';

/** The consistency of a trace with the naive model and with itself: random knowledge, random questions. */

const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  joins: { ...plainFlavour, facts: 30, rules: 8, relations: 4, constants: 4 },
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true },
  groups: { ...plainFlavour, aggregates: true, comparisons: true },
  scopes: { ...plainFlavour, negation: true, comparisons: true, scopes: true, disabledRules: true },
  time: { ...plainFlavour, negation: true, scopes: true, validity: true, defaultNegation: true },
  rich: richFlavour,
};

interface Asked {
  readonly body: readonly Literal[];
  readonly view: ModelView;
}

async function traced(twin: Twin, { body, view }: Asked, maxEvents = 100_000): Promise<Trace> {
  const input = { body, ...viewFields(view), maxEvents, timeoutMs: 600_000 };
  return twin.engine.trace(fuzzCaller, traceInputSchema.parse(input));
}

function keyOf({ atom, scope }: TraceEvent): string {
  return JSON.stringify([atom, scope]);
}

/** True if the question is a single atom: its goal is then one of the subgoals of a relation. */
function isGoal(question: string): boolean {
  try {
    parseAtom(question);
    return true;
  } catch {
    return false;
  }
}

function withoutTimes(trace: Trace): unknown {
  return { ...trace, elapsedMs: 0, rules: trace.rules.map((rule) => ({ ...rule, elapsedMs: 0 })) };
}

/** Where an exit can belong: the depth, the view and the relation of a subgoal. */
function placeOf(event: TraceEvent, { predicate, args, negated }: Atom): string {
  return JSON.stringify([event.depth, event.scope, predicate, args.length, negated]);
}

/** Every event is in a possible position: after its call, and as deep as the demands that lead to it. */
function expectWellFormed({ events }: Trace, question: string): void {
  const calls = new Map<string, TraceEvent>();
  const depths = new Set([-1]);
  const patterns = new Map<string, (readonly string[])[]>();
  const isBody = !isGoal(question);
  for (const [at, event] of events.entries()) {
    const check = (isRight: boolean): void => {
      if (!isRight) throw new Error(`misplaced event ${JSON.stringify(event)} of ${question}`);
    };
    check(event.seq === at + 1);
    if (event.port === 'call') {
      check(!calls.has(keyOf(event)));
      check(depths.has(event.depth - 1));
      check((event.depth === 0) === (at === 0));
      calls.set(keyOf(event), event);
      depths.add(event.depth);
      if (at === 0 && isBody) continue;
      const atom = parseAtom(event.atom);
      const place = placeOf(event, atom);
      patterns.set(place, [...(patterns.get(place) ?? []), atom.args]);
    } else if (event.port === 'reuse') {
      check(calls.has(keyOf(event)));
      check(depths.has(event.depth - 1) && event.depth > 0);
    } else if (event.port === 'fail') check(calls.get(keyOf(event))?.depth === event.depth);
    else if (event.depth > 0 || !isBody) {
      const atom = parseAtom(event.atom);
      const called = patterns
        .get(placeOf(event, atom))
        ?.some((args) => args.every((term, at) => term.startsWith('?') || term === atom.args[at]));
      check(called === true);
    }
  }
}

/** The summaries add up to the events. */
function expectSummaries({ rules, subgoals, events, truncated }: Trace, question: string): void {
  const count = (wanted: (event: TraceEvent) => boolean): number => events.filter(wanted).length;
  expect(truncated).toBe(false);
  expect(
    events.filter(({ port }) => port === 'call').map(({ atom, scope }) => [atom, scope]),
    `calls of ${question}`,
  ).toEqual(subgoals.map(({ goal, scope }) => [goal, scope]));
  const demanded = new Map<string, number>();
  const failed = new Map<string, number>();
  for (const event of events) {
    const counts = event.port === 'fail' ? failed : event.port === 'exit' ? null : demanded;
    counts?.set(keyOf(event), (counts.get(keyOf(event)) ?? 0) + 1);
  }
  for (const { goal, scope, calls, answers } of subgoals) {
    const key = JSON.stringify([goal, scope]);
    expect([demanded.get(key), failed.get(key) ?? 0], `calls and fails of ${goal} of ${question}`).toEqual([
      calls,
      answers === 0 ? 1 : 0,
    ]);
  }
  const answers = subgoals.reduce((sum, subgoal) => sum + subgoal.answers, 0);
  expect(
    count(({ port }) => port === 'exit'),
    `exits of ${question}`,
  ).toBe(answers);
  for (const { ruleId, fired, derived } of rules) {
    const exits = count((event) => event.port === 'exit' && event.ruleId === ruleId);
    expect(exits, `what ${ruleId} derived for ${question}`).toBe(derived);
    expect(fired, `what ${ruleId} fired for ${question}`).toBeGreaterThanOrEqual(derived);
  }
  const ids = new Set(rules.map(({ ruleId }) => ruleId));
  expect(events.every(({ ruleId }) => ruleId === null || ids.has(ruleId))).toBe(true);
}

/** Every subgoal has the answers of the model, in the view in which it was read. */
function expectAnswersOfModel(trace: Trace, { body, view }: Asked, twin: Twin): void {
  const knowledge = twin.knowledge();
  const question = renderBody(body);
  const models = new Map<string | null, NaiveModel>([[null, modelOf(knowledge, view)]]);
  expect(trace.answers, question).toBe(models.get(null)?.answers(body).length);
  for (const [at, { goal, scope, answers }] of trace.subgoals.entries()) {
    if (at === 0 && !isGoal(question)) continue;
    const model = models.get(scope) ?? modelOf(knowledge, { kind: 'scope', scope: scope ?? '' });
    models.set(scope, model);
    const { predicate, args, negated } = parseAtom(goal);
    expect(answers, `answers to ${goal} of ${question}`).toBe(model.match(predicate, args, negated).length);
  }
}

for (const [name, flavour] of Object.entries(flavours))
  test(`a trace agrees with the model and with itself (${name})`, { timeout: 3_600_000 }, () =>
    overSeeds({ name, few: 6, many: 2000 }, async (seed) => {
      const prng = new Prng(seed);
      const start = randomCase(prng, flavour);
      const twin = await Twin.open(start, () => Promise.resolve());
      try {
        for (let round = 0; round < 4; round++) {
          const asked: Asked = {
            view: flavour.scopes ? randomView(prng, start.vocabulary) : { kind: 'all' },
            body: prng.chance(0.6)
              ? [{ ...randomQuestion(prng, start.vocabulary, flavour), naf: false }]
              : randomBody(prng, start.vocabulary, flavour),
          };
          const question = renderBody(asked.body);
          const trace = await traced(twin, asked);
          expectWellFormed(trace, question);
          expectSummaries(trace, question);
          expectAnswersOfModel(trace, asked, twin);
          const fields = { ...viewFields(asked.view), timeoutMs: 600_000 };
          const answer = await twin.engine.ask(
            fuzzCaller,
            askInputSchema.parse({ body: asked.body, ...fields }),
          );
          expect(trace.answers).toBe(answer.count);
          const most = 1 + prng.below(trace.events.length + 2);
          const short = await traced(twin, asked, most);
          expect(withoutTimes(short), `${most} events of ${question}`).toEqual(
            withoutTimes({
              ...trace,
              events: trace.events.slice(0, most),
              truncated: most < trace.events.length,
            }),
          );
          await twin.apply(randomUpdate(prng, start.vocabulary, flavour, twin.current));
        }
      } finally {
        await twin.engine.close();
      }
    }),
  );
