import { expect, test, vi } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { queryInputSchema } from '../contract/facts.ts';
import type { Literal } from '../contract/language.ts';
import type { Change } from './change-feed.ts';
import { renderAtom, renderLiteral } from '../language/print.ts';
import {
  factIdentity,
  type Flavour,
  plainFlavour,
  randomCase,
  randomQuestion,
  randomUpdate,
  randomView,
  richFlavour,
} from '../testing/generators.ts';
import { type Knowledge, modelOf, type ModelView } from '../testing/naive-model.ts';
import { randomPause } from '../testing/random-pause.ts';
import { fuzzCaller, overSeeds, Twin } from '../testing/twin.ts';

/**
 * Published withdrawals against the naive model: after every change of any kind, each known answer that is no longer
 * true is published once, and none that is still true.
 */

const flavours: Record<string, Flavour> = {
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  groups: { ...plainFlavour, aggregates: true, comparisons: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true },
  time: { ...plainFlavour, negation: true, scopes: true, validity: true, disabledRules: true },
  rich: richFlavour,
};

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, milliseconds));

/** How long a publication may take, and how long to wait for one that must not come. */
const longestMs = 10_000;
const quietMs = 12;

/** A clock for slices on which any check may be the last of its slice. */
function restlessTime(seed: number): () => number {
  const prng = new Prng(seed);
  let now = 0;
  return () => (now += prng.chance(0.2) ? 6 : 0);
}

/** The answers to a question of one atom, known in its view from then on. */
interface Known {
  readonly view: ModelView;
  readonly atoms: Set<string>;
}

function isVisible({ time }: Knowledge, fact: Knowledge['facts'][number]): boolean {
  return (fact.validFrom ?? 0) <= time && (fact.validUntil === null || fact.validUntil > time);
}

/** Atoms of stored facts visible in the one state and not in the other; they are published as facts. */
function storedThatWent(before: Knowledge, after: Knowledge): Set<string> {
  const seenIn = (knowledge: Knowledge): Map<string, string> =>
    new Map(
      knowledge.facts
        .filter((fact) => isVisible(knowledge, fact))
        .map((fact) => [
          factIdentity(fact),
          renderAtom({ predicate: fact.predicate, args: [...fact.args], negated: !fact.truthVal }),
        ]),
    );
  const left = seenIn(after);
  return new Set([...seenIn(before)].flatMap(([identity, atom]) => (left.has(identity) ? [] : [atom])));
}

const allViews = (scopes: readonly string[]): ModelView[] => [
  { kind: 'all' },
  { kind: 'unscoped' },
  ...scopes.map((scope): ModelView => ({ kind: 'scope', scope })),
];

/** Of the atoms true in a view before, those no longer true, over all views. */
function lostBetween(before: Knowledge, after: Knowledge, views: readonly ModelView[]): Set<string> {
  const lost = new Set<string>();
  for (const view of views) {
    const left = modelOf(after, view).heights;
    for (const atom of modelOf(before, view).heights.keys()) if (!left.has(atom)) lost.add(atom);
  }
  return lost;
}

async function step(
  twin: Twin,
  seen: Change[],
  known: Known[],
  views: readonly ModelView[],
  lostBefore: ReadonlySet<string>,
  change: () => Promise<unknown>,
): Promise<Set<string>> {
  const before = twin.knowledge();
  seen.length = 0;
  await change();
  // The first reader notices the passing of time.
  await twin.engine.query(fuzzCaller, queryInputSchema.parse({ predicate: 'p0', args: [] }));
  const after = twin.knowledge();
  const stored = storedThatWent(before, after);
  const wanted = new Set<string>();
  for (const { view, atoms } of known) {
    const { heights } = modelOf(after, view);
    for (const atom of atoms)
      if (!heights.has(atom)) {
        atoms.delete(atom);
        if (!stored.has(atom)) wanted.add(atom);
      }
  }
  const told = (): string[] =>
    seen.flatMap(({ kind, data }) => (kind === 'conclusion.withdrawn' ? [data.atom ?? ''] : []));
  const isReset = (): boolean => seen.some(({ kind }) => kind === 'reset');
  const missing = (): string[] => [...wanted].filter((atom) => !told().includes(atom));
  const end = performance.now() + longestMs;
  while (missing().length > 0 && !isReset() && performance.now() < end) await sleep(1);
  await sleep(quietMs);
  if (!isReset()) expect(missing(), 'answers that were withdrawn').toEqual([]);
  expect([...new Set(told())].sort(), 'published once').toEqual([...told()].sort());
  const lost = lostBetween(before, after, views);
  // Withdrawals of conclusions that no question is known to have asked for may be published later.
  expect(
    told().filter((atom) => !lost.has(atom) && !lostBefore.has(atom)),
    'published although never true, or still true',
  ).toEqual([]);
  for (const [at, { id }] of seen.entries()) {
    const [generation, index] = id.split('.').map(Number) as [number, number];
    for (const earlier of seen.slice(0, at)) {
      const [other, number] = earlier.id.split('.').map(Number) as [number, number];
      if (other === generation) expect(number, `${id} after ${earlier.id}`).toBeLessThan(index);
    }
  }
  return lost;
}

for (const [name, flavour] of Object.entries(flavours))
  test(`publishes once what any change withdrew (${name})`, { timeout: 3_600_000 }, () =>
    overSeeds({ name: `events ${name}`, few: 1, many: 500 }, async (seed) => {
      const prng = new Prng(seed);
      const start = randomCase(prng, flavour);
      const twin = await Twin.open(start, randomPause(new Prng(seed + 1)));
      const seen: Change[] = [];
      const stop = twin.engine.subscribe((change) => seen.push(change));
      const views = allViews(start.vocabulary.scopes);
      let known: Known[] = [];
      let lost = new Set<string>();
      try {
        for (let round = 0; round < 10; round++) {
          for (let index = 0; index < 3; index++) {
            const view: ModelView = flavour.scopes ? randomView(prng, start.vocabulary) : { kind: 'all' };
            const asked: Literal = { ...randomQuestion(prng, start.vocabulary, flavour), naf: false };
            const { results } = await twin.ask([asked], view);
            if (renderLiteral(asked).includes('(')) known.push({ view, atoms: new Set(results) });
          }
          const update = randomUpdate(prng, start.vocabulary, flavour, twin.current);
          const isMeanwhile = prng.chance(0.3);
          const question: Literal = { ...randomQuestion(prng, start.vocabulary, flavour), naf: false };
          lost = await step(twin, seen, known, views, lost, async () => {
            await twin.apply(update);
            if (isMeanwhile) await twin.ask([question], { kind: 'all' });
          });
          // A change of rules resets what is known.
          if (!['assert', 'retract', 'time'].includes(update.kind)) known = [];
        }
      } finally {
        stop();
        await twin.engine.close();
      }
    }),
  );

/** The atoms that were true in a view in one of the states and not in a later one. */
function everLost(states: readonly Knowledge[], views: readonly ModelView[]): Set<string> {
  const lost = new Set<string>();
  for (const view of views) {
    const held = new Set<string>();
    for (const state of states) {
      const { heights } = modelOf(state, view);
      for (const atom of held) if (!heights.has(atom)) lost.add(atom);
      for (const atom of heights.keys()) held.add(atom);
    }
  }
  return lost;
}

for (const name of ['absence', 'groups', 'rich', 'time'])
  test(`publishes what several changes withdrew, whatever is asked meanwhile (${name})`, {
    timeout: 3_600_000,
  }, () => {
    const flavour = flavours[name] as Flavour;
    return overSeeds({ name: `events meanwhile ${name}`, few: 1, many: 500 }, async (seed) => {
      const prng = new Prng(seed);
      const start = randomCase(prng, flavour);
      const time = vi.spyOn(performance, 'now').mockImplementation(restlessTime(seed));
      const twin = await Twin.open(start, randomPause(new Prng(seed + 1)));
      const seen: Change[] = [];
      const stop = twin.engine.subscribe((change) => seen.push(change));
      const views = allViews(start.vocabulary.scopes);
      const ask = async (): Promise<Known> => {
        const view: ModelView = flavour.scopes ? randomView(prng, start.vocabulary) : { kind: 'all' };
        const asked: Literal = { ...randomQuestion(prng, start.vocabulary, flavour), naf: false };
        const { results } = await twin.ask([asked], view);
        return { view, atoms: new Set(results) };
      };
      try {
        const states = [twin.knowledge()];
        for (let round = 0; round < 4; round++) {
          const known = [await ask(), await ask(), await ask()];
          const told = seen.length;
          const first = twin.knowledge();
          const questions = Promise.all([ask(), ask(), ask()]);
          for (let index = 0; index < 3; index++) {
            const update = randomUpdate(prng, start.vocabulary, flavour, twin.current);
            if (!['assert', 'retract', 'time'].includes(update.kind)) continue;
            await twin.apply(update);
            await twin.engine.query(fuzzCaller, queryInputSchema.parse({ predicate: 'p0', args: [] }));
            states.push(twin.knowledge());
          }
          await questions;
          const last = twin.knowledge();
          const stored = storedThatWent(first, last);
          for (const each of states) for (const atom of storedThatWent(each, last)) stored.add(atom);
          const missing = (): string[] => {
            const atoms = new Set(seen.slice(told).map(({ data }) => data.atom));
            return known.flatMap(({ view, atoms: answers }) => {
              const { heights } = modelOf(last, view);
              return [...answers].filter(
                (atom) => !heights.has(atom) && !stored.has(atom) && !atoms.has(atom),
              );
            });
          };
          const isReset = (): boolean => seen.slice(told).some(({ kind }) => kind === 'reset');
          for (let waited = 0; waited < longestMs && missing().length > 0 && !isReset(); waited++)
            await sleep(1);
          if (!isReset()) expect(missing(), 'answers that were withdrawn').toEqual([]);
        }
        await sleep(quietMs);
        const lost = everLost(states, views);
        for (const { kind, data } of seen)
          if (kind === 'conclusion.withdrawn') expect(lost, 'published').toContain(data.atom);
        expect(new Set(seen.map(({ id }) => id)).size, 'ids given once').toBe(seen.length);
      } finally {
        time.mockRestore();
        stop();
        await twin.engine.close();
      }
    });
  });
