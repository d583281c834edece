import type { Declaration } from '../contract/declarations.ts';
import { ArgumentNames } from '../language/argument-names.ts';

/** A declaration as stored. Replaced when it changes, never mutated. */
export interface DeclarationRecord extends Declaration {
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The generation that last changed it. */
  readonly changedIn: number;
}

/** The declarations of one database, at most one for each name and arity, in order of creation. */
export class DeclarationStore {
  /** Incremented by every change. */
  version = 0;
  readonly #byRelation = new Map<string, DeclarationRecord>();

  #names: ArgumentNames | null = null;

  /** The names of arguments that are declared now. */
  get names(): ArgumentNames {
    this.#names ??= new ArgumentNames(this.#byRelation.values());
    return this.#names;
  }

  get size(): number {
    return this.#byRelation.size;
  }

  /** All declarations, in order of creation. */
  all(): DeclarationRecord[] {
    return [...this.#byRelation.values()];
  }

  /** A copy that can be changed independently. */
  copy(): DeclarationStore {
    const copy = new DeclarationStore();
    copy.version = this.version;
    for (const declaration of this.#byRelation.values()) copy.put(declaration);
    return copy;
  }

  get(name: string, arity: number): DeclarationRecord | null {
    return this.#byRelation.get(declaredKey(name, arity)) ?? null;
  }

  /** Adds a declaration, or replaces that of its name and arity. */
  put(declaration: DeclarationRecord): void {
    this.#byRelation.set(declaredKey(declaration.name, declaration.arity), declaration);
    this.#names = null;
    this.version++;
  }

  remove({ name, arity }: Pick<Declaration, 'name' | 'arity'>): void {
    this.#byRelation.delete(declaredKey(name, arity));
    this.#names = null;
    this.version++;
  }
}

function declaredKey(name: string, arity: number): string {
  return `${arity}/${name}`;
}
