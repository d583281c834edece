/**
 * Holds what callers of several nodes saw against the log that the nodes share.
 *
 * The log gives the order of all versions, so linearizability needs no search: every acknowledged write `w(mark)` is there
 * once, at its generation, no refused one is; a write that began after the answer of another has a higher generation; every
 * read equals the fold of the log to the generation that it reports, and is no older than it had to be.
 */
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import { decodeRecords } from '../log/codec.ts';

/** What callers saw. Times are numbers of events: no two are equal. */
export interface Seen {
  /** Acknowledged writes: when they began and were answered, and the generation in the answer. */
  readonly writes: { mark: string; began: number; ended: number; generation: number }[];
  /** The marks of writes that were not stored. */
  readonly refused: Set<string>;
  /** Answers to `w(?x)`, as `shownBy`, with their generation, and the least generation that they had to show. */
  readonly reads: { shown: string; generation: number; least: number; what: string }[];
}

/** How many atoms an answer has, and a checksum of them in any order: all answers of a long run do not fit the memory. */
export function shownBy(atoms: readonly string[]): string {
  const sum = new AtomSum();
  for (const atom of atoms) sum.add(atom);
  return sum.toString();
}

class AtomSum {
  #count = 0;
  #mixed = 0;
  #sum = 0;

  add(atom: string): void {
    this.#count++;
    this.#mixed ^= crc32(atom);
    this.#sum = (this.#sum + crc32(`${atom}.`)) % 2 ** 48;
  }

  remove(atom: string): void {
    this.#count--;
    this.#mixed ^= crc32(atom);
    this.#sum = (this.#sum - crc32(`${atom}.`) + 2 ** 48) % 2 ** 48;
  }

  toString(): string {
    return `${this.#count} atoms, ${this.#mixed >>> 0}.${this.#sum}`;
  }
}

/** `payloads` are those of all frames, in order; `ends` the answers of the nodes at the end. */
export function holdAgainstLog(
  about: string,
  payloads: readonly Uint8Array[],
  { writes, refused, reads }: Seen,
  ends: readonly (readonly string[])[],
): void {
  const records = payloads.flatMap((payload) => [...decodeRecords(payload)]);
  const sequences = records.map(({ sequence }) => sequence);
  expect(sequences, about).toEqual(records.map((_, index) => index + 1));
  const sum = new AtomSum();
  const states = new Map<number, string>([[0, sum.toString()]]);
  const toldAt = new Map<string, number>();
  const marks = new Set<string>();
  let last = 0;
  for (const { operation } of records) {
    const before = marks.size;
    const { facts = [], pattern } = operation as {
      facts?: readonly { args: readonly string[] }[];
      pattern?: { args: readonly string[] };
    };
    for (const { args } of facts) {
      const [mark = ''] = args;
      expect(toldAt.has(mark), `${about} ${mark} is there once`).toBe(false);
      toldAt.set(mark, last + 1);
      marks.add(mark);
      sum.add(`w(${mark})`);
    }
    const gone = pattern?.args[0] ?? '';
    if (pattern !== undefined && marks.delete(gone)) sum.remove(`w(${gone})`);
    // A retraction of what is not there changes nothing.
    if (marks.size !== before) states.set(++last, sum.toString());
  }
  for (const { mark, generation } of writes)
    expect(toldAt.get(mark), `${about} ${mark} is there, at its generation`).toBe(generation);
  expect(
    [...refused].filter((mark) => toldAt.has(mark)),
    about,
  ).toEqual([]);
  holdOrder(about, writes);
  for (const { shown, generation, least, what } of reads) {
    expect(shown, `${about} ${what} at ${generation}`).toBe(states.get(generation));
    expect(generation, `${about} ${what}`).toBeGreaterThanOrEqual(least);
  }
  for (const atoms of ends) expect(atoms.toSorted(), about).toEqual(atomsOf(marks));
}

/** In the order of their answers, no write has a generation below that of one answered before it began. */
function holdOrder(about: string, writes: Seen['writes']): void {
  const byEnd = writes.toSorted((left, right) => left.ended - right.ended);
  let next = 0;
  let highest = 0;
  for (const { mark, began, generation } of writes.toSorted((left, right) => left.began - right.began)) {
    for (let one = byEnd[next]; one !== undefined && one.ended < began; one = byEnd[++next])
      highest = Math.max(highest, one.generation);
    expect(generation, `${about} ${mark}`).toBeGreaterThan(highest);
  }
}

function atomsOf(marks: Iterable<string>): string[] {
  return Array.from(marks, (mark) => `w(${mark})`).toSorted();
}
