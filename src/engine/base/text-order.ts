/**
 * Compares by code point, the order that the contract promises; it equals the order of the UTF-8 bytes.
 *
 * JavaScript compares UTF-16 code units, which differs only between surrogates and the units above them (U+E000 to
 * U+FFFF). Shifting those two ranges at the first difference yields code point order without decoding.
 */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Compares lists of text element by element; a prefix comes before the longer list. */
export function compareTexts(left: readonly string[], right: readonly string[]): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const order = compareText(left[index] as string, right[index] as string);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/**
 * Compares texts by code point, and says what that costs: so a sort can pause as often for a few long texts as for many
 * short ones.
 */
export class TextComparisons {
  /** Characters compared, at most, since it was last set. */
  work = 0;
  /** Characters of the longest text seen. */
  longest = 1;

  /** Takes note of a text that will be compared; returns it. */
  see<Text extends string | null>(text: Text): Text {
    if (text !== null && text.length > this.longest) this.longest = text.length;
    return text;
  }

  /** `compareText`. */
  compare(left: string, right: string): number {
    this.work += Math.min(left.length, right.length);
    return compareText(left, right);
  }
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
