/** GET /facts/:id/history: every version of one fact, and who wrote it. */
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { FactHistory, LifeBound } from '../contract/history.ts';
import { renderIdentity } from '../language/print.ts';
import type { RetainedLog } from '../log/retained.ts';
import type { DatabaseState } from '../state/state.ts';
import type { FactIdentity, FactRow, FactStore } from '../store/fact-store.ts';
import { boundOf, factEffects } from './effects.ts';
import { HistoryReplay, type ReplaySlices, replayTo } from './replay.ts';

type Life = FactHistory['lives'][number];

/** The end of what to read, and for how long. */
interface Extent {
  /** Sequence of the last record to read. */
  readonly newest: number;
  /** What was stored for the tenant up to this generation was erased. */
  readonly erasedThrough: number;
  readonly slices: ReplaySlices;
}

/**
 * The lives of the fact with this id, oldest first; `identity`: of the fact if it is still in memory. Throws FactNotFound
 * if the history does not know the id.
 */
export async function factHistory(
  retained: RetainedLog,
  { database, tenant }: Caller,
  { id, identity: known }: { readonly id: string; readonly identity: FactIdentity | null },
  extent: Extent,
): Promise<FactHistory> {
  const { newest, erasedThrough, slices } = extent;
  const identity = known ?? (await identityOf(retained, { database, tenant, id }, extent));
  const lives: Life[] = [];
  const [base] = retained.bases;
  if (base === undefined) throw unknown(id);
  const replay = await HistoryReplay.from(retained, base, database, slices);
  const first = find(replay.database, tenant, identity);
  if (first !== null && first.facts.isStored(first.fact, base.time))
    lives.push(lifeOf(first.facts, first.fact, earlierBound(first.database, first.fact)));
  for await (const { record, report } of replay.through(newest)) {
    if (report.cleared?.tenants.has(tenant) === true) lives.length = 0;
    if (report.tenant !== tenant || report.generation <= erasedThrough) continue;
    const now = find(report.database, tenant, identity);
    if (now === null) continue;
    const { generation } = report;
    const { relation, row } = now.fact;
    const isTouched = relation.bornIn(row) === generation || relation.death?.[row] === generation;
    if (!isTouched) continue;
    const bound = boundOf(record, generation);
    for (const { before, after } of factEffects(report)) {
      const row = after ?? before;
      if (row?.relation !== now.fact.relation || !isSame(now.facts, row, identity)) continue;
      const last = lives.at(-1);
      if (last !== undefined && last.to === null) lives[lives.length - 1] = { ...last, to: bound };
      if (after !== null) lives.push(lifeOf(now.facts, after, bound));
    }
  }
  if (lives.length === 0) throw unknown(id);
  return { atom: renderIdentity(identity), scope: identity.scope, lives };
}

/** Looks for the fact with the id where it was asserted: ids begin with that generation. */
async function identityOf(
  retained: RetainedLog,
  { database, tenant, id }: { readonly database: string; readonly tenant: string; readonly id: string },
  { newest, erasedThrough, slices }: Extent,
): Promise<FactIdentity> {
  const generation = Number(/^f(\d{1,15})-\d{1,9}$/.exec(id)?.[1] ?? 0);
  if (generation === 0 || generation <= erasedThrough) throw unknown(id);
  let replay: HistoryReplay;
  try {
    replay = await replayTo(retained, { kind: 'generation', generation: generation - 1 }, database, slices);
  } catch (error) {
    // Asserted before the history begins, and not in memory any more: the oldest state may have it.
    const [base] = retained.bases;
    if (!(error instanceof EngineError && error.code === 'HistoryGone') || base === undefined) throw error;
    replay = await HistoryReplay.from(retained, base, database, slices);
  }
  for await (const { report } of replay.through(newest)) if (report.generation >= generation) break;
  const facts = replay.database?.tenants.get(tenant)?.facts;
  const fact = facts?.byId(id) ?? null;
  if (facts === undefined || fact === null) throw unknown(id);
  return facts.identityOf(fact);
}

function unknown(id: string): EngineError {
  return new EngineError(
    'FactNotFound',
    `the history of this tenant has no fact ${id}: it may be of another tenant, or older than what is retained`,
  );
}

function find(
  database: DatabaseState | null,
  tenant: string,
  { predicate, args, truthVal, scope }: FactIdentity,
): { readonly database: DatabaseState; readonly facts: FactStore; readonly fact: FactRow } | null {
  const facts = database?.tenants.get(tenant)?.facts;
  const fact = facts?.find(predicate, args, truthVal, scope) ?? null;
  return database === null || facts === undefined || fact === null ? null : { database, facts, fact };
}

function isSame(facts: FactStore, fact: FactRow, { args, scope }: FactIdentity): boolean {
  return facts.scopeOf(fact) === scope && facts.argsOf(fact).every((arg, at) => arg === args[at]);
}

/** Of what the oldest retained state has already: the write is known, but not who made it. */
function earlierBound(database: DatabaseState, { relation, row }: FactRow): LifeBound {
  const generation = relation.bornIn(row);
  return { generation, time: database.timeOf(generation), actor: null, surface: null };
}

function lifeOf(facts: FactStore, fact: FactRow, from: LifeBound): Life {
  const { from: validFrom, until } = fact.relation.boundsOf(fact.row);
  return {
    id: facts.idOf(fact),
    from,
    to: null,
    validFrom: Number.isFinite(validFrom) ? validFrom : null,
    validUntil: Number.isFinite(until) ? until : null,
    metadata: facts.metadataOf(fact),
  };
}
