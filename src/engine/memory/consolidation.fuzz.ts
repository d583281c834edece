import { isDeepStrictEqual } from 'node:util';
import { expect, test, vi } from 'vitest';
import { present } from '../base/assert.ts';
import { ManualClock } from '../base/clock.ts';
import type { Consolidated } from '../contract/memory.ts';
import {
  day,
  type Fields,
  hour,
  type Session,
  sessionOf,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';
import { openEngine } from '../open-engine.ts';
import { consolidateIn } from '../testing/memory-calls.ts';
import { Prng } from '../testing/prng.ts';
import { overSeeds } from '../testing/twin.ts';
import { ConsolidationPlan, type OrderedPlan } from './consolidation-plan.ts';

/**
 * A consolidation beside other writes is what it is with nothing beside: the plan that its commit takes over from before equals
 * one made there as a whole, and the answer and the facts equal those of a second engine that gets the same writes one after
 * the other.
 */
const timeout = 3_600_000;

/** One write; returns what it answered. */
type Step = (session: Session) => Promise<{ readonly generation: number }>;

const people = ['ann', 'bob', 'cid'];
const names = [...people, 'dot', 'eve', '3'];
const scopes = [null, null, null, 's'];

function randomDate(prng: Prng): string {
  return new Date(startTime + day * prng.below(60)).toISOString().slice(0, 10);
}

function randomTell(prng: Prng): Step {
  const [one, other] = [prng.pick(people), prng.pick(people)];
  const text = prng.pick([
    ...Array.from({ length: 3 }, () => `seen(${one}, ${randomDate(prng)})`),
    `met(${one}, ${other}, ${randomDate(prng)})`,
    `seen_summary(${one}, ${3 + prng.below(4)})`,
    // Which argument differs changes with every write.
    ...Array.from({ length: 2 }, () => `pair(${prng.pick(names)}, ${prng.pick(names)})`),
  ]);
  const fields = {
    scope: prng.pick(scopes),
    metadata: prng.pick([{ episode: true }, {}, { pinned: true }, { confidence: 0.5 }]),
    validFrom: 'always',
    ...prng.pick<Fields>([
      ...[{}, {}, {}, {}, {}].map(() => ({ validUntil: 'never' })),
      { validFrom: startTime + prng.below(day), validUntil: 'never' },
      { ttl: 1 + prng.below(2000) },
    ]),
  };
  return (session) => session.tell(text, fields);
}

function randomStep(prng: Prng): Step {
  const choice = prng.below(20);
  if (choice < 11) return randomTell(prng);
  if (choice < 15) {
    const text = prng.chance(0.5)
      ? `seen(${prng.pick(people)}, ${randomDate(prng)})`
      : `pair(${prng.pick(names)}, ${prng.pick(names)})`;
    return (session) => session.forget(text);
  }
  if (choice < 16) return (session) => session.forgetPattern(`seen(${people[0]}, ?d)`);
  if (choice < 17) {
    const body = prng.pick(['seen(?x, ?_)', 'met(?x, ?_, ?_)']);
    const enabled = prng.chance(0.4);
    return (session) => session.teach(`known(?x) :- ${body}`, { enabled });
  }
  const texts = Array.from(
    { length: 1 + prng.below(20) },
    () => `seen(${prng.pick(people)}, ${randomDate(prng)})`,
  );
  const scope = prng.pick(scopes);
  return (session) => session.tellAll(texts, { scope });
}

/** A consolidation among writes, one after the other, while time passes once. */
interface Round {
  readonly input: Fields;
  readonly steps: readonly Step[];
  /** Before which step how much time passes, in milliseconds. */
  readonly passing: { readonly before: number; readonly ms: number };
}

function randomRound(prng: Prng): Round {
  const steps = Array.from({ length: prng.below(12) }, () => randomStep(prng));
  const views = [
    {},
    {},
    { predicates: ['seen', 'met', 'pair'] },
    { predicates: ['pair'] },
    { scope: 's' },
    { unscoped: true },
  ];
  return {
    input: { minOccurrences: 2 + prng.below(2), ...prng.pick(views) },
    steps,
    passing: { before: prng.below(steps.length + 1), ms: prng.pick([0, 0, 1, 500, hour]) },
  };
}

/** Consolidates while the steps are done. Returns the answer, and how many steps were done before it. */
async function beside(session: Session, { input, steps, passing }: Round): Promise<[Consolidated, number]> {
  const consolidated = consolidateIn(session, input);
  const generations: number[] = [];
  for (const [at, step] of steps.entries()) {
    if (at === passing.before) session.clock.advance(passing.ms);
    generations.push((await step(session)).generation);
  }
  if (passing.before === steps.length) session.clock.advance(passing.ms);
  const got = await consolidated;
  const isBefore = (generation: number): boolean =>
    got.summariesCreated > 0 ? generation < got.generation : generation <= got.generation;
  return [got, generations.filter(isBefore).length];
}

/** Does the same one after the other. Time passes as late as the answer allows. */
async function alone(
  session: Session,
  { input, steps, passing }: Round,
  before: number,
  wanted: Consolidated,
): Promise<Consolidated> {
  let got: Consolidated | null = null;
  for (let at = 0; at <= steps.length; at++) {
    const passes = at === passing.before;
    if (at === before && passes && !(await isSame(session, input, wanted))) {
      session.clock.advance(passing.ms);
      got = await consolidateIn(session, input);
    } else {
      if (at === before) got = await consolidateIn(session, input);
      if (passes) session.clock.advance(passing.ms);
    }
    await steps[at]?.(session);
  }
  return present(got, 'it was consolidated');
}

/** Whether a consolidation now would answer this. */
async function isSame(session: Session, input: Fields, wanted: Consolidated): Promise<boolean> {
  const {
    generation: _now,
    dryRun: _tried,
    ...got
  } = await consolidateIn(session, { ...input, dryRun: true });
  const { generation: _then, ...answer } = wanted;
  return isDeepStrictEqual(got, answer);
}

/** All facts in full, but when summaries were made: in the same generation, perhaps before time passed. */
async function contents({ list }: Session): Promise<unknown[]> {
  const { facts } = await list({ limit: '1000' });
  return facts.map(({ salience: _salience, createdAt, updatedAt, ...fact }) =>
    fact.predicate.endsWith('_summary') ? fact : { ...fact, createdAt, updatedAt },
  );
}

async function play(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const onBug = (error: unknown): void => {
    throw error;
  };
  const open = async (): Promise<Session> => {
    const clock = new ManualClock(startTime);
    return sessionOf(await openEngine({ storageDir: null, clock, onBug }), clock, testCaller());
  };
  const [one, other] = [await open(), await open()];
  // Which check of the clock ends a slice is chance, so writes fall between all steps of a plan.
  const slices = new Prng(~seed);
  let now = 0;
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += slices.chance(0.3) ? 6 : 0));
  /** The last plan, as it was made, and made as a whole. */
  let plans: readonly OrderedPlan[] = [];
  const planOf = ConsolidationPlan.of.bind(ConsolidationPlan);
  const planning = vi
    .spyOn(ConsolidationPlan, 'of')
    .mockImplementation(async (state, wanted, pacer, before) => {
      const plan = await planOf(state, wanted, pacer, before);
      const whole = await planOf(state, wanted, pacer);
      plans = [await plan.ordered(pacer), await whole.ordered(pacer)];
      return plan;
    });
  try {
    for (let count = 40 + prng.below(60); count > 0; count--) {
      const step = randomTell(prng);
      await step(one);
      await step(other);
    }
    for (let count = 0; count < 4; count++) {
      const round = randomRound(prng);
      const [got, before] = await beside(one, round);
      // In the commit nothing else is written.
      expect(plans[0]).toEqual(plans[1]);
      expect(await alone(other, round, before, got)).toEqual(got);
      expect(await contents(one)).toEqual(await contents(other));
    }
  } finally {
    time.mockRestore();
    planning.mockRestore();
    await Promise.all([one.engine.close(), other.engine.close()]);
  }
}

test('consolidates beside writes as with nothing beside', { timeout }, () =>
  overSeeds({ name: 'consolidation', few: 4, many: 2000 }, play),
);
