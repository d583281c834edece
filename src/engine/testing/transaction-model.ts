/**
 * Transactions in the simplest way: the contents of a database, the writes of each transaction, and the outcome of a
 * commit. The random tests of transactions compare the engine with it; the naive model derives what follows from the
 * facts.
 */
import { ruleIdentity } from '../language/print.ts';
import { negativeCycles } from '../language/stratify.ts';
import { factIdentity } from './generators.ts';
import type { Knowledge, ModelFact, ModelRule } from './naive-model.ts';

/** The asserted fields of a fact: a bound or metadata not given stays unchanged. */
export interface Assertion {
  readonly of: ModelFact;
  readonly validFrom?: number | 'always';
  readonly validUntil?: number | 'never';
  readonly metadata?: string;
}

export type RuleWrite =
  | { readonly kind: 'teach'; readonly rule: ModelRule }
  | { readonly kind: 'enable'; readonly id: string; readonly enabled: boolean }
  | { readonly kind: 'forget'; readonly id: string };

export type HeldFact = ModelFact & { readonly metadata: string };
type HeldRule = ModelRule & { readonly id: string };

/** Facts and rules at one time. */
export class Contents {
  readonly facts: Map<string, HeldFact>;
  rules: HeldRule[];
  time: number;

  constructor(from: { facts: Iterable<[string, HeldFact]>; rules: readonly HeldRule[]; time: number }) {
    this.facts = new Map(from.facts);
    this.rules = [...from.rules];
    this.time = from.time;
  }

  copy(): Contents {
    return new Contents(this);
  }

  knowledge(): Knowledge {
    return { facts: [...this.facts.values()], rules: this.rules, time: this.time };
  }

  stored(of: ModelFact): HeldFact | null {
    const held = this.facts.get(factIdentity(of));
    return held === undefined || (held.validUntil ?? Number.POSITIVE_INFINITY) <= this.time ? null : held;
  }

  /** The resulting fact; null if its validity would end before it begins. */
  after(assertion: Assertion): HeldFact | null {
    const fact = this.merged(assertion);
    const { validFrom, validUntil } = fact;
    return validFrom !== null && validUntil !== null && validUntil <= validFrom ? null : fact;
  }

  /** The fact with the given fields, and its own for the others. */
  merged({ of, validFrom, validUntil, metadata }: Assertion): HeldFact {
    const kept = this.stored(of);
    const bound = (given: number | string | undefined, other: number | null | undefined): number | null =>
      given === undefined ? (other ?? null) : typeof given === 'number' ? given : null;
    return {
      ...of,
      validFrom: bound(validFrom, kept?.validFrom),
      validUntil: bound(validUntil, kept?.validUntil),
      metadata: metadata ?? kept?.metadata ?? '',
    };
  }

  /** True if that is a change. */
  assert(assertion: Assertion): boolean {
    const kept = this.stored(assertion.of);
    const now = this.after(assertion);
    if (now === null) throw new Error('a refused fact is not asserted');
    const isSame =
      kept !== null &&
      kept.validFrom === now.validFrom &&
      kept.validUntil === now.validUntil &&
      kept.metadata === now.metadata;
    if (!isSame) this.facts.set(factIdentity(now), now);
    return !isSame;
  }

  retract(of: ModelFact): boolean {
    if (this.stored(of) === null) return false;
    return this.facts.delete(factIdentity(of));
  }

  same({ rule, scope }: ModelRule): HeldRule | null {
    const key = ruleKey(rule, scope);
    return this.rules.find((each) => ruleKey(each.rule, each.scope) === key) ?? null;
  }

  /** The rules that it changes, null if it is refused because it would make a cycle. A new rule gets the id. */
  writeRule(write: RuleWrite, id: string): HeldRule[] | null {
    if (write.kind === 'teach') {
      const same = this.same(write.rule);
      if (same !== null) return this.#enable(same, write.rule.enabled);
      const next = [...this.rules, { ...write.rule, id }];
      if (negativeCycles(next).length > 0) return null;
      this.rules = next;
      return next.slice(-1);
    }
    const kept = this.rules.find((each) => each.id === write.id);
    if (kept === undefined) return [];
    if (write.kind === 'enable') return this.#enable(kept, write.enabled);
    this.rules = this.rules.filter((each) => each !== kept);
    return [kept];
  }

  #enable(kept: HeldRule, enabled: boolean): HeldRule[] {
    if (kept.enabled === enabled) return [];
    this.rules = this.rules.map((each) => (each === kept ? { ...kept, enabled } : each));
    return [kept];
  }
}

function ruleKey(rule: ModelRule['rule'], scope: string | null): string {
  return JSON.stringify([scope, ruleIdentity(rule)]);
}

interface Net {
  readonly of: ModelFact;
  isRetracted: boolean;
  asserted: Assertion | null;
}

export interface ModelTransaction {
  readonly begun: number;
  readonly net: Map<string, Net>;
  readonly rules: RuleWrite[];
  operations: number;
}

export type CommitOutcome =
  | { readonly status: 'committed'; readonly generation: number }
  | { readonly status: 409 | 422 };

/** A database with the generations in which its facts and rules last changed. */
export class ModelDatabase {
  contents = new Contents({ facts: [], rules: [], time: 0 });
  generation = 0;
  readonly #changed = new Map<string, number>();

  begin(): ModelTransaction {
    return { begun: this.generation, net: new Map(), rules: [], operations: 0 };
  }

  /** The transaction's view; null if its rules conflict with those committed since. */
  seenBy({ net, rules }: ModelTransaction): Contents | null {
    const seen = this.contents.copy();
    for (const { of, isRetracted, asserted } of net.values()) {
      if (isRetracted) seen.retract(of);
      if (asserted === null) continue;
      // Another write may have moved the other bound meanwhile: then it is never valid, and the commit is refused.
      seen.facts.set(factIdentity(of), seen.merged(asserted));
    }
    let written = 0;
    for (const write of rules) {
      if (write.kind !== 'teach' && !seen.rules.some(({ id }) => id === write.id)) continue;
      if (seen.writeRule(write, `pending-${++written}`) === null) return null;
    }
    return seen;
  }

  /** Records the assertion of a transaction that sees these contents. */
  assertIn({ net }: ModelTransaction, assertion: Assertion, time: number): void {
    const key = factIdentity(assertion.of);
    const known = net.get(key);
    if (known === undefined) net.set(key, { of: assertion.of, isRetracted: false, asserted: assertion });
    else if (known.asserted === null) known.asserted = assertion;
    else if (typeof known.asserted.validUntil === 'number' && known.asserted.validUntil <= time) {
      known.isRetracted = true;
      known.asserted = assertion;
    } else known.asserted = { ...known.asserted, ...assertion };
  }

  retractIn({ net }: ModelTransaction, of: ModelFact): void {
    const key = factIdentity(of);
    const known = net.get(key);
    if (known === undefined) net.set(key, { of, isRetracted: true, asserted: null });
    else Object.assign(known, { isRetracted: true, asserted: null });
  }

  commit(transaction: ModelTransaction): CommitOutcome {
    const { net, rules, begun } = transaction;
    for (const each of net.values()) if (this.#standsAgainst(each, begun)) return { status: 409 };
    for (const write of rules) if (this.#ruleStandsAgainst(write, begun)) return { status: 409 };
    const next = this.contents.copy();
    const generation = this.generation + 1;
    const changed: string[] = [];
    for (const { of, isRetracted, asserted } of net.values()) {
      const wentAway = isRetracted && next.retract(of);
      const came = asserted !== null && next.assert(asserted);
      if (wentAway || came) changed.push(factIdentity(of));
    }
    let taught = 0;
    for (const write of rules) {
      const id = taught === 0 ? `r${generation}` : `r${generation}-${taught}`;
      const touched = next.writeRule(write, id);
      if (touched === null) return { status: 422 };
      if (touched.some((each) => each.id === id)) taught++;
      for (const each of touched) changed.push(`#${each.id}`, ruleKey(each.rule, each.scope));
    }
    this.contents = next;
    this.#note(changed);
    return { status: 'committed', generation: this.generation };
  }

  /** A write outside of transactions: the facts and rules that it changes are recorded. */
  write(act: (contents: Contents, id: string) => readonly (ModelFact | ModelRule)[]): void {
    const changed = act(this.contents, `r${this.generation + 1}`);
    this.#note(
      changed.flatMap((each) =>
        'predicate' in each ? [factIdentity(each)] : [`#${each.id}`, ruleKey(each.rule, each.scope)],
      ),
    );
  }

  #note(changed: readonly string[]): void {
    if (changed.length === 0) return;
    this.generation++;
    for (const key of changed) this.#changed.set(key, this.generation);
  }

  #standsAgainst({ of, isRetracted, asserted }: Net, begun: number): boolean {
    if ((this.#changed.get(factIdentity(of)) ?? 0) <= begun) return false;
    if (isRetracted || asserted === null) return true;
    const trial = this.contents.copy();
    return trial.stored(of) === null || trial.after(asserted) === null || trial.assert(asserted);
  }

  #ruleStandsAgainst(write: RuleWrite, begun: number): boolean {
    if (write.kind !== 'teach') return (this.#changed.get(`#${write.id}`) ?? 0) > begun;
    const { rule, scope, enabled } = write.rule;
    if ((this.#changed.get(ruleKey(rule, scope)) ?? 0) <= begun) return false;
    return this.contents.same(write.rule)?.enabled !== enabled;
  }
}
