/** How a record is applied in slices: see `applying`. */

/** Between two slices: there is `more` to do; or all is `ready`, and the next step shows it and reports. */
export type Slice = 'more' | 'ready';

/** Does what can be done unseen; what is returned does the rest, in one turn. */
export type Prepared<Result> = Generator<Slice, () => Result, undefined>;

/** Rows that are written between two slices. */
export const rowsInSlice = 256;
