/**
 * The names of relations with their arities, found by similar spelling: to suggest the relation that a caller
 * probably meant.
 *
 * Names have the same spelling if they differ only in case, in `_`, `-` and `.` between words, or in an arity
 * after a slash. A look-up costs as much as it finds.
 */
export class RelationNames {
  /** By name: the number of relations of each arity. */
  readonly #arities = new Map<string, Map<number, number>>();
  readonly #bySpelling = new Map<string, Set<string>>();

  add(name: string, arity: number): void {
    let arities = this.#arities.get(name);
    if (arities === undefined) {
      this.#arities.set(name, (arities = new Map()));
      const spelling = spellingOf(name);
      const others = this.#bySpelling.get(spelling);
      if (others === undefined) this.#bySpelling.set(spelling, new Set([name]));
      else others.add(name);
    }
    arities.set(arity, (arities.get(arity) ?? 0) + 1);
  }

  /** Undoes one `add`. */
  remove(name: string, arity: number): void {
    const arities = this.#arities.get(name);
    const count = arities?.get(arity);
    if (arities === undefined || count === undefined) return;
    if (count > 1) arities.set(arity, count - 1);
    else arities.delete(arity);
    if (arities.size > 0) return;
    this.#arities.delete(name);
    const spelling = spellingOf(name);
    const others = this.#bySpelling.get(spelling);
    others?.delete(name);
    if (others?.size === 0) this.#bySpelling.delete(spelling);
  }

  /** Unordered; empty if the name is not known. */
  arities(name: string): Iterable<number> {
    return this.#arities.get(name)?.keys() ?? [];
  }

  /** Names with the same spelling, including this one if it is known, unordered. */
  spelledLike(name: string): Iterable<string> {
    return this.#bySpelling.get(spellingOf(name)) ?? [];
  }

  /** All names, unordered. */
  names(): Iterable<string> {
    return this.#arities.keys();
  }
}

/** Equal for names of the same spelling. */
export function spellingOf(name: string): string {
  const plain = name
    .replace(/\/\d+$/, '')
    .replace(/[_\-.]/g, '')
    .toLowerCase();
  return plain === '' ? name : plain;
}
