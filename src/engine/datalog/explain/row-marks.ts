/** A number for each row of a relation, 0 where none was set. Grows with the rows. */
export class Marks {
  #of = new Int32Array(16);

  get bytes(): number {
    return this.#of.byteLength;
  }

  of(row: number): number {
    return this.#of[row] ?? 0;
  }

  set(row: number, value: number): void {
    if (row >= this.#of.length) this.#grow(row);
    this.#of[row] = value;
  }

  add(row: number): void {
    this.set(row, this.of(row) + 1);
  }

  #grow(row: number): void {
    const grown = new Int32Array(Math.max(row + 1, this.#of.length * 2));
    grown.set(this.#of);
    this.#of = grown;
  }
}
