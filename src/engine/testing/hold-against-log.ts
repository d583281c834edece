/**
 * Holds what callers of several nodes saw against the log that the nodes share.
 *
 * The log gives the order of all versions, so linearizability needs no search: every acknowledged write `w(mark)` is there
 * once, at its generation, no refused one is; a write that began after the answer of another has a higher generation; every
 * read equals the fold of the log to the generation that it reports, and is no older than it had to be.
 */
import { expect } from 'vitest';
import { decodeRecords } from '../log/codec.ts';

/** What callers saw. Times are numbers of events: no two are equal. */
export interface Seen {
  /** Acknowledged writes: when they began and were answered, and the generation in the answer. */
  readonly writes: { mark: string; began: number; ended: number; generation: number }[];
  /** The marks of writes that were not stored. */
  readonly refused: Set<string>;
  /** Answers to `w(?x)` with their generation, and the least generation that they had to show. */
  readonly reads: { atoms: readonly string[]; generation: number; least: number; what: string }[];
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
  const states = new Map<number, readonly string[]>([[0, []]]);
  const told: string[] = [];
  let marks = new Set<string>();
  let last = 0;
  for (const { operation } of records) {
    const before = marks.size;
    marks = new Set(marks);
    const { facts = [], pattern } = operation as {
      facts?: readonly { args: readonly string[] }[];
      pattern?: { args: readonly string[] };
    };
    for (const { args } of facts) {
      marks.add(args[0] ?? '');
      told.push(args[0] ?? '');
    }
    if (pattern !== undefined) marks.delete(pattern.args[0] ?? '');
    // A retraction of what is not there changes nothing.
    if (marks.size !== before) states.set(++last, atomsOf(marks));
  }
  const there = new Set(told);
  expect(there.size, about).toBe(told.length);
  for (const { mark, generation } of writes)
    expect(states.get(generation) ?? [], `${about} ${mark}`).toContain(`w(${mark})`);
  expect(
    [...refused].filter((mark) => there.has(mark)),
    about,
  ).toEqual([]);
  holdOrder(about, writes);
  for (const { atoms, generation, least, what } of reads) {
    expect(atoms.toSorted(), `${about} ${what} at ${generation}`).toEqual(states.get(generation));
    expect(generation, `${about} ${what}`).toBeGreaterThanOrEqual(least);
  }
  for (const shown of ends) expect(shown.toSorted(), about).toEqual(atomsOf(marks));
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
