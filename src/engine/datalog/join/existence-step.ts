import { type KeyedStep, type Machine, noRow, Step, unsureRow, type Premises } from './machine.ts';
import type { Reader } from '../model/reader.ts';

/**
 * A literal with all columns bound: its tuple matches one row, or nothing (a semi-join).
 *
 * A guard of the step before tests it (`holds`), so a mismatch costs no level of the machine. If the tuple may
 * have several versions or copies, the guard passes and the step scans them. Where many candidates are tested
 * against stored facts, sorted runs are intersected instead (`IntersectionStep`).
 */
export class ExistenceStep extends Step {
  readonly rows: KeyedStep;
  readonly #registers: Int32Array;
  readonly #tuple: Int32Array;
  #machine: Machine | null = null;
  /** The row that `holds` found; `unsureRow` if the step must search for it. */
  #found = unsureRow;
  #isOver = false;

  constructor(rows: KeyedStep, registers: Int32Array) {
    super();
    this.rows = rows;
    this.#registers = registers;
    this.#tuple = new Int32Array(rows.shape.keyRegisters.length);
  }

  override bind(reader: Reader): void {
    this.rows.rowRegister = this.rowRegister;
    this.rows.bind(reader);
  }

  /** Called at each start of the machine. */
  begin(machine: Machine): void {
    this.#machine = machine;
    this.rows.begin(machine);
  }

  /** The guard of the step before: false if nothing matches. */
  holds(): boolean {
    (this.#machine as Machine).tests++;
    const tuple = this.#tuple;
    const { keyRegisters } = this.rows.shape;
    for (let index = 0; index < tuple.length; index++)
      tuple[index] = this.#registers[keyRegisters[index] as number] as number;
    this.#found = this.rows.rowOf(tuple);
    return this.#found !== noRow;
  }

  override enter(machine: Machine): void {
    this.#isOver = false;
    if (this.#found === unsureRow) this.rows.enter(machine);
  }

  override advance(machine: Machine): boolean {
    const row = this.#found;
    if (row === unsureRow) {
      while (this.rows.advance(machine)) {
        this.height = this.rows.height;
        if (this.pass()) return true;
      }
      return false;
    }
    if (this.#isOver) return false;
    this.#isOver = true;
    machine.registers[this.rowRegister] = row;
    this.height = this.rows.heightOf(row);
    return this.pass();
  }

  override get premises(): Premises | null {
    return this.rows.premises;
  }
}
