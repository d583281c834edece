/**
 * A stored rule under edit, field by field: what was written over it, and what stood there when that was begun.
 *
 * A field that was not touched follows the stored rule, whoever changes it. A field that was touched and that somebody
 * else has changed meanwhile is in conflict: neither is overwritten until one is chosen. Pure.
 */
export interface RuleFields {
  readonly text: string;
  readonly name: string;
  readonly description: string;
}

export const ruleFields = ['text', 'name', 'description'] as const;
export type RuleField = (typeof ruleFields)[number];

/** A field that was touched. */
interface Touched {
  /** What was stored when it was touched first, or chosen over since. */
  readonly base: string;
  readonly mine: string;
}

export type RuleDraft = { readonly [Field in RuleField]?: Touched };

/** What the draft of a rule is kept as; rules belong to a database. */
export function ruleDraftName(database: string, id: string): string {
  return `rule.${database}.${id}`;
}

/** Reads a kept draft; nothing is touched where it is none. */
export function readRuleDraft(kept: string): RuleDraft {
  if (kept === '') return {};
  let read: unknown;
  try {
    read = JSON.parse(kept);
  } catch {
    // Somebody else wrote it: there is no draft. The next change replaces it.
    return {};
  }
  if (typeof read !== 'object' || read === null) return {};
  const entries = Object.entries(read).filter(
    ([field, touched]: [string, unknown]) =>
      ruleFields.some((each) => each === field) &&
      typeof touched === 'object' &&
      touched !== null &&
      'base' in touched &&
      typeof touched.base === 'string' &&
      'mine' in touched &&
      typeof touched.mine === 'string',
  );
  return Object.fromEntries(entries);
}

/** The rule as it would be saved. */
export function editedOf(stored: RuleFields, draft: RuleDraft): RuleFields {
  return {
    text: draft.text?.mine ?? stored.text,
    name: draft.name?.mine ?? stored.name,
    description: draft.description?.mine ?? stored.description,
  };
}

/** With something written; what is as it is stored again counts as untouched. */
export function withWritten(stored: RuleFields, draft: RuleDraft, part: Partial<RuleFields>): RuleDraft {
  const next: { [Field in RuleField]?: Touched } = { ...draft };
  for (const field of ruleFields) {
    const mine = part[field];
    if (mine === undefined) continue;
    if (mine === stored[field]) delete next[field];
    else next[field] = { base: draft[field]?.base ?? stored[field], mine };
  }
  return next;
}

/** The fields that were written here and changed elsewhere, each to another value. */
export function draftConflictsOf(stored: RuleFields, draft: RuleDraft): RuleField[] {
  return ruleFields.filter((field) => {
    const touched = draft[field];
    return touched !== undefined && touched.base !== stored[field] && touched.mine !== stored[field];
  });
}

/** With what is written here chosen over what is stored now. */
export function withMine(stored: RuleFields, draft: RuleDraft): RuleDraft {
  return Object.fromEntries(
    ruleFields.flatMap((field) => {
      const touched = draft[field];
      return touched === undefined ? [] : [[field, { base: stored[field], mine: touched.mine }]];
    }),
  );
}

/** With what is stored now in the fields in conflict; what else was written stays. */
export function withTheirs(stored: RuleFields, draft: RuleDraft): RuleDraft {
  const gone = draftConflictsOf(stored, draft);
  return Object.fromEntries(
    ruleFields.flatMap((field) => {
      const touched = draft[field];
      return touched === undefined || gone.includes(field) ? [] : [[field, touched]];
    }),
  );
}
