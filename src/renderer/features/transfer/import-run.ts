/**
 * One import from the file that was chosen to what became of it, as states that are shown.
 *
 * It belongs to the window, not to a dialog: it goes on when that is closed or another tool is opened. Where it began is
 * where it ends: another tenant that is looked at meanwhile changes nothing.
 */
import type { ImportDone, ImportProgress, ImportUndone } from '../../../engine/contract/transfer.ts';
import { call, type ServiceEndpoint, headersOf, addressOf, newRequestId } from '../../api/client.ts';
import { ApiError, type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { importFormats, type ImportFormat, isTabular } from './formats.ts';
import { isAsItIs, type Mapping } from './mapping.ts';
import { prepareTable } from './prepare-table.ts';
import { findStoredPart, type StoredPart } from './stored-part.ts';
import type { RowFailure, Transformed } from './transform.ts';
import { upload } from './upload.ts';

/** What is to be imported, and how. */
export interface ImportPlan {
  readonly file: File;
  readonly format: ImportFormat;
  /** Of tables; null for the other formats. */
  readonly mapping: Mapping | null;
  /** The most columns of the rows that were looked at. */
  readonly width: number;
  /** Of what names no scope; null: none. */
  readonly scope: string | null;
  readonly endpoint: ServiceEndpoint;
  readonly isDryRun: boolean;
}

/** What came of a whole import; the rows that this browser could not map are counted among the failed. */
export interface ImportOutcome {
  readonly id: string;
  readonly asserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rules: number;
  readonly failed: number;
  /** The first of them, by line. */
  readonly errors: readonly RowFailure[];
  readonly generation: number;
}

export type ImportState =
  | { readonly kind: 'preparing'; readonly bytes: number }
  | {
      readonly kind: 'sending';
      readonly since: number;
      readonly bytes: number;
      readonly total: number;
      /** null: the service has not told yet. */
      readonly progress: ImportProgress | null;
    }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'done'; readonly outcome: ImportOutcome }
  /** `failure` null: its user ended it. */
  | { readonly kind: 'ended'; readonly failure: ApiFailure | null; readonly left: Left };

/** What an import that did not come to its end has stored all the same. */
export type Left =
  | { readonly kind: 'known'; readonly stored: StoredPart }
  /** It could not be found out, for now. */
  | { readonly kind: 'unknown'; readonly trace: ImportTrace; readonly failure: ApiFailure };

/** By what the facts of an import are found. `startedAt`: epoch ms. */
interface ImportTrace {
  readonly requestId: string;
  readonly startedAt: number;
}

const nothing: Left = { kind: 'known', stored: { id: null, facts: 0, isAtLeast: false } };

/** What was undone of an import. */
export type Undoing =
  | { readonly kind: 'none' }
  | { readonly kind: 'running' }
  | { readonly kind: 'undone'; readonly undone: ImportUndone }
  | { readonly kind: 'failed'; readonly failure: ApiFailure };

/** What the service counted and what this browser did, together. */
export function importOutcomeOf(done: ImportDone, mapped: Transformed | null): ImportOutcome {
  const errors = [...done.errors, ...(mapped?.failures ?? [])].sort((one, other) => one.line - other.line);
  return {
    id: done.id,
    asserted: done.asserted,
    updated: done.updated,
    unchanged: done.unchanged,
    rules: done.rules,
    failed: done.failed + (mapped?.failed ?? 0),
    errors,
    generation: done.generation,
  };
}

/** Thrown to end an import that its user gave up. */
const givenUp = new DOMException('the import was cancelled', 'AbortError');

export function giveUp(controller: AbortController): void {
  controller.abort(givenUp);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Finds what is stored. Never rejects. */
export async function findLeft(endpoint: ServiceEndpoint, trace: ImportTrace): Promise<Left> {
  try {
    await quietened(endpoint);
    return { kind: 'known', stored: await findStoredPart(endpoint, trace.requestId, trace.startedAt) };
  } catch (error) {
    return { kind: 'unknown', trace, failure: apiFailureOf(error) };
  }
}

const mostLooks = 6;

/** The service ends an import between two batches: resolves when there are no more facts than a moment ago, or after a while. */
async function quietened(endpoint: ServiceEndpoint): Promise<void> {
  let before: number | null = null;
  for (let look = 0; look < mostLooks; look += 1) {
    await pause(look === 0 ? 150 : 350);
    const { total } = await call(endpoint, 'listFacts', {
      query: { sort: 'createdAt', order: 'desc', limit: '1' },
    });
    if (total === before) return;
    before = total;
  }
}

async function sentBlob(
  plan: ImportPlan,
  signal: AbortSignal,
  onState: (state: ImportState) => void,
): Promise<{ body: Blob; mapped: Transformed | null }> {
  const { file, format, mapping, width } = plan;
  if (mapping === null || !isTabular(format)) return { body: file, mapped: null };
  const written = format === 'csv' ? ',' : '\t';
  if (isAsItIs(mapping, written, width)) return { body: file, mapped: null };
  onState({ kind: 'preparing', bytes: 0 });
  const { blob, outcome } = await prepareTable(file, mapping, written, signal, (bytes) =>
    onState({ kind: 'preparing', bytes }),
  );
  return { body: blob, mapped: outcome };
}

/** The address that the file goes to. */
export function importUrl({ endpoint, scope, mapping, isDryRun }: ImportPlan): string {
  const predicate = mapping?.predicate.kind === 'name' ? mapping.predicate.name : undefined;
  return addressOf(endpoint, 'importKnowledge', {
    query: { scope, predicate, dryRun: isDryRun ? 'true' : undefined },
  });
}

/** Runs it to its end, telling how it stands. Never rejects: what goes wrong is a state. */
export async function runImportJob(
  plan: ImportPlan,
  signal: AbortSignal,
  onState: (state: ImportState) => void,
): Promise<void> {
  const requestId = newRequestId();
  const startedAt = Date.now();
  const { format, endpoint, isDryRun } = plan;
  let isSent = false;
  try {
    const { body, mapped } = await sentBlob(plan, signal, onState);
    isSent = true;
    const since = performance.now();
    let sending = {
      kind: 'sending' as const,
      since,
      bytes: 0,
      total: body.size,
      progress: null as ImportProgress | null,
    };
    const change = (part: Partial<typeof sending>): void => {
      sending = { ...sending, ...part };
      onState(sending);
    };
    change({});
    const done = await upload({
      url: importUrl(plan),
      headers: { ...headersOf(endpoint, requestId), 'Content-Type': importFormats[format].type },
      body,
      requestId,
      signal,
      onSent: (bytes) => change({ bytes }),
      onProgress: (progress) => change({ progress }),
    });
    onState({ kind: 'done', outcome: importOutcomeOf(done, mapped) });
  } catch (error) {
    const isGivenUp = error === givenUp;
    // Refused before anything was read: nothing is stored.
    const isRefused = error instanceof ApiError && error.status !== null && error.status < 500;
    if (isGivenUp) onState({ kind: 'stopping' });
    const left =
      isSent && !isDryRun && !isRefused ? await findLeft(endpoint, { requestId, startedAt }) : nothing;
    onState({ kind: 'ended', failure: isGivenUp ? null : apiFailureOf(error), left });
  }
}
