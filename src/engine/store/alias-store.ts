import { TextMap } from '../base/text-map.ts';

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
  #byAlias = new TextMap<AliasRecord>();
  #byEntity = new TextMap<Set<string>>();

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

  /** Makes these the only aliases, in order of creation. */
  replace(records: readonly AliasRecord[]): void {
    this.#byAlias = new TextMap();
    this.#byEntity = new TextMap();
    this.version++;
    for (const record of records) this.add(record);
  }

  remove({ entity, alias }: AliasRecord): void {
    this.#byAlias.delete(alias);
    const aliases = this.#byEntity.get(entity);
    aliases?.delete(alias);
    if (aliases?.size === 0) this.#byEntity.delete(entity);
    this.version++;
  }
}

/** The aliases of a tenant with changes over them that are not applied: those of a transaction. */
export class AliasesOver {
  readonly #stored: AliasStore;
  /** By alias, its entity; null: it is none any more. */
  readonly #changed = new TextMap<string | null>();

  constructor(stored: AliasStore) {
    this.#stored = stored;
  }

  get size(): number {
    let size = this.#stored.size;
    for (const [alias, entity] of this.#changed)
      size += (entity === null ? 0 : 1) - (this.#stored.get(alias) === null ? 0 : 1);
    return size;
  }

  /** The entity of an alias; null: it is none. */
  get(alias: string): Pick<AliasRecord, 'entity'> | null {
    const changed = this.#changed.get(alias);
    if (changed === undefined) return this.#stored.get(alias);
    return changed === null ? null : { entity: changed };
  }

  /** The aliases of the entity. */
  of(entity: string): string[] {
    const aliases = this.#stored.of(entity).filter((alias) => this.#changed.get(alias) === undefined);
    for (const [alias, of] of this.#changed) if (of === entity) aliases.push(alias);
    return aliases;
  }

  /** Gives the alias to the entity, or takes it away from it. */
  change(kind: 'addAlias' | 'removeAlias', entity: string, alias: string): void {
    if (kind === 'addAlias') this.#changed.set(alias, entity);
    else if (this.get(alias)?.entity === entity) this.#changed.set(alias, null);
  }
}

/** The entity that a name stands for, and all its aliases. */
export function namesOfEntity(aliases: AliasStore, name: string): string[] {
  const entity = aliases.get(name)?.entity ?? name;
  return [entity, ...aliases.of(entity)];
}
