/**
 * Rows as whole columns, and which of them count: loops over one column each, which V8 compiles soon and in little time, in place
 * of a step for every row.
 */
import type { StoredRelation } from '../../store/stored-relation.ts';
import type { AtomShape } from './machine.ts';

/** The rows of a relation below a limit, but for dead ones and those of other scopes. */
export interface WholeRows {
  /** null: derived. */
  readonly relation: StoredRelation | null;
  readonly columns: readonly Int32Array[];
  readonly limit: number;
  /** Of stored rows: the generation in which each died, and the reader's; null: all are alive. */
  readonly death: Float64Array | null;
  readonly generation: number;
  /** Of derived rows: not 0 for dead ones; null: all are alive. */
  readonly dead: Uint8Array | null;
  /** The scope, in the column after the arguments; null: all are of the view. */
  readonly scope: number | null;
}

export const noRows: WholeRows = {
  relation: null,
  columns: [],
  limit: 0,
  death: null,
  generation: 0,
  dead: null,
  scope: null,
};

/** What a row of an atom must have, beside being alive. */
export interface Tests {
  readonly equal: readonly { readonly position: number; readonly register: number }[];
  readonly same: readonly (readonly [number, number])[];
}

/** What an atom of this shape tests. */
export function testsOf(shape: AtomShape): Tests {
  const { keyPositions, keyRegisters, bindPositions, bindRegisters, samePositions, sameRegisters } = shape;
  return {
    equal: keyPositions.map((position, at) => ({ position, register: keyRegisters[at] as number })),
    same: samePositions.map((position, at): [number, number] => [
      bindPositions[bindRegisters.indexOf(sameRegisters[at] as number)] as number,
      position,
    ]),
  };
}

/** Row numbers: `rows`, or if that is null those from `first` on. */
export interface Selected {
  readonly first: number;
  readonly rows: Int32Array | null;
  readonly count: number;
}

/** Rows `from` to `to` that count, with these values in their columns, and equal values where columns must be the same. */
export function selectRows(
  whole: WholeRows,
  from: number,
  to: number,
  equal: readonly { readonly position: number; readonly value: number }[],
  same: readonly (readonly [number, number])[],
): Selected {
  const { columns, death, dead, scope } = whole;
  if (equal.length === 0 && same.length === 0 && death === null && dead === null && scope === null)
    return { first: from, rows: null, count: to - from };
  const rows = new Int32Array(to - from);
  const [test, ...tests] =
    scope === null ? equal : [...equal, { position: columns.length - 1, value: scope }];
  let count =
    test === undefined
      ? allRows(from, to, rows)
      : rowsWith(columns[test.position] as Int32Array, test.value, from, to, rows);
  for (const { position, value } of tests)
    count = keepEqual(columns[position] as Int32Array, value, rows, count);
  return selectAlive(whole, rows, count, same);
}

/** Those of the rows that are alive and have equal values where columns must be the same. Overwrites `rows`. */
export function selectAlive(
  { columns, death, generation, dead }: WholeRows,
  rows: Int32Array,
  found: number,
  same: readonly (readonly [number, number])[],
): Selected {
  let count = found;
  for (const [one, other] of same)
    count = keepSame(columns[one] as Int32Array, columns[other] as Int32Array, rows, count);
  if (death !== null) count = keepLiving(death, generation, rows, count);
  if (dead !== null) count = keepAlive(dead, rows, count);
  return { first: 0, rows, count };
}

/** The values of the selected rows in the column: a part of it, or a copy. */
export function valuesOf(column: Int32Array, { first, rows, count }: Selected): Int32Array {
  if (rows === null) return column.subarray(first, first + count);
  const values = new Int32Array(count);
  for (let at = 0; at < count; at++) values[at] = column[rows[at] as number] as number;
  return values;
}

/** The numbers of the selected rows. */
export function numbersOf({ first, rows, count }: Selected): Int32Array {
  if (rows !== null) return rows.subarray(0, count);
  const numbers = new Int32Array(count);
  allRows(first, first + count, numbers);
  return numbers;
}

function allRows(from: number, to: number, rows: Int32Array): number {
  for (let row = from; row < to; row++) rows[row - from] = row;
  return to - from;
}

function rowsWith(column: Int32Array, value: number, from: number, to: number, rows: Int32Array): number {
  let count = 0;
  for (let row = from; row < to; row++) if (column[row] === value) rows[count++] = row;
  return count;
}

function keepEqual(column: Int32Array, value: number, rows: Int32Array, found: number): number {
  let count = 0;
  for (let at = 0; at < found; at++) {
    const row = rows[at] as number;
    if (column[row] === value) rows[count++] = row;
  }
  return count;
}

function keepSame(one: Int32Array, other: Int32Array, rows: Int32Array, found: number): number {
  let count = 0;
  for (let at = 0; at < found; at++) {
    const row = rows[at] as number;
    if (one[row] === other[row]) rows[count++] = row;
  }
  return count;
}

function keepLiving(death: Float64Array, generation: number, rows: Int32Array, found: number): number {
  let count = 0;
  for (let at = 0; at < found; at++) {
    const row = rows[at] as number;
    if ((death[row] as number) > generation) rows[count++] = row;
  }
  return count;
}

function keepAlive(dead: Uint8Array, rows: Int32Array, found: number): number {
  let count = 0;
  for (let at = 0; at < found; at++) {
    const row = rows[at] as number;
    if (dead[row] === 0) rows[count++] = row;
  }
  return count;
}
