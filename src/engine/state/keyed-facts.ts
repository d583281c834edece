import { renderIdentity } from '../language/print.ts';
import type { LogRecord } from '../log/codec.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { FactBlock, type FactFrame, type FactsToStore } from '../store/fact-block.ts';
import { type FactRange, storeAll, type StoreSink } from '../store/fact-load.ts';
import type { FactRow, FactStore, FactToStore, StoreOutcome } from '../store/fact-store.ts';
import { tupleAt } from '../store/tuples.ts';
import { claimHash, Claims, hasIds, hashOfFrame } from './key-claims.ts';
import { holdersOf, judgeKey, type StoredHolder, StrictKeys } from './key-rule.ts';
import type { Draft } from './report.ts';
import type { TenantState } from './state.ts';

/** Facts of a block that are looked at together at most. */
const maxTogether = 256;
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
  /** How many facts of a block are looked at together next. */
  #together = 1;
  /** See `#withBeginnings`; null: not asked for yet. */
  #begun: { readonly of: FactBlock; readonly block: FactBlock } | null = null;

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

  /**
   * Stores a range of the facts in order. Where a key may supersede facts, those of its relation that share a value of it
   * with others are stored one by one.
   */
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
      else if (facts instanceof FactBlock) {
        const run = yield* this.#unrivalled(facts, at, end);
        free = Math.max(at + 1, run.end);
        if (run.end > at) storeAll(write, run.block, { from: at, end: free });
        else sink.stored(yield* this.store(facts.at(at)));
      } else sink.stored(yield* this.store(facts[free++] as FactToStore));
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

  /**
   * Facts of one relation and scope from `at` on that supersede nothing, and in the order of the block can be stored together:
   * their values of the key differ, and none of them is stored, or each belongs to the fact itself, whose validity stays.
   * Those that are new begin now, if they give no beginning.
   */
  *#unrivalled(
    block: FactBlock,
    at: number,
    end: number,
  ): Generator<'more', { readonly end: number; readonly block: FactBlock }, undefined> {
    const frame = block.frameAt(at);
    const positions = this.#keys.keyIn(frame)?.positions ?? [];
    let last = at;
    const most = Math.min(end, at + this.#together);
    while (last < most && block.frameOf[last] === block.frameOf[at]) last++;
    const relation = this.#facts.relation(frame.predicate, frame.arity, false);
    const scope = this.#facts.scopeNumber(frame.scope);
    const index = scope < 0 ? undefined : relation?.keyIndex(positions);
    while (index?.takeIn(this.#time) === false) yield 'more';
    const first = block.firstText[at] as number;
    const ids = new Int32Array((block.firstText[last] as number) - first).fill(-1);
    if (index !== undefined) this.#facts.dictionary.findEncoded(block, first, first + ids.length, ids);
    const claims = new Claims(last - at);
    const hash = hashOfFrame(frame);
    let isNew = true;
    let fact = at;
    for (; fact < last; fact++) {
      const start = block.firstText[fact] as number;
      if (claims.claim(fact, claimHash(block, start, hash, positions, frame.arity)) >= 0) break;
      const own = ids.subarray(start - first, start - first + frame.arity);
      const values = positions.map((position) => own[position] as number);
      const rows = index === undefined || values.includes(-1) ? [] : index.rows(values, scope, this.#time);
      if (fact === at) isNew = rows.length === 0;
      if (isNew && rows.length === 0) continue;
      const [row] = rows;
      const isSame = rows.length === 1 && relation !== null && hasIds(relation, row as number, own);
      if (isNew || !isSame || block.extras?.hasValidity(fact) === true) break;
    }
    // Where facts have rivals, little is looked at in vain.
    this.#together = fact === at ? 1 : Math.min(maxTogether, this.#together * 2);
    return { end: fact, block: isNew ? this.#withBeginnings(block) : block };
  }

  /** The block, in which facts under a key that supersedes begin now, unless they give a beginning or have ended. */
  #withBeginnings(block: FactBlock): FactBlock {
    if (this.#begun?.of !== block) {
      const validFrom = new Float64Array(block.length).fill(Number.NaN);
      validFrom.set(block.extras?.validFrom ?? []);
      for (let index = 0; index < block.length; index++) {
        const until = block.extras?.validUntil?.[index] ?? Number.NaN;
        if (Number.isNaN(validFrom[index]) && !(until <= this.#time)) validFrom[index] = this.#time;
      }
      this.#begun = { of: block, block: block.beginning(validFrom) };
    }
    return this.#begun.block;
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
