import { present } from '../base/assert.ts';
import type { AggregateName } from '../contract/language.ts';
import { type RunningAggregate, runningAggregate } from '../logic/arithmetic.ts';
import type { ChainIndex } from '../facts/chain-index.ts';
import type { Constants } from './constants.ts';
import type { Derived } from './derived.ts';
import { type Machine, rowsAtOnce, Step } from './machine.ts';
import type { Reader } from './reader.ts';

/**
 * Steps that say something of all the rows of a relation: that none matches, or what they come to. They are made
 * where the relation is at its fixpoint for what is asked, and match once or not at all.
 */

/** Matches once where the inner step, all of whose columns are bound or of no matter, has no match. */
class AbsentStep extends Step {
  readonly #inner: Step;
  #isOver = false;

  constructor(inner: Step) {
    super();
    this.#inner = inner;
  }

  override bind(reader: Reader): void {
    this.#inner.place = this.place;
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

/** Of what the aggregate comes to: bind the result, match its very text, or compare it as `=` does. */
type Way = 'bind' | 'match' | 'compare';

class AggregateStep extends Step {
  readonly #name: AggregateName;
  readonly #group: Derived;
  readonly #shared: readonly number[];
  readonly #result: number;
  readonly #way: Way;
  readonly #constants: Constants;
  readonly #key: Int32Array;
  #isOver = false;
  #running: RunningAggregate | null = null;
  /** 1 + the next row to take, 0 at the end. */
  #cursor = 0;

  constructor(
    name: AggregateName,
    group: Derived,
    shared: readonly number[],
    result: number,
    way: Way,
    constants: Constants,
  ) {
    super();
    this.#name = name;
    this.#group = group;
    this.#shared = shared;
    this.#result = result;
    this.#way = way;
    this.#constants = constants;
    this.#key = new Int32Array(shared.length);
  }

  override bind(): void {}

  override enter({ registers }: Machine): void {
    this.#isOver = false;
    this.#running = runningAggregate(this.#name);
    this.height = 0;
    const { rows } = this.#group;
    const width = this.#shared.length;
    for (let index = 0; index < width; index++)
      this.#key[index] = registers[this.#shared[index] as number] as number;
    this.#cursor = width === 0 ? rows.count : this.#index().first(this.#key);
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

  /** Takes the rows of the group, until the end or the machine is to let others run. */
  #take(machine: Machine): void {
    const { rows } = this.#group;
    const width = this.#shared.length;
    const column = rows.columns[width] as Int32Array;
    const chain = width === 0 ? null : this.#index().next;
    const running = present(this.#running, 'the step was entered');
    let left = rowsAtOnce;
    while (this.#cursor !== 0) {
      if (left-- === 0) {
        machine.isStalled = true;
        return;
      }
      const row = this.#cursor - 1;
      this.#cursor = chain === null ? row : (chain[row] as number);
      if (rows.isDead(row)) continue;
      running.add(this.#constants.text(column[row] as number));
      if (rows.heights !== null) this.height = Math.max(this.height, rows.heights.of[row] as number);
    }
  }

  #index(): ChainIndex {
    return this.#group.rows.index([...this.#shared.keys()]);
  }
}

export function absentStep(inner: Step): Step {
  return new AbsentStep(inner);
}

/**
 * The aggregate over the rows of `group` whose first columns are the values of the `shared` registers; the column
 * after those holds the values. `result` is a register.
 */
export function aggregateStep(
  name: AggregateName,
  group: Derived,
  shared: readonly number[],
  result: number,
  way: Way,
  constants: Constants,
): Step {
  return new AggregateStep(name, group, shared, result, way, constants);
}
