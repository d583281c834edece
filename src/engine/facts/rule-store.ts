import type { Rule } from '../contract/language.ts';

/**
 * The rules of one database, in the order of their creation.
 *
 * `version` moves with every change that evaluation can notice, so that whatever was compiled from the rules knows
 * when it is out of date. A rule object is replaced, never changed.
 */
export interface KeptRule {
  readonly id: string;
  readonly rule: Rule;
  /** The rule as text, as answers and proofs show it. */
  readonly text: string;
  /** Equal for rules that are the same up to renaming of variables. */
  readonly identity: string;
  readonly scope: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly createdAt: number;
}

export class RuleStore {
  version = 0;
  readonly #byId = new Map<string, KeptRule>();
  readonly #byIdentity = new Map<string, string>();

  get size(): number {
    return this.#byId.size;
  }

  /** All rules, the first created first. */
  all(): KeptRule[] {
    return [...this.#byId.values()];
  }

  get(id: string): KeptRule | null {
    return this.#byId.get(id) ?? null;
  }

  /** The rule that is the same as this one: same head, body and scope. */
  same(identity: string, scope: string | null): KeptRule | null {
    const id = this.#byIdentity.get(identityInScope(identity, scope));
    return id === undefined ? null : this.get(id);
  }

  /** Adds a rule, or puts it in the place of the one with its id. */
  put(rule: KeptRule): void {
    const old = this.#byId.get(rule.id);
    if (old !== undefined) this.#byIdentity.delete(identityInScope(old.identity, old.scope));
    this.#byId.set(rule.id, rule);
    this.#byIdentity.set(identityInScope(rule.identity, rule.scope), rule.id);
    if (
      old === undefined ||
      old.rule !== rule.rule ||
      old.scope !== rule.scope ||
      old.enabled !== rule.enabled
    )
      this.version++;
  }

  remove(rule: KeptRule): void {
    this.#byId.delete(rule.id);
    this.#byIdentity.delete(identityInScope(rule.identity, rule.scope));
    this.version++;
  }
}

function identityInScope(identity: string, scope: string | null): string {
  return scope === null ? `-${identity}` : `+${scope.length}:${scope}${identity}`;
}
