import { finish, fold, hashSeed } from '../../store/hash.ts';

/**
 * Bindings that a join has gone on from, by the variables that what follows still needs.
 *
 * Behind an atom of a long body some variables are needed by nothing any more. Bindings that differ in those alone lead
 * to the same conclusions, so a join need go on from the first of them only: what it rests on then is a justification
 * as good as any other. That holds while nothing changes that the join reads, from `begin` to `end`.
 *
 * It may forget: two bindings can share a slot, and the later one takes it. So it is bounded, and what it says is seen
 * was. Where few bindings come again it is switched off, until `reset`.
 */
const fewSlots = 64;
const mostSlots = 0x1_0000;
/** So many bindings are looked at before it is judged what that brings. */
const looksToJudge = 8192;
/** It is worth its while where one in so many came again. */
const leastPart = 8;
const noSlots = new Int32Array(0);

export class SeenBindings {
  readonly #registers: Int32Array;
  readonly #values: Int32Array;
  /** For each slot the round in which it was taken, then the values. */
  #slots = noSlots;
  #count = 0;
  #round = 0;
  /** Slots taken in this round. */
  #taken = 0;
  #looks = 0;
  #again = 0;
  #isOff = false;

  /** `registers` name the places in `values` that hold what is still needed. */
  constructor(registers: readonly number[], values: Int32Array) {
    this.#registers = Int32Array.from(registers);
    this.#values = values;
  }

  /** Nothing was seen yet. */
  begin(): void {
    this.#round++;
    this.#taken = 0;
  }

  /** Lets go of what takes room. */
  end(): void {
    if (this.#count > fewSlots) this.#clear();
  }

  /** What is worth its while is to be judged anew: another reader sees other facts. */
  reset(): void {
    this.#isOff = false;
    this.#looks = 0;
    this.#again = 0;
  }

  /** True where the join is to go on from the binding in hand. */
  isNew(): boolean {
    if (this.#isOff) return true;
    if (++this.#looks === looksToJudge && this.#isUseless()) return true;
    if (this.#taken * 2 >= this.#count && this.#count < mostSlots) this.#grow();
    const slots = this.#slots;
    const registers = this.#registers;
    const values = this.#values;
    let hash = hashSeed;
    for (let index = 0; index < registers.length; index++)
      hash = fold(hash, values[registers[index] as number] as number);
    const at = this.#placeOf(hash);
    if (slots[at] !== this.#round) this.#taken++;
    else {
      let same = 0;
      while (same < registers.length && slots[at + 1 + same] === values[registers[same] as number]) same++;
      if (same === registers.length) {
        this.#again++;
        return false;
      }
    }
    slots[at] = this.#round;
    for (let index = 0; index < registers.length; index++)
      slots[at + 1 + index] = values[registers[index] as number] as number;
    return true;
  }

  #placeOf(hash: number): number {
    return (finish(hash) & (this.#count - 1)) * (this.#registers.length + 1);
  }

  #isUseless(): boolean {
    this.#isOff = this.#again * leastPart < this.#looks;
    this.#looks = 0;
    this.#again = 0;
    if (this.#isOff) this.#clear();
    return this.#isOff;
  }

  #clear(): void {
    this.#slots = noSlots;
    this.#count = 0;
    this.#taken = 0;
  }

  #grow(): void {
    const old = this.#slots;
    const width = this.#registers.length + 1;
    this.#count = Math.max(fewSlots, this.#count * 4);
    this.#slots = new Int32Array(this.#count * width);
    this.#taken = 0;
    for (let from = 0; from < old.length; from += width) {
      if (old[from] !== this.#round) continue;
      let hash = hashSeed;
      for (let index = 1; index < width; index++) hash = fold(hash, old[from + index] as number);
      const at = this.#placeOf(hash);
      if (this.#slots[at] !== this.#round) this.#taken++;
      for (let index = 0; index < width; index++) this.#slots[at + index] = old[from + index] as number;
    }
  }
}
