import { present } from '../../base/assert.ts';
import type { AggregateName } from '../../contract/language.ts';
import { type RunningAggregate, runningAggregate } from '../../language/arithmetic.ts';
import type { Constants } from '../model/constants.ts';
import { type Machine, rowsAtOnce, Step } from './machine.ts';
import type { Reader } from '../model/reader.ts';

/**
 * Negation step: matches once if the inner step, whose columns are all bound or irrelevant, has no match. The
 * relation that it reads is at the fixpoint of its demand.
 */
class AbsentStep extends Step {
  readonly #inner: Step;
  #isOver = false;

  constructor(inner: Step) {
    super();
    this.#inner = inner;
  }

  override bind(reader: Reader): void {
    this.#inner.rowRegister = this.rowRegister;
    this.#inner.bind(reader);
  }

  override enter(machine: Machine): void {
    this.#inner.enter(machine);
    this.#isOver = false;
  }

  override advance(machine: Machine): boolean {
    if (this.#isOver) return false;
    const isThere = this.#inner.advance(machine);
    if (machine.isStalled) return false;
    this.#isOver = true;
    return !isThere && this.pass();
  }
}

/**
 * What to do with the aggregate's value: bind the result, require the same text, or compare it as `=` does.
 */
type Way = 'bind' | 'match' | 'compare';

/**
 * Aggregate step: matches at most once, with the value over all matches of the inner step. The relation that
 * it reads is at the fixpoint of its demand.
 */
class AggregateStep extends Step {
  readonly #name: AggregateName;
  readonly #inner: Step;
  readonly #value: number;
  readonly #result: number;
  readonly #way: Way;
  readonly #constants: Constants;
  #isOver = false;
  #running: RunningAggregate | null = null;

  constructor(
    name: AggregateName,
    inner: Step,
    value: number,
    result: number,
    way: Way,
    constants: Constants,
  ) {
    super();
    this.#name = name;
    this.#inner = inner;
    this.#value = value;
    this.#result = result;
    this.#way = way;
    this.#constants = constants;
  }

  override bind(reader: Reader): void {
    this.#inner.rowRegister = this.rowRegister;
    this.#inner.bind(reader);
  }

  override enter(machine: Machine): void {
    this.#inner.enter(machine);
    this.#isOver = false;
    this.#running = runningAggregate(this.#name);
    this.height = 0;
  }

  override advance(machine: Machine): boolean {
    if (this.#isOver) return false;
    this.#take(machine);
    if (machine.isStalled) return false;
    this.#isOver = true;
    const { registers } = machine;
    const value = present(this.#running, 'the step was entered').value();
    if (value === null) return false;
    const id = this.#constants.idOf(value);
    const at = this.#result;
    if (this.#way === 'bind') registers[at] = id;
    else if (this.#way === 'match' && registers[at] !== id) return false;
    else if (this.#way === 'compare' && !this.#constants.equal(registers[at] as number, id)) return false;
    return this.pass();
  }

  /** Takes the matches of the inner step until the end, or until the machine must yield. */
  #take(machine: Machine): void {
    const inner = this.#inner;
    const { registers } = machine;
    const running = present(this.#running, 'the step was entered');
    const readsText = this.#name !== 'count';
    let left = rowsAtOnce;
    while (inner.advance(machine)) {
      running.add(readsText ? this.#constants.text(registers[this.#value] as number) : '');
      this.height = Math.max(this.height, inner.height);
      if (--left > 0) continue;
      machine.stall();
      return;
    }
  }
}

/** A negation step over `inner`. */
export function absentStep(inner: Step): Step {
  return new AbsentStep(inner);
}

/**
 * An aggregate step over the matches of `inner`, which must be distinct. `value`: the register with the value
 * of each match; `result`: the register of the result.
 */
export function aggregateStep(
  name: AggregateName,
  inner: Step,
  value: number,
  result: number,
  way: Way,
  constants: Constants,
): Step {
  return new AggregateStep(name, inner, value, result, way, constants);
}
