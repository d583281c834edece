/**
 * The draft of a stored rule, per field: the user's text and the stored value it is based on.
 *
 * An unedited field follows the stored rule. An edited field that someone else has changed is in conflict: neither
 * version is overwritten until the user chooses. Pure.
 */
export interface RuleFields {
  readonly text: string;
  readonly name: string;
  readonly description: string;
}

/** Names of the fields. */
export const ruleFields = ['text', 'name', 'description'] as const;
/** A field. */
export type RuleField = (typeof ruleFields)[number];

/** An edited field. */
interface Touched {
  /** The stored value at the first edit, or at the last resolution. */
  readonly base: string;
  readonly mine: string;
}

/** The edited fields. */
export type RuleDraft = { readonly [Field in RuleField]?: Touched };

/** Returns the storage name of a rule's draft; rules belong to a database. */
export function ruleDraftName(database: string, id: string): string {
  return `rule.${database}.${id}`;
}

/** Reads a stored draft; an invalid one counts as empty. */
export function readRuleDraft(kept: string): RuleDraft {
  if (kept === '') return {};
  let read: unknown;
  try {
    read = JSON.parse(kept);
  } catch {
    // Not our format: treat it as no draft; the next change replaces it.
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

/** Returns the rule as it would be saved. */
export function editedOf(stored: RuleFields, draft: RuleDraft): RuleFields {
  return {
    text: draft.text?.mine ?? stored.text,
    name: draft.name?.mine ?? stored.name,
    description: draft.description?.mine ?? stored.description,
  };
}

/** Returns the draft after edits; a field equal to its stored value counts as unedited. */
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

/** Returns the fields edited here and changed elsewhere to different values. */
export function draftConflictsOf(stored: RuleFields, draft: RuleDraft): RuleField[] {
  return ruleFields.filter((field) => {
    const touched = draft[field];
    return touched !== undefined && touched.base !== stored[field] && touched.mine !== stored[field];
  });
}

/** Resolves conflicts in favour of the draft. */
export function withMine(stored: RuleFields, draft: RuleDraft): RuleDraft {
  return Object.fromEntries(
    ruleFields.flatMap((field) => {
      const touched = draft[field];
      return touched === undefined ? [] : [[field, { base: stored[field], mine: touched.mine }]];
    }),
  );
}

/** Resolves conflicts in favour of the stored rule; other edits stay. */
export function withTheirs(stored: RuleFields, draft: RuleDraft): RuleDraft {
  const gone = draftConflictsOf(stored, draft);
  return Object.fromEntries(
    ruleFields.flatMap((field) => {
      const touched = draft[field];
      return touched === undefined || gone.includes(field) ? [] : [[field, touched]];
    }),
  );
}
