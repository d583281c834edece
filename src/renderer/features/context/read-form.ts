/**
 * Reads the form into the body of POST /context/optimize, with the problems by field.
 *
 * The schema of the operation validates it, so that the form refuses exactly what the service would.
 */
import { optimizeInputSchema } from '../../../engine/contract/context.ts';
import type { OperationRequest } from '../../../engine/contract/operations.ts';
import { validate } from '../../../engine/contract/validation.ts';
import { readPatterns } from '../../api/question-text.ts';
import { scopeFieldsOf, type ScopeSelection } from '../../api/space.ts';
import { readBuckets } from './buckets.ts';
import type { WindowFields } from './context-search.ts';

/** The body of POST /context/optimize. */
export type WindowRequest = OperationRequest<'optimizeContext'>['body'];
type DiffRequest = OperationRequest<'diffContext'>['body'];

/** The form as read. */
export interface ReadForm {
  /** null if the form is invalid. */
  readonly request: WindowRequest | null;
  readonly goalProblems: readonly string[];
  /** Messages by path in the request, such as `relevanceBuckets.0.name`. */
  readonly problems: Readonly<Record<string, string>>;
}

/** The budget in facts if none is typed. */
export const defaultMaxFacts = 100;
/** Time limit for selecting a window, in milliseconds. */
const timeoutMs = 30_000;

/** A whole number as typed; anything else becomes 0, which the schema refuses. */
function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : 0;
}

/** The predicates of a comma-separated list, without duplicates. */
export function predicatesOfList(text: string | undefined): string[] {
  const names = (text ?? '').split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [N in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [N in Name]: Value });
}

function goalsOf(patterns: ReturnType<typeof readPatterns>['patterns']) {
  return patterns.map(({ predicate, args, negated }) => ({
    predicate,
    args,
    ...(negated ? { negated } : {}),
  }));
}

/** Reads the form. The request has no session: showing a window must not change what the session stores. */
export function readForm(fields: WindowFields, scope: ScopeSelection): ReadForm {
  const { patterns, problems: goalProblems } = readPatterns(fields.goals ?? '');
  const buckets = readBuckets(fields.buckets);
  const predicates = predicatesOfList(fields.predicates);
  const request: WindowRequest = {
    maxFacts: numberOf(fields.facts) ?? defaultMaxFacts,
    ...given('maxChars', numberOf(fields.chars)),
    ...(patterns.length === 0 ? {} : { goals: goalsOf(patterns) }),
    ...(buckets === null || buckets.length === 0
      ? {}
      : { relevanceBuckets: buckets.map((bucket) => ({ ...bucket, predicates: [...bucket.predicates] })) }),
    ...(predicates.length === 0 ? {} : { predicates }),
    ...given('maxFactsPerPredicate', numberOf(fields.cap)),
    ...(fields.inferred === 'true' ? { includeInferred: true } : {}),
    ...(fields.resolve === 'false' ? { autoResolveContradictions: false } : {}),
    ...scopeFieldsOf(scope),
  };
  const checked = validate(optimizeInputSchema, request);
  const problems: Record<string, string> = {};
  if (!checked.ok) for (const { path, message } of checked.errors) problems[path] ??= message;
  if (buckets === null) problems['relevanceBuckets'] = 'the address has malformed buckets';
  const isReadable = Object.keys(problems).length === 0 && goalProblems.length === 0;
  return { request: isReadable ? request : null, goalProblems, problems };
}

/** The request as the workbench sends it: with the omitted facts, and a generous time limit. */
export function inspecting(request: WindowRequest): WindowRequest {
  return { ...request, explainOmitted: true, timeoutMs };
}

/** The body of a session diff: with its own parameters, or those of the form. */
export function diffRequest(sessionId: string, request: WindowRequest | null): DiffRequest {
  if (request === null) return { sessionId };
  const { maxFacts, goals, scope, unscoped } = request;
  return {
    sessionId,
    ...given('maxFacts', maxFacts ?? undefined),
    ...given('goals', goals ?? undefined),
    ...given('scope', scope ?? undefined),
    ...given('unscoped', unscoped ?? undefined),
  };
}
