/** Reads that also note uses, look into caches or transactions, or begin background work. */
import { ask, askByPointLookup, bodyOf, hintsOf } from '../read/ask.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { JsonText } from '../base/json-text.ts';
import { runInSlices } from '../base/slices.ts';
import { requireRule, ruleToStore, storedRule } from '../commit/prepare-rules.ts';
import type { AggregateInput, AggregateResult } from '../contract/aggregation.ts';
import type { ExplainInput, Explanation, WhatIfInput, WhatIfResult } from '../contract/explanation.ts';
import type { PredicateList, QueryInput, QueryResult } from '../contract/facts.ts';
import type { Answer, AskInput } from '../contract/inference.ts';
import { isVariable, type Literal, type Rule } from '../contract/language.ts';
import type { StoredRule, ValidateResult } from '../contract/rules.ts';
import { Program, relationsRead } from '../datalog/model/program.ts';
import type { RemoteReads } from '../reasoning/messages.ts';
import { shapeOfQuestion } from '../reasoning/heavy-shapes.ts';
import type { Reach } from '../reasoning/reasoning-threads.ts';
import { diagnosis } from '../language/diagnose.ts';
import { isPositiveAtom, relationKey, relationOf } from '../language/terms.ts';
import { listPredicates } from '../read/describe.ts';
import { aggregateFacts, relationsAggregated } from '../read/aggregate-facts.ts';
import { explain, trace } from '../read/explain.ts';
import { planOf } from '../read/plan.ts';
import { queryByPointLookup, queryFacts } from '../read/query.ts';
import { whatIf } from '../read/what-if.ts';
import { askedKey } from '../session/caches.ts';
import { defaultLimits, type ReadLimits } from '../session/read-limits.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { ReadingEngine } from './engine-context.ts';
import { relationsOfWrites } from '../write/posted-writes.ts';
import type { ViewedWrites } from '../write/transaction-view.ts';
import { hereOrThere, usedBy } from './moving.ts';

/** A question that names a constant is likely to be answered sooner than long maintenance ends. */
const patienceOfBoundMs = 50;

/** The operation with an object as its answer, however long. `atOnce` has the answer first, or null. */
export function asObject<Input, Result, Host = ReadingEngine>(
  operation: (engine: Host, caller: Caller, input: Input) => Promise<Result | JsonText>,
  atOnce: (engine: Host, caller: Caller, input: Input) => Result | null = () => null,
) {
  return async (engine: Host, caller: Caller, input: Input): Promise<Result> => {
    const few = atOnce(engine, caller, input);
    if (few !== null) return few;
    const answer = await operation(engine, caller, input);
    return answer instanceof JsonText ? (answer.value() as Result) : answer;
  };
}

/**
 * Answers a question: by a look-up of stored facts, from the answer cache, or by inference, here or on a reasoning thread,
 * which writes a long answer as text. Its transaction's writes count, if it names one.
 */
export async function askForText(
  engine: ReadingEngine,
  caller: Caller,
  input: AskInput,
): Promise<Answer | JsonText> {
  return askAtOnce(engine, caller, input) ?? (await askWithTables(engine, caller, input));
}

/** `ask` of a pattern that few stored facts match; else null. It needs no cache: making the key costs as much. */
export function askAtOnce(engine: ReadingEngine, caller: Caller, input: AskInput): Answer | null {
  if (input.predicate === null || caller.transaction !== null || input.plan === true) return null;
  const body = bodyOf(input);
  return engine.live.look(caller, (context) => askByPointLookup(context, input, body));
}

/** `askForText` of what `askAtOnce` does not answer. */
export async function askWithTables(
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
      engine.transactions.asking(caller, (writes) =>
        hereOrThere(engine, caller, limits, {
          kind: 'ask',
          input,
          ...within(isCounted ? null : writes),
          shape: shapeOfQuestion(input, body, 'answer in a transaction'),
          about: [],
          reach: (now) => coneOver(now, relationsRead(body), writes),
          here: answered,
          taken: async (inferred) => ({
            ...inferred,
            ...(await hintsWithin(engine, caller, input, body, inferred)),
          }),
        }),
      ),
    );
  const few =
    isCounted || input.predicate !== null
      ? null
      : engine.live.look(caller, (context) => askByPointLookup(context, input, body));
  if (few !== null) return few;
  const isBound = body.some((each) => isPositiveAtom(each) && !each.args.every(isVariable));
  const limits: ReadLimits = isBound ? { ...input, patienceMs: patienceOfBoundMs } : input;
  const proofs = input.withProof || input.allProofs;
  const goals = relationsRead(body);
  const here = (context: ReadContext): Promise<Answer> => answered(context);
  return engine.live.asQuestion(caller, limits, (timed) =>
    hereOrThere(engine, caller, timed, {
      kind: 'ask',
      input,
      shape: shapeOfQuestion(input, body, `${proofs ? 'proof' : 'answer'}${isCounted ? ' counted' : ''}`),
      about: goals,
      reach: (now) => cone(now, goals),
      here,
      taken: (inferred, moved) => {
        const { context } = moved;
        const answer = { ...inferred, ...hintsOf(context, input, body, inferred.results) };
        if (!isCounted) engine.live.keepAnswer(context, key, answer, new Set(usedBy(moved)));
        return answer;
      },
      takenText: (text, { context }) => {
        // One without results is long because of its plan.
        const { hints } = text.begins(noResults) ? hintsOf(context, input, body, []) : {};
        return hints === undefined ? text : text.withMember('hints', hints);
      },
    }),
  );
}

const noResults = /^\{\s*"results":\s*\[\s*\]/;

/** Stored facts that match, without inference; many may come from a reasoning thread, as text. */
export async function queryForText(
  engine: ReadingEngine,
  caller: Caller,
  input: QueryInput,
): Promise<QueryResult | JsonText> {
  return queryAtOnce(engine, caller, input) ?? (await queryAll(engine, caller, input));
}

/** `query` where an index finds few facts; else null. */
export function queryAtOnce(engine: ReadingEngine, caller: Caller, input: QueryInput): QueryResult | null {
  if (caller.transaction !== null) return null;
  return engine.live.look(caller, (context) => queryByPointLookup(context, input));
}

/** `queryForText` of what `queryAtOnce` does not answer. */
export async function queryAll(
  engine: ReadingEngine,
  caller: Caller,
  input: QueryInput,
): Promise<QueryResult | JsonText> {
  const queried = async (context: ReadContext, plain = context): Promise<QueryResult> => {
    const { result, facts: used } = await queryFacts(context, input);
    await engine.live.noteUses(plain, used);
    return result;
  };
  const { predicate, args, truthVal } = input;
  const signs = truthVal === null ? [false, true] : [!truthVal];
  const relations = signs.map((negated) => relationKey(predicate, args.length, negated));
  const atom = { predicate, args, negated: signs[0] === true, naf: false };
  const asked = (writes: ViewedWrites | null): Promise<QueryResult | JsonText> =>
    hereOrThere(engine, caller, defaultLimits, {
      kind: 'query',
      input,
      ...within(writes),
      shape: shapeOfQuestion(input, [atom], 'query'),
      about: [],
      reach: (now) => (writes === null ? { goals: [], relations } : coneOver(now, relations, writes)),
      here: queried,
    });
  return caller.transaction === null ? asked(null) : engine.transactions.asking(caller, asked);
}

function within(writes: ViewedWrites | null): { readonly writes?: ViewedWrites } {
  return writes === null ? {} : { writes };
}

/** Relations that a question in a transaction reads, which makes nothing known. */
function coneOver(
  { database, reader }: ReadContext,
  goals: readonly string[],
  writes: ViewedWrites | null,
): Reach {
  const written = writes === null ? [] : relationsOfWrites(writes, database.rules);
  return { goals: [], relations: reader.program.below([...goals, ...written]) };
}

/** The hints for an answer from a thread, over the transaction as it is now. */
async function hintsWithin(
  engine: ReadingEngine,
  caller: Caller,
  input: AskInput,
  body: readonly Literal[],
  { results }: Answer,
): Promise<Pick<Answer, 'hints'>> {
  if (results.length > 0) return {};
  try {
    return await engine.transactions.reading(caller, input, async (context) =>
      hintsOf(context, input, body, results),
    );
  } catch (error) {
    // It was answered; if the transaction has ended since, the next call reports it.
    if (error instanceof EngineError) return {};
    throw error;
  }
}

/**
 * Why an atom is true, or how far each rule gets and what is missing. It may come from a reasoning thread, which writes a
 * long one as text.
 */
export async function explainForText(
  engine: ReadingEngine,
  caller: Caller,
  input: ExplainInput,
): Promise<Explanation | JsonText> {
  const { live } = engine;
  const { predicate, args, negated, mode } = input;
  const body = [{ predicate, args, negated, naf: false }];
  const goals = relationsRead(body);
  return live.asQuestion(caller, input, (timed) =>
    hereOrThere(engine, caller, timed, {
      kind: 'explain',
      input,
      shape: shapeOfQuestion(input, body, mode),
      about: null,
      reach: (now) => (mode === 'why' ? cone(now, goals) : coneOfWhyNot(now, goals)),
      here: async (context) => {
        const { explanation, used } = await explain(context, input);
        await live.noteUses(context, used);
        return explanation;
      },
    }),
  );
}

/** One figure over the matches of an atom, and per group. It may come from a reasoning thread, many groups as text. */
export async function aggregateForText(
  engine: ReadingEngine,
  caller: Caller,
  input: AggregateInput,
): Promise<AggregateResult | JsonText> {
  const { predicate, args, infer } = input;
  const body = [{ predicate, args: args ?? [], negated: false, naf: false }];
  const kind = `aggregate${infer ? '' : ' stored'}${args === null ? ' any' : ''}`;
  return engine.live.asQuestion(caller, input, (timed) =>
    hereOrThere(engine, caller, timed, {
      kind: 'aggregate',
      input,
      shape: shapeOfQuestion(input, body, kind),
      about: null,
      reach: (now) => {
        const relations = relationsAggregated(now, input);
        return infer ? cone(now, relations) : { goals: [], relations };
      },
      here: (context) => aggregateFacts(context, input),
    }),
  );
}

/** What would be true after hypothetical changes, beside what is. It may come from a reasoning thread, long ones as text. */
export async function whatIfForText(
  engine: ReadingEngine,
  caller: Caller,
  input: WhatIfInput,
): Promise<WhatIfResult | JsonText> {
  const goals = (input.goals ?? []).map((goal) => ({ ...goal, naf: false }));
  return engine.live.asQuestion(caller, input, (timed) =>
    hereOrThere(engine, caller, timed, {
      kind: 'whatIf',
      input,
      shape: shapeOfQuestion(input, goals, `whatIf ${[...new Set(changedBy(input))].join(' ')}`),
      about: null,
      reach: (now) => coneOfWhatIf(now, input),
      here: (context) => whatIf(context, input),
    }),
  );
}

/** A read that shows an evaluation. It may come from a reasoning thread, a long one as text. */
function evaluationForText<Kind extends 'plan' | 'trace', Result>(
  kind: Kind,
  show: (context: ReadContext, input: RemoteReads[Kind], body: readonly Literal[]) => Promise<Result>,
) {
  return (engine: ReadingEngine, caller: Caller, input: RemoteReads[Kind]): Promise<Result | JsonText> => {
    const body = bodyOf(input);
    return engine.live.asQuestion(caller, input, (timed) =>
      hereOrThere(engine, caller, timed, {
        kind,
        input,
        shape: shapeOfQuestion(input, body, kind),
        about: [],
        reach: (now) => ({ goals: [], relations: now.reader.program.below(relationsRead(body)) }),
        here: (context) => show(context, input, body),
      }),
    );
  };
}

/** How a question would be evaluated. */
export const planForText = evaluationForText('plan', planOf);

/** How a question is evaluated, rule by rule. */
export const traceForText = evaluationForText('trace', trace);

/** Relations whose conclusions become known, with all below them. */
function cone({ reader }: ReadContext, goals: readonly string[]): Reach {
  return { goals, relations: reader.program.below(goals) };
}

/** As if every rule were enabled: a disabled one may be what is missing. */
function coneOfWhyNot({ database, reader }: ReadContext, goals: readonly string[]): Reach {
  const rules = database.rules.all();
  if (rules.every(({ enabled }) => enabled))
    return { goals, relations: reader.program.below(goals), ends: true };
  const all = new Program(rules.map((rule) => (rule.enabled ? rule : { ...rule, enabled: true })));
  return { goals, relations: all.below(goals), ends: true };
}

/** The relations that the change names. */
function changedBy({ assert, retract }: WhatIfInput): string[] {
  return [
    ...assert.map(({ predicate, args, truthVal }) => relationKey(predicate, args.length, !truthVal)),
    ...retract.flatMap(({ predicate, args, truthVal }) =>
      (truthVal === null ? [false, true] : [!truthVal]).map((negated) =>
        relationKey(predicate, args.length, negated),
      ),
    ),
  ];
}

/**
 * The relations that the change names and reaches, those of the goals and of the supposed rules, with all below them. A
 * supposed rule reaches nothing that its head and the stored rules do not.
 */
function coneOfWhatIf({ database, reader }: ReadContext, input: WhatIfInput): Reach | null {
  const { program } = reader;
  const changed = new Set(changedBy(input));
  const read: string[] = [];
  for (const id of input.withoutRules) {
    const record = database.rules.get(id);
    // It is refused here, after what comes before it.
    if (record === null) return null;
    changed.add(relationOf(record.rule.head));
  }
  for (const given of input.rules) {
    const rule = ruleIfValid(given);
    if (rule === null) return null;
    changed.add(relationOf(rule.head));
    read.push(...relationsRead(rule.body));
  }
  const goals = input.goals?.map(relationOf) ?? program.reachedFrom(changed);
  return { goals: [], relations: program.below([...changed, ...read, ...goals]) };
}

/** null: it is refused where it is supposed, after what comes before it. */
function ruleIfValid(given: WhatIfInput['rules'][number]): Rule | null {
  try {
    return ruleToStore(given).rule;
  } catch (error) {
    if (error instanceof EngineError) return null;
    throw error;
  }
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
