import { keptUses, type Uses } from './salience.ts';

/**
 * Uses by the numbers of their facts, in columns: an object for each would take twice the memory, and the collector's
 * time with every question. `note` does to them what `used` in salience.ts does to an object. A place that is let go
 * is taken by the next fact that comes.
 *
 * Every look-up notes one, of whatever fact: all that is kept of a fact lies together, and its place is found without
 * hashing, in pages made for the numbers that were used.
 */
export class UseColumns {
  /** By page the places of its numbers, 1 more than each; 0: there is none. */
  readonly #pages: (Int32Array | undefined)[] = [];
  readonly #free: number[] = [];
  #taken = 0;
  /** By place: how many uses, the first, how many of the latest are kept, and which: `keptUses` elements, oldest first. */
  #columns = new Float64Array(16 * width);

  /** How many facts have uses. */
  get count(): number {
    return this.#taken - this.#free.length;
  }

  /** True where the fact has uses. */
  has(number: number): boolean {
    return this.#placeOf(number) >= 0;
  }

  /** A copy. */
  get(number: number): Uses | null {
    const place = this.#placeOf(number);
    if (place < 0) return null;
    const columns = this.#columns;
    const at = place * width;
    const start = at + latestAt;
    const latest = Array.from(columns.subarray(start, start + (columns[at + keptAt] as number)));
    return { count: columns[at] as number, first: columns[at + firstAt] as number, latest };
  }

  set(number: number, { count, first, latest }: Uses): void {
    const known = this.#placeOf(number);
    const at = (known < 0 ? this.#take(number) : known) * width;
    const columns = this.#columns;
    columns[at] = count;
    columns[at + firstAt] = first;
    columns[at + keptAt] = latest.length;
    columns.set(latest, at + latestAt);
  }

  /** Notes one more use; the first one, where there was none, is at `assertedAt`. */
  note(number: number, assertedAt: number, time: number): void {
    const known = this.#placeOf(number);
    const at = (known < 0 ? this.#take(number) : known) * width;
    const columns = this.#columns;
    if (known < 0) {
      columns[at] = 1;
      columns[at + firstAt] = assertedAt;
      columns[at + keptAt] = 1;
      columns[at + latestAt] = assertedAt;
    }
    columns[at] = (columns[at] as number) + 1;
    const kept = columns[at + keptAt] as number;
    const start = at + latestAt;
    const end = start + kept;
    let after = end;
    while (after > start && (columns[after - 1] as number) > time) after--;
    if (kept < keptUses) {
      for (let later = end; later > after; later--) columns[later] = columns[later - 1] as number;
      columns[after] = time;
      columns[at + keptAt] = kept + 1;
    } else if (after > start) {
      // The oldest one goes; where that is this one, nothing changes.
      for (let before = start + 1; before < after; before++) columns[before - 1] = columns[before] as number;
      columns[after - 1] = time;
    }
  }

  /** True where there were some. */
  delete(number: number): boolean {
    const place = this.#placeOf(number);
    if (place < 0) return false;
    (this.#pages[number >>> pageBits] as Int32Array)[number & pageMask] = 0;
    this.#free.push(place);
    return true;
  }

  /** Below 0 where the fact has no uses. */
  #placeOf(number: number): number {
    const page = this.#pages[number >>> pageBits];
    return page === undefined ? -1 : (page[number & pageMask] as number) - 1;
  }

  #take(number: number): number {
    const place = this.#free.pop() ?? this.#taken++;
    if ((place + 1) * width > this.#columns.length) {
      const grown = new Float64Array(this.#columns.length * 2);
      grown.set(this.#columns);
      this.#columns = grown;
    }
    const page = (this.#pages[number >>> pageBits] ??= new Int32Array(pageMask + 1));
    page[number & pageMask] = place + 1;
    return place;
  }
}

const firstAt = 1;
const keptAt = 2;
const latestAt = 3;
const width = latestAt + keptUses;
const pageBits = 10;
const pageMask = (1 << pageBits) - 1;
