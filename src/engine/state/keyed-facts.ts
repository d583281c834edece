import { renderIdentity } from '../language/print.ts';
import type { LogRecord } from '../log/codec.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { FactBlock, type FactFrame, type FactsToStore } from '../store/fact-block.ts';
import { type FactRange, storeAll, type StoreSink } from '../store/fact-load.ts';
import type { FactRow, FactStore, FactToStore, StoreOutcome } from '../store/fact-store.ts';
import { tupleAt } from '../store/tuples.ts';
import { holdersOf, judgeKey, type StoredHolder, StrictKeys } from './key-rule.ts';
import type { Draft } from './report.ts';
import type { TenantState } from './state.ts';

/** Superseded facts that an answer lists. */
const maxSupersededListed = 100;

/**
 * Stores facts in the next generation, and ends or retracts those that they supersede by a declared key. What a key
 * refuses was refused before it was logged, so here a conflict is stored as it is.
 */
export class KeyedFacts {
  readonly #facts: FactStore;
  readonly #tenant: TenantState;
  readonly #keys: StrictKeys;
  readonly #generation: number;
  readonly #time: number;
  readonly #draft: Draft;
  /** Numbers of facts. */
  readonly #retracted: number[] = [];

  constructor(
    generation: number,
    declarations: DeclarationStore,
    tenant: TenantState,
    { time }: Pick<LogRecord, 'time'>,
    draft: Draft,
  ) {
    this.#facts = tenant.facts;
    this.#tenant = tenant;
    this.#keys = StrictKeys.of(declarations);
    this.#generation = generation;
    this.#time = time;
    this.#draft = draft;
  }

  /** True if no key can supersede anything for this fact. */
  isFree(fact: FactToStore): boolean {
    return this.#keys.keyOf(fact)?.onConflict !== 'supersede';
  }

  /** Stores a range of the facts in order. Where a key may supersede facts, those of its relation are stored one by one. */
  *storeAll(
    facts: FactsToStore,
    { from, end }: FactRange,
    sink: StoreSink,
  ): Generator<'more', void, undefined> {
    const write = { store: this.#facts, generation: this.#generation, time: this.#time, sink };
    for (let at = from; at < end; ) {
      let free = at;
      if (this.#keys.isEmpty) free = end;
      else if (facts instanceof FactBlock) free = this.#endOfFree(facts, at, end);
      else while (free < end && this.isFree(facts[free] as FactToStore)) free++;
      if (free > at) storeAll(write, facts, { from: at, end: free });
      else sink.stored(yield* this.store(facts.at(free++) as FactToStore));
      at = free;
    }
  }

  /** The end of the facts from `at` on for which no key can supersede anything. */
  #endOfFree(block: FactBlock, at: number, end: number): number {
    let free: FactFrame | null = null;
    for (let index = at; index < end; index++) {
      const frame = block.frameAt(index);
      if (frame === free) continue;
      if (this.#keys.keyIn(frame)?.onConflict === 'supersede') return index;
      free = frame;
    }
    return end;
  }

  /** Stores the fact after what it supersedes. */
  *store(fact: FactToStore): Generator<'more', StoreOutcome, undefined> {
    const key = this.#keys.keyOf(fact);
    if (key?.onConflict !== 'supersede') return this.#stored(fact);
    const { same, rivals } = yield* holdersOf(this.#facts, fact, key, this.#time);
    const judgement = judgeKey(fact, same, rivals, 'supersede', this.#time);
    if (judgement.kind !== 'supersedes') return this.#stored(fact);
    const { from, ended, retracted } = judgement;
    for (const holder of ended) this.#end(fact, holder, from);
    for (const holder of retracted) this.#retract(fact, holder, from);
    return this.#stored(
      same === null ? { ...fact, validFrom: Number.isFinite(from) ? from : 'always' } : fact,
    );
  }

  /** Forgets the uses of what was retracted. Call it when the generation is published. */
  show(): void {
    this.#tenant.uses.drop(this.#retracted);
  }

  #stored(fact: FactToStore): StoreOutcome {
    return this.#facts.store(fact, this.#generation, this.#time);
  }

  #end(by: FactToStore, holder: StoredHolder, until: number): void {
    const fact = this.#rowOf(by, holder);
    const { relation, row } = fact;
    this.#list(fact, until, false);
    const identity = tupleAt(relation, row, new Int32Array(relation.arity + 1));
    const version = { ...this.#facts.versionAt(fact), until };
    this.#draft.changes.add(
      'fact.superseded',
      this.#facts.put(relation, identity, version, this.#generation, this.#time),
    );
  }

  #retract(by: FactToStore, holder: StoredHolder, until: number): void {
    const fact = this.#rowOf(by, holder);
    this.#list(fact, until, true);
    this.#facts.retract(fact, this.#generation);
    this.#retracted.push(fact.relation.number[fact.row] as number);
    this.#draft.changes.add('fact.superseded', fact);
  }

  #rowOf({ predicate, args }: FactToStore, { row }: StoredHolder): FactRow {
    const relation = this.#facts.relation(predicate, args.length, false);
    if (relation === null) throw new Error('assertion failed: what is superseded has a relation');
    return { relation, row };
  }

  #list(fact: FactRow, until: number, retracted: boolean): void {
    this.#draft.supersededCount++;
    if (this.#draft.superseded.length >= maxSupersededListed) return;
    this.#draft.superseded.push({
      id: this.#facts.idOf(fact),
      atom: renderIdentity(this.#facts.identityOf(fact)),
      validUntil: Number.isFinite(until) ? until : null,
      ...(retracted ? { retracted } : {}),
    });
  }
}
