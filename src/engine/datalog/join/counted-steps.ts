/**
 * Steps that count and time themselves: a join is built of them if a profile is wanted, and of plain steps
 * otherwise, so that counting costs nothing that is not asked for.
 */
import type { Consumer } from '../model/derived.ts';
import type { Reader } from '../model/reader.ts';
import type { JoinCounts } from '../plan/profile.ts';
import { DeltaStep, type Guard, type Machine, type Premises, Step } from './machine.ts';

/** The same steps, each with the time that it takes; `planned` gives the number of each in the plan. */
export function countedSteps(
  steps: readonly Step[],
  planned: (at: number) => number,
  counts: JoinCounts,
): Step[] {
  return steps.map((step, at) => {
    const counted =
      step instanceof DeltaStep
        ? new CountedDelta(step, counts, planned(at))
        : new CountedStep(step, counts, planned(at));
    counted.rowRegister = step.rowRegister;
    return counted;
  });
}

/** A guard that always passes, and counts the rows that come to it. */
export function countedRows({ rows }: JoinCounts, at: number): Guard {
  return () => {
    rows[at] = (rows[at] as number) + 1;
    return true;
  };
}

/** The same guard; its time counts as that of the step of the plan. */
export function timedGuard(guard: Guard, counts: JoinCounts, at: number): Guard {
  return () => {
    const start = performance.now();
    const passes = guard();
    const elapsed = performance.now() - start;
    counts.elapsedMs[at] = (counts.elapsedMs[at] as number) + elapsed;
    counts.guardMs += elapsed;
    return passes;
  };
}

/** Runs the step's `advance`; its time without that of its guards counts as the step's. */
function timedAdvance(step: Step, machine: Machine, counts: JoinCounts, at: number): boolean {
  const guardMs = counts.guardMs;
  const start = performance.now();
  const isMatch = step.advance(machine);
  const elapsed = performance.now() - start - (counts.guardMs - guardMs);
  counts.elapsedMs[at] = (counts.elapsedMs[at] as number) + elapsed;
  return isMatch;
}

/** A step that times the one inside. It passes every match on by itself: the inner one collects none. */
class CountedStep extends Step {
  readonly #inner: Step;
  readonly #counts: JoinCounts;
  readonly #at: number;

  constructor(inner: Step, counts: JoinCounts, at: number) {
    super();
    this.#inner = inner;
    this.#counts = counts;
    this.#at = at;
  }

  override get found(): readonly Step[] {
    const { found } = this.#inner;
    // The rows of a plain step are in this one's register, those of an intersection in its literals'.
    return found.length === 1 && found[0] === this.#inner ? [this] : found;
  }

  override bind(reader: Reader): void {
    this.#inner.bind(reader);
  }

  override enter(machine: Machine): void {
    const start = performance.now();
    this.#inner.enter(machine);
    const { elapsedMs } = this.#counts;
    elapsedMs[this.#at] = (elapsedMs[this.#at] as number) + performance.now() - start;
  }

  override advance(machine: Machine): boolean {
    const isMatch = timedAdvance(this.#inner, machine, this.#counts, this.#at);
    this.height = this.#inner.height;
    return isMatch;
  }

  override get premises(): Premises | null {
    return this.#inner.premises;
  }
}

class CountedDelta extends DeltaStep {
  readonly #inner: DeltaStep;
  readonly #counts: JoinCounts;
  readonly #at: number;

  constructor(inner: DeltaStep, counts: JoinCounts, at: number) {
    super(inner.shape);
    this.#inner = inner;
    this.#counts = counts;
    this.#at = at;
  }

  override bind(reader: Reader): void {
    this.#inner.bind(reader);
  }

  override enter(): void {
    this.#inner.enter();
  }

  override begin(from: number, to: number, list: readonly number[] | null): void {
    this.#inner.begin(from, to, list);
  }

  override advance(machine: Machine): boolean {
    const isMatch = timedAdvance(this.#inner, machine, this.#counts, this.#at);
    this.height = this.#inner.height;
    return isMatch;
  }

  override get premises(): Premises | null {
    return this.#inner.premises;
  }
}

/** A join whose time and matches are counted. */
export class CountedJoin implements Consumer {
  readonly #machine: Consumer;
  readonly #counts: JoinCounts;

  constructor(machine: Consumer, counts: JoinCounts) {
    this.#machine = machine;
    this.#counts = counts;
  }

  get matches(): number {
    return this.#machine.matches;
  }

  get isIdle(): boolean {
    return this.#machine.isIdle;
  }

  start(reader: Reader, from: number, to: number, list: readonly number[] | null, done: number): void {
    this.#counted(() => this.#machine.start(reader, from, to, list, done));
  }

  run(budget: number): number {
    return this.#counted(() => this.#machine.run(budget));
  }

  #counted<Result>(work: () => Result): Result {
    const start = performance.now();
    const result = work();
    this.#counts.totalMs += performance.now() - start;
    this.#counts.matches = this.#machine.matches;
    return result;
  }
}
