/**
 * Validates values against the schemas of the contract, with errors that a person can act on.
 *
 * Every surface uses it, so that HTTP, MCP and the workbench name the same field in the same words. For a union it
 * reports only the branch closest to the value.
 */
import type { z } from 'zod';
import type { ProblemDetail } from './problems.ts';

type Issue = z.core.$ZodIssue;

/** Maximum number of errors in one answer; a batch of 100,000 bad facts has more. */
export const maxReportedErrors = 100;

export type Validated<Value> = { ok: true; value: Value } | { ok: false; errors: ProblemDetail[] };

/**
 * `schema.safeParse` for untrusted values, without throwing: zod compares the `length` of whatever takes the place of a
 * list or a text, and an object as length may not be comparable. `value`: parsed JSON.
 */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const comparable = schema.safeParse(withComparableLengths(value));
    // The errors are the same; without any, the TypeError had another cause.
    if (comparable.success) throw error;
    return comparable;
  }
}

function withComparableLengths(value: unknown): unknown {
  const isOther = (key: string, field: unknown): boolean =>
    key === 'length' && typeof field === 'object' && field !== null;
  return JSON.parse(JSON.stringify(value), (key, field: unknown) => (isOther(key, field) ? 0 : field));
}

/** The parsed value with defaults filled in, or its errors (at least one). */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Validated<z.output<Schema>> {
  const outcome = readAs(schema, value);
  if (outcome.success) return { ok: true, value: outcome.data };
  return { ok: false, errors: describeIssues(outcome.error.issues, []).slice(0, maxReportedErrors) };
}

/** A field that can contain a very long list. A bare array stands for an object with only that field. */
export interface LongList {
  readonly field: string;
  readonly element: z.ZodType;
  /** Fast path of `element`: the same output for usual elements, null for all others. */
  readonly quick?: (value: unknown) => unknown;
  /** Maximum length. */
  readonly max: number;
}

/** Shorter lists are validated in one go. */
const maxUnslicedLength = 1000;
const elementsBetweenPauses = 32;

/**
 * `validate` for long lists, element by element. Awaits `breathe` now and then, so that others can run. Stops once it
 * has enough errors to report.
 */
export async function validateLong<Schema extends z.ZodType>(
  schema: Schema,
  { field, element, quick = () => null, max }: LongList,
  value: unknown,
  breathe: () => Promise<void>,
): Promise<Validated<z.output<Schema>>> {
  const whole = Array.isArray(value) ? { [field]: value as unknown } : value;
  if (typeof whole !== 'object' || whole === null) return validate(schema, value);
  const list = (whole as Record<string, unknown>)[field];
  if (!Array.isArray(list) || list.length <= maxUnslicedLength) return validate(schema, value);
  // An empty list in place of one that is too long gives the error about its length.
  if (list.length > max) return validate(schema, { ...whole, [field]: [] });
  const checked: unknown[] = [];
  const errors: ProblemDetail[] = [];
  for (const [index, each] of (list as unknown[]).entries()) {
    const plain = quick(each);
    if (plain !== null) checked.push(plain);
    else {
      const outcome = readAs(element, each);
      if (outcome.success) checked.push(outcome.data);
      else errors.push(...describeIssues(outcome.error.issues, [field, index]));
    }
    if (errors.length >= maxReportedErrors) break;
    if (index % elementsBetweenPauses === 0) await breathe();
  }
  // The other fields are validated together with the first element.
  const around = validate(schema, { ...whole, [field]: list.slice(0, 1) });
  if (!around.ok)
    errors.push(...around.errors.filter(({ path }) => path !== field && !path.startsWith(`${field}.`)));
  if (errors.length > 0 || !around.ok) return { ok: false, errors: errors.slice(0, maxReportedErrors) };
  return { ok: true, value: { ...(around.value as object), [field]: checked } as z.output<Schema> };
}

function describeIssues(issues: readonly Issue[], prefix: readonly PropertyKey[]): ProblemDetail[] {
  return issues.flatMap((issue) => describeIssue(issue, [...prefix, ...issue.path]));
}

function describeIssue(issue: Issue, path: readonly PropertyKey[]): ProblemDetail[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: dotted([...path, key]), message: 'unknown field' }));
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const branch = nearest(issue.errors);
    if (branch.some((inner) => inner.path.length > 0 || inner.code === 'unrecognized_keys'))
      return describeIssues(branch, path);
  }
  return [{ path: dotted(path), message: wording(issue) }];
}

/** The branch with the fewest errors, of those for this type of value; each unknown field counts as one. */
function nearest(all: readonly (readonly Issue[])[]): readonly Issue[] {
  const ofType = all.filter(
    (branch) => !branch.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  const branches = ofType.length > 0 ? ofType : all;
  let best: readonly Issue[] = [];
  let minErrors = Number.POSITIVE_INFINITY;
  for (const branch of branches) {
    const errorCount = branch.reduce(
      (sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1),
      0,
    );
    if (errorCount < minErrors) {
      best = branch;
      minErrors = errorCount;
    }
  }
  return best;
}

function wording(issue: Issue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined'))
    return `is required (${issue.expected})`;
  return issue.message.replace(/^Invalid input: /, '');
}

function dotted(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}
