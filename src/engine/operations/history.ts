/** Reads of the retained history, and reverts: what they need of the engine. */
import type { Caller } from '../base/caller.ts';
import type { FactHistory, History, HistoryQuery, Reverted, RevertInput } from '../contract/history.ts';
import { factHistory } from '../history/fact-history.ts';
import { listHistory } from '../history/list-history.ts';
import { answerLogged, changesOfRange, revertRange } from '../history/revert.ts';
import type { ReplaySlices } from '../history/replay.ts';
import type { RetainedLog } from '../log/retained.ts';
import { defaultLimits } from '../session/read-limits.ts';
import type { EngineContext } from './engine-context.ts';

/** What was stored for the caller's tenant up to this generation was erased. Throws DatabaseNotFound. */
function erasedThrough({ live }: EngineContext, caller: Caller): number {
  const database = live.database(caller);
  const facts = database.tenants.get(caller.tenant)?.facts;
  return facts?.forgottenThrough ?? database.forgottenThrough(caller.tenant);
}

/** Replays in one of the tenant's places for questions. */
function replaying<Result>(
  { live, parts, replays }: EngineContext,
  caller: Caller,
  work: (retained: RetainedLog, slices: ReplaySlices) => Promise<Result>,
): Promise<Result> {
  return live.asQuestion(caller, defaultLimits, () =>
    replays.run(caller, parts.scheduler.pauseOf(caller), work),
  );
}

/** A page of who changed what. */
export async function history(engine: EngineContext, caller: Caller, query: HistoryQuery): Promise<History> {
  const { live, parts } = engine;
  live.refuseClosed();
  const aliases = live.database(caller).tenants.get(caller.tenant)?.aliases;
  const { entity } = query;
  const names = entity === null ? null : new Set([entity, ...(aliases?.of(entity) ?? [])]);
  const about = { query, names, erasedThrough: erasedThrough(engine, caller) };
  const newest = parts.log.lastSequence;
  return replaying(engine, caller, (retained, slices) =>
    listHistory(retained, caller, about, { newest, slices }),
  );
}

/** The lives of a fact, by an id that it has or had. */
export async function factLives(engine: EngineContext, caller: Caller, id: string): Promise<FactHistory> {
  const { live, parts } = engine;
  live.refuseClosed();
  const facts = live.database(caller).tenants.get(caller.tenant)?.facts ?? null;
  const row = facts?.byId(id) ?? null;
  const identity = facts === null || row === null ? null : facts.identityOf(row);
  const newest = parts.log.lastSequence;
  const through = erasedThrough(engine, caller);
  return replaying(engine, caller, (retained, slices) =>
    factHistory(retained, caller, { id, identity }, { newest, erasedThrough: through, slices }),
  );
}

/** Takes back what a range of generations changed, or says what that would do. */
export async function revert(engine: EngineContext, caller: Caller, input: RevertInput): Promise<Reverted> {
  const { live, parts } = engine;
  if (input.dryRun) live.refuseClosed();
  else engine.refuseWrites();
  // What a repeated request reverted may be touched, or beyond the history, by now.
  const earlier = input.dryRun ? null : engine.earlierOutcome(caller);
  if (earlier !== null) return answerLogged(earlier);
  const extent = {
    newest: parts.log.lastSequence,
    generation: live.database(caller).generationOf(caller.tenant),
    time: parts.state.time,
    erasedThrough: erasedThrough(engine, caller),
  };
  const range = await replaying(engine, caller, (retained, slices) =>
    changesOfRange(retained, caller, input, { ...extent, slices }),
  );
  return revertRange(engine, caller, input, range);
}
