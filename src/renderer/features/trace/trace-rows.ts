/**
 * A trace as rows: rules and subgoals in an order of the reader's, events as narrowed down by the reader.
 *
 * Pure, and no worse than sorting the trace, which has up to a hundred thousand events.
 */
import type { Trace, tracePorts } from '../../../engine/contract/explanation.ts';

export type RuleRow = Trace['rules'][number];
export type SubgoalRow = Trace['subgoals'][number];
export type EventRow = Trace['events'][number];
export type Port = (typeof tracePorts)[number];

/** An order of rows: by a field, and which way. */
export interface Order<Key extends string> {
  readonly key: Key;
  readonly direction: 'asc' | 'desc';
}

export type RuleColumn = 'rule' | 'fired' | 'derived' | 'elapsedMs';
export type SubgoalKey = 'goal' | 'calls' | 'answers';

/** The order after its column was chosen: the other way round where it was chosen before; numbers begin with the greatest. */
export function toggled<Key extends string>(order: Order<Key>, key: Key, isText: boolean): Order<Key> {
  if (order.key === key) return { key, direction: order.direction === 'asc' ? 'desc' : 'asc' };
  return { key, direction: isText ? 'asc' : 'desc' };
}

function compare(left: string | number, right: string | number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The rows in an order; equal ones keep theirs. */
export function sorted<Key extends string, Row extends Readonly<Record<Key, string | number>>>(
  rows: readonly Row[],
  { key, direction }: Order<Key>,
): Row[] {
  const sign = direction === 'asc' ? 1 : -1;
  return [...rows].sort((left, right) => sign * compare(left[key], right[key]));
}

/** What narrows the events down; null: all. */
export interface EventFilter {
  readonly ruleId: string | null;
  readonly predicate: string | null;
  readonly port: Port | null;
}

export const allEvents: EventFilter = { ruleId: null, predicate: null, port: null };

/** The predicate of an event's atom, with `-` where it is explicitly negated; null for what has none. */
export function eventPredicateOf(atom: string): string | null {
  return /^(?:not )?(-?[^\s"(){},;]+)\(/.exec(atom)?.[1] ?? null;
}

/** The predicates of the events, each once, sorted. */
export function eventPredicatesOf(events: readonly EventRow[]): string[] {
  const found = new Set<string>();
  for (const { atom } of events) {
    const predicate = eventPredicateOf(atom);
    if (predicate !== null) found.add(predicate);
  }
  return [...found].sort(compare);
}

/** The events that a filter lets through, in their order. */
export function filtered(events: readonly EventRow[], filter: EventFilter): EventRow[] {
  const { ruleId, predicate, port } = filter;
  return events.filter(
    (event) =>
      (ruleId === null || event.ruleId === ruleId) &&
      (port === null || event.port === port) &&
      (predicate === null || eventPredicateOf(event.atom) === predicate),
  );
}

/**
 * Where the chosen event stands among those shown. Where it is narrowed away: the last one shown before it, else
 * the first; -1 where none is shown. `seq`: that of the chosen event, or null for none.
 */
export function eventIndexOf(shown: readonly EventRow[], seq: number | null): number {
  if (shown.length === 0) return -1;
  if (seq === null) return 0;
  let low = 0;
  let high = shown.length - 1;
  // Events stand by their numbers.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((shown[middle] as EventRow).seq <= seq) low = middle;
    else high = middle - 1;
  }
  return low;
}
