import type { Metadata } from '../contract/facts.ts';
import { type Consolidation, type ConsolidatedValue, summarySuffix } from '../contract/memory.ts';
import { isVariable, isWellFormed } from '../contract/language.ts';
import { unitNumber } from '../store/salience.ts';
import type { FactIdentity, FactRow, FactStore } from '../store/fact-store.ts';

/**
 * A summary: a stored fact that represents many facts that differ in one argument only.
 *
 * It is an ordinary fact that anyone can assert, change and copy, so its content decides whether it is a summary:
 * `metadata.consolidated` must have every field and agree with the predicate and arguments. It has the truth value and
 * scope of the facts it represents.
 */

/** The latest instant of a Date in epoch milliseconds; its negative is the earliest. */
const maxTime = 8_640_000_000_000_000;

/** The consolidation of a summary; null if the fact is not one. */
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
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= maxTime;
}

/** The arguments of the represented facts, without the one they differ in, given the summary's arguments. */
export function constantsOf(args: readonly string[]): string[] {
  return args.slice(0, -1);
}

/** The identity of a summary of `count` facts. `constants`: their arguments without the one at the position. */
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
 * The metadata of a summary without `consolidated`: those of the previous summary, with importance and confidence
 * raised to the maximum of its facts and the previous summary, so that a summary fades no sooner than its facts would.
 */
export function ownMetadata(former: Metadata | null, values: readonly ConsolidatedValue[]): Metadata {
  const { consolidated: _consolidated, ...own } = former ?? {};
  for (const [name, fallback] of [
    ['importance', 0.5],
    ['confidence', 1],
  ] as const) {
    const known = former === null ? 0 : unitNumber(own[name], 0);
    let max = known;
    for (const { metadata } of values) max = Math.max(max, unitNumber(metadata?.[name], fallback));
    if (max !== fallback || own[name] !== undefined) own[name] = max;
  }
  return own;
}
