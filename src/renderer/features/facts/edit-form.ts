/**
 * A fact as text fields, and the fact that such fields describe. Pure.
 *
 * Text that cannot be read, or that the service would refuse, is reported at its field and never staged.
 */
import { factInputSchema, type FactInput, type Metadata } from '../../../engine/contract/facts.ts';
import { validate } from '../../../engine/contract/validation.ts';
import type { FieldProblems } from './fact-form.ts';
import { contentOf, type FactContent } from './staged-edits.ts';

/** The fields of a fact as text. */
export interface EditForm {
  readonly args: readonly string[];
  readonly truthVal: boolean;
  /** Empty: no scope. */
  readonly scope: string;
  /** ISO 8601 text; empty: unbounded. */
  readonly validFrom: string;
  readonly validUntil: string;
  /** A JSON object as text. */
  readonly metadata: string;
}

/** An instant as ISO 8601 text without zero parts; empty for null. */
export function timeText(time: number | null): string {
  if (time === null) return '';
  return new Date(time)
    .toISOString()
    .replace(/\.000Z$/, 'Z')
    .replace(/T00:00:00Z$/, '');
}

/** A fact as form fields. */
export function formOfFact(fact: FactContent): EditForm {
  return {
    args: fact.args,
    truthVal: fact.truthVal,
    scope: fact.scope ?? '',
    validFrom: timeText(fact.validFrom),
    validUntil: timeText(fact.validUntil),
    metadata: Object.keys(fact.metadata).length === 0 ? '' : JSON.stringify(fact.metadata, null, 2),
  };
}

/** The content of a fact given as the service's input; ignores a ttl. */
export function contentOfInput(input: Omit<FactInput, 'ttl' | 'unscoped'>): FactContent {
  const { predicate, args, truthVal, scope, validFrom, validUntil, metadata } = input;
  return {
    predicate,
    args,
    truthVal,
    scope,
    validFrom: typeof validFrom === 'number' ? validFrom : null,
    validUntil: typeof validUntil === 'number' ? validUntil : null,
    metadata: metadata ?? {},
  };
}

/** Problems of a fact by field, as the service would report them; empty if it is valid. */
export function problemsOfFact(fact: FactContent): FieldProblems {
  const { validFrom, validUntil } = fact;
  const problems: FieldProblems = {};
  const outcome = validate(factInputSchema, contentOf(fact));
  if (!outcome.ok) for (const { path, message } of outcome.errors) problems[path] ??= message;
  if (validFrom !== null && validUntil !== null && validUntil <= validFrom)
    problems['validUntil'] ??= 'ends before it begins';
  return problems;
}

function metadataOf(text: string): Metadata | string {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as Metadata;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The fact that the fields describe, or their problems. */
export function factOfEdit(
  predicate: string,
  form: EditForm,
): { readonly fact: FactContent | null; readonly problems: FieldProblems } {
  const metadata = metadataOf(form.metadata);
  if (typeof metadata === 'string') return { fact: null, problems: { metadata } };
  const { args, truthVal, scope, validFrom, validUntil } = form;
  const outcome = validate(factInputSchema, {
    predicate,
    args,
    truthVal,
    scope: scope === '' ? null : scope,
    validFrom: validFrom.trim() === '' ? null : validFrom.trim(),
    validUntil: validUntil.trim() === '' ? null : validUntil.trim(),
    metadata,
  });
  if (!outcome.ok) {
    const problems: FieldProblems = {};
    for (const { path, message } of outcome.errors) problems[path] ??= message;
    return { fact: null, problems };
  }
  const fact = contentOfInput(outcome.value);
  const problems = problemsOfFact(fact);
  return Object.keys(problems).length === 0 ? { fact, problems } : { fact: null, problems };
}
