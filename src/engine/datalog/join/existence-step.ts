import type { Premises } from './tuple-sink.ts';
import { type KeyedStep, type Machine, noRow, Step, unsureRow } from './machine.ts';
import { MarkedRows } from './marked-rows.ts';
import type { Reader } from '../model/reader.ts';

/**
 * A literal all of whose columns are bound when it is reached: it matches the one row that its tuple is, or nothing.
 *
 * Whether it does is looked at in the loop of the step before, by a guard of that (`holds`): so what does not match, which
 * in a body with a cycle is nearly everything, costs no level of the machine. Where the step before binds one of the columns
 * to one value after the other while the rest stay, the rows with the rest are marked (`MarkedRows`). Where the tuple may be
 * in many versions, or elsewhere too, the guard lets pass, and the step goes through them.
 */
export class ExistenceStep extends Step {
  readonly #rows: KeyedStep;
  readonly #registers: Int32Array;
  readonly #tuple: Int32Array;
  readonly #marked: MarkedRows | null;
  #machine: Machine | null = null;
  /** The row that `holds` has found; `unsureRow` where the step is to look for it. */
  #found = unsureRow;
  #isOver = false;
  #isSure = false;

  /** `candidate` is the register that the step before binds, null where that binds none or more than one. */
  constructor(rows: KeyedStep, registers: Int32Array, candidate: number | null) {
    super();
    const { keyRegisters } = rows.shape;
    this.#rows = rows;
    this.#registers = registers;
    this.#tuple = new Int32Array(keyRegisters.length);
    const isOne = keyRegisters.filter((register) => register === candidate).length === 1;
    this.#marked = isOne && candidate !== null ? new MarkedRows(rows, registers, candidate) : null;
  }

  override bind(reader: Reader): void {
    this.#rows.place = this.place;
    this.#rows.bind(reader);
  }

  /** The registers whose values stay while rows are marked: null where none ever are. */
  get rest(): readonly number[] | null {
    return this.#marked === null ? null : this.#marked.rest;
  }

  /** Called at each start of the machine. */
  begin(machine: Machine): void {
    this.#machine = machine;
    this.#rows.begin(machine);
    this.#isSure = this.#rows.isSure;
    this.#marked?.begin();
  }

  /** Lets go of what takes room. */
  end(): void {
    this.#marked?.end();
  }

  /** The guard of the step before: false where nothing matches. */
  holds(): boolean {
    (this.#machine as Machine).tests++;
    let row = this.#marked === null || !this.#isSure ? unsureRow : this.#marked.row();
    if (row === unsureRow) {
      const tuple = this.#tuple;
      const { keyRegisters } = this.#rows.shape;
      for (let index = 0; index < tuple.length; index++)
        tuple[index] = this.#registers[keyRegisters[index] as number] as number;
      row = this.#rows.rowOf(tuple);
    }
    this.#found = row;
    return row !== noRow;
  }

  override enter(machine: Machine): void {
    this.#isOver = false;
    if (this.#found === unsureRow) this.#rows.enter(machine);
  }

  override advance(machine: Machine): boolean {
    const row = this.#found;
    if (row === unsureRow) {
      while (this.#rows.advance(machine)) {
        this.height = this.#rows.height;
        if (this.pass()) return true;
      }
      return false;
    }
    if (this.#isOver) return false;
    this.#isOver = true;
    machine.registers[this.place] = row;
    this.height = this.#rows.heightOf(row);
    return this.pass();
  }

  override get premises(): Premises | null {
    return this.#rows.premises;
  }
}
