import type { DeclarationStore } from '../store/declaration-store.ts';
import {
  type Bounds,
  boundsAfter,
  type FactIdentity,
  type FactRow,
  type FactStore,
  type FactToStore,
  openBounds,
} from '../store/fact-store.ts';
import { bytesOfFact, bytesOfMetadata, bytesOfRow } from '../store/stored-amounts.ts';
import { ruleIdentity } from '../language/print.ts';
import { aliveOf, storedOf, summariesOf } from './apply-facts.ts';
import { collected } from './apply-scopes.ts';
import { declarationsAfter } from './apply-shape.ts';
import { holdersOf, judgeKey, type StrictKey, StrictKeys } from './key-rule.ts';
import { baseOfMerge, planMerge } from './merge-plan.ts';
import type { Operation, RuleOperation } from './operation.ts';
import { rowsInSlice } from './report.ts';
import { type DatabaseState, newTenant } from './state.ts';

/** What a write adds to what is stored; negative: it takes away more than it adds. */
export interface Growth {
  readonly facts: number;
  /** As `StoredAmounts` counts them. */
  readonly bytes: number;
  /** Characters of the rules that it adds. Quotas do not count rules, but rules take memory. */
  readonly rules: number;
}

/** The operations that can add to what is stored. */
export type GrowingOperation = Extract<
  Operation,
  {
    kind: 'assert' | 'commit' | 'forkScope' | 'mergeScopes' | 'consolidate' | 'restore' | 'teach';
  }
>;

const growingKinds: ReadonlySet<Operation['kind']> = new Set([
  'assert',
  'commit',
  'forkScope',
  'mergeScopes',
  'consolidate',
  'restore',
  'teach',
] satisfies GrowingOperation['kind'][]);

/** True if the operation can add to what is stored. */
export function canGrow(operation: Operation): operation is GrowingOperation {
  return growingKinds.has(operation.kind);
}

/** What the operation would add to the database if it were applied now, in slices. */
export function* growthBy(
  database: DatabaseState,
  operation: GrowingOperation,
  time: number,
): Generator<'more', Growth, undefined> {
  if (operation.kind === 'teach') return { facts: 0, bytes: 0, rules: addedBy([operation], database) };
  const { facts } = database.tenants.get(operation.tenant) ?? newTenant(time);
  const count = new GrowthCount(facts, time, keysFor(database, operation));
  switch (operation.kind) {
    case 'assert':
      yield* count.storeAll(operation.facts);
      break;
    case 'commit':
      yield* count.retractAll(storedOf(facts, operation, time));
      yield* count.storeAll(operation.assert);
      break;
    case 'consolidate':
      yield* count.retractAll(aliveOf(facts, operation.retract));
      yield* count.storeAll(summariesOf(operation));
      break;
    case 'restore':
      yield* count.retractAll(aliveOf(facts, [operation.summary]));
      yield* count.storeAll(operation.facts);
      break;
    case 'forkScope': {
      const source = facts.scopeNumber(operation.source);
      const rows = yield* collected(facts, source, database.generationOf(operation.tenant), time);
      // The target has no facts.
      yield* count.copyAll(rows);
      break;
    }
    case 'mergeScopes': {
      const moment = { generation: database.generationOf(operation.tenant), time };
      const plan = yield* planMerge(
        facts,
        operation,
        baseOfMerge(facts, operation, moment),
        moment,
        database.declarations,
      );
      yield* count.storeAll(inScope(facts, plan.stored, operation.target));
      yield* count.retractAll(plan.retracted);
    }
  }
  const rules = operation.kind === 'commit' ? addedBy(operation.rules, database) : 0;
  return { facts: count.facts, bytes: count.bytes, rules };
}

/** The keys by which the facts of the operation supersede others. */
function keysFor({ declarations }: DatabaseState, operation: GrowingOperation): StrictKeys | null {
  if (operation.kind === 'assert') return StrictKeys.of(declarations);
  if (operation.kind !== 'commit' || operation.isExact === true) return null;
  return StrictKeys.of(declarationsAfter({ declarations }, operation.shape ?? []));
}

/**
 * How many of the facts, from the first on, can be stored so that `fits` accepts what they add. `declarations`: with the keys
 * by which they supersede others.
 */
export function* fittingFacts(
  facts: FactStore,
  declarations: DeclarationStore,
  time: number,
  wanted: Iterable<FactToStore>,
  fits: (growth: Growth) => boolean,
): Generator<'more', number, undefined> {
  const count = new GrowthCount(facts, time, StrictKeys.of(declarations));
  let at = 0;
  for (const fact of wanted) {
    if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
    yield* count.store(fact);
    if (!fits({ facts: count.facts, bytes: count.bytes, rules: 0 })) return at;
    at++;
  }
  return at;
}

/** A fact that holds a value of a key. */
interface Holder extends Bounds {
  readonly fact: FactIdentity;
}

/** Counts what a sequence of writes to one tenant adds. */
export class GrowthCount {
  facts = 0;
  bytes = 0;
  readonly #store: FactStore;
  readonly #time: number;
  /** Bytes of the metadata of what these writes changed, by identity; null: retracted. */
  readonly #changed = new Map<string, number | null>();
  #keys: StrictKeys | null = null;
  /** The facts that hold a value of a key, by the value, as these writes leave them. */
  readonly #holders = new Map<string, Holder[]>();

  /** `keys`: by which facts supersede others; null: none do. */
  constructor(store: FactStore, time: number, keys: StrictKeys | null) {
    this.#store = store;
    this.#time = time;
    this.useKeys(keys);
  }

  /** For the facts from now on; see the constructor. */
  useKeys(keys: StrictKeys | null): void {
    this.#keys = keys?.isEmpty === true ? null : keys;
  }

  *storeAll(facts: Iterable<FactToStore>): Generator<'more', void, undefined> {
    let count = 0;
    for (const fact of facts) {
      if (++count % rowsInSlice === 0) yield 'more';
      yield* this.store(fact);
    }
  }

  *retractAll(rows: Iterable<FactRow | null>): Generator<'more', void, undefined> {
    let count = 0;
    for (const row of rows) {
      if (++count % rowsInSlice === 0) yield 'more';
      if (row !== null && this.#store.isStored(row, this.#time)) this.#retract(row);
    }
  }

  /** Counts copies of these rows in a scope that has none of them. */
  *copyAll(rows: readonly FactRow[]): Generator<'more', void, undefined> {
    for (const [at, row] of rows.entries()) {
      if (at % rowsInSlice === rowsInSlice - 1) yield 'more';
      this.facts++;
      this.bytes += bytesOfRow(this.#store, row);
    }
  }

  *store(fact: FactToStore): Generator<'more', void, undefined> {
    const key = this.#keys?.keyOf(fact) ?? null;
    this.#put(key?.onConflict === 'supersede' ? yield* this.#superseding(fact, key) : fact);
  }

  /** Counts what the fact supersedes, as `KeyedFacts` does it; returns the fact with its beginning. */
  *#superseding(fact: FactToStore, key: StrictKey): Generator<'more', FactToStore, undefined> {
    const value = JSON.stringify([
      fact.predicate,
      fact.args.length,
      fact.scope,
      key.positions,
      ...key.positions.map((position) => fact.args[position]),
    ]);
    const holders = this.#holders.get(value) ?? (yield* this.#stillStored(fact, key));
    const same = holders.find((each) => keyOf(each.fact) === keyOf(fact)) ?? null;
    const rivals = holders.filter((each) => each !== same);
    const judgement = judgeKey(fact, same, rivals, 'supersede', this.#time);
    const begins =
      judgement.kind === 'supersedes' && same === null
        ? { ...fact, validFrom: Number.isFinite(judgement.from) ? judgement.from : ('always' as const) }
        : fact;
    const bounds = boundsAfter(begins, same ?? openBounds);
    let left = rivals;
    if (judgement.kind === 'supersedes') {
      const { from, ended, retracted } = judgement;
      for (const { fact: other } of ended) this.#put({ ...other, validUntil: from });
      for (const { fact: other } of retracted) this.#put({ ...other, validUntil: this.#time });
      left = rivals
        .filter((each) => !retracted.includes(each))
        .map((each) => (ended.includes(each) ? { ...each, until: from } : each))
        .filter(({ until }) => until > this.#time);
    }
    if (bounds.until > this.#time)
      left.push({
        fact: { predicate: fact.predicate, args: fact.args, truthVal: true, scope: fact.scope },
        ...bounds,
      });
    this.#holders.set(value, left);
    return begins;
  }

  /** The stored facts with the fact's value of the key, without those that these writes have taken away. */
  *#stillStored(fact: FactToStore, key: StrictKey): Generator<'more', Holder[], undefined> {
    const relation = this.#store.relation(fact.predicate, fact.args.length, false);
    const { same, rivals } = yield* holdersOf(this.#store, fact, key, this.#time);
    if (relation === null) return [];
    return [...rivals, ...(same === null ? [] : [same])]
      .sort((left, right) => left.row - right.row)
      .map(({ row, from, until }) => ({ fact: this.#store.identityOf({ relation, row }), from, until }))
      .filter(({ fact: held }) => this.#changed.get(keyOf(held)) !== null);
  }

  #put(fact: FactToStore): void {
    const key = keyOf(fact);
    const changed = this.#changed.get(key);
    // In all of these, null: not stored.
    const before = changed === undefined ? this.#storedMetadata(fact) : changed;
    const hasEnded = typeof fact.validUntil === 'number' && fact.validUntil <= this.#time;
    const kept = fact.metadata === undefined ? (before ?? 0) : bytesOfMetadata(fact.metadata);
    const after = hasEnded ? null : kept;
    const atom = bytesOfFact(fact);
    this.facts += (after === null ? 0 : 1) - (before === null ? 0 : 1);
    this.bytes += (after === null ? 0 : atom + after) - (before === null ? 0 : atom + before);
    this.#changed.set(key, after);
  }

  #retract(row: FactRow): void {
    const key = keyOf(this.#store.identityOf(row));
    if (this.#changed.get(key) === null) return;
    this.#changed.set(key, null);
    this.facts--;
    this.bytes -= bytesOfRow(this.#store, row);
  }

  /** The bytes of the metadata of the fact; null: it is not stored. */
  #storedMetadata({ predicate, args, truthVal, scope }: FactToStore): number | null {
    const known = this.#store.find(predicate, args, truthVal, scope);
    if (known === null || !this.#store.isStored(known, this.#time)) return null;
    return bytesOfMetadata(this.#store.metadataOf(known));
  }
}

function keyOf({ predicate, args, truthVal, scope }: Omit<FactToStore, 'metadata'>): string {
  return JSON.stringify([predicate, truthVal, scope, ...args]);
}

/** The facts as they are stored in the scope. */
function* inScope(
  facts: FactStore,
  stored: readonly {
    readonly fact: FactRow;
    readonly version: { readonly metadata: FactToStore['metadata'] | null };
  }[],
  scope: string | null,
): Generator<FactToStore> {
  for (const { fact, version } of stored)
    yield { ...facts.identityOf(fact), scope, metadata: version.metadata ?? {} };
}

/** Characters of the rules that are taught and not known yet. */
function addedBy(operations: readonly RuleOperation[], { rules }: DatabaseState): number {
  let characters = 0;
  for (const operation of operations) {
    if (operation.kind !== 'teach' || operation.rule.rule === null) continue;
    const { rule, scope } = operation.rule;
    if (rules.same(ruleIdentity(rule), scope) === null) characters += JSON.stringify(rule).length;
  }
  return characters;
}
