/**
 * Finds what an import that ended early has stored, and the id that undoes it.
 *
 * The id stands in the last line of the answer, which never came. But every stored fact tells its import, and its history
 * the request that asserted it; the request's name is ours.
 */
import type { FactList, StoredFact } from '../../../engine/contract/facts.ts';
import { call, type ServiceEndpoint } from '../../api/client.ts';

export interface StoredPart {
  /** null: nothing of it was found. */
  readonly id: string | null;
  readonly facts: number;
  /** More than were counted. */
  readonly isAtLeast: boolean;
}

const pageSize = 1000;
const mostPages = 10;
/** Clocks of the browser and the service may differ by so much. */
const clockSlackMs = 5 * 60_000;

/** The imports that the facts belong to, each with a fact of it, the newest first. */
export function importsAmong(facts: readonly StoredFact[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { importId, id } of facts)
    if (importId !== null && id !== null && !found.has(importId)) found.set(importId, id);
  return found;
}

/** `since`: when the import began, in epoch ms. Errors: ApiError. */
export async function findStoredPart(
  endpoint: ServiceEndpoint,
  requestId: string,
  since: number,
): Promise<StoredPart> {
  const refused = new Set<string>();
  let [ours, facts, cursor]: [string | null, number, string | null] = [null, 0, null];
  for (let page = 0; page < mostPages; page += 1) {
    const listed: FactList = await call(endpoint, 'listFacts', {
      query: { sort: 'createdAt', order: 'desc', limit: String(pageSize), cursor },
    });
    for (const [importId, factId] of importsAmong(listed.facts))
      if (ours === null && !refused.has(importId)) {
        if (await isOf(endpoint, factId, requestId)) ours = importId;
        else refused.add(importId);
      }
    facts += listed.facts.filter(({ importId }) => importId !== null && importId === ours).length;
    const oldest = listed.facts.at(-1);
    cursor = listed.nextCursor;
    if (cursor === null || oldest === undefined || oldest.createdAt < since - clockSlackMs)
      return { id: ours, facts, isAtLeast: false };
  }
  return { id: ours, facts, isAtLeast: ours !== null };
}

async function isOf(endpoint: ServiceEndpoint, factId: string, requestId: string): Promise<boolean> {
  const fact = await call(endpoint, 'getFact', { params: { id: factId } });
  return fact.history.some((change) => change.requestId === requestId);
}
