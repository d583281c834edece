import type { MemoryMeter } from '../../store/memory-meter.ts';

const noInts = new Int32Array(0);

/** Clearing an element of an array costs at most this part of an intersection. */
const elementsPerIntersection = 4;
const firstLength = 0x400;
/** Integers that a cache has at most: 4 MB. */
const maxLength = 0x10_0000;

/**
 * The matches of an intersection by the value of the one register on which it depends: at the end of `edge(?d, ?e),
 * edge(?e, ?f), stop(?f)`, those of an `?e` are the same for every `?d`. Of stored facts, which do not change for the
 * reader of a join.
 *
 * The cache begins empty once there were so many intersections that making it costs little beside them, and adds nothing
 * after it is full.
 */
export class CachedMatches {
  readonly #key: number;
  readonly #registers: readonly number[];
  #memory: MemoryMeter | null = null;
  #ids = 0;
  #intersections = 0;
  /** By id of the key: the position after that of its matches; 0: they are not known. */
  #starts = noInts;
  /** For each key the position behind its matches, then the matches. */
  #matches = noInts;
  #length = 0;
  /** The key whose matches are being found; -1: none. */
  #found = -1;
  /** The matches to be read next. */
  #at = 0;
  #to = 0;

  /** `key`: the register on which the matches depend. `registers`: those that a match sets. */
  constructor(key: number, registers: readonly number[]) {
    this.#key = key;
    this.#registers = registers;
  }

  /** Prepares for a join, whose ids of stored facts are below `ids`. `memory`: what the cache asks before it grows. */
  begin(ids: number, memory: MemoryMeter): void {
    this.release();
    this.#memory = memory;
    this.#ids = ids;
  }

  /** Frees the matches: the join has ended. */
  release(): void {
    this.#memory?.free(this.#starts.byteLength + this.#matches.byteLength);
    this.#starts = noInts;
    this.#matches = noInts;
    this.#length = 0;
    this.#intersections = 0;
    this.#found = -1;
  }

  /** True if the matches of the key in the registers are cached: `next` reads them. Else those that are found are added. */
  open(registers: Int32Array): boolean {
    const key = registers[this.#key] as number;
    const start = this.#starts[key];
    this.#found = -1;
    if (start === undefined) {
      this.#intersections++;
      if (this.#starts.length === 0 && this.#intersections * elementsPerIntersection > this.#ids)
        this.#make();
      return false;
    }
    if (start === 0) {
      this.#begin(key);
      return false;
    }
    this.#to = this.#matches[start - 1] as number;
    this.#at = start;
    return true;
  }

  /** Puts the next match into the registers; false if there is none. */
  next(registers: Int32Array): boolean {
    if (this.#at >= this.#to) return false;
    for (const register of this.#registers) registers[register] = this.#matches[this.#at++] as number;
    return true;
  }

  /** Adds the match in the registers to those of the key. */
  add(registers: Int32Array): void {
    if (this.#found < 0 || !this.#hasRoom(this.#registers.length)) return;
    for (const register of this.#registers) this.#matches[this.#at++] = registers[register] as number;
  }

  /** All matches of the key were found. */
  close(): void {
    if (this.#found < 0) return;
    this.#matches[this.#length] = this.#at;
    this.#starts[this.#found] = this.#length + 1;
    this.#length = this.#at;
    this.#found = -1;
  }

  #make(): void {
    this.#memory?.take((this.#ids + firstLength) * 4);
    this.#starts = new Int32Array(this.#ids);
    this.#matches = new Int32Array(firstLength);
  }

  #begin(key: number): void {
    this.#at = this.#length;
    if (!this.#hasRoom(1)) return;
    this.#found = key;
    this.#at++;
  }

  /** True if so many more integers fit; else the matches of the current key are not cached. */
  #hasRoom(count: number): boolean {
    const { length } = this.#matches;
    if (this.#at + count <= length) return true;
    if (length >= maxLength) {
      this.#found = -1;
      return false;
    }
    this.#memory?.take(length * 4);
    const matches = new Int32Array(length * 2);
    matches.set(this.#matches);
    this.#matches = matches;
    return true;
  }
}
