/** Sides as options of a select. Scope names are arbitrary, so a prefix distinguishes the values. */
import { type Side, sideLabel } from './scopes-search.ts';

/** Returns the value of a side in a select. */
export function valueOfSide(side: Side): string {
  return side === null ? 'none' : `scope ${side}`;
}

/** The inverse of `valueOfSide`. */
export function sideOfValue(value: string): Side {
  return value === 'none' ? null : value.slice('scope '.length);
}

/** Returns the options; `also` adds selected sides that may not be listed. */
export function sideOptions(sides: readonly Side[], also: readonly (Side | undefined)[] = []) {
  const all = [...new Set([...sides, ...also.filter((side) => side !== undefined)])];
  return all.map((side) => ({ value: valueOfSide(side), label: sideLabel(side) }));
}
