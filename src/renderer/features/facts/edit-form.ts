/**
 * A fact as text fields, and the fact that such fields make. Pure.
 *
 * What cannot be read, or would be refused by the service, is told at its field; nothing else is ever staged.
 */
import { factInputSchema, type FactInput, type Metadata } from '../../../engine/contract/facts.ts';
import { validate } from '../../../engine/contract/validation.ts';
import type { FormProblems } from './fact-form.ts';
import { contentOf, type FactContent } from './staged-edits.ts';

export interface EditForm {
  readonly args: readonly string[];
  readonly truthVal: boolean;
  /** Empty: none. */
  readonly scope: string;
  /** ISO 8601 text; empty: without that bound. */
  readonly validFrom: string;
  readonly validUntil: string;
  /** JSON text of an object. */
  readonly metadata: string;
}

/** An instant as ISO 8601 text, without what is zero; empty for none. */
export function timeText(time: number | null): string {
  if (time === null) return '';
  return new Date(time)
    .toISOString()
    .replace(/\.000Z$/, 'Z')
    .replace(/T00:00:00Z$/, '');
}

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

/** The content of a fact in the form in which the service takes it; a ttl is not meant. */
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

/** Complaints about a fact by field, as the service would have them; empty where it would take it. */
export function problemsOfFact(fact: FactContent): FormProblems {
  const { validFrom, validUntil } = fact;
  const problems: FormProblems = {};
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

/** The fact of that predicate which the fields make, or what is wrong with them. */
export function factOfEdit(
  predicate: string,
  form: EditForm,
): { readonly fact: FactContent | null; readonly problems: FormProblems } {
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
    const problems: FormProblems = {};
    for (const { path, message } of outcome.errors) problems[path] ??= message;
    return { fact: null, problems };
  }
  const fact = contentOfInput(outcome.value);
  const problems = problemsOfFact(fact);
  return Object.keys(problems).length === 0 ? { fact, problems } : { fact: null, problems };
}
