/**
 * The form of a new fact, facts from statements, and a stored fact as text fields: text in, request out. Pure.
 *
 * Text that cannot be read, or that the service would refuse, is reported at its field and never staged.
 */
import { type FactInput, factInputSchema, type Metadata } from '../../../engine/contract/facts.ts';
import { validate } from '../../../engine/contract/validation.ts';
import { parseProgram } from '../../../engine/language/parse.ts';
import { contentOf, type FactContent } from './staged-edits.ts';

/** The fields of a new fact as text. */
export interface FactForm {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string;
  /** ISO 8601 text, or empty. */
  readonly validFrom: string;
  readonly validUntil: string;
  readonly source: string;
  /** A number from 0 to 1 as text, or empty. */
  readonly importance: string;
  readonly confidence: string;
}

/** An empty form with one argument. */
export const emptyForm: FactForm = {
  predicate: '',
  args: [''],
  truthVal: true,
  scope: '',
  validFrom: '',
  validUntil: '',
  source: '',
  importance: '',
  confidence: '',
};

type FactBody = Record<string, unknown>;

function shareOf(
  name: string,
  text: string,
  metadata: Record<string, unknown>,
  problems: FieldProblems,
): void {
  if (text === '') return;
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1) metadata[name] = value;
  else problems[name] = 'a number from 0 to 1';
}

/** Problems by field of the form; `args.0` for the first argument. */
export type FieldProblems = Record<string, string>;

/** The request for the form and its problems. Empty fields are omitted. */
export function factOfForm(form: FactForm): { body: FactBody; problems: FieldProblems } {
  const problems: FieldProblems = {};
  const metadata: Record<string, unknown> = {};
  if (form.source !== '') metadata['source'] = form.source;
  shareOf('importance', form.importance, metadata, problems);
  shareOf('confidence', form.confidence, metadata, problems);
  const body: FactBody = {
    predicate: form.predicate,
    args: form.args,
    truthVal: form.truthVal,
    ...(form.scope === '' ? {} : { scope: form.scope }),
    ...(form.validFrom === '' ? {} : { validFrom: form.validFrom }),
    ...(form.validUntil === '' ? {} : { validUntil: form.validUntil }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
  const outcome = validate(factInputSchema, body);
  if (!outcome.ok) for (const { path, message } of outcome.errors) problems[path] ??= message;
  return { body, problems };
}

interface StatedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}

interface StatedFacts {
  readonly facts: readonly StatedFact[];
  /** Problems with line and column; empty if there are none. */
  readonly problems: readonly string[];
}

/**
 * Parses facts as POST /assert/facts takes them, one per full stop. Rules are a problem: the Rules view
 * teaches them.
 */
export function factsOfStatements(text: string): StatedFacts {
  const { statements, errors, lines } = parseProgram(text, { maxErrors: 20 });
  const facts: StatedFact[] = [];
  const problems = errors.map(
    (error) => `Line ${error.range.startLine}, column ${error.range.startColumn}: ${error.message}`,
  );
  for (const statement of statements) {
    if (statement.kind === 'fact') {
      const { predicate, args, negated } = statement.atom;
      facts.push({ predicate, args, truthVal: !negated });
    } else {
      const { startLine } = lines.range(statement.span);
      problems.push(`Line ${startLine}: this is a rule. Rules are taught in the Rules view.`);
    }
  }
  return { facts, problems };
}

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
