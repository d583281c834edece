import type { StoredImport } from '../write/importing.ts';
import type {
  EngineStorage,
  LogMoved,
  NodeList,
  NodeStatus,
  SnapshotTaken,
} from '../contract/administration.ts';
import type { EngineCounters, EngineFigures } from './engine-figures.ts';
import type { Caller } from '../base/caller.ts';
import { present } from '../base/assert.ts';
import { EngineError, notLeader } from '../base/errors.ts';
import { maxClockStepMs, steady } from '../base/clock.ts';
import { ClockWatch } from '../base/clock-watch.ts';
import { Slices } from '../base/slices.ts';
import { MAX_TICKS, TICK_MS, TimerWheel, type Visited } from '../base/timer-wheel.ts';
import { wait } from '../base/wait.ts';
import { Databases } from '../write/databases.ts';
import { ClockCorrection } from '../memory/clock-correction.ts';
import { DecaySchedule, decayEverywhere, dropEnded } from '../memory/decay.ts';
import { markOf, outcomeOf, spaceOf } from '../state/idempotency.ts';
import { Keys } from '../write/keys.ts';
import { type LiveParts, LiveState } from '../session/live-state.ts';
import { PastKnowledge, type SendBytes } from '../session/past-knowledge.ts';
import type { KnowledgeReader } from '../session/past-reader.ts';
import type { Writer } from '../session/writer.ts';
import { Leader } from '../replication/leader.ts';
import { HistoryErasures } from '../history/erasures.ts';
import { Replays } from '../history/replay.ts';
import { EngineReplica } from '../replication/follower.ts';
import type { LogWatch } from '../replication/log-watch.ts';
import { type Giving, SharedTail, watchLogs } from '../replication/shared-tail.ts';
import { noteUses, takeUses, type ToldUses } from '../replication/told-uses.ts';
import { type Backup, Backups, Snapshots } from '../commit/snapshots.ts';
import type { Tallies } from '../datalog/model/program.ts';
import type { DatabaseState, State } from '../state/state.ts';
import type { Operation, Outcome } from '../state/operation.ts';
import { type ErasingRecord, erasureOf } from '../state/redaction.ts';
import { erasesHistory } from '../state/state-snapshot.ts';
import { repeatedReport, type Report } from '../state/report.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Journal, JournalName } from '../log/journal.ts';
import type { FolderLock } from '../log/lock-file.ts';
import { noOwner } from '../log/frame-store.ts';
import type { SharedStore } from '../log/shared-store.ts';
import type { Log } from '../log/log.ts';
import { Transactions } from '../write/transactions.ts';
import { type Embedder, Meaning, type MeaningState } from '../search/meaning.ts';
import { Windows } from '../window/windows.ts';
import { type CommitObserver, type Write, CommitPipeline, databaseOf } from '../commit/commit-pipeline.ts';
import { IndexAtStart } from '../search/index-at-start.ts';
import { HighWaterMark, type MemoryGauge, nearestMark } from '../commit/high-water-mark.ts';
import { WriteAdmission } from '../commit/write-admission.ts';
import { QuestionQuotas } from '../session/question-quotas.ts';
import { noFigures, ReasoningThreads, type ThreadHost } from '../reasoning/reasoning-threads.ts';
import { ViolationEvents } from '../session/violation-events.ts';
import { ConstraintCheck } from '../session/constraint-check.ts';
import { LastTestRuns } from '../session/last-test-runs.ts';

/** Time for the last snapshot, in milliseconds. */
const lastSnapshotMs = 8000;

/** A provider of embeddings, and the least cosine of what counts as similar. */
export interface Embeddings {
  readonly embedder: Embedder;
  readonly minScore: number;
}

/** What the engines of a process have in common. Whoever opened it closes it, after the engines. */
export interface SharedParts {
  /** null: all questions are answered on this thread. */
  readonly threads: ReasoningThreads | null;
  /** null: no provider of embeddings is configured. */
  readonly meaning: Meaning | null;
  /** Looks at the logs of all of them. */
  readonly watch: LogWatch;
}

/** What an engine is made of. */
export interface EngineParts extends Omit<LiveParts, 'meaning'> {
  readonly log: Log;
  /** Of the folder; no other engine has one of the same name. */
  readonly openJournal: (name: JournalName) => Journal;
  /** null: all is in memory. */
  readonly lock: FolderLock | null;
  readonly snapshotIntervalMs: number;
  /** Visits what is due, and looks whether the clock was set: for all engines of a process. Absent: it is alone. */
  readonly wheel?: TimerWheel;
  readonly clockWatch?: ClockWatch;
  /** For how many days the log retains the past; absent: 0. */
  readonly historyDays?: number;
  /** null or absent: writes are not refused for want of memory. */
  readonly memoryGauge?: MemoryGauge | null;
  /** null or absent: facts are not compared by meaning. */
  readonly embeddings?: Embeddings | null;
  /** Starts threads for heavy questions; null or absent: there are none. */
  readonly threadHost?: ThreadHost | null;
  /** What it has in common with other engines of the process; absent: it is alone. */
  readonly shared?: SharedParts;
  /** True if something was erased before the start, and the history still has it: the next snapshot is due at once. */
  readonly isErasing?: boolean;
  /** null: nothing decays by the clock. */
  readonly decayIntervalMs: number | null;
  /** null: ended facts are not dropped by the clock. */
  readonly endedIntervalMs: number | null;
  /** Address of the leader whose records these are; null: callers write. */
  readonly leaderUrl: string | null;
  /** Told, in words for people, what an operator should know. */
  readonly onWarn: (message: string) => void;
}

/** What an operation that only reads works with: the engine, or the engine as it was at a moment. */
export type ReadingEngine = Pick<EngineContext, 'slices' | 'threads'> & {
  readonly live: KnowledgeReader;
  readonly transactions: Pick<Transactions, 'reading' | 'asking'>;
};

/** Embeds the facts of all these states, from now on. */
export function openMeaning({
  embeddings,
  file,
  states,
  scheduler,
  onWarn,
  onBug,
}: Pick<EngineParts, 'scheduler' | 'onWarn' | 'onBug'> & {
  readonly embeddings: Embeddings;
  readonly file: Journal;
  readonly states: () => Iterable<State>;
}): Meaning {
  const slices = new Slices(scheduler.pauseOf(null, 'embed facts'));
  const meaning = new Meaning({
    ...embeddings,
    stores: function* stores() {
      for (const { databases } of states())
        for (const { tenants } of databases.values()) for (const { facts } of tenants.values()) yield facts;
    },
    file,
    breathe: () => slices.breathe(),
    onWarn,
    onBug,
  });
  void meaning.open().catch(onBug);
  return meaning;
}

function notOwner(): EngineError {
  return noOwner('This node holds a copy, and another one stores the writes.');
}

/** Scheduled decay, which is final, waits this long after the clock was set: it may be put right again. */
const decayWaitsMs = 3_600_000;
const dayMs = 86_400_000;

/** These erase: there may be much less than there was. */
const erasing: ReadonlySet<Operation['kind']> = new Set([
  'forget',
  'deleteTenant',
  'nukeTenant',
  'deleteDatabase',
  'nukeDatabase',
]);

/**
 * What the operations of an engine work with: a state folded from the log, a reasoner for each tenant that was asked, and a
 * feed of changes. As a `Writer` it is what operations on stored knowledge write through.
 */
export class EngineContext implements Writer {
  readonly parts: EngineParts;
  /** null: no provider of embeddings is configured. */
  readonly meaning: Meaning | null;
  readonly live: LiveState;
  readonly admission: WriteAdmission;
  readonly questions: QuestionQuotas;
  readonly constraints: ConstraintCheck;
  readonly testRuns = new LastTestRuns();
  readonly violations: ViolationEvents;
  readonly pipeline: CommitPipeline;
  readonly transactions: Transactions;
  readonly databases: Databases;
  readonly keys: Keys;
  readonly leader: Leader;
  readonly replays: Replays;
  readonly erasures: HistoryErasures;
  readonly replica: EngineReplica | null;
  /** null: only this process can have the log. */
  readonly tail: SharedTail | null;
  readonly snapshots: Snapshots;
  readonly backups: Backups;
  readonly windows: Windows;
  readonly past: PastKnowledge;
  /** null: all questions are answered on this thread. */
  readonly threads: ReasoningThreads | null;
  /** null: nothing decays by the clock. */
  readonly decaySchedule: DecaySchedule | null;
  /** null: ended facts are not dropped by the clock. */
  readonly endedSchedule: DecaySchedule | null;
  readonly newId = (): string => crypto.randomUUID();
  readonly newTransactionId = (): string => {
    const { shared, epoch } = this.parts.log;
    return shared === null ? this.newId() : `${epoch}-${this.newId()}`;
  };
  readonly isOfEarlierOwner = (id: string): boolean => {
    const [, epoch = null] = /^(\d{1,15})-[0-9a-f]{8}-/.exec(id) ?? [];
    const { log } = this.parts;
    return log.shared !== null && epoch !== null && Number(epoch) < log.epoch;
  };
  readonly journals: Journal[] = [];
  readonly #eraseElsewhere: ((erasure: ErasingRecord) => Promise<void>)[] = [];
  /** Resolves when what was erased so far is gone from everything that is kept beside the log and its state. */
  #erasedElsewhere: Promise<unknown> = Promise.resolve();
  /** Notices a clock that was set even if nobody asks. */
  readonly #correction: ClockCorrection;
  readonly #clockVisits: Visited;
  readonly #clockWatch: ClockWatch;
  readonly #words: IndexAtStart;

  constructor(parts: EngineParts) {
    this.parts = parts;
    this.meaning =
      parts.shared === undefined ? this.#meaningBy(parts.embeddings ?? null) : parts.shared.meaning;
    const feed = parts.log.shared === null ? '' : `@${this.newId().slice(0, 8)}`;
    this.live = new LiveState({
      ...parts,
      meaning: this.meaning,
      feed,
    });
    const { state, log, clock, scheduler, snapshotIntervalMs: intervalMs, onWarn } = parts;
    const pause = scheduler.pauseOf(null, 'snapshot');
    const memory = new HighWaterMark(parts.memoryGauge ?? null, () => this.live.freeMemory());
    this.admission = new WriteAdmission(state, memory, new Slices(scheduler.pauseOf(null, 'judge a write')));
    this.questions = new QuestionQuotas(state, clock);
    this.transactions = new Transactions(this, steady(clock));
    this.windows = new Windows(this.live);
    this.threads =
      parts.shared === undefined ? this.#threadsOf(parts.threadHost ?? null) : parts.shared.threads;
    const elsewhere = this.threads?.past ?? null;
    this.past = new PastKnowledge({ live: this.live, log, scheduler, onWarn, elsewhere });
    this.live.copies = this.threads;
    this.live.rememberedSince = (database, tenant) => this.transactions.rememberedSince(database, tenant);
    const judging = { now: (): number => this.live.showTime() };
    const observer = this.#observer(memory);
    this.constraints = new ConstraintCheck(this.live);
    this.violations = new ViolationEvents(this.live, parts.onBug);
    this.pipeline = new CommitPipeline(
      state,
      log,
      judging,
      scheduler,
      observer,
      this.admission,
      this.constraints,
    );
    this.databases = new Databases(state, this, (database, tenant) =>
      this.transactions.countIn(database, tenant),
    );
    this.keys = new Keys(state, this);
    const talliesOf = (database: DatabaseState): Tallies => this.live.talliesOf(database);
    const neededAfter = (): number => this.leader.neededAfter();
    const { pipeline } = this;
    const { wheel = new TimerWheel(TICK_MS) } = parts;
    const asHost = { state, log, pipeline, talliesOf, pause, neededAfter, intervalMs, wheel, onWarn };
    this.snapshots = new Snapshots(asHost);
    this.backups = new Backups(this.snapshots, log, () => clock.now());
    this.leader = new Leader({ log, now: () => clock.now(), takeSnapshot: () => this.snapshots.take() });
    this.replays = new Replays(log, this.live.memory, onWarn);
    this.erasures = this.#erasing();
    const [live, snapshots] = [this.live, this.snapshots];
    const follows = parts.leaderUrl !== null;
    this.replica = follows ? new EngineReplica({ state, log, pipeline, live, snapshots, pause }) : null;
    this.tail = this.#tailOf(log.shared, pause);
    this.#correction = this.#correctionOf(parts);
    this.#clockVisits = wheel.add(() => this.#lookAtClock());
    this.#clockWatch = parts.clockWatch ?? new ClockWatch(clock, wheel);
    this.#clockWatch.add(this.#lookAtClock);
    this.#words = new IndexAtStart({
      stores: () => Array.from(this.live.everyTenant(), ({ tenant }) => tenant.facts),
      memory: this.live.memory,
      pause: scheduler.pauseOf(null, 'index words'),
      quietForMs: () => this.live.quietForMs,
      wait,
      onBug: parts.onBug,
    });
    this.decaySchedule = follows ? null : this.#decayScheduleOf(parts);
    this.endedSchedule = follows ? null : this.#endedScheduleOf(parts);
  }

  /** Moves ends of validity by a `ttl` when the clock was set; it may have been set back since the last record. */
  #correctionOf({ leaderUrl, log, state: { wall }, onWarn, onBug }: EngineParts): ClockCorrection {
    const mayWrite = (): boolean => leaderUrl === null && log.shared?.role !== 'copy';
    const correction = new ClockCorrection({ writer: this, mayWrite, onWarn, onBug });
    this.live.onClockSet = (setting) => {
      correction.set(setting);
      queueMicrotask(() => correction.look());
    };
    const to = this.live.showTime();
    if (wall > to + maxClockStepMs) correction.set({ from: wall, to, after: to });
    queueMicrotask(() => correction.look());
    return correction;
  }

  /** Notices whether the clock was set, and corrects what depends on that. Returns in how many ticks it is to be looked again. */
  readonly #lookAtClock = (): number => {
    this.live.showTime();
    this.#correction.look();
    return this.#correction.isDone ? MAX_TICKS : 1;
  };

  get historyMs(): number {
    return (this.parts.historyDays ?? 0) * dayMs;
  }

  /** Drops ended facts that the past need not keep any longer. */
  #endedScheduleOf({ endedIntervalMs, clock }: EngineParts): DecaySchedule | null {
    if (endedIntervalMs === null) return null;
    const run = (signal: AbortSignal): Promise<void> => this.dropEnded(signal);
    return new DecaySchedule({ clock, intervalMs: endedIntervalMs, mayRun: () => this.#mayForget(), run });
  }

  /** Drops the ended facts that the past need not keep any longer, until the signal. */
  dropEnded(signal: AbortSignal): Promise<void> {
    const { onWarn, onBug } = this.parts;
    return dropEnded({ writer: this, onWarn, onBug }, signal);
  }

  /** True unless the node is a copy, or the clock was set a short while ago. */
  #mayForget(): boolean {
    return this.parts.log.shared?.role !== 'copy' && this.live.clockOffset.steadyForMs >= decayWaitsMs;
  }

  #decayScheduleOf({ decayIntervalMs, clock, onWarn, onBug }: EngineParts): DecaySchedule | null {
    if (decayIntervalMs === null) return null;
    const run = (signal: AbortSignal): Promise<void> =>
      decayEverywhere({ writer: this, onWarn, onBug }, signal);
    return new DecaySchedule({ clock, intervalMs: decayIntervalMs, mayRun: () => this.#mayForget(), run });
  }

  #tailOf(shared: SharedStore | null, pause: () => Promise<void>): SharedTail | null {
    if (shared === null) return null;
    const { state, log, onWarn, onBug } = this.parts;
    const { pipeline, live, snapshots } = this;
    const onReplaced = (): void => void this.past.forget();
    const look = async () => [{ ...(await shared.look()), id: shared.log }];
    const watch = this.parts.shared?.watch ?? watchLogs(look, { onWarn, onBug });
    const tail = new SharedTail({
      state,
      log,
      shared,
      watch,
      pipeline,
      live,
      snapshots,
      pause,
      memory: () => {
        const read = this.parts.memoryGauge?.read();
        if (read === undefined) return { usedBytes: null, memoryBytes: null };
        const { used: usedBytes, allowed: memoryBytes } = nearestMark(read);
        return { usedBytes, memoryBytes };
      },
      onReplaced,
      // What the last owner's clock did is corrected here, and snapshots are written here.
      onTaken: () => {
        this.#clockVisits.soon();
        this.snapshots.changed();
      },
      onWarn,
      onBug,
    });
    shared.onDemoted = (refusal) => {
      this.transactions.loseAll();
      pipeline.refuseWaiting(refusal);
      tail.demoted();
    };
    return tail;
  }

  #observer(memory: HighWaterMark): CommitObserver {
    return {
      applying: (record) => {
        this.live.applying(record);
        this.violations.applying(record);
      },
      applied: (record, report) => {
        this.transactions.applied(record, report);
        this.snapshots.changed();
        this.live.applied(record, report);
        this.violations.applied(record, report);
        if (this.tail?.role === 'copy') report.database.tenants.get(report.tenant ?? '')?.uses.gather();
        const isForgotten = this.erasures.applied(record);
        this.windows.applied(report, isForgotten);
        const isCleared = report.cleared !== null || isForgotten;
        if (erasesHistory(record, report)) this.parts.log.eraseHistory(record.sequence);
        if (isCleared) this.#waitForErasure(this.past.forget());
        this.#eraseBeside(record);
        if (isForgotten && report.tenant !== null) this.#forgetCopies(report.database, report.tenant);
        const hasRemoved = isCleared || report.changes.countOf('fact.asserted') < report.changes.length;
        if (hasRemoved) memory.deleted();
        this.meaning?.changed({ hasRemoved, isCleared });
      },
    };
  }

  /**
   * Called in the turn in which something is erased, from knowledge and its history, on every node: `erase` takes it out of
   * what is kept beside them. Whoever erased waits for it.
   */
  whenErased(erase: (erasure: ErasingRecord) => Promise<void>): void {
    this.#eraseElsewhere.push(erase);
  }

  #eraseBeside(record: LogRecord): void {
    const erasure = erasureOf(record);
    if (erasure === null) return;
    this.#waitForErasure(this.meaning?.erase(), ...this.#eraseElsewhere.map((erase) => erase(erasure)));
  }

  /** Whoever erases waits until this has happened too. */
  #waitForErasure(...erased: (Promise<unknown> | undefined)[]): void {
    this.#erasedElsewhere = Promise.all([this.#erasedElsewhere, ...erased]).catch(this.parts.onBug);
  }

  /** A copy would keep the texts of what was erased. */
  #forgetCopies({ tenants }: DatabaseState, name: string): void {
    const tenant = tenants.get(name);
    if (tenant !== undefined) this.threads?.forget(tenant);
  }

  /** Erases from the retained history, and from what was read of it. */
  #erasing(): HistoryErasures {
    const { scheduler, log } = this.parts;
    const erasures = new HistoryErasures(
      this.live.memory,
      scheduler.pauseOf(null, 'erase from the history'),
      () => {
        this.#waitForErasure(this.past.forget());
        this.replays.erased();
      },
    );
    log.rewriteHistoryBy(erasures);
    if (this.parts.isErasing === true) this.snapshots.soon();
    return erasures;
  }

  #threadsOf(host: ThreadHost | null): ReasoningThreads | null {
    if (host === null) return null;
    const { onBug, onWarn } = this.parts;
    return new ReasoningThreads({ liveOf: () => this.live, host, memory: this.live.memory, onBug, onWarn });
  }

  #meaningBy(embeddings: Embeddings | null): Meaning | null {
    if (embeddings === null) return null;
    return openMeaning({
      ...this.parts,
      embeddings,
      file: this.journal('vectors'),
      states: () => [this.parts.state],
    });
  }

  /** Answers the named operation at the moment that the caller names on a reasoning thread; null: it is to be read here. */
  async atMomentElsewhere(
    caller: Caller,
    timeoutMs: number,
    reading: string,
    input: unknown,
    send: SendBytes | null,
  ): Promise<{ readonly result: unknown } | null> {
    const moment = present(caller.moment, 'the caller names a moment');
    if (caller.transaction !== null) return null;
    const answered = await this.past.asking(caller, moment, timeoutMs, { reading, input }, send);
    if (answered !== null && send === null) moment.onKnown?.(answered.generation);
    return answered;
  }

  /** Reads at the moment that the caller names; see `PastKnowledge.reading`. */
  async atMoment<Result>(
    caller: Caller,
    timeoutMs: number,
    read: (asked: ReadingEngine) => Promise<Result>,
  ): Promise<Result> {
    const moment = present(caller.moment, 'the caller names a moment');
    const { transactions } = this;
    const slices = (of: Caller): Slices => this.slices(of);
    const { result, generation } = await this.past.reading(caller, moment, timeoutMs, (live) =>
      read({ live, transactions, slices, threads: null }),
    );
    // A transaction's questions say themselves what they were answered from.
    if (caller.transaction === null) moment.onKnown?.(generation);
    return result;
  }

  /** Whether facts are embedded; `off`: no provider is configured. */
  embeddingsState(): MeaningState | 'off' {
    return this.meaning?.state ?? 'off';
  }

  /** Resolves once the write is durable and applied; a repeated request gets the report of the first one. */
  readonly write = async (write: Write): Promise<Report> => {
    this.live.refuseClosed();
    const outcome = this.earlierOutcome(write.caller);
    if (outcome !== null) return repeatedReport(databaseOf(write), outcome);
    this.refuseWrites();
    if (write.caller.idempotency !== null) this.parts.state.idempotency.refuseMore(this.live.showTime());
    const report = await this.pipeline.write(write);
    if (typeof write.operation === 'function' || !erasing.has(write.operation.kind)) return report;
    if (write.operation.kind !== 'forget') this.snapshots.soon();
    await this.#erasedElsewhere;
    return report;
  };

  refuseWrites(): void {
    this.live.refuseClosed();
    if (this.parts.leaderUrl !== null) throw notLeader(this.parts.leaderUrl);
    if (this.parts.log.shared?.role === 'copy') throw notOwner();
  }

  readonly refuseUnfit = async (caller: Caller, operation: Operation): Promise<void> => {
    const time = this.live.showTime();
    await this.admission.judge(caller.database, operation, time);
    await this.constraints.judge(caller, operation, time);
  };

  slices(caller: Caller): Slices {
    return new Slices(this.parts.scheduler.pauseOf(caller));
  }

  earlierOutcome(caller: Caller): Outcome | null {
    const mark = markOf(caller);
    if (mark === null) return null;
    return this.parts.state.idempotency.find(caller.credential, mark, this.live.showTime());
  }

  /** Sequence of the last durable record, and the history that it belongs to; null if there is none. */
  position(): { position: number; historyId: string | null; epoch: number } {
    const { lastSequence: position, historyId, epoch } = this.parts.log;
    return { position, historyId: position === 0 ? null : historyId, epoch };
  }

  /** Writes a snapshot of the present state, and removes the part of the log that it covers. */
  async snapshot(): Promise<SnapshotTaken> {
    this.live.refuseClosed();
    return this.snapshots.take();
  }

  /** A snapshot of the present state, as a file to be kept elsewhere. */
  async backup(): Promise<Backup> {
    this.live.refuseClosed();
    return this.backups.take();
  }

  /** Position, size and durability of the log, its snapshot and the last backup. */
  storageState(): EngineStorage {
    const { log } = this.parts;
    const { isEncrypted: encrypted, fsync } = log;
    const { storedBytes: bytes, segments, inFlightBytes: waitingBytes, history } = log.statistics();
    const snapshot = log.snapshot();
    return {
      status: log.status(),
      encrypted,
      fsync,
      historyId: log.historyId,
      parent: log.parent && { historyId: log.parent.historyId, position: log.parent.sequence },
      position: log.lastSequence,
      log: { bytes, segments, waitingBytes },
      snapshot: snapshot && {
        position: snapshot.sequence,
        bytes: snapshot.bytes,
        createdAt: snapshot.createdAt,
      },
      history: { days: this.parts.historyDays ?? 0, ...history },
      backup: this.backups.last,
      node: this.node(),
    };
  }

  /** State of the log: `failed` while writes are refused. */
  storage(): 'ready' | 'failed' {
    return this.parts.log.status();
  }

  /**
   * Resolves if everything that was answered anywhere before the call is in the state; asks the store, if the log is in one.
   * Rejects with NoOwner. Of the database's log alone, if each has its own.
   */
  async confirm(_database?: string): Promise<void> {
    const { tail } = this;
    if (tail !== null && tail.role === 'copy') return tail.confirm();
    await this.parts.log.confirm();
    // What is durable may be applied in slices.
    await this.pipeline.between(() => undefined);
  }

  /**
   * Looks now which node has the log, or that of the database, and applies what is new. Resolves with the milliseconds until
   * the owner's lease runs out, unless it is renewed; 0: no node has the log.
   */
  async look(_database?: string): Promise<number> {
    return (await this.tail?.look()) ?? 0;
  }

  /** Where the other nodes are reached that lived when this one last looked. */
  others(): readonly string[] {
    return [];
  }

  /** Another node says who has the log of the database, while this one cannot look; see `SharedTail.heard`. */
  heard(_database: string | null, owner: Parameters<SharedTail['heard']>[0]): void {
    this.tail?.heard(owner);
  }

  /** Of a copy, what questions used here since the last call; for the owner, by `noteUses`. */
  takeUses(): ToldUses[] {
    return takeUses(this.live, this.tail?.role === 'copy');
  }

  /** Records what questions used at a copy. */
  noteUses(told: readonly ToldUses[]): void {
    noteUses(this.live, told);
  }

  /** The nodes that share the log; none: only this process can have it. Rejects with NoOwner. */
  async nodes(): Promise<NodeList> {
    return (await this.tail?.nodes()) ?? { log: null, databases: [], nodes: [] };
  }

  /**
   * Lets another node store the writes, or those of the database; see `SharedTail.handOver`. Rejects with Conflict if nodes
   * share no log.
   */
  async handOver(to: string, _database?: string, giving?: Giving): Promise<Omit<LogMoved, 'heldMs'>> {
    if (this.tail === null)
      throw new EngineError(
        'Conflict',
        'this service keeps its knowledge by itself: only the nodes of a store (STORE_URL) can take it from each other',
      );
    return this.tail.handOver(to, giving);
  }

  /**
   * Lets a node of the store make a copy of the database, if it has none, so that it can be given the log. Rejects with
   * Conflict if it has no room for it, or takes longer than a minute.
   */
  async makeCopy(_to: string, _database: string): Promise<void> {
    // A log alone is where its nodes are.
  }

  /** Where the nodes are reached that have the database, if this one does not and there is such a database; null: it does. */
  copiesElsewhere(_database: string): readonly string[] | null {
    return null;
  }

  /** Where the nodes are reached that have the databases which this one does not have, by name. */
  databasesElsewhere(): ReadonlyMap<string, readonly string[]> {
    return new Map();
  }

  /** The id of another living node that has a copy of the database; null: there is none. */
  successor(_database: string): string | null {
    return null;
  }

  /** This node of a shared log, or of that of the database; null: only this process can have the log. */
  node(_database?: string): NodeStatus | null {
    return this.tail?.status() ?? null;
  }

  /**
   * True if a write with the caller's idempotency key was made in the last 24 hours: repeated, it changes nothing and gets
   * the same outcome. Refuses with IdempotencyMismatch if that was another request.
   */
  remembers(caller: Caller): boolean {
    return this.earlierOutcome(caller) !== null;
  }

  /** True where the database exists; the surfaces refuse an unknown one before they look at the body. */
  hasDatabase(name: string): boolean {
    return this.parts.state.databases.has(name);
  }

  /** What the caller's first request with this idempotency key recorded in the last 24 hours; null: there was none. */
  keptImport(caller: Caller, key: string): StoredImport | null {
    const { idempotency } = this.parts.state;
    const kept = idempotency.get(caller.credential, spaceOf(caller), key, this.live.showTime());
    if (kept === null) return null;
    const { note } = JSON.parse(outcomeOf(kept)) as { readonly note?: string };
    return { fingerprint: kept.mark.fingerprint, answer: note ?? null };
  }

  /** Totals since the start, for metrics. */
  counters(): EngineCounters {
    const { records, commits, bytes: logBytes } = this.parts.log.statistics();
    const { shared } = this.parts.log;
    return {
      ...this.live.counters(),
      records,
      commits,
      logBytes,
      snapshots: this.snapshots.written,
      backups: this.backups.count,
      writesOverQuota: this.admission.refused.quota,
      writesOutOfMemory: this.admission.refused.memory,
      questionsOverQuota: this.questions.refused,
      reasoning: this.threads?.counters() ?? { movedQuestions: 0, replacedThreads: 0 },
      shared: { takes: shared?.term ?? 0, ...(shared?.totals ?? { fenced: 0, inDoubt: 0, endsLost: 0 }) },
    };
  }

  /** Present sizes, for gauges. */
  figures(): EngineFigures {
    const { log } = this.parts;
    const { storedBytes, segments, inFlightBytes } = log.statistics();
    const live = this.live.figures();
    const reasoning = this.threads?.figures() ?? noFigures;
    const snapshot = log.snapshot();
    return {
      ...live,
      conclusions: live.conclusions + reasoning.conclusions,
      openTransactions: this.transactions.count,
      oldestTransactionMs: this.transactions.oldestMs,
      windowSessions: this.windows.sessions,
      embeddings: this.meaning?.figures ?? { vectors: 0, bytes: 0 },
      logBytes: storedBytes,
      logSegments: segments,
      logWaitingBytes: inFlightBytes,
      snapshot: snapshot === null ? null : { bytes: snapshot.bytes, at: snapshot.createdAt },
      snapshotTookMs: this.snapshots.tookMs,
      position: log.lastSequence,
      isEncrypted: log.isEncrypted,
      memory: this.parts.memoryGauge?.read() ?? null,
      backupAt: this.backups.last?.takenAt ?? null,
      reasoning,
    };
  }

  /** By how many milliseconds the wall clock was set since the start; 0: it was not, or was put right. */
  clockOffsetMs(): number {
    return this.live.clockOffset.offset;
  }

  /**
   * What the service keeps beside the log under this name; one owner, which loads it first. Closed with the
   * engine.
   */
  journal(name: JournalName): Journal {
    const journal = this.parts.openJournal(name);
    this.journals.push(journal);
    return journal;
  }

  /**
   * Finishes what runs, makes all durable, writes a last snapshot if that takes no longer than `snapshotWithinMs`, and
   * releases the folder. Later calls are refused with NotReady.
   */
  async close(snapshotWithinMs = lastSnapshotMs): Promise<void> {
    if (this.live.isClosed) return;
    this.#clockVisits.end();
    this.#clockWatch.remove(this.#lookAtClock);
    this.transactions.close();
    await this.tail?.close();
    // First, so that no write is stored behind one that is refused because it cannot read any more.
    const written = this.pipeline.close();
    const decayed = Promise.all([
      this.#correction.close(),
      this.decaySchedule?.close(),
      this.endedSchedule?.close(),
    ]);
    if (this.parts.shared === undefined) this.threads?.close();
    await Promise.all([this.live.close(), this.#words.close(), this.violations.close()]);
    await decayed;
    await written;
    if (this.parts.shared !== undefined) this.live.release();
    // Nobody would read one that is in memory.
    const isInMemory = this.parts.lock === null && !this.parts.log.isRemote;
    await this.snapshots.close(isInMemory ? 0 : snapshotWithinMs);
    if (this.parts.shared === undefined) await this.meaning?.close();
    await Promise.all(this.journals.map((journal) => journal.close()));
    await this.parts.log.close();
    await this.parts.lock?.release();
  }
}
