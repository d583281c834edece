/**
 * Erases facts from the present and from the retained past.
 *
 * The log rewrites its retained files with the snapshot after the record that erased something; `HistoryErasures` says how,
 * and keeps what was found for the request that waits for it.
 */
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { Pause } from '../base/slices.ts';
import type { ForgottenEntity, ForgetEntityInput } from '../contract/history.ts';
import type { MemoryBudget, MemoryHolder } from '../datalog/model/memory-budget.ts';
import { traitsOf } from '../language/rule-traits.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Log } from '../log/log.ts';
import type { RetainedLog } from '../log/retained.ts';
import type { HistoryRewrite, RewrittenPiece } from '../log/rewriting.ts';
import type { Writer } from '../session/writer.ts';
import { withoutCancellation } from '../session/writer.ts';
import { type ForgottenPast, HistoryRewriter } from '../state/history-rewriter.ts';
import { type Operation, outcomeAs } from '../state/operation.ts';
import { type ErasingRecord, erasureOf } from '../state/redaction.ts';
import type { DatabaseState, TenantState } from '../state/state.ts';
import { ErasedFacts } from '../store/erased-facts.ts';
import { namesOfEntity } from '../store/alias-store.ts';
import { requireReach, requireTenant } from '../write/databases.ts';
import type { Replays } from './replay.ts';

/** How many requests' findings are kept, and sequences of records; whoever waits for one takes it soon. */
const maxKept = 1000;

/** Rewrites the retained history, and remembers what that erased. */
export class HistoryErasures implements HistoryRewrite {
  readonly #memory: MemoryBudget;
  readonly #pause: Pause;
  readonly #onErased: () => void;
  /** Sequences of records that forget an entity, by request. */
  readonly #sequences = new Map<string, number>();
  readonly #found = new Map<number, ForgottenPast>();

  /** `onErased` is called when the files are no longer as they were. */
  constructor(memory: MemoryBudget, pause: Pause, onErased: () => void) {
    this.#memory = memory;
    this.#pause = pause;
    this.#onErased = onErased;
  }

  /** Call it after a record was applied. True if it forgets an entity. */
  applied({ requestId, sequence, operation }: LogRecord): boolean {
    if ((operation as Operation).kind !== 'forget') return false;
    keep(this.#sequences, requestId, sequence);
    return true;
  }

  /** The history up to a record without what was erased since: see `HistoryRewrite`. */
  async *pieces(retained: RetainedLog, through: number): AsyncGenerator<RewrittenPiece, void, undefined> {
    const { forgotten, pieces } = this.#rewriter(retained, through, []);
    yield* pieces();
    // A snapshot that came in between may have erased it before this one, which then finds nothing.
    for (const [sequence, { pastFacts, generations }] of forgotten()) {
      const before = this.#found.get(sequence) ?? nothing;
      keep(this.#found, sequence, {
        pastFacts: Math.max(before.pastFacts, pastFacts),
        generations: before.generations + generations,
      });
    }
  }

  async hasErasures(retained: RetainedLog, through: number): Promise<boolean> {
    const [first] = retained.bases;
    if (first === undefined) return false;
    for await (const record of retained.records(first.sequence, through))
      if (erasureOf(record) !== null) return true;
    return false;
  }

  /** What was read of the history as it was before is out of date. */
  ended(): void {
    this.#onErased();
  }

  /** What erasing these facts would find in the history up to a record. Changes nothing. */
  async wouldFind(retained: RetainedLog, through: number, planned: ErasingRecord): Promise<ForgottenPast> {
    const { forgotten, pieces } = this.#rewriter(retained, through, [planned]);
    for await (const _piece of pieces());
    return forgotten().get(planned.sequence) ?? nothing;
  }

  /** What the rewriting after the request's record found; nothing if there was nothing to rewrite. */
  foundFor(requestId: string): ForgottenPast {
    const sequence = this.#sequences.get(requestId);
    return (sequence === undefined ? undefined : this.#found.get(sequence)) ?? nothing;
  }

  #rewriter(retained: RetainedLog, through: number, planned: readonly ErasingRecord[]) {
    const holder: MemoryHolder = { bytes: 0, evict: () => false };
    const use = (bytes: number): void => this.#memory.use(holder, bytes);
    const rewriter = new HistoryRewriter(retained, through, { pause: this.#pause, use }, planned);
    const memory = this.#memory;
    async function* pieces(): AsyncGenerator<RewrittenPiece, void, undefined> {
      try {
        yield* rewriter.pieces();
      } finally {
        memory.forget(holder);
      }
    }
    return { pieces, forgotten: () => rewriter.forgotten };
  }
}

const nothing: ForgottenPast = { pastFacts: 0, generations: 0 };

function keep<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.set(key, value);
  if (map.size <= maxKept) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    break;
  }
}

/** What forgetting an entity needs of the engine. */
export interface ForgettingEngine extends Writer {
  readonly parts: { readonly log: Log };
  readonly replays: Replays;
  readonly erasures: HistoryErasures;
  readonly snapshots: { take(): Promise<unknown> };
}

/** What the answer says is left as it was. */
const notChanged = ['rules', 'metadata', 'reasons', 'backups'] as const;

/**
 * Erases all facts about an entity, present and past, and its aliases; resolves when they are gone from the folder. Rejects
 * with Forbidden, DatabaseNotFound, TenantNotFound, Conflict if the log is in a store, and StorageUnavailable: then the
 * present has none of them any more, and the next snapshot erases the past.
 */
export async function forgetEntity(
  engine: ForgettingEngine,
  caller: Caller,
  { database: name, tenant, entity, dryRun }: ForgetEntityInput,
): Promise<ForgottenEntity> {
  const { live, parts, snapshots, erasures } = engine;
  live.refuseClosed();
  requireReach(caller, name, tenant);
  const of: Caller = { ...withoutCancellation(caller), database: name, tenant };
  const database = live.database(of);
  requireTenant(database, tenant);
  if (parts.log.isRemote)
    throw new EngineError(
      'Conflict',
      'with STORE_URL records are not rewritten: retract the facts, or nuke the tenant; its log is trimmed with snapshots',
    );
  const stored = database.tenants.get(tenant);
  const names = stored === undefined ? [entity] : namesOfEntity(stored.aliases, entity);
  const rulesMentioning = rulesOf(database, new Set(names));
  if (dryRun) return wouldForget(engine, of, stored, { names, rulesMentioning });
  const check = (): void => requireTenant(live.database(of), tenant);
  const operation: Operation = { kind: 'forget', tenant, names };
  const { outcome } = await engine.write({ caller: of, database: name, operation, check });
  await snapshots.take();
  const { retracted: facts, generation } = outcomeAs(outcome, 'retracted');
  const { pastFacts, generations } = erasures.foundFor(caller.requestId);
  return {
    status: 'forgotten',
    facts,
    pastFacts,
    generationsRewritten: generations,
    rulesMentioning,
    notChanged: [...notChanged],
    generation,
  };
}

async function wouldForget(
  engine: ForgettingEngine,
  caller: Caller,
  tenant: TenantState | undefined,
  { names, rulesMentioning }: { readonly names: readonly string[]; readonly rulesMentioning: string[] },
): Promise<ForgottenEntity> {
  const { live, parts, replays, erasures } = engine;
  const erased = new ErasedFacts(names);
  const slices = engine.slices(caller);
  let facts = 0;
  for (const row of tenant === undefined ? [] : erased.rowsOf(tenant.facts)) {
    if (row === null) await slices.breathe();
    else if (row.relation.isAlive(row.row)) facts++;
  }
  const generation = live.database(caller).generationOf(caller.tenant);
  const { database, tenant: name } = caller;
  const planned = { sequence: Number.POSITIVE_INFINITY, database, tenant: name, facts: erased };
  const through = parts.log.lastSequence;
  const pause = (): Promise<void> => slices.pause();
  const found = await replays.run(caller, pause, (retained) =>
    erasures.wouldFind(retained, through, planned),
  );
  return {
    status: 'forgotten',
    facts,
    pastFacts: found.pastFacts,
    generationsRewritten: found.generations,
    rulesMentioning,
    notChanged: [...notChanged],
    generation,
    dryRun: true,
  };
}

/** The ids of the rules that name one of these constants. */
function rulesOf({ rules }: DatabaseState, names: ReadonlySet<string>): string[] {
  return rules
    .all()
    .filter(({ rule }) => traitsOf(rule).constants.some((each) => names.has(each)))
    .map(({ id }) => id);
}
