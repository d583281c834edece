/** The scopes of one tenant as numbers and back; 0 is "without scope". A number is never reused. */
export class ScopeNames {
  readonly #names: (string | null)[] = [null];
  readonly #numbers = new Map<string, number>();

  /** By number. Grows when a scope is first named. */
  get names(): readonly (string | null)[] {
    return this.#names;
  }

  /** The number of the scope; -1 if it was never named. */
  numberOf(scope: string | null): number {
    return scope === null ? 0 : (this.#numbers.get(scope) ?? -1);
  }

  /** The number of the scope; assigns one if it is new. */
  intern(scope: string | null): number {
    if (scope === null) return 0;
    let number = this.#numbers.get(scope);
    if (number === undefined) {
      number = this.#names.length;
      this.#names.push(scope);
      this.#numbers.set(scope, number);
    }
    return number;
  }
}
