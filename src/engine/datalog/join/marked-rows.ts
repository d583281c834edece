import { finish, fold, hashSeed } from '../../store/hash.ts';
import { type KeyedStep, noRow, unsureRow } from './machine.ts';

/**
 * The rows of a literal that have the values in hand for all its columns but one, marked by the value of that one.
 *
 * A join that binds a variable to one value after the other, and asks of each whether the literal has it, meets the same
 * values of the other columns again and again: in a cycle `e(x, y), e(y, z), e(z, x)` those with one `x`. With their rows
 * marked each question is one look into a table that lies in the processor's nearest cache, in place of one into a large
 * index: together that is the intersection of two sets of neighbours.
 *
 * Marking costs as much as there are rows, so as many are marked as were asked for with the same values before (the rule
 * for hiring skis), and those at once of which a look back says that it was worth it.
 */

/** A look into an index costs about as much as marking so many rows. */
const rowsForLook = 8;
/** So many rows at most are marked before anything is asked, and at all. */
const mostAtOnce = 32;
const mostRows = 0x1_0000;
/** More slots than so many are let go at the end of a join. */
const mostKept = 1024;
const noSlots = new Int32Array(0);
/** Of each slot: the round that it was taken in, the value, the row; the fourth keeps slots in one line of the cache. */
const slotBits = 2;

export class MarkedRows {
  readonly #rows: KeyedStep;
  readonly #registers: Int32Array;
  /** The register of the value that is asked for, and its column. */
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
  /** Rows marked with the values in hand, and 1 + the next row to mark, 0 where all are. */
  #marked = 0;
  #cursor = 0;
  /** Times that the values in hand were asked for, and how often an index had to tell. */
  #asked = 0;
  #looks = 0;
  #atOnce = mostAtOnce;

  /** `candidate` is the register of one column of the literal, all of whose columns are keys. */
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

  /** The registers of the other columns. */
  get rest(): readonly number[] {
    return this.#restRegisters;
  }

  /** Forgets what is marked: rows may have come or gone. */
  begin(): void {
    this.#isBegun = false;
  }

  /** The row with the values in hand, `noRow` where there is none, or `unsureRow` where an index is to tell. */
  row(): number {
    if (!this.#isBegun || this.#hasOtherRest()) this.#beginRest();
    const id = this.#registers[this.#candidate] as number;
    this.#asked++;
    let row = this.#find(id);
    while (row === noRow && this.#cursor !== 0) {
      const enough = Math.min(this.#atOnce + this.#looks * rowsForLook, mostRows);
      if (this.#marked >= enough) {
        this.#looks++;
        return unsureRow;
      }
      this.#mark(enough);
      row = this.#find(id);
    }
    return row;
  }

  /** Lets go of what takes room. */
  end(): void {
    this.#isBegun = false;
    if (this.#mask < mostKept) return;
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
    if (this.#marked > this.#asked * rowsForLook) this.#atOnce >>>= 1;
    else this.#atOnce = Math.min(this.#atOnce * 2 + 1, mostAtOnce);
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
    // After billions of rounds an old mark would count again.
    if (this.#round !== 0) return;
    this.#slots.fill(0);
    this.#round = 1;
  }

  /** The marked row with the value, `noRow` where none is marked. */
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

  /** Marks rows until so many are. */
  #mark(most: number): void {
    const rows = this.#rows;
    let cursor = this.#cursor;
    while (cursor !== 0 && this.#marked < most) {
      const row = cursor - 1;
      cursor = rows.next(row);
      // Rows that do not count cost as much.
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
    const count = Math.max(mostAtOnce * 2, (this.#mask + 1) * 2);
    this.#slots = new Int32Array(count << slotBits);
    this.#mask = count - 1;
    for (let from = 0; from < old.length; from += 1 << slotBits)
      if (old[from] === this.#round) this.#put(old[from + 1] as number, old[from + 2] as number);
  }
}
