/** The operations that only read, and can be asked about the past: of the present, of a moment, and on a reasoning thread. */
import type { Caller } from '../base/caller.ts';
import type { ListFactsQuery } from '../contract/facts.ts';
import { listFacts } from '../read/list-facts.ts';
import type { SendPart } from '../read/export-text.ts';
import { predicateGraph } from '../read/predicate-graph.ts';
import type { PastReadings } from '../reasoning/copied-pasts.ts';
import type { ReadContext } from '../session/read-context.ts';
import { defaultLimits, type ReadLimits } from '../session/read-limits.ts';
import { diffScopes, listScopes } from '../write/scopes.ts';
import type { ReadingEngine } from './engine-context.ts';
import { exportKnowledge } from './exporting.ts';
import { pastWindow, recalled, searched } from './windowing.ts';
import {
  aggregateForText,
  askForText,
  askAtOnce,
  asObject,
  askWithTables,
  explainForText,
  planForText,
  predicates,
  queryAll,
  queryAtOnce,
  queryForText,
  rules,
  traceForText,
  whatIfForText,
} from './questions.ts';

/**
 * An operation that only reads. `limitsOf` gives its limits; `about` the relations whose conclusions it needs, null: any.
 */
export function reading<Input, Result>(
  read: (context: ReadContext, input: Input) => Promise<Result>,
  limitsOf: (input: Input) => ReadLimits = () => defaultLimits,
  about: (input: Input) => readonly string[] | null = () => [],
) {
  return ({ live }: ReadingEngine, caller: Caller, input: Input): Promise<Result> =>
    live.reading(caller, limitsOf(input), (context) => read(context, input), about(input));
}

/** Like `reading`, in one of the tenant's places for running questions. */
export function asking<Input, Result>(...operation: Parameters<typeof reading<Input, Result>>) {
  const [read, limitsOf = () => defaultLimits, about = () => []] = operation;
  return ({ live }: ReadingEngine, caller: Caller, input: Input): Promise<Result> =>
    live.asQuestion(caller, limitsOf(input), (limits) =>
      live.reading(caller, limits, (context) => read(context, input), about(input)),
    );
}

/** The read may need any conclusions. */
export const anyConclusion = (): null => null;

/** The operations that can be asked about the past, by name: see `EngineContext.atMoment`. */
export const readings = {
  plan: asObject(planForText),
  planForText,
  query: asObject(queryAll, queryAtOnce),
  queryForText,
  /** How predicates depend on each other. */
  predicateGraph: reading(predicateGraph, () => ({ ...defaultLimits, isAside: true })),
  /** A page of the facts and conclusions of a tenant, filtered and ordered. */
  facts: asking(listFacts, undefined, ({ derived }: ListFactsQuery) => (derived ? null : [])),
  predicates,
  rules,
  ask: asObject(askWithTables, askAtOnce),
  askForText,
  aggregate: asObject(aggregateForText),
  aggregateForText,
  explain: asObject(explainForText),
  explainForText,
  whatIf: asObject(whatIfForText),
  whatIfForText,
  trace: asObject(traceForText),
  traceForText,
  scopes: listScopes,
  diff: diffScopes,
  /** The facts of highest salience; reading them here is no use of them. */
  recall: recalled,
  /** The hits of a text, and what it mentions. */
  search: searched,
  /** What is stored as text, part by part: see `exportText`. */
  export: exportKnowledge,
};

/** True if a reasoning thread can answer the operation about earlier knowledge. */
export function movesWithThePast(name: string): boolean {
  return name in readings;
}

const refused = (): Promise<never> => Promise.reject(new Error('a transaction reads the present'));
const transactions: ReadingEngine['transactions'] = { reading: refused, asking: refused };

/** The operations as a reasoning thread does them, over a copy of the past. */
export const pastReadings: PastReadings = Object.fromEntries(
  Object.entries<(engine: ReadingEngine, caller: Caller, input: never, send: SendPart) => Promise<unknown>>({
    ...readings,
    window: pastWindow,
  }).map(([name, read]) => [
    name,
    (engine, caller, input, send) =>
      read({ ...engine, transactions, threads: null }, caller, input as never, send),
  ]),
);
