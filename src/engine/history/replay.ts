/**
 * Replays retained records over a retained state: what each of them changed, as `apply` reports it.
 *
 * The replayed state is a copy that nobody else sees. It has only the database that is asked about; records of others are
 * skipped. Work happens in slices, and one replay runs at a time, since each has a state in memory.
 */
import { EngineError } from '../base/errors.ts';
import type { Slices } from '../base/slices.ts';
import type { Moment } from '../contract/history.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Log } from '../log/log.ts';
import { RetainedFileGone, type RetainedBase, type RetainedLog } from '../log/retained.ts';
import { StartupError } from '../log/startup-error.ts';
import { applying } from '../state/apply.ts';
import type { Report } from '../state/report.ts';
import { type DatabaseState, State } from '../state/state.ts';
import { readState } from '../state/state-snapshot.ts';

/** One replayed record, and what it changed. The rows of the report are valid until the next record. */
export interface ReplayedRecord {
  readonly record: LogRecord;
  readonly report: Report;
}

/** A state of one database in the past, and the records after it. */
export class Replay {
  readonly #retained: RetainedLog;
  readonly #state: State;
  readonly #name: string;
  readonly #slices: Slices;
  /** Sequence of the last record that was read. */
  #sequence: number;

  private constructor(retained: RetainedLog, state: State, name: string, slices: Slices) {
    this.#retained = retained;
    this.#state = state;
    this.#sequence = state.sequence;
    this.#name = name;
    this.#slices = slices;
  }

  /** Begins with the state of a base. */
  static async from(
    retained: RetainedLog,
    { snapshot }: RetainedBase,
    database: string,
    slices: Slices,
  ): Promise<Replay> {
    if (snapshot === null) return new Replay(retained, new State(), database, slices);
    const log = { readSnapshot: retained.readSnapshot.bind(retained, snapshot) };
    const { state } = await readState(log, () => slices.pause(), false);
    for (const name of state.databases.keys()) if (name !== database) state.databases.delete(name);
    return new Replay(retained, state, database, slices);
  }

  /** null: the database does not exist at this point. */
  get database(): DatabaseState | null {
    return this.#state.databases.get(this.#name) ?? null;
  }

  /** The generation that is reached. */
  get generation(): number {
    return this.database?.generation ?? this.#state.goneDatabases.get(this.#name) ?? 0;
  }

  /** Applies the records up to this sequence, in order, and yields those of the database after they are applied. */
  async *through(sequence: number): AsyncGenerator<ReplayedRecord, void, undefined> {
    for await (const record of this.#retained.records(this.#sequence, sequence)) {
      this.#sequence = record.sequence;
      if (!concerns(record, this.#name)) await this.#slices.breathe();
      else yield { record, report: await this.#apply(record) };
    }
  }

  /** Applies the record as the next one; nobody repeats a request of the past. */
  async #apply(record: LogRecord): Promise<Report> {
    const { idempotency: _repeated, ...rest } = record;
    const steps = applying(this.#state, { ...rest, sequence: this.#state.sequence + 1 });
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await this.#slices.breathe();
    }
  }
}

/** True if the record can change the database; keys belong to none. */
function concerns({ database, operation }: LogRecord, name: string): boolean {
  const { kind, ...rest } = operation as { readonly kind: string; readonly name?: unknown };
  if (kind === 'createDatabase') return rest.name === name;
  return database === name && !/Keys?$/.test(kind);
}

/** Runs replays one after the other. */
export class Replays {
  readonly #log: Log;
  readonly #onWarn: (message: string) => void;
  #last: Promise<unknown> = Promise.resolve();

  constructor(log: Log, onWarn: (message: string) => void) {
    this.#log = log;
    this.#onWarn = onWarn;
  }

  /** Runs `use` over what is retained now, after all earlier calls. Rejects with HistoryGone if that cannot be read. */
  run<Result>(use: (retained: RetainedLog) => Promise<Result>): Promise<Result> {
    const run = this.#last.then(async () => {
      try {
        return await use(await this.#log.retained());
      } catch (error) {
        if (error instanceof RetainedFileGone)
          throw new EngineError(
            'HistoryGone',
            'the oldest part of the history was removed while it was read: ask again',
            {},
            { cause: error },
          );
        if (!(error instanceof StartupError)) throw error;
        this.#onWarn(`A part of the history cannot be read: ${error.message}`);
        throw new EngineError(
          'HistoryGone',
          'a part of the retained history cannot be read: the service logged which file; ask for a later part',
          {},
          { cause: error },
        );
      }
    });
    this.#last = run.catch(() => {});
    return run;
  }
}

/**
 * A replay that begins at or before the moment, as late as possible. Rejects with HistoryGone if the history begins after
 * it; `earliest` is then the first generation that can be asked about.
 */
export async function replayTo(
  retained: RetainedLog,
  moment: Moment,
  database: string,
  slices: Slices,
): Promise<Replay> {
  const { bases } = retained;
  if ('instant' in moment) {
    const base = bases.findLast(({ time }) => time <= moment.instant);
    if (base !== undefined) return Replay.from(retained, base, database, slices);
  }
  // Generations are in no header, so bases are tried; they ascend, and half of the rest is ruled out each time.
  let found: Replay | null = null;
  let first: Replay | null = null;
  for (let [low, high] = [0, bases.length - 1]; low <= high; ) {
    const middle = Math.ceil((low + high) / 2);
    const base = bases[middle];
    if (base === undefined) break;
    const replay = await Replay.from(retained, base, database, slices);
    if (middle === 0) first = replay;
    if ('generation' in moment && replay.generation <= moment.generation) {
      found = replay;
      low = middle + 1;
    } else high = middle - 1;
  }
  if (found !== null) return found;
  throw historyGone(first?.generation ?? 0);
}

function historyGone(earliest: number): EngineError {
  return new EngineError(
    'HistoryGone',
    `the history begins with generation ${earliest}: earlier changes are no longer retained (HISTORY_DAYS says how long they are)`,
    { earliest },
  );
}
