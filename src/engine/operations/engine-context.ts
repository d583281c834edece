import type { Caller } from '../base/caller.ts';
import { notLeader } from '../base/errors.ts';
import { Slices } from '../base/slices.ts';
import { Databases } from '../write/databases.ts';
import { DecaySchedule, decayEverywhere } from '../memory/scheduled-decay.ts';
import { markOf } from '../state/idempotency.ts';
import { Keys } from '../write/keys.ts';
import { KnownNames } from '../read/known-names.ts';
import { type LiveParts, LiveState } from '../session/live-state.ts';
import { type Writer } from '../session/writer.ts';
import { Leader } from '../replication/leader.ts';
import { EngineReplica } from '../replication/replica.ts';
import { Backups, Snapshots } from '../commit/snapshots.ts';
import type { Tallies } from '../datalog/model/program.ts';
import type { DatabaseState } from '../state/state.ts';
import type { Operation } from '../state/operation.ts';
import { type Outcome } from '../state/outcome.ts';
import { repeatedReport, type Report } from '../state/report.ts';
import type { Journal, JournalName } from '../log/journal.ts';
import type { FolderLock } from '../log/lock-file.ts';
import type { Log } from '../log/log.ts';
import { Transactions } from '../write/transactions.ts';
import { Windows } from '../window/windows.ts';
import { type Write, CommitPipeline } from '../commit/commit-pipeline.ts';

/** What an engine is made of. */
export interface EngineParts extends LiveParts {
  readonly log: Log;
  /** Of the folder; no other engine has one of the same name. */
  readonly openJournal: (name: JournalName) => Journal;
  /** null: all is in memory. */
  readonly lock: FolderLock | null;
  readonly snapshotIntervalMs: number;
  /** null: nothing decays by the clock. */
  readonly decayIntervalMs: number | null;
  /** Address of the leader whose records these are; null: callers write. */
  readonly leaderUrl: string | null;
  /** Told, in words for people, what an operator should know. */
  readonly onWarn: (message: string) => void;
}

/** After these there may be much less than there was. */
const clearing: ReadonlySet<Operation['kind']> = new Set([
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
  readonly live: LiveState;
  readonly pipeline: CommitPipeline;
  readonly transactions: Transactions;
  readonly databases: Databases;
  readonly keys: Keys;
  readonly leader: Leader;
  readonly replica: EngineReplica | null;
  readonly snapshots: Snapshots;
  readonly backups: Backups;
  readonly windows: Windows;
  /** null: nothing decays by the clock. */
  readonly decaySchedule: DecaySchedule | null;
  /** A new id for a transaction, a session or an import. */
  readonly newId = (): string => crypto.randomUUID();
  readonly journals: Journal[] = [];

  constructor(parts: EngineParts) {
    this.parts = parts;
    this.live = new LiveState(parts);
    const { state, log, clock, pause, snapshotIntervalMs: intervalMs, onWarn } = parts;
    const { newId } = this;
    this.transactions = new Transactions({ writer: this, clock, pause, newId });
    this.windows = new Windows(this.live, newId);
    this.live.rememberedSince = (database, tenant) => this.transactions.rememberedSince(database, tenant);
    this.pipeline = new CommitPipeline(state, log, clock, pause, {
      applying: (record) => this.live.applying(record),
      applied: (record, report) => {
        this.transactions.applied(record, report);
        this.live.applied(record, report);
        this.windows.applied(report);
      },
    });
    this.databases = new Databases(state, this, () => new Slices(pause));
    this.keys = new Keys(state, this, clock);
    const talliesOf = (database: DatabaseState): Tallies => this.live.talliesOf(database);
    const neededAfter = (): number => this.leader.neededAfter();
    const { pipeline } = this;
    this.snapshots = new Snapshots({
      state,
      log,
      pipeline,
      talliesOf,
      pause,
      neededAfter,
      intervalMs,
      onWarn,
    });
    this.backups = new Backups(this.snapshots, log, () => clock.now());
    this.leader = new Leader({ log, now: () => clock.now(), takeSnapshot: () => this.snapshots.take() });
    const [live, snapshots] = [this.live, this.snapshots];
    const follows = parts.leaderUrl !== null;
    this.replica = follows ? new EngineReplica({ state, log, pipeline, live, snapshots, pause }) : null;
    const { decayIntervalMs, onBug } = parts;
    const run = (signal: AbortSignal): Promise<void> =>
      decayEverywhere({ writer: this, onWarn, onBug }, signal);
    this.decaySchedule =
      decayIntervalMs === null || follows
        ? null
        : new DecaySchedule({ clock, intervalMs: decayIntervalMs, run });
  }

  /** Resolves once the write is durable and applied; a repeated request gets the report of the first one. */
  readonly write = async (write: Write): Promise<Report> => {
    this.live.refuseClosed();
    if (this.parts.leaderUrl !== null) throw notLeader(this.parts.leaderUrl);
    const outcome = this.earlierOutcome(write.caller);
    if (outcome !== null) return repeatedReport(write.database, outcome);
    const report = await this.pipeline.write(write);
    if (typeof write.operation !== 'function' && clearing.has(write.operation.kind)) this.snapshots.soon();
    return report;
  };

  /** What the first request with the caller's idempotency key came to, if it wrote something; null: it did not. */
  earlierOutcome(caller: Caller): Outcome | null {
    const mark = markOf(caller);
    if (mark === null) return null;
    return this.parts.state.idempotency.find(caller.credential, mark, this.live.showTime());
  }

  /** The names that a writer can mean; null: there is no such database. */
  knownBefore(caller: Caller): KnownNames | null {
    const database = this.parts.state.databases.get(caller.database);
    if (database === undefined) return null;
    const { generation, rules } = database;
    const store = database.tenants.get(caller.tenant)?.facts ?? null;
    return KnownNames.forWriting(store, rules, { generation, time: this.live.showTime() });
  }
}
