import type { RunExtras } from './fact-extras.ts';
import { FactBlock, type FactsToStore } from './fact-block.ts';
import type { FactStore, StoreOutcome } from './fact-store.ts';
import { type FactToStore, isPlain } from './fact-to-store.ts';
import { maxBatch } from './hash-slots.ts';
import type { StoredRelation } from './stored-relation.ts';

/** Facts of a list from one index up to, not including, another. */
export interface FactRange {
  readonly from: number;
  readonly end: number;
}

/** What `storeAll` did, in order. */
export interface StoreSink {
  /** To one fact. */
  stored(outcome: StoreOutcome): void;
  /** It asserted so many facts, whose versions are consecutive rows from this one on. */
  asserted(relation: StoredRelation, row: number, count: number): void;
}

/** The write in which facts are stored. */
interface LoadingWrite {
  readonly store: FactStore;
  readonly generation: number;
  readonly time: number;
  readonly sink: StoreSink;
}

/**
 * `FactStore.store` for a range of the facts, in order and faster: the searches of a batch read together, and facts that
 * are new are appended as columns: of a list those that are plain, of a block all.
 */
export function storeAll(write: LoadingWrite, facts: FactsToStore, range: FactRange): void {
  if (facts instanceof FactBlock) storeBlock(write, facts, range);
  else storeList(write, facts, range);
}

function storeList(write: LoadingWrite, facts: readonly FactToStore[], { from, end }: FactRange): void {
  const { store } = write;
  const texts: string[] = [];
  for (let at = from; at < end; at++) for (const text of (facts[at] as FactToStore).args) texts.push(text);
  const ids = new Int32Array(texts.length);
  store.dictionary.internAll(texts, texts.length, ids);
  let start = 0;
  for (let at = from; at < end; ) {
    const first = facts[at] as FactToStore;
    const relation = store.relationFor(first.predicate, first.args.length, !first.truthVal);
    let count = 0;
    // Facts of one relation mostly come together.
    for (; count < maxBatch && at + count < end && isOf(facts[at + count], relation); count++)
      scopes[count] = store.internScope((facts[at + count] as FactToStore).scope);
    const run = at;
    const given = (one: number): FactToStore | null => {
      const fact = facts[run + one] as FactToStore;
      return isPlain(fact) ? null : fact;
    };
    storeRun(write, { relation, ids, start, count, given, extras: null });
    start += count * relation.arity;
    at += count;
  }
}

function isOf(fact: FactToStore | undefined, { predicate, arity, negated }: StoredRelation): boolean {
  return fact?.predicate === predicate && fact.args.length === arity && fact.truthVal !== negated;
}

function storeBlock(write: LoadingWrite, block: FactBlock, { from, end }: FactRange): void {
  const { store } = write;
  const [first, last] = [block.firstText[from] as number, block.firstText[end] as number];
  const ids = new Int32Array(last - first);
  const { dictionary } = store;
  const known = dictionary.size;
  dictionary.internEncoded(block, first, last, ids);
  /** Facts after these, for each of these. */
  const further = (block.length - end + block.following) / (end - from);
  dictionary.expect(expected(dictionary.size, (dictionary.size - known) * further));
  const rowsBefore = new Map<StoredRelation, number>();
  for (let at = from; at < end; ) {
    const frame = block.frameOf[at];
    const { predicate, arity, truthVal, scope } = block.frameAt(at);
    const relation = store.relationFor(predicate, arity, !truthVal);
    let count = 1;
    while (count < maxBatch && at + count < end && block.frameOf[at + count] === frame) count++;
    scopes.fill(store.internScope(scope), 0, count);
    const run = at;
    const given = (one: number): FactToStore | null =>
      block.isPlainAt(run + one) ? null : block.at(run + one);
    if (!rowsBefore.has(relation)) rowsBefore.set(relation, relation.count);
    const extras = block.extras === null ? null : { columns: block.extras, first: run };
    storeRun(write, { relation, ids, start: (block.firstText[at] as number) - first, count, given, extras });
    at += count;
  }
  for (const [relation, rows] of rowsBefore)
    relation.expect(expected(relation.count, (relation.count - rows) * further));
}

/** The number to prepare for: estimates come from clients, so they are trusted only so far. */
function expected(count: number, more: number): number {
  return Math.min(count + Math.min(Math.ceil(more), maxAhead), count * maxGrowth);
}

const maxGrowth = 8;
const maxAhead = 0x20_0000;

/** At most `maxBatch` facts of one relation, whose ids are consecutive from `start` on; their scopes are in `scopes`. */
interface FactRun {
  readonly relation: StoredRelation;
  readonly ids: Int32Array;
  readonly start: number;
  readonly count: number;
  /** The fact with this index in the run; null if it gives neither validity nor metadata. */
  readonly given: (index: number) => FactToStore | null;
  /** What the facts give, if they are in columns and some give anything. */
  readonly extras: RunExtras | null;
}

function storeRun({ store, generation, time, sink }: LoadingWrite, run: FactRun): void {
  const { relation, ids, start, count, given, extras } = run;
  const { arity } = relation;
  relation.fetch(ids, start, scopes, count);
  const identity = new Int32Array(arity + 1);
  /** The facts from the present one up to this one can be appended if they are new. */
  let end = 0;
  for (let at = 0; at < count; at++) {
    if (extras !== null) end = count;
    else for (end = Math.max(at, end); end < count && given(end) === null; ) end++;
    if (at < end) {
      const row = relation.count;
      const added = store.appendNew(
        relation,
        { ids, start, scopes, from: at, end, extras },
        generation,
        time,
      );
      if (added > 0) sink.asserted(relation, row, added);
      at += added;
      if (at === count) return;
    }
    const from = start + at * arity;
    for (let position = 0; position < arity; position++) identity[position] = ids[from + position] as number;
    identity[arity] = scopes[at] as number;
    sink.stored(store.storeAs(given(at), relation, identity, generation, time));
  }
}

/** Scratch space: the scopes of the facts of a run. */
const scopes = new Int32Array(maxBatch);
