/**
 * Replays retained records over a retained state: what each of them changed, as `apply` reports it.
 *
 * The replayed state is a copy that nobody else sees. It has only the database that is asked about; records of others are
 * skipped. Work happens in slices, and one replay runs at a time, since each has a state in memory.
 */
import { EngineError } from '../base/errors.ts';
import type { Caller } from '../base/caller.ts';
import { type Pause, Slices } from '../base/slices.ts';
import type { KnownAt } from '../contract/moments.ts';
import type { MemoryBudget, MemoryHolder } from '../datalog/model/memory-budget.ts';
import { refuseGone } from '../datalog/tables/evaluation.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Log } from '../log/log.ts';
import { RetainedFileGone, type RetainedBase, type RetainedLog } from '../log/retained.ts';
import { StartupError } from '../log/startup-error.ts';
import type { Report } from '../state/report.ts';
import type { DatabaseState, State } from '../state/state.ts';
import { concernsDatabase, reapplied, stateOfBase } from '../state/past-state.ts';

/** One replayed record, and what it changed. The rows of the report are valid until the next record. */
export interface ReplayedRecord {
  readonly record: LogRecord;
  readonly report: Report;
}

/** Records, and changes of one record, between two measurements of the state. */
const recordsBetweenChecks = 256;

/** A state of one database in the past, and the records after it. */
export class HistoryReplay {
  readonly #retained: RetainedLog;
  readonly #state: State;
  readonly #name: string;
  readonly #slices: ReplaySlices;
  /** Sequence of the last record that was read. */
  #sequence: number;

  private constructor(retained: RetainedLog, state: State, name: string, slices: ReplaySlices) {
    this.#retained = retained;
    this.#state = state;
    this.#sequence = state.sequence;
    this.#name = name;
    this.#slices = slices;
  }

  /** Begins with the state of a base. */
  static async from(
    retained: RetainedLog,
    base: RetainedBase,
    database: string,
    slices: ReplaySlices,
  ): Promise<HistoryReplay> {
    const state = await stateOfBase(retained, base, database, () => slices.pause());
    const replay = new HistoryReplay(retained, state, database, slices);
    slices.check(replay.#bytes);
    return replay;
  }

  /** null: the database does not exist at this point. */
  get database(): DatabaseState | null {
    return this.#state.databases.get(this.#name) ?? null;
  }

  /** The generation that is reached. */
  get generation(): number {
    return this.database?.lastGeneration ?? this.#state.goneDatabases.get(this.#name) ?? 0;
  }

  /** Applies the records up to this sequence, in order, and yields those of the database after they are applied. */
  async *through(sequence: number): AsyncGenerator<ReplayedRecord, void, undefined> {
    let read = 0;
    for await (const record of this.#retained.records(this.#sequence, sequence)) {
      this.#sequence = record.sequence;
      if (read++ % recordsBetweenChecks === 0) this.#slices.check(this.#bytes);
      if (!concernsDatabase(record, this.#name)) await this.#slices.breathe();
      else yield { record, report: await this.#apply(record) };
    }
  }

  get #bytes(): number {
    let bytes = 0;
    for (const { facts } of this.database?.tenants.values() ?? []) bytes += facts.bytes;
    return bytes;
  }

  async #apply(record: LogRecord): Promise<Report> {
    const report = await reapplied(this.#state, record, () => this.#slices.breathe());
    if (report.changes.length >= recordsBetweenChecks) this.#slices.check(this.#bytes);
    return report;
  }
}

/** The slices of a replay, which also watch the memory of its state and whether the client still waits. */
export class ReplaySlices extends Slices {
  readonly #memory: MemoryBudget;
  readonly #signal: Caller['signal'];
  /** The copy of the state is in use as long as the replay runs. */
  readonly #holder: MemoryHolder = { bytes: 0, evict: () => false };

  constructor(pause: Pause, memory: MemoryBudget, signal: Caller['signal']) {
    super(pause);
    this.#memory = memory;
    this.#signal = signal;
  }

  /** Call it now and then with the bytes of the state. Throws InferenceLimitExceeded, or an AbortError. */
  check(bytes: number): void {
    refuseGone(this.#signal);
    this.#memory.use(this.#holder, bytes);
    if (this.#memory.fits(bytes, this.#holder)) return;
    throw new EngineError(
      'InferenceLimitExceeded',
      'the state of then does not fit into the memory for derived data: ask when less is going on, or raise MEMORY_BUDGET_BYTES',
      { limit: 'memory' },
    );
  }

  /** The replay has ended. */
  end(): void {
    this.#memory.forget(this.#holder);
  }
}

/** One replay that waits for its turn. */
type Job = () => Promise<void>;

/** Runs replays one after the other; tenants take turns. */
export class Replays {
  readonly #log: Log;
  readonly #memory: MemoryBudget;
  readonly #onWarn: (message: string) => void;
  /** By database and tenant, the next one first. */
  readonly #waiting = new Map<string, Job[]>();
  /** How often something was erased from the history. */
  #erasures = 0;
  #isRunning = false;

  constructor(log: Log, memory: MemoryBudget, onWarn: (message: string) => void) {
    this.#log = log;
    this.#memory = memory;
    this.#onWarn = onWarn;
  }

  /**
   * Runs `work` over what is retained when its turn comes. Rejects with HistoryGone if that cannot be read, and like
   * `ReplaySlices.check`.
   */
  run<Result>(
    { database, tenant, signal }: Caller,
    pause: Pause,
    work: (retained: RetainedLog, slices: ReplaySlices) => Promise<Result>,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const job = async (): Promise<void> => {
        const slices = new ReplaySlices(pause, this.#memory, signal);
        try {
          refuseGone(signal);
          resolve(await this.#asItIs(slices, work));
        } catch (error) {
          reject(this.#refusalOf(error));
        } finally {
          slices.end();
        }
      };
      const key = JSON.stringify([database, tenant]);
      const jobs = this.#waiting.get(key);
      if (jobs === undefined) this.#waiting.set(key, [job]);
      else jobs.push(job);
      if (!this.#isRunning) void this.#runAll();
    });
  }

  /** Something was erased from the history: replays that are under way begin again. */
  erased(): void {
    this.#erasures++;
  }

  async #asItIs<Result>(
    slices: ReplaySlices,
    work: (retained: RetainedLog, slices: ReplaySlices) => Promise<Result>,
  ): Promise<Result> {
    for (;;) {
      const erasures = this.#erasures;
      try {
        const result = await work(await this.#log.retained(), slices);
        if (erasures === this.#erasures) return result;
      } catch (error) {
        if (!(error instanceof RetainedFileGone) || erasures === this.#erasures) throw error;
      }
    }
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const [key, jobs] = next;
      this.#waiting.delete(key);
      const [job, ...rest] = jobs;
      // The tenant's next one waits behind those of the others.
      if (rest.length > 0) this.#waiting.set(key, rest);
      // A job never rejects.
      await job?.();
    }
    this.#isRunning = false;
  }

  #refusalOf(error: unknown): unknown {
    if (error instanceof RetainedFileGone)
      return new EngineError(
        'HistoryGone',
        'the oldest part of the history was removed while it was read: ask again',
        {},
        { cause: error },
      );
    if (!(error instanceof StartupError)) return error;
    this.#onWarn(`A part of the history cannot be read: ${error.message}`);
    return new EngineError(
      'HistoryGone',
      'a part of the retained history cannot be read: the service logged which file; ask for a later part',
      {},
      { cause: error },
    );
  }
}

/**
 * A replay that begins at or before the moment, as late as possible. Rejects with HistoryGone if the history begins after
 * it; `earliest` is then the first generation that can be asked about.
 */
export async function replayTo(
  retained: RetainedLog,
  moment: KnownAt,
  database: string,
  slices: ReplaySlices,
): Promise<HistoryReplay> {
  const { bases } = retained;
  const [oldest] = bases;
  if (moment.kind === 'instant') {
    const base = bases.findLast(({ time }) => time <= moment.time);
    if (base !== undefined) return HistoryReplay.from(retained, base, database, slices);
    const first = oldest && (await HistoryReplay.from(retained, oldest, database, slices));
    throw historyGone(first?.generation ?? 0, oldest?.time ?? null);
  }
  // Generations are in no header, so bases are tried; they ascend, and half of the rest is ruled out each time.
  let found: HistoryReplay | null = null;
  let first: HistoryReplay | null = null;
  for (let [low, high] = [0, bases.length - 1]; low <= high; ) {
    const middle = Math.ceil((low + high) / 2);
    const base = bases[middle];
    if (base === undefined) break;
    const replay = await HistoryReplay.from(retained, base, database, slices);
    if (middle === 0) first = replay;
    if (replay.generation <= moment.generation) {
      found = replay;
      low = middle + 1;
    } else high = middle - 1;
  }
  if (found !== null) return found;
  throw historyGone(first?.generation ?? 0, oldest?.time ?? null);
}

function historyGone(generation: number, time: number | null): EngineError {
  return new EngineError(
    'HistoryGone',
    `the history does not reach back so far: it begins with generation ${generation} (HISTORY_DAYS says how long it is kept)`,
    { earliest: { generation, time } },
  );
}
