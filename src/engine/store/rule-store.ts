import type { Rule } from '../contract/language.ts';
import { dependenciesOf } from '../language/stratify.ts';
import { atomsOf, relationOf } from '../language/terms.ts';
import { RelationNames } from './relation-names.ts';
import { RuleGraph } from './rule-graph.ts';

/**
 * The rules of one database, in the order of their creation.
 *
 * `version` moves with every change that evaluation can notice, so that whatever was compiled from the rules knows
 * when it is out of date. A rule object is replaced, never changed.
 */
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

export class RuleStore {
  version = 0;
  readonly #byId = new Map<string, RuleRecord>();
  readonly #byIdentity = new Map<string, string>();
  /** Rules by the relation they conclude, and by the relations they read; of every scope, disabled ones too. */
  readonly #concluding = new Map<string, Set<RuleRecord>>();
  readonly #reading = new Map<string, Set<RuleRecord>>();
  /** Made when it is first asked; rules that have gone since may still be in it. */
  #graph: RuleGraph | null = null;
  #hasGone = false;
  /** Made when it is first asked for. */
  #names: RelationNames | null = null;

  get size(): number {
    return this.#byId.size;
  }

  /** All rules, the first created first. */
  all(): RuleRecord[] {
    return [...this.#byId.values()];
  }

  /** The names of the relations that rules conclude or read, of every scope, disabled rules too. */
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

  /** The same rules, to be changed apart from these. */
  copy(): RuleStore {
    const copy = new RuleStore();
    copy.version = this.version;
    for (const [id, rule] of this.#byId) copy.#byId.set(id, rule);
    for (const [identity, id] of this.#byIdentity) copy.#byIdentity.set(identity, id);
    for (const [relation, rules] of this.#concluding) copy.#concluding.set(relation, new Set(rules));
    for (const [relation, rules] of this.#reading) copy.#reading.set(relation, new Set(rules));
    return copy;
  }

  /** The rule that is the same as this one: same head, body and scope. */
  same(identity: string, scope: string | null): RuleRecord | null {
    const id = this.#byIdentity.get(identityInScope(identity, scope));
    return id === undefined ? null : this.get(id);
  }

  /** Adds a rule, or puts it in the place of the one with its id. */
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
   * True where it is certain that one rule more makes no cycle through default negation or an aggregate, in whatever
   * scope; where it is not, the rules `around` it have to be looked at.
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
   * The rules that stand on a cycle with a rule that concludes `head` from the relations `read`: they conclude what
   * those rest on and what rests on `head`. None where that rule makes no cycle.
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

  /** True where one of the relations is `head` or rests on it: looked for from both ends by turns. */
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
    listed(this.#concluding, relationOf(rule.rule.head)).add(rule);
    for (const { relation } of read) listed(this.#reading, relation).add(rule);
    this.#graph?.add(relationOf(rule.rule.head), read);
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
