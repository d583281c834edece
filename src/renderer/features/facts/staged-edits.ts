/**
 * Staged edits of facts, not yet applied: rows added, changed and removed, and the writes of Apply. Pure
 * values.
 *
 * An edit of a stored fact keeps the fact as it was shown (`base`), so that a concurrent change is detected
 * by content. The identity of a fact is its predicate, arguments, truth value and scope: editing one of those
 * removes a fact and adds another, atomically. Whatever the edits, each fact is written at most once.
 */
import type { Metadata, StoredFact } from '../../../engine/contract/facts.ts';
import type { TransactionWrite } from '../../api/transaction.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { formatCount } from '../../ui/format.ts';

/** The editable content of a fact. Times are epoch milliseconds; null: unbounded. */
export interface FactContent {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
  readonly metadata: Metadata;
}

/** A stored fact as shown. */
export interface SeenFact extends FactContent {
  readonly id: string;
}

interface Outcome {
  /** Key of the edit; for a stored fact its id. */
  readonly key: string;
  /** The intended fact. */
  readonly fact: FactContent;
  /** A known stored fact to be overwritten; null: none is expected. */
  readonly over: FactContent | null;
}

/** One staged edit. */
export type StagedEdit =
  | ({ readonly kind: 'added' } & Outcome)
  | ({ readonly kind: 'changed'; readonly base: SeenFact } & Outcome)
  | { readonly kind: 'removed'; readonly key: string; readonly base: SeenFact };

/** In the order in which rows were first edited; keys are unique. */
export type StagedEdits = readonly StagedEdit[];

/** Maximum number of staged rows. */
export const maxStagedRows = 1_000;

/** Equal exactly for the same fact. */
export function identityOf(fact: Pick<FactContent, 'predicate' | 'args' | 'truthVal' | 'scope'>): string {
  return JSON.stringify([fact.predicate, fact.args, fact.truthVal, fact.scope]);
}

/** The editable content of a stored fact. */
export function contentOf(fact: FactContent): FactContent {
  const { predicate, args, truthVal, scope, validFrom, validUntil, metadata } = fact;
  return { predicate, args, truthVal, scope, validFrom, validUntil, metadata };
}

/** A row of the service as shown; null for a conclusion, which is not stored. */
export function seenFactOf(fact: StoredFact): SeenFact | null {
  return fact.id === null ? null : { id: fact.id, ...contentOf(fact) };
}

/** JSON with sorted object keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** True if both have the same editable content. */
export function isSameContent(a: FactContent, b: FactContent): boolean {
  return canonical(contentOf(a)) === canonical(contentOf(b));
}

/** The fields that differ between two facts. */
export function fieldDifferences(a: FactContent, b: FactContent): (keyof FactContent)[] {
  const fields = Object.keys(contentOf(a)) as (keyof FactContent)[];
  return fields.filter((field) => canonical(a[field]) !== canonical(b[field]));
}

function outcomeOf(edit: StagedEdit): FactContent | null {
  return edit.kind === 'removed' ? null : edit.fact;
}

function baseOf(edit: StagedEdit): SeenFact | null {
  return edit.kind === 'added' ? null : edit.base;
}

function nextKey(edits: StagedEdits): string {
  const numbers = edits.map(({ key }) => Number(/^\+(\d+)$/.exec(key)?.[1] ?? 0));
  return `+${1 + Math.max(0, ...numbers)}`;
}

/** Replaces the edit with the same key, or appends. */
function put(edits: StagedEdits, edit: StagedEdit): StagedEdits {
  const at = edits.findIndex(({ key }) => key === edit.key);
  if (at < 0) return [...edits, edit];
  // Returns the same object if nothing changes: that is no step to undo.
  return canonical(edits[at]) === canonical(edit) ? edits : edits.with(at, edit);
}

/** The edits without the one with that key. */
export function unstage(edits: StagedEdits, key: string): StagedEdits {
  return edits.some((edit) => edit.key === key) ? edits.filter((edit) => edit.key !== key) : edits;
}

/** Stages a new fact; reuses an edit that adds or removes the same fact. */
export function stageAdded(edits: StagedEdits, fact: FactContent): StagedEdits {
  const identity = identityOf(fact);
  const removed = edits.find((edit) => edit.kind === 'removed' && identityOf(edit.base) === identity);
  if (removed?.kind === 'removed') return stageChanged(edits, removed.base, fact);
  const same = edits.find((edit) => edit.kind === 'added' && identityOf(edit.fact) === identity);
  const key = same?.key ?? nextKey(edits);
  return put(edits, { kind: 'added', key, fact: contentOf(fact), over: null });
}

/**
 * Stages new content for a stored fact; keeps the first base, and drops the edit if the content equals it.
 */
export function stageChanged(edits: StagedEdits, seen: SeenFact, fact: FactContent): StagedEdits {
  const before = edits.find(({ key }) => key === seen.id);
  const base = (before === undefined ? null : baseOf(before)) ?? seen;
  if (isSameContent(base, fact)) return unstage(edits, base.id);
  const isSameOutcome = before?.kind === 'changed' && identityOf(before.fact) === identityOf(fact);
  const over = isSameOutcome ? before.over : null;
  return put(edits, { kind: 'changed', key: base.id, base, fact: contentOf(fact), over });
}

/** Stages other content for the row of an edit. */
export function restage(edits: StagedEdits, key: string, fact: FactContent): StagedEdits {
  const edit = edits.find((each) => each.key === key);
  if (edit === undefined) return edits;
  if (edit.kind !== 'added') return stageChanged(edits, edit.base, fact);
  const over = identityOf(edit.fact) === identityOf(fact) ? edit.over : null;
  return put(edits, { ...edit, fact: contentOf(fact), over });
}

/** Stages the removal of a stored fact. */
export function stageRemoved(edits: StagedEdits, seen: SeenFact): StagedEdits {
  const before = edits.find(({ key }) => key === seen.id);
  const base = (before === undefined ? null : baseOf(before)) ?? seen;
  return put(edits, { kind: 'removed', key: base.id, base });
}

interface EditCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** The number of edits by kind. */
export function editCountsOf(edits: StagedEdits): EditCounts {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const { kind } of edits) counts[kind] += 1;
  return counts;
}

/** `1 added, 2 removed`; empty if there are none. */
export function countsText(counts: EditCounts): string {
  const words = (['added', 'changed', 'removed'] as const).filter((kind) => counts[kind] > 0);
  return words.map((kind) => `${formatCount(counts[kind])} ${kind}`).join(', ');
}

/** Keys of the edits that would result in the same fact as another. */
export function clashesOf(edits: StagedEdits): ReadonlySet<string> {
  const byIdentity = new Map<string, string[]>();
  for (const edit of edits) {
    const fact = outcomeOf(edit);
    if (fact === null) continue;
    const identity = identityOf(fact);
    const keys = byIdentity.get(identity);
    if (keys === undefined) byIdentity.set(identity, [edit.key]);
    else keys.push(edit.key);
  }
  return new Set([...byIdentity.values()].filter((keys) => keys.length > 1).flat());
}

/** The stored state of one identity: the fact or null, and a generation at which it was so. */
export interface Present {
  readonly fact: SeenFact | null;
  readonly generation: number;
}

/** The stored state by identity, for every fact that the edits concern. */
export type Presents = ReadonlyMap<string, Present>;

/** A fact that edits concern; `id` if it was shown as stored. */
export interface Concerned {
  readonly identity: string;
  readonly fact: FactContent;
  readonly id: string | null;
}

/** The facts that the edits concern, without duplicates. */
export function concernedBy(edits: StagedEdits): Concerned[] {
  const found = new Map<string, Concerned>();
  for (const edit of edits) {
    const base = baseOf(edit);
    if (base !== null) found.set(identityOf(base), { identity: identityOf(base), fact: base, id: base.id });
  }
  for (const edit of edits) {
    const fact = outcomeOf(edit);
    if (fact === null || found.has(identityOf(fact))) continue;
    found.set(identityOf(fact), { identity: identityOf(fact), fact, id: null });
  }
  return [...found.values()];
}

/** A fact before and after; null: absent. */
export interface ContentChange {
  readonly before: FactContent | null;
  readonly after: FactContent | null;
}

/** The net changes of the edits over the stored facts, one per fact. */
export function netChangesOf(edits: StagedEdits, presents: Presents): ContentChange[] {
  const afters = new Map<string, FactContent | null>();
  for (const edit of edits) {
    const base = baseOf(edit);
    if (base !== null) afters.set(identityOf(base), null);
  }
  for (const edit of edits) {
    const fact = outcomeOf(edit);
    if (fact !== null) afters.set(identityOf(fact), fact);
  }
  return [...afters].flatMap(([identity, after]) => {
    const before = presents.get(identity)?.fact ?? null;
    const isMoot = before === null || after === null ? before === after : isSameContent(before, after);
    return isMoot ? [] : [{ before: before === null ? null : contentOf(before), after }];
  });
}

/** The inverse changes. */
export function inverseOf(changes: readonly ContentChange[]): ContentChange[] {
  return changes.map(({ before, after }) => ({ before: after, after: before }));
}

/** The number of changes by kind. */
export function changeCountsOf(changes: readonly ContentChange[]): EditCounts {
  const counts = { added: 0, changed: 0, removed: 0 };
  for (const { before, after } of changes)
    counts[before === null ? 'added' : after === null ? 'removed' : 'changed'] += 1;
  return counts;
}

/**
 * The writes of the changes, retractions first. `guardOf` gives the generation that guards the fact of an
 * identity: the service refuses the write if the fact changed since.
 */
export function editWritesOf(
  changes: readonly ContentChange[],
  guardOf: (identity: string) => number | null,
): TransactionWrite[] {
  const retractions = changes.flatMap(({ before, after }) =>
    before !== null && after === null ? [retractionOf(before, guardOf(identityOf(before)))] : [],
  );
  const assertions = changes.flatMap(({ before, after }) =>
    after === null ? [] : [assertionOf(before, after, guardOf(identityOf(after)))],
  );
  return [...retractions, ...assertions];
}

function retractionOf(fact: FactContent, ifGeneration: number | null): TransactionWrite {
  const { predicate, args, truthVal, scope } = fact;
  const body = { predicate, args: [...args], truthVal, ...scopeFieldsOfStored(scope), ifGeneration };
  return { operation: 'retract', input: { body } };
}

function assertionOf(
  before: FactContent | null,
  after: FactContent,
  ifGeneration: number | null,
): TransactionWrite {
  const { predicate, args, truthVal, scope, validFrom, validUntil, metadata } = after;
  // For a stored fact only the differing fields are sent: the rest keeps its value.
  const given = new Set(before === null ? Object.keys(after) : fieldDifferences(before, after));
  const body = {
    predicate,
    args: [...args],
    truthVal,
    scope,
    ...(given.has('validFrom') ? { validFrom: validFrom ?? 'always' } : {}),
    ...(given.has('validUntil') ? { validUntil: validUntil ?? 'never' } : {}),
    ...(given.has('metadata') ? { metadata } : {}),
    ifGeneration,
  };
  return { operation: 'assertFact', input: { body } };
}
