/** What a step costs beside the text that it handles, in bytes of text. */
const stepBytes = 64;

/** Bytes of text between two pauses: about a millisecond of work. */
export const bytesBetweenPauses = 256 * 1024;

/**
 * Says when work over texts may pause: after many rows or after few long constants, whichever comes first. Counting rows
 * alone would handle a thousand constants of 64 KiB in one turn.
 *
 * `if (meter.counts(text.length)) await pacer.breathe()`, or `yield` in a generator of steps.
 */
export class ByteMeter {
  #left = bytesBetweenPauses;

  /** Counts a step that handles a text of this length; true: it is time to breathe, and counting begins again. */
  counts(bytes: number): boolean {
    this.#left -= stepBytes + bytes;
    if (this.#left >= 0) return false;
    this.#left = bytesBetweenPauses;
    return true;
  }
}

/** Characters of the texts together. */
export function charactersOf(texts: readonly string[]): number {
  let characters = 0;
  for (const text of texts) characters += text.length;
  return characters;
}
