/**
 * The generations in which the rows of a relation were born, as runs: rows are born in the order of generations, and those
 * of one write share theirs. So a bulk load takes no memory for them, and a row that a reader sees is one before a limit.
 */
export class BirthRuns {
  /** All but the last have `runsInPage` runs: adding one copies no more than a page. */
  readonly #pages: Page[] = [{ firsts: new Int32Array(4), generations: new Float64Array(4) }];
  #runs = 0;
  /** The generation of the last row; -Infinity if there is none. */
  last = Number.NEGATIVE_INFINITY;
  /** The run that was looked up last: look-ups mostly go on from there. */
  #near = 0;
  /** The answer of `rowsThrough` for an earlier generation than the last: it never changes. */
  #known = { generation: Number.NEGATIVE_INFINITY, rows: 0 };

  get bytes(): number {
    const { firsts, generations } = this.#pages.at(-1) as Page;
    const full = this.#pages.length - 1;
    return full * runsInPage * 12 + firsts.byteLength + generations.byteLength;
  }

  /** Adds the next row, and those after it up to the next call; its generation is not before that of the last one. */
  add(row: number, generation: number): void {
    if (generation === this.last) return;
    const { firsts, generations } = this.#pageToFill();
    firsts[this.#runs & placeMask] = row;
    generations[this.#runs & placeMask] = generation;
    this.#runs++;
    this.last = generation;
  }

  /** The generation in which the row, which was added, was born. */
  of(row: number): number {
    let run = this.#near;
    if (!this.#has(run, row)) this.#near = run = this.#after((each) => this.#firstOf(each) <= row) - 1;
    return this.#generationOf(run);
  }

  /** Of so many rows: how many were born up to and including this generation. They are the first ones. */
  rowsThrough(generation: number, count: number): number {
    if (generation >= this.last) return count;
    if (generation !== this.#known.generation) {
      const rows = this.#firstOf(this.#after((run) => this.#generationOf(run) <= generation));
      this.#known = { generation, rows };
    }
    return this.#known.rows;
  }

  #has(run: number, row: number): boolean {
    if (row < this.#firstOf(run)) return false;
    return run + 1 >= this.#runs || row < this.#firstOf(run + 1);
  }

  #firstOf(run: number): number {
    return (this.#pages[run >>> pageBits] as Page).firsts[run & placeMask] as number;
  }

  #generationOf(run: number): number {
    return (this.#pages[run >>> pageBits] as Page).generations[run & placeMask] as number;
  }

  /** The first run that is not before, where those before are the first ones. */
  #after(isBefore: (run: number) => boolean): number {
    let low = 0;
    let high = this.#runs;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The page of the next run, with room for it. */
  #pageToFill(): Page {
    const page = this.#pages.at(-1) as Page;
    const filled = this.#runs - (this.#pages.length - 1) * runsInPage;
    if (filled < page.firsts.length) return page;
    const isWhole = filled === runsInPage;
    const room = isWhole ? runsInPage : filled * 2;
    const next = { firsts: new Int32Array(room), generations: new Float64Array(room) };
    if (isWhole) this.#pages.push(next);
    else {
      next.firsts.set(page.firsts);
      next.generations.set(page.generations);
      this.#pages[this.#pages.length - 1] = next;
    }
    return next;
  }
}

/** Consecutive runs: the first row of each, and its generation. */
interface Page {
  readonly firsts: Int32Array;
  readonly generations: Float64Array;
}

const pageBits = 12;
const runsInPage = 1 << pageBits;
const placeMask = runsInPage - 1;
