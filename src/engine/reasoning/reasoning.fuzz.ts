import { openEngine } from '../open-engine.ts';
import { expect, test, vi } from 'vitest';
import type { Literal } from '../contract/language.ts';
import { aggregateCase } from '../testing/aggregate-cases.ts';
import { closureCase } from '../testing/closure-cases.ts';
import { compareThreads } from '../testing/compare-threads.ts';
import {
  type Flavour,
  plainFlavour,
  randomCase,
  type RandomCase,
  randomQuestion,
  randomUpdate,
  randomView,
  richFlavour,
} from '../testing/generators.ts';
import { type Knowledge, type ModelView, modelOf } from '../testing/naive-model.ts';
import { Prng } from '../testing/prng.ts';
import { randomPause } from '../testing/random-pause.ts';
import { threadsInProcess } from '../testing/threads-in-process.ts';
import { expectAnswer, overSeeds, Twin } from '../testing/twin.ts';

/** Random knowledge, random streams of updates: every answer of a thread equals that of the serving thread. */

const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  rich: richFlavour,
  scopes: { ...plainFlavour, negation: true, comparisons: true, scopes: true, disabledRules: true },
  time: { ...plainFlavour, negation: true, scopes: true, validity: true, disabledRules: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true },
  steady: { ...plainFlavour, defaultNegation: true, aggregates: true, layered: true, steadyRules: true },
};

const timeout = 3_600_000;

/** Questions that threads were asked. */
let crossed = 0;

async function compare(
  seed: number,
  flavour: Flavour,
  makeCase: (prng: Prng, flavour: Flavour) => RandomCase,
): Promise<void> {
  const threadHost = threadsInProcess();
  await compareThreads({ seed, flavour, makeCase, threadHost });
  crossed += threadHost.asked;
}

for (const [name, flavour] of Object.entries(flavours))
  test(`a thread answers byte for byte as the serving thread does (${name})`, { timeout }, () =>
    overSeeds({ name, few: 3, many: 2000 }, (seed) => compare(seed, flavour, randomCase)),
  );

test('a thread answers byte for byte where tables are bitset relations', { timeout }, () =>
  overSeeds({ name: 'bitset relations', few: 2, many: 1000 }, (seed) =>
    compare(seed, { ...plainFlavour, facts: 14, maxArity: 2, scopes: true, validity: true }, closureCase),
  ),
);

test('a thread answers byte for byte where rules are aggregates', { timeout }, () =>
  overSeeds({ name: 'aggregates', few: 2, many: 1000 }, (seed) =>
    compare(seed, { ...plainFlavour, facts: 24, maxArity: 2 }, aggregateCase),
  ),
);

/** What waits looks at the clock too: no read may take its ten seconds, however slow the machine is. */
const mayPassMs = 5000;

/** Questions that went on here and on a thread, by where they were answered. */
const both = { here: 0, there: 0 };

for (const name of ['rich', 'time', 'steady'])
  test(
    `a question that goes on here and on a thread is answered byte for byte alike (${name})`,
    { timeout },
    () =>
      overSeeds({ name: `${name} both`, few: 1, many: 1000 }, async (seed) => {
        const prng = new Prng(seed);
        const threads = threadsInProcess();
        Object.assign(threads, {
          untilMs: 0,
          lateMs: 0,
          bothBytes: prng.pick([0, 10_000, 1e9]),
          bothTimes: prng.pick([5, 1e9]),
        });
        let leftMs = mayPassMs;
        // Questions that move begin here.
        const threadHost = {
          ...threads,
          get afterMs() {
            return threads.afterMs === 0 ? 0.001 : threads.afterMs;
          },
          set afterMs(ms: number) {
            threads.afterMs = ms;
            leftMs = mayPassMs;
          },
        };
        let now = 0;
        const time = vi.spyOn(performance, 'now').mockImplementation(() => {
          if (leftMs <= 0 || !prng.chance(0.2)) return now;
          leftMs -= 6;
          return (now += 6);
        });
        try {
          await compareThreads({
            seed,
            flavour: flavours[name] as Flavour,
            makeCase: randomCase,
            threadHost,
          });
        } finally {
          time.mockRestore();
        }
        const cancelled = threads.posted.filter(({ kind }) => kind === 'cancel').length;
        both.here += cancelled;
        both.there += threads.asked - cancelled;
      }),
  );

test('such questions were answered here and there', () => {
  expect(both.here).toBeGreaterThan(0);
  expect(both.there).toBeGreaterThan(0);
});

/** A clock for slices on which any check may be the last of its slice. */
function restlessTime(seed: number): () => number {
  const prng = new Prng(seed);
  let now = 0;
  return () => (now += prng.chance(0.2) ? 6 : 0);
}

for (const name of ['rich', 'scopes', 'steady'])
  test(
    `a thread answers as of the generation it names, whatever is written meanwhile (${name})`,
    {
      timeout,
    },
    () =>
      overSeeds({ name: `${name} meanwhile`, few: 2, many: 500 }, async (seed) => {
        const prng = new Prng(seed);
        const flavour = flavours[name] as Flavour;
        const start = randomCase(prng, flavour);
        const time = vi.spyOn(performance, 'now').mockImplementation(restlessTime(seed));
        const threadHost = threadsInProcess();
        const pause = randomPause(new Prng(seed + 1));
        const twin = await Twin.open(start, pause, (options) =>
          openEngine({ storageDir: null, pause, threadHost, ...options }),
        );
        const states = new Map<number, Knowledge>();
        const noteState = async (): Promise<void> => {
          const goal = [{ predicate: 'nothing', args: [], negated: false, naf: false }];
          states.set((await twin.ask(goal, { kind: 'all' })).generation, twin.knowledge());
        };
        const update = async (): Promise<void> => {
          for (let count = 0; count < 4; count++) {
            const random = randomUpdate(prng, start.vocabulary, flavour, twin.current);
            if (random.kind === 'time') continue;
            await twin.apply(random);
            await noteState();
          }
        };
        const ask = async (questions: readonly (readonly [readonly Literal[], ModelView])[]) => {
          const answers = [];
          for (const [body, view] of questions)
            answers.push({ body, view, answer: await twin.ask(body, view) });
          return answers;
        };
        try {
          await noteState();
          for (let round = 0; round < 3; round++) {
            const lanes = [3, 2].map((count) =>
              Array.from({ length: count }, () => {
                const goal = { ...randomQuestion(prng, start.vocabulary, flavour), naf: false };
                const view: ModelView = flavour.scopes ? randomView(prng, start.vocabulary) : { kind: 'all' };
                return [[goal], view] as const;
              }),
            );
            const [, ...answered] = await Promise.all([update(), ...lanes.map(ask)]);
            for (const { body, view, answer } of answered.flat()) {
              const known = [...states.keys()].filter((generation) => generation <= answer.generation);
              const knowledge = states.get(Math.max(...known)) as Knowledge;
              expectAnswer(answer, body, view, modelOf(knowledge, view));
            }
          }
          crossed += threadHost.asked;
        } finally {
          time.mockRestore();
          await twin.engine.close();
        }
      }),
  );

test('most of these questions were asked of a thread', () => {
  expect(crossed).toBeGreaterThan(100);
});
