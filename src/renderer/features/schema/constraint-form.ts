/** The form of a constraint: a stored one as fields, fields as what is sent. Pure. */
import type { StoredConstraint } from '../../../engine/contract/constraints.ts';
import { layOutConstraint } from '../../../engine/language/layout.ts';
import type { ConstraintContent } from './schema-steps.ts';

/** The fields of a constraint. */
export interface ConstraintFields {
  /** `!- body`, with or without a full stop. */
  readonly text: string;
  readonly name: string;
  /** Empty: the reason in the text, if it has one. */
  readonly description: string;
  readonly mode: StoredConstraint['mode'];
  /** Empty: the unscoped view and the view of each scope. */
  readonly scope: string;
}

const empty: ConstraintFields = { text: '', name: '', description: '', mode: 'warn', scope: '' };

/** The fields of a stored constraint; null: of a new one. */
export function fieldsOfConstraint(stored: StoredConstraint | null): ConstraintFields {
  if (stored === null) return empty;
  const { body, name, description, mode, scope } = stored;
  return {
    text: layOutConstraint(body),
    name,
    description: description ?? '',
    mode,
    scope: scope ?? '',
  };
}

/** What is sent: the text without line breaks between literals, absent parts as null. */
export function constraintContent({
  text,
  name,
  description,
  mode,
  scope,
}: ConstraintFields): ConstraintContent {
  return {
    text: text.trim(),
    name: name.trim(),
    description: description.trim() === '' ? null : description,
    mode,
    scope: scope === '' ? null : scope,
  };
}

/** Reads a stored draft: the fields, and the stored ones that it began from, as JSON; null for anything else. */
export function readConstraintFields(
  kept: string,
): { readonly base: string; readonly fields: ConstraintFields } | null {
  if (kept === '') return null;
  let read: unknown;
  try {
    read = JSON.parse(kept);
  } catch {
    // Not our format: treat it as no draft; the next change replaces it.
    return null;
  }
  if (!isObject(read) || typeof read['base'] !== 'string' || !areFields(read['fields'])) return null;
  return { base: read['base'], fields: read['fields'] };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function areFields(value: unknown): value is ConstraintFields {
  return (
    isObject(value) &&
    ['text', 'name', 'description', 'scope'].every((field) => typeof value[field] === 'string') &&
    (value['mode'] === 'warn' || value['mode'] === 'reject')
  );
}
