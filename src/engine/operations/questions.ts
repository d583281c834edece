/** Reads that also note uses, look into caches or transactions, or begin background work. */
import { ask, askByPointLookup, bodyOf, hintsOf, namesOfAnswers } from '../read/ask.ts';
import type { Caller } from '../base/caller.ts';
import { JsonText } from '../base/json-text.ts';
import { runInSlices } from '../base/slices.ts';
import { requireRule, storedRule } from '../commit/prepare-rules.ts';
import type { AggregateInput, AggregateResult } from '../contract/aggregation.ts';
import type { ExplainInput, Explanation } from '../contract/explanation.ts';
import type { PredicateList, QueryInput, QueryResult } from '../contract/facts.ts';
import type { Answer, AskInput } from '../contract/inference.ts';
import { isVariable } from '../contract/language.ts';
import type { StoredRule, ValidateResult } from '../contract/rules.ts';
import { relationsRead } from '../datalog/model/program.ts';
import { HandOver } from '../datalog/tables/evaluation.ts';
import type { RemoteTask } from '../reasoning/messages.ts';
import { type MovedAnswer, shapeOfQuestion } from '../reasoning/reasoning-threads.ts';
import { diagnosis } from '../language/diagnose.ts';
import { isPositiveAtom } from '../language/terms.ts';
import { listPredicates } from '../read/describe.ts';
import { aggregateFacts } from '../read/aggregate-facts.ts';
import { explain } from '../read/explain.ts';
import { queryByPointLookup, queryFacts } from '../read/query.ts';
import { askedKey } from '../session/caches.ts';
import { defaultLimits, type ReadLimits } from '../session/live-state.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { ReadingEngine } from './engine-context.ts';

/** A question that names a constant is likely to be answered sooner than long maintenance ends. */
const patienceOfBoundMs = 50;

/** Answers a question as `askForText` does, with an object. */
export async function askQuestion(engine: ReadingEngine, caller: Caller, input: AskInput): Promise<Answer> {
  const answer = await askForText(engine, caller, input);
  return answer instanceof JsonText ? (answer.value() as Answer) : answer;
}

/**
 * Answers a question: from the answer cache, by a look-up of stored facts, or by inference, here or on a reasoning thread,
 * which writes a long answer as text. Its transaction's writes count, if it names one.
 */
export async function askForText(
  engine: ReadingEngine,
  caller: Caller,
  input: AskInput,
): Promise<Answer | JsonText> {
  const key = `${engine.live.database(caller).declarations.version} ${askedKey(input)}`;
  const isCounted = input.plan === true;
  const again = caller.transaction === null && !isCounted ? engine.live.answerAgain(caller, key) : null;
  if (again !== null) return again;
  const body = bodyOf(input);
  const answered = async (context: ReadContext, plain = context): Promise<Answer> => {
    const { answer, used } = await ask(context, input, body);
    await engine.live.noteUses(plain, used);
    if (!isCounted) engine.live.keepAnswer(context, key, answer, used);
    return answer;
  };
  if (caller.transaction !== null)
    return engine.live.asQuestion(caller, input, (limits) =>
      engine.transactions.reading(caller, limits, answered),
    );
  const few = isCounted
    ? null
    : engine.live.look(caller, (context) => askByPointLookup(context, input, body));
  if (few !== null) return few;
  const isBound = body.some((each) => isPositiveAtom(each) && !each.args.every(isVariable));
  const limits: ReadLimits = isBound ? { ...input, patienceMs: patienceOfBoundMs } : input;
  const proofs = input.withProof || input.allProofs;
  return engine.live.asQuestion(caller, limits, (timed) =>
    hereOrThere<Answer | JsonText>(engine, caller, timed, {
      about: relationsRead(body),
      here: (context) => answered(context),
      moving: isCounted
        ? null
        : {
            goals: relationsRead(body),
            shape: shapeOfQuestion(input, body, proofs ? 'proof' : 'answer'),
            task: (now) => ({ kind: 'answer', input, names: namesOfAnswers(now, body) }),
            taken: ({ value, used, context }) => {
              if (value instanceof JsonText) return value;
              const inferred = value as Answer;
              const answer = { ...inferred, ...hintsOf(context, input, body, inferred.results) };
              engine.live.keepAnswer(context, key, answer, used);
              return answer;
            },
          },
    }),
  );
}

/** A question that can move to a reasoning thread. */
interface Movable<Result> {
  /** The relations whose conclusions it needs; null: any. */
  readonly about: readonly string[] | null;
  readonly here: (context: ReadContext) => Promise<Result>;
  /** null: it stays here. */
  readonly moving: {
    readonly goals: readonly string[];
    readonly shape: string;
    readonly task: (now: ReadContext) => RemoteTask;
    readonly taken: (moved: MovedAnswer) => Result;
  } | null;
}

/**
 * Answers a question here and, if that takes long or questions of its shape did, on a reasoning thread, where it begins
 * again.
 */
async function hereOrThere<Result>(
  engine: ReadingEngine,
  caller: Caller,
  timed: ReadLimits,
  { about, here, moving }: Movable<Result>,
): Promise<Result> {
  const { live, threads } = engine;
  const stay = (handOverMs?: number): Promise<Result> =>
    live.reading(caller, { ...timed, handOverMs }, here, about);
  if (threads === null || moving === null) return stay();
  const startedAt = timed.startedAt ?? performance.now();
  const { goals, shape, task, taken } = moving;
  if (!threads.isHeavy(caller, shape)) {
    try {
      return await stay(threads.afterMs);
    } catch (error) {
      if (!(error instanceof HandOver)) throw error;
      threads.noteHeavy(caller, shape);
    }
  }
  const { timeoutMs, maxDerivations } = timed;
  const elsewhere = await live.reading(caller, { ...timed, startedAt }, async (context) => {
    const moved = await threads.ask(caller, context, { task, timeoutMs, maxDerivations, goals, shape });
    if (moved === null) return null;
    await live.noteUses(moved.context, moved.used);
    return { result: taken(moved) };
  });
  return elsewhere === null ? stay() : elsewhere.result;
}

/** Stored facts that match, without inference. */
export async function query(engine: ReadingEngine, caller: Caller, input: QueryInput): Promise<QueryResult> {
  const queried = async (context: ReadContext, plain = context): Promise<QueryResult> => {
    const { result, facts: used } = await queryFacts(context, input);
    await engine.live.noteUses(plain, used);
    return result;
  };
  if (caller.transaction !== null) return engine.transactions.reading(caller, defaultLimits, queried);
  const few = engine.live.look(caller, (context) => queryByPointLookup(context, input));
  return few ?? engine.live.reading(caller, defaultLimits, (context) => queried(context));
}

/** Explains an atom as `explainForText` does, with an object. */
export async function explainAtom(
  engine: ReadingEngine,
  caller: Caller,
  input: ExplainInput,
): Promise<Explanation> {
  const explanation = await explainForText(engine, caller, input);
  return explanation instanceof JsonText ? (explanation.value() as Explanation) : explanation;
}

/**
 * Why an atom is true, or how far each rule gets and what is missing. A proof may come from a reasoning thread, which writes
 * a long one as text.
 */
export async function explainForText(
  engine: ReadingEngine,
  caller: Caller,
  input: ExplainInput,
): Promise<Explanation | JsonText> {
  const { live } = engine;
  const { predicate, args, negated } = input;
  const body = [{ predicate, args, negated, naf: false }];
  return live.asQuestion(caller, input, (timed) =>
    hereOrThere<Explanation | JsonText>(engine, caller, timed, {
      about: null,
      here: async (context) => {
        const { explanation, used } = await explain(context, input);
        await live.noteUses(context, used);
        return explanation;
      },
      moving:
        input.mode !== 'why'
          ? null
          : {
              goals: relationsRead(body),
              shape: shapeOfQuestion(input, body, 'explanation'),
              task: () => ({ kind: 'proof', input }),
              taken: ({ value }) => value as Explanation | JsonText,
            },
    }),
  );
}

/** One figure over the matches of an atom, as `aggregateForText` gives it, as an object. */
export async function aggregateAtoms(
  engine: ReadingEngine,
  caller: Caller,
  input: AggregateInput,
): Promise<AggregateResult> {
  const result = await aggregateForText(engine, caller, input);
  return result instanceof JsonText ? (result.value() as AggregateResult) : result;
}

/**
 * One figure over the matches of an atom, and per group. Over conclusions it may come from a reasoning thread, which writes
 * many groups as text; without arguments it stays here, since predicates of further arities may come meanwhile.
 */
export async function aggregateForText(
  engine: ReadingEngine,
  caller: Caller,
  input: AggregateInput,
): Promise<AggregateResult | JsonText> {
  const { predicate, args, infer } = input;
  const body = args === null ? null : [{ predicate, args, negated: false, naf: false }];
  return engine.live.asQuestion(caller, input, (timed) =>
    hereOrThere<AggregateResult | JsonText>(engine, caller, timed, {
      about: null,
      here: (context) => aggregateFacts(context, input),
      moving:
        body === null || !infer
          ? null
          : {
              goals: relationsRead(body),
              shape: shapeOfQuestion(input, body, 'aggregate'),
              task: () => ({ kind: 'aggregate', input }),
              taken: ({ value }) => value as AggregateResult | JsonText,
            },
    }),
  );
}

/** The predicates of a tenant with counts; missing counts of conclusions are worked out when the engine is idle. */
export async function predicates({ live }: ReadingEngine, caller: Caller): Promise<PredicateList> {
  const read = async (context: ReadContext): Promise<PredicateList> => {
    const list = await listPredicates(context);
    if (list.predicates.some(({ derivedComplete }) => !derivedComplete)) live.countWhenQuiet(context, caller);
    return list;
  };
  return live.reading(caller, { ...defaultLimits, isAside: true }, read, null);
}

/** The rules of a database, in the order in which they were taught. */
export async function rules({ live }: ReadingEngine, caller: Caller): Promise<StoredRule[]> {
  live.refuseClosed();
  const database = live.database(caller);
  const tallies = live.talliesOf(database);
  return database.rules.all().map((rule) => storedRule(rule, tallies));
}

/** One rule; RuleNotFound if there is none. */
export async function rule({ live }: ReadingEngine, caller: Caller, id: string): Promise<StoredRule> {
  live.refuseClosed();
  const database = live.database(caller);
  return storedRule(requireRule(database, id), live.talliesOf(database));
}

/** Diagnostics of a program text; nothing is stored. */
export async function validateRules(
  engine: ReadingEngine,
  caller: Caller,
  text: string,
): Promise<ValidateResult> {
  const { predicates: known } = await predicates(engine, caller);
  const stored = engine.live.database(caller).rules.all();
  const slices = engine.slices(caller);
  const { names } = engine.live.database(caller).declarations;
  const steps = diagnosis(text, { predicates: known, rules: stored, names }, true);
  const result = await runInSlices(steps, () => slices.breathe());
  return { valid: result.diagnostics.every(({ severity }) => severity !== 'error'), ...result };
}
