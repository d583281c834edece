/** An import and the generations that it made. */
export interface KnownImport {
  readonly id: string;
  readonly tenant: string;
  /** Those in which it changed something, ascending. */
  readonly generations: readonly number[];
}

/**
 * The generations of one database that imports made, so that a fact can name the import that asserted it.
 *
 * An import belongs to a tenant and consists of many writes; a generation is made by at most one import. An
 * import is known from its first write on, even if that changed nothing, and forever.
 */
export class Imports {
  readonly #imports = new Map<string, { readonly tenant: string; readonly generations: number[] }>();
  readonly #byGeneration = new Map<number, string>();

  /** Records a write of the import; `generation` is null if it changed nothing. */
  note(id: string, tenant: string, generation: number | null): void {
    let known = this.#imports.get(id);
    if (known === undefined) this.#imports.set(id, (known = { tenant, generations: [] }));
    if (generation === null) return;
    known.generations.push(generation);
    this.#byGeneration.set(generation, id);
  }

  /** The import that made the generation, or null. */
  idOf(generation: number): string | null {
    return this.#byGeneration.get(generation) ?? null;
  }

  /** The generations of the tenant's import, ascending; null if the tenant has no such import. */
  generationsOf(id: string, tenant: string): readonly number[] | null {
    const known = this.#imports.get(id);
    return known?.tenant === tenant ? known.generations : null;
  }

  /** All imports, in the order of their first writes. */
  saved(): KnownImport[] {
    return Array.from(this.#imports, ([id, { tenant, generations }]) => ({
      id,
      tenant,
      generations: [...generations],
    }));
  }

  /** Restores a saved import. */
  restore({ id, tenant, generations }: KnownImport): void {
    this.note(id, tenant, null);
    for (const generation of generations) this.note(id, tenant, generation);
  }
}
