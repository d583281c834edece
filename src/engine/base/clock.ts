/** The source of time, in milliseconds. Injected, so that tests control it. */
export interface Clock {
  /** The wall clock, since the epoch. An operator or a time server can set it, forward and back. */
  now(): number;
  /** A clock that only runs, from an arbitrary start: for durations. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** The same clock for code that measures durations: its `now` is the monotonic time. */
export function steady(clock: Clock): Clock {
  const monotonic = (): number => clock.monotonic();
  return { now: monotonic, monotonic };
}

/** A clock that moves only when a test sets or advances it. */
export class ManualClock implements Clock {
  #now: number;
  #stepped = 0;

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now + this.#stepped;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Lets time pass until this moment. */
  set(time: number): void {
    this.#now = time - this.#stepped;
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Sets the wall clock forward, or back by a negative number, while no time passes. */
  step(milliseconds: number): void {
    this.#stepped += milliseconds;
  }
}

/** A wall clock that moves further or less than the monotonic clock by more than this was set. */
export const maxClockStepMs = 60_000;

/** While the wall clock moves less than this, the monotonic one is not read. */
const maxUncheckedMs = 100;

/** That the wall clock was set from one time to another. */
export interface ClockSetting {
  readonly from: number;
  readonly to: number;
  /** Of a clock set back: what was told after this time was told while it was ahead. */
  readonly after: number;
}

/** A step of the wall clock forward: to which time, and by how much. */
interface ForwardStep {
  readonly to: number;
  readonly by: number;
}

/** What the steps of one wall clock say of the times that it told. */
class ClockSteps {
  /** The steps forward that no step back has taken back, in order. */
  #ahead: ForwardStep[] = [];

  /**
   * A step by this many milliseconds, to this time. One back that takes back several steps forward is as many settings, the last
   * step first, since what was told between two of them was told by a clock that was less ahead. One that takes a step back whole
   * tells since when the clock was ahead.
   */
  step(by: number, to: number): ClockSetting[] {
    let from = to - by;
    if (by > 0) {
      this.#ahead.push({ to, by });
      return [{ from, to, after: to }];
    }
    const settings: ClockSetting[] = [];
    let last = this.#ahead.pop();
    // If the clock was ahead for longer than by how much, what it told since cannot be told from what it tells now.
    for (
      ;
      last !== undefined && from - to > last.by + maxClockStepMs && last.to > to;
      last = this.#ahead.pop()
    ) {
      settings.push({ from, to: from - last.by, after: last.to - 1 });
      from -= last.by;
    }
    const isTakenBack = last !== undefined && Math.abs(from - to - last.by) <= maxClockStepMs;
    if (!isTakenBack) this.#ahead = [];
    settings.push({ from, to, after: isTakenBack && last !== undefined ? Math.min(to, last.to - 1) : to });
    return settings;
  }
}

/** What watches over the wall clock. */
interface ClockWatcher {
  /** The wall clock was set, by this many milliseconds; `offset` is what all steps since the start add up to. `settings`: in order. */
  readonly stepped: (by: number, offset: number, settings: readonly ClockSetting[]) => void;
}

/**
 * The time by which validity, ttl and decay are judged: the wall clock, which is distrusted.
 *
 * A clock that is set back by at most a minute is waited for, so that small corrections move nothing. One that is set
 * back further is followed. A clock that differs from the monotonic one by more than a minute since the last look was
 * set: that is reported, and adds to `offset`. Slower differences are drift, which time servers correct.
 */
export class WallClock {
  readonly #clock: Clock;
  readonly #watcher: ClockWatcher;
  #latest: number;
  #looked: { readonly now: number; readonly monotonic: number };
  #offset = 0;
  #steppedAt = Number.NEGATIVE_INFINITY;
  readonly #steps = new ClockSteps();

  /** `latest`: a time that an earlier process or another service may have shown. */
  constructor(clock: Clock, latest: number, watcher: ClockWatcher) {
    this.#clock = clock;
    this.#watcher = watcher;
    this.#latest = Number.NEGATIVE_INFINITY;
    this.#looked = { now: clock.now(), monotonic: clock.monotonic() };
    this.heard(latest);
  }

  /** By how many milliseconds the clock was set since the start; 0: it was not, or was put right. */
  get offset(): number {
    return this.#offset;
  }

  /** Milliseconds since the clock was set; Infinity: it was not. */
  get steadyForMs(): number {
    return this.#clock.monotonic() - this.#steppedAt;
  }

  /** The time now. It goes back only if the clock was set back by more than a minute. */
  read(): number {
    const now = this.#look();
    if (now >= this.#latest || this.#latest - now > maxClockStepMs) this.#latest = now;
    return this.#latest;
  }

  /** Another service judged by this time: this one does not fall behind it, unless the clocks differ by over a minute. */
  heard(time: number): void {
    if (time > this.#latest && time - this.#look() <= maxClockStepMs) this.#latest = time;
  }

  #look(): number {
    const now = this.#clock.now();
    // Every question reads the clock: one that was set is noticed with the next look after a tenth of a second.
    if (now >= this.#looked.now && now - this.#looked.now < maxUncheckedMs) return now;
    const monotonic = this.#clock.monotonic();
    const step = now - this.#looked.now - (monotonic - this.#looked.monotonic);
    this.#looked = { now, monotonic };
    if (Math.abs(step) > maxClockStepMs) {
      const offset = this.#offset + step;
      // What time servers corrected meanwhile remains of a step that was taken back.
      this.#offset = Math.abs(offset) <= maxClockStepMs ? 0 : Math.round(offset);
      this.#steppedAt = monotonic;
      this.#watcher.stepped(Math.round(step), this.#offset, this.#steps.step(step, now));
    }
    return now;
  }
}

/** What the timer needs from the live state. */
interface ValidityTimerHost {
  readonly clock: Clock;
  /** The next boundary of any tenant; Infinity: none. */
  readonly next: () => number;
  /** Called when a boundary has passed. */
  readonly reached: () => void;
}

/** Longest wait before the clock is read again, in milliseconds, since clocks change and machines sleep. */
const maxWaitMs = 30_000;

/**
 * The single timer for all validity boundaries of all tenants.
 *
 * It only makes boundaries known soon; readers, pinned to one time, decide what is valid. The clock is authoritative,
 * so a timer that fires early is set again. It does not keep the process alive.
 */
export class ValidityTimer {
  readonly #host: ValidityTimerHost;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** The boundary that it waits for. */
  #instant = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(host: ValidityTimerHost) {
    this.#host = host;
    this.expect(host.next());
  }

  /** Announces a boundary; the timer waits for the earliest. */
  expect(instant: number): void {
    if (this.#isClosed || instant >= this.#instant) return;
    this.#instant = instant;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const wait = Math.min(maxWaitMs, Math.max(1, Math.ceil(instant - this.#host.clock.now())));
    this.#timer = setTimeout(() => this.#look(), wait);
    this.#timer.unref();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    this.#timer = null;
    const isReached = this.#instant <= this.#host.clock.now();
    this.#instant = Number.POSITIVE_INFINITY;
    if (isReached) this.#host.reached();
    this.expect(this.#host.next());
  }
}
