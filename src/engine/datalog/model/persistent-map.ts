/** Up to this many changes are copied without a look at how large the map is. */
const fewChanges = 32;

/**
 * A map by name of which a later version shares what it has in common: a fork copies the changes since the last common
 * map, and begins a new common map once their number squared exceeds its size. So a fork and a change cost about the square
 * root of the size, amortized.
 */
export class PersistentMap<Value extends object> {
  readonly #common: ReadonlyMap<string, Value>;
  /** null: removed. */
  readonly #changes: Map<string, Value | null>;

  /** The map takes `common`, which nothing may change afterwards. */
  constructor(common: ReadonlyMap<string, Value>, changes: ReadonlyMap<string, Value | null> = new Map()) {
    const isLarge = changes.size > fewChanges && changes.size ** 2 > common.size;
    this.#common = isLarge ? merged(common, changes) : common;
    this.#changes = new Map(isLarge ? [] : changes);
  }

  /** An equal map; changing either does not change the other. */
  fork(): PersistentMap<Value> {
    return new PersistentMap(this.#common, this.#changes);
  }

  get(name: string): Value | undefined {
    const changed = this.#changes.get(name);
    return changed === undefined ? this.#common.get(name) : (changed ?? undefined);
  }

  set(name: string, value: Value): void {
    this.#changes.set(name, value);
  }

  delete(name: string): void {
    this.#changes.set(name, null);
  }

  /** In no particular order. */
  keys(): string[] {
    return [...merged(this.#common, this.#changes).keys()];
  }
}

function merged<Value>(
  common: ReadonlyMap<string, Value>,
  changes: ReadonlyMap<string, Value | null>,
): Map<string, Value> {
  const all = new Map(common);
  for (const [name, value] of changes)
    if (value === null) all.delete(name);
    else all.set(name, value);
  return all;
}
