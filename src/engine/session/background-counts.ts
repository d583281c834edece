import type { Clock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { relationKey } from '../language/terms.ts';
import { demand, Pacer, type Pause, settle } from '../datalog/tables/evaluation.ts';
import { apart } from '../datalog/model/fact-overlay.ts';
import { countRows } from '../datalog/maintain/derived-counts.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import type { Overlay } from '../datalog/model/reader.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import type { TableSet } from '../datalog/tables/table-set.ts';

/**
 * Conclusions are counted while nobody asks: of tenants whose predicates somebody looked at a short while ago, one
 * tenant at a time.
 *
 * A run begins after a while in which nobody asked or wrote anything, and ends at once when somebody does; it begins
 * again later with what is left. It works in tables of its own, which are let go: no question waits for it, nothing that
 * questions left is given up for it, and nothing becomes known but the numbers. A relation that takes too much time
 * or memory is left uncounted until something changes that it rests on.
 */

/** For how long nobody may have asked, in milliseconds. */
const quietMs = 300;
/** What one relation may take. */
const limits = { timeoutMs: 10_000, maxDerivations: 20_000_000 };
/** Of the memory for what is derived, the part that counting may take of what is free. */
const memoryDivisor = 4;
/** A run rests so many times as long as it worked, and no longer than this, before the next begins. */
const restFactor = 4;
const maxRestMs = 60_000;
/** Who has not looked for this long does not look any more. */
const interestMs = 300_000;

interface Wanted {
  readonly pin: () => PinnedReader;
  readonly lookedAt: number;
}

export interface BackgroundCountsHost {
  /** Says for how long nobody asked. */
  readonly clock: Clock;
  readonly pause: Pause;
  /** The memory for what is derived, and how much of it others hold now. */
  readonly memory: Pick<MemoryBudget, 'limit' | 'heldBytes'>;
  /** Told of an error that no caller hears of: a bug. */
  readonly onBug: (error: unknown) => void;
}

export class BackgroundCounts {
  readonly #host: BackgroundCountsHost;
  readonly #wanted = new Map<Reasoner, Wanted>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running: { readonly ending: AbortController; readonly done: Promise<void> } | null = null;
  #isClosed = false;
  /** When somebody last asked or wrote, by the clock. */
  #disturbedAt = Number.NEGATIVE_INFINITY;
  /** When the next run may begin, by `performance.now()`. */
  #nextRunAt = 0;

  constructor(host: BackgroundCountsHost) {
    this.#host = host;
  }

  /** Somebody looks at the tenant's counts. `pin` gives a reader of its present state. */
  wanted(reasoner: Reasoner, pin: () => PinnedReader): void {
    this.#wanted.set(reasoner, { pin, lookedAt: this.#host.clock.now() });
    this.#wake();
  }

  /** To be called when somebody asks or writes. */
  disturbed(): void {
    this.#disturbedAt = this.#host.clock.now();
    this.#running?.ending.abort();
  }

  /** Ends the run that is under way; resolves when it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#running?.ending.abort();
    await this.#running?.done;
  }

  #wake(): void {
    if (this.#isClosed || this.#timer !== null || this.#running !== null || this.#next() === null) return;
    const rest = this.#nextRunAt - performance.now();
    const wait = Math.min(maxRestMs, Math.max(quietMs, Math.ceil(rest)));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#isQuiet) this.#begin();
      else this.#wake();
    }, wait);
    // Nobody waits for it.
    this.#timer.unref();
  }

  get #isQuiet(): boolean {
    const now = this.#host.clock.now();
    // A clock that was set back puts a run off for no longer than that.
    this.#disturbedAt = Math.min(this.#disturbedAt, now);
    return now - this.#disturbedAt >= quietMs;
  }

  #begin(): void {
    const next = this.#next();
    if (next === null) return;
    const startedAt = performance.now();
    const ending = new AbortController();
    const done = this.#run(next, ending.signal)
      .catch((error: unknown) => {
        if (!ending.signal.aborted) this.#host.onBug(error);
      })
      .finally(() => {
        this.#running = null;
        const now = performance.now();
        this.#nextRunAt = now + Math.min((now - startedAt) * restFactor, maxRestMs);
        this.#wake();
      });
    this.#running = { ending, done };
  }

  /** The tenant that something is left to be counted of, and who looked at it. */
  #next(): { readonly reasoner: Reasoner; readonly wanted: Wanted } | null {
    for (const [reasoner, wanted] of this.#wanted) {
      const isOver = reasoner.isRetired || this.#host.clock.now() - wanted.lookedAt > interestMs;
      if (isOver) this.#wanted.delete(reasoner);
      else if (uncounted(reasoner).length > 0) return { reasoner, wanted };
    }
    return null;
  }

  async #run(
    { reasoner, wanted }: { readonly reasoner: Reasoner; readonly wanted: Wanted },
    signal: AbortSignal,
  ): Promise<void> {
    const reader = apart(wanted.pin());
    const { limit, heldBytes } = this.#host.memory;
    const memory = new MemoryBudget(Math.max(0, limit - heldBytes) / memoryDivisor);
    reasoner.readers++;
    try {
      const tooMuch = new Set<string>();
      let set = reasoner.tablesOver(reader);
      for (const relation of uncounted(reasoner)) {
        signal.throwIfAborted();
        if (reasoner.program !== reader.program) return;
        const { key } = relation;
        reasoner.counts.begin(key);
        const below = reader.program.below([key]);
        const isVain = [...tooMuch].some((each) => below.has(each));
        const pacer = (): Pacer => new Pacer({ ...limits, signal, memory }, this.#host.pause);
        let came = isVain ? 'timeoutMs' : await count(reasoner, relation, set, reader, pacer());
        if (came === 'memory') {
          // What was counted before may have been in the way.
          set = reasoner.tablesOver(reader);
          came = await count(reasoner, relation, set, reader, pacer());
        }
        if (came === 'counted') continue;
        tooMuch.add(key);
        reasoner.counts.end(key, 'too much');
        set = reasoner.tablesOver(reader);
      }
    } finally {
      reasoner.readers--;
    }
  }
}

type Keyed = RelationShape & { readonly key: string };

/** What rules conclude in the view of everything and nobody has counted: what the others read first. */
function uncounted({ program, counts }: Reasoner): Keyed[] {
  const found: (Keyed & { readonly level: number })[] = [];
  const view = { kind: 'all' as const };
  for (const shape of program.conclusions()) {
    const key = relationKey(shape.predicate, shape.arity, shape.negated);
    if (!counts.isSettled(key)) found.push({ ...shape, key, level: program.level(view, key) });
  }
  return found.sort((left, right) => left.level - right.level);
}

/** Counts a relation and notes that, or names the limit that ended it; rejects where it was to end. */
async function count(
  reasoner: Reasoner,
  { predicate, arity, negated, key }: Keyed,
  set: TableSet,
  reader: PinnedReader & { readonly overlay: Overlay },
  pacer: Pacer,
): Promise<string> {
  try {
    const table = set.table({ view: { kind: 'all' }, predicate, arity, negated }, []);
    demand(set, table, new Int32Array(0));
    await settle(set, reader, pacer);
    const { rows } = table.rows;
    const held = { table, rows, count: rows.count, dead: null };
    const textOf = (id: number): string => reader.overlay.constants.text(id);
    reasoner.counts.end(key, await countRows([held], textOf, reader, pacer));
    return 'counted';
  } catch (error) {
    if (error instanceof EngineError && error.code === 'InferenceLimitExceeded')
      return String(error.members['limit']);
    throw error;
  }
}
