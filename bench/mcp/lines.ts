/**
 * Splits chunks into lines: passes those that `read` accepts, one after the other, to the next waiting caller. A chunk
 * may end anywhere.
 */
export class Lines {
  readonly #read: (line: string) => string | null;
  readonly #asked: ((text: string) => void)[] = [];
  #parts: Buffer[] = [];

  constructor(read: (line: string) => string | null) {
    this.#read = read;
  }

  next(): Promise<string> {
    return new Promise((resolve) => this.#asked.push(resolve));
  }

  take(chunk: Buffer): void {
    this.#parts.push(chunk);
    const end = chunk.lastIndexOf(10);
    if (end === -1) return;
    const whole = Buffer.concat(this.#parts);
    const rest = chunk.length - end - 1;
    this.#parts = rest === 0 ? [] : [chunk.subarray(end + 1)];
    for (const line of whole.toString('utf8', 0, whole.length - rest).split('\n')) {
      const text = this.#read(line.trimEnd());
      if (text !== null) this.#asked.shift()?.(text);
    }
  }
}
