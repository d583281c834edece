import type { Caller } from './caller.ts';
import { signalOf } from './caller.ts';
import { EngineError } from './errors.ts';
import { type Pause, sliceMs, type Wake } from './slices.ts';
import { TurnMeter } from './turn-meter.ts';

/**
 * The scheduler of a serving thread: every piece of long work pauses here between its slices, and the scheduler decides
 * whose next slice runs.
 *
 * Between two polls of the event loop one paused slice runs, so requests and I/O come in between, and what they answer
 * goes out before the next slice (`atEndOfTurn`). Each tenant has a run queue, and so has the system. Fair queueing by measured time: a queue's virtual time grows by the time its slices
 * took, the queue with the least runs next, and a queue that had nothing to do starts at the present virtual time, so
 * that it neither saves up time nor owes any. The first slice of a task runs at once; it is charged too, as a slice at most, and a
 * queue that has had more than its share by it waits. Those of all tasks that one poll began are one slice together, but for
 * `minFirstMs` of each. Within a queue tasks take turns, first come, first served.
 *
 * A short write of another client passes between two slices at each of its steps (`shortWrite`).
 *
 * The scheduler also bounds how many questions of a tenant run at once, and how many wait for that.
 */

/** The tenant for whom work is done; null: it is the system's. */
export type Owner = Pick<Caller, 'database' | 'tenant'> | null;

/** Questions of one tenant that may run at once, if nothing else is configured. */
export const defaultRunningQuestions = 16;

/** Questions of one tenant that may wait to run. */
export const maxWaitingQuestions = 1000;

/** Virtual milliseconds that a queue may be ahead of its share before its new tasks wait for their first slice. */
const maxAhead = sliceMs;

/** Milliseconds of the first slice of a task that begins when others have used up the slice: most questions end in that time. */
const minFirstMs = 0.5;

/** For so many milliseconds a slice waits for short writes that are nearly durable. */
const maxWaitForWritesMs = 1;

/** Idle queues are looked for when there are this many, and then when there are twice as many as were left. */
const minQueuesToSweep = 64;

interface Waiting {
  readonly operation: string;
  readonly wake: Wake | undefined;
  readonly resolve: () => void;
}

/** What runs in a turn. */
interface Present {
  /** null: no queue is charged. */
  readonly key: string | null;
  readonly operation: string;
  readonly since: number;
  /** It did not wait for its turn. */
  readonly isNew: boolean;
}

interface WaitingQuestion {
  readonly admitted: () => void;
}

/** The work of one tenant, or of the system. */
interface RunQueue {
  readonly key: string;
  /** Time its slices took, in milliseconds of virtual time. */
  virtualTime: number;
  /** Paused tasks, in the order in which they run. */
  tasks: Waiting[];
  /** Running questions. */
  running: number;
  readonly questions: Set<WaitingQuestion>;
}

/** What a scheduler needs from its thread. */
export interface SchedulerHost {
  /** Yields to the event loop until it has polled. */
  readonly poll: () => Promise<void>;
  /**
   * Calls `end` when the present turn of the event loop is over, or right after what the last `poll` resumed; absent:
   * turns end with the next pause.
   */
  readonly afterTurn?: (end: () => void) => void;
  /** Milliseconds; default `performance.now`. */
  readonly now?: () => number;
  /** CPU time of the thread or process, in milliseconds; default: `now`. */
  readonly cpuNow?: () => number;
  /** False: every task polls by itself, so that a test can hold one of them. */
  readonly isShared?: boolean;
}

/** Numbers of tasks now. */
export interface SchedulerFigures {
  /** Paused tasks that wait for their next slice. */
  readonly pausedTasks: number;
  readonly runningQuestions: number;
  /** Questions that wait until another one of their tenant has ended. */
  readonly waitingQuestions: number;
}

const systemKey = '';

/** Schedules the work of one thread; see above. */
export class Scheduler {
  readonly turns: TurnMeter;
  /** How many questions the tenant may run at once. */
  maxRunning: (owner: Exclude<Owner, null>) => number = () => defaultRunningQuestions;
  readonly #host: SchedulerHost;
  readonly #now: () => number;
  readonly #queues = new Map<string, RunQueue>();
  /** Queues with paused tasks; of those with the same virtual time, the first runs next. */
  #ready: RunQueue[] = [];
  /** The present virtual time: the least of the queues with tasks, so none of them is behind it. */
  #virtualTime = 0;
  /** Whose work runs in this turn, since when; null: not known. */
  #present: Present | null = null;
  /** When the first of the tasks began that the last poll began; null: it began none yet. */
  #firstSince: number | null = null;
  #isPolling = false;
  #isEnding = false;
  /** Short writes that the disk has. */
  #shortWrites = 0;
  /** What is to run at the end of this turn. */
  #last: (() => void)[] = [];
  #sweepAt = minQueuesToSweep;

  constructor(host: SchedulerHost) {
    this.#host = host;
    this.#now = host.now ?? (() => performance.now());
    this.turns = new TurnMeter(host.cpuNow ?? this.#now);
  }

  /** The pause of this owner's tasks. Without a name of the operation a task keeps that in which it began. */
  pauseOf(owner: Owner, operation: string | null = null): Pause {
    const key = keyOf(owner);
    const pause = (wake?: Wake): Promise<void> => this.#pause(key, operation, wake);
    return Object.assign(pause, { sliceSince: this.#sliceSince });
  }

  /**
   * The same for work that I/O resumes: it waits for its turn before it goes on, so that what became ready in one poll
   * runs one slice at a time. It charges nothing for the time in which the task waited.
   */
  resumeOf(owner: Owner, operation: string | null = null): Pause {
    const key = keyOf(owner);
    return (wake) => {
      const name = this.#goingOn(key, operation, this.#now());
      if (name === null) this.#charge(key, 0, true);
      return this.#wait(key, name ?? operation ?? 'other', wake);
    };
  }

  /** Notes what the thread does from now on in this turn. `owner` undefined: no queue is charged. */
  enter(operation: string, owner?: Owner): void {
    const now = this.#now();
    this.#leave(now);
    this.#firstSince ??= now;
    this.#begin({ key: owner === undefined ? null : keyOf(owner), operation, since: now, isNew: true });
    if (this.#isPolling || this.#isEnding || this.#host.afterTurn === undefined) return;
    this.#isEnding = true;
    this.#host.afterTurn(this.#ended);
  }

  /**
   * Calls `task`, which must not throw, at the end of this turn of the event loop, together with others: before the next
   * slice runs, so that what a poll has finished does not wait for it.
   */
  atEndOfTurn(task: () => void): void {
    if (this.#last.push(task) > 1) return;
    if (this.#host.afterTurn === undefined) void this.#host.poll().then(this.#runLast);
    else this.#host.afterTurn(this.#runLast);
  }

  /**
   * Call it when a short write goes to the disk, and the returned function when it is durable. The next slice waits for it,
   * a millisecond at most: else a write would wait for a slice at each of its steps.
   */
  shortWrite(): () => void {
    this.#shortWrites++;
    return () => {
      this.#shortWrites--;
    };
  }

  readonly #runLast = (): void => {
    const tasks = this.#last;
    this.#last = [];
    for (const task of tasks) task();
  };

  /**
   * Takes one of the tenant's places for running questions; the returned function gives it back. null: none is free, or
   * the tenant has had more than its share. Then `waitForPlace`.
   */
  place(owner: Exclude<Owner, null>): (() => void) | null {
    const queue = this.#queueOf(keyOf(owner));
    const isTaken = queue.questions.size > 0 || queue.running >= this.maxRunning(owner);
    return isTaken || this.#isAhead(queue) ? null : this.#taken(queue, owner);
  }

  /**
   * Resolves with the place when it is this question's turn, and with null if `wake` comes first. Refuses with NotReady
   * if too many wait already.
   */
  async waitForPlace(
    caller: Pick<Caller, 'database' | 'tenant' | 'signal'>,
    wake: Wake,
  ): Promise<(() => void) | null> {
    const queue = this.#queueOf(keyOf(caller));
    if (queue.questions.size > 0 || queue.running >= this.maxRunning(caller)) {
      if (queue.questions.size >= maxWaitingQuestions) throw tooManyWaiting();
      if (!(await this.#placeIn(queue, caller, wake))) return null;
      // Its place was taken for it.
      queue.running--;
    }
    const leave = this.#taken(queue, caller);
    if (this.#isAhead(queue)) await this.pauseOf(caller)(wake);
    return leave;
  }

  #taken(queue: RunQueue, owner: Exclude<Owner, null>): () => void {
    queue.running++;
    return () => {
      queue.running--;
      this.#admitNext(queue, owner);
    };
  }

  /** How many queues are remembered. */
  get tenants(): number {
    return this.#queues.size;
  }

  figures(): SchedulerFigures {
    const figures = { pausedTasks: 0, runningQuestions: 0, waitingQuestions: 0 };
    for (const { tasks, running, questions } of this.#queues.values()) {
      figures.pausedTasks += tasks.length;
      figures.runningQuestions += running;
      figures.waitingQuestions += questions.size;
    }
    return figures;
  }

  /** Waits for a place; false if `wake` came first. */
  #placeIn(queue: RunQueue, caller: Pick<Caller, 'signal'>, wake: Wake): Promise<boolean> {
    return new Promise((resolve) => {
      const signal = signalOf(caller);
      const settle = (isAdmitted: boolean): void => {
        queue.questions.delete(waiting);
        signal.removeEventListener('abort', giveUp);
        clearTimeout(timer);
        resolve(isAdmitted);
      };
      const giveUp = (): void => settle(false);
      const waiting = { admitted: () => settle(true) };
      const timer = setTimeout(giveUp, Math.min(Math.max(0, wake.deadline - this.#now()), maxTimerMs));
      signal.addEventListener('abort', giveUp);
      queue.questions.add(waiting);
      if (signal.aborted) giveUp();
    });
  }

  #admitNext(queue: RunQueue, owner: Exclude<Owner, null>): void {
    for (const next of queue.questions) {
      if (queue.running >= this.maxRunning(owner)) return;
      queue.running++;
      next.admitted();
    }
  }

  #pause(key: string, name: string | null, wake: Wake | undefined): Promise<void> {
    const now = this.#now();
    let operation = this.#goingOn(key, name, now);
    if (operation === null) {
      // Nothing says when this slice began: it resumed by itself, after I/O for instance.
      const since = this.#present?.since ?? Number.NEGATIVE_INFINITY;
      this.#charge(key, Math.min(sliceMs, now - since), true);
      operation = name ?? 'other';
    }
    return this.#wait(key, operation, wake);
  }

  /** Charges the slice of this queue that runs, and returns the name of its work; null: another one runs, or none. */
  #goingOn(key: string, name: string | null, now: number): string | null {
    if (this.#present === null || this.#present.key !== key) return null;
    const operation = name ?? this.#present.operation;
    this.#leave(now);
    return operation;
  }

  #wait(key: string, operation: string, wake: Wake | undefined): Promise<void> {
    if (this.#host.isShared === false) return this.#host.poll();
    return new Promise((resolve) => {
      const queue = this.#queueOf(key);
      if (queue.tasks.push({ operation, wake, resolve }) === 1) this.#ready.push(queue);
      if (!this.#isPolling) void this.#run();
    });
  }

  /** Runs one slice after each poll, until no task is paused. */
  async #run(): Promise<void> {
    this.#isPolling = true;
    let polledSince: number | null = null;
    while (this.#ready.length > 0) {
      const polled = this.#host.poll();
      this.#host.afterTurn?.(this.#ended);
      await polled;
      this.#runLast();
      const now = this.#now();
      this.#leave(now);
      this.#firstSince = null;
      polledSince ??= now;
      if (this.#shortWrites > 0 && now - polledSince < maxWaitForWritesMs) continue;
      polledSince = null;
      this.#wakeDue(now);
      const next = this.#next();
      if (next === null) continue;
      this.#begin({ key: next.key, operation: next.task.operation, since: now, isNew: false });
      next.task.resolve();
    }
    this.#isPolling = false;
  }

  /** Resumes the tasks whose deadline has passed or whose caller has gone. */
  #wakeDue(now: number): void {
    for (const queue of this.#ready)
      queue.tasks = queue.tasks.filter(({ wake, resolve }) => {
        const isDue = wake !== undefined && (wake.signal.aborted || wake.deadline < now);
        if (isDue) resolve();
        return !isDue;
      });
    this.#ready = this.#ready.filter(({ tasks }) => tasks.length > 0);
  }

  /** Takes the next task of the queue that has had the least. */
  #next(): { readonly key: string; readonly task: Waiting } | null {
    let [first] = this.#ready;
    for (const queue of this.#ready) if (queue.virtualTime < (first as RunQueue).virtualTime) first = queue;
    const task = first?.tasks.shift();
    if (first === undefined || task === undefined) return null;
    this.#ready = this.#ready.filter((queue) => queue !== first);
    if (first.tasks.length > 0) this.#ready.push(first);
    return { key: first.key, task };
  }

  #begin(present: Present): void {
    this.#present = present;
    this.turns.began(present.since);
  }

  readonly #ended = (): void => {
    this.#isEnding = false;
    this.#firstSince = null;
    this.#leave(this.#now());
  };

  /** When the slice began in which this turn runs; see `Pause`. */
  readonly #sliceSince = (): number => {
    const now = this.#now();
    // Without a turn's end nothing says whether it is the same one.
    if (this.#host.afterTurn === undefined) return now;
    const since = Math.min(this.#firstSince ?? now, this.#present?.since ?? now);
    return Math.max(since, now - sliceMs + minFirstMs);
  };

  /** Charges what ran until now. */
  #leave(now: number): void {
    if (this.#present === null) return;
    const { key, operation, since, isNew } = this.#present;
    this.#present = null;
    this.turns.ended(operation, now - since);
    if (key === null) return;
    // What a first slice takes longer, the machine or the collector mostly took.
    this.#charge(key, isNew ? Math.min(sliceMs, now - since) : now - since, isNew);
  }

  /** `isNew`: by a task that did not wait for its turn. A queue without waiting tasks has saved up nothing. */
  #charge(key: string, elapsed: number, isNew: boolean): void {
    const queue = this.#queueOf(key);
    if (isNew && queue.tasks.length === 0) queue.virtualTime = Math.max(queue.virtualTime, this.#virtualTime);
    queue.virtualTime += elapsed;
    let least = queue.virtualTime;
    for (const { virtualTime } of this.#ready) least = Math.min(least, virtualTime);
    this.#virtualTime = Math.max(this.#virtualTime, least);
  }

  #isAhead({ virtualTime }: RunQueue): boolean {
    return this.#ready.length > 0 && virtualTime > this.#virtualTime + maxAhead;
  }

  #queueOf(key: string): RunQueue {
    let queue = this.#queues.get(key);
    if (queue !== undefined) return queue;
    if (this.#queues.size >= this.#sweepAt) this.#sweep();
    queue = { key, virtualTime: this.#virtualTime, tasks: [], running: 0, questions: new Set() };
    this.#queues.set(key, queue);
    return queue;
  }

  /** Forgets queues without work that have had no more than their share. */
  #sweep(): void {
    for (const [key, { tasks, running, questions, virtualTime }] of this.#queues) {
      const isIdle = tasks.length === 0 && running === 0 && questions.size === 0;
      if (isIdle && virtualTime <= this.#virtualTime) this.#queues.delete(key);
    }
    this.#sweepAt = Math.max(minQueuesToSweep, 2 * this.#queues.size);
  }
}

/** A longer timer would overflow and fire at once. */
const maxTimerMs = 2 ** 31 - 1;

function keyOf(owner: Owner): string {
  return owner === null ? systemKey : `${owner.database}\n${owner.tenant}`;
}

function tooManyWaiting(): EngineError {
  return new EngineError(
    'NotReady',
    `${maxWaitingQuestions} questions of this tenant are waiting already: try again in a second, and ask fewer at once`,
    { retryAfterSeconds: 1 },
  );
}

/** A scheduler without fairness, for tests: every task pauses by itself. */
export function unshared(poll: () => Promise<void>): Scheduler {
  return new Scheduler({ poll, isShared: false });
}
