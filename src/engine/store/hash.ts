/**
 * Hashing of ids. Ids are small consecutive numbers, so every step mixes fully: with a cheaper hash that
 * preserves locality, linear probing is slower by an order of magnitude.
 */

/** Folds the id into the hash. */
export function fold(hash: number, id: number): number {
  const mixed = Math.imul(hash ^ id, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** The final mix (the finalizer of MurmurHash3): every input bit affects every output bit. */
export function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** The initial hash. */
export const hashSeed = 0x2545f491;
