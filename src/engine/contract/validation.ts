/**
 * Checking a value against a schema of the contract, with complaints a person can act on.
 *
 * Every surface validates through here, so that HTTP, MCP and the workbench name the same field in the same
 * words. Of a union the branch nearest to what was given is reported, not all of them.
 */
import type { z } from 'zod';
import type { ProblemDetail } from './problems.ts';

type Issue = z.core.$ZodIssue;

/** How many complaints one answer lists; a batch of 100,000 bad facts has more. */
export const maxReportedErrors = 100;

export type Validated<Value> = { ok: true; value: Value } | { ok: false; errors: ProblemDetail[] };

/**
 * `schema.safeParse` for what others wrote, which it does not throw for: zod compares the `length` of whatever stands in
 * the place of a list or a text, and an object there need not be one that can be compared. `value`: as JSON has it.
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
    // What it complains of is the same; were there nothing, the error was about something else.
    if (comparable.success) throw error;
    return comparable;
  }
}

function withComparableLengths(value: unknown): unknown {
  const isOther = (key: string, field: unknown): boolean =>
    key === 'length' && typeof field === 'object' && field !== null;
  return JSON.parse(JSON.stringify(value), (key, field: unknown) => (isOther(key, field) ? 0 : field));
}

/** The parsed value, defaults filled in, or what is wrong with it (at least one entry). */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Validated<z.output<Schema>> {
  const outcome = readAs(schema, value);
  if (outcome.success) return { ok: true, value: outcome.data };
  return { ok: false, errors: describeIssues(outcome.error.issues, []).slice(0, maxReportedErrors) };
}

/** A field that can hold a very long list; a bare array stands for an object with that field alone. */
export interface LongList {
  readonly field: string;
  readonly element: z.ZodType;
  /** What `element` makes of the usual ones, sooner; null of all others. */
  readonly quick?: (value: unknown) => unknown;
  /** The greatest length. */
  readonly most: number;
}

/** Shorter lists are checked in one go. */
const longLength = 1000;
const elementsBetweenLooks = 32;

/**
 * As `validate`, an element of the long list after the other: `breathe` is awaited now and then, to let others run.
 * A list with very many bad elements is not looked at further than what is reported.
 */
export async function validateLong<Schema extends z.ZodType>(
  schema: Schema,
  { field, element, quick = () => null, most }: LongList,
  value: unknown,
  breathe: () => Promise<void>,
): Promise<Validated<z.output<Schema>>> {
  const whole = Array.isArray(value) ? { [field]: value as unknown } : value;
  if (typeof whole !== 'object' || whole === null) return validate(schema, value);
  const list = (whole as Record<string, unknown>)[field];
  if (!Array.isArray(list) || list.length <= longLength) return validate(schema, value);
  // The complaint about no element is the one about too many.
  if (list.length > most) return validate(schema, { ...whole, [field]: [] });
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
    if (index % elementsBetweenLooks === 0) await breathe();
  }
  // What stands beside the list is checked with the first element in its place.
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

/** The branch with the fewest complaints, a field that is not its own counting one each. */
function nearest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  let best: readonly Issue[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const branch of branches) {
    const weight = branch.reduce(
      (sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1),
      0,
    );
    if (weight < least) {
      best = branch;
      least = weight;
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
