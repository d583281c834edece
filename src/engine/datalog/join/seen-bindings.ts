import { finish, fold, hashSeed } from '../../store/hash-slots.ts';

const minSlots = 64;
const maxSlots = 0x1_0000;
/** Bindings tested before the benefit is judged. */
const looksToJudge = 8192;
/** Worthwhile if at least 1 in this many bindings was a repetition. */
const repetitionDivisor = 8;
const noSlots = new Int32Array(0);

/**
 * The bindings that a join has already followed, by the variables that the rest of the body still needs
 * (projection with duplicate elimination).
 *
 * After an atom of a long body some variables are no longer needed. Bindings that differ only in those lead
 * to the same conclusions, so it suffices to follow the first: its justification is as good as any other.
 * This is valid while nothing changes that the join reads, from `begin` to `end`.
 *
 * A bounded cache: two bindings can share a slot, and the later one replaces the earlier, so it may forget,
 * but what it reports as seen was seen. If few bindings repeat, it switches itself off until `reset`.
 */
export class SeenBindings {
  readonly #registers: Int32Array;
  readonly #values: Int32Array;
  /** For each slot, the round in which it was filled, then the values. */
  #slots = noSlots;
  #count = 0;
  #round = 0;
  /** Slots filled in this round. */
  #taken = 0;
  #looks = 0;
  #again = 0;
  #isOff = false;

  /** `registers`: the elements of `values` that are still needed. */
  constructor(registers: readonly number[], values: Int32Array) {
    this.#registers = Int32Array.from(registers);
    this.#values = values;
  }

  /** Forgets everything seen. */
  begin(): void {
    this.#round++;
    this.#taken = 0;
  }

  /** Frees large buffers. */
  end(): void {
    if (this.#count > minSlots) this.#clear();
  }

  /** Judges the benefit anew: another reader sees other facts. */
  reset(): void {
    this.#isOff = false;
    this.#looks = 0;
    this.#again = 0;
  }

  /** True if the join should follow the current binding. */
  isNew(): boolean {
    if (this.#isOff) return true;
    if (++this.#looks === looksToJudge && this.#isUseless()) return true;
    if (this.#taken * 2 >= this.#count && this.#count < maxSlots) this.#grow();
    const slots = this.#slots;
    const registers = this.#registers;
    const values = this.#values;
    let hash = hashSeed;
    for (let index = 0; index < registers.length; index++)
      hash = fold(hash, values[registers[index] as number] as number);
    const at = this.#slotOf(hash);
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

  #slotOf(hash: number): number {
    return (finish(hash) & (this.#count - 1)) * (this.#registers.length + 1);
  }

  #isUseless(): boolean {
    this.#isOff = this.#again * repetitionDivisor < this.#looks;
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
    this.#count = Math.max(minSlots, this.#count * 4);
    this.#slots = new Int32Array(this.#count * width);
    this.#taken = 0;
    for (let from = 0; from < old.length; from += width) {
      if (old[from] !== this.#round) continue;
      let hash = hashSeed;
      for (let index = 1; index < width; index++) hash = fold(hash, old[from + index] as number);
      const at = this.#slotOf(hash);
      if (this.#slots[at] !== this.#round) this.#taken++;
      for (let index = 0; index < width; index++) this.#slots[at + index] = old[from + index] as number;
    }
  }
}
