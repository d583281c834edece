import { parseTime } from '../contract/fields.ts';
import { isAggregate } from '../language/terms.ts';
import { isBuiltinName, type Literal } from '../contract/language.ts';
import type { FactRow } from '../store/fact-store.ts';

/** Epoch milliseconds from March 1973 on; shorter numbers are more often something else. */
const epochMs = /^\d{12,13}$/;

/** True for ISO 8601 text with at least a date, and for epoch milliseconds. */
export function isInstant(text: string): boolean {
  return epochMs.test(text) || parseTime(text) !== null;
}

/** True if a fact with this value at the episodic position describes a single event. */
export function isEpisode({ relation, row }: FactRow, value: string): boolean {
  const hasEnd = (relation.validUntil?.[row] ?? Number.POSITIVE_INFINITY) !== Number.POSITIVE_INFINITY;
  const hasBegin = (relation.validFrom?.[row] ?? Number.NEGATIVE_INFINITY) !== Number.NEGATIVE_INFINITY;
  return hasEnd || hasBegin || relation.metadata.get(row)?.['episode'] === true || isInstant(value);
}

/** The predicates that these bodies read, including those under `not` and inside aggregates. */
export function predicatesRead(bodies: Iterable<readonly Literal[]>): Set<string> {
  const read = new Set<string>();
  const left = [...bodies];
  for (let body = left.pop(); body !== undefined; body = left.pop())
    for (const literal of body)
      if (isAggregate(literal)) left.push(literal.body);
      else if (!isBuiltinName(literal.predicate)) read.add(literal.predicate);
  return read;
}
