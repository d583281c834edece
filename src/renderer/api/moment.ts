/**
 * The moment that the workbench shows: the present, or a moment of the past.
 *
 * The address is its only home. `client.ts` puts it into every call, so no view knows of it; what cannot be asked about
 * the past, and everything that writes, is refused there before it is sent.
 */
import type { Operation } from '../../../client/src/operation.ts';
import { operations } from '../../../client/src/operations.ts';
import type { Parts } from '../../../client/src/request.ts';
import type { OperationName } from '../../engine/contract/operations.ts';
import { parseTime } from '../../engine/contract/time-text.ts';
import { ApiError, type ApiFailure } from './problem.ts';

/** A moment of the past, as the service takes it; at least one of the two. */
export interface PastMoment {
  /** What was true at this instant, as ISO 8601 text; null: that of `asKnown`. */
  readonly asOf: string | null;
  /** What was known then: a generation in digits, or an instant as ISO 8601 text; null: what is known now. */
  readonly asKnown: string | null;
}

/** A moment as search parameters of a route; both absent for the present. */
export interface MomentSearch {
  asOf?: string | undefined;
  asKnown?: string | undefined;
}

/** The search parameters of the present: they clear those that the address carries from view to view. */
export const presentSearch = { asOf: undefined, asKnown: undefined } as const;

const generation = /^\d{1,15}$/;

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 64 && parseTime(value) !== null;
}

/** Returns the generation of a moment of knowledge; null if it is an instant. */
export function asGeneration(asKnown: string | null): number | null {
  return asKnown !== null && generation.test(asKnown) ? Number(asKnown) : null;
}

/** Returns the search parameters of the moment; what is no moment is dropped. */
export function momentSearchOf({ asOf, asKnown }: Record<string, unknown>): MomentSearch {
  const isKnown = isInstant(asKnown) || (typeof asKnown === 'string' && generation.test(asKnown));
  return { ...(isInstant(asOf) ? { asOf } : {}), ...(isKnown ? { asKnown } : {}) };
}

/** Returns the moment of search parameters; null for the present. */
export function momentOfSearch({ asOf, asKnown }: MomentSearch): PastMoment | null {
  if (asOf === undefined && asKnown === undefined) return null;
  return { asOf: asOf ?? null, asKnown: asKnown ?? null };
}

/** Returns the search parameters that show the moment, whichever the address has. */
export function searchOfMoment(moment: PastMoment | null): Required<MomentSearch> {
  return { asOf: moment?.asOf ?? undefined, asKnown: moment?.asKnown ?? undefined };
}

/** A moment of knowledge as bodies have it: an integer is a generation, text an instant. */
export function knownInBody(asKnown: string): number | string {
  return asGeneration(asKnown) ?? asKnown;
}

/** Operations about all times, or about no stored knowledge: the moment makes no difference to them. */
const timeless: ReadonlySet<string> = new Set<OperationName>([
  'history',
  'factHistory',
  'historyDiff',
  'validateRules',
  'summarizeContext',
  'synthesize',
  'events',
]);

const readOnlyReason = 'The past cannot be changed. Go back to now to do this.';

/** The failure of everything that would change something while the past is shown. */
export const pastFailure: ApiFailure = {
  code: 'ReadOnlyPast',
  status: null,
  title: 'The workbench shows the past',
  detail: readOnlyReason,
  requestId: '',
  errors: [],
};

function presentOnly(detail: string): ApiFailure {
  return { ...pastFailure, code: 'PresentOnly', title: 'Only of the present', detail };
}

/** Returns why the operation cannot be performed while the workbench shows that moment; null if it can. */
export function reasonInPast(moment: PastMoment | null, name: OperationName): string | null {
  if (moment === null || timeless.has(name)) return null;
  const { kind, role, tenant, moments }: Operation = operations[name];
  if (role === 'public') return null;
  if (kind === 'write') return readOnlyReason;
  if (!tenant || moments === 'both') return null;
  if (moments === 'asOf' && moment.asKnown === null) return null;
  return moments === 'asOf'
    ? 'Words are found only in what is known now. Go back to now, or choose only an instant of validity.'
    : 'The service shows this of the present only. Go back to now to see it.';
}

/** Returns the request with the moment in it. Throws an ApiError if the operation cannot be performed there. */
export function requestAt(moment: PastMoment | null, name: OperationName, request: Parts): Parts {
  if (moment === null) return request;
  const reason = reasonInPast(moment, name);
  const { fields, kind, moments }: Operation = operations[name];
  if (reason !== null) throw new ApiError(kind === 'write' ? pastFailure : presentOnly(reason));
  if (moments === undefined) return request;
  const { asOf, asKnown } = moment;
  const added = {
    ...(asOf === null ? {} : { asOf }),
    ...(asKnown === null ? {} : { asKnown: fields === 'body' ? knownInBody(asKnown) : asKnown }),
  };
  return fields === 'body'
    ? { ...request, body: { ...(request.body as object | undefined), ...added } }
    : { ...request, query: { ...request.query, ...added } };
}
