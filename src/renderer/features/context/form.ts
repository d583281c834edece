/**
 * The form of a window: its buckets, its reading into the body of POST /context/optimize with the problems by field,
 * and its state.
 *
 * The schema of the operation validates it, so that the form refuses exactly what the service would. The form is a
 * draft in this browser and, once valid and after a short pause, the address, which the shown window follows. An
 * address from elsewhere (a link, the back button) replaces the form; the echo of the form's own address does not,
 * since the user may have typed on.
 */
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { optimizeInputSchema } from '../../../engine/contract/context.ts';
import type { OperationRequest } from '../../../engine/contract/operations.ts';
import { validate } from '../../../engine/contract/validation.ts';
import { readPatterns } from '../../api/question-text.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf, type ScopeSelection } from '../../api/space.ts';
import { useDraft } from '../../ui/use-draft.ts';
import { type ContextSearch, isSameForm, type WindowFields, windowFieldsOf } from './context-search.ts';

/** A bucket being edited; the address stores buckets as JSON in the shape of the request, valid or not. */
export interface BucketDraft {
  readonly name: string;
  readonly predicates: readonly string[];
  readonly weight: number;
  /** null: limited only by its weight. */
  readonly maxFacts: number | null;
}

function draftOf(value: unknown): BucketDraft[] {
  if (typeof value !== 'object' || value === null) return [];
  const { name, predicates, weight, maxFacts } = value as Record<string, unknown>;
  return [
    {
      name: typeof name === 'string' ? name : '',
      predicates: Array.isArray(predicates) ? predicates.filter((each) => typeof each === 'string') : [],
      weight: typeof weight === 'number' ? weight : 1,
      maxFacts: typeof maxFacts === 'number' ? maxFacts : null,
    },
  ];
}

/** Parses the buckets of an address; null if the text is not a list. */
export function readBuckets(text: string | undefined): BucketDraft[] | null {
  if (text === undefined || text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.flatMap(draftOf) : null;
  } catch {
    // The address was written by hand; the form reports it.
    return null;
  }
}

/** The inverse of `readBuckets`, without defaults; undefined for no buckets. */
export function bucketsText(buckets: readonly BucketDraft[]): string | undefined {
  if (buckets.length === 0) return undefined;
  return JSON.stringify(
    buckets.map(({ name, predicates, weight, maxFacts }) => ({
      name,
      predicates,
      ...(weight === 1 ? {} : { weight }),
      ...(maxFacts === null ? {} : { maxFacts }),
    })),
  );
}

/** A new bucket with an unused name. */
export function newBucket(buckets: readonly BucketDraft[]): BucketDraft {
  const names = new Set(buckets.map(({ name }) => name));
  let number = buckets.length + 1;
  while (names.has(`bucket ${number}`)) number += 1;
  return { name: `bucket ${number}`, predicates: [], weight: 1, maxFacts: null };
}

/**
 * The stops of a slider, dense at small values so that budgets of 10 and of 10,000 are both within reach. A
 * value between two stops is shown at the nearest; typed values stay unchanged.
 */
export const factStops = [
  1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 750, 1_000, 2_000, 5_000,
  10_000,
] as const;

/** The stop after the last one means no limit. */
export const charStops = [
  50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 32_000,
  64_000, 128_000, 256_000,
] as const;

/** The stops for a bucket's weight. */
export const weightStops = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10] as const;

/** The index of the proportionally nearest stop; the lower one on a tie. */
export function nearestStop(stops: readonly number[], value: number): number {
  const distance = (stop: number) => Math.abs(Math.log(Math.max(stop, 1e-9) / Math.max(value, 1e-9)));
  let nearest = 0;
  for (const [index, stop] of stops.entries())
    if (distance(stop) < distance(stops[nearest] ?? stop)) nearest = index;
  return nearest;
}

/** The body of POST /context/optimize. */
export type WindowRequest = OperationRequest<'optimizeContext'>['body'];
type DiffRequest = OperationRequest<'diffContext'>['body'];

/** The form as read. */
interface ReadForm {
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
  const query = (fields.query ?? '').trim();
  const buckets = readBuckets(fields.buckets);
  const predicates = predicatesOfList(fields.predicates);
  const request: WindowRequest = {
    maxFacts: numberOf(fields.facts) ?? defaultMaxFacts,
    ...given('maxChars', numberOf(fields.chars)),
    ...given('maxTokens', numberOf(fields.tokens)),
    ...(query === '' ? {} : { query }),
    ...(patterns.length === 0 ? {} : { goals: goalsOf(patterns) }),
    ...given('proofs', fields.proofs),
    // Without a query the most salient facts take the room anyway.
    ...(query !== '' && fields.fill === 'true' ? { fill: true } : {}),
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
  const { maxFacts, maxTokens, goals, query, scope, unscoped } = request;
  return {
    sessionId,
    ...given('maxFacts', maxFacts ?? undefined),
    ...given('maxTokens', maxTokens ?? undefined),
    ...given('goals', goals ?? undefined),
    ...given('query', query ?? undefined),
    ...given('scope', scope ?? undefined),
    ...given('unscoped', unscoped ?? undefined),
  };
}

/** The pause after a change before the window is selected again, in milliseconds. */
const pauseMs = 250;

/** The form with its actions. */
export interface Form {
  readonly fields: WindowFields;
  readonly read: ReadForm;
  /** Changes some fields; undefined clears a field. */
  readonly change: (part: WindowFields) => void;
  readonly clear: () => void;
  /**
   * Submits without the pause and tells whether the address changed; `part`: fields to change at the same
   * time.
   */
  readonly submit: (part?: WindowFields) => 'sent' | 'same' | 'unreadable';
}

function readDraft(text: string): WindowFields {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? windowFieldsOf({ ...value }) : {};
  } catch {
    // Written by another version; the next change replaces it.
    return {};
  }
}

const noFields: WindowFields = {
  query: undefined,
  goals: undefined,
  proofs: undefined,
  fill: undefined,
  facts: undefined,
  chars: undefined,
  tokens: undefined,
  predicates: undefined,
  cap: undefined,
  buckets: undefined,
  inferred: undefined,
  resolve: undefined,
  session: undefined,
};

/** The form of the Context view. */
export function useForm(search: ContextSearch, onSearch: (search: ContextSearch) => void): Form {
  const { space } = useSession();
  const { scope } = space;
  const [draft, setDraft] = useDraft(`context.${space.database}.${space.tenant}`);
  const [fields, setFields] = useState<WindowFields>(() => {
    const linked = windowFieldsOf({ ...search });
    return isSameForm(linked, {}) ? readDraft(draft) : linked;
  });
  const sent = useRef<WindowFields | null>(null);

  function stage(next: WindowFields): void {
    setFields(next);
    setDraft(JSON.stringify(next));
  }

  /** `isAsked`: the user asked for it, which a form that a link has filled in waits for. */
  function send(next: WindowFields, isAsked = false): 'sent' | 'same' | 'unreadable' {
    const wanted = windowFieldsOf({ ...next });
    if (readForm(wanted, scope).request === null) return 'unreadable';
    if (isSameForm(wanted, search) && !(isAsked && search.unasked === 'true')) return 'same';
    sent.current = wanted;
    onSearch({ ...search, ...noFields, ...wanted, unasked: undefined });
    return 'sent';
  }

  const show = useEffectEvent((next: WindowFields) => {
    if (sent.current !== null && isSameForm(next, sent.current)) return;
    sent.current = null;
    if (!isSameForm(next, {}) && !isSameForm(next, fields)) stage(next);
  });
  useEffect(() => show(windowFieldsOf({ ...search })), [search]);

  const sendLater = useEffectEvent(() => void send(fields));
  useEffect(() => {
    const timer = setTimeout(() => sendLater(), pauseMs);
    return () => clearTimeout(timer);
  }, [fields, search]);

  return {
    fields,
    read: readForm(fields, scope),
    change: (part) => stage({ ...fields, ...part }),
    clear: () => {
      stage({});
      send({});
    },
    submit: (part = {}) => {
      stage({ ...fields, ...part });
      return send({ ...fields, ...part }, true);
    },
  };
}
