/** The engines of the benchmark: one that selects, one that knows the truth, one that judges a selection on its own. */
import { type Caller, type Engine, openEngine, renderAtom } from '../../src/engine/index.ts';
import { optimizeInputSchema } from '../../src/engine/contract/context.ts';
import { caller, fact } from '../calls.ts';
import { type Knowledge, shuffled, type StoredAtom } from './knowledge.ts';
import type { Candidate } from './selections.ts';

export function callerOf(tenant: string): Caller {
  return { ...caller, tenant };
}

const hour = 3_600_000;

/** A clock that is advanced by hand, so that facts have ages. */
class Ages {
  time = Date.UTC(2026, 0, 1);
  now(): number {
    return this.time;
  }

  monotonic(): number {
    return this.time;
  }
}

const factOf = ({ predicate, args }: StoredAtom) => fact(predicate, args);

function patternOf({ predicate, args }: StoredAtom) {
  return {
    predicate,
    args: [...args],
    body: null,
    text: null,
    negated: false,
    scope: null,
    unscoped: false,
    withProof: false,
    allProofs: false,
    limit: null,
    offset: 0,
    timeoutMs: 60_000,
    maxDerivations: 100_000_000,
  };
}

async function teachAll(engine: Engine, rules: readonly string[]): Promise<void> {
  for (const text of rules)
    await engine.teach(callerOf('default'), {
      text,
      head: null,
      body: null,
      scope: null,
      unscoped: false,
      name: null,
      description: null,
      enabled: null,
    });
}

/**
 * An engine in memory that knows everything: told in random order over forty hours, then asked at random, so that facts
 * differ in age and in use.
 */
export async function knowing(
  knowledge: Knowledge,
  facts: readonly StoredAtom[],
  seed: number,
): Promise<Engine> {
  const clock = new Ages();
  const engine = await openEngine({ storageDir: null, clock });
  await teachAll(engine, knowledge.rules);
  const mixed = shuffled(facts, seed);
  const part = Math.ceil(mixed.length / 40);
  for (let from = 0; from < mixed.length; from += part) {
    await engine.tellAll(callerOf('default'), mixed.slice(from, from + part).map(factOf));
    clock.time += hour;
  }
  for (const { predicate, args } of shuffled(facts, seed + 1).slice(0, 300)) {
    await engine.query(callerOf('default'), {
      predicate,
      args: args.map((arg, at) => (at === 0 ? arg : `?v${at}`)),
      scope: null,
      unscoped: false,
      truthVal: null,
      limit: null,
      offset: 0,
    });
    clock.time += hour / 60;
  }
  return engine;
}

/** An engine in memory that was told these facts in order, a minute for every twenty. */
export async function remembering(
  facts: readonly StoredAtom[],
  rules: readonly string[] = [],
): Promise<Engine> {
  const clock = new Ages();
  const engine = await openEngine({ storageDir: null, clock });
  await teachAll(engine, rules);
  for (let from = 0; from < facts.length; from += 20) {
    await engine.tellAll(callerOf('default'), facts.slice(from, from + 20).map(factOf));
    clock.time += hour / 60;
  }
  return engine;
}

/** All stored facts, as the ways that a window is compared with see them. */
export async function candidatesOf(engine: Engine): Promise<Candidate[]> {
  const { facts } = await engine.recall(callerOf('default'), {
    maxFacts: 100_000,
    maxTokens: null,
    minSalience: 0,
    predicates: null,
    query: null,
    scope: null,
    unscoped: false,
    includeInferred: false,
    format: 'json',
    timeoutMs: 60_000,
  });
  return facts.map(({ predicate, args, createdAt, salience }) => ({
    predicate,
    args,
    createdAt,
    salience,
    rendered: rendered({ predicate, args }),
  }));
}

/** The stored facts of a window by query, in its order. */
export async function windowByQuery(
  engine: Engine,
  query: string,
  budget: { readonly maxFacts?: number; readonly maxChars?: number },
): Promise<StoredAtom[]> {
  const input = optimizeInputSchema.parse({ query, timeoutMs: 60_000, ...budget });
  const { entries } = await engine.optimizeContext(callerOf('default'), input);
  return entries.filter(({ provenance }) => provenance === null);
}

export interface Case {
  readonly goal: StoredAtom;
  /** Atoms of the fact and rule steps of its canonical proof. */
  readonly proofAtoms: number;
  /** Its stored premises, rendered. */
  readonly gold: ReadonlySet<string>;
}

/** True goals, `count` of them over the requested predicates, each with the needs of its proof. */
export async function casesOf(
  engine: Engine,
  knowledge: Knowledge,
  count: number,
  seed: number,
): Promise<Case[]> {
  const cases: Case[] = [];
  const asker = callerOf('default');
  const each = Math.ceil(count / knowledge.goals.length);
  for (const { predicate, arity } of knowledge.goals) {
    const args = Array.from({ length: arity }, (_, at) => `?v${at}`);
    const { bindings } = await engine.ask(asker, patternOf({ predicate, args }));
    for (const binding of shuffled(bindings, seed).slice(0, each)) {
      const goal = { predicate, args: args.map((variable) => binding[variable.slice(1)] ?? '') };
      const { proof } = await engine.ask(asker, { ...patternOf(goal), withProof: true });
      const steps = proof?.steps ?? [];
      const atoms = (kinds: readonly string[]): Set<string> =>
        new Set(steps.filter(({ kind }) => kinds.includes(kind)).map((step) => step.atom));
      cases.push({ goal, proofAtoms: atoms(['fact', 'rule']).size, gold: atoms(['fact']) });
    }
  }
  return cases.slice(0, count);
}

/** Whether a goal can be derived from a selection of facts and all rules, and from nothing else. */
export class Judge {
  readonly #engine: Engine;
  #judged = 0;

  private constructor(engine: Engine) {
    this.#engine = engine;
  }

  static async of(knowledge: Knowledge): Promise<Judge> {
    const engine = await openEngine({ storageDir: null });
    await teachAll(engine, knowledge.rules);
    return new Judge(engine);
  }

  async derives(goal: StoredAtom, facts: readonly StoredAtom[]): Promise<boolean> {
    if (facts.length === 0) return false;
    const judged = callerOf(`case-${++this.#judged}`);
    await this.#engine.tellAll(judged, facts.map(factOf));
    const { count } = await this.#engine.ask(judged, patternOf(goal));
    await this.#engine.deleteTenant(judged, 'default', judged.tenant);
    return count > 0;
  }

  close(): Promise<void> {
    return this.#engine.close(0);
  }
}

export function rendered({ predicate, args }: StoredAtom): string {
  return renderAtom({ predicate, args: [...args], negated: false });
}
