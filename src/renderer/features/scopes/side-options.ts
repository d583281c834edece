/** The sides there are as the choices of a select: names may be anything, so a choice is told by a letter before. */
import { type Side, sideLabel } from './scopes-search.ts';

/** The value of a side in a select. */
export function valueOfSide(side: Side): string {
  return side === null ? 'none' : `scope ${side}`;
}

/** The inverse of `valueOfSide`. */
export function sideOfValue(value: string): Side {
  return value === 'none' ? null : value.slice('scope '.length);
}

/** The choices of a select; `also` names sides that are chosen, whether or not they are listed. */
export function sideOptions(sides: readonly Side[], also: readonly (Side | undefined)[] = []) {
  const all = [...new Set([...sides, ...also.filter((side) => side !== undefined)])];
  return all.map((side) => ({ value: valueOfSide(side), label: sideLabel(side) }));
}
