/**
 * Watches where the logs of a store are, all of them with one look: every 50 ms while records come, else four times a second,
 * and when the lease of an owner runs out.
 *
 * Followers are called for logs that moved, that no living node has, or whose follower asked for it; nothing is called for
 * the others, so that thousands of idle logs cost as much as one. A follower is called again with each look until it says
 * that it is done with what it saw; one that is slow does not delay the looks.
 */
import type { SharedPosition } from '../log/shared-store.ts';

/** A look at all logs that was answered. */
export interface LogsLook {
  /** Looks have numbers in the order in which they were sent. */
  readonly number: number;
  /** When it was sent, and the one that was answered before it, by `performance.now`. */
  readonly at: number;
  readonly beforeAt: number;
}

/** What follows one log. */
export interface LogFollower {
  /** The id of its log in the store. */
  readonly log: number;
  /** The id of this node. */
  readonly node: string;
  readonly role: 'owner' | 'copy';
  /** Acts by what was seen; resolves with true if nothing is left to do until the log moves. Never rejects. */
  saw(seen: SharedPosition, look: LogsLook): Promise<boolean>;
  /** The look of this number was not answered. */
  unanswered(number: number, error: unknown): void;
}

/** Where a log is, by the id of the log. */
type WatchedLog = SharedPosition & { readonly id: number };

/** What a watch needs. */
export interface LogWatchHost {
  /** Where all logs are, as of now: the same objects for those that have not moved, if it can tell. Rejects with a StatementFailed. */
  readonly look: () => Promise<readonly WatchedLog[]>;
  /** Told that looks are not answered, and that they are again, in plain language. */
  readonly onWarn: (message: string) => void;
  /** Told why the look was not answered; returns it in plain language. */
  readonly onFailed: (error: unknown) => string;
}

/** A follower, and what it has seen. */
interface Followed {
  readonly follower: LogFollower;
  seen: WatchedLog | null;
  /** The step that acts by the last look that it was called for. */
  running: Promise<void> | null;
  /** What came while it was running. */
  next: LogsLook | null;
}

/** Milliseconds between two looks: after something moved, and when nothing does. */
const BUSY_MS = 50;
const IDLE_MS = 250;
/** After a look that was not answered. */
const FAILED_MS = 500;

/** The looks at all logs that this process follows. */
export class LogWatch {
  readonly #host: LogWatchHost;
  readonly #followed = new Map<LogFollower, Followed>();
  /** Those that are called with the next look, whether their log moves or not. */
  readonly #due = new Set<Followed>();
  #list: readonly WatchedLog[] = [];
  #byId: ReadonlyMap<number, WatchedLog> = new Map();
  /** A log of each owner; null: of those that have none. */
  #ofOwner: ReadonlyMap<string | null, WatchedLog> = new Map();
  /** The owners among what is followed are to be found again. */
  #isStale = true;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isLooking = false;
  /** A look is to follow the one under way. */
  #isAsked = false;
  #number = 0;
  #lookedAt = performance.now();
  #problem: string | null = null;

  constructor(host: LogWatchHost) {
    this.#host = host;
  }

  /** When the last look that was answered was sent, by `performance.now`. */
  get lookedAt(): number {
    return this.#lookedAt;
  }

  /** Why the logs cannot be looked at, in plain language; null: they can. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Number of the last look that was sent. */
  get number(): number {
    return this.#number;
  }

  /** Where the log is, as of the last look that was answered; null: none was. */
  position(log: number): SharedPosition | null {
    return this.#byId.get(log) ?? null;
  }

  /** Calls the follower with the next look, and later ones as above. */
  follow(follower: LogFollower): void {
    const followed = { follower, seen: null, running: null, next: null };
    this.#followed.set(follower, followed);
    this.#isStale = true;
    this.#due.add(followed);
    this.#soon();
  }

  /** Calls it no more; resolves when it has done what it was called for. */
  async leave(follower: LogFollower): Promise<void> {
    const followed = this.#followed.get(follower);
    if (followed === undefined) return;
    this.#followed.delete(follower);
    this.#due.delete(followed);
    this.#isStale = true;
    followed.next = null;
    if (this.#followed.size === 0 && this.#timer !== null) clearTimeout(this.#timer);
    await followed.running;
  }

  /** Calls the follower with a look that is sent from now on, soon. */
  ask(follower: LogFollower): void {
    const followed = this.#followed.get(follower);
    if (followed === undefined) return;
    this.#due.add(followed);
    this.#soon();
  }

  /** Calls the follower with the next look, whether its log moves or not. */
  expect(follower: LogFollower): void {
    const followed = this.#followed.get(follower);
    if (followed !== undefined) this.#due.add(followed);
  }

  /** Looks now, or after the look that is under way. */
  #soon(): void {
    if (this.#isLooking) {
      this.#isAsked = true;
      return;
    }
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#begin();
  }

  #schedule(afterMs: number): void {
    if (this.#followed.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#begin();
    }, afterMs);
    this.#timer.unref();
  }

  #begin(): void {
    this.#isLooking = true;
    this.#isAsked = false;
    void this.#look().then((nextMs) => {
      this.#isLooking = false;
      if (this.#isAsked) this.#soon();
      else this.#schedule(nextMs);
    });
  }

  /** One look, and calls of those whom it concerns; resolves with the milliseconds until the next. Never rejects. */
  async #look(): Promise<number> {
    const number = ++this.#number;
    const at = performance.now();
    const due = [...this.#due];
    this.#due.clear();
    try {
      const list = await this.#host.look();
      const look: LogsLook = { number, at, beforeAt: this.#lookedAt };
      this.#lookedAt = at;
      if (this.#problem !== null) this.#host.onWarn('This node follows the log again.');
      this.#problem = null;
      return this.#serve(list, due, look);
    } catch (error) {
      if (this.#followed.size === 0) return FAILED_MS;
      const problem = this.#host.onFailed(error);
      if (this.#problem === null) this.#host.onWarn(`This node cannot follow the log: ${problem}`);
      this.#problem = problem;
      for (const followed of due) {
        if (this.#followed.has(followed.follower)) this.#due.add(followed);
        followed.follower.unanswered(number, error);
      }
      return FAILED_MS;
    }
  }

  /** Calls whom the look concerns. */
  #serve(list: readonly WatchedLog[], due: readonly Followed[], look: LogsLook): number {
    const called = new Set(due);
    let isBusy = false;
    if (list !== this.#list || this.#isStale) {
      if (list !== this.#list) this.#byId = new Map(list.map((log) => [log.id, log]));
      this.#list = list;
      for (const followed of this.#followed.values()) {
        const { seen, follower } = followed;
        const now = this.#byId.get(follower.log);
        if (now === undefined || seen === now) continue;
        followed.seen = now;
        if (seen !== null && isSame(seen, now)) continue;
        called.add(followed);
        if (follower.role === 'copy' && seen !== null && now.lastSequence !== seen.lastSequence)
          isBusy = true;
      }
      this.#findOwners();
    }
    for (const followed of this.#unowned()) called.add(followed);
    for (const followed of called) if (this.#followed.has(followed.follower)) this.#step(followed, look);
    return this.#untilNext(isBusy);
  }

  #findOwners(): void {
    const ofOwner = new Map<string | null, WatchedLog>();
    for (const { seen } of this.#followed.values()) if (seen !== null) ofOwner.set(seen.owner, seen);
    this.#ofOwner = ofOwner;
    this.#isStale = false;
  }

  /** Those whose log no living node has. */
  #unowned(): Followed[] {
    const gone = new Set<string | null>();
    for (const [owner, { isOwned }] of this.#ofOwner) if (!isOwned) gone.add(owner);
    if (gone.size === 0) return [];
    return [...this.#followed.values()].filter(({ seen }) => seen !== null && gone.has(seen.owner));
  }

  #step(followed: Followed, look: LogsLook): void {
    const { follower, seen } = followed;
    if (followed.running !== null) {
      followed.next = look;
      return;
    }
    // A log keeps its row.
    if (seen === null) return;
    followed.running = follower.saw(seen, look).then((isDone) => {
      followed.running = null;
      if (!this.#followed.has(follower)) return;
      const { next } = followed;
      followed.next = null;
      if (next !== null) this.#step(followed, next);
      else if (!isDone) this.#due.add(followed);
    });
  }

  #untilNext(isBusy: boolean): number {
    const now = performance.now();
    // While records come, the owner tells when to look; this is for what it could not tell.
    const from = isBusy ? now + BUSY_MS : now;
    const every = isBusy ? BUSY_MS : IDLE_MS;
    // Together with whatever else looks at the logs, so that one statement serves both.
    let next = every - (from % every) + (from - now);
    const [some] = this.#followed.keys();
    // When the lease runs out, unless it is renewed, this node tries to take the log.
    for (const [owner, { isOwned, leaseMs }] of this.#ofOwner)
      if (isOwned && owner !== some?.node) next = Math.min(next, Math.ceil(leaseMs) + 1);
    return next;
  }
}

function isSame(one: SharedPosition, other: SharedPosition): boolean {
  return (
    one.lastSequence === other.lastSequence &&
    one.epoch === other.epoch &&
    one.owner === other.owner &&
    one.lastChecksum === other.lastChecksum &&
    one.firstSequence === other.firstSequence &&
    one.history === other.history
  );
}
