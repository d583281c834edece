/**
 * The names of relations with their arities, found by how they are written: for who meant one and wrote another.
 *
 * Names are equal in their spelling where they differ in case, in `_`, `-` and `.` between words, or in an arity after
 * a slash alone. Each look-up costs as much as it finds.
 */
export class RelationNames {
  /** By name: how many say each arity. */
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

  /** Takes back one `add`. */
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

  /** In no order; none where the name is not known. */
  arities(name: string): Iterable<number> {
    return this.#arities.get(name)?.keys() ?? [];
  }

  /** Names with the spelling of this one, itself among them where it is known, in no order. */
  spelledLike(name: string): Iterable<string> {
    return this.#bySpelling.get(spellingOf(name)) ?? [];
  }

  /** All names, in no order. */
  names(): Iterable<string> {
    return this.#arities.keys();
  }
}

/** Equal for names of one spelling. */
export function spellingOf(name: string): string {
  const plain = name
    .replace(/\/\d+$/, '')
    .replace(/[_\-.]/g, '')
    .toLowerCase();
  return plain === '' ? name : plain;
}
