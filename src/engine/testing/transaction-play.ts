/**
 * The engine beside the model of transactions, step by step: each step is one reasonable call, or time that passes, or
 * a restart, and the engine's answer is compared with the model's.
 */
import { expect } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { Prng } from './prng.ts';
import {
  factInputSchema,
  factSchema,
  queryInputSchema,
  retractPatternInputSchema,
} from '../contract/facts.ts';
import { askInputSchema } from '../contract/inference.ts';
import { ruleInputSchema, ruleUpdateSchema } from '../contract/rules.ts';
import type { Engine } from '../operations/engine.ts';
import { renderAtom } from '../language/print.ts';
import { openEngine } from '../open-engine.ts';
import {
  type Flavour,
  randomBody,
  randomCase,
  randomFact,
  randomQuestion,
  randomRuleBeside,
  randomView,
  type Vocabulary,
} from './generators.ts';
import { modelOf, type ModelFact, type ModelView } from './naive-model.ts';
import {
  type Assertion,
  type Contents,
  ModelDatabase,
  type ModelTransaction,
  type RuleWrite,
} from './transaction-model.ts';
import type { ThreadsInProcess } from './threads-in-process.ts';
import { expectAnswer, fuzzCaller, viewFields } from './twin.ts';

const idle = 5 * 60_000;

interface Open {
  readonly caller: Caller;
  readonly id: string;
  readonly model: ModelTransaction;
}

/** The status of the error; throws if the promise ends otherwise. */
async function statusOf(promise: Promise<unknown>): Promise<number> {
  const error: unknown = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof EngineError) return error.status;
  throw new Error(error === null ? 'it was answered' : 'another error', { cause: error });
}

export class Play {
  readonly #prng: Prng;
  readonly #vocabulary: Vocabulary;
  readonly #flavour: Flavour;
  readonly #folder: string | null;
  readonly #clock: ManualClock;
  /** Where questions of transactions are asked too. */
  readonly #threads: ThreadsInProcess | null;
  readonly #database = new ModelDatabase();
  #engine: Engine;
  #open: Open[] = [];

  private constructor(
    engine: Engine,
    parts: {
      prng: Prng;
      vocabulary: Vocabulary;
      flavour: Flavour;
      folder: string | null;
      clock: ManualClock;
      threads: ThreadsInProcess | null;
    },
  ) {
    this.#engine = engine;
    this.#prng = parts.prng;
    this.#vocabulary = parts.vocabulary;
    this.#flavour = parts.flavour;
    this.#folder = parts.folder;
    this.#clock = parts.clock;
    this.#threads = parts.threads;
  }

  static async begin(
    prng: Prng,
    flavour: Flavour,
    folder: string | null,
    threads: ThreadsInProcess | null = null,
  ): Promise<Play> {
    const clock = new ManualClock(0);
    const start = randomCase(prng, flavour);
    const engine = await opened(folder, clock, threads);
    const { vocabulary } = start;
    const play = new Play(engine, { prng, vocabulary, flavour, folder, clock, threads });
    for (const fact of start.facts) await play.#tell({ of: fact });
    for (const rule of start.rules) await play.#writeRule({ kind: 'teach', rule });
    return play;
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async step(): Promise<void> {
    const prng = this.#prng;
    const choice = prng.below(100);
    if (choice < 12 && this.#open.length < 4) await this.#beginOne();
    else if (choice < 44 && this.#open.length > 0) await this.#writeWithin(prng.pick(this.#open));
    else if (choice < 58 && this.#open.length > 0) await this.#askWithin(prng.pick(this.#open));
    else if (choice < 64 && this.#open.length > 0) await this.#commit(this.#fullest());
    else if (choice < 66 && this.#open.length > 0) await this.#rollBack(prng.pick(this.#open));
    else if (choice < 85) await this.#writePlainly();
    else if (choice < 92) await this.#ask(fuzzCaller, this.#database.contents);
    else if (choice < 97 && this.#flavour.validity) this.#pass(prng.below(2));
    else if (choice < 98) await this.#beIdle();
    else if (choice < 99 && this.#folder !== null) await this.#reopen();
  }

  async #beginOne(): Promise<void> {
    const caller = { ...fuzzCaller, credential: this.#prng.pick([null, 'a', 'b']) };
    const { id, status, expiresAt } = await this.#engine.begin(caller);
    same([status, expiresAt], ['open', this.#clock.now() + idle]);
    this.#open.push({ id, caller: { ...caller, transaction: id }, model: this.#database.begin() });
  }

  /** The one with most writes, sometimes any. */
  #fullest(): Open {
    if (this.#prng.chance(0.2)) return this.#prng.pick(this.#open);
    return this.#open.reduce((best, each) => (each.model.operations > best.model.operations ? each : best));
  }

  /** A stored fact, or one that transactions have written, or any. */
  #fact(contents: Contents): ModelFact {
    const prng = this.#prng;
    const written = this.#open.flatMap(({ model }) => [...model.net.values()].map(({ of }) => of));
    const stored = written.length > 0 && prng.chance(0.3) ? written : [...contents.facts.values()];
    const { predicate, args, truthVal, scope } =
      stored.length > 0 && prng.chance(0.6)
        ? prng.pick(stored)
        : randomFact(prng, this.#vocabulary, this.#flavour);
    return { predicate, args, truthVal, scope, validFrom: null, validUntil: null };
  }

  #assertion(contents: Contents): Assertion {
    const prng = this.#prng;
    const moment = (): number => this.#clock.now() + prng.below(6) - 1;
    const { validity } = this.#flavour;
    return {
      of: this.#fact(contents),
      ...(validity && prng.chance(0.3) ? { validFrom: prng.chance(0.3) ? 'always' : moment() } : {}),
      ...(validity && prng.chance(0.4) ? { validUntil: prng.chance(0.3) ? 'never' : moment() } : {}),
      ...(prng.chance(0.2) ? { metadata: prng.pick(['x', 'y']) } : {}),
    };
  }

  #ruleWrite(contents: Contents): RuleWrite | null {
    const prng = this.#prng;
    const { rules } = contents;
    const kept = rules.length > 0 ? prng.pick(rules) : null;
    const choice = prng.below(5);
    // A rule that the transaction taught has no id before its commit.
    const isNamed = kept !== null && !kept.id.startsWith('pending');
    const written = this.#open.flatMap(({ model }) => model.rules);
    const again = written.length > 0 ? prng.pick(written) : null;
    const fits = (write: RuleWrite): boolean =>
      (write.kind === 'teach' || rules.some(({ id }) => id === write.id)) &&
      contents.copy().writeRule(write, 'tried') !== null;
    if (choice === 4 && again !== null && fits(again)) return again;
    if (choice === 0 && isNamed) return { kind: 'forget', id: kept.id };
    if (choice === 1 && isNamed) return { kind: 'enable', id: kept.id, enabled: !kept.enabled };
    if (choice === 2 && kept !== null) return { kind: 'teach', rule: { ...kept, enabled: prng.chance(0.5) } };
    const rule = randomRuleBeside(prng, this.#vocabulary, this.#flavour, rules);
    return rule === null ? null : { kind: 'teach', rule };
  }

  /**
   * A write within a transaction: answered `pending`, or refused as the model says, and then rolled back as a whole.
   */
  async #writeWithin(open: Open): Promise<void> {
    const { caller, model } = open;
    const seen = this.#database.seenBy(model);
    // Conflicts so far are reported at its commit.
    if (seen === null) return this.#commit(open);
    const within = this.#engine.within(caller);
    const choice = this.#prng.below(10);
    if (choice < 5) {
      const assertions = Array.from({ length: choice === 0 ? 3 : 1 }, () => this.#assertion(seen));
      const write =
        choice === 0
          ? within.tellAll(assertions.map((each) => factSchema.parse(fieldsOf(each))))
          : within.tell(factInputSchema.parse(fieldsOf(assertions[0] as Assertion)));
      for (const assertion of assertions) {
        const now = this.#database.seenBy(model) as Contents;
        if (now.after(assertion) === null) return this.#refused(open, write, 400);
        this.#database.assertIn(model, assertion, this.#clock.now());
      }
      same((await write).status, 'pending');
    } else if (choice < 8) {
      const of = this.#fact(seen);
      const anyScope = this.#prng.chance(0.3);
      const pattern = this.#prng.chance(0.3)
        ? of.args.map((arg) => (this.#prng.chance(0.5) ? '?_' : arg))
        : of.args;
      const found = [...seen.facts.values()].filter(
        (fact) =>
          seen.stored(fact) !== null &&
          fact.predicate === of.predicate &&
          fact.truthVal === of.truthVal &&
          (anyScope || fact.scope === of.scope) &&
          fact.args.length === pattern.length &&
          pattern.every((term, at) => term === '?_' || term === fact.args[at]),
      );
      const where = anyScope ? {} : of.scope === null ? { unscoped: true } : { scope: of.scope };
      const { predicate, truthVal } = of;
      const pending = await within.forget(
        retractPatternInputSchema.parse({ predicate, truthVal, args: [...pattern], ...where }),
      );
      same([pending.status, pending.retracted], ['pending', found.length]);
      for (const fact of found) this.#database.retractIn(model, fact);
    } else if (!(await this.#writeRuleWithin(open, seen))) return;
    model.operations++;
  }

  async #writeRuleWithin(open: Open, seen: Contents): Promise<boolean> {
    const { caller, model } = open;
    const write = this.#ruleWrite(seen);
    if (write === null) return false;
    const within = this.#engine.within(caller);
    if (write.kind === 'teach') await within.teach(ruleFieldsOf(write.rule));
    else if (write.kind === 'forget') await within.forgetRule(write.id);
    else await within.updateRule(write.id, ruleUpdateSchema.parse({ enabled: write.enabled }));
    model.rules.push(write);
    return true;
  }

  async #refused(open: Open, write: Promise<unknown>, status: number): Promise<void> {
    same(await statusOf(write), status);
    await this.#expectEnded(open);
  }

  async #expectEnded(open: Open): Promise<void> {
    this.#open = this.#open.filter((each) => each !== open);
    same(await statusOf(this.#engine.commit(open.caller, open.id, false)), 409);
  }

  async #askWithin({ caller, model }: Open): Promise<void> {
    const seen = this.#database.seenBy(model);
    if (seen !== null) return this.#ask(caller, seen);
    const question = askInputSchema.parse({ predicate: 'p0', args: [] });
    same(await statusOf(this.#engine.ask(caller, question)), 422);
  }

  async #ask(caller: Caller, contents: Contents): Promise<void> {
    const prng = this.#prng;
    const view: ModelView = this.#flavour.scopes ? randomView(prng, this.#vocabulary) : { kind: 'all' };
    if (prng.chance(0.3)) return this.#query(caller, contents, view);
    const body = prng.chance(0.75)
      ? [{ ...randomQuestion(prng, this.#vocabulary, this.#flavour), naf: false }]
      : randomBody(prng, this.#vocabulary, this.#flavour);
    const input = askInputSchema.parse({ body, ...viewFields(view), withProof: true, timeoutMs: 600_000 });
    const answer = await this.#asked(caller, () => this.#engine.ask(caller, input));
    same(answer.generation, this.#database.generation);
    expectAnswer(answer, body, view, modelOf(contents.knowledge(), view));
  }

  /** The answer here; that of a thread, which may end meanwhile, is the same byte for byte. */
  async #asked<Answer>(caller: Caller, ask: () => Promise<Answer>): Promise<Answer> {
    const threads = this.#threads;
    if (threads === null || caller.transaction === null) return ask();
    threads.afterMs = 0;
    const there = ask();
    if (this.#prng.chance(0.1)) setImmediate(() => threads.kill());
    const written = JSON.stringify({ answer: await there, elapsedMs: 0 });
    threads.afterMs = Number.POSITIVE_INFINITY;
    const answer = await ask();
    const timeless = (json: string): string => json.replace(/"elapsedMs":[\d.]+/g, '"elapsedMs":0');
    same(timeless(written), timeless(JSON.stringify({ answer, elapsedMs: 0 })));
    return answer;
  }

  async #query(caller: Caller, contents: Contents, view: ModelView): Promise<void> {
    const { predicate, arity } = this.#prng.pick(this.#vocabulary.relations);
    const args = Array.from({ length: arity }, (_, at) => `?v${at}`);
    const input = queryInputSchema.parse({ predicate, args, ...viewFields(view) });
    const found = await this.#asked(caller, () => this.#engine.query(caller, input));
    const wanted = [...contents.facts.values()].filter(
      (fact) =>
        fact.predicate === predicate &&
        fact.args.length === arity &&
        contents.stored(fact) !== null &&
        (fact.validFrom ?? 0) <= contents.time &&
        (view.kind === 'all' || fact.scope === (view.kind === 'scope' ? view.scope : null)),
    );
    const rendered = (each: { predicate: string; args: readonly string[]; truthVal: boolean }): string =>
      renderAtom({ predicate: each.predicate, args: [...each.args], negated: !each.truthVal });
    same(found.map(rendered).sort(), [...new Set(wanted.map(rendered))].sort());
  }

  async #commit(open: Open): Promise<void> {
    const { caller, id, model } = open;
    const tried = this.#prng.chance(0.5) ? this.#engine.commit(caller, id, true) : null;
    const dry =
      tried === null
        ? null
        : await tried.then(
            () => 'committed',
            (error: unknown) => (error as EngineError).status,
          );
    const outcome = this.#database.commit(model);
    if (dry !== null) same(dry, outcome.status);
    if (outcome.status === 'committed') {
      const { operations } = model;
      const { generation } = outcome;
      same(await this.#engine.commit(caller, id, false), {
        id,
        status: 'committed',
        operations,
        generation,
      });
    } else same(await statusOf(this.#engine.commit(caller, id, false)), outcome.status);
    await this.#expectEnded(open);
  }

  async #rollBack(open: Open): Promise<void> {
    const { caller, id, model } = open;
    const { operations } = model;
    const { generation } = this.#database;
    same(await this.#engine.rollback(caller, id), {
      id,
      status: 'rolled_back',
      operations,
      generation,
    });
    await this.#expectEnded(open);
  }

  async #writePlainly(): Promise<void> {
    const { contents } = this.#database;
    const choice = this.#prng.below(10);
    if (choice < 5) return this.#tell(this.#assertion(contents));
    if (choice < 8) return this.#retract(this.#fact(contents));
    const write = this.#ruleWrite(contents);
    if (write !== null) await this.#writeRule(write);
  }

  async #tell(assertion: Assertion): Promise<void> {
    const write = this.#engine.tell(fuzzCaller, factInputSchema.parse(fieldsOf(assertion)));
    if (this.#database.contents.after(assertion) === null) return same(await statusOf(write), 400);
    this.#database.write((contents) => (contents.assert(assertion) ? [assertion.of] : []));
    same((await write).generation, this.#database.generation);
  }

  async #retract(of: ModelFact): Promise<void> {
    const { predicate, args, truthVal, scope } = of;
    const where = scope === null ? { unscoped: true } : { scope };
    this.#database.write((contents) => (contents.retract(of) ? [of] : []));
    const { generation } = await this.#engine.forgetPattern(
      fuzzCaller,
      retractPatternInputSchema.parse({ predicate, args: [...args], truthVal, timeoutMs: 600_000, ...where }),
    );
    same(generation, this.#database.generation);
  }

  async #writeRule(write: RuleWrite): Promise<void> {
    this.#database.write((contents, id) => {
      const touched = contents.writeRule(write, id);
      if (touched === null) throw new Error('a written rule does not conflict');
      return touched;
    });
    const engine = this.#engine;
    const { generation } =
      write.kind === 'teach'
        ? await engine.teach(fuzzCaller, ruleFieldsOf(write.rule))
        : write.kind === 'forget'
          ? await engine.forgetRule(fuzzCaller, write.id)
          : await engine.updateRule(fuzzCaller, write.id, ruleUpdateSchema.parse({ enabled: write.enabled }));
    same(generation, this.#database.generation);
  }

  #pass(milliseconds: number): void {
    this.#clock.advance(milliseconds);
    this.#database.contents.time = this.#clock.now();
  }

  /** After five minutes nothing is open any more. */
  async #beIdle(): Promise<void> {
    this.#pass(idle);
    for (const open of this.#open) await this.#expectEnded(open);
  }

  /** After a restart open transactions are unknown. */
  async #reopen(): Promise<void> {
    await this.#engine.close();
    this.#engine = await opened(this.#folder, this.#clock, this.#threads);
    for (const { caller, id } of this.#open)
      same(await statusOf(this.#engine.commit(caller, id, false)), 404);
    this.#open = [];
  }
}

function fieldsOf({ of, ...given }: Assertion): object {
  const { predicate, args, truthVal, scope } = of;
  const { metadata, ...bounds } = given;
  return {
    predicate,
    args: [...args],
    truthVal,
    scope,
    ...bounds,
    ...(metadata === undefined ? {} : { metadata: { metadata } }),
  };
}

function ruleFieldsOf({ rule, scope, enabled }: { rule: object; scope: string | null; enabled: boolean }) {
  return ruleInputSchema.parse({ ...rule, scope, enabled });
}

function opened(
  storageDir: string | null,
  clock: ManualClock,
  threads: ThreadsInProcess | null,
): Promise<Engine> {
  const onBug = (error: unknown): void => {
    throw error;
  };
  const threadHost = threads === null ? {} : { threadHost: threads };
  return openEngine({ storageDir, clock, fsync: 'never', onBug, ...threadHost });
}

function same(got: unknown, wanted: unknown): void {
  expect(got).toEqual(wanted);
}
