/**
 * What the address of the Context view says: how a window is chosen, and what of it is looked at. All as text.
 *
 * The fields are the form: text that cannot be read as a request is kept as it was typed, and what is absent has the
 * default of POST /context/optimize. The scope is that of the whole workbench.
 */
export interface WindowFields {
  /** Goals in the language, one a line. */
  goals?: string | undefined;
  /** The budget in facts. */
  facts?: string | undefined;
  /** The budget in characters; absent: none. */
  chars?: string | undefined;
  /** The only predicates wanted, by commas; absent: all. */
  predicates?: string | undefined;
  /** The most facts of one predicate. */
  cap?: string | undefined;
  /** `relevanceBuckets` as JSON. */
  buckets?: string | undefined;
  /** Conclusions too. */
  inferred?: 'true' | undefined;
  /** Absent: the weaker side of a contradiction is left out. */
  resolve?: 'false' | undefined;
  session?: string | undefined;
}

export const windowParts = ['facts', 'goals', 'contradictions', 'rules', 'kept', 'session'] as const;
export type WindowPart = (typeof windowParts)[number];

/** Which rows of the list of facts are shown. */
const rowFilters = ['in', 'out'] as const;
export type RowFilter = (typeof rowFilters)[number];

export interface ContextSearch extends WindowFields {
  /** Absent: the facts. */
  part?: WindowPart | undefined;
  /** Absent: both those in the window and those left out. */
  rows?: RowFilter | undefined;
  /** The fact that is looked at, as it is rendered. */
  fact?: string | undefined;
}

const fields = [
  'goals',
  'facts',
  'chars',
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

/** A number as a field of the form has it. */
function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? value : undefined;
}

function oneOf<Value extends string>(values: readonly Value[], value: unknown): Value | undefined {
  return values.find((known) => known === value);
}

function present<Found extends object>(found: Found): Found {
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Found;
}

/** The form alone; what is not understood is dropped. */
export function windowFieldsOf(search: Readonly<Record<string, unknown>>): WindowFields {
  return present<WindowFields>({
    goals: text(search['goals']),
    facts: digits(search['facts']),
    chars: digits(search['chars']),
    predicates: text(search['predicates']),
    cap: digits(search['cap']),
    buckets: text(search['buckets']),
    inferred: oneOf(['true'] as const, search['inferred']),
    resolve: oneOf(['false'] as const, search['resolve']),
    session: text(search['session']),
  });
}

/** Reads search parameters; what is not understood is dropped. */
export function contextSearchOf(search: Record<string, unknown>): ContextSearch {
  return present<ContextSearch>({
    ...windowFieldsOf(search),
    part: oneOf(windowParts, search['part']),
    rows: oneOf(rowFilters, search['rows']),
    fact: text(search['fact']),
  });
}

/** True where the two forms say the same. */
export function isSameForm(left: WindowFields, right: WindowFields): boolean {
  return fields.every((field) => (left[field] ?? '') === (right[field] ?? ''));
}

/** True where the two forms choose the same window: the session only keeps it. */
export function isSameChoice(left: WindowFields, right: WindowFields): boolean {
  return isSameForm({ ...left, session: undefined }, { ...right, session: undefined });
}
