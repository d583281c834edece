/**
 * Windows, recall and search: here, or on a reasoning thread once they derive for long. What they rank by salience needs a
 * copy of all facts of the tenant with their uses, so they begin there later than other reads.
 */
import type { Caller } from '../base/caller.ts';
import type { JsonText } from '../base/json-text.ts';
import type { ContextWindow, OptimizeInput } from '../contract/context.ts';
import { windowTimeoutMs } from '../contract/fields.ts';
import type { Recalled, RecallInput } from '../contract/memory.ts';
import type { Searched, SearchInput } from '../contract/search.ts';
import { relationsRead } from '../datalog/model/program.ts';
import { relationKey } from '../language/terms.ts';
import { recall } from '../memory/recall.ts';
import type { RemoteWindow } from '../reasoning/messages.ts';
import { shapeOfQuestion } from '../reasoning/heavy-shapes.ts';
import type { Reach } from '../reasoning/reasoning-threads.ts';
import { search } from '../search/search.ts';
import type { ReadContext } from '../session/read-context.ts';
import { defaultLimits } from '../session/read-limits.ts';
import { recallFor } from '../window/recall-query.ts';
import { contextWindow } from '../window/window.ts';
import type { WindowReads } from '../window/windows.ts';
import type { EngineContext, ReadingEngine } from './engine-context.ts';
import { type Movable, objectOf, rankedAsText, rankedHereOrThere } from './moving.ts';

/** Windows of what the engine reads. */
export function windowReads(engine: ReadingEngine, newId: () => string): WindowReads {
  return (caller, input, leftOut, done) => {
    const wanted = { input, windowId: newId(), leftOut };
    const read = movableWindow(wanted, async (window, context) => done(window, context));
    const { live } = engine;
    return live.asQuestion(caller, limitsOf(input), (timed) =>
      derives(input)
        ? rankedHereOrThere(engine, caller, timed, {
            ...read,
            taken: (window: ContextWindow, { context }) => done(window, context),
          })
        : live.reading(caller, timed, (context) => read.here(context, context)),
    );
  };
}

/** A window of the present that no session keeps. It may come from a reasoning thread, a long one as text. */
export function windowForText(
  engine: ReadingEngine,
  newId: () => string,
  caller: Caller,
  input: OptimizeInput,
): Promise<ContextWindow | JsonText> {
  const read = movableWindow({ input, windowId: newId(), leftOut: null }, async (window) => window);
  const { live } = engine;
  return live.asQuestion<typeof defaultLimits, ContextWindow | JsonText>(caller, limitsOf(input), (timed) =>
    derives(input)
      ? rankedAsText(engine, caller, timed, read)
      : live.reading(caller, timed, (context) => read.here(context, context)),
  );
}

function movableWindow<Result>(
  wanted: RemoteWindow,
  done: (window: ContextWindow, context: ReadContext) => Promise<Result>,
): Movable<'window', Result> {
  const { input, windowId, leftOut } = wanted;
  const goals = (input.goals ?? []).map((goal) => ({ ...goal, naf: false }));
  return {
    kind: 'window',
    input: wanted,
    shape: shapeOfQuestion(input, goals, kindOf('window', input)),
    about: null,
    reach: (now) => ranked(now, input.query, [...relationsRead(goals), ...inferredIn(now, input)]),
    here: async (context) => done(await contextWindow(context, input, () => windowId, leftOut), context),
  };
}

function derives({ goals, query, includeInferred }: OptimizeInput): boolean {
  return includeInferred || query !== null || (goals ?? []).length > 0;
}

/** Windows of the moment that the caller names: by the thread that has a copy of the past, else here. */
export function momentWindowReads(engine: EngineContext): WindowReads {
  return async (caller, input, leftOut, done) => {
    const limits = limitsOf(input);
    const wanted: RemoteWindow = { input, windowId: engine.newId(), leftOut };
    const elsewhere = await engine.atMomentElsewhere(caller, limits.timeoutMs, 'window', wanted, null);
    if (elsewhere !== null) {
      const now = engine.live.pin(caller, limits);
      return done((await objectOf(elsewhere.result, now.pacer)) as ContextWindow, now);
    }
    return engine.atMoment(caller, limits.timeoutMs, (then) =>
      windowReads(then, engine.newId)(caller, input, leftOut, done),
    );
  };
}

/** The window as a reasoning thread reads it of a copy of the past. */
export function pastWindow(
  engine: ReadingEngine,
  caller: Caller,
  { input, windowId, leftOut }: RemoteWindow,
): Promise<ContextWindow> {
  return windowReads(engine, () => windowId)(caller, input, leftOut, async (window) => window);
}

/** The facts of highest salience; reading them here is no use of them. */
export function recalled(engine: ReadingEngine, caller: Caller, input: RecallInput): Promise<Recalled> {
  const { includeInferred, query } = input;
  const { live } = engine;
  const here = (context: ReadContext): Promise<Recalled> =>
    query === null ? recall(context, input) : recallFor(context, input, query);
  return live.asQuestion(caller, limitsOf(input), (timed) =>
    includeInferred || query !== null
      ? rankedHereOrThere(engine, caller, timed, {
          kind: 'recall',
          input,
          shape: shapeOfQuestion(input, [], kindOf('recall', input)),
          about: null,
          reach: (now) => ranked(now, query, inferredIn(now, input)),
          here,
          taken: async (answer: Recalled) => answer,
        })
      : live.reading(caller, timed, here),
  );
}

/** The hits of a text, and what it mentions. */
export function searched(engine: ReadingEngine, caller: Caller, input: SearchInput): Promise<Searched> {
  return engine.live.asQuestion(caller, defaultLimits, (timed) =>
    rankedHereOrThere(engine, caller, timed, {
      kind: 'search',
      input,
      shape: shapeOfQuestion(input, [], 'search'),
      about: null,
      reach: (now) => ranked(now, input.text, []),
      here: (context) => search(context, input),
      taken: async (answer: Searched) => answer,
    }),
  );
}

/** Everything that the tenant stores; null: a text is compared by meaning too, which only this thread can. */
function ranked(
  { tenant, meaning }: ReadContext,
  text: string | null,
  goals: readonly string[],
): Reach | null {
  if (text !== null && meaning !== null) return null;
  return { goals, relations: [...tenant.facts.relations.keys()], salience: true };
}

/** The relations of which all conclusions are wanted. */
function inferredIn(
  { reader }: ReadContext,
  { includeInferred, predicates }: Pick<OptimizeInput, 'includeInferred' | 'predicates'>,
): string[] {
  if (!includeInferred) return [];
  return reader.program
    .conclusions()
    .filter(({ predicate }) => predicates?.includes(predicate) ?? true)
    .map(({ predicate, arity, negated }) => relationKey(predicate, arity, negated));
}

function kindOf(
  kind: string,
  { includeInferred, query }: Pick<RecallInput, 'includeInferred' | 'query'>,
): string {
  return `${kind}${includeInferred ? ' inferred' : ''}${query === null ? '' : ' query'}`;
}

function limitsOf({ timeoutMs }: { readonly timeoutMs: number | null }): typeof defaultLimits {
  return { ...defaultLimits, timeoutMs: timeoutMs ?? windowTimeoutMs };
}
