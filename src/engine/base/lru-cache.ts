interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * A cache that evicts what was least recently used, bounded in entries and in bytes.
 *
 * An entry belongs to an owner, such as the facts of a tenant, which the cache does not keep alive; its values should not
 * either. Entries of an owner that is gone are evicted in their turn.
 */
export class LruCache<Owner extends object, Value> {
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #owners = new WeakMap<Owner, number>();
  #ownerCount = 0;
  /** By owner and key; a Map iterates in the order of insertion, so the least recently used entry comes first. */
  readonly #entries = new Map<string, Entry<Value>>();
  #bytes = 0;

  constructor(maxEntries: number, maxBytes: number) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  /** Of all entries, as their owners stated them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** The owner's value for the key, now the most recently used; undefined: there is none. */
  get(owner: Owner, key: string): Value | undefined {
    const at = this.#placeOf(owner, key);
    const entry = this.#entries.get(at);
    if (entry === undefined) return undefined;
    this.#entries.delete(at);
    this.#entries.set(at, entry);
    return entry.value;
  }

  /** Replaces the owner's value for the key. A value of more bytes than the cache may take is not kept. */
  set(owner: Owner, key: string, value: Value, bytes: number): void {
    this.delete(owner, key);
    if (bytes > this.#maxBytes) return;
    this.#entries.set(this.#placeOf(owner, key), { value, bytes });
    this.#bytes += bytes;
    for (const at of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#bytes <= this.#maxBytes) return;
      this.#evict(at);
    }
  }

  delete(owner: Owner, key: string): void {
    this.#evict(this.#placeOf(owner, key));
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** Evicts everything of the owner, in time proportional to the entries of all. */
  deleteOwner(owner: Owner): void {
    const prefix = this.#placeOf(owner, '');
    for (const at of this.#entries.keys()) if (at.startsWith(prefix)) this.#evict(at);
  }

  #placeOf(owner: Owner, key: string): string {
    let number = this.#owners.get(owner);
    if (number === undefined) this.#owners.set(owner, (number = this.#ownerCount++));
    return `${number} ${key}`;
  }

  #evict(at: string): void {
    const entry = this.#entries.get(at);
    if (entry === undefined) return;
    this.#entries.delete(at);
    this.#bytes -= entry.bytes;
  }
}
