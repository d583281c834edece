import type { Premises } from './tuple-sink.ts';
import { type KeyedStep, type Machine, noRow, Step, unsureRow } from './machine.ts';
import { MarkedRows } from './marked-rows.ts';
import type { Reader } from '../model/reader.ts';

/**
 * A literal with all columns bound: its tuple matches one row, or nothing (a semi-join).
 *
 * A guard of the step before tests it (`holds`), so a mismatch costs no level of the machine; in a cyclic
 * body nearly everything mismatches. If the step before binds one column to one value after another while the
 * others stay the same, the rows with those are marked (`MarkedRows`). If the tuple may have several versions
 * or copies, the guard passes and the step scans them.
 */
export class ExistenceStep extends Step {
  readonly #rows: KeyedStep;
  readonly #registers: Int32Array;
  readonly #tuple: Int32Array;
  readonly #marked: MarkedRows | null;
  #machine: Machine | null = null;
  /** The row that `holds` found; `unsureRow` if the step must search for it. */
  #found = unsureRow;
  #isOver = false;
  #isSure = false;

  /** `candidate`: the register that the step before binds, null if it binds none or several. */
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
    this.#rows.rowRegister = this.rowRegister;
    this.#rows.bind(reader);
  }

  /** Called at each start of the machine. */
  begin(machine: Machine): void {
    this.#machine = machine;
    this.#rows.begin(machine);
    this.#isSure = this.#rows.isSure;
    this.#marked?.begin();
  }

  /** Frees large buffers. */
  end(): void {
    this.#marked?.end();
  }

  /** The guard of the step before: false if nothing matches. */
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
    machine.registers[this.rowRegister] = row;
    this.height = this.#rows.heightOf(row);
    return this.pass();
  }

  override get premises(): Premises | null {
    return this.#rows.premises;
  }
}
