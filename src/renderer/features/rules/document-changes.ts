/**
 * What an edited document changes, and what becomes of it when others change rules meanwhile.
 *
 * A draft is a text and the rules that it is based on, with the entity tags they had. The text is matched with them: the
 * same rule is found wherever it moved, and of the others an edited rule is one that lies between the same neighbours,
 * or has the same head. A change by others is taken into the text where the user has not touched the rule; elsewhere it is
 * a conflict, and nothing is saved until the user chooses. Pure.
 */
import { applyTextEdits, type TextEdit } from '../../../editing/read-text.ts';
import {
  type BaseRule,
  blockOf,
  documentOf,
  type DocumentEntry,
  type DocumentRule,
  gapBetween,
  rulesByHead,
  headOf,
  ruleKeyOf,
  isAlike,
  readDocument,
} from './rule-document.ts';

/** One difference between a document and the rules it is based on. */
export type DocumentChange =
  | { readonly kind: 'taught'; readonly entry: DocumentEntry }
  | { readonly kind: 'changed'; readonly base: BaseRule; readonly entry: DocumentEntry }
  | { readonly kind: 'removed'; readonly base: BaseRule };

/** A document while it is edited. */
export interface DocumentDraft {
  readonly text: string;
  readonly base: readonly BaseRule[];
}

/** A rule edited here and changed by others. */
export interface DocumentConflict {
  readonly base: BaseRule;
  /** As stored now; null if deleted. */
  readonly stored: BaseRule | null;
  /** null if deleted here. */
  readonly mine: DocumentEntry | null;
}

/** Pairs the rules of a base with the entries of a text. */
function matched(
  base: readonly BaseRule[],
  entries: readonly DocumentEntry[],
): ReadonlyMap<BaseRule, DocumentEntry> {
  const pairs = new Map<BaseRule, DocumentEntry>();
  const taken = new Set<DocumentEntry>();
  function pair(rule: BaseRule, entry: DocumentEntry): void {
    pairs.set(rule, entry);
    taken.add(entry);
  }
  const byIdentity = new Map(base.map((rule) => [ruleKeyOf(rule), rule]));
  for (const entry of entries) {
    const rule = byIdentity.get(ruleKeyOf(entry));
    if (rule !== undefined && !pairs.has(rule)) pair(rule, entry);
  }
  if (pairs.size === base.length) return pairs;
  // Between the same neighbours, one for one.
  const grouped = [...rulesByHead(base).values()].flat();
  const position = new Map(entries.map((entry, index) => [entry, index]));
  for (let index = 0; index < grouped.length; index++) {
    if (pairs.has(grouped[index] as BaseRule)) continue;
    let end = index;
    while (end < grouped.length && !pairs.has(grouped[end] as BaseRule)) end++;
    const before =
      index === 0 ? -1 : (position.get(pairs.get(grouped[index - 1] as BaseRule) as DocumentEntry) ?? -1);
    const lost = grouped.slice(index, end);
    const found: DocumentEntry[] = [];
    for (let at = before + 1; at < entries.length && !taken.has(entries[at] as DocumentEntry); at++)
      found.push(entries[at] as DocumentEntry);
    if (lost.length === found.length) lost.forEach((rule, at) => pair(rule, found[at] as DocumentEntry));
    index = end;
  }
  // Elsewhere, by head in order.
  const loose = entries.filter((entry) => !taken.has(entry));
  for (const rule of grouped) {
    if (pairs.has(rule)) continue;
    const at = loose.findIndex((entry) => headOf(entry) === headOf(rule) && entry.scope === rule.scope);
    const [entry] = at < 0 ? [] : loose.splice(at, 1);
    if (entry !== undefined) pair(rule, entry);
  }
  return pairs;
}

/** Returns what saving would do: removals, changes in the order of the base, then new rules in the order of the text. */
export function documentChangesOf(
  base: readonly BaseRule[],
  entries: readonly DocumentEntry[],
): DocumentChange[] {
  const pairs = matched(base, entries);
  const known = new Set(pairs.values());
  const removed: DocumentChange[] = [];
  const changed: DocumentChange[] = [];
  for (const rule of base) {
    const entry = pairs.get(rule);
    if (entry === undefined) removed.push({ kind: 'removed', base: rule });
    else if (!isAlike(rule, entry)) changed.push({ kind: 'changed', base: rule, entry });
  }
  const taught = entries.filter((entry) => !known.has(entry));
  return [...removed, ...changed, ...taught.map((entry): DocumentChange => ({ kind: 'taught', entry }))];
}

/** Collects edits of a document. */
class Edits {
  readonly #text: string;
  readonly #entries: readonly DocumentEntry[];
  readonly #edits: TextEdit[] = [];
  readonly #added = new Map<string, BaseRule[]>();

  constructor(text: string, entries: readonly DocumentEntry[]) {
    this.#text = text;
    this.#entries = entries;
  }

  replace({ block }: DocumentEntry, rule: DocumentRule): void {
    this.#edits.push({ ...block, text: blockOf(rule) });
  }

  remove({ block: { start, end } }: DocumentEntry): void {
    const after = /^[ \t]*\n/.exec(this.#text.slice(end, end + 200))?.[0].length ?? 0;
    this.#edits.push({ start, end: end + after, text: '' });
  }

  add(rule: BaseRule): void {
    const head = headOf(rule);
    this.#added.set(head, [...(this.#added.get(head) ?? []), rule]);
  }

  /** The text after the edits: added rules follow the last one of their head. */
  applied(): string {
    if (this.#edits.length === 0 && this.#added.size === 0) return this.#text;
    const lastOf = new Map(this.#entries.map((entry) => [headOf(entry), entry]));
    const appended: BaseRule[] = [];
    for (const [head, rules] of this.#added) {
      const last = lastOf.get(head);
      if (last === undefined) {
        appended.push(...rules);
        continue;
      }
      let before = this.#text.slice(last.block.start, last.block.end);
      let text = '';
      for (const rule of rules) {
        const block = blockOf(rule);
        text += gapBetween(before, block) + block;
        before = block;
      }
      this.#edits.push({ start: last.block.end, end: last.block.end, text });
    }
    const edited = withoutEmptyGroups(applyOrdered(this.#text, this.#edits));
    if (appended.length === 0) return edited;
    const start = edited.trimEnd();
    return `${start === '' ? '' : `${start}\n\n`}${documentOf(appended)}`;
  }
}

/** Applies edits of which insertions at the end of a replaced block come after it. */
function applyOrdered(text: string, edits: readonly TextEdit[]): string {
  const replaced = edits.filter(({ start, end }) => end > start);
  const joined = [...replaced];
  for (const inserted of edits.filter(({ start, end }) => start === end)) {
    const at = joined.findIndex(({ start, end }) => start < inserted.start && inserted.start <= end);
    const host = joined[at];
    if (host === undefined) joined.push(inserted);
    // Removed with its line break: the inserted block takes its place.
    else if (host.text === '') joined[at] = { ...host, text: `${inserted.text.replace(/^\n+/, '')}\n` };
    else joined[at] = { ...host, text: host.text + inserted.text };
  }
  return applyTextEdits(text, joined);
}

/** Drops headings of groups that have no rules any more. */
function withoutEmptyGroups(text: string): string {
  const lines = text.split('\n');
  const kept: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (/^%% -?\S.*\/\d+$/.test(line)) {
      let next = index + 1;
      while (next < lines.length && lines[next]?.trim() === '') next++;
      if (next === lines.length || (lines[next] ?? '').startsWith('%% ')) continue;
    }
    kept.push(line);
  }
  return kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+/, '');
}

/** Returns the draft of unedited rules. */
export function draftOfRules(base: readonly BaseRule[]): DocumentDraft {
  return { text: documentOf(base), base };
}

/** A draft that has taken in what is stored, and what it could not take in. */
export interface Rebased {
  readonly draft: DocumentDraft;
  readonly conflicts: readonly DocumentConflict[];
}

type Resolution = 'mine' | 'theirs';

/** What becomes of one rule of the base: its new base, null if it is gone; and whether the text takes the stored one. */
type Outcome = { readonly base: BaseRule | null; readonly takes: boolean } | 'conflict';

function outcomeOf({ base, stored, mine }: DocumentConflict, resolution: Resolution | null): Outcome {
  const isTheirs = stored === null || !isAlike(base, stored);
  if (!isTheirs) return { base: stored, takes: false };
  const isMine = mine === null || !isAlike(base, mine);
  if (!isMine) return { base: stored, takes: true };
  if (stored === null && mine === null) return { base: null, takes: false };
  if (stored !== null && mine !== null && isAlike(stored, mine)) return { base: stored, takes: false };
  if (resolution === null) return 'conflict';
  return { base: stored, takes: resolution === 'theirs' };
}

/**
 * Takes into a draft what is stored now. `resolution` settles conflicts; without it they keep their base and are
 * returned. A text that cannot be parsed as a whole stays as it is, with its base.
 */
export function rebased(
  draft: DocumentDraft,
  stored: readonly BaseRule[],
  resolution: Resolution | null = null,
): Rebased {
  const { entries, isWhole } = readDocument(draft.text);
  if (!isWhole) return { draft, conflicts: [] };
  const pairs = matched(draft.base, entries);
  const now = new Map(stored.map((rule) => [rule.id, rule]));
  const edits = new Edits(draft.text, entries);
  const conflicts: DocumentConflict[] = [];
  const bases = new Map<string, BaseRule>();
  for (const base of draft.base) {
    const conflict = { base, stored: now.get(base.id) ?? null, mine: pairs.get(base) ?? null };
    const outcome = outcomeOf(conflict, resolution);
    if (outcome === 'conflict') {
      conflicts.push(conflict);
      bases.set(base.id, base);
      continue;
    }
    if (outcome.base !== null) bases.set(base.id, outcome.base);
    if (!outcome.takes) continue;
    if (conflict.mine === null) {
      if (outcome.base !== null) edits.add(outcome.base);
    } else if (outcome.base === null) edits.remove(conflict.mine);
    else edits.replace(conflict.mine, outcome.base);
  }
  const known = new Set(draft.base.map(({ id }) => id));
  const matchedEntries = new Set(pairs.values());
  const written = new Set(entries.filter((entry) => !matchedEntries.has(entry)).map(ruleKeyOf));
  for (const rule of stored) {
    if (known.has(rule.id)) continue;
    bases.set(rule.id, rule);
    if (!written.has(ruleKeyOf(rule))) edits.add(rule);
  }
  return { draft: { text: edits.applied(), base: [...bases.values()] }, conflicts };
}
