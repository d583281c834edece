/** Reads what is stored for the facts that staged edits concern, each with a generation in which it was so. */
import type { FactDetail } from '../../../engine/contract/facts.ts';
import { useLive } from '../../api/live.ts';
import { ApiError } from '../../api/problem.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { type ScopeSelection, scopeFieldsOfStored } from '../../api/space.ts';
import { storedFactsOf } from '../../api/stored-facts.ts';
import {
  type Concerned,
  concernedBy,
  contentOf,
  type FactContent,
  type Present,
  type Presents,
  type StagedEdits,
} from './staged-edits.ts';

type Call = WorkbenchSession['call'];

/** Requests at a time. */
const width = 6;
/** Finding what depends on a fact is not what is asked for; this is the time for it, in milliseconds. */
const leastTimeout = 1;

/** What is stored now for every fact that the edits concern. Errors: those of `call`. */
export async function lookUp(call: Call, edits: StagedEdits, signal?: AbortSignal): Promise<Presents> {
  const waiting = concernedBy(edits);
  const found = new Map<string, Present>();
  async function work(): Promise<void> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      found.set(next.identity, await presentOf(call, next, signal));
  }
  await Promise.all(Array.from({ length: width }, work));
  return found;
}

/** The fact of that identity as it is stored; null where it is not. Errors: those of `call`. */
export async function storedContent(call: Call, fact: FactContent): Promise<FactContent | null> {
  const { fact: stored } = await presentByIdentity(call, fact);
  return stored === null ? null : contentOf(stored);
}

/** What a fact is after it was asserted over a known one: what was not given stays. */
export function mergedContent(before: FactContent | null, given: FactContent): FactContent {
  if (before === null) return given;
  return {
    ...given,
    validFrom: given.validFrom ?? before.validFrom,
    validUntil: given.validUntil ?? before.validUntil,
    metadata: Object.keys(given.metadata).length === 0 ? before.metadata : given.metadata,
  };
}

async function presentOf(call: Call, { fact, id }: Concerned, signal?: AbortSignal): Promise<Present> {
  const known = id === null ? null : await presentById(call, id, signal);
  return known ?? presentByIdentity(call, fact, signal);
}

/** Null where the id names no fact any more. */
async function presentById(call: Call, id: string, signal?: AbortSignal): Promise<Present | null> {
  // The browser reports every refused request; what is known to be gone need not be asked for.
  if (useLive.getState().gone.has(id)) return null;
  try {
    const detail: FactDetail = await call('getFact', { params: { id } }, optionsOf(signal));
    const generation = Math.max(0, ...detail.history.map((entry) => entry.generation));
    return { fact: { id, ...contentOf(detail) }, generation };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'FactNotFound') return null;
    throw error;
  }
}

async function presentByIdentity(call: Call, fact: FactContent, signal?: AbortSignal): Promise<Present> {
  const { predicate, args, truthVal, scope } = fact;
  const body = { predicate, args: [...args], truthVal, ...scopeFieldsOfStored(scope) };
  // A retraction that is only tried tells in one answer whether the fact is there, and as of when.
  const tried = await call(
    'retract',
    { body: { ...body, dryRun: true, timeoutMs: leastTimeout } },
    optionsOf(signal),
  );
  const id = tried.retracted === 0 ? null : await idOf(call, fact, signal);
  const known = id === null ? null : await presentById(call, id, signal);
  return known ?? { fact: null, generation: tried.generation };
}

/** The id of a stored fact; null where it is gone by now. */
async function idOf(call: Call, fact: FactContent, signal?: AbortSignal): Promise<string | null> {
  const scope: ScopeSelection =
    fact.scope === null ? { kind: 'unscoped' } : { kind: 'named', name: fact.scope };
  const [stored] = await storedFactsOf(call, fact, scope, 1, optionsOf(signal));
  return stored?.id ?? null;
}

function optionsOf(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
