/** What differs between a window that was kept and the one that is shown. */
import type { ContextWindow } from '../../../engine/contract/context.ts';
import type { ContextEntry } from '../../../engine/contract/memory.ts';
import type { WindowFields } from './context-search.ts';
import { atomOf } from './window-rows.ts';

export interface ComparedRow {
  /** `gone`: only in the kept window; `new`: only in the one that is shown. */
  readonly change: 'gone' | 'new' | 'both';
  readonly atom: string;
  /** Places from 1; null where it is not in that window. */
  readonly before: number | null;
  readonly now: number | null;
  /** As it is now, where it is there. */
  readonly entry: ContextEntry;
}

function placesOf(window: ContextWindow): Map<string, { place: number; entry: ContextEntry }> {
  // Several scopes may store an atom; a window has it once.
  return new Map(window.entries.map((entry, index) => [atomOf(entry), { place: index + 1, entry }]));
}

/** What went in the order of the kept window, then what is there now in its order. */
export function compareWindows(kept: ContextWindow, shown: ContextWindow): ComparedRow[] {
  const before = placesOf(kept);
  const now = placesOf(shown);
  const rows: ComparedRow[] = [];
  for (const [atom, { place, entry }] of before)
    if (!now.has(atom)) rows.push({ change: 'gone', atom, before: place, now: null, entry });
  for (const [atom, { place, entry }] of now) {
    const earlier = before.get(atom)?.place ?? null;
    rows.push({ change: earlier === null ? 'new' : 'both', atom, before: earlier, now: place, entry });
  }
  return rows;
}

const words: Readonly<Record<keyof Omit<WindowFields, 'session'>, string>> = {
  goals: 'goals',
  facts: 'facts',
  chars: 'characters',
  predicates: 'predicates',
  cap: 'most of a predicate',
  buckets: 'buckets',
  inferred: 'conclusions',
  resolve: 'contradictions',
};

/** The names of the fields by which the two windows were chosen differently. */
export function differingFields(before: WindowFields, now: WindowFields): string[] {
  return (Object.keys(words) as (keyof typeof words)[]).flatMap((field) =>
    (before[field] ?? '') === (now[field] ?? '') ? [] : [words[field]],
  );
}
