/** Operations that answer questions and explain answers. */
import { aggregateFacts } from '../read/aggregate-facts.ts';
import { ask, askByPointLookup, bodyOf } from '../read/ask.ts';
import type { Caller } from '../base/caller.ts';
import { type ReadContext, scopeChoice, type ViewFields } from '../session/read-context.ts';
import type { ContextEntry } from '../contract/memory.ts';
import type { AggregateInput, AggregateResult } from '../contract/aggregation.ts';
import type {
  ExplainInput,
  Explanation,
  Trace,
  TraceInput,
  WhatIfInput,
  WhatIfResult,
} from '../contract/explanation.ts';
import { isVariable } from '../contract/language.ts';
import type { Answer, AskInput } from '../contract/inference.ts';
import { explain, trace } from '../read/explain.ts';
import { type AboutInput, mentionedConstants, mentionedFacts } from '../memory/mentions.ts';
import { type VocabularyEntry, vocabularyOf } from '../read/describe.ts';
import { askedKey } from '../session/caches.ts';
import { defaultLimits } from '../session/live-state.ts';
import { isPositiveAtom } from '../language/terms.ts';
import { whatIf } from '../read/what-if.ts';
import { relationsRead } from '../datalog/model/program.ts';
import type { EngineContext } from './engine-context.ts';

/** A question that names a constant is likely to be answered sooner than long maintenance ends. */
const patienceOfBoundMs = 50;

/**
 * Answers a question: from the answer cache, by a look-up of stored facts, or by inference. Its transaction's writes count, if it
 * names one.
 */
export async function askQuestion(engine: EngineContext, caller: Caller, input: AskInput): Promise<Answer> {
  const key = askedKey(input);
  const again = caller.transaction === null ? engine.live.answerAgain(caller, key) : null;
  if (again !== null) return again;
  const body = bodyOf(input);
  const answered = async (context: ReadContext, plain = context): Promise<Answer> => {
    const { answer, used } = await ask(context, input, body);
    await engine.live.noteUses(plain, used);
    engine.live.keepAnswer(context, key, answer, used);
    return answer;
  };
  if (caller.transaction !== null) return engine.transactions.reading(caller, input, answered);
  const few = engine.live.look(caller, (context) => askByPointLookup(context, input, body));
  if (few !== null) return few;
  const isBound = body.some((each) => isPositiveAtom(each) && !each.args.every(isVariable));
  const limits = isBound ? { ...input, patienceMs: patienceOfBoundMs } : input;
  return engine.live.reading(caller, limits, (context) => answered(context), relationsRead(body));
}

/** Aggregates over the matches of one atom. */
export async function aggregateOf(
  engine: EngineContext,
  caller: Caller,
  input: AggregateInput,
): Promise<AggregateResult> {
  return engine.live.reading(caller, input, (context) => aggregateFacts(context, input), null);
}

/** Why an atom is true, or how far each rule gets and what is missing. */
export async function explainAtom(
  engine: EngineContext,
  caller: Caller,
  input: ExplainInput,
): Promise<Explanation> {
  return engine.live.reading(
    caller,
    input,
    async (context) => {
      const { explanation, used } = await explain(context, input);
      await engine.live.noteUses(context, used);
      return explanation;
    },
    null,
  );
}

/** What would be true after hypothetical changes, beside what is. */
export async function compareWhatIf(
  engine: EngineContext,
  caller: Caller,
  input: WhatIfInput,
): Promise<WhatIfResult> {
  return engine.live.reading(caller, input, (context) => whatIf(context, input), null);
}

/** How a question is evaluated, rule by rule. */
export async function traceQuestion(
  engine: EngineContext,
  caller: Caller,
  input: TraceInput,
): Promise<Trace> {
  const body = bodyOf(input);
  return engine.live.reading(caller, input, (context) => trace(context, input, body));
}

/** The relations that can be said and asked of in a view, those of most facts first. */
export async function vocabulary(
  engine: EngineContext,
  caller: Caller,
  view: ViewFields,
): Promise<VocabularyEntry[]> {
  return engine.live.reading(caller, defaultLimits, (context) => vocabularyOf(context, scopeChoice(view)));
}

/** The stored facts that a text is about, by the names in it, those of highest salience first. */
export async function factsAbout(
  engine: EngineContext,
  caller: Caller,
  input: AboutInput,
): Promise<ContextEntry[]> {
  const { text, maxFacts } = input;
  return engine.live.reading(caller, defaultLimits, (context) =>
    mentionedFacts(context, scopeChoice(input), text, maxFacts),
  );
}

/** The constants of the tenant's facts that a text mentions, by code point. */
export async function constantsIn(engine: EngineContext, caller: Caller, text: string): Promise<string[]> {
  return engine.live.reading(caller, defaultLimits, (context) => mentionedConstants(context, text));
}
