import type { Literal } from '../contract/language.ts';

/**
 * One constraint of a database: a body that must have no answer. Replaced when it changes, never mutated.
 *
 * Ids are `c12`, and `c12-1`, `c12-2`, … for further ones of one transaction.
 */
export interface ConstraintRecord {
  readonly id: string;
  readonly body: readonly Literal[];
  /** The constraint as text, `!- body`. */
  readonly text: string;
  readonly name: string;
  readonly description: string | null;
  readonly mode: 'warn' | 'reject';
  /** The view in which it is checked; null: the unscoped view and that of each scope. */
  readonly scope: string | null;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The generation that last changed it. */
  readonly changedIn: number;
}

/** The constraints of one database, in order of creation. */
export class ConstraintStore {
  /** Incremented by every change. */
  version = 0;
  readonly #byId = new Map<string, ConstraintRecord>();

  get size(): number {
    return this.#byId.size;
  }

  /** All constraints, in order of creation. */
  all(): ConstraintRecord[] {
    return [...this.#byId.values()];
  }

  get(id: string): ConstraintRecord | null {
    return this.#byId.get(id) ?? null;
  }

  /** A store of its own with the same constraints. */
  copy(): ConstraintStore {
    const copy = new ConstraintStore();
    for (const each of this.#byId.values()) copy.#byId.set(each.id, each);
    return copy;
  }

  /** Adds a constraint, or replaces the one with its id. */
  put(constraint: ConstraintRecord): void {
    this.#byId.set(constraint.id, constraint);
    this.version++;
  }

  remove(id: string): void {
    this.#byId.delete(id);
    this.version++;
  }
}
