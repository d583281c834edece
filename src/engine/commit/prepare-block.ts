import { claimHash, Claims, hasIds, hashOfFrame } from '../state/key-claims.ts';
import { type StrictKey, StrictKeys } from '../state/key-rule.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { FactBlock, FactBlockBuilder, type FactFrame } from '../store/fact-block.ts';
import type { FactStore } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';

/**
 * Checks of facts in columns: what `prepare-facts.ts` and `prepare-shape.ts` decide for one fact as an object.
 *
 * They say which facts of a block are refused whatever is stored, and which ones what is stored may refuse. The latter are
 * few, and judged one by one.
 */

/** The indexes of the facts whose validity ends before it begins, whatever is stored, ascending: see `checkValidity`. */
export function reversedInBlock({ extras, length }: FactBlock): number[] {
  const [from, until] = [extras?.validFrom ?? null, extras?.validUntil ?? null];
  const found: number[] = [];
  // A bound that is not given is NaN, which no comparison is true of.
  if (from === null || until === null) return found;
  for (let index = 0; index < length; index++)
    if ((until[index] as number) <= (from[index] as number)) found.push(index);
  return found;
}

/** True if what is stored decides whether some validity is well-formed: see `dependsOnStored`. */
export function dependsOnStoredIn(block: FactBlock): boolean {
  if (block.extras?.givesValidity !== true) return false;
  for (let index = 0; index < block.length; index++) if (givesOneBound(block, index)) return true;
  return false;
}

/** True if the fact gives one bound of its validity, and leaves the other as it is stored. */
function givesOneBound({ extras }: FactBlock, index: number): boolean {
  const from = extras?.validFrom?.[index] ?? Number.NaN;
  const until = extras?.validUntil?.[index] ?? Number.NaN;
  if (Number.isNaN(from)) return Number.isFinite(until);
  return Number.isNaN(until) && Number.isFinite(from);
}

/** True if a key may refuse facts of the block: see `mayConflict`. */
export function mayConflictIn(declarations: DeclarationStore, block: FactBlock): boolean {
  if (declarations.size === 0) return false;
  const keys = StrictKeys.of(declarations);
  const keyOf = block.frames.map((frame) => keys.keyIn(frame));
  if (keyOf.some((key) => key?.onConflict === 'reject')) return true;
  if (block.extras?.givesValidity !== true || keyOf.every((key) => key === null)) return false;
  for (let index = 0; index < block.length; index++)
    if (keyOf[block.frameOf[index] as number] !== null && block.extras.hasValidity(index)) return true;
  return false;
}

/** A block without the facts with some indexes, and the indexes of the others. */
export function blockWithout(
  block: FactBlock,
  left: readonly number[],
): { readonly block: FactBlock; readonly indexes: number[] } {
  const builder = FactBlockBuilder.like(block);
  const indexes: number[] = [];
  let from = 0;
  for (const index of [...left, block.length]) {
    builder.addFrom(block, from, index);
    for (; from < index; from++) indexes.push(from);
    from = index + 1;
  }
  return { block: builder.built(block.following), indexes };
}

/** What facts are checked against. */
interface CheckedBy {
  readonly declarations: DeclarationStore;
  /** null: the tenant has no facts. */
  readonly facts: FactStore | null;
  readonly time: number;
}

/** What is known of the facts of a frame before they are looked at. */
interface CheckedFrame extends FactFrame {
  readonly key: StrictKey | null;
  /** null: nothing is stored that they could contradict. */
  readonly relation: StoredRelation | null;
  readonly scopeNumber: number;
  readonly hash: number;
}

/**
 * The indexes, ascending, of the facts that the stored state or an earlier fact of the block may refuse, for a validity or
 * by a key, in steps. All facts with the same value of a key, or that are the same, are among them if one is: so these
 * alone, checked in order, are judged as they are among the others. Requires what `KeyCheck` does.
 */
export function* doubtfulInBlock(
  block: FactBlock,
  { declarations, facts, time }: CheckedBy,
): Generator<'more', number[], undefined> {
  const keys = StrictKeys.of(declarations);
  const frames = block.frames.map((frame): CheckedFrame => {
    const relation = facts?.relation(frame.predicate, frame.arity, !frame.truthVal) ?? null;
    const scopeNumber = facts?.scopeNumber(frame.scope) ?? -1;
    const stored = scopeNumber < 0 ? null : relation;
    return { ...frame, key: keys.keyIn(frame), relation: stored, scopeNumber, hash: hashOfFrame(frame) };
  });
  for (const { key, relation } of frames)
    if (key !== null && relation !== null)
      while (!relation.keyIndex(key.positions).takeIn(time)) yield 'more';
  const isDoubtful = new Uint8Array(block.length);
  const claims = new Claims(block.length);
  for (let from = 0; from < block.length; from += factsInStep) {
    if (from > 0) yield 'more';
    const end = Math.min(block.length, from + factsInStep);
    const [first, last] = [block.firstText[from] as number, block.firstText[end] as number];
    const ids = new Int32Array(last - first).fill(-1);
    facts?.dictionary.findEncoded(block, first, last, ids);
    for (let index = from; index < end; index++) {
      const frame = frames[block.frameOf[index] as number] as CheckedFrame;
      // Without a key, only the fact itself can be in the way, of one that gives one bound of its validity.
      if (frame.key === null && block.extras?.hasValidity(index) !== true) continue;
      const start = block.firstText[index] as number;
      const other = claims.claim(
        index,
        claimHash(block, start, frame.hash, frame.key?.positions ?? null, frame.arity),
      );
      if (other >= 0) isDoubtful[other] = isDoubtful[index] = 1;
      else if (
        isInTheWay(frame, block, index, ids.subarray(start - first, start - first + frame.arity), time)
      )
        isDoubtful[index] = 1;
    }
  }
  const found: number[] = [];
  for (let index = 0; index < block.length; index++) if (isDoubtful[index] === 1) found.push(index);
  return found;
}

/** True if a stored fact may be in the way of this one, whose arguments have these ids; -1: no stored fact has it. */
function isInTheWay(
  { key, relation, scopeNumber }: CheckedFrame,
  block: FactBlock,
  index: number,
  ids: Int32Array,
  time: number,
): boolean {
  if (relation === null) return false;
  if (key === null) {
    if (!givesOneBound(block, index) || ids.includes(-1)) return false;
    const identity = new Int32Array(ids.length + 1);
    identity.set(ids);
    identity[ids.length] = scopeNumber;
    return relation.find(identity) >= 0;
  }
  const values: number[] = [];
  for (const position of key.positions) {
    const id = ids[position] as number;
    if (id < 0) return false;
    values.push(id);
  }
  const rows = relation.keyIndex(key.positions).rows(values, scopeNumber, time);
  if (rows.length === 0) return false;
  const [row] = rows;
  // Alone, the fact itself is in its own way only if it is to be valid at another time.
  return (
    rows.length > 1 || block.extras?.hasValidity(index) === true || !hasIds(relation, row as number, ids)
  );
}

const factsInStep = 256;
