/** A window and what was left out of it as one list, with the line where the budget ended. */
import type { ContextWindow, Contradiction, OmissionReason } from '../../../engine/contract/context.ts';
import type { ContextEntry } from '../../../engine/contract/memory.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import type { RowFilter, WindowFields } from './context-search.ts';
import type { WindowRequest } from './read-form.ts';

export type WindowRow =
  | {
      readonly kind: 'entry';
      /** Counted from 1, in the order in which an agent reads. */
      readonly place: number;
      readonly atom: string;
      readonly entry: ContextEntry;
    }
  | { readonly kind: 'cut' }
  | {
      readonly kind: 'omitted';
      readonly atom: string;
      readonly salience: number;
      readonly reason: OmissionReason;
    };

export function atomOf({
  predicate,
  args,
  negated,
}: Pick<ContextEntry, 'predicate' | 'args' | 'negated'>): string {
  return renderAtom({ predicate, args: [...args], negated });
}

/** How often each reason for leaving out occurs, in the order in which reasons first occur. */
export function reasonCounts(window: ContextWindow): Map<OmissionReason, number> {
  const counts = new Map<OmissionReason, number>();
  for (const { reason } of window.omitted ?? []) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

/**
 * The entries in order; then, where the budget left something out, the line and what is below it; then what was left
 * out for other reasons. `filter`: only those in the window, or only those left out; `reason`: only left out for it.
 */
export function windowRows(
  window: ContextWindow,
  filter: RowFilter | undefined,
  reason: OmissionReason | null = null,
): WindowRow[] {
  const entries = window.entries.map(
    (entry, index): WindowRow => ({ kind: 'entry', place: index + 1, atom: atomOf(entry), entry }),
  );
  if (filter === 'in') return entries;
  const omitted = (window.omitted ?? [])
    .filter((each) => reason === null || each.reason === reason)
    .map((each) => ({ kind: 'omitted', ...each }) as const);
  const below = omitted.filter((each) => each.reason === 'budget');
  const others = omitted.filter((each) => each.reason !== 'budget');
  if (filter === 'out') return [...below, ...others];
  return [...entries, ...(below.length > 0 ? [{ kind: 'cut' } as const, ...below] : []), ...others];
}

// HEAD window-text.ts: A window as it is copied: what an agent gets that asks by the same request, and nothing that only the inspector has.

/** The answer as JSON. What was left out is no part of it: it is listed only where that is asked for. */
export function windowAsJson(window: ContextWindow): string {
  const { omitted: _omitted, omittedComplete: _omittedComplete, ...answer } = window;
  return JSON.stringify(answer, null, 2);
}

/** The facts, one a line, in order; then, after an empty line, the rules. Each is a statement of the language. */
export function windowAsText({ entries, relevantRules }: ContextWindow): string {
  const facts = entries.map((entry) => `${atomOf(entry)}.`);
  const rules = relevantRules.map((rule) => `${rule}.`);
  return [...facts, ...(facts.length > 0 && rules.length > 0 ? [''] : []), ...rules].join('\n');
}

/** The body of POST /context/optimize that gives the window. `session`: where it is to be kept. */
export function requestAsJson(request: WindowRequest, session: string | undefined): string {
  return JSON.stringify(session === undefined ? request : { ...request, sessionId: session }, null, 2);
}

// HEAD contradictions.ts: The contradictions of a window, and which side of each an agent is given.

/** `both` and `neither`: as many sides stand in the window. */
type Given = 'positive' | 'negative' | 'both' | 'neither';

export interface ContradictionRow {
  readonly contradiction: Contradiction;
  /** The atom as it is true; the other side is its negation. */
  readonly positive: string;
  readonly negative: string;
  readonly given: Given;
  /** The side that was left out as the weaker one; null where none was. */
  readonly weaker: 'positive' | 'negative' | null;
}

/** The contradictions in the order of the answer. */
export function contradictionRows(window: ContextWindow): ContradictionRow[] {
  const inWindow = new Set(window.entries.map(atomOf));
  const weaker = new Set(
    (window.omitted ?? []).flatMap(({ atom, reason }) => (reason === 'contradiction' ? [atom] : [])),
  );
  return window.contradictions.map((contradiction) => {
    const positive = atomOf({ ...contradiction, negated: false });
    const negative = atomOf({ ...contradiction, negated: true });
    const [isTrue, isFalse] = [inWindow.has(positive), inWindow.has(negative)];
    return {
      contradiction,
      positive,
      negative,
      given: isTrue ? (isFalse ? 'both' : 'positive') : isFalse ? 'negative' : 'neither',
      weaker: weaker.has(positive) ? 'positive' : weaker.has(negative) ? 'negative' : null,
    };
  });
}

/** What became of a contradiction, in words. */
export function givenInWords({ given, weaker }: ContradictionRow): string {
  if (given === 'both') return 'both stay';
  if (weaker === 'positive') return given === 'negative' ? 'false wins' : 'false wins, but has no room';
  if (weaker === 'negative') return given === 'positive' ? 'true wins' : 'true wins, but has no room';
  if (given === 'neither') return 'both are left out';
  return given === 'positive' ? 'only true is in the window' : 'only false is in the window';
}

// HEAD compare-windows.ts: What differs between a window that was kept and the one that is shown.

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
