/**
 * Conflicts between staged edits and the stored facts, and the two ways to resolve each.
 *
 * An edit conflicts if its fact has changed since it was edited, or if it would overwrite a fact
 * unintentionally. It does not if the stored fact is already as intended. Pure.
 */
import {
  contentOf,
  fieldDifferences,
  type FactContent,
  identityOf,
  isSameContent,
  type Presents,
  type SeenFact,
  type StagedEdit,
  type StagedEdits,
  unstage,
} from './staged-edits.ts';

/** A conflict of one edit. */
export interface EditConflict {
  readonly key: string;
  /** `changed` or `gone`: the edited fact. `exists`: another fact is stored where the edit would put one. */
  readonly kind: 'changed' | 'gone' | 'exists';
  /** The intended fact; null: removed. */
  readonly mine: FactContent | null;
  /** The fact that the edit expected to be stored; null: none. */
  readonly expected: FactContent | null;
  /** The stored fact; null: none. */
  readonly theirs: SeenFact | null;
}

/** The conflicts of the edits with the stored facts. */
export function editConflictsOf(edits: StagedEdits, presents: Presents): EditConflict[] {
  // Facts that edits remove make room for others; conflicts with them are found at their own edits.
  const vacated = new Set(edits.flatMap((edit) => (edit.kind === 'added' ? [] : [identityOf(edit.base)])));
  return edits.flatMap((edit) => {
    const conflict = conflictWithBase(edit, presents) ?? conflictInPlace(edit, presents, vacated);
    return conflict === null ? [] : [conflict];
  });
}

function conflictWithBase(edit: StagedEdit, presents: Presents): EditConflict | null {
  if (edit.kind === 'added') return null;
  const present = presents.get(identityOf(edit.base));
  if (present === undefined) return null;
  const theirs = present.fact;
  const mine = edit.kind === 'changed' ? edit.fact : null;
  const common = { key: edit.key, mine, expected: contentOf(edit.base), theirs };
  if (theirs === null) return mine === null || isThere(mine, presents) ? null : { ...common, kind: 'gone' };
  if (isSameContent(theirs, edit.base) || (mine !== null && isSameContent(theirs, mine))) return null;
  return { ...common, kind: 'changed' };
}

function isThere(fact: FactContent, presents: Presents): boolean {
  const stored = presents.get(identityOf(fact))?.fact ?? null;
  return stored !== null && isSameContent(stored, fact);
}

function conflictInPlace(
  edit: StagedEdit,
  presents: Presents,
  vacated: ReadonlySet<string>,
): EditConflict | null {
  if (edit.kind === 'removed') return null;
  const { key, fact, over } = edit;
  const identity = identityOf(fact);
  if (vacated.has(identity)) return null;
  const theirs = presents.get(identity)?.fact ?? null;
  if (theirs === null || isSameContent(theirs, fact) || (over !== null && isSameContent(theirs, over)))
    return null;
  return { key, kind: 'exists', mine: fact, expected: over, theirs };
}

/** The edits with one rebased onto the stored fact: fields it did not change keep their stored values. */
export function keepMine(edits: StagedEdits, conflict: EditConflict): StagedEdits {
  const at = edits.findIndex(({ key }) => key === conflict.key);
  const edit = edits[at];
  if (edit === undefined) return edits;
  const { kind, theirs } = conflict;
  if (kind === 'exists') {
    if (edit.kind === 'removed') return edits;
    return edits.with(at, { ...edit, over: theirs === null ? null : contentOf(theirs) });
  }
  if (edit.kind === 'added') return edits;
  if (theirs === null) {
    if (edit.kind === 'removed') return unstage(edits, edit.key);
    return edits.with(at, { kind: 'added', key: newKeyOf(edits), fact: edit.fact, over: edit.over });
  }
  // The fact may have been removed and added again under another id.
  if (edits.some(({ key }, index) => key === theirs.id && index !== at)) return unstage(edits, edit.key);
  if (edit.kind === 'removed') return edits.with(at, { kind: 'removed', key: theirs.id, base: theirs });
  const fact = mineOver(edit.base, edit.fact, theirs);
  if (isSameContent(fact, theirs)) return unstage(edits, edit.key);
  return edits.with(at, { ...edit, key: theirs.id, base: theirs, fact });
}

/** `theirs` with the fields that `mine` changed from `base`. */
function mineOver(base: FactContent, mine: FactContent, theirs: FactContent): FactContent {
  const changed = fieldDifferences(base, mine).map((field) => [field, mine[field]] as const);
  return { ...contentOf(theirs), ...Object.fromEntries(changed) };
}

/** The fact after rebasing; null: removed. */
export function withMineKept({ kind, mine, expected, theirs }: EditConflict): FactContent | null {
  if (kind === 'exists' || mine === null || expected === null || theirs === null) return mine;
  return mineOver(expected, mine, theirs);
}

function newKeyOf(edits: StagedEdits): string {
  let number = 1;
  while (edits.some(({ key }) => key === `+${number}`)) number += 1;
  return `+${number}`;
}
