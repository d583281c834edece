import { expect, test, vi } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { Intersections } from '../datalog/join/intersection-step.ts';
import { retractPatternInputSchema } from '../contract/facts.ts';
import type { Answer } from '../contract/inference.ts';
import type { Literal } from '../contract/language.ts';
import { renderAtom, renderLiteral } from '../language/print.ts';
import { aggregateCase } from '../testing/aggregate-cases.ts';
import { closureCase } from '../testing/closure-cases.ts';
import { cycleCase, derivedCycleCase } from '../testing/cycle-cases.ts';
import {
  factIdentity,
  type Flavour,
  plainFlavour,
  type RandomCase,
  randomBody,
  randomCase,
  randomQuestion,
  randomUpdate,
  randomView,
  richFlavour,
  type Vocabulary,
} from '../testing/generators.ts';
import {
  type Knowledge,
  modelOf,
  type ModelFact,
  type ModelView,
  type NaiveModel,
} from '../testing/naive-model.ts';
import { randomPause } from '../testing/random-pause.ts';
import { expectAnswer, fuzzCaller, overSeeds, Twin, viewFields } from '../testing/twin.ts';

/** The engine against the naive model: random knowledge, random streams of updates, questions between any two. */

const flavours: Record<string, Flavour> = {
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true },
  groups: { ...plainFlavour, aggregates: true, comparisons: true },
  rich: richFlavour,
  plain: plainFlavour,
  joins: { ...plainFlavour, facts: 30, rules: 8, relations: 4, constants: 4 },
  signs: { ...plainFlavour, negation: true, comparisons: true, disabledRules: true },
  scopes: { ...plainFlavour, negation: true, comparisons: true, scopes: true, disabledRules: true },
  time: {
    ...plainFlavour,
    negation: true,
    comparisons: true,
    scopes: true,
    validity: true,
    disabledRules: true,
  },
  steady: {
    ...plainFlavour,
    relations: 6,
    rules: 10,
    maxArity: 2,
    defaultNegation: true,
    aggregates: true,
    layered: true,
    steadyRules: true,
  },
};

const timeout = 3_600_000;

interface Asked {
  readonly body: readonly Literal[];
  readonly view: ModelView;
}

function randomAsked(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): Asked {
  const view: ModelView = flavour.scopes ? randomView(prng, vocabulary) : { kind: 'all' };
  const body = prng.chance(0.75)
    ? [{ ...randomQuestion(prng, vocabulary, flavour), naf: false }]
    : randomBody(prng, vocabulary, flavour);
  return { body, view };
}

/** The models of one state, each built when first needed. */
function modelsOf(knowledge: Knowledge): (view: ModelView) => NaiveModel {
  const models = new Map<string, NaiveModel>();
  return (view) => {
    const key = JSON.stringify(view);
    const model = models.get(key) ?? modelOf(knowledge, view);
    models.set(key, model);
    return model;
  };
}

async function askAndCompare(
  twin: Twin,
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  count: number,
): Promise<void> {
  const modelIn = modelsOf(twin.knowledge());
  for (let index = 0; index < count; index++) {
    const { body, view } = randomAsked(prng, vocabulary, flavour);
    expectAnswer(await twin.ask(body, view), body, view, modelIn(view));
  }
}

/** Questions to a case generated from the seed, again after each of some updates. */
async function updateAndAsk(
  seed: number,
  flavour: Flavour,
  makeCase: (prng: Prng, flavour: Flavour) => RandomCase,
): Promise<void> {
  const prng = new Prng(seed);
  const start = makeCase(prng, flavour);
  const twin = await Twin.open(start, randomPause(new Prng(seed + 1)));
  try {
    await askAndCompare(twin, prng, start.vocabulary, flavour, 6);
    for (let index = 0; index < 12; index++) {
      await twin.apply(randomUpdate(prng, start.vocabulary, flavour, twin.current));
      await askAndCompare(twin, prng, start.vocabulary, flavour, 2);
    }
  } finally {
    await twin.engine.close();
  }
}

for (const [name, flavour] of Object.entries(flavours))
  test(`returns the answers and proofs of the naive model after any updates (${name})`, { timeout }, () =>
    overSeeds({ name, few: 2, many: 4000 }, (seed) => updateAndAsk(seed, flavour, randomCase)),
  );

for (const scopes of [false, true]) {
  const name = `bitset relations, ${scopes ? 'views' : 'one view'}`;
  test(`returns the answers of the naive model if tables are ${name}`, { timeout }, () =>
    overSeeds({ name, few: 2, many: 3000 }, (seed) => {
      const views = { scopes, validity: scopes, steadyRules: seed % 2 === 0 };
      return updateAndAsk(seed, { ...plainFlavour, facts: 14, maxArity: 2, ...views }, closureCase);
    }),
  );
}

for (const [sides, makeCase, scopes] of [
  ['stored sides', cycleCase, false],
  ['stored sides', cycleCase, true],
  ['derived sides', derivedCycleCase, false],
  ['derived sides', derivedCycleCase, true],
] as const) {
  const name = `bodies with cycles of ${sides}, ${scopes ? 'views' : 'one view'}`;
  test(`returns the answers of the naive model if rules have ${name}`, { timeout }, async () => {
    // Small joins intersect sorted runs too.
    const spy = vi.spyOn(Intersections.prototype, 'outweigh').mockReturnValue(true);
    try {
      await overSeeds({ name, few: 3, many: 3000 }, (seed) => {
        const views = { scopes, validity: scopes, steadyRules: seed % 2 === 0 };
        return updateAndAsk(seed, { ...plainFlavour, facts: 40, constants: 3, ...views }, makeCase);
      });
    } finally {
      spy.mockRestore();
    }
  });
}

for (const [name, scopes] of [
  ['aggregates of atoms', false],
  ['aggregates of atoms in views', true],
] as const) {
  test(`returns the answers of the naive model if rules are ${name}`, { timeout }, () =>
    overSeeds({ name, few: 3, many: 2000 }, (seed) => {
      const views = { scopes, validity: scopes, steadyRules: seed % 2 === 0 };
      return updateAndAsk(seed, { ...plainFlavour, facts: 24, maxArity: 2, ...views }, aggregateCase);
    }),
  );
}

/** A clock for slices on which any check may be the last of its slice. */
function restlessTime(seed: number): () => number {
  const prng = new Prng(seed);
  let now = 0;
  return () => (now += prng.chance(0.2) ? 6 : 0);
}

/** Questions one after the other while updates are made; each with its answer. */
async function askMeanwhile(
  twin: Twin,
  questions: readonly Asked[],
): Promise<{ readonly asked: Asked; readonly answer: Answer }[]> {
  const found: { asked: Asked; answer: Answer }[] = [];
  for (const asked of questions) found.push({ asked, answer: await twin.ask(asked.body, asked.view) });
  return found;
}

/** Makes random updates except those of time, and records what was known from which generation on. */
async function updateMeanwhile(
  twin: Twin,
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  states: Map<number, Knowledge>,
): Promise<void> {
  for (let index = 0; index < 4; index++) {
    const update = randomUpdate(prng, vocabulary, flavour, twin.current);
    if (update.kind === 'time') continue;
    await twin.apply(update);
    const { generation } = await twin.ask([{ predicate: 'p0', args: [], negated: false, naf: false }], {
      kind: 'all',
    });
    states.set(generation, twin.knowledge());
  }
}

for (const name of ['joins', 'rich', 'scopes', 'absence', 'numbers', 'steady'])
  test(`answers as of the generation it names, whatever is written meanwhile (${name})`, {
    timeout,
  }, () => {
    const flavour = flavours[name] as Flavour;
    return overSeeds({ name, few: 2, many: 1000 }, async (seed) => {
      const prng = new Prng(seed);
      const start = randomCase(prng, flavour);
      const time = vi.spyOn(performance, 'now').mockImplementation(restlessTime(seed));
      const twin = await Twin.open(start, randomPause(new Prng(seed + 1)));
      try {
        const states = new Map<number, Knowledge>([[0, twin.knowledge()]]);
        for (let round = 0; round < 3; round++) {
          const lanes = [3, 2, 2].map((count) =>
            Array.from({ length: count }, () => randomAsked(prng, start.vocabulary, flavour)),
          );
          const [, ...answered] = await Promise.all([
            updateMeanwhile(twin, prng, start.vocabulary, flavour, states),
            ...lanes.map((questions) => askMeanwhile(twin, questions)),
          ]);
          for (const { asked, answer } of answered.flat()) {
            const known = [...states.keys()].filter((generation) => generation <= answer.generation);
            const knowledge = states.get(Math.max(...known)) as Knowledge;
            expectAnswer(answer, asked.body, asked.view, modelOf(knowledge, asked.view));
          }
        }
      } finally {
        time.mockRestore();
        await twin.engine.close();
      }
    });
  });

/** The pattern of a retraction: made from a stored fact, or from none. */
interface Retraction {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean | null;
  readonly view: ModelView;
}

function randomRetraction(
  prng: Prng,
  vocabulary: Vocabulary,
  flavour: Flavour,
  stored: ModelFact[],
): Retraction {
  const fact = prng.pick(stored);
  const args = fact.args.map((arg) => (prng.chance(0.25) ? prng.pick(['?x', '?y', '?_']) : arg));
  const view = flavour.scopes ? randomView(prng, vocabulary) : ({ kind: 'all' } as const);
  return { predicate: fact.predicate, args, truthVal: prng.chance(0.5) ? fact.truthVal : null, view };
}

/** The stored facts that the retraction removes: those that have not expired. */
function taken({ predicate, args, truthVal, view }: Retraction, { facts, time }: Knowledge): ModelFact[] {
  return facts.filter((fact) => {
    if (fact.predicate !== predicate || fact.args.length !== args.length) return false;
    if (truthVal !== null && fact.truthVal !== truthVal) return false;
    if (fact.validUntil !== null && fact.validUntil <= time) return false;
    if (view.kind !== 'all' && fact.scope !== (view.kind === 'scope' ? view.scope : null)) return false;
    const bound = new Map<string, string>();
    return args.every((term, at) => {
      const constant = fact.args[at] as string;
      if (!term.startsWith('?') || term === '?_') return term === '?_' || term === constant;
      const before = bound.get(term);
      bound.set(term, before ?? constant);
      return before === undefined || before === constant;
    });
  });
}

function viewsSeeing(facts: readonly ModelFact[]): ModelView[] {
  const scopes = new Set(facts.map(({ scope }) => scope));
  return [
    { kind: 'all' },
    ...[...scopes].map(
      (scope): ModelView => (scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope }),
    ),
  ];
}

function atomOf({ predicate, args, truthVal }: ModelFact): string {
  return renderAtom({ predicate, args: [...args], negated: !truthVal });
}

/** Atoms that were true in one of the views before and no longer are, except those retracted. */
function withdrawn(
  before: Knowledge,
  after: Knowledge,
  gone: readonly ModelFact[],
  views: readonly ModelView[],
): Set<string> {
  const found = new Set<string>();
  for (const view of views) {
    const left = modelOf(after, view).heights;
    for (const atom of modelOf(before, view).heights.keys()) if (!left.has(atom)) found.add(atom);
  }
  for (const fact of gone) found.delete(atomOf(fact));
  return found;
}

/**
 * Retracts for real and in a dry run, and compares the dependents. `asked` are answers to questions of one atom in the
 * view of everything.
 */
async function retractAndCompare(twin: Twin, retraction: Retraction, asked: Set<string>): Promise<void> {
  const { view, ...pattern } = retraction;
  const before = twin.knowledge();
  const gone = taken(retraction, before);
  for (const fact of gone) twin.current.facts.delete(factIdentity(fact));
  const lost = withdrawn(before, twin.knowledge(), gone, viewsSeeing(gone));
  const lostOfEverything = withdrawn(before, twin.knowledge(), gone, [{ kind: 'all' }]);
  const about = `${JSON.stringify(retraction)}`;
  const forget = (ways: { dependents: 'all' | 'known'; dryRun?: boolean }) =>
    twin.engine.forgetPattern(
      fuzzCaller,
      retractPatternInputSchema.parse({ ...pattern, ...viewFields(view), timeoutMs: 600_000, ...ways }),
    );
  const tried = await forget({ dependents: 'known', dryRun: true });
  const known = new Set(tried.dependents);
  expect(tried, about).toMatchObject({ retracted: gone.length, dependentsComplete: true });
  expect(
    [...known].filter((atom) => !lost.has(atom)),
    `known dependents of ${about}`,
  ).toEqual([]);
  const missing = [...lostOfEverything].filter((atom) => asked.has(atom) && !known.has(atom));
  if (lost.size <= 100) expect(missing, `dependents of ${about} that had been answers`).toEqual([]);
  const all = [...lost].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const expected = { dependents: all.slice(0, 100), dependentsCount: all.length, dependentsComplete: true };
  const status = gone.length > 0 ? 'retracted' : 'absent';
  expect(await forget({ dependents: 'all', dryRun: true }), `dry run: ${about}`).toMatchObject({
    ...expected,
    status,
  });
  expect(await forget({ dependents: 'all' }), about).toMatchObject({ ...expected, status });
  for (const atom of lost) asked.delete(atom);
}

for (const name of ['plain', 'rich', 'scopes', 'time', 'absence', 'numbers', 'groups', 'steady'])
  test(`reports as dependents what was true before a retraction and no longer is (${name})`, {
    timeout,
  }, () => {
    const flavour = flavours[name] as Flavour;
    return overSeeds({ name, few: 2, many: 1000 }, async (seed) => {
      const prng = new Prng(seed);
      const start = randomCase(prng, flavour);
      const twin = await Twin.open(start, randomPause(new Prng(seed + 1)));
      const asked = new Set<string>();
      try {
        for (let round = 0; round < 5; round++) {
          for (let index = 0; index < 3; index++) {
            const { body, view } = randomAsked(prng, start.vocabulary, flavour);
            const { results } = await twin.ask(body, view);
            const isAtom = body.length === 1 && renderLiteral(body[0] as Literal).startsWith('p');
            if (isAtom && view.kind === 'all') for (const result of results) asked.add(result);
          }
          const { facts } = twin.knowledge();
          if (facts.length > 0)
            await retractAndCompare(
              twin,
              randomRetraction(prng, start.vocabulary, flavour, [...facts]),
              asked,
            );
          const update = randomUpdate(prng, start.vocabulary, flavour, twin.current);
          await twin.apply(update);
          // A change of rules resets what is known, and what is withdrawn is no longer known.
          const isOfRules = !['assert', 'retract', 'time'].includes(update.kind);
          const { heights } = modelOf(twin.knowledge(), { kind: 'all' });
          for (const atom of asked) if (isOfRules || !heights.has(atom)) asked.delete(atom);
        }
      } finally {
        await twin.engine.close();
      }
    });
  });
