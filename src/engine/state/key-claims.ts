import type { FactBlock, FactFrame } from '../store/fact-block.ts';
import { finish, hashSeed } from '../store/hash-slots.ts';
import type { StoredRelation } from '../store/stored-relation.ts';

/** Which facts of a block have the same value of a key, without an object for each. */

/** True if the row has these ids of arguments. */
export function hasIds(relation: StoredRelation, row: number, ids: Int32Array): boolean {
  for (let position = 0; position < ids.length; position++)
    if ((relation.columns[position] as Int32Array)[row] !== ids[position]) return false;
  return true;
}

/**
 * A hash of the fact's value of a key, or of the fact if there is none. `start`: the index of its first argument; `hash`:
 * that of its frame.
 */
export function claimHash(
  block: FactBlock,
  start: number,
  hash: number,
  positions: readonly number[] | null,
  arity: number,
): number {
  let folded = hash;
  if (positions === null)
    for (let text = start; text < start + arity; text++) folded = withText(folded, block, text);
  else for (const position of positions) folded = withText(folded, block, start + position);
  return folded;
}

function withText(hash: number, { bytes, ends }: FactBlock, text: number): number {
  const stop = ends[text] as number;
  let folded = hash;
  for (let at = text === 0 ? 0 : (ends[text - 1] as number); at < stop; at++)
    folded = Math.imul(folded ^ (bytes[at] as number), hashFactor);
  // No byte of UTF-8: it ends the text.
  return Math.imul(folded ^ 0xff, hashFactor);
}

/** A hash of what facts of a frame share; the same for equal frames. */
export function hashOfFrame({ predicate, arity, truthVal, scope }: FactFrame): number {
  let hash = hashSeed;
  for (const character of JSON.stringify([predicate, arity, truthVal, scope]))
    hash = Math.imul(hash ^ (character.codePointAt(0) as number), hashFactor);
  return hash;
}

/**
 * The first fact of a block with each claim, by its hash: two claims with one hash count as the same, which makes two facts
 * doubtful that are not.
 */
export class Claims {
  /** By slot: the index of the fact plus one; 0: empty. */
  readonly #facts: Int32Array;
  readonly #hashes: Int32Array;

  constructor(facts: number) {
    let slots = 64;
    while (slots < facts * 2) slots *= 2;
    this.#facts = new Int32Array(slots);
    this.#hashes = new Int32Array(slots);
  }

  /** The first fact with this claim; -1, and this one is the first, if there is none. */
  claim(index: number, hash: number): number {
    const mask = this.#facts.length - 1;
    const mixed = finish(hash);
    for (let slot = mixed & mask; ; slot = (slot + 1) & mask) {
      const known = this.#facts[slot] as number;
      if (known === 0) {
        this.#facts[slot] = index + 1;
        this.#hashes[slot] = mixed;
        return -1;
      }
      if (this.#hashes[slot] === mixed) return known - 1;
    }
  }
}

const hashFactor = 0x01000193;
