/**
 * One import from the chosen file to its result, as a sequence of states.
 *
 * It belongs to the window, not to a dialog: it continues when the dialog closes or another tool opens, and it always
 * targets the space where it started.
 */
import type { ConstraintViolation } from '../../../engine/contract/constraints.ts';
import type { DeclarationInput } from '../../../engine/contract/declarations.ts';
import type { FactList, StoredFact } from '../../../engine/contract/facts.ts';
import type { OperationOutput } from '../../../engine/contract/operations.ts';
import type { ImportDone, ImportProgress, ImportUndone } from '../../../engine/contract/transfer.ts';
import { addressOf, call, callHeaders, newRequestId, type ApiEndpoint } from '../../api/client.ts';
import { ApiError, type ApiFailure, apiFailureOf, errorOfAnswer, errorOfSilence } from '../../api/problem.ts';
import { type ImportFormat, importFormats, isTabular } from './formats.ts';
import { isAsItIs, type Mapping } from './mapping.ts';
import { prepareTable } from './prepare-table.ts';
import type { RowFailure, Transformed } from './transform.ts';

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

/** Parses the lines of a growing response. */
export class AnswerLines {
  #read = 0;

  /** Returns the new complete lines; `text` is the whole response so far. */
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
      'The connection to the service ended before the import did. What was stored before stays stored; importing the file again does no harm.',
    requestId,
    errors: [],
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not a response of this service: only the status is reported.
    return null;
  }
}

/**
 * Uploads the file to POST /import. Resolves with the last line. Errors: ApiError; the signal's reason if aborted.
 *
 * Only XMLHttpRequest reports upload progress, and browsers deliver the response after the whole body is sent: until
 * then progress is bytes sent (the service accepts only what it has processed), afterwards the response lines.
 */
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

/**
 * What an import that ended early has stored, and the id that undoes it.
 *
 * The id is in the response's last line, which never arrived. But every stored fact names its import, and its history
 * the request that asserted it, whose id is ours.
 */
interface StoredPart {
  /** null: nothing was found. */
  readonly id: string | null;
  readonly facts: number;
  /** More than counted. */
  readonly isAtLeast: boolean;
}

const pageSize = 1000;
const maxPages = 10;
/** Maximum clock difference between browser and service. */
const clockSlackMs = 5 * 60_000;

/** Returns the imports of the facts, each with one of its facts, newest first. */
export function importsAmong(facts: readonly StoredFact[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { importId, id } of facts)
    if (importId !== null && id !== null && !found.has(importId)) found.set(importId, id);
  return found;
}

/** Finds what an import has stored. `since`: its start in epoch milliseconds. Errors: ApiError. */
async function findStoredPart(endpoint: ApiEndpoint, requestId: string, since: number): Promise<StoredPart> {
  const refused = new Set<string>();
  let [ours, facts, cursor]: [string | null, number, string | null] = [null, 0, null];
  for (let page = 0; page < maxPages; page += 1) {
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

async function isOf(endpoint: ApiEndpoint, factId: string, requestId: string): Promise<boolean> {
  const fact = await call(endpoint, 'getFact', { params: { id: factId } });
  return fact.history.some((change) => change.requestId === requestId);
}

/** An import to run. */
export interface ImportPlan {
  readonly file: File;
  readonly format: ImportFormat;
  /** For tables; null for other formats. */
  readonly mapping: Mapping | null;
  /** Maximum number of columns in the previewed rows. */
  readonly width: number;
  /** For facts and rules without a scope; null: none. */
  readonly scope: string | null;
  readonly endpoint: ApiEndpoint;
  readonly isDryRun: boolean;
  /** Declared before a table is imported, its predicate being named by the mapping; null: nothing is. */
  readonly declaration: DeclarationInput | null;
  /** Triples: what RDFS, OWL and SHACL say becomes declarations and constraints. */
  readonly readsShapes: boolean;
}

/** Result of a whole import; rows that this browser could not map count as failed. */
export interface ImportOutcome {
  readonly id: string;
  readonly asserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rules: number;
  readonly declarations: number;
  readonly constraints: number;
  readonly aliases: number;
  readonly failed: number;
  /** The first failures by line. */
  readonly errors: readonly RowFailure[];
  /** Why none of its facts stays; null: they stay. */
  readonly refusal: ImportRefusal | null;
  /** A quota ended it at the last of the failures. */
  readonly isStopped: boolean;
  /** What of a class model has no counterpart. */
  readonly leftOut: readonly string[];
  readonly generation: number;
}

/** Constraints that the import's facts would violate: the first violations, of how many. */
interface ImportRefusal {
  readonly violations: readonly ConstraintViolation[];
  readonly count: number;
}

/** State of an import. */
export type ImportState =
  | { readonly kind: 'preparing'; readonly bytes: number }
  | {
      readonly kind: 'sending';
      readonly since: number;
      readonly bytes: number;
      readonly total: number;
      /** null: no report from the service yet. */
      readonly progress: ImportProgress | null;
    }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'done'; readonly outcome: ImportOutcome }
  /** `failure` null: the user cancelled. */
  | { readonly kind: 'ended'; readonly failure: ApiFailure | null; readonly left: PartialImport };

/** What an incomplete import has stored. */
export type PartialImport =
  | { readonly kind: 'known'; readonly stored: StoredPart }
  /** Currently unknown. */
  | { readonly kind: 'unknown'; readonly trace: ImportTrace; readonly failure: ApiFailure };

/** How to find the facts of an import. `startedAt`: epoch milliseconds. */
interface ImportTrace {
  readonly requestId: string;
  readonly startedAt: number;
}

const nothing: PartialImport = { kind: 'known', stored: { id: null, facts: 0, isAtLeast: false } };

/** State of an undo. */
export type Undoing =
  | { readonly kind: 'none' }
  | { readonly kind: 'running' }
  | { readonly kind: 'undone'; readonly undone: ImportUndone }
  | { readonly kind: 'failed'; readonly failure: ApiFailure };

/** Returns the counts of the service and of this browser combined. */
export function importOutcomeOf(done: ImportDone, mapped: Transformed | null): ImportOutcome {
  const errors = [...done.errors, ...(mapped?.failures ?? [])].sort((one, other) => one.line - other.line);
  return {
    id: done.id,
    asserted: done.asserted,
    updated: done.updated,
    unchanged: done.unchanged,
    rules: done.rules,
    declarations: done.declarations ?? 0,
    constraints: done.constraints ?? 0,
    aliases: done.aliases ?? 0,
    failed: done.failed + (mapped?.failed ?? 0),
    errors,
    refusal:
      done.refused === undefined
        ? null
        : { violations: done.violations ?? [], count: done.violationCount ?? 0 },
    isStopped: done.stopped !== undefined,
    leftOut: done.leftOut ?? [],
    generation: done.generation,
  };
}

/** Abort reason of a cancelled import. */
const givenUp = new DOMException('the import was cancelled', 'AbortError');

/** Cancels the import of a controller. */
export function abortImport(controller: AbortController): void {
  controller.abort(givenUp);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Finds what is stored. Never rejects. */
export async function findPartialImport(endpoint: ApiEndpoint, trace: ImportTrace): Promise<PartialImport> {
  try {
    await quietened(endpoint);
    return { kind: 'known', stored: await findStoredPart(endpoint, trace.requestId, trace.startedAt) };
  } catch (error) {
    return { kind: 'unknown', trace, failure: apiFailureOf(error) };
  }
}

const maxLooks = 6;

/**
 * The service stops an import between two batches: resolves when the number of facts no longer grows, or after a
 * while.
 */
async function quietened(endpoint: ApiEndpoint): Promise<void> {
  let before: number | null = null;
  for (let look = 0; look < maxLooks; look += 1) {
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

/** Returns the URL of the upload. */
export function importUrl({ endpoint, scope, mapping, isDryRun, readsShapes }: ImportPlan): string {
  const predicate = mapping?.predicate.kind === 'name' ? mapping.predicate.name : undefined;
  return addressOf(endpoint, 'importKnowledge', {
    query: {
      scope,
      predicate,
      shapes: readsShapes ? 'true' : undefined,
      dryRun: isDryRun ? 'true' : undefined,
    },
  });
}

/** Declares the predicate of the table. Types that are guessed refuse nothing: misfits are listed. */
async function declareColumns({ endpoint, mapping, declaration, isDryRun }: ImportPlan): Promise<void> {
  if (declaration === null || isDryRun || mapping?.predicate.kind !== 'name') return;
  const params = { name: mapping.predicate.name, arity: String(declaration.arguments.length) };
  await call(endpoint, 'declarePredicate', { params, body: declaration });
}

/** Runs an import to its end, reporting its states. Never rejects: a failure is a state. */
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
    await declareColumns(plan);
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
      headers: { ...callHeaders(endpoint, requestId), 'Content-Type': importFormats[format].type },
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
      isSent && !isDryRun && !isRefused
        ? await findPartialImport(endpoint, { requestId, startedAt })
        : nothing;
    onState({ kind: 'ended', failure: isGivenUp ? null : apiFailureOf(error), left });
  }
}
