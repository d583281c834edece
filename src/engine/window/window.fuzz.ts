import { expect, test, vi } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from '../testing/prng.ts';
import { compareText } from '../base/text-order.ts';
import { type ContextWindow, type OptimizeInput, optimizeInputSchema } from '../contract/context.ts';
import { factSchema, queryInputSchema } from '../contract/facts.ts';
import { ruleInputSchema } from '../contract/rules.ts';
import type { Engine } from '../operations/engine.ts';
import { parseRule } from '../language/parse.ts';
import { renderAtom } from '../language/print.ts';
import { openEngine } from '../open-engine.ts';
import { day, startTime } from '../testing/engine-fixtures.ts';
import {
  type Flavour,
  plainFlavour,
  randomCase,
  randomQuestion,
  randomView,
  richFlavour,
  type Vocabulary,
} from '../testing/generators.ts';
import { modelOf, type ModelRule } from '../testing/naive-model.ts';
import { fuzzCaller, overSeeds, viewFields } from '../testing/twin.ts';
import {
  type ModelWindow,
  type UsedFact,
  type WindowKnowledge,
  windowModel,
} from '../testing/window-model.ts';

/**
 * Context windows against a model of the whole section, computed by brute force: random knowledge in scopes, with
 * validity, contradictions and uses; random goals, budgets, caps, buckets and filters.
 */

const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  ways: { ...plainFlavour, facts: 16, rules: 9, relations: 5, constants: 3, maxArity: 2, negation: true },
  joins: { ...plainFlavour, facts: 14, rules: 6, relations: 4, constants: 4 },
  contradictions: { ...plainFlavour, negation: true, facts: 20, relations: 4, rules: 6 },
  scopes: { ...plainFlavour, negation: true, scopes: true, disabledRules: true, facts: 16 },
  time: { ...plainFlavour, negation: true, scopes: true, validity: true, facts: 30 },
  groups: { ...plainFlavour, aggregates: true, comparisons: true, negation: true, facts: 16 },
  rich: { ...richFlavour, facts: 24, rules: 7 },
};

interface World {
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly knowledge: WindowKnowledge;
}

/** Instants of validity are days after the start; facts are told in the month before it. */
async function openWorld(
  prng: Prng,
  facts: ReturnType<typeof randomCase>['facts'],
  rules: readonly ModelRule[],
): Promise<World> {
  const clock = new ManualClock(startTime - 31 * day);
  const onBug = (error: unknown): void => {
    throw error;
  };
  const engine = await openEngine({ storageDir: null, clock, onBug });
  const told: UsedFact[] = [];
  for (const fact of facts) {
    if (prng.chance(0.5)) clock.advance(prng.below(2 * day));
    const at = (moment: number | null): number | null => (moment === null ? null : startTime + moment * day);
    const [validFrom, validUntil] = [at(fact.validFrom), at(fact.validUntil)];
    const importance = prng.chance(0.2) ? prng.below(5) / 4 : null;
    const confidence = prng.chance(0.2) ? prng.below(5) / 4 : null;
    const metadata = {
      ...(importance === null ? {} : { importance }),
      ...(confidence === null ? {} : { confidence }),
    };
    const input = factSchema.parse({ ...fact, args: [...fact.args], validFrom, validUntil, metadata });
    await engine.tell(fuzzCaller, { ...input, ifGeneration: null });
    const uses = [clock.now()];
    told.push({ ...fact, validFrom, validUntil, importance, confidence, uses, number: told.length });
  }
  clock.set(startTime + prng.below(6) * day);
  const kept = new Map<string, ModelRule>();
  for (const { rule, scope, enabled } of rules) {
    const { id } = await engine.teach(fuzzCaller, ruleInputSchema.parse({ ...rule, scope, enabled }));
    // A rule taught twice is stored once, as it was written first.
    kept.set(id, { rule: kept.get(id)?.rule ?? rule, scope, enabled });
  }
  const used: UsedFact[] = [];
  for (const fact of told) used.push(await usedPerhaps(prng, engine, clock, fact));
  if (prng.chance(0.3)) clock.advance(prng.below(day));
  return { engine, clock, knowledge: { facts: used, rules: [...kept.values()], time: clock.now() } };
}

async function usedPerhaps(
  prng: Prng,
  engine: Engine,
  clock: ManualClock,
  fact: UsedFact,
): Promise<UsedFact> {
  const now = clock.now();
  const isVisible = (fact.validFrom ?? -Infinity) <= now && (fact.validUntil ?? Infinity) > now;
  if (!isVisible || !prng.chance(0.2)) return fact;
  const { predicate, args, truthVal, scope } = fact;
  const where = scope === null ? { unscoped: true } : { scope };
  await engine.query(fuzzCaller, queryInputSchema.parse({ predicate, args: [...args], truthVal, ...where }));
  return { ...fact, uses: [...fact.uses, now] };
}

/** A request whose goals have proofs that do not fit. */
function tightInput(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): OptimizeInput {
  const names = [...new Set(vocabulary.relations.map(({ predicate }) => predicate))];
  const goals = Array.from({ length: 1 + prng.below(2) }, () => randomQuestion(prng, vocabulary, flavour));
  const wanted = new Set([
    ...goals.map(({ predicate }) => predicate),
    ...names.filter(() => prng.chance(0.7)),
  ]);
  return optimizeInputSchema.parse({
    maxFacts: 3 + prng.below(5),
    maxChars: prng.chance(0.3) ? 20 + prng.below(60) : null,
    goals,
    relevanceBuckets: prng.chance(0.2) ? [{ name: 'b', predicates: [prng.pick(names)] }] : null,
    predicates: prng.chance(0.4) ? [...wanted] : null,
    maxFactsPerPredicate: prng.chance(0.5) ? 1 + prng.below(3) : null,
    explainOmitted: true,
    proofs: prng.pick(['auto', 'premises', 'whole']),
    timeoutMs: 600_000,
    ...viewFields(flavour.scopes ? randomView(prng, vocabulary) : { kind: 'all' }),
  });
}

function randomInput(prng: Prng, vocabulary: Vocabulary, flavour: Flavour): OptimizeInput {
  if (prng.chance(0.5)) return tightInput(prng, vocabulary, flavour);
  const names = [...new Set(vocabulary.relations.map(({ predicate }) => predicate))];
  const some = (): string[] => {
    const picked = names.filter(() => prng.chance(0.5));
    return picked.length === 0 ? [prng.pick(names)] : picked;
  };
  const goals = Array.from({ length: prng.below(3) }, () => randomQuestion(prng, vocabulary, flavour));
  const buckets = Array.from({ length: 1 + prng.below(3) }, (_, at) => ({
    name: `b${at}`,
    predicates: some(),
    weight: prng.chance(0.5) ? 1 + prng.below(4) : null,
    maxFacts: prng.chance(0.3) ? 1 + prng.below(4) : null,
  }));
  return optimizeInputSchema.parse({
    maxFacts: prng.chance(0.7) ? 1 + prng.below(12) : null,
    maxChars: prng.chance(0.3) ? 1 + prng.below(80) : null,
    goals: prng.chance(0.75) ? goals : null,
    relevanceBuckets: prng.chance(0.3) ? buckets : null,
    predicates: prng.chance(0.2) ? some() : null,
    maxFactsPerPredicate: prng.chance(0.25) ? 1 + prng.below(4) : null,
    includeInferred: prng.chance(0.4),
    autoResolveContradictions: prng.chance(0.8),
    explainOmitted: true,
    proofs: prng.pick(['auto', 'premises', 'whole']),
    timeoutMs: 600_000,
    ...viewFields(flavour.scopes ? randomView(prng, vocabulary) : { kind: 'all' }),
  });
}

/** The window of the model, which does not define the order of a goal's entries. */
function comparable(window: ContextWindow): ModelWindow {
  const entries = window.entries.map((entry) => {
    const { scope, salience, category, provenance } = entry;
    return { atom: renderAtom(entry), scope, salience, category, provenance };
  });
  const contradictions = window.contradictions.map(
    ({ predicate, args, positiveSalience, negativeSalience }) => ({
      atom: renderAtom({ predicate, args, negated: false }),
      positiveSalience,
      negativeSalience,
    }),
  );
  const {
    goals,
    relevantRules,
    totalTokenCount,
    totalFactsAvailable,
    deduplicationSavings,
    bucketStats,
    omitted = [],
  } = window;
  const counts = { totalTokenCount, totalFactsAvailable, deduplicationSavings, bucketStats };
  return inOrder({ entries, goals, relevantRules, ...counts, contradictions, omitted });
}

/** The window's entries for a goal follow from the window and its rules alone. */
function expectProved({ entries, relevantRules }: ContextWindow): void {
  const ofGoals = entries.filter(({ category }) => category === 'goal_relevant');
  const stored = ofGoals.filter(({ provenance }) => provenance === null);
  const rules = relevantRules.map((text) => ({ rule: parseRule(text), scope: null, enabled: true }));
  const facts = stored.map(({ predicate, args, negated }) => ({
    predicate,
    args,
    truthVal: !negated,
    scope: null,
    validFrom: null,
    validUntil: null,
  }));
  const model = modelOf({ facts, rules, time: 0 }, { kind: 'all' });
  for (const entry of ofGoals) expect(model.holds(entry), `${renderAtom(entry)} is proved`).toBe(true);
}

function inOrder(window: ModelWindow): ModelWindow {
  const goals = window.entries.filter(({ category }) => category === 'goal_relevant');
  const others = window.entries.slice(goals.length);
  goals.sort((left, right) => compareText(left.atom, right.atom));
  const omitted = [...window.omitted].sort(
    (left, right) =>
      right.salience - left.salience ||
      compareText(left.atom, right.atom) ||
      compareText(left.reason, right.reason),
  );
  return { ...window, entries: [...goals, ...others], omitted };
}

for (const [name, flavour] of Object.entries(flavours))
  test(
    `returns the window of the naive model, and the entries for its goals follow from it alone (${name})`,
    { timeout: 3_600_000 },
    () => overSeeds({ name, few: 7, many: 3000 }, (seed) => expectWindowsOfModel(flavour, seed, true)),
  );

/** Random windows of one random knowledge. `limitsTokens`: of some. */
async function expectWindowsOfModel(flavour: Flavour, seed: number, limitsTokens: boolean): Promise<void> {
  const prng = new Prng(seed);
  const ofTokens = new Prng(seed + 0x10000);
  const { vocabulary, facts, rules } = randomCase(prng, flavour);
  const world = await openWorld(prng, facts, rules);
  try {
    for (let index = 0; index < 6; index++) {
      const maxTokens = limitsTokens && ofTokens.chance(0.25) ? 1 + ofTokens.below(80) : null;
      const input = { ...randomInput(prng, vocabulary, flavour), maxTokens };
      let wanted: ModelWindow;
      try {
        wanted = windowModel(world.knowledge, input);
      } catch (error) {
        if ((error as Error).message.startsWith('the model has more than')) continue;
        throw error;
      }
      const window = await world.engine.optimizeContext(fuzzCaller, input);
      if (!flavour.defaultNegation && !flavour.aggregates) expectProved(window);
      expect(comparable(window), `window ${index}: ${JSON.stringify(input)}`).toEqual(inOrder(wanted));
    }
  } finally {
    await world.engine.close();
  }
}

test('what a proof in the window proves needs no proof in the next one (a kept case)', () =>
  expectWindowsOfModel(flavours['groups'] as Flavour, 251, false));

/** A clock for slices on which any check may be the last of its slice. */
function restlessTime(seed: number): () => number {
  const prng = new Prng(seed);
  let now = 0;
  return () => (now += prng.chance(0.1) ? 6 : 0);
}

test('reads one generation, whatever is written meanwhile', { timeout: 3_600_000 }, () =>
  overSeeds({ name: 'meanwhile', few: 8, many: 1000 }, async (seed) => {
    const prng = new Prng(seed);
    const flavour = flavours['contradictions'] as Flavour;
    const { vocabulary, facts, rules } = randomCase(prng, flavour);
    const time = vi.spyOn(performance, 'now').mockImplementation(restlessTime(seed));
    const [before, later] = [facts.slice(0, -5), facts.slice(-5)];
    const { engine, clock, knowledge } = await openWorld(prng, before, rules);
    try {
      const states = new Map<number, WindowKnowledge>();
      const inputs = Array.from({ length: 4 }, () => randomInput(prng, vocabulary, flavour));
      let known = knowledge;
      const { knowledgeGeneration } = await engine.optimizeContext(fuzzCaller, optimizeInputSchema.parse({}));
      states.set(knowledgeGeneration, known);
      const writing = async (): Promise<void> => {
        for (const fact of later) {
          const input = factSchema.parse({ ...fact, args: [...fact.args] });
          const { generation } = await engine.tell(fuzzCaller, { ...input, ifGeneration: null });
          const fields = {
            importance: null,
            confidence: null,
            uses: [clock.now()],
            number: 1000 + generation,
          };
          known = { ...known, facts: [...known.facts, { ...fact, ...fields }] };
          states.set(generation, known);
        }
      };
      const asking = Promise.all(inputs.map((input) => engine.optimizeContext(fuzzCaller, input)));
      const [windows] = await Promise.all([asking, writing()]);
      for (const [at, window] of windows.entries()) {
        const state = states.get(window.knowledgeGeneration);
        expect(state).toBeDefined();
        const wanted = windowModel(state as WindowKnowledge, inputs[at] as OptimizeInput);
        expect(comparable(window), JSON.stringify(inputs[at])).toEqual(inOrder(wanted));
      }
    } finally {
      time.mockRestore();
      await engine.close();
    }
  }),
);
