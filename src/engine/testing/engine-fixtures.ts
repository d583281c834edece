/**
 * Shared fixtures of engine tests: callers, inputs written in the grammar with the contract's defaults filled
 * in, and an engine with a manual clock.
 */
import { expect, onTestFinished, vi } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { systemOrigin } from '../base/origin.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { Slices } from '../base/slices.ts';
import {
  factInputSchema,
  listFactsQuerySchema,
  queryInputSchema,
  retractInputSchema,
  retractPatternInputSchema,
} from '../contract/facts.ts';
import type * as facts from '../contract/facts.ts';
import { type Answer, askInputSchema, type Proof } from '../contract/inference.ts';
import { ruleInputSchema, type RuleOutcome, ruleUpdateSchema } from '../contract/rules.ts';
import { Pacer } from '../datalog/tables/evaluation.ts';
import type { Engine } from '../operations/engine.ts';
import { parseAtom } from '../language/parse.ts';
import { openEngine } from '../open-engine.ts';
import type { EngineOptions } from '../open-part.ts';

/** Fields of a request beside those that the grammar gives. */
export type Fields = Readonly<Record<string, unknown>>;

/** The start time of a test engine's clock: the first instant of 2024. */
export const startTime = Date.UTC(2024, 0, 1);
export const second = 1000;
export const hour = 3_600_000;
export const day = 86_400_000;

export function testCaller(changes: Partial<Caller> = {}): Caller {
  return {
    credential: null,
    role: 'admin',
    databases: [],
    tenants: [],
    database: 'default',
    tenant: 'tenant',
    client: null,
    transaction: null,
    idempotency: null,
    requestId: 'request',
    origin: systemOrigin,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** `p(a, b)` or `-p(a, b)` as a fact to assert. */
export function factInput(text: string, fields: Fields = {}) {
  const { predicate, args, negated } = parseAtom(text);
  return factInputSchema.parse({ predicate, args, truthVal: !negated, ...fields });
}

/** The longest timeout, for tests that do not test time: the machine may be busy. */
export const longest = { timeoutMs: 600_000 };

/** A question: an atom (constants and variables), else a body in the grammar. */
export function askInput(text: string, fields: Fields = {}) {
  return askInputSchema.parse({ text, ...longest, ...fields });
}

/** A question as predicate and arguments. */
export function patternInput(text: string, fields: Fields = {}) {
  const { predicate, args, negated } = parseAtom(text);
  return askInputSchema.parse({ predicate, args, negated, ...longest, ...fields });
}

/** A rule in the form of the contract. */
export function ruleInput(fields: Fields) {
  return ruleInputSchema.parse(fields);
}

/** A retraction of `p(a, b)`; of both truth values unless the text or a field says otherwise. */
export function retractInput(text: string, fields: Fields = {}): facts.RetractInput {
  const { predicate, args, negated } = parseAtom(text);
  return retractInputSchema.parse({
    predicate,
    args,
    ...(negated ? { truthVal: false } : {}),
    ...longest,
    ...fields,
  });
}

export function retractPatternInput(text: string, fields: Fields = {}): facts.RetractInput {
  const { predicate, args, negated } = parseAtom(text);
  return retractPatternInputSchema.parse({
    predicate,
    args,
    ...(negated ? { truthVal: false } : {}),
    ...longest,
    ...fields,
  });
}

/** An engine as one caller uses it, with short helpers for tests. */
export interface Session {
  readonly engine: Engine;
  readonly caller: Caller;
  readonly clock: ManualClock;
  tell(text: string, fields?: Fields): Promise<facts.FactOutcome>;
  tellAll(texts: readonly string[], fields?: Fields): Promise<facts.FactsOutcome>;
  teach(text: string, fields?: Fields): Promise<RuleOutcome>;
  changeRule(id: string, fields: Fields): Promise<RuleOutcome>;
  ask(text: string, fields?: Fields): Promise<Answer>;
  /** The results of a question. */
  results(text: string, fields?: Fields): Promise<string[]>;
  /** The proof of a question with one answer or more. */
  proof(text: string, fields?: Fields): Promise<Proof>;
  forget(text: string, fields?: Fields): Promise<facts.RetractOutcome>;
  forgetPattern(text: string, fields?: Fields): Promise<facts.RetractPatternOutcome>;
  query(text: string, fields?: Fields): Promise<facts.QueryResult>;
  /** GET /facts, with the query string as an object of texts. */
  list(query?: Readonly<Record<string, string>>): Promise<facts.FactList>;
  /** The same engine as another caller uses it. */
  as(changes: Partial<Caller>): Session;
}

export function sessionOf(engine: Engine, clock: ManualClock, caller: Caller): Session {
  const ask = (text: string, fields?: Fields): Promise<Answer> => engine.ask(caller, askInput(text, fields));
  return {
    engine,
    caller,
    clock,
    ask,
    tell: (text, fields) => engine.tell(caller, factInput(text, fields)),
    tellAll: (texts, fields) =>
      engine.tellAll(
        caller,
        texts.map((text) => factInput(text, fields)),
      ),
    teach: (text, fields) => engine.teach(caller, ruleInput({ text, ...fields })),
    changeRule: (id, fields) => engine.updateRule(caller, id, ruleUpdateSchema.parse(fields)),
    results: async (text, fields) => (await ask(text, fields)).results,
    proof: async (text, fields) => {
      const { proof } = await ask(text, { withProof: true, ...fields });
      if (proof === undefined) throw new Error('no proof was requested');
      return proof;
    },
    forget: (text, fields) => engine.forget(caller, retractInput(text, fields)),
    forgetPattern: (text, fields) => engine.forgetPattern(caller, retractPatternInput(text, fields)),
    query: (text, fields) => {
      const { predicate, args, negated } = parseAtom(text);
      const sign = negated ? { truthVal: false } : {};
      return engine.query(caller, queryInputSchema.parse({ predicate, args, ...sign, ...fields }));
    },
    list: (query = {}) => engine.facts(caller, listFactsQuerySchema.parse(query)),
    as: (changes) => sessionOf(engine, clock, { ...caller, ...changes }),
  };
}

/** An in-memory engine, unless a folder is given; closed when the test has finished. */
export async function openSession(options: Partial<EngineOptions> = {}): Promise<Session> {
  const clock = options.clock instanceof ManualClock ? options.clock : new ManualClock(startTime);
  const bugs: unknown[] = [];
  const onBug = (error: unknown): void => void bugs.push(error);
  const engine = await openEngine({ storageDir: null, onBug, ...options, clock });
  onTestFinished(async () => {
    await engine.close();
    expect(bugs).toEqual([]);
  });
  return sessionOf(engine, clock, testCaller());
}

/** The error with which the promise rejects. Throws if it does not reject with a refusal. */
export async function refusal(promise: Promise<unknown>): Promise<EngineError> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof EngineError) return outcome;
  throw new Error(`expected a refusal, got ${outcome === null ? 'an answer' : 'another error'}`, {
    cause: outcome,
  });
}

/** The proof as lines: every step with its kind and, in brackets, the numbers of its premises. */
export function proofLines({ steps }: Proof): string[] {
  return steps.map(({ id, atom, kind, premises }) =>
    premises.length === 0 ? `${id} ${kind} ${atom}` : `${id} ${kind} ${atom} [${premises.join(' ')}]`,
  );
}

/** Holds a long question between two slices while others go on. */
export interface Gate {
  /** For the engine's `pause`. */
  readonly pause: () => Promise<void>;
  /** Holds the next question that pauses; resolves when it does. */
  hold(): Promise<void>;
  /** Lets the question go on. */
  release(): void;
}

export function gate(): Gate {
  let onHeld: (() => void) | null = null;
  let onRelease: (() => void) | null = null;
  return {
    pause: () =>
      new Promise((resolve) => {
        const held = onHeld;
        onHeld = null;
        if (held === null) setImmediate(resolve);
        else {
          onRelease = resolve;
          held();
        }
      }),
    hold: () => {
      // However fast the machine is: the next look at the clock ends a slice.
      const ends = [
        vi.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true),
        vi.spyOn(Pacer.prototype, 'isSliceOver', 'get').mockReturnValue(true),
      ];
      const restore = (): void => {
        for (const each of ends) each.mockRestore();
      };
      onTestFinished(restore);
      return new Promise((resolve) => {
        onHeld = () => {
          restore();
          resolve();
        };
      });
    },
    release: () => onRelease?.(),
  };
}

/** The facts of a chain: `edge(n0, n1)` to `edge(n<count - 1>, n<count>)`. */
export function chainOf(count: number, predicate = 'edge'): string[] {
  return Array.from({ length: count }, (_, at) => `${predicate}(n${at}, n${at + 1})`);
}
