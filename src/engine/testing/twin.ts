/** The engine beside the knowledge of the naive model, kept in step: shared by the fuzz tests. */
import { expect } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { factSchema, retractPatternInputSchema } from '../contract/facts.ts';
import { type Answer, askInputSchema } from '../contract/inference.ts';
import type { Literal } from '../contract/language.ts';
import { ruleInputSchema, ruleUpdateSchema } from '../contract/rules.ts';
import type { Engine } from '../operations/engine.ts';
import { parseAtom } from '../language/parse.ts';
import { renderLiteral } from '../language/print.ts';
import { isBuiltin } from '../language/terms.ts';
import { openEngine } from '../open-engine.ts';
import type { EngineOptions } from '../open-part.ts';
import { testCaller } from './engine-fixtures.ts';
import {
  applyUpdate,
  type CurrentCase,
  presentRules,
  type RandomCase,
  type RandomUpdate,
  startCase,
} from './generators.ts';
import type { Knowledge, ModelFact, ModelRule, ModelView, NaiveModel } from './naive-model.ts';
import { ProofShapes } from './proof-shape.ts';

export const fuzzCaller: Caller = testCaller({ requestId: 'fuzz' });

/** Opens the engine of a twin. */
export type OpenTwin = (options: Pick<EngineOptions, 'clock' | 'onBug'>) => Promise<Engine>;

function onBug(error: unknown): void {
  throw error;
}

export class Twin {
  #engine: Engine;
  readonly clock: ManualClock;
  readonly current: CurrentCase;
  /** The engine's ids of rules. */
  readonly ids = new Map<object, string>();

  private constructor(engine: Engine, clock: ManualClock, current: CurrentCase) {
    this.#engine = engine;
    this.clock = clock;
    this.current = current;
  }

  get engine(): Engine {
    return this.#engine;
  }

  /** Closes the engine, and opens another one over the same files. */
  async restart(open: OpenTwin): Promise<void> {
    await this.#engine.close();
    this.#engine = await open({ clock: this.clock, onBug });
  }

  /** An engine with the initial knowledge of the case, in memory unless `open` opens it elsewhere. */
  static async open(
    start: RandomCase,
    pause: () => Promise<void>,
    open: OpenTwin = (options) => openEngine({ storageDir: null, pause, ...options }),
  ): Promise<Twin> {
    const clock = new ManualClock(0);
    const engine = await open({ clock, onBug });
    const twin = new Twin(engine, clock, startCase(start));
    await twin.#tell(start.facts);
    for (const index of twin.current.rules.keys()) await twin.#teach(index);
    return twin;
  }

  knowledge(): Knowledge {
    const rules = presentRules(this.current).map((rule) => ({ ...rule, id: this.ids.get(rule.rule) ?? '?' }));
    return { facts: [...this.current.facts.values()], rules, time: this.current.time };
  }

  async ask(body: readonly Literal[], view: ModelView, others: object = {}): Promise<Answer> {
    const fields = { ...viewFields(view), withProof: true, timeoutMs: 600_000, ...others };
    return this.engine.ask(fuzzCaller, askInputSchema.parse({ body, ...fields }));
  }

  async apply(update: RandomUpdate): Promise<void> {
    const before = [...this.current.rules];
    applyUpdate(this.current, update);
    this.clock.set(this.current.time);
    if (update.kind === 'assert') await this.#tell([update.fact]);
    else if (update.kind === 'retract') {
      const { predicate, args, truthVal, scope } = update.fact;
      const where = viewFields(scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope });
      await this.engine.forgetPattern(
        fuzzCaller,
        retractPatternInputSchema.parse({
          predicate,
          args: [...args],
          truthVal,
          timeoutMs: 600_000,
          ...where,
        }),
      );
    } else await this.#applyRules(before);
  }

  async #tell(facts: readonly ModelFact[]): Promise<void> {
    if (facts.length === 0) return;
    await this.engine.tellAll(
      fuzzCaller,
      facts.map((fact) =>
        factSchema.parse({
          ...fact,
          args: [...fact.args],
          validFrom: fact.validFrom ?? 'always',
          validUntil: fact.validUntil ?? 'never',
        }),
      ),
    );
  }

  async #teach(index: number): Promise<void> {
    const kept = this.current.rules[index];
    if (kept === null || kept === undefined) return;
    const { id } = await this.engine.teach(
      fuzzCaller,
      ruleInputSchema.parse({ ...kept.rule, scope: kept.scope, enabled: kept.enabled }),
    );
    const same = this.current.rules.findIndex((rule) => rule !== null && this.ids.get(rule.rule) === id);
    this.ids.set(kept.rule, id);
    if (same < 0) return;
    // A rule taught twice is stored once: the engine says `unchanged` and takes over the given fields.
    this.current.rules[same] = { ...(this.current.rules[same] as ModelRule), enabled: kept.enabled };
    this.current.rules[index] = null;
  }

  async #applyRules(before: CurrentCase['rules']): Promise<void> {
    for (const [index, now] of this.current.rules.entries()) {
      const was = before[index] ?? null;
      if (was === now) continue;
      if (was === null) await this.#teach(index);
      else {
        const id = this.ids.get(was.rule) as string;
        if (now === null) await this.engine.forgetRule(fuzzCaller, id);
        else {
          await this.engine.updateRule(fuzzCaller, id, ruleUpdateSchema.parse({ enabled: now.enabled }));
          this.ids.set(now.rule, id);
        }
      }
    }
  }
}

/** The fields of a request that select the view. */
export function viewFields(view: ModelView): { scope?: string; unscoped?: boolean } {
  if (view.kind === 'scope') return { scope: view.scope };
  return view.kind === 'unscoped' ? { unscoped: true } : {};
}

/** Compares results, bindings and proofs with the model's. */
export function expectAnswer(
  answer: Answer,
  body: readonly Literal[],
  view: ModelView,
  model: NaiveModel,
): void {
  const wanted = model.answers(body).map(({ rendered, bindings }) => `${rendered} ${bindingText(bindings)}`);
  const got = answer.results.map((result, at) => `${result} ${bindingText(answer.bindings[at] ?? {})}`);
  const about = `${body.map(renderLiteral).join(', ')} in ${JSON.stringify(view)}`;
  expect(got.sort(), `answers to ${about}`).toEqual(wanted.sort());
  expectProofs(answer, body, model);
}

function bindingText(bindings: Record<string, string>): string {
  return JSON.stringify(Object.entries(bindings).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function expectProofs(answer: Answer, body: readonly Literal[], model: NaiveModel): void {
  const [literal] = body;
  if (body.length !== 1 || literal === undefined || 'aggregate' in literal || isBuiltin(literal)) return;
  const { proof } = answer;
  if (proof === undefined) throw new Error('no proof was requested');
  const shapes = new ProofShapes();
  const got = shapes.ofProof(proof);
  for (const [at, result] of answer.results.entries()) {
    const node = model.proofOf(parseAtom(result));
    expect(got[at], `proof of ${result}: ${JSON.stringify(proof.steps)} and ${JSON.stringify(node)}`).toBe(
      shapes.ofNode(node),
    );
  }
}

const isLong = process.env['LONG'] === '1';
const firstSeed = Number(process.env['SEED'] ?? 1);
/** No further seed is begun after this many milliseconds. */
const mostMs = Number(process.env['FUZZ_MS'] ?? Number.POSITIVE_INFINITY);

/**
 * Runs the case of every seed: `few` of them, `many` with LONG=1; SEED and SEEDS select others, and FUZZ_MS limits the
 * time. An error names its seed. The oracle tries everything with everything: the few cases that are too large for it
 * are skipped.
 */
export async function overSeeds(
  { name, few, many }: { readonly name: string; readonly few: number; readonly many: number },
  runCase: (seed: number) => Promise<void>,
): Promise<void> {
  const seeds = Number(process.env['SEEDS'] ?? (isLong ? many : few));
  const startedAt = performance.now();
  let skipped = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    if (performance.now() - startedAt > mostMs) break;
    try {
      await runCase(seed);
    } catch (error) {
      if (/^the model (takes|has) more than/.test((error as Error).message)) {
        skipped++;
        continue;
      }
      throw new Error(`${name}, seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
  expect(skipped).toBeLessThanOrEqual(Math.max(1, seeds / 20));
}
