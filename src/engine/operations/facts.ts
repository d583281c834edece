/** Operations on facts. */
import { withoutCancellation } from '../session/writer.ts';
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { FactPattern } from '../store/fact-store.ts';
import { Slices } from '../base/slices.ts';
import type { ReadContext } from '../session/read-context.ts';
import { consequencesTimeoutMs } from '../session/consequences.ts';
import { factDetail, listPredicates, noSuchFact, requireFact } from '../read/describe.ts';
import { patternOf } from '../session/dependents.ts';
import { hintsOfFacts, hintsPart } from '../read/hints.ts';
import { hintsOfRetraction, limitsOfHint } from '../read/conclusion-hint.ts';
import { listFacts } from '../read/list-facts.ts';
import { defaultLimits } from '../session/live-state.ts';
import { renderAtom } from '../language/print.ts';
import { checkNoneChanged } from '../commit/prepare-facts.ts';
import { queryFacts, queryByPointLookup } from '../read/query.ts';
import { retract, tryRetract } from '../write/retract.ts';
import type { Operation } from '../state/operation.ts';
import { factOutcome, factsOutcome, factsWrite, factWrite } from '../write/tell.ts';
import type { EngineContext } from './engine-context.ts';
import type * as contract from '../contract/facts.ts';

/** Asserts a fact. */
export async function tell(
  engine: EngineContext,
  caller: Caller,
  input: contract.FactInput & { ifGeneration: number | null },
): Promise<contract.FactOutcome> {
  const { ifGeneration, ...fact } = input;
  const write = factWrite(
    caller.tenant,
    fact,
    ifGeneration,
    engine.live.showTime(),
    engine.live.storeOf(caller),
  );
  const hints = hintsOfNewFacts(engine, caller, [fact]);
  const { outcome } = await engine.write({ caller, database: caller.database, ...write });
  return { ...factOutcome(outcome, fact), ...hintsPart(hints) };
}

/** Asserts facts in one write: all of them or none. */
export async function tellAll(
  engine: EngineContext,
  caller: Caller,
  inputs: readonly contract.FactInput[],
): Promise<contract.FactsOutcome> {
  const slices = new Slices(engine.parts.pause);
  const write = await factsWrite(
    caller.tenant,
    inputs,
    engine.live.showTime(),
    engine.live.storeOf(caller),
    slices,
  );
  const hints = hintsOfNewFacts(engine, caller, inputs);
  const { outcome } = await engine.write({ caller, database: caller.database, ...write });
  return { ...factsOutcome(outcome), ...hintsPart(hints) };
}

/** Retracts one fact. */
export async function forget(
  engine: EngineContext,
  caller: Caller,
  input: contract.RetractInput,
): Promise<contract.RetractOutcome> {
  const { predicate, args, truthVal } = input;
  const atom = renderAtom({ predicate, args, negated: truthVal === false });
  return { atom, ...(await forgetPattern(engine, caller, input)) };
}

/** Retracts the facts that match, and reports which conclusions went with them; a dry run changes nothing. */
export async function forgetPattern(
  engine: EngineContext,
  caller: Caller,
  input: contract.RetractInput,
): Promise<contract.RetractPatternOutcome> {
  const pattern = patternOf(input);
  const { ifGeneration } = input;
  const check = (time: number): void => {
    if (ifGeneration === null) return;
    const { generation } = engine.live.database(caller);
    checkNoneChanged(engine.live.storeOf(caller)(), pattern, ifGeneration, { generation, time });
  };
  const operation: Operation = { kind: 'retract', tenant: caller.tenant, pattern };
  const whenSame = ifGeneration === null ? undefined : check;
  const answer = input.dryRun
    ? await tryRetract(engine.live, caller, input, check)
    : (await retract(engine, caller, operation, input, whenSame)).answer;
  if (answer.status !== 'absent') return answer;
  return { ...answer, ...hintsPart(await hintsAfterRetraction(engine, caller, pattern)) };
}

/** Retracts the fact of this id; FactNotFound if there is none. */
export async function forgetById(
  engine: EngineContext,
  caller: Caller,
  id: string,
): Promise<contract.RetractOutcome> {
  const check = (time: number): void => {
    const store = engine.live.storeOf(caller)();
    const fact = store?.byId(id) ?? null;
    if (store === null || fact === null || !store.isStored(fact, time)) throw noSuchFact(id);
  };
  const operation: Operation = { kind: 'retractById', tenant: caller.tenant, id };
  const { atom, answer } = await retract(
    engine,
    caller,
    operation,
    { dependents: 'known', dryRun: false, timeoutMs: consequencesTimeoutMs },
    check,
  );
  return { atom: present(atom, 'what was retracted by its id has an atom'), ...answer };
}

/** Stored facts that match, without inference. */
export async function query(
  engine: EngineContext,
  caller: Caller,
  input: contract.QueryInput,
): Promise<contract.QueryResult> {
  const queried = async (context: ReadContext, plain = context): Promise<contract.QueryResult> => {
    const { result, facts: used } = await queryFacts(context, input);
    await engine.live.noteUses(plain, used);
    return result;
  };
  if (caller.transaction !== null) return engine.transactions.reading(caller, defaultLimits, queried);
  const few = engine.live.look(caller, (context) => queryByPointLookup(context, input));
  return few ?? engine.live.reading(caller, defaultLimits, (context) => queried(context));
}

/** A page of the facts and conclusions of a tenant, filtered and ordered. */
export async function facts(
  engine: EngineContext,
  caller: Caller,
  query: contract.ListFactsQuery,
): Promise<contract.FactList> {
  const about = query.derived ? null : [];
  return engine.live.reading(caller, defaultLimits, (context) => listFacts(context, query), about);
}

/** One stored fact with its history; FactNotFound if there is none. */
export async function fact(engine: EngineContext, caller: Caller, id: string): Promise<contract.FactDetail> {
  const read = (context: ReadContext) => factDetail(context, requireFact(context, id));
  return engine.live.reading(caller, defaultLimits, read, null);
}

/** The predicates of a tenant with counts; counts of conclusions that are not worked out yet are begun when the engine is idle. */
export async function predicates(engine: EngineContext, caller: Caller): Promise<contract.PredicateList> {
  const read = async (context: ReadContext): Promise<contract.PredicateList> => {
    const list = await listPredicates(context);
    if (list.predicates.some(({ derivedComplete }) => !derivedComplete))
      engine.live.countWhenQuiet(context, caller);
    return list;
  };
  return engine.live.reading(caller, { ...defaultLimits, isAside: true }, read, null);
}

async function hintsAfterRetraction(
  engine: EngineContext,
  caller: Caller,
  pattern: FactPattern,
): Promise<string[]> {
  const hints = (context: ReadContext): Promise<string[]> => hintsOfRetraction(context, pattern);
  try {
    return await engine.live.reading(withoutCancellation(caller), limitsOfHint, hints);
  } catch (error) {
    // The retraction was made, and is answered: what went or closed since then is not its failure.
    if (error instanceof EngineError) return [];
    throw error;
  }
}

/** Of facts before they are written. */
function hintsOfNewFacts(
  engine: EngineContext,
  caller: Caller,
  inputs: readonly contract.FactInput[],
): string[] {
  const known = engine.knownBefore(caller);
  return known === null ? [] : hintsOfFacts(known, inputs);
}
