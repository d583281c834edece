import type { Metadata } from '../contract/facts.ts';
import { type Consolidation, type ConsolidatedValue, summarySuffix } from '../contract/memory.ts';
import { isVariable, isWellFormed } from '../contract/language.ts';
import { unitNumber } from '../store/salience.ts';
import type { FactIdentity, FactRow, FactStore } from '../store/fact-store.ts';

/**
 * A summary: a stored fact in the place of many that differ in one argument only.
 *
 * It is an ordinary fact, which anybody can assert, change and copy, so whether a fact is one is told by what it holds:
 * its `metadata.consolidated` has to have every field, and to agree with its predicate and its arguments. Whatever does
 * not is a fact like any other. Truth value and scope of the facts it stands for are its own.
 */

/** The latest and the earliest instant that a date can be, in epoch milliseconds. */
const greatestTime = 8_640_000_000_000_000;

/** What the fact stands for, or null where it is no summary. */
export function consolidationOf(facts: FactStore, fact: FactRow): Consolidation | null {
  const { relation, row } = fact;
  const found = relation.metadata.get(row)?.['consolidated'];
  if (!isObject(found)) return null;
  const { from, position, values, count, first, last } = found;
  const isWhole =
    typeof from === 'string' &&
    from + summarySuffix === relation.predicate &&
    from.length > 0 &&
    isBelow(position, relation.arity) &&
    isTime(first) &&
    isTime(last) &&
    Array.isArray(values) &&
    values.length > 0 &&
    count === values.length &&
    relation.arity >= 2;
  if (!isWhole || facts.argsOf(fact).at(-1) !== String(count)) return null;
  const entries: unknown[] = values;
  if (!entries.every(isValue)) return null;
  if (new Set(entries.map(({ value }) => value)).size !== entries.length) return null;
  return { from, position, values: entries, count: entries.length, first, last };
}

function isValue(entry: unknown): entry is ConsolidatedValue {
  if (!isObject(entry)) return false;
  const { value, createdAt, validFrom, validUntil, metadata } = entry;
  if (typeof value !== 'string' || isVariable(value) || !isWellFormed(value) || !isTime(createdAt))
    return false;
  if (validFrom !== undefined && !isTime(validFrom)) return false;
  if (validUntil !== undefined && !isTime(validUntil)) return false;
  if (validFrom !== undefined && validUntil !== undefined && validUntil <= validFrom) return false;
  return metadata === undefined || isObject(metadata);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBelow(value: unknown, bound: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < bound;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= greatestTime;
}

/** The arguments of the facts that a summary with these arguments stands for, but for the one they differ in. */
export function constantsOf(args: readonly string[]): string[] {
  return args.slice(0, -1);
}

/** The identity of the summary of so many facts. `constants` are their arguments but for the one at the position. */
export function summaryIdentity(
  { predicate, truthVal, scope }: Pick<FactIdentity, 'predicate' | 'truthVal' | 'scope'>,
  constants: readonly string[],
  count: number,
): FactIdentity {
  return { predicate: predicate + summarySuffix, args: [...constants, String(count)], truthVal, scope };
}

/** The arguments of the fact that had this value at the position. */
export function memberArgs(constants: readonly string[], position: number, value: string): string[] {
  return [...constants.slice(0, position), value, ...constants.slice(position)];
}

/**
 * The metadata of a summary but for `consolidated`: those that the former one had beside it, and importance and
 * confidence of which it has the greatest among those of its facts and of the former one, so that a summary fades no
 * sooner than what it stands for would.
 */
export function ownMetadata(former: Metadata | null, values: readonly ConsolidatedValue[]): Metadata {
  const { consolidated: _consolidated, ...own } = former ?? {};
  for (const [name, usual] of [
    ['importance', 0.5],
    ['confidence', 1],
  ] as const) {
    const known = former === null ? 0 : unitNumber(own[name], 0);
    let greatest = known;
    for (const { metadata } of values) greatest = Math.max(greatest, unitNumber(metadata?.[name], usual));
    if (greatest !== usual || own[name] !== undefined) own[name] = greatest;
  }
  return own;
}
