import { expect, test } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import {
  constraintInputSchema,
  constraintUpdateSchema,
  type ConstraintViolation,
} from '../contract/constraints.ts';
import { violationsQuerySchema } from '../contract/violations.ts';
import { factSchema, retractPatternInputSchema } from '../contract/facts.ts';
import type { Literal } from '../contract/language.ts';
import { ruleInputSchema, ruleUpdateSchema } from '../contract/rules.ts';
import { boundByAtoms } from '../datalog/maintain/view-delta.ts';
import { renderBody, renderConstraint, ruleIdentity } from '../language/print.ts';
import { type StorageBackend, memoryBackend } from '../log/backend.ts';
import type { Engine } from '../operations/engine.ts';
import { openEngineOn } from '../open-engine.ts';
import {
  applyUpdate,
  type CurrentCase,
  type Flavour,
  plainFlavour,
  presentRules,
  randomBody,
  randomCase,
  type RandomCase,
  randomUpdate,
  type RandomUpdate,
  richFlavour,
} from '../testing/generators.ts';
import { testCaller } from '../testing/engine-fixtures.ts';
import { modelOf, type ModelFact, type ModelRule, type ModelView } from '../testing/naive-model.ts';
import { Prng } from '../testing/prng.ts';
import { overSeeds, viewFields } from '../testing/twin.ts';

/**
 * Random constraints, facts, rules, transactions, scopes and restarts, against a model that works out all violations from
 * nothing and decides what is refused.
 */

const flavours: Record<string, Flavour> = {
  plain: { ...plainFlavour, facts: 8 },
  absence: { ...plainFlavour, defaultNegation: true, negation: true, facts: 8 },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true, aggregates: true, facts: 8 },
  scopes: { ...plainFlavour, scopes: true, negation: true, defaultNegation: true, facts: 8 },
  // Without rules, single facts are judged by look-ups.
  stored: {
    ...plainFlavour,
    facts: 10,
    rules: 0,
    scopes: true,
    negation: true,
    defaultNegation: true,
    comparisons: true,
    arithmetic: true,
    steadyRules: true,
  },
  rich: { ...richFlavour, facts: 8, rules: 4 },
};

const caller: Caller = testCaller({ requestId: 'fuzz' });

interface ModelConstraint {
  readonly id: string;
  readonly body: readonly Literal[];
  readonly mode: 'warn' | 'reject';
  readonly scope: string | null;
}

interface ModelState extends CurrentCase {
  readonly constraints: readonly ModelConstraint[];
}

function copyOf({ facts, rules, time, constraints }: ModelState): ModelState {
  return { facts: new Map(facts), rules: [...rules], time, constraints };
}

function viewsOf(state: ModelState, { scope }: ModelConstraint): (string | null)[] {
  if (scope !== null) return [scope];
  const scopes = new Set<string | null>([null]);
  for (const fact of state.facts.values())
    if (fact.validUntil === null || fact.validUntil > state.time) scopes.add(fact.scope);
  for (const rule of presentRules(state)) if (rule.scope !== null) scopes.add(rule.scope);
  return [...scopes];
}

/** Every violation of the constraints, by a text that identifies it. */
function violationsIn(state: ModelState, isWanted: (each: ModelConstraint) => boolean): Set<string> {
  const found = new Set<string>();
  const { time } = state;
  const knowledge = { facts: [...state.facts.values()], rules: presentRules(state), time };
  for (const constraint of state.constraints.filter(isWanted))
    for (const scope of viewsOf(state, constraint)) {
      const view: ModelView = scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope };
      const names = [...boundByAtoms(constraint.body)].map((variable) => variable.slice(1));
      for (const { bindings } of modelOf(knowledge, view).answers(constraint.body))
        found.add(
          keyOf(
            constraint.id,
            scope,
            names.map((name) => [name, bindings[name] as string] as const),
          ),
        );
    }
  return found;
}

function keyOf(id: string, scope: string | null, bindings: readonly (readonly [string, string])[]): string {
  const sorted = [...bindings].sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([id, scope, sorted]);
}

function keyOfViolation({ constraint, scope, bindings }: ConstraintViolation): string {
  return keyOf(constraint, scope, Object.entries(bindings));
}

/** The violations of mode `reject` that the write would begin. */
function begun(before: ModelState, after: ModelState): string[] {
  const strict = new Set(after.constraints.filter(({ mode }) => mode === 'reject').map(({ id }) => id));
  const isStrict = ({ id }: ModelConstraint): boolean => strict.has(id);
  const then = violationsIn({ ...before, time: after.time }, isStrict);
  return [...violationsIn(after, isStrict)].filter((key) => !then.has(key)).sort();
}

/** `expect(got).toEqual(wanted)`, for methods. */
function expectSame(got: unknown, wanted: unknown, about = ''): void {
  expect(got, about).toEqual(wanted);
}

/** The engine beside the model. */
class Judged {
  state: ModelState;
  readonly #ids = new Map<object, string>();
  readonly #clock = new ManualClock(0);
  readonly #backend: StorageBackend = memoryBackend();
  #engine: Engine;
  refused = 0;

  private constructor(engine: Engine, state: ModelState) {
    this.#engine = engine;
    this.state = state;
  }

  static async open(start: RandomCase): Promise<Judged> {
    const judged = new Judged(null as unknown as Engine, {
      facts: new Map(),
      rules: [],
      time: 0,
      constraints: [],
    });
    await judged.#open();
    for (const fact of start.facts) await judged.update([{ kind: 'assert', fact }], false);
    for (const rule of start.rules) await judged.update([{ kind: 'addRule', rule }], false);
    return judged;
  }

  async #open(): Promise<void> {
    const onBug = (error: unknown): void => {
      throw error;
    };
    const opened = await openEngineOn(this.#backend, null, { clock: this.#clock, onBug });
    this.#engine = opened.engine;
  }

  async restart(): Promise<void> {
    await this.#engine.close();
    await this.#open();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async constrain(body: readonly Literal[], mode: 'warn' | 'reject', scope: string | null): Promise<void> {
    const text = renderConstraint(body);
    const input = constraintInputSchema.parse({ text, name: 'random', mode, scope });
    const { constraints } = this.state;
    const same = constraints.find((each) => each.scope === scope && renderConstraint(each.body) === text);
    if (same !== undefined) {
      // Added again it takes the mode, and what is violated already stays so.
      const { id } = await this.#engine.addConstraint(caller, input);
      expectSame(id, same.id);
      const changed = constraints.map((each) => (each === same ? { ...each, mode } : each));
      this.state = { ...this.state, constraints: changed };
      return;
    }
    const unknown = { id: 'new', body, mode, scope };
    const next = { ...this.state, constraints: [...this.state.constraints, unknown] };
    const wanted = begun(this.state, next);
    const outcome = await this.#expecting(wanted, () => this.#engine.addConstraint(caller, input), {
      new: null,
    });
    if (outcome === null) return;
    this.state = { ...this.state, constraints: [...this.state.constraints, { ...unknown, id: outcome.id }] };
  }

  async changeMode(prng: Prng): Promise<void> {
    const { constraints } = this.state;
    if (constraints.length === 0) return;
    const changed = prng.pick(constraints);
    if (prng.chance(0.3)) {
      await this.#engine.deleteConstraint(caller, changed.id);
      this.state = { ...this.state, constraints: constraints.filter((each) => each !== changed) };
      return;
    }
    const mode = changed.mode === 'warn' ? 'reject' : 'warn';
    // What is violated already stays so.
    await this.#engine.updateConstraint(caller, changed.id, constraintUpdateSchema.parse({ mode }));
    this.state = {
      ...this.state,
      constraints: constraints.map((each) => (each === changed ? { ...each, mode } : each)),
    };
  }

  /** Makes the changes in one write, or in one transaction. */
  async update(updates: readonly RandomUpdate[], asTransaction: boolean): Promise<void> {
    const next = copyOf(this.state);
    for (const update of updates) applyInModel(next, update);
    this.#clock.set(next.time);
    const wanted = begun(this.state, next);
    const { time } = next;
    const write = async (): Promise<true> => {
      if (asTransaction) await this.#commit(updates);
      else for (const update of updates) await this.#write(caller, update, this.#engine);
      return true;
    };
    const made = await this.#expecting(wanted, write, {});
    this.state = made === null ? { ...this.state, time } : next;
  }

  async #commit(updates: readonly RandomUpdate[]): Promise<void> {
    const { id } = await this.#engine.begin(caller);
    const inside = { ...caller, transaction: id };
    for (const update of updates) await this.#write(inside, update, this.#engine.within(inside) as never);
    await this.#engine.commit(caller, id, false);
  }

  async #write(who: Caller, update: RandomUpdate, engine: Engine): Promise<void> {
    const isInside = who.transaction !== null;
    const call = (
      name: 'tellAll' | 'forgetPattern' | 'teach' | 'forgetRule' | 'updateRule',
      ...rest: unknown[]
    ) =>
      isInside
        ? (engine[name === 'forgetPattern' ? 'forget' : name] as (...input: unknown[]) => Promise<unknown>)(
            ...rest,
          )
        : (engine[name] as (...input: unknown[]) => Promise<unknown>)(who, ...rest);
    switch (update.kind) {
      case 'time':
        return;
      case 'assert':
        await call('tellAll', [toInput(update.fact)]);
        return;
      case 'retract': {
        const { predicate, args, truthVal, scope } = update.fact;
        const where = viewFields(scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope });
        const fields = { predicate, args: [...args], truthVal, timeoutMs: 600_000, ...where };
        await call('forgetPattern', retractPatternInputSchema.parse(fields));
        return;
      }
      case 'addRule': {
        const { rule, scope, enabled } = update.rule;
        const taught = (await call('teach', ruleInputSchema.parse({ ...rule, scope, enabled }))) as {
          id: string;
        };
        this.#ids.set(rule, taught.id);
        return;
      }
      case 'removeRule':
        await call('forgetRule', this.#idOf(update.index));
        return;
      case 'enableRule':
        await call(
          'updateRule',
          this.#idOf(update.index),
          ruleUpdateSchema.parse({ enabled: update.enabled }),
        );
    }
  }

  #idOf(index: number): string {
    return this.#ids.get(this.state.rules[index]?.rule as object) as string;
  }

  /** Expects a refusal for exactly these violations, or none; null: refused. */
  async #expecting<Result>(
    wanted: readonly string[],
    write: () => Promise<Result>,
    renamed: { readonly new?: null },
  ): Promise<Result | null> {
    try {
      const result = await write();
      expectSame(wanted, [], 'violations that the write begins');
      return result;
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'ConstraintViolated') throw error;
      const found = error.members['violations'] as ConstraintViolation[];
      const keys = found.map((each) =>
        keyOfViolation(renamed.new === null ? { ...each, constraint: 'new' } : each),
      );
      expectSame(error.members['violationCount'], wanted.length);
      if (wanted.length <= 100) expectSame(keys.sort(), wanted, 'violations of the refusal');
      for (const each of found) expectProof(each);
      this.refused++;
      return null;
    }
  }

  /** Expects that what is violated now is what the model says. */
  async expectListed(): Promise<void> {
    const query = violationsQuerySchema.parse({ limit: '1000' });
    const { violations: listed, total } = await this.#engine.violations(caller, query);
    const violations = listed as ConstraintViolation[];
    const wanted = violationsIn(this.state, () => true);
    expectSame(total, wanted.size);
    expectSame(violations.map(keyOfViolation).sort(), [...wanted].sort().slice(0, 1000));
    for (const each of violations) expectProof(each);
  }
}

function expectProof({ proof, instance }: ConstraintViolation): void {
  const root = proof?.steps[proof.roots[0] ?? -1];
  expect(root?.atom).toBe(instance);
}

function toInput(fact: ModelFact) {
  return factSchema.parse({
    ...fact,
    args: [...fact.args],
    validFrom: fact.validFrom ?? 'always',
    validUntil: fact.validUntil ?? 'never',
  });
}

/** Like `applyUpdate`; a rule taught again is the rule that is there, with the given flag. */
function applyInModel(state: ModelState, update: RandomUpdate): void {
  if (update.kind === 'assert') {
    applyUpdate(state, update);
    return;
  }
  if (update.kind !== 'addRule') {
    applyUpdate(state, update);
    return;
  }
  const { rule, scope, enabled } = update.rule;
  const same = state.rules.findIndex(
    (each) => each !== null && each.scope === scope && ruleIdentity(each.rule) === ruleIdentity(rule),
  );
  if (same < 0) applyUpdate(state, update);
  else state.rules[same] = { ...(state.rules[same] as ModelRule), enabled };
}

/** Plays one case; returns how many writes were refused. */
async function play(flavour: Flavour, seed: number): Promise<number> {
  const prng = new Prng(seed);
  const start = randomCase(prng, flavour);
  const { vocabulary } = start;
  const judged = await Judged.open(start);
  try {
    for (let round = 0; round < 14; round++) {
      const about = `round ${round}`;
      try {
        await step(prng, judged, vocabulary, flavour);
        await judged.expectListed();
      } catch (error) {
        const texts = judged.state.constraints.map(
          ({ id, body, scope }) => `${id} ${scope} ${renderBody(body)}`,
        );
        (error as Error).message += ` (${about}: ${texts.join('; ')})`;
        throw error;
      }
    }
    return judged.refused;
  } finally {
    await judged.close();
  }
}

async function step(
  prng: Prng,
  judged: Judged,
  vocabulary: RandomCase['vocabulary'],
  flavour: Flavour,
): Promise<void> {
  const choice = prng.below(100);
  if (judged.state.constraints.length < 1 || choice < 15) {
    const scope = vocabulary.scopes.length > 0 && prng.chance(0.3) ? prng.pick(vocabulary.scopes) : null;
    const body = randomBody(prng, vocabulary, flavour);
    return judged.constrain(body, prng.chance(0.7) ? 'reject' : 'warn', scope);
  }
  if (choice < 25) return judged.changeMode(prng);
  if (choice < 30) return judged.restart();
  const count = choice < 60 ? 1 : 1 + prng.below(3);
  const updates: RandomUpdate[] = [];
  const next = copyOf(judged.state);
  while (updates.length < count) {
    const update = randomUpdate(prng, vocabulary, flavour, next);
    const isRule = !['assert', 'retract', 'time'].includes(update.kind);
    if (count > 1 && (isRule || update.kind === 'time')) continue;
    updates.push(update);
    applyInModel(next, update);
  }
  return judged.update(updates, count > 1);
}

const timeout = 3_600_000;

for (const [name, flavour] of Object.entries(flavours))
  test(`refuses what the model refuses, and lists what it lists (${name})`, { timeout }, async () => {
    let refusals = 0;
    await overSeeds({ name: `constraints ${name}`, few: 6, many: 1500 }, async (seed) => {
      refusals += await play(flavour, seed);
    });
    expect(refusals).toBeGreaterThan(0);
  });
