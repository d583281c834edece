/**
 * A node's part in a log that several nodes share: it applies what the owner stores, takes the log when the owner's lease
 * has run out, and says how old the state is.
 *
 * Invariant: the state changes only by records that the store has committed, in order. A copy applies them as it sees them;
 * it becomes the owner between two records, when it has applied all of them, and only by a take that the store decided. If
 * what it has applied turns out to be no part of the log, or the log was trimmed past it, it reads everything again.
 */
import type { LogMoved, NodeList, NodeStatus } from '../contract/administration.ts';
import { EngineError } from '../base/errors.ts';
import { Slices } from '../base/slices.ts';
import { wait } from '../base/wait.ts';
import type { CommitPipeline } from '../commit/commit-pipeline.ts';
import type { Snapshots } from '../commit/snapshots.ts';
import { noOwner } from '../log/frame-store.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Log, ReadableLog } from '../log/log.ts';
import type {
  NodeReport,
  SharedFrame,
  SharedNode,
  SharedPosition,
  SharedStore,
} from '../log/shared-store.ts';
import { StartupError } from '../log/startup-error.ts';
import { type LogFollower, type LogsLook, LogWatch, type LogWatchHost } from './log-watch.ts';
import type { LiveState } from '../session/live-state.ts';
import { operationVersion } from '../state/operation.ts';
import type { State } from '../state/state.ts';
import { stateOf } from '../state/state-snapshot.ts';

/** What the tail needs of its engine. */
interface TailParts {
  readonly state: State;
  readonly log: Log;
  readonly shared: SharedStore;
  /** Looks at the log, together with the others of the process. */
  readonly watch: LogWatch;
  readonly pipeline: CommitPipeline;
  readonly live: LiveState;
  readonly snapshots: Snapshots;
  readonly pause: () => Promise<void>;
  /** Memory of the process and its mark. */
  readonly memory: () => Pick<NodeReport, 'usedBytes' | 'memoryBytes'>;
  /** Called in the turn in which another state replaced the present one. */
  readonly onReplaced: () => void;
  /** Called when this node has taken the log. */
  readonly onTaken: () => void;
  /** Receives warnings for the operator, in plain language. */
  readonly onWarn: (message: string) => void;
  /** Receives internal errors: bugs. */
  readonly onBug: (error: unknown) => void;
}

/** Between two looks whether a node has taken what it was given. */
const GIVEN_LOOK_MS = 15;
/** A strong read waits this long for the records that it must show. */
const CONFIRM_MS = 5000;
/** A node that is further behind is not given the log; nodes tell it every 500 ms. */
const READY_MS = 2000;
/** A node that was given the log has this long to take it. */
const TAKEN_MS = 3000;

/** One wait for a look to be applied. */
interface Waiter {
  /** Number of the last look that was sent before. */
  readonly after: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A watch over the logs that `look` shows. */
export function watchLogs(
  look: LogWatchHost['look'],
  { onWarn, onBug }: Pick<TailParts, 'onWarn' | 'onBug'>,
): LogWatch {
  return new LogWatch({ look, onWarn, onFailed: (error) => followProblem(error, onBug) });
}

/** How a node gives a log to another one. */
export interface Giving {
  /** Runs the step in which the log is given, while no write to it begins; default: at once. */
  readonly hold?: <Result>(step: () => Promise<Result>) => Promise<Result>;
  /** Tells the node at this address to take it; resolves when it has looked, or cannot be told. Default: it sees it by itself. */
  readonly tell?: (address: string) => Promise<void>;
}

/** Keeps the node's state up to date with the log, and its role with the leases. */
export class SharedTail implements LogFollower {
  readonly #parts: TailParts;
  #isClosed = false;
  /** This node ends, and takes the log no more. */
  #isRetired = false;
  /** When the look was sent whose records are all applied, by `performance.now`. */
  #freshAt = performance.now();
  /** Everything that any look has seen so far is applied. */
  #isCurrent = false;
  /** What this node stored when it was the owner may not be applied yet. */
  #isUnsettled = false;
  /** Number of the last look that was sent before this node had what it has read beside the looks: older ones do not show it. */
  #settledAt = 0;
  /** What another node told of the owner, and after which look. */
  #heard: { readonly owner: string; readonly address: string; readonly lookedAt: number } | null = null;
  /** Why what was seen could not be applied, in plain language; null: it could. */
  #problem: string | null = null;
  /** Those who wait for a look to be applied that is sent after their call. */
  #waiters: Waiter[] = [];

  constructor(parts: TailParts) {
    this.#parts = parts;
    parts.shared.report = () => ({
      staleMs: this.staleMs,
      problem: this.#isRetired ? 'it is ending' : this.problem,
    });
    parts.shared.memory = parts.memory;
    parts.watch.follow(this);
  }

  get log(): number {
    return this.#parts.shared.log;
  }

  get node(): string {
    return this.#parts.shared.node;
  }

  /** Where the log is, as of the last look, or as another node has told since; null: there was none. */
  get #seen(): SharedPosition | null {
    const { watch } = this.#parts;
    const seen = watch.position(this.log);
    if (seen === null || this.#heard?.lookedAt !== watch.lookedAt) return seen;
    return { ...seen, owner: this.#heard.owner, ownerAddress: this.#heard.address, isOwned: true };
  }

  get role(): SharedStore['role'] {
    return this.#parts.shared.role;
  }

  /** Role, owner and age of the state. */
  status(): NodeStatus {
    const { shared, log } = this.#parts;
    const isOwner = shared.role === 'owner';
    const last = this.#seen?.lastSequence ?? log.lastSequence;
    return {
      id: shared.node,
      role: shared.role,
      owned: isOwner ? 1 : 0,
      copies: isOwner ? 0 : 1,
      owner: isOwner ? shared.node : (this.#seen?.owner ?? null),
      ownerAddress: this.ownerAddress,
      lagRecords: isOwner ? 0 : Math.max(0, last - log.lastSequence),
      staleMs: this.staleMs,
      takes: shared.term,
      clockSkewMs: shared.clockSkewMs,
      problem: this.problem,
    };
  }

  /** Where the owner is reached; null: this node is the owner, or there is none that is alive. */
  get ownerAddress(): string | null {
    const { shared } = this.#parts;
    const seen = this.#seen;
    if (shared.role === 'owner' || seen === null || !seen.isOwned || seen.owner === shared.node) return null;
    return seen.ownerAddress;
  }

  /** The state lacks nothing that was stored so many milliseconds ago. */
  get staleMs(): number {
    const freshAt = this.#isCurrent ? this.#parts.watch.lookedAt : this.#freshAt;
    return Math.round(performance.now() - freshAt);
  }

  /** Why the log cannot be followed, in plain language; null: it can. */
  get problem(): string | null {
    return this.#parts.watch.problem ?? this.#problem;
  }

  /**
   * Resolves when everything that was stored before the call is applied. One look serves all that wait. Rejects with NoOwner
   * if the store cannot be asked, or after `limitMs`.
   */
  confirm(limitMs: number = CONFIRM_MS): Promise<void> {
    if (this.#isClosed) return Promise.reject(closing());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(noOwner('This node could not catch up in time.')), limitMs);
      this.#waiters.push({
        after: this.#parts.watch.number,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.#parts.watch.ask(this);
    });
  }

  /**
   * Looks now, rather than when it is time; resolves when a look that was sent after the call has been applied, with the
   * milliseconds until the owner's lease runs out, as of the last look that was answered.
   */
  async look(): Promise<number> {
    const { watch } = this.#parts;
    if (!this.#isClosed)
      await new Promise<void>((resolve) => {
        this.#waiters.push({ after: watch.number, resolve, reject: () => resolve() });
        watch.ask(this);
      });
    return this.#seen?.leaseMs ?? 0;
  }

  /** This node is no owner any more, though the log may not have moved. */
  demoted(): void {
    this.#isUnsettled = true;
    this.#parts.watch.expect(this);
  }

  /** Another node says who the owner is, while this one cannot look: where requests go until a look tells. */
  heard({ owner, address }: { readonly owner: string; readonly address: string }): void {
    const { shared, watch } = this.#parts;
    if (this.#seen === null || shared.role === 'owner' || owner === shared.node) return;
    this.#heard = { owner, address, lookedAt: watch.lookedAt };
  }

  /** The nodes of the store. Rejects with NoOwner if the store cannot be asked. */
  async nodes(): Promise<NodeList> {
    const { shared } = this.#parts;
    const [seen, nodes, ownedSince] = await Promise.all([
      shared.look(),
      shared.nodes(),
      shared.ownedSince(),
    ]).catch((error: unknown) => {
      throw noOwner('PostgreSQL cannot be asked for its nodes.', error);
    });
    const { epoch, history: historyId, lastSequence: position } = seen;
    const owner = seen.isOwned ? seen.owner : null;
    return {
      log: { position, historyId, epoch, owner, ownedSince: owner === null ? null : ownedSince },
      databases: [],
      nodes: nodes.map(({ isAlive: alive, ...node }) => ({
        ...node,
        self: node.id === shared.node,
        role: node.id === owner ? 'owner' : 'copy',
        alive,
        owned: node.id === owner ? 1 : 0,
        copies: node.id === owner ? 0 : 1,
        lagRecords: Math.max(0, position - node.position),
      })),
    };
  }

  /**
   * Gives the log to another node between two writes; later writes wait. Resolves when that node has taken it; until then,
   * they are refused with NoOwner. Rejects, and this node keeps the log, if the other one is not ready or does not take it.
   */
  async handOver(
    to: string,
    { hold = (step) => step(), tell = async () => {} }: Giving = {},
  ): Promise<Omit<LogMoved, 'heldMs'>> {
    const { shared, log, pipeline } = this.#parts;
    if (shared.role !== 'owner') throw noOwner('This node holds a copy, and another one stores the writes.');
    const target = (await this.#known()).find(({ id }) => id === to);
    if (target === undefined)
      throw new EngineError('NotFound', `the store has no node ${to}: GET /admin/nodes lists them`);
    const { address } = target;
    if (to === shared.node) return { from: to, to, address };
    const why = unfit(target) ?? (log.status() === 'ready' ? null : 'writes are refused at present');
    if (why !== null) throw notMoved(to, why);
    await hold(async () => {
      const { epoch } = log;
      await pipeline.quiet(async () => {
        await log.settled();
        if (!(await shared.give(to).catch(unasked))) throw notMoved(to, 'it has just ended');
      });
      await this.#waitForTake(to, epoch, tell(address));
    });
    return { from: shared.node, to, address };
  }

  /** This node ends: from now on it takes no log. It keeps what it has. */
  retire(): void {
    this.#isRetired = true;
  }

  /**
   * Gives the log up between two writes, to whichever node takes it first. Resolves when one has, or after 3 s: later writes
   * are refused with NoOwner, and nothing of them is stored. Does nothing if another node has the log. Rejects with NoOwner if
   * the store cannot be asked, and this node has the log then. Only after `retire`.
   */
  async release(): Promise<void> {
    const { shared, log, pipeline } = this.#parts;
    if (shared.role !== 'owner') return;
    const { epoch } = log;
    await pipeline.quiet(async () => {
      await log.settled();
      await shared.release(shared.node).catch(unasked);
    });
    await this.#isTaken(epoch, Promise.resolve());
  }

  async #known(): Promise<readonly SharedNode[]> {
    return this.#parts.shared.nodes().catch(unasked);
  }

  async #waitForTake(to: string, epoch: number, told: Promise<void>): Promise<void> {
    const { shared } = this.#parts;
    if (await this.#isTaken(epoch, told)) return;
    // Of a node that ends it is any other's.
    if (this.#isRetired) await shared.release(to).catch(unasked);
    else if (!(await shared.takeBack(to).catch(unasked))) return;
    await this.look();
    throw notMoved(to, 'it did not take the log within 3 s');
  }

  /** Resolves with true when another node has taken the log since this epoch, with false after `TAKEN_MS`. `told`: one has looked. */
  async #isTaken(epoch: number, told: Promise<void>): Promise<boolean> {
    const { shared } = this.#parts;
    const until = performance.now() + TAKEN_MS;
    await Promise.race([told, wait(GIVEN_LOOK_MS)]);
    while (performance.now() < until) {
      const seen = await shared.look().catch(unasked);
      if (seen.epoch > epoch) {
        const { owner, ownerAddress: address } = seen;
        if (owner !== null && address !== null) this.heard({ owner, address });
        return true;
      }
      await wait(GIVEN_LOOK_MS);
    }
    return false;
  }

  /** Ends the looks; resolves when none runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#parts.watch.leave(this);
    for (const { reject } of this.#waiters.splice(0)) reject(closing());
  }

  /** Acts by what a look has seen; see `LogFollower`. */
  async saw(seen: SharedPosition, look: LogsLook): Promise<boolean> {
    if (this.#isCurrent) this.#freshAt = look.beforeAt;
    this.#isCurrent = false;
    try {
      const isDone = await this.#followed(seen, look);
      if (isDone === null) return false;
      const isWaitedFor = this.#waiters.some(({ after }) => after < look.number);
      if (isWaitedFor && this.role === 'owner') await this.#parts.log.confirm();
      if (this.#problem !== null) this.#parts.onWarn('This node follows the log again.');
      this.#problem = null;
      for (const { resolve } of this.#waitersOf(look.number)) resolve();
      return isDone && this.#waiters.length === 0;
    } catch (error) {
      this.unanswered(look.number, error);
      const { onWarn, onBug } = this.#parts;
      const problem = followProblem(error, onBug);
      if (this.#problem === null) onWarn(`This node cannot follow the log: ${problem}`);
      this.#problem = problem;
      return false;
    }
  }

  unanswered(number: number, error: unknown): void {
    const refusal = noOwner('PostgreSQL cannot be asked whether this answer is the latest.', error);
    for (const { reject } of this.#waitersOf(number)) reject(refusal);
    if (this.#waiters.length > 0) this.#parts.watch.ask(this);
  }

  /** Takes out those who wait for this look, or an earlier one. */
  #waitersOf(number: number): Waiter[] {
    const waiting = this.#waiters.filter(({ after }) => after < number);
    this.#waiters = this.#waiters.filter(({ after }) => after >= number);
    return waiting;
  }

  /**
   * Applies what is stored, and takes the log if no living node has it. Resolves with true if nothing is left to do until it
   * moves, with null if the look is too old to tell.
   */
  async #followed(seen: SharedPosition, { at, number }: LogsLook): Promise<boolean | null> {
    const { shared, log, watch } = this.#parts;
    if (shared.role === 'owner') {
      if (seen.owner !== shared.node) await this.#noticeLoss();
      if (shared.role === 'owner') return this.#applied(at, seen.owner === shared.node);
    }
    if (await this.#isTooOld(number)) return null;
    if (!(await shared.continues(seen))) {
      await this.#readAgain(seen);
      this.#settledAt = watch.number;
    }
    await this.#catchUp(seen.lastSequence);
    this.#applied(at, log.lastSequence >= seen.lastSequence);
    const isMine = seen.owner === shared.node;
    if (!isMine && seen.isOwned) return this.#isCurrent;
    if (shared.trouble === null) await this.#take(seen);
    this.#settledAt = watch.number;
    // With the next look it is seen who has it.
    return false;
  }

  /** What this node stored as the owner is applied first, and then it looks again, so that the look shows it. */
  async #isTooOld(number: number): Promise<boolean> {
    const { log, watch } = this.#parts;
    if (this.#isUnsettled) {
      await log.settled();
      this.#isUnsettled = false;
      this.#settledAt = watch.number;
    }
    if (number > this.#settledAt) return false;
    watch.ask(this);
    return true;
  }

  /** Everything that the look sent then has seen is applied, or not. */
  #applied(at: number, isAll: boolean): boolean {
    this.#isCurrent = isAll;
    if (isAll) this.#freshAt = at;
    return isAll;
  }

  /** Makes the owner a copy, if it is the owner no more. */
  async #noticeLoss(): Promise<void> {
    try {
      await this.#parts.log.confirm();
    } catch (error) {
      // The store has reported it.
      if (!(error instanceof EngineError && error.code === 'NoOwner')) throw error;
    }
  }

  async #take(seen: SharedPosition): Promise<void> {
    const { shared, onTaken, onWarn } = this.#parts;
    if (this.#isRetired) return;
    if (!(await shared.own(seen))) return;
    onTaken();
    const isGiven = seen.owner === shared.node;
    const why = isGiven
      ? 'The log was given to this node'
      : 'The owner of the log is gone: this node has taken it';
    onWarn(`${why}, and writes go on here.`);
  }

  async #catchUp(through: number): Promise<void> {
    const { shared, log } = this.#parts;
    if (log.lastSequence >= through) return;
    for await (const frame of shared.frames(through)) {
      if (this.#isClosed) return;
      await this.#apply(frame);
      shared.reached(frame.end);
    }
  }

  /** Applies a frame that can be read as a whole; decodes it in slices. */
  async #apply({ records }: SharedFrame): Promise<void> {
    const { pipeline, state, pause } = this.#parts;
    const slices = new Slices(pause);
    const next: LogRecord[] = [];
    for (const record of records) {
      if (record.version > operationVersion)
        throw new StartupError(
          `The owner of the log writes operations of version ${record.version}, and this program reads up to ` +
            `${operationVersion}: run the newer version here too.`,
          {},
        );
      if (!state.hasApplied(record.sequence)) next.push(record);
      await slices.breathe();
    }
    await pipeline.applyStored(next);
  }

  /** Replaces the state by one read from the newest snapshot and the frames after it. */
  async #readAgain(seen: SharedPosition): Promise<void> {
    const { shared, log, snapshots, onWarn } = this.#parts;
    const isTrimmed = seen.history === log.historyId && seen.firstSequence > log.lastSequence + 1;
    const isLost = seen.history === log.historyId && !isTrimmed;
    onWarn(
      isTrimmed
        ? 'The log was trimmed past what this node has applied: it reads the newest snapshot.'
        : 'PostgreSQL does not have what this node has applied, as after the promotion of an asynchronous standby or the ' +
            'restore of a backup: this node reads everything again.',
    );
    await snapshots.without(async () => {
      await shared.restart(isLost);
      await this.#become();
    });
  }

  async #become(): Promise<void> {
    const { state, log, shared, pipeline, live, pause, onReplaced } = this.#parts;
    const slices = new Slices(pause);
    const inSlices: ReadableLog = {
      snapshot: () => log.snapshot(),
      readSnapshot: (section) => log.readSnapshot(section),
      read: async function* (after) {
        for await (const record of log.read(after)) {
          yield record;
          await slices.breathe();
        }
      },
    };
    const { state: next } = await stateOf(inSlices, pause);
    await pipeline.between(() => {
      const before = [...state.databases.values()];
      shared.loaded(next.sequence);
      state.become(next);
      live.replaced(before);
      onReplaced();
    });
  }
}

/** Why a node cannot be given the log, in plain language; null: it can. */
function unfit({ isAlive, staleMs, problem }: SharedNode): string | null {
  if (!isAlive) return 'it gives no sign of life';
  if (problem !== null) return `it cannot take the log: ${problem}`;
  return staleMs > READY_MS ? `it is ${Math.round(staleMs / 1000)} s behind` : null;
}

/** Why a log cannot be followed, in plain language. An internal error is told besides. */
function followProblem(error: unknown, onBug: (error: unknown) => void): string {
  const isOfStore = error instanceof Error && error.name === 'StatementFailed';
  if (isOfStore || error instanceof StartupError || error instanceof EngineError) return error.message;
  onBug(error);
  return "an internal error; see this service's log";
}

function notMoved(to: string, why: string): EngineError {
  return new EngineError('Conflict', `the node ${to} was not given the log: ${why}. Nothing changed.`);
}

function unasked(error: unknown): never {
  throw error instanceof EngineError ? error : noOwner('PostgreSQL cannot be asked.', error);
}

function closing(): EngineError {
  return new EngineError('NotReady', 'the service is shutting down');
}
