/**
 * A trace as rows: sorted rules and subgoals, filtered events; and the view's state, kept over a reload.
 *
 * No slower than sorting: a trace has up to a hundred thousand events.
 */
import { useState } from 'react';
import { type Trace, tracePorts } from '../../../engine/contract/explanation.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';

/** A rule of a trace. */
export type RuleRow = Trace['rules'][number];
/** A subgoal of a trace. */
export type SubgoalRow = Trace['subgoals'][number];
/** An event of a trace. */
export type EventRow = Trace['events'][number];
/** A port of the box model. */
export type Port = (typeof tracePorts)[number];

/** Field and direction of an order. */
export interface Order<Key extends string> {
  readonly key: Key;
  readonly direction: 'asc' | 'desc';
}

/** Columns of the rules. */
export type RuleColumn = 'rule' | 'fired' | 'derived' | 'elapsedMs';
/** Columns of the subgoals. */
export type SubgoalKey = 'goal' | 'calls' | 'answers';

/** Returns the order after a click on a column: reversed if it was active; numbers start descending. */
export function toggled<Key extends string>(order: Order<Key>, key: Key, isText: boolean): Order<Key> {
  if (order.key === key) return { key, direction: order.direction === 'asc' ? 'desc' : 'asc' };
  return { key, direction: isText ? 'asc' : 'desc' };
}

function compare(left: string | number, right: string | number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the rows in an order; the sort is stable. */
export function sorted<Key extends string, Row extends Readonly<Record<Key, string | number>>>(
  rows: readonly Row[],
  { key, direction }: Order<Key>,
): Row[] {
  const sign = direction === 'asc' ? 1 : -1;
  return [...rows].sort((left, right) => sign * compare(left[key], right[key]));
}

/** Filter of the events; null: all. */
export interface EventFilter {
  readonly ruleId: string | null;
  readonly predicate: string | null;
  readonly port: Port | null;
}

/** The filter that passes all events. */
export const allEvents: EventFilter = { ruleId: null, predicate: null, port: null };

/** Returns the predicate of an event's atom, with `-` if explicitly negated; null if it has none. */
export function eventPredicateOf(atom: string): string | null {
  return /^(?:not )?(-?[^\s"(){},;]+)\(/.exec(atom)?.[1] ?? null;
}

/** Returns the predicates of the events, sorted, without duplicates. */
export function eventPredicatesOf(events: readonly EventRow[]): string[] {
  const found = new Set<string>();
  for (const { atom } of events) {
    const predicate = eventPredicateOf(atom);
    if (predicate !== null) found.add(predicate);
  }
  return [...found].sort(compare);
}

/** Returns the events that pass a filter, in order. */
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
 * Returns the index of the selected event among those shown. If it is filtered out: the last one before it, else the
 * first; -1 if none is shown. `seq`: number of the selected event; null for none.
 */
export function eventIndexOf(shown: readonly EventRow[], seq: number | null): number {
  if (shown.length === 0) return -1;
  if (seq === null) return 0;
  let low = 0;
  let high = shown.length - 1;
  // Events are ordered by number.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((shown[middle] as EventRow).seq <= seq) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Parts of the view. */
export const traceParts = ['rules', 'subgoals', 'events'] as const;
/** A part of the view. */
type TracePart = (typeof traceParts)[number];

/** Shown part, filter and event. */
export interface Looking {
  readonly part: TracePart;
  readonly filter: EventFilter;
  /** Number of the shown event; null: the first. */
  readonly seq: number | null;
}

interface Remembered {
  readonly question: string;
  readonly looking: Looking;
}

const storageKey = 'corollary.trace';
const atFirst: Looking = { part: 'rules', filter: allEvents, seq: null };

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function readFilter(value: unknown): EventFilter {
  if (typeof value !== 'object' || value === null) return allEvents;
  const { ruleId, predicate, port } = value as Record<string, unknown>;
  return {
    ruleId: textOrNull(ruleId),
    predicate: textOrNull(predicate),
    port: tracePorts.find((known) => known === port) ?? null,
  };
}

/** Returns a stored state; null if invalid. */
function readRemembered(value: unknown): Remembered | null {
  if (typeof value !== 'object' || value === null) return null;
  const { question, looking } = value as Record<string, unknown>;
  if (typeof question !== 'string' || typeof looking !== 'object' || looking === null) return null;
  const { part, filter, seq } = looking as Record<string, unknown>;
  return {
    question,
    looking: {
      part: traceParts.find((known) => known === part) ?? 'rules',
      filter: readFilter(filter),
      seq: typeof seq === 'number' ? seq : null,
    },
  };
}

/** Returns the state for a question, and its setter. */
export function useLooking(question: string): [Looking, (next: Looking) => void] {
  const [state, setState] = useState<Remembered>(() => {
    const last = readStoredState(storageKey, readRemembered, { question, looking: atFirst }, sessionStorage);
    return last.question === question ? last : { question, looking: atFirst };
  });
  const looking = state.question === question ? state.looking : atFirst;
  function look(next: Looking): void {
    const remembered = { question, looking: next };
    writeStored(storageKey, remembered, sessionStorage);
    setState(remembered);
  }
  return [looking, look];
}
