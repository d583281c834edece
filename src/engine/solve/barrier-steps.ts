import type { AggregateName } from '../contract/language.ts';
import { aggregate } from '../logic/arithmetic.ts';
import type { Constants } from './constants.ts';
import type { Derived } from './derived.ts';
import { type Machine, Step } from './machine.ts';
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
    this.#inner.bind(reader);
  }

  override enter(machine: Machine): void {
    this.#inner.enter(machine);
    this.#isOver = false;
  }

  override advance(machine: Machine): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    return !this.#inner.advance(machine) && this.pass();
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

  override enter(): void {
    this.#isOver = false;
  }

  override advance(machine: Machine): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const { registers } = machine;
    const value = this.#value(registers);
    if (value === null) return false;
    const id = this.#constants.idOf(value);
    const at = this.#result;
    if (this.#way === 'bind') registers[at] = id;
    else if (this.#way === 'match' && registers[at] !== id) return false;
    else if (this.#way === 'compare' && !this.#constants.equal(registers[at] as number, id)) return false;
    return this.pass();
  }

  #value(registers: Int32Array): string | null {
    const { rows } = this.#group;
    const width = this.#shared.length;
    for (let index = 0; index < width; index++)
      this.#key[index] = registers[this.#shared[index] as number] as number;
    const column = rows.columns[width] as Int32Array;
    const values: string[] = [];
    this.height = 0;
    const take = (row: number): void => {
      if (rows.isDead(row)) return;
      values.push(this.#constants.text(column[row] as number));
      if (rows.heights !== null) this.height = Math.max(this.height, rows.heights.of[row] as number);
    };
    if (width === 0) for (let row = 0; row < rows.count; row++) take(row);
    else {
      const index = rows.index(Array.from({ length: width }, (_, position) => position));
      for (let next = index.first(this.#key); next !== 0; next = index.next[next - 1] as number)
        take(next - 1);
    }
    return aggregate(this.#name, values);
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
