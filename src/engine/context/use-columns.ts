import { keptUses, type Uses } from './salience.ts';

/**
 * Uses by the numbers of their facts, in columns: an object for each would take twice the memory, and the collector's
 * time with every question. `note` does to them what `used` in salience.ts does to an object. A place that is let go
 * is taken by the next fact that comes.
 */
export class UseColumns {
  readonly #places = new Map<number, number>();
  readonly #free: number[] = [];
  #counts = new Float64Array(16);
  #firsts = new Float64Array(16);
  /** How many of the latest are kept, and which: `keptUses` elements a place, oldest first. */
  #kept = new Uint8Array(16);
  #latest = new Float64Array(16 * keptUses);

  /** How many facts have uses. */
  get count(): number {
    return this.#places.size;
  }

  /** A copy. */
  get(number: number): Uses | null {
    const place = this.#places.get(number);
    if (place === undefined) return null;
    const start = place * keptUses;
    const latest = Array.from(this.#latest.subarray(start, start + (this.#kept[place] as number)));
    return { count: this.#counts[place] as number, first: this.#firsts[place] as number, latest };
  }

  set(number: number, { count, first, latest }: Uses): void {
    const place = this.#places.get(number) ?? this.#take(number);
    this.#counts[place] = count;
    this.#firsts[place] = first;
    this.#kept[place] = latest.length;
    this.#latest.set(latest, place * keptUses);
  }

  /** Notes one more use; the first one, where there was none, is at `assertedAt`. */
  note(number: number, assertedAt: number, time: number): void {
    let place = this.#places.get(number);
    if (place === undefined) {
      place = this.#take(number);
      this.#counts[place] = 1;
      this.#firsts[place] = assertedAt;
      this.#kept[place] = 1;
      this.#latest[place * keptUses] = assertedAt;
    }
    this.#counts[place] = (this.#counts[place] as number) + 1;
    const latest = this.#latest;
    const start = place * keptUses;
    const end = start + (this.#kept[place] as number);
    let at = end;
    while (at > start && (latest[at - 1] as number) > time) at--;
    if (end - start < keptUses) {
      for (let after = end; after > at; after--) latest[after] = latest[after - 1] as number;
      latest[at] = time;
      this.#kept[place] = end - start + 1;
    } else if (at > start) {
      // The oldest one goes; where that is this one, nothing changes.
      for (let before = start + 1; before < at; before++) latest[before - 1] = latest[before] as number;
      latest[at - 1] = time;
    }
  }

  /** True where there were some. */
  delete(number: number): boolean {
    const place = this.#places.get(number);
    if (place === undefined) return false;
    this.#places.delete(number);
    this.#free.push(place);
    return true;
  }

  #take(number: number): number {
    const place = this.#free.pop() ?? this.#places.size;
    if (place >= this.#counts.length) {
      const room = this.#counts.length * 2;
      this.#counts = enlarged(this.#counts, new Float64Array(room));
      this.#firsts = enlarged(this.#firsts, new Float64Array(room));
      this.#kept = enlarged(this.#kept, new Uint8Array(room));
      this.#latest = enlarged(this.#latest, new Float64Array(room * keptUses));
    }
    this.#places.set(number, place);
    return place;
  }
}

function enlarged<Column extends Float64Array | Uint8Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
