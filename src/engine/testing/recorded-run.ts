/**
 * An engine on a disk that records its history: the operations, the answers, and which of them must survive a power cut
 * at which moment.
 *
 * Invariant: after every answer it records the number of disk steps, the last record, and the state. The expected state
 * after each record is then computed from the log alone, and must equal the live state: so answers, log and recovery
 * are compared with one another.
 */
import { expect, vi } from 'vitest';
import { apply } from '../state/apply.ts';
import type { Caller } from '../base/caller.ts';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { Prng } from './prng.ts';
import type { Engine } from '../operations/engine.ts';
import { openEngineOn } from '../open-engine.ts';
import type { OpenedEngine } from '../open-part.ts';
import { folderKeyOf } from '../log/cipher.ts';
import { State } from '../state/state.ts';
import type { StorageBackend } from '../log/backend.ts';
import type { FsyncMode } from '../log/log.ts';
import { openLog } from '../log/open-log.ts';
import { type CrashBackend, crashBackend } from './crash-backend.ts';
import { type Session, sessionOf, startTime, testCaller } from './engine-fixtures.ts';
import { logOptions } from './log-fixtures.ts';
import { loggedTold } from './told-state.ts';

/** After this many steps of the disk the record of this sequence, and all before it, had been acknowledged. */
interface Note {
  readonly steps: number;
  readonly sequence: number;
  /** It must be safe by then, however lazily files are synced. */
  readonly isSettled: boolean;
  /** By the clock of the run. */
  readonly time: number;
}

/** A write with an idempotency key, and its answer. */
export interface Repeatable {
  readonly sequence: number;
  readonly caller: Caller;
  readonly answer: unknown;
  readonly call: (engine: Engine, caller: Caller) => Promise<unknown>;
}

/** Small, so that every run has several. */
const segmentBytes = 2500;

/**
 * Opens the engine of a disk as in every run: its clock is stopped, and randomness comes from the seed. `key` is the
 * folder's, null if it has none.
 */
export async function openOn(
  backend: StorageBackend,
  seed: number,
  fsync: FsyncMode,
  { clock = new ManualClock(startTime), key = null }: { clock?: ManualClock; key?: string | null } = {},
): Promise<OpenedEngine & { readonly warnings: string[] }> {
  const { random } = logOptions({}, seed);
  const warnings: string[] = [];
  const opened = await openEngineOn(backend, null, {
    fsync,
    encryptionKey: key,
    segmentBytes,
    // Every second run retains the past.
    historyDays: seed % 2 === 0 ? 30 : 0,
    clock,
    random,
    snapshotIntervalMs: 2 ** 30,
    onWarn: (message) => void warnings.push(message),
    onBug: (error) => {
      throw error;
    },
    pause: () => Promise.resolve(),
  });
  return { ...opened, warnings };
}

export class RecordedRun {
  readonly disk: CrashBackend = crashBackend();
  readonly clock = new ManualClock(startTime);
  readonly prng: Prng;
  readonly fsync: FsyncMode;
  readonly seed: number;
  /** The folder's; null: its files are not encrypted. */
  readonly key: string | null;
  readonly repeatables: Repeatable[] = [];
  readonly #notes: Note[] = [];
  /** The live state after answers, by the sequence of the last record. */
  readonly live = new Map<number, string>();
  #opened: OpenedEngine | null = null;
  #keys = 0;

  constructor(seed: number, fsync: FsyncMode, key: string | null = null) {
    this.seed = seed;
    this.key = key;
    this.prng = new Prng(seed);
    this.fsync = fsync;
  }

  get engine(): Engine {
    if (this.#opened === null) throw new Error('the run has not begun');
    return this.#opened.engine;
  }

  get state(): State {
    if (this.#opened === null) throw new Error('the run has not begun');
    return this.#opened.state;
  }

  /** The engine as a caller sees it. Writes through it must be awaited with `answered`. */
  session(changes: Partial<Caller> = {}): Session {
    return sessionOf(this.engine, this.clock, testCaller(changes));
  }

  /** Starts the service, after a clean end if it ran before. */
  async start(): Promise<void> {
    await this.#opened?.engine.close(0);
    this.#opened = await openOn(this.disk, this.prng.next(), this.fsync, this);
    this.note();
  }

  async end(): Promise<void> {
    await this.#opened?.engine.close(0);
    this.#opened = null;
  }

  /** Waits for an answer and records it. */
  async answered<Answer>(writing: Promise<Answer>): Promise<Answer> {
    const answer = await writing;
    this.note();
    return answer;
  }

  /** Waits for an error with one of these codes, `done` for an answer, and returns it. */
  async refusedOrDone(writing: Promise<unknown>): Promise<string> {
    const outcome = await this.answered(writing).then(
      () => 'done',
      (error: unknown) => {
        if (error instanceof EngineError) return error.code;
        throw error;
      },
    );
    return outcome;
  }

  /** A write with an idempotency key of its own, which gets the same answer when it is repeated. */
  async once<Answer>(
    call: (engine: Engine, caller: Caller) => Promise<Answer>,
    changes: Partial<Caller> = {},
  ): Promise<Answer> {
    const key = `key-${++this.#keys}`;
    const caller = testCaller({ ...changes, idempotency: { key, fingerprint: `print of ${key}` } });
    const answer = await this.answered(call(this.engine, caller));
    this.repeatables.push({ sequence: this.state.sequence, caller, answer, call });
    return answer;
  }

  /** Lets 100 ms pass on the test's timers: with FSYNC=interval everything answered before is safe then. */
  async rest(): Promise<void> {
    if (this.fsync !== 'interval') return;
    await vi.advanceTimersByTimeAsync(100);
    this.note(true);
  }

  note(isSettled = false): void {
    const { sequence, isChanging } = this.state;
    this.#notes.push({ steps: this.disk.steps, sequence, isSettled, time: this.clock.now() });
    if (!isChanging && !this.live.has(sequence)) this.live.set(sequence, loggedTold(this.state));
  }

  /** The time by the clock at about this moment, no earlier. */
  timeAt(steps: number): number {
    const next = this.#notes.find((note) => note.steps >= steps) ?? this.#notes.at(-1);
    return next?.time ?? startTime;
  }

  /** The last record that must exist after a power cut at this moment. */
  safeAt(steps: number): number {
    const safeBefore = this.disk.safeBefore(steps);
    const isSafe = (note: Note): boolean =>
      note.steps <= (this.fsync === 'always' || note.isSettled ? steps : safeBefore);
    return Math.max(0, ...this.#notes.filter(isSafe).map(({ sequence }) => sequence));
  }
}

/**
 * The state after each record ever written, by its sequence: computed from the log, as if there were no snapshots.
 * Fails if the live state was different.
 */
export async function tellingsOf({ disk, live, seed, key }: RecordedRun): Promise<string[]> {
  const { log } = await openLog(disk.everWritten('.log'), logOptions({ key: folderKeyOf(key) }));
  const state = new State();
  const tellings = [loggedTold(state)];
  for await (const record of log.read(0)) {
    apply(state, record);
    tellings.push(loggedTold(state));
  }
  await log.close();
  for (const [sequence, telling] of live)
    expect(telling, `seed ${seed}: the live state after record ${sequence}`).toBe(tellings[sequence]);
  return tellings;
}
