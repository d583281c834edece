/**
 * Aggregates of many groups at a time, in columns by group: loops over the values of rows, whatever their groups. Values and results
 * are those of `runningAggregate`, with fewer objects and texts.
 */
import type { AggregateName } from '../../contract/language.ts';
import { maxIntegerDigits, numberText, operand } from '../../language/arithmetic.ts';
import { ExactSum } from '../../language/exact.ts';
import { compareConstants, hasFraction, isInteger, isNumber } from '../../language/numbers.ts';
import type { Constants } from '../model/constants.ts';
import { workAtOnce } from './machine.ts';

/** In place of the constant that a group has: the aggregate does not match; or the group must be read by itself. */
export const noResult = -1;
export const unknownResult = -2;

/** Counts below this have an id each, once it is known. */
const countsWithIds = 1024;
/** Sums up to this magnitude do not overflow. */
const largestPart = 2 ** 960;

/** The aggregate of each group, numbered from 0. */
export abstract class Accumulator {
  protected readonly constants: Constants;
  /** Groups for which there is room. */
  room = 0;
  #numbers = new Float64Array(0);

  constructor(constants: Constants) {
    this.constants = constants;
  }

  /** Makes room for groups with numbers below this. */
  reserve(groups: number): void {
    if (groups <= this.room) return;
    const room = Math.max(groups, this.room * 2);
    this.constants.memory.take((room - this.room) * this.bytesPerGroup);
    this.room = room;
    this.grow(room);
  }

  release(): void {
    this.constants.memory.free(this.room * this.bytesPerGroup);
    this.room = 0;
  }

  /** Adds the values, each to its group, from `from` on. Returns the end, or the next one if so much work was done that others wait. */
  abstract take(groups: Int32Array, values: Int32Array, from: number, to: number): number;
  /** Writes the constants of these groups: an id, `noResult` or `unknownResult`, as for a group without room. */
  abstract resultsOf(groups: Int32Array, results: Int32Array): void;
  protected abstract readonly bytesPerGroup: number;
  protected abstract grow(room: number): void;

  protected get isWorn(): boolean {
    return this.constants.work > workAtOnce;
  }

  /** `Constants.simpleNumbers` of the values from `from` up to `to`, at the same indexes, until the next call. */
  protected numbersOf(values: Int32Array, from: number, to: number): Float64Array {
    if (this.#numbers.length < to) this.#numbers = new Float64Array(to);
    this.constants.simpleNumbers(values, from, to, this.#numbers);
    return this.#numbers;
  }

  protected idOfNumber(value: number | bigint): number {
    const text = numberText(value);
    return text === null ? noResult : this.constants.idOf(text);
  }
}

/** Empty groups of the aggregate. */
export function accumulatorOf(name: AggregateName, constants: Constants): Accumulator {
  switch (name) {
    case 'count':
      return new Counts(constants);
    case 'sum':
      return new Sums(constants, false);
    case 'avg':
      return new Sums(constants, true);
    case 'min':
      return new Extremes(constants, 1);
    case 'max':
      return new Extremes(constants, -1);
  }
}

class Counts extends Accumulator {
  protected readonly bytesPerGroup = 4;
  #counts = new Int32Array(0);
  /** By small count: 1 + its constant, 0 if it is not known yet. */
  readonly #ids = new Int32Array(countsWithIds);

  protected grow(room: number): void {
    this.#counts = larger(this.#counts, new Int32Array(room));
  }

  take(groups: Int32Array, _values: Int32Array, from: number, to: number): number {
    const counts = this.#counts;
    for (let at = from; at < to; at++) {
      const group = groups[at] as number;
      if (group < counts.length) counts[group] = (counts[group] as number) + 1;
    }
    return to;
  }

  resultsOf(groups: Int32Array, results: Int32Array): void {
    const [counts, ids] = [this.#counts, this.#ids];
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number;
      if (group >= counts.length) {
        results[at] = unknownResult;
        continue;
      }
      const count = counts[group] as number;
      if (count >= countsWithIds) {
        results[at] = this.idOfNumber(count);
        continue;
      }
      if (ids[count] === 0) ids[count] = this.idOfNumber(count) + 1;
      results[at] = (ids[count] as number) - 1;
    }
  }
}

/** `made` with the elements of the column. */
function larger<Column extends { set(from: Column): void }>(column: Column, made: Column): Column {
  made.set(column);
  return made;
}

/** What a group of a sum has met: integers whose sum is safe; also doubles; numbers that need an `ExactSum`; what has no sum. */
const sumsOf = { integers: 0, doubles: 1, others: 2, nothing: 3, unknown: 4 } as const;

/** Sums, or means: of integers as a double while that is exact, of doubles as two that do not overlap. */
class Sums extends Accumulator {
  protected readonly bytesPerGroup = 29;
  readonly #isMean: boolean;
  #kinds = new Uint8Array(0);
  #counts = new Int32Array(0);
  #integers = new Float64Array(0);
  /** The sum as the nearest double, once there is a double in it. */
  #doubles = new Float64Array(0);
  /** What that lacks. */
  #rests = new Float64Array(0);
  readonly #others = new Map<number, ExactSum>();

  constructor(constants: Constants, isMean: boolean) {
    super(constants);
    this.#isMean = isMean;
  }

  protected grow(room: number): void {
    this.#kinds = larger(this.#kinds, new Uint8Array(room));
    this.#counts = larger(this.#counts, new Int32Array(room));
    this.#integers = larger(this.#integers, new Float64Array(room));
    if (this.#doubles.length > 0) this.#growDoubles(room);
  }

  #growDoubles(room: number): void {
    this.#doubles = larger(this.#doubles, new Float64Array(room));
    this.#rests = larger(this.#rests, new Float64Array(room));
  }

  take(groups: Int32Array, values: Int32Array, from: number, to: number): number {
    const [kinds, counts, integers] = [this.#kinds, this.#counts, this.#integers];
    const numbers = this.numbersOf(values, from, to);
    for (let at = from; at < to; at++) {
      const group = groups[at] as number;
      if (group >= kinds.length) continue;
      const number = numbers[at] as number;
      const kind = kinds[group] as number;
      counts[group] = (counts[group] as number) + 1;
      if (kind === sumsOf.integers && Number.isInteger(number)) {
        const sum = (integers[group] as number) + number;
        if (Number.isSafeInteger(sum)) {
          integers[group] = sum;
          continue;
        }
      } else if (kind <= sumsOf.doubles && this.#addDouble(group, number)) continue;
      this.#addOther(group, values[at] as number);
      if (this.isWorn) return at + 1;
    }
    return to;
  }

  /** Adds a double to a group of integers or doubles. False if it is none, or two doubles cannot have the sum. */
  #addDouble(group: number, value: number): boolean {
    if (!(Math.abs(value) <= largestPart)) return false;
    if (this.#kinds[group] === sumsOf.integers) {
      if (this.#doubles.length === 0) this.#growDoubles(this.room);
      this.#kinds[group] = sumsOf.doubles;
      this.#doubles[group] = this.#integers[group] as number;
    }
    const [before, rest] = [this.#doubles[group] as number, this.#rests[group] as number];
    const rough = before + value;
    const lost = lostIn(before, value, rough);
    const small = rest + lost;
    if (lostIn(rest, lost, small) !== 0) return false;
    const sum = rough + small;
    this.#doubles[group] = sum;
    this.#rests[group] = lostIn(rough, small, sum);
    return true;
  }

  #addOther(group: number, id: number): void {
    const kind = this.#kinds[group] as number;
    if (kind === sumsOf.unknown) return;
    const text = this.constants.operand(id);
    // Whoever asks for the group is refused; others are not.
    if (text.length > maxIntegerDigits && isInteger(text)) return this.#drop(group, sumsOf.unknown);
    if (kind === sumsOf.nothing) return;
    const value = operand(text);
    if (value === null || (typeof value === 'number' && !Number.isFinite(value)))
      return this.#drop(group, sumsOf.nothing);
    const isWhole = typeof value === 'bigint' || !hasFraction(text);
    if (!isWhole && kind <= sumsOf.doubles && this.#addDouble(group, Number(value))) return;
    this.#exactSumOf(group).add(value, isWhole);
  }

  #drop(group: number, kind: number): void {
    this.#kinds[group] = kind;
    if (this.#others.delete(group)) this.constants.memory.free(bytesOfSum);
  }

  #exactSumOf(group: number): ExactSum {
    const known = this.#others.get(group);
    if (known !== undefined) return known;
    this.constants.memory.take(bytesOfSum);
    const sum = this.#sumSoFar(group);
    this.#others.set(group, sum);
    this.#kinds[group] = sumsOf.others;
    return sum;
  }

  #sumSoFar(group: number): ExactSum {
    const sum = new ExactSum();
    if (this.#kinds[group] === sumsOf.integers) sum.add(this.#integers[group] as number, true);
    else
      for (const part of [this.#doubles[group] as number, this.#rests[group] as number]) sum.add(part, false);
    return sum;
  }

  override release(): void {
    super.release();
    this.constants.memory.free(this.#others.size * bytesOfSum);
    this.#others.clear();
  }

  resultsOf(groups: Int32Array, results: Int32Array): void {
    this.constants.idsOfNumbers(this.#numbersFor(groups, results), results);
  }

  /** The numbers whose constants are the results; NaN if there is none, and the result is written. */
  #numbersFor(groups: Int32Array, results: Int32Array): Float64Array {
    const isMean = this.#isMean;
    const [kinds, counts, integers, doubles] = [this.#kinds, this.#counts, this.#integers, this.#doubles];
    const numbers = new Float64Array(groups.length).fill(NaN);
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number;
      if (group >= kinds.length) results[at] = unknownResult;
      else if (kinds[group] === sumsOf.integers) {
        // The mean of nothing is no number.
        results[at] = noResult;
        const sum = integers[group] as number;
        numbers[at] = isMean ? sum / (counts[group] as number) : sum;
      } else if (kinds[group] === sumsOf.doubles && !isMean) numbers[at] = doubles[group] as number;
      else results[at] = this.#otherResultOf(group);
    }
    return numbers;
  }

  #otherResultOf(group: number): number {
    const kind = this.#kinds[group] as number;
    if (kind === sumsOf.unknown) return unknownResult;
    if (kind === sumsOf.nothing) return noResult;
    const sum = this.#others.get(group) ?? this.#sumSoFar(group);
    return this.idOfNumber(this.#isMean ? sum.mean(this.#counts[group] as number) : sum.sum());
  }
}

const bytesOfSum = 200;

/** What rounding took from the sum of two doubles. */
function lostIn(left: number, right: number, sum: number): number {
  const part = sum - left;
  return left - (sum - part) + (right - part);
}

/** What a group of an extreme has met: nothing, numbers alone, or text first. A group with numbers first and text later is read by itself. */
const extremesOf = { nothing: 0, numbers: 1, text: 2, unknown: 3 } as const;

/** Least values for sign 1, greatest for -1. */
class Extremes extends Accumulator {
  protected readonly bytesPerGroup = 13;
  readonly #sign: 1 | -1;
  #kinds = new Uint8Array(0);
  /** The best constant. */
  #bests = new Int32Array(0);
  /** Its value, if it is a simple number; else NaN. */
  #numbers = new Float64Array(0);

  constructor(constants: Constants, sign: 1 | -1) {
    super(constants);
    this.#sign = sign;
  }

  protected grow(room: number): void {
    this.#kinds = larger(this.#kinds, new Uint8Array(room));
    this.#bests = larger(this.#bests, new Int32Array(room));
    this.#numbers = larger(this.#numbers, new Float64Array(room));
  }

  take(groups: Int32Array, values: Int32Array, from: number, to: number): number {
    const [kinds, bests, bestNumbers, sign] = [this.#kinds, this.#bests, this.#numbers, this.#sign];
    const numbers = this.numbersOf(values, from, to);
    for (let at = from; at < to; at++) {
      const group = groups[at] as number;
      if (group >= kinds.length) continue;
      const id = values[at] as number;
      const number = numbers[at] as number;
      const kind = kinds[group] as number;
      const difference = kind === extremesOf.numbers ? (number - (bestNumbers[group] as number)) * sign : NaN;
      if (difference > 0) continue;
      if (difference < 0 || (kind === extremesOf.nothing && number === number)) {
        kinds[group] = extremesOf.numbers;
        bestNumbers[group] = number;
        bests[group] = id;
        continue;
      }
      if (kind !== extremesOf.nothing && bests[group] === id) continue;
      this.#takeOther(group, id, number);
      if (this.isWorn) return at + 1;
    }
    return to;
  }

  /** Text, or a number that equals the best or is not simple. */
  #takeOther(group: number, id: number, number: number): void {
    const { constants } = this;
    const kind = this.#kinds[group] as number;
    const best = this.#bests[group] as number;
    if (kind === extremesOf.unknown) return;
    if (kind === extremesOf.text) {
      if (constants.order(id, best) * this.#sign < 0) this.#bests[group] = id;
      return;
    }
    const isNumeral = constants.mayBeNumber(id) && isNumber(constants.operand(id));
    if (kind === extremesOf.nothing) {
      this.#kinds[group] = isNumeral ? extremesOf.numbers : extremesOf.text;
      this.#setBest(group, id, number);
    } else if (!isNumeral) this.#kinds[group] = extremesOf.unknown;
    else {
      const order = compareConstants(constants.text(id), constants.text(best)) * this.#sign;
      if (order < 0 || (order === 0 && constants.order(id, best) < 0)) this.#setBest(group, id, number);
    }
  }

  #setBest(group: number, id: number, number: number): void {
    this.#bests[group] = id;
    this.#numbers[group] = number;
  }

  resultsOf(groups: Int32Array, results: Int32Array): void {
    const [kinds, bests] = [this.#kinds, this.#bests];
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] as number;
      const kind = kinds[group] ?? extremesOf.unknown;
      if (kind === extremesOf.nothing) results[at] = noResult;
      else if (kind === extremesOf.unknown) results[at] = unknownResult;
      else results[at] = this.constants.local(bests[group] as number);
    }
  }
}
