import type { Rule } from '../contract/language.ts';
import { dependenciesOf } from '../language/stratify.ts';
import { traitsOf } from '../language/rule-traits.ts';
import { atomsOf, relationOf } from '../language/terms.ts';
import { RelationNames } from './relation-names.ts';
import { RuleGraph } from './rule-graph.ts';

/** One rule of a database. Replaced when it changes, never mutated. */
export interface RuleRecord {
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
  /** The generation that last changed it. */
  readonly changedIn: number;
}

/**
 * The rules of one database, in order of creation.
 *
 * `version` is incremented by every change that can affect evaluation, so that whatever was compiled from the
 * rules knows when it is out of date.
 */
export class RuleStore {
  version = 0;
  readonly #byId = new Map<string, RuleRecord>();
  readonly #byIdentity = new Map<string, string>();
  /**
   * Rules by the relation they conclude, and by the relations they read; of every scope, including disabled
   * ones.
   */
  readonly #concluding = new Map<string, Set<RuleRecord>>();
  readonly #reading = new Map<string, Set<RuleRecord>>();
  /** Made on first use; may still contain rules that were removed since. */
  #graph: RuleGraph | null = null;
  #hasGone = false;
  /** Made on first use. */
  #names: RelationNames | null = null;

  get size(): number {
    return this.#byId.size;
  }

  /** All rules, in order of creation. */
  all(): RuleRecord[] {
    return [...this.#byId.values()];
  }

  /** The names of the relations that rules conclude or read, of every scope, including disabled rules. */
  get names(): RelationNames {
    if (this.#names === null) {
      this.#names = new RelationNames();
      for (const { rule } of this.#byId.values())
        for (const { predicate, args } of atomsOf(rule)) this.#names.add(predicate, args.length);
    }
    return this.#names;
  }

  get(id: string): RuleRecord | null {
    return this.#byId.get(id) ?? null;
  }

  /** A copy that can be changed independently. */
  copy(): RuleStore {
    const copy = new RuleStore();
    copy.version = this.version;
    for (const [id, rule] of this.#byId) copy.#byId.set(id, rule);
    for (const [identity, id] of this.#byIdentity) copy.#byIdentity.set(identity, id);
    for (const [relation, rules] of this.#concluding) copy.#concluding.set(relation, new Set(rules));
    for (const [relation, rules] of this.#reading) copy.#reading.set(relation, new Set(rules));
    return copy;
  }

  /** The rule that equals this one: same head, body and scope. */
  same(identity: string, scope: string | null): RuleRecord | null {
    const id = this.#byIdentity.get(identityInScope(identity, scope));
    return id === undefined ? null : this.get(id);
  }

  /** Adds a rule, or replaces the one with its id. */
  put(rule: RuleRecord): void {
    const old = this.#byId.get(rule.id);
    if (old !== undefined) {
      this.#byIdentity.delete(identityInScope(old.identity, old.scope));
      this.#unlist(old);
    }
    this.#list(rule);
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

  remove(rule: RuleRecord): void {
    const kept = this.#byId.get(rule.id);
    if (kept !== undefined) this.#unlist(kept);
    this.#byId.delete(rule.id);
    this.#byIdentity.delete(identityInScope(rule.identity, rule.scope));
    this.version++;
  }

  /**
   * True if it is certain that adding the rule makes no cycle through default negation or an aggregate, in
   * any scope; otherwise the rules `around` it must be checked.
   */
  surelyFits(rule: Rule): boolean {
    const head = relationOf(rule.head);
    const read = dependenciesOf(rule.body);
    if (this.#graph?.fits(head, read) === true) return true;
    if (this.#graph !== null && !this.#hasGone) return false;
    this.#graph = new RuleGraph();
    this.#hasGone = false;
    for (const kept of this.#byId.values())
      this.#graph.add(relationOf(kept.rule.head), dependenciesOf(kept.rule.body));
    return this.#graph.fits(head, read);
  }

  /**
   * The rules on a cycle with a rule that concludes `head` from the relations `read`: they conclude what
   * those depend on and what depends on `head`. Empty if that rule makes no cycle.
   */
  around(head: string, read: readonly string[]): RuleRecord[] {
    if (!this.#restOn(read, head)) return [];
    const below = reachable(read, (relation) => this.#premisesOf(relation));
    const above = reachable([head], (relation) => this.#conclusionsFrom(relation));
    const found: RuleRecord[] = [];
    for (const relation of above)
      if (below.has(relation)) for (const rule of this.#concluding.get(relation) ?? []) found.push(rule);
    return found;
  }

  /** True if one of the relations is `head` or depends on it; a bidirectional search. */
  #restOn(relations: readonly string[], head: string): boolean {
    const down = { seen: new Set(relations), queue: [...relations] };
    const up = { seen: new Set([head]), queue: [head] };
    if (down.seen.has(head)) return true;
    while (down.queue.length > 0 && up.queue.length > 0) {
      const isDown = down.seen.size <= up.seen.size;
      const [side, other] = isDown ? [down, up] : [up, down];
      const next: string[] = [];
      for (const relation of side.queue)
        for (const each of isDown ? this.#premisesOf(relation) : this.#conclusionsFrom(relation)) {
          if (other.seen.has(each)) return true;
          if (side.seen.has(each)) continue;
          side.seen.add(each);
          next.push(each);
        }
      side.queue = next;
    }
    return false;
  }

  *#premisesOf(relation: string): Generator<string> {
    for (const { rule } of this.#concluding.get(relation) ?? [])
      for (const read of dependenciesOf(rule.body)) yield read.relation;
  }

  *#conclusionsFrom(relation: string): Generator<string> {
    for (const { rule } of this.#reading.get(relation) ?? []) yield relationOf(rule.head);
  }

  #list(rule: RuleRecord): void {
    const read = dependenciesOf(rule.rule.body);
    const { head } = traitsOf(rule.rule);
    listed(this.#concluding, head).add(rule);
    for (const { relation } of read) listed(this.#reading, relation).add(rule);
    this.#graph?.add(head, read);
    if (this.#names !== null)
      for (const { predicate, args } of atomsOf(rule.rule)) this.#names.add(predicate, args.length);
  }

  #unlist(rule: RuleRecord): void {
    this.#hasGone = true;
    this.#concluding.get(relationOf(rule.rule.head))?.delete(rule);
    for (const { relation } of dependenciesOf(rule.rule.body)) this.#reading.get(relation)?.delete(rule);
    if (this.#names !== null)
      for (const { predicate, args } of atomsOf(rule.rule)) this.#names.remove(predicate, args.length);
  }
}

function listed(rules: Map<string, Set<RuleRecord>>, relation: string): Set<RuleRecord> {
  let found = rules.get(relation);
  if (found === undefined) rules.set(relation, (found = new Set()));
  return found;
}

function reachable(from: readonly string[], next: (relation: string) => Iterable<string>): Set<string> {
  const found = new Set(from);
  for (const relation of found) for (const each of next(relation)) found.add(each);
  return found;
}

function identityInScope(identity: string, scope: string | null): string {
  return scope === null ? `-${identity}` : `+${scope.length}:${scope}${identity}`;
}
