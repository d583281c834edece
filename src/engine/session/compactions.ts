import type { Scheduler } from '../base/scheduler.ts';
import { Slices } from '../base/slices.ts';
import type { DatabaseState, TenantState } from '../state/state.ts';

/** What compaction asks and tells. */
export interface CompactionParts {
  readonly scheduler: Scheduler;
  /**
   * The generation through which a tenant's dead rows are not needed; null: a running read may need any of them.
   */
  readonly droppableThrough: (database: DatabaseState, name: string, tenant: TenantState) => number | null;
  /** Receives internal errors: bugs. */
  readonly onBug: (error: unknown) => void;
}

/**
 * Removes dead rows, and uses of facts that left, when no reader can need them any more: those of small relations and writes at
 * once, those of large ones in slices, relations after most rows were copied.
 */
export class Compactions {
  readonly #parts: CompactionParts;
  /** Changed relations that wait for readers, or for their copies. */
  readonly #waiting = new Map<TenantState, Set<string>>();
  readonly #running = new Map<TenantState, Promise<void>>();
  #isClosed = false;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
  }

  /** Removes dead rows of these relations and of those that wait, as far as that is possible now. */
  goOn(database: DatabaseState, name: string, tenant: TenantState, touched: Iterable<string> = []): void {
    const relations = this.#waiting.get(tenant) ?? new Set();
    for (const relation of touched) relations.add(relation);
    if ((relations.size === 0 && !tenant.uses.isDropping) || this.#isClosed) return;
    this.#waiting.set(tenant, relations);
    // A write in progress may refer to these rows, and has ended versions that still look alive.
    if (database.isChangingFor(name)) return;
    const through = this.#parts.droppableThrough(database, name, tenant);
    if (through === null) return;
    this.#waiting.set(tenant, new Set(tenant.facts.compact(relations, through)));
    if (!this.#running.has(tenant) && this.#nextOf(tenant) !== null)
      this.#running.set(tenant, this.#copy(database, name, tenant));
  }

  /** Forgets a tenant that was removed. */
  drop(tenant: TenantState): void {
    this.#waiting.delete(tenant);
  }

  /** Resolves when nothing is copied any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#running.values());
  }

  async #copy(database: DatabaseState, name: string, tenant: TenantState): Promise<void> {
    const owner = { database: database.name, tenant: name };
    const slices = new Slices(this.#parts.scheduler.pauseOf(owner, 'compaction'));
    try {
      await slices.pause();
      for (let next = this.#nextOf(tenant); next !== null; next = this.#nextOf(tenant)) {
        next();
        await slices.breathe();
      }
    } catch (error) {
      this.#parts.onBug(error);
      return;
    } finally {
      this.#running.delete(tenant);
    }
    if (this.#waiting.has(tenant)) this.goOn(database, name, tenant);
  }

  /** The next step; null: there is none. */
  #nextOf(tenant: TenantState): (() => void) | null {
    if (this.#isClosed) return null;
    if (tenant.uses.isDropping) return () => tenant.uses.dropMore();
    for (const key of this.#waiting.get(tenant) ?? []) {
      const compaction = tenant.facts.relations.get(key)?.compacting ?? null;
      if (compaction?.isNearlyWhole === false) return () => compaction.step();
    }
    return null;
  }
}
