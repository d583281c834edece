/**
 * The search parameters of the Context view, all as text: the form that selects a window, and what of the
 * window is shown.
 *
 * The fields mirror the form: text that cannot be read stays as typed, and absent fields have the defaults of
 * POST /context/optimize. The scope is that of the whole workbench.
 */
import { unaskedOf, type UnaskedSearch } from '../../api/question-search.ts';

const proofChoices = ['whole', 'premises'] as const;
/** A choice of proofs other than the usual one. */
export type ProofChoice = (typeof proofChoices)[number];

/** The form as text. */
export interface WindowFields {
  /** A question in plain words, whose names become goals. */
  query?: string | undefined;
  /** Goals in the language, one per line. */
  goals?: string | undefined;
  /** How answers are proved; absent: whole where it fits. */
  proofs?: ProofChoice | undefined;
  /** With a query: the most salient facts take the room that is left. */
  fill?: 'true' | undefined;
  /** The budget in facts. */
  facts?: string | undefined;
  /** The budget in characters; absent: unlimited. */
  chars?: string | undefined;
  /** The budget in tokens of the rendered lines; absent: unlimited. */
  tokens?: string | undefined;
  /** The predicates to include, separated by commas; absent: all. */
  predicates?: string | undefined;
  /** Maximum number of facts of one predicate. */
  cap?: string | undefined;
  /** `relevanceBuckets` as JSON. */
  buckets?: string | undefined;
  /** Include conclusions. */
  inferred?: 'true' | undefined;
  /** Absent: the weaker side of a contradiction is left out. */
  resolve?: 'false' | undefined;
  session?: string | undefined;
}

/** The tabs of the window pane, in order. */
export const windowParts = ['facts', 'text', 'goals', 'contradictions', 'rules', 'kept', 'session'] as const;
export type WindowPart = (typeof windowParts)[number];

/** Which rows the list of facts shows: those in the window, or those left out. */
const rowFilters = ['in', 'out'] as const;
export type WindowRowFilter = (typeof rowFilters)[number];

/** The form, and what of the window is shown. */
export interface ContextSearch extends WindowFields, UnaskedSearch {
  /** Absent: the facts. */
  part?: WindowPart | undefined;
  /** Absent: all rows. */
  rows?: WindowRowFilter | undefined;
  /** The selected fact, rendered. */
  fact?: string | undefined;
}

const fields = [
  'query',
  'goals',
  'proofs',
  'fill',
  'facts',
  'chars',
  'tokens',
  'predicates',
  'cap',
  'buckets',
  'inferred',
  'resolve',
  'session',
] as const satisfies readonly (keyof WindowFields)[];

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A number as a form field stores it. */
function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? value : undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

function present<Found extends object>(found: Found): Found {
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Found;
}

/** The form alone; drops what it does not understand. */
export function windowFieldsOf(search: Readonly<Record<string, unknown>>): WindowFields {
  return present<WindowFields>({
    query: text(search['query']),
    goals: text(search['goals']),
    proofs: oneOf(proofChoices, search['proofs']),
    fill: oneOf(['true'] as const, search['fill']),
    facts: digits(search['facts']),
    chars: digits(search['chars']),
    tokens: digits(search['tokens']),
    predicates: text(search['predicates']),
    cap: digits(search['cap']),
    buckets: text(search['buckets']),
    inferred: oneOf(['true'] as const, search['inferred']),
    resolve: oneOf(['false'] as const, search['resolve']),
    session: text(search['session']),
  });
}

/** Reads search parameters; drops those it does not understand. */
export function contextSearchOf(search: Record<string, unknown>): ContextSearch {
  return present<ContextSearch>({
    ...windowFieldsOf(search),
    ...unaskedOf(search),
    part: oneOf(windowParts, search['part']),
    rows: oneOf(rowFilters, search['rows']),
    fact: text(search['fact']),
  });
}

/** True if the two forms have the same fields. */
export function isSameForm(left: WindowFields, right: WindowFields): boolean {
  return fields.every((field) => (left[field] ?? '') === (right[field] ?? ''));
}

/** True if the two forms select the same window; the session only stores it. */
export function isSameChoice(left: WindowFields, right: WindowFields): boolean {
  return isSameForm({ ...left, session: undefined }, { ...right, session: undefined });
}
