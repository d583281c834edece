import { type KeyedStep, type Machine, noRow, Step, unsureRow, type Premises } from './machine.ts';
import type { Reader } from '../model/reader.ts';
import { finish, fold, hashSeed } from '../../store/hash-slots.ts';

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

/** A look-up in an index costs about as much as marking this many rows. */
const rowsPerLook = 8;
/** Rows marked at most before the first request, and in total. */
const maxAtOnce = 32;
const maxRows = 0x1_0000;
/** Larger slot tables are freed at the end of a join. */
const maxKeptSlots = 1024;
const noSlots = new Int32Array(0);
/** Of each slot: its round, the value, the row; a fourth element aligns slots with cache lines. */
const slotBits = 2;

/**
 * The rows of a literal with the current values in all columns but one, marked by the value of that one.
 *
 * A join that binds a variable to one value after another, and tests each against a literal, meets the same
 * values of the other columns again and again: in a cycle `e(x, y), e(y, z), e(z, x)`, those with one `x`.
 * With their rows marked, each test is one look-up in a table in the nearest CPU cache instead of one in a
 * large index; together they intersect two sets of neighbors, as a worst-case optimal join does.
 *
 * Marking costs time in proportion to the rows, so as many rows are marked as earlier requests with the same
 * values paid for (the ski-rental rule); rows are marked in advance if that paid off for earlier values.
 */
export class MarkedRows {
  readonly #rows: KeyedStep;
  readonly #registers: Int32Array;
  /** The register and the column of the requested value. */
  readonly #candidate: number;
  readonly #position: number;
  /** The other columns (ascending), and their registers. */
  readonly #restPositions: readonly number[];
  readonly #restRegisters: readonly number[];
  readonly #rest: Int32Array;
  #isBegun = false;
  #slots = noSlots;
  #mask = -1;
  #round = 0;
  /** Rows marked for the current values, and 1 + the next row to mark, 0 when all are. */
  #marked = 0;
  #cursor = 0;
  /** Requests with the current values, and how many of them needed an index. */
  #asked = 0;
  #looks = 0;
  #atOnce = maxAtOnce;

  /** `candidate`: the register of one column of the literal, all of whose columns are keys. */
  constructor(rows: KeyedStep, registers: Int32Array, candidate: number) {
    const { keyPositions, keyRegisters } = rows.shape;
    const others = [...keyRegisters.keys()].filter((at) => keyRegisters[at] !== candidate);
    this.#rows = rows;
    this.#registers = registers;
    this.#candidate = candidate;
    this.#position = keyPositions[keyRegisters.indexOf(candidate)] as number;
    this.#restPositions = others.map((at) => keyPositions[at] as number);
    this.#restRegisters = others.map((at) => keyRegisters[at] as number);
    this.#rest = new Int32Array(others.length);
  }

  /** Forgets the marks: rows may have been added or deleted. */
  begin(): void {
    this.#isBegun = false;
  }

  /** The row with the current values, `noRow` if there is none, or `unsureRow` if an index must tell. */
  row(): number {
    if (!this.#isBegun || this.#hasOtherRest()) this.#beginRest();
    const id = this.#registers[this.#candidate] as number;
    this.#asked++;
    let row = this.#find(id);
    while (row === noRow && this.#cursor !== 0) {
      const enough = Math.min(this.#atOnce + this.#looks * rowsPerLook, maxRows);
      if (this.#marked >= enough) {
        this.#looks++;
        return unsureRow;
      }
      this.#mark(enough);
      row = this.#find(id);
    }
    return row;
  }

  /** Frees large buffers. */
  end(): void {
    this.#isBegun = false;
    if (this.#mask < maxKeptSlots) return;
    this.#slots = noSlots;
    this.#mask = -1;
  }

  #hasOtherRest(): boolean {
    const rest = this.#rest;
    const registers = this.#restRegisters;
    for (let index = 0; index < rest.length; index++)
      if (rest[index] !== this.#registers[registers[index] as number]) return true;
    return false;
  }

  #beginRest(): void {
    if (this.#marked > this.#asked * rowsPerLook) this.#atOnce >>>= 1;
    else this.#atOnce = Math.min(this.#atOnce * 2 + 1, maxAtOnce);
    this.#isBegun = true;
    this.#asked = 0;
    this.#looks = 0;
    this.#clear();
    const rest = this.#rest;
    for (let index = 0; index < rest.length; index++)
      rest[index] = this.#registers[this.#restRegisters[index] as number] as number;
    this.#cursor = this.#rows.chain(this.#restPositions, rest);
  }

  #clear(): void {
    this.#marked = 0;
    this.#round = (this.#round + 1) | 0;
    // The round counter wrapped around: old marks would be valid again.
    if (this.#round !== 0) return;
    this.#slots.fill(0);
    this.#round = 1;
  }

  /** The marked row with the value, `noRow` if none is marked. */
  #find(id: number): number {
    const slots = this.#slots;
    const mask = this.#mask;
    if (mask < 0) return noRow;
    let slot = (finish(fold(hashSeed, id)) & mask) << slotBits;
    while (slots[slot] === this.#round) {
      if (slots[slot + 1] === id) return slots[slot + 2] as number;
      slot = (slot + (1 << slotBits)) & ((mask << slotBits) | 3);
    }
    return noRow;
  }

  /** Marks rows until `most` are marked. */
  #mark(most: number): void {
    const rows = this.#rows;
    let cursor = this.#cursor;
    while (cursor !== 0 && this.#marked < most) {
      const row = cursor - 1;
      cursor = rows.next(row);
      // Rows that the step does not meet cost as much.
      this.#marked++;
      if (rows.meets(row)) this.#put(rows.valueAt(row, this.#position), row);
    }
    this.#cursor = cursor;
  }

  #put(id: number, row: number): void {
    if (this.#marked * 2 > this.#mask) this.#grow();
    const slots = this.#slots;
    let slot = (finish(fold(hashSeed, id)) & this.#mask) << slotBits;
    while (slots[slot] === this.#round) slot = (slot + (1 << slotBits)) & ((this.#mask << slotBits) | 3);
    slots[slot] = this.#round;
    slots[slot + 1] = id;
    slots[slot + 2] = row;
  }

  #grow(): void {
    const old = this.#slots;
    const count = Math.max(maxAtOnce * 2, (this.#mask + 1) * 2);
    this.#slots = new Int32Array(count << slotBits);
    this.#mask = count - 1;
    for (let from = 0; from < old.length; from += 1 << slotBits)
      if (old[from] === this.#round) this.#put(old[from + 1] as number, old[from + 2] as number);
  }
}
