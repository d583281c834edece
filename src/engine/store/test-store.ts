/**
 * One test of a database: what must come out of the knowledge if some facts are supposed. Replaced when it changes, never
 * mutated.
 */
export interface TestRecord {
  /** Unique within the database. */
  readonly name: string;
  /** The whole test as written, `test "name" { … }`. */
  readonly text: string;
  /** The scope that it supposes facts in and asks; null: facts without scope, and the view of all scopes. */
  readonly scope: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** When its text or scope last changed, epoch milliseconds. */
  readonly updatedAt: number;
  /** The generation that last changed it. */
  readonly changedIn: number;
}

/** The tests of one database, in order of creation. */
export class TestStore {
  /** Characters of all texts. */
  characters = 0;
  readonly #byName = new Map<string, TestRecord>();

  get size(): number {
    return this.#byName.size;
  }

  /** All tests, in order of creation. */
  all(): TestRecord[] {
    return [...this.#byName.values()];
  }

  get(name: string): TestRecord | null {
    return this.#byName.get(name) ?? null;
  }

  /** A store of its own with the same tests. */
  copy(): TestStore {
    const copy = new TestStore();
    for (const each of this.#byName.values()) copy.put(each);
    return copy;
  }

  /** Adds a test, or replaces the one with its name. */
  put(test: TestRecord): void {
    this.characters += test.text.length - (this.#byName.get(test.name)?.text.length ?? 0);
    this.#byName.set(test.name, test);
  }

  remove(name: string): void {
    this.characters -= this.#byName.get(name)?.text.length ?? 0;
    this.#byName.delete(name);
  }
}
