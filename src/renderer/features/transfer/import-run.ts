/**
 * One import from the file that was chosen to what became of it, as states that are shown.
 *
 * It belongs to the window, not to a dialog: it goes on when that is closed or another tool is opened. Where it began is
 * where it ends: another tenant that is looked at meanwhile changes nothing.
 */
import type { FactList, StoredFact } from '../../../engine/contract/facts.ts';
import type { OperationOutput } from '../../../engine/contract/operations.ts';
import type { ImportDone, ImportProgress, ImportUndone } from '../../../engine/contract/transfer.ts';
import { addressOf, call, headersOf, newRequestId, type ServiceEndpoint } from '../../api/client.ts';
import { ApiError, type ApiFailure, apiFailureOf, errorOfAnswer, errorOfSilence } from '../../api/problem.ts';
import { type ImportFormat, importFormats, isTabular } from './formats.ts';
import { isAsItIs, type Mapping } from './mapping.ts';
import { prepareTable } from './prepare-table.ts';
import type { RowFailure, Transformed } from './transform.ts';

/** HEAD:
 * One call of POST /import: a file goes up, lines come back.
 *
 * Browsers tell of a body that is being sent only through XMLHttpRequest, and begin to read the answer when it was sent
 * whole: until then the bytes are the progress (the service takes no more than it has worked off), after it the lines.
 */

type ImportLine = OperationOutput<'importKnowledge'>;

interface ImportUpload {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly onSent: (bytes: number) => void;
  readonly onProgress: (progress: ImportProgress) => void;
}

/** Reads the lines of an answer as it grows. */
export class AnswerLines {
  #read = 0;

  /** The whole lines that are new; `text` is all of the answer so far. */
  take(text: string, isAll: boolean): ImportLine[] {
    const end = isAll ? text.length : text.lastIndexOf('\n') + 1;
    const fresh = text.slice(this.#read, end);
    this.#read = Math.max(this.#read, end);
    return fresh
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as ImportLine);
  }
}

function brokenOff(requestId: string): ApiError {
  return new ApiError({
    code: 'Unreachable',
    status: null,
    title: 'The import broke off',
    detail:
      'The connection to the service ended before the import did. What was stored before stays stored; to import the file again does no harm.',
    requestId,
    errors: [],
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // No answer of this service: the status alone is told.
    return null;
  }
}

/** Resolves with the last line. Errors: ApiError; the signal's reason where it ended it. */
function upload({
  url,
  headers,
  body,
  requestId,
  signal,
  onSent,
  onProgress,
}: ImportUpload): Promise<ImportDone> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const lines = new AnswerLines();
    let hasSent = false;
    let outcome: ImportDone | ApiError | null = null;

    function take(isAll: boolean): void {
      if (request.status !== 200) return;
      for (const line of lines.take(request.responseText, isAll)) {
        if ('done' in line) outcome = line;
        else if ('error' in line) {
          const { status } = line.error;
          outcome = errorOfAnswer(typeof status === 'number' ? status : 500, line.error, requestId);
        } else onProgress(line);
      }
    }

    function finish(): void {
      signal.removeEventListener('abort', abort);
      if (request.status !== 200)
        reject(errorOfAnswer(request.status, parsed(request.responseText), requestId));
      else if (outcome === null) reject(brokenOff(requestId));
      else if (outcome instanceof ApiError) reject(outcome);
      else resolve(outcome);
    }

    function abort(): void {
      request.abort();
      reject(signal.reason as Error);
    }

    request.open('POST', url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => {
      hasSent = true;
      onSent(loaded);
    };
    request.upload.onload = () => onSent(body.size);
    request.onprogress = () => take(false);
    request.onload = () => {
      take(true);
      finish();
    };
    request.onerror = () => {
      signal.removeEventListener('abort', abort);
      reject(hasSent ? brokenOff(requestId) : errorOfSilence('the request failed', requestId));
    };
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    signal.addEventListener('abort', abort);
    request.send(body);
  });
}

/** HEAD:
 * Finds what an import that ended early has stored, and the id that undoes it.
 *
 * The id stands in the last line of the answer, which never came. But every stored fact tells its import, and its history
 * the request that asserted it; the request's name is ours.
 */

interface StoredPart {
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
async function findStoredPart(
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
