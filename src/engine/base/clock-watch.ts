import { type Clock, WallClock } from './clock.ts';
import type { TimerWheel, Visited } from './timer-wheel.ts';

/** Looks at the wall clock with each tick of the wheel, and tells everybody who depends on it when it was set. */
export class ClockWatch {
  readonly #clock: Clock;
  readonly #wheel: TimerWheel;
  readonly #told = new Set<() => void>();
  #looks: Visited | null = null;

  constructor(clock: Clock, wheel: TimerWheel) {
    this.#clock = clock;
    this.#wheel = wheel;
  }

  /** Calls it when the clock was set, from now on. */
  add(tell: () => void): void {
    this.#told.add(tell);
    this.#looks ??= this.#begin();
  }

  /** Calls it no more. */
  remove(tell: () => void): void {
    this.#told.delete(tell);
    if (this.#told.size > 0) return;
    this.#looks?.end();
    this.#looks = null;
  }

  #begin(): Visited {
    const stepped = (): void => {
      for (const tell of this.#told) tell();
    };
    const wall = new WallClock(this.#clock, Number.NEGATIVE_INFINITY, { stepped });
    return this.#wheel.add(() => {
      wall.read();
      return 1;
    });
  }
}
