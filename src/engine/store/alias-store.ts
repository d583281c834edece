/** Another name of an entity. Both are constants. */
export interface AliasRecord {
  readonly entity: string;
  readonly alias: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** The aliases of one tenant. An alias belongs to one entity; an entity may have many. */
export class AliasStore {
  /** Incremented by every change. */
  version = 0;
  readonly #byAlias = new TextMap<AliasRecord>();
  readonly #byEntity = new TextMap<Set<string>>();

  get size(): number {
    return this.#byAlias.size;
  }

  /** All aliases, in order of creation. */
  all(): AliasRecord[] {
    return [...this.#byAlias.values()];
  }

  /** The record of an alias; null: it is none. */
  get(alias: string): AliasRecord | null {
    return this.#byAlias.get(alias) ?? null;
  }

  /** The aliases of the entity, in order of creation. */
  of(entity: string): string[] {
    return [...(this.#byEntity.get(entity) ?? [])];
  }

  /** Adds an alias that is of no entity yet. */
  add(record: AliasRecord): void {
    this.#byAlias.set(record.alias, record);
    let aliases = this.#byEntity.get(record.entity);
    if (aliases === undefined) this.#byEntity.set(record.entity, (aliases = new Set()));
    aliases.add(record.alias);
    this.version++;
  }

  remove({ entity, alias }: AliasRecord): void {
    this.#byAlias.delete(alias);
    const aliases = this.#byEntity.get(entity);
    aliases?.delete(alias);
    if (aliases?.size === 0) this.#byEntity.delete(entity);
    this.version++;
  }
}
import { TextMap } from '../base/text-map.ts';

/** The entity that a name stands for, and all its aliases. */
export function namesOfEntity(aliases: AliasStore, name: string): string[] {
  const entity = aliases.get(name)?.entity ?? name;
  return [entity, ...aliases.of(entity)];
}
