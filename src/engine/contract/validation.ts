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

/** The parsed value, defaults filled in, or what is wrong with it (at least one entry). */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Validated<z.output<Schema>> {
  const outcome = schema.safeParse(value);
  if (outcome.success) return { ok: true, value: outcome.data };
  return { ok: false, errors: describeIssues(outcome.error.issues, []).slice(0, maxReportedErrors) };
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
