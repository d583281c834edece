/** The window of the address, selected again whenever that changes: as rows, as text, and compared with another. */
import { useCallback, useEffect, useMemo } from 'react';
import type { ContextWindow, Contradiction, OmissionReason } from '../../../engine/contract/context.ts';
import type { ContextEntry } from '../../../engine/contract/memory.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { noteGeneration } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { type Run, useRun } from '../../api/use-run.ts';
import {
  type ContextSearch,
  type WindowFields,
  windowFieldsOf,
  type WindowRowFilter,
} from './context-search.ts';
import { inspecting, readForm, type WindowRequest } from './form.ts';
import { explaining, type WhyByAtom, whyByAtom } from './window-why.ts';

/** A row of the window's list; `cut` is the line where the budget ended. */
export type WindowRow =
  | {
      readonly kind: 'entry';
      /** Position from 1, in the order an agent reads. */
      readonly position: number;
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

/** The rendered atom of an entry. */
export function atomOfEntry({
  predicate,
  args,
  negated,
}: Pick<ContextEntry, 'predicate' | 'args' | 'negated'>): string {
  return renderAtom({ predicate, args: [...args], negated });
}

/** How often each omission reason occurs, in order of first occurrence. */
export function reasonCounts(window: ContextWindow): Map<OmissionReason, number> {
  const counts = new Map<OmissionReason, number>();
  for (const { reason } of window.omitted ?? []) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

/**
 * The entries in order; then, if the budget left facts out, the cut line and those facts; then facts left out
 * for other reasons. `filter` selects only entries or only omissions; `reason` only omissions for that
 * reason.
 */
export function windowRows(
  window: ContextWindow,
  filter: WindowRowFilter | undefined,
  reason: OmissionReason | null = null,
): WindowRow[] {
  const entries = window.entries.map(
    (entry, index): WindowRow => ({ kind: 'entry', position: index + 1, atom: atomOfEntry(entry), entry }),
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

/** True if nothing known has the words of the window's question. */
export function isUnknown({ window, request }: Pick<ChosenWindow, 'window' | 'request'>): boolean {
  const isAsked = (request.query ?? '') !== '' && (request.goals ?? []).length === 0 && request.fill !== true;
  return isAsked && window.mentions?.length === 0 && window.entries.length === 0;
}

/** The line of a row, to be explained. */
export function explainedLine(row: Exclude<WindowRow, { kind: 'cut' }>) {
  return { atom: row.atom, category: row.kind === 'entry' ? row.entry.category : null };
}

/** The response as JSON, without the list of omissions, which only the inspector requests. */
export function windowAsJson(window: ContextWindow): string {
  const { omitted: _omitted, omittedComplete: _omittedComplete, ...answer } = window;
  return JSON.stringify(answer, null, 2);
}

/** The facts, one statement per line, in order; then, after an empty line, the rules. */
export function windowAsText({ entries, relevantRules }: ContextWindow): string {
  const facts = entries.map((entry) => `${atomOfEntry(entry)}.`);
  const rules = relevantRules.map((rule) => `${rule}.`);
  return [...facts, ...(facts.length > 0 && rules.length > 0 ? [''] : []), ...rules].join('\n');
}

/** The body of POST /context/optimize that returns the window; `session` stores it there. */
export function requestAsJson(request: WindowRequest, session: string | undefined): string {
  return JSON.stringify(session === undefined ? request : { ...request, sessionId: session }, null, 2);
}

/** Which sides of a contradiction are in the window. */
type Given = 'positive' | 'negative' | 'both' | 'neither';

/** A contradiction with what became of its sides. */
export interface ContradictionRow {
  readonly contradiction: Contradiction;
  /** The positive atom; the other side is its negation. */
  readonly positive: string;
  readonly negative: string;
  readonly given: Given;
  /** The side left out as the weaker one; null: none. */
  readonly weaker: 'positive' | 'negative' | null;
}

/** The contradictions in the order of the response. */
export function contradictionRows(window: ContextWindow): ContradictionRow[] {
  const inWindow = new Set(window.entries.map(atomOfEntry));
  const weaker = new Set(
    (window.omitted ?? []).flatMap(({ atom, reason }) => (reason === 'contradiction' ? [atom] : [])),
  );
  return window.contradictions.map((contradiction) => {
    const positive = atomOfEntry({ ...contradiction, negated: false });
    const negative = atomOfEntry({ ...contradiction, negated: true });
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

/** The outcome of a contradiction, in words. */
export function givenInWords({ given, weaker }: ContradictionRow): string {
  if (given === 'both') return 'both stay';
  if (weaker === 'positive') return given === 'negative' ? 'false wins' : 'false wins, but has no room';
  if (weaker === 'negative') return given === 'positive' ? 'true wins' : 'true wins, but has no room';
  if (given === 'neither') return 'both are left out';
  return given === 'positive' ? 'only true is in the window' : 'only false is in the window';
}

/** A fact of either window. */
export interface ComparedFact {
  /** `gone`: only in the pinned window; `new`: only in the shown one. */
  readonly change: 'gone' | 'new' | 'both';
  readonly atom: string;
  /** Positions from 1; null if absent from that window. */
  readonly before: number | null;
  readonly now: number | null;
  /** The current entry if there is one, else the pinned one. */
  readonly entry: ContextEntry;
}

function positionsOf(window: ContextWindow): Map<string, { position: number; entry: ContextEntry }> {
  // Several scopes may store an atom; a window has it once.
  return new Map(window.entries.map((entry, index) => [atomOfEntry(entry), { position: index + 1, entry }]));
}

/** Removed facts in the order of the pinned window, then the current ones in theirs. */
export function compareWindows(pinned: ContextWindow, shown: ContextWindow): ComparedFact[] {
  const before = positionsOf(pinned);
  const now = positionsOf(shown);
  const rows: ComparedFact[] = [];
  for (const [atom, { position, entry }] of before)
    if (!now.has(atom)) rows.push({ change: 'gone', atom, before: position, now: null, entry });
  for (const [atom, { position, entry }] of now) {
    const earlier = before.get(atom)?.position ?? null;
    rows.push({ change: earlier === null ? 'new' : 'both', atom, before: earlier, now: position, entry });
  }
  return rows;
}

const words: Readonly<Record<keyof Omit<WindowFields, 'session'>, string>> = {
  query: 'question',
  goals: 'goals',
  proofs: 'proofs',
  fill: 'filling',
  facts: 'facts',
  chars: 'characters',
  tokens: 'tokens',
  predicates: 'predicates',
  cap: 'predicate cap',
  buckets: 'buckets',
  inferred: 'conclusions',
  resolve: 'contradictions',
};

/** The names of the fields that differ between the two forms. */
export function differingFormFields(before: WindowFields, now: WindowFields): string[] {
  return (Object.keys(words) as (keyof typeof words)[]).flatMap((field) =>
    (before[field] ?? '') === (now[field] ?? '') ? [] : [words[field]],
  );
}

/** A window with the request that selected it. */
export interface ChosenWindow {
  readonly window: ContextWindow;
  /** As an agent would send it. */
  readonly request: WindowRequest;
  readonly fields: WindowFields;
  /** With a query: why the search finds a fact or conclusion, by its atom. */
  readonly why: WhyByAtom;
  readonly elapsedMs: number;
}

/** The window of the address, and its progress. */
export function useWindow(search: ContextSearch): Run<ChosenWindow> & { again(): void } {
  const { call, space, moment } = useSession();
  const { scope } = space;
  const run = useRun<ChosenWindow>();
  const { start, clear } = run;
  // The session only stores windows: it does not change the selection.
  const key = JSON.stringify({ ...windowFieldsOf({ ...search }), session: undefined });
  const fields = useMemo(() => windowFieldsOf(JSON.parse(key) as Record<string, unknown>), [key]);
  // A link has filled in the form, and the user chooses.
  const waits = search.unasked === 'true';
  const again = useCallback(() => {
    const { request } = readForm(fields, scope);
    if (request === null || waits) {
      clear();
      return;
    }
    start(async (signal) => {
      const since = performance.now();
      const searched = explaining(request);
      const [answer, found] = await Promise.all([
        call('optimizeContext', { body: inspecting(request) }, { signal }),
        searched === null ? null : call('search', { body: searched }, { signal }),
      ]);
      noteGeneration(answer.knowledgeGeneration, moment);
      // It has entries, because no text was asked for.
      const window = answer as ContextWindow;
      const why = whyByAtom(found?.hits ?? []);
      return { window, request, fields, why, elapsedMs: performance.now() - since };
    });
  }, [call, scope, moment, start, clear, fields, waits]);
  useEffect(() => again(), [again]);
  return { ...run, again };
}
