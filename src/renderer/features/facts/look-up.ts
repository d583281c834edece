/**
 * Reads the stored state of the facts that staged edits concern, each with a generation at which it was
 * valid.
 */
import type { FactDetail } from '../../../engine/contract/facts.ts';
import { useLive } from '../../api/live.ts';
import { ApiError } from '../../api/problem.ts';
import type { Session } from '../../api/session.tsx';
import { type ScopeChoice, scopeFieldsOfStored } from '../../api/space.ts';
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

type Call = Session['call'];

/** Maximum number of parallel requests. */
const maxParallel = 6;
/** Time limit for finding dependents, which are not needed here, in milliseconds. */
const minTimeoutMs = 1;

/** The stored state of every fact that the edits concern. Errors: those of `call`. */
export async function lookUp(call: Call, edits: StagedEdits, signal?: AbortSignal): Promise<Presents> {
  const waiting = concernedBy(edits);
  const found = new Map<string, Present>();
  async function work(): Promise<void> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      found.set(next.identity, await presentOf(call, next, signal));
  }
  await Promise.all(Array.from({ length: maxParallel }, work));
  return found;
}

/** The stored fact with the same identity; null if there is none. Errors: those of `call`. */
export async function storedContent(call: Call, fact: FactContent): Promise<FactContent | null> {
  const { fact: stored } = await presentByIdentity(call, fact);
  return stored === null ? null : contentOf(stored);
}

/** The fact after an assertion over a stored one: fields not given keep their values. */
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

/** Null if the id no longer names a fact. */
async function presentById(call: Call, id: string, signal?: AbortSignal): Promise<Present | null> {
  // The browser logs every refused request, so facts known to be gone are not requested.
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
  // A dry-run retraction tells in one response whether the fact is stored, and at which generation.
  const tried = await call(
    'retract',
    { body: { ...body, dryRun: true, timeoutMs: minTimeoutMs } },
    optionsOf(signal),
  );
  const id = tried.retracted === 0 ? null : await idOf(call, fact, signal);
  const known = id === null ? null : await presentById(call, id, signal);
  return known ?? { fact: null, generation: tried.generation };
}

/** The id of a stored fact; null if it is gone by now. */
async function idOf(call: Call, fact: FactContent, signal?: AbortSignal): Promise<string | null> {
  const scope: ScopeChoice = fact.scope === null ? { kind: 'unscoped' } : { kind: 'named', name: fact.scope };
  const [stored] = await storedFactsOf(call, fact, scope, 1, optionsOf(signal));
  return stored?.id ?? null;
}

function optionsOf(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
