import { useEffect, useMemo } from 'react';
import { parseRule } from '../../../engine/language/parse.ts';
import { useRules } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { useSettledText } from './editor-body.tsx';
import { documentChangesOf, draftOfRules, rebased } from './document-changes.ts';
import { type BaseRule, baseRuleOf, readDocument } from './rule-document.ts';

/** The rules that a draft is based on, as text. */
function writtenBase(base: readonly BaseRule[]): string {
  return JSON.stringify(base.map(({ rule: _, ...stored }) => stored));
}

/** Reads them back; null if another version wrote them. */
function readBase(text: string): BaseRule[] | null {
  try {
    const rules = JSON.parse(text) as Omit<BaseRule, 'rule'>[];
    return rules.map((stored) => ({ ...stored, rule: parseRule(stored.text) }));
  } catch {
    // Not our format: the draft is dropped, and the document shows what is stored.
    return null;
  }
}

/** True if what is stored is not what the base has. */
function differs(base: readonly BaseRule[], stored: readonly BaseRule[]): boolean {
  return (
    base.length !== stored.length ||
    base.some(({ id, etag }, at) => stored[at]?.id !== id || stored[at].etag !== etag)
  );
}

/**
 * The document of all rules: what is stored, or the user's draft of it, which follows changes made elsewhere.
 *
 * Everything but `text` belongs to the text of a moment ago while a long one is typed.
 */
export function useDocument() {
  const { space } = useSession();
  const rules = useRules();
  const name = `rules-document.${space.database}`;
  const [written, setWritten] = useDraft(name);
  const [baseText, setBaseText] = useDraft(`${name}.base`);
  const stored = useMemo(() => rules.data?.map(baseRuleOf), [rules.data]);
  const kept = useMemo(() => (baseText === '' ? null : readBase(baseText)), [baseText]);
  const untouched = useMemo(() => draftOfRules(stored ?? []), [stored]);
  const text = kept === null ? untouched.text : written;
  const base = kept ?? untouched.base;
  const settled = useSettledText(text);
  const read = useMemo(() => readDocument(settled), [settled]);
  const changes = useMemo(() => documentChangesOf(base, read.entries), [base, read]);
  const following = useMemo(
    () =>
      kept !== null && stored !== undefined && differs(kept, stored)
        ? rebased({ text: settled, base: kept }, stored)
        : null,
    [kept, stored, settled],
  );

  useEffect(() => {
    if (following === null || settled !== text) return;
    const next = writtenBase(following.draft.base);
    if (next !== baseText) setBaseText(next);
    if (following.draft.text !== text) setWritten(following.draft.text);
  }, [following, settled, text, baseText, setBaseText, setWritten]);

  function forget(): void {
    setBaseText('');
    setWritten('');
  }

  function onText(next: string): void {
    if (next === untouched.text) forget();
    else {
      setWritten(next);
      if (kept === null) setBaseText(writtenBase(untouched.base));
    }
  }

  function resolve(resolution: 'mine' | 'theirs'): void {
    if (stored === undefined) return;
    const { draft } = rebased({ text, base }, stored, resolution);
    setBaseText(writtenBase(draft.base));
    setWritten(draft.text);
  }

  return {
    /** undefined until the rules have arrived. */
    rules: rules.data,
    failure: rules.error,
    refetch: rules.refetch,
    text,
    /** False while `read` and `changes` trail the text. */
    isSettled: settled === text,
    read,
    changes,
    conflicts: following?.conflicts ?? [],
    isEdited: kept !== null,
    onText,
    forget,
    resolve,
  };
}

/** The document of all rules. */
export type RulesDocument = ReturnType<typeof useDocument>;
