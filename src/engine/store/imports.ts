/**
 * Which generations of one database an import made: by them a fact knows the import that asserted it.
 *
 * An import belongs to a tenant and is many writes; a generation is made by at most one. An import is known from its
 * first write on, also where that changed nothing, and for good.
 */
export interface KnownImport {
  readonly id: string;
  readonly tenant: string;
  /** Those in which it changed something, ascending. */
  readonly generations: readonly number[];
}

export class Imports {
  readonly #imports = new Map<string, { readonly tenant: string; readonly generations: number[] }>();
  readonly #byGeneration = new Map<number, string>();

  /** Notes a write of the import; `generation` is null where it changed nothing. */
  note(id: string, tenant: string, generation: number | null): void {
    let known = this.#imports.get(id);
    if (known === undefined) this.#imports.set(id, (known = { tenant, generations: [] }));
    if (generation === null) return;
    known.generations.push(generation);
    this.#byGeneration.set(generation, id);
  }

  /** The import that made the generation; null: none did. */
  idOf(generation: number): string | null {
    return this.#byGeneration.get(generation) ?? null;
  }

  /** The generations of the tenant's import, ascending; null where the tenant never had it. */
  generationsOf(id: string, tenant: string): readonly number[] | null {
    const known = this.#imports.get(id);
    return known?.tenant === tenant ? known.generations : null;
  }

  /** All of them as they are now, in the order of their first writes. */
  saved(): KnownImport[] {
    return Array.from(this.#imports, ([id, { tenant, generations }]) => ({
      id,
      tenant,
      generations: [...generations],
    }));
  }

  /** Notes what was saved. */
  restore({ id, tenant, generations }: KnownImport): void {
    this.note(id, tenant, null);
    for (const generation of generations) this.note(id, tenant, generation);
  }
}
