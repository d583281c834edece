import type { Clock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import type { Pause } from '../base/slices.ts';
import { relationKey } from '../language/terms.ts';
import { demand, Pacer, settle } from '../datalog/tables/evaluation.ts';
import { apart } from '../datalog/model/fact-overlay.ts';
import { countRows } from '../datalog/maintain/derived-counts.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import type { Overlay } from '../datalog/model/reader.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import type { TableSet } from '../datalog/tables/table-set.ts';

/** Idle time before a run, in milliseconds. */
const quietMs = 300;
/** Limits for one relation. */
const limits = { timeoutMs: 10_000, maxDerivations: 20_000_000 };
/** Counting may use one fourth of the free memory for derived data. */
const memoryDivisor = 4;
/** A run is followed by a pause of this many times its duration, up to the maximum. */
const restFactor = 4;
const maxRestMs = 60_000;
/** Interest in a tenant's counts expires after this time, in milliseconds. */
const interestMs = 300_000;

interface Wanted {
  readonly pin: () => PinnedReader;
  readonly lookedAt: number;
}

/** What background counting needs from the live state. */
interface BackgroundCountsHost {
  /** Measures the idle time. */
  readonly clock: Clock;
  readonly pause: Pause;
  /** The memory for derived data, and how much of it is in use. */
  readonly memory: Pick<MemoryBudget, 'limit' | 'heldBytes'>;
  /** Receives internal errors that no caller sees: bugs. */
  readonly onBug: (error: unknown) => void;
}

/**
 * Counts conclusions while the engine is idle, for tenants whose predicates were recently viewed, one tenant at a time.
 *
 * A run starts after some idle time, ends at the next question or write, and continues later with the remaining
 * relations. It uses temporary tables, so no question waits for it, it evicts nothing that questions cached, and only
 * the counts remain. A relation that exceeds a limit stays uncounted until something it depends on changes.
 */
export class BackgroundCounts {
  readonly #host: BackgroundCountsHost;
  readonly #wanted = new Map<Reasoner, Wanted>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #running: { readonly ending: AbortController; readonly done: Promise<void> } | null = null;
  #isClosed = false;
  /** Time of the last question or write, by the clock. */
  #disturbedAt = Number.NEGATIVE_INFINITY;
  /** Earliest start of the next run, by `performance.now()`. */
  #nextRunAt = 0;

  constructor(host: BackgroundCountsHost) {
    this.#host = host;
  }

  /** Requests counts of a tenant. `pin` returns a reader of its current state. */
  wanted(reasoner: Reasoner, pin: () => PinnedReader): void {
    this.#wanted.set(reasoner, { pin, lookedAt: this.#host.clock.now() });
    this.#wake();
  }

  /** Call it with every question and write; it ends the current run. `time`: the wall clock, if it was read. */
  disturbed(time = this.#host.clock.now()): void {
    this.#disturbedAt = time;
    this.#running?.ending.abort();
  }

  /** Ends the current run; resolves when it has ended. */
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
      if (this.quietForMs >= quietMs) this.#begin();
      else this.#wake();
    }, wait);
    // The timer must not keep the process alive.
    this.#timer.unref();
  }

  /** Milliseconds since the last question or write. */
  get quietForMs(): number {
    const now = this.#host.clock.now();
    // A clock that was set back delays a run by at most the idle time.
    this.#disturbedAt = Math.min(this.#disturbedAt, now);
    return now - this.#disturbedAt;
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

  /** A tenant with uncounted relations, and the request for it. */
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
          // Earlier counts may have used up the memory.
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

/** The derived relations that are not counted yet, in the view of everything, by level. */
function uncounted({ program, counts }: Reasoner): Keyed[] {
  const found: (Keyed & { readonly level: number })[] = [];
  const view = { kind: 'all' as const };
  for (const shape of program.conclusions()) {
    const key = relationKey(shape.predicate, shape.arity, shape.negated);
    if (!counts.isSettled(key)) found.push({ ...shape, key, level: program.level(view, key) });
  }
  return found.sort((left, right) => left.level - right.level);
}

/** Counts a relation and stores the count, or returns the limit that ended it; rejects if the run is to end. */
async function count(
  reasoner: Reasoner,
  { predicate, arity, negated, key }: Keyed,
  set: TableSet,
  reader: PinnedReader & { readonly overlay: Overlay },
  pacer: Pacer,
): Promise<string> {
  try {
    const table = set.table({ view: { kind: 'all' }, predicate, arity, negated }, []);
    set.charge(pacer.memory);
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
