import { expect, test } from 'vitest';
import type { Moment } from '../base/caller.ts';
import { historyDiffInputSchema } from '../contract/history-diff.ts';
import { askInputSchema } from '../contract/inference.ts';
import type { Literal } from '../contract/language.ts';
import { renderAtom } from '../language/print.ts';
import { memoryBackend, type StorageBackend } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import {
  factIdentity,
  type Flavour,
  plainFlavour,
  type RandomUpdate,
  randomBody,
  randomCase,
  randomQuestion,
  randomUpdate,
  randomView,
  richFlavour,
  type Vocabulary,
} from '../testing/generators.ts';
import { type Knowledge, modelOf, type ModelFact, type ModelView } from '../testing/naive-model.ts';
import { Prng } from '../testing/prng.ts';
import { randomPause } from '../testing/random-pause.ts';
import { pastThreads } from '../testing/threads-in-process.ts';
import { expectAnswer, fuzzCaller, overSeeds, Twin, viewFields } from '../testing/twin.ts';

/**
 * Random programs with validity, rules, time, snapshots and restarts, asked at random earlier generations and instants:
 * equal to the naive model of what was known then, proofs included.
 */

const flavours: Record<string, Flavour> = {
  rich: { ...richFlavour, scopes: true, validity: true, disabledRules: true },
  time: { ...plainFlavour, negation: true, scopes: true, validity: true, disabledRules: true },
  steady: { ...plainFlavour, defaultNegation: true, validity: true, steadyRules: true, maxArity: 2 },
};

/** A backend that keeps what the log removes, as a retention that removes nothing. */
function retaining(): StorageBackend {
  const backend = memoryBackend();
  const isKept = (name: string): boolean => /\.(?:log|snapshot)$/.test(name);
  return { ...backend, remove: async (name) => (isKept(name) ? undefined : backend.remove(name)) };
}

/** All lives of facts that the latest knowledge has: those that ended, and one that has not, of each identity. */
class Lives {
  readonly #ended: ModelFact[] = [];
  readonly #current = new Map<string, ModelFact>();

  all(): ModelFact[] {
    return [...this.#ended, ...this.#current.values()];
  }

  assert(fact: ModelFact, time: number): void {
    const identity = factIdentity(fact);
    const known = this.#current.get(identity);
    if (known !== undefined && hasEnded(known, time)) this.#ended.push(known);
    this.#current.set(identity, fact);
  }

  retract(fact: ModelFact, time: number): void {
    const known = this.#current.get(factIdentity(fact));
    if (known !== undefined && !hasEnded(known, time)) this.#current.delete(factIdentity(fact));
  }
}

function hasEnded({ validUntil }: ModelFact, time: number): boolean {
  return validUntil !== null && validUntil <= time;
}

/** What was known from a generation on. */
interface Known extends Knowledge {
  readonly generation: number;
}

function randomAsked(prng: Prng, vocabulary: Vocabulary, flavour: Flavour) {
  const view: ModelView = flavour.scopes ? randomView(prng, vocabulary) : { kind: 'all' };
  const body: Literal[] = prng.chance(0.75)
    ? [{ ...randomQuestion(prng, vocabulary, flavour), naf: false }]
    : randomBody(prng, vocabulary, flavour);
  return { body, view };
}

/** A random moment, the knowledge that it has, and the time of its validity. */
function randomMoment(prng: Prng, history: readonly Known[], now: number): [Moment, Known, number] {
  const latest = history.at(-1) as Known;
  const asOf = prng.chance(0.4) ? prng.below(now + 3) : null;
  if (asOf !== null && prng.chance(0.4)) return [{ asOf, asKnown: null }, latest, asOf];
  if (prng.chance(0.6)) {
    const known = prng.pick([...history]);
    const asKnown = { kind: 'generation', generation: known.generation } as const;
    return [{ asOf, asKnown }, known, asOf ?? known.time];
  }
  const time = prng.below(now + 1);
  const known = history.findLast((each) => each.time <= time) as Known;
  return [{ asOf, asKnown: { kind: 'instant', time } }, known, asOf ?? time];
}

/** Where earlier knowledge is rebuilt and asked. */
const places = ['here', 'on a thread'] as const;

for (const [name, flavour, place] of Object.entries(flavours).flatMap(([name, flavour]) =>
  places.map((place) => [name, flavour, place] as const),
))
  test(
    `answers about any moment as the naive model did then (${name}, ${place})`,
    { timeout: 3_600_000 },
    () =>
      overSeeds({ name: `${name} ${place}`, few: 2, many: 2000 }, async (seed) => {
        const prng = new Prng(seed);
        const start = randomCase(prng, flavour);
        const backend = retaining();
        const pause = randomPause(new Prng(seed + 1));
        const threadHost = place === 'here' ? null : pastThreads(backend);
        const options = { pause, segmentBytes: 2000, threadHost };
        const open = async (more: object) =>
          (await openEngineOn(backend, null, { ...options, ...more })).engine;
        const twin = await Twin.open(start, pause, open);
        const lives = new Lives();
        for (const fact of start.facts) lives.assert(fact, 0);
        const history: Known[] = [];
        const note = async (): Promise<void> => {
          const { generation } = await twin.ask(nothing, { kind: 'all' });
          if (history.at(-1)?.generation === generation) return;
          history.push({ ...twin.knowledge(), facts: lives.all(), generation });
        };
        await note();
        for (let round = 0; round < 15; round++) {
          const update: RandomUpdate = randomUpdate(prng, start.vocabulary, flavour, twin.current);
          if (update.kind === 'assert') lives.assert(update.fact, twin.current.time);
          else if (update.kind === 'retract') lives.retract(update.fact, twin.current.time);
          await twin.apply(update);
          await note();
          if (prng.chance(0.15)) await twin.engine.snapshot();
          if (prng.chance(0.1)) await twin.restart(open);
          if (prng.chance(0.1)) threadHost?.kill();
          const [moment, known, time] = randomMoment(prng, history, twin.current.time);
          const { body, view } = randomAsked(prng, start.vocabulary, flavour);
          const fields = { ...viewFields(view), withProof: true, timeoutMs: 600_000 };
          const answer = await twin.engine.ask(
            { ...fuzzCaller, moment },
            askInputSchema.parse({ body, ...fields }),
          );
          expect(answer.generation, JSON.stringify(moment)).toBe(known.generation);
          expectAnswer(answer, body, view, modelOf({ ...known, time }, view));
        }
        await compareMoments(twin, prng, start.vocabulary, flavour, history);
        await twin.engine.close();
        if (threadHost !== null) expect(threadHost.posted.some(({ kind }) => kind === 'askPast')).toBe(true);
      }),
  );

/** Two random generations: what flipped in between, and by what. */
async function compareMoments(
  twin: Twin,
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  history: readonly Known[],
): Promise<void> {
  const [from, to] = [prng.pick([...history]), prng.pick([...history])];
  const goal = randomQuestion(prng, vocabulary, flavour);
  const { predicate, args, negated } = goal;
  const { flips, complete, facts } = await twin.engine.historyDiff(
    fuzzCaller,
    historyDiffInputSchema.parse({
      from: from.generation,
      to: to.generation,
      goals: [{ predicate, args: [...args], negated }],
      limit: 10_000,
      timeoutMs: 600_000,
    }),
  );
  const answers = (known: Knowledge): string[] => {
    const model = modelOf(known, { kind: 'all' });
    return model.answers([{ ...goal, naf: false }]).map(({ rendered }) => rendered);
  };
  const [before, after, then] = [from, to, { ...from, time: to.time }].map(answers);
  const expected = [
    ...(before ?? []).filter((atom) => after?.includes(atom) !== true).map((atom) => [atom, 'from']),
    ...(after ?? []).filter((atom) => before?.includes(atom) !== true).map((atom) => [atom, 'to']),
  ].map(([atom, held]) => {
    const isByTime = then?.includes(atom as string) === (held === 'to');
    return `${atom} ${held} ${isByTime ? 'validity' : 'change'}`;
  });
  expect(flips.map(({ atom, held, by }) => `${atom} ${held} ${by}`).sort()).toEqual(expected.sort());
  expect(complete).toBe(true);
  const since = Math.min(from.time, to.time);
  const identities = ({ facts: of }: Known): Set<string> =>
    new Set(
      of.filter((fact) => !hasEnded(fact, since)).map((fact) => JSON.stringify([atomOf(fact), fact.scope])),
    );
  const shown = (list: readonly { atom: string; scope: string | null }[]): string[] =>
    list.map(({ atom, scope }) => JSON.stringify([atom, scope])).sort();
  const [had, has] = [identities(from), identities(to)];
  expect(shown(facts.added)).toEqual([...has].filter((each) => !had.has(each)).sort());
  expect(shown(facts.removed)).toEqual([...had].filter((each) => !has.has(each)).sort());
}

function atomOf({ predicate, args, truthVal }: ModelFact): string {
  return renderAtom({ predicate, args: [...args], negated: !truthVal });
}

const nothing: Literal[] = [{ predicate: 'nothing', args: [], negated: false, naf: false }];
