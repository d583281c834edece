/** The text of these bytes, which are well-formed UTF-8. Short ASCII texts need no decoder, which is slow for them. */
export function textOfUtf8(bytes: Uint8Array, start: number, end: number): string {
  const text = end - start <= maxShortBytes ? shortText(bytes, start, end) : null;
  return text ?? decoder.decode(bytes.subarray(start, end));
}

/**
 * The text of a few bytes; null if they are not all ASCII. Each call of `fromCharCode` makes a string, so it
 * takes eight at once.
 */
function shortText(bytes: Uint8Array, start: number, end: number): string | null {
  let text = '';
  let at = start;
  let all = 0;
  for (; at + 8 <= end; at += 8) {
    const a = bytes[at] as number;
    const b = bytes[at + 1] as number;
    const c = bytes[at + 2] as number;
    const d = bytes[at + 3] as number;
    const e = bytes[at + 4] as number;
    const f = bytes[at + 5] as number;
    const g = bytes[at + 6] as number;
    const h = bytes[at + 7] as number;
    all |= a | b | c | d | e | f | g | h;
    text += String.fromCharCode(a, b, c, d, e, f, g, h);
  }
  if (at + 4 <= end) {
    const a = bytes[at] as number;
    const b = bytes[at + 1] as number;
    const c = bytes[at + 2] as number;
    const d = bytes[at + 3] as number;
    all |= a | b | c | d;
    text += String.fromCharCode(a, b, c, d);
    at += 4;
  }
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    all |= byte;
    text += String.fromCharCode(byte);
  }
  return all < 0x80 ? text : null;
}

const maxShortBytes = 48;
/** A text may begin with U+FEFF, which is not a byte order mark here. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
