/**
 * Exact arithmetic on numbers: rationals with a power of two in the denominator, rounded once, at the end, to
 * an IEEE double (to nearest, ties to even). No result depends on the order of the operands.
 */

/** The least exponent of a double: every finite double is an integer multiple of 2^-1074. */
const leastExponent = 1074;

const view = new DataView(new ArrayBuffer(8));

/** A finite double as an integer multiple of 2^-1074. */
function inLeastUnits(value: number): bigint {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const magnitude = exponent === 0 ? fraction : (fraction | 0x10_0000_0000_0000n) << BigInt(exponent - 1);
  return bits >> 63n === 0n ? magnitude : -magnitude;
}

/** The number of bits of a magnitude; 0 for 0. */
function bitLength(magnitude: bigint): number {
  if (magnitude === 0n) return 0;
  const hex = magnitude.toString(16);
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex.charAt(0), 16)));
}

/** The double nearest to numerator / denominator * 2^exponent; an infinity if that overflows. */
export function nearestDouble(numerator: bigint, denominator: bigint, exponent = 0): number {
  const negative = numerator < 0n !== denominator < 0n;
  const over = numerator < 0n ? -numerator : numerator;
  const under = denominator < 0n ? -denominator : denominator;
  if (over === 0n) return 0;
  // The unit in the last place: at least 53 bits of quotient, but never finer than the finest double.
  const unit = Math.max(bitLength(over) - bitLength(under) + exponent - 53, -leastExponent);
  const shift = exponent - unit;
  const scaledOver = shift > 0 ? over << BigInt(shift) : over;
  const scaledUnder = shift < 0 ? under << BigInt(-shift) : under;
  let quotient = scaledOver / scaledUnder;
  const remainder = scaledOver % scaledUnder;
  // At most 54 bits: the extra bit is dropped, and everything below it joins the remainder.
  if (quotient >= 1n << 53n) return signed(negative, roundHalf(quotient, remainder !== 0n), unit + 1);
  const twice = remainder * 2n;
  if (twice > scaledUnder || (twice === scaledUnder && (quotient & 1n) === 1n)) quotient += 1n;
  return signed(negative, quotient, unit);
}

/** Half a quotient, to nearest, ties to even; `rest`: there was more below its last bit. */
function roundHalf(quotient: bigint, rest: boolean): bigint {
  const half = quotient >> 1n;
  if ((quotient & 1n) === 0n) return half;
  return rest || (half & 1n) === 1n ? half + 1n : half;
}

/** quotient * 2^unit for a quotient of at most 2^53: exact, or an infinity. */
function signed(negative: boolean, quotient: bigint, unit: number): number {
  const magnitude = unit > 1023 ? Infinity : Number(quotient) * 2 ** unit;
  return negative ? -magnitude : magnitude;
}

/** The sum of fewer than 2^60 doubles up to this magnitude does not overflow. */
const largestPart = 2 ** 960;

const noParts: number[] = [];

/** Adds a double to an expansion: parts that do not overlap, by magnitude, ascending. */
function addTo(parts: number[], value: number): void {
  let sum = value;
  let count = 0;
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as number;
    const isLess = Math.abs(sum) < Math.abs(part);
    const [large, small] = isLess ? [part, sum] : [sum, part];
    sum = large + small;
    const rest = small - (sum - large);
    if (rest !== 0) parts[count++] = rest;
  }
  parts.length = count;
  parts.push(sum);
}

/** The double nearest to the sum of an expansion, ties to even. */
function rounded(parts: readonly number[]): number {
  let at = parts.length - 1;
  let sum = parts[at] as number;
  let rest = 0;
  while (at > 0 && rest === 0) {
    const part = parts[--at] as number;
    const before = sum;
    sum = before + part;
    rest = part - (sum - before);
  }
  // Half a unit was rounded to even, but what follows is on the side of the rest.
  const next = parts[at - 1] ?? 0;
  if ((rest < 0 && next < 0) || (rest > 0 && next > 0)) {
    const moved = sum + rest * 2;
    if (moved - sum === rest * 2) return moved;
  }
  return sum;
}

/**
 * A sum to which numbers are added, and from which they are subtracted, exactly and in any order.
 *
 * Most sums are of numbers whose exact sum needs few bits: safe integers are added up as long as their sum is one, and
 * doubles as an expansion (Shewchuk), parts that do not overlap and whose sum is exact. Everything else is a bigint.
 */
export class ExactSum {
  #integers = 0n;
  /** Integers that are not in `#integers` yet. */
  #safe = 0;
  /** In least units. */
  #doubles = 0n;
  /** Doubles that are not in `#doubles`: by magnitude, ascending. */
  #parts: number[] = noParts;
  #doubleCount = 0;
  #count = 0;

  /**
   * Adds a finite number, or with `sign` -1 subtracts it. A bigint is an integer, a number a double or a safe
   * integer.
   */
  add(value: number | bigint, isInteger: boolean, sign: 1 | -1 = 1): void {
    this.#count += sign;
    if (!isInteger) {
      this.#doubleCount += sign;
      this.#addDouble(Number(value) * sign);
    } else if (typeof value === 'bigint') this.#integers += value * BigInt(sign);
    else {
      const sum = this.#safe + value * sign;
      if (Number.isSafeInteger(sum)) this.#safe = sum;
      else {
        this.#integers += BigInt(this.#safe) + BigInt(value * sign);
        this.#safe = 0;
      }
    }
  }

  #addDouble(value: number): void {
    if (Math.abs(value) > largestPart) {
      this.#doubles += inLeastUnits(value);
      return;
    }
    if (this.#parts === noParts) this.#parts = [];
    addTo(this.#parts, value);
  }

  /** All integers. */
  get #whole(): bigint {
    return this.#integers + BigInt(this.#safe);
  }

  /** All numbers, in least units. */
  get #inLeastUnits(): bigint {
    let sum = (this.#whole << BigInt(leastExponent)) + this.#doubles;
    for (const part of this.#parts) sum += inLeastUnits(part);
    return sum;
  }

  /** The sum: an integer if all numbers were integers, else the nearest double. */
  sum(): number | bigint {
    if (this.#doubleCount === 0) return this.#integers === 0n ? this.#safe : this.#whole;
    if (this.#integers !== 0n || this.#doubles !== 0n)
      return nearestDouble(this.#inLeastUnits, 1n, -leastExponent);
    const parts = [...this.#parts];
    addTo(parts, this.#safe);
    return rounded(parts);
  }

  /**
   * The mean of `numbers` numbers: an integer if all were integers and it is whole, else the nearest double. Undefined for
   * no numbers.
   */
  mean(numbers = this.#count): number | bigint {
    // Both are exact, so the quotient is the nearest double.
    if (this.#doubleCount === 0 && this.#integers === 0n) return this.#safe / numbers;
    const count = BigInt(numbers);
    if (this.#doubleCount === 0) {
      const whole = this.#whole;
      return whole % count === 0n ? whole / count : nearestDouble(whole, count);
    }
    return nearestDouble(this.#inLeastUnits, count, -leastExponent);
  }
}
