/**
 * The actions on staged edits: stage more, preview, apply. Each is a step of the history, which can undo it.
 *
 * Only one action runs at a time: during a request nothing else is staged or applied. A refused action
 * changes nothing and reports why. The service's state is read before each request, which finds conflicts by
 * fact; the transaction is guarded by the generations read, so that a concurrent change is refused, not
 * overwritten.
 */
import type { FactDetail } from '../../../engine/contract/facts.ts';
import { type Act, historyOf, record, withoutStaged } from '../../api/history.ts';
import { noteGeneration, noteGone, useLive } from '../../api/live.ts';
import { ApiError, type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { type ScopeSelection, scopeFieldsOfStored } from '../../api/space.ts';
import { storedFactsOf } from '../../api/stored-facts.ts';
import { runTransaction } from '../../api/transaction.ts';
import type { ReportedConsequences } from '../../ui/consequences.ts';
import { notifyDone, notifyFailure } from '../../ui/notify.tsx';
import { formatCount } from '../../ui/format.ts';
import { type EditStore, replaceEdits } from './edit-store.ts';
import { type EditConflict, editConflictsOf } from './staged-conflicts.ts';
import {
  changeCountsOf,
  clashesOf,
  type Concerned,
  concernedBy,
  type ContentChange,
  contentOf,
  countsText,
  editWritesOf,
  type FactContent,
  identityOf,
  inverseOf,
  maxStagedRows,
  netChangesOf,
  type Present,
  type Presents,
  type StagedEdits,
} from './staged-edits.ts';

interface Context {
  readonly session: WorkbenchSession;
  readonly store: EditStore;
  /** Reports why an action was refused; null when another begins. */
  readonly onFailure: (failure: ApiFailure | null) => void;
  readonly onConflicts: (conflicts: readonly EditConflict[]) => void;
  /** Facts were stored: what is shown must be reloaded. */
  readonly onStored: () => void;
}

/** The actions on staged edits. */
export interface StagingActions {
  /** Transforms the edits as one step of the history. */
  readonly stage: (label: string, change: (edits: StagedEdits) => StagedEdits) => void;
  /** Resolves to the ids of the facts that no longer exist; empty if nothing was applied. */
  readonly apply: () => Promise<readonly string[]>;
}

/** The actions of a space. */
export function stagingActions(context: Context): StagingActions {
  return {
    stage: (label, change) => stage(context, label, change),
    apply: () => apply(context),
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'Conflict';
}

/** True during a request that involves the edits. */
function isBusy({ store, session }: Context): boolean {
  return store.getState().isApplying || historyOf(session.space).getState().running !== null;
}

function stage(context: Context, label: string, change: (edits: StagedEdits) => StagedEdits): void {
  const { store, session, onFailure } = context;
  const { edits } = store.getState();
  if (isBusy(context)) return;
  const next = change(edits);
  if (next === edits) return;
  if (next.length > maxStagedRows && next.length > edits.length) {
    const detail = `At most ${formatCount(maxStagedRows)} rows can be staged at a time. Apply or revert some first.`;
    notifyFailure({ title: 'Too many staged rows', detail, requestId: '', errors: [] });
    return;
  }
  onFailure(null);
  replaceEdits(store, session.space, label, next);
}

/** Ids of the facts that Apply removes, or replaces by facts of another identity. */
function goneBy(edits: StagedEdits): string[] {
  return edits.flatMap((edit) => {
    if (edit.kind === 'added') return [];
    const staysSameFact = edit.kind === 'changed' && identityOf(edit.base) === identityOf(edit.fact);
    return staysSameFact ? [] : [edit.base.id];
  });
}

async function apply(context: Context): Promise<readonly string[]> {
  const { store, onFailure } = context;
  const { edits } = store.getState();
  if (edits.length === 0 || clashesOf(edits).size > 0 || isBusy(context)) return [];
  store.setState({ isApplying: true });
  onFailure(null);
  try {
    return await applyAlone(context, edits);
  } catch (error) {
    onFailure(apiFailureOf(error));
    return [];
  } finally {
    store.setState({ isApplying: false });
  }
}

async function applyAlone(context: Context, wanted: StagedEdits): Promise<readonly string[]> {
  const { session, store, onConflicts, onStored } = context;
  const outcome = await applyEdits(session, wanted).catch(async (error: unknown) => {
    // Someone wrote between the read and the transaction: a second read finds the conflicts.
    if (isConflict(error)) onConflicts(await findConflicts(session, wanted));
    throw error;
  });
  const history = historyOf(session.space);
  if (outcome.kind === 'conflicts') {
    onConflicts(outcome.conflicts);
    history.setState({ said: 'Nothing was applied: someone else changed what you edited.' });
    return [];
  }
  const { changes, generation } = outcome;
  const what = countsText(changeCountsOf(changes));
  const gone = goneBy(wanted);
  noteGone(gone);
  noteGeneration(generation);
  store.setState({ edits: [] });
  // The staged steps become a single one.
  history.setState(withoutStaged);
  recordChanges(session, `applied ${what}`, changes, generation);
  notifyDone(what === '' ? 'Nothing to apply: everything was stored already.' : `Applied: ${what}`);
  onStored();
  return gone;
}

/** Records the changes of a transaction as a step, given its generation. Empty changes are no step. */
export function recordChanges(
  session: WorkbenchSession,
  label: string,
  changes: readonly ContentChange[],
  generation: number,
): void {
  if (changes.length > 0) record(session.space, label, changing(session, inverseOf(changes), generation));
}

/** A step that makes changes to facts unchanged since that generation. */
function changing(session: WorkbenchSession, changes: readonly ContentChange[], since: number): Act {
  return async () => {
    const generation = await makeChanges(session, changes, since);
    noteGeneration(generation);
    return changing(session, inverseOf(changes), generation);
  };
}

type Service = Pick<WorkbenchSession, 'call' | 'endpoint'>;

/** The effect of Apply, or its conflicts. */
export interface Preview {
  /** If not empty, the rest is unknown. */
  readonly conflicts: readonly EditConflict[];
  readonly changes: readonly ContentChange[];
  /** The consequences, as far as they were computed. */
  readonly consequences: ReportedConsequences;
}

/** The changes and generation of an applied transaction; or the conflicts that prevented it. */
type Applied =
  | { readonly kind: 'applied'; readonly changes: readonly ContentChange[]; readonly generation: number }
  | { readonly kind: 'conflicts'; readonly conflicts: readonly EditConflict[] };

function guardsOf(presents: Presents): (identity: string) => number | null {
  return (identity) => presents.get(identity)?.generation ?? null;
}

/** Previews the edits without changing anything. Errors: those of `call`. */
export async function previewEdits(
  { call, endpoint }: Service,
  edits: StagedEdits,
  signal: AbortSignal,
): Promise<Preview> {
  const presents = await lookUp(call, edits, signal);
  const conflicts = editConflictsOf(edits, presents);
  const changes = conflicts.length > 0 ? [] : netChangesOf(edits, presents);
  if (changes.length === 0) return { conflicts, changes, consequences: {} };
  const options = { dryRun: true, signal };
  const consequences = await runTransaction(endpoint, editWritesOf(changes, guardsOf(presents)), options);
  return { conflicts, changes, consequences };
}

/** The current conflicts of the edits. Errors: those of `call`. */
async function findConflicts({ call }: Service, edits: StagedEdits): Promise<EditConflict[]> {
  return editConflictsOf(edits, await lookUp(call, edits));
}

/** Applies the edits in one transaction, unless they conflict. Errors: those of `runTransaction`. */
async function applyEdits({ call, endpoint }: Service, edits: StagedEdits): Promise<Applied> {
  const presents = await lookUp(call, edits);
  const conflicts = editConflictsOf(edits, presents);
  if (conflicts.length > 0) return { kind: 'conflicts', conflicts };
  const changes = netChangesOf(edits, presents);
  if (changes.length === 0) return { kind: 'applied', changes, generation: 0 };
  const { generation } = await runTransaction(endpoint, editWritesOf(changes, guardsOf(presents)));
  return { kind: 'applied', changes, generation };
}

/**
 * Makes changes of facts unchanged since `generation`, and returns the new generation. Errors: those of
 * `runTransaction`; Conflict if a fact has changed.
 */
async function makeChanges(
  { endpoint }: Pick<Service, 'endpoint'>,
  changes: readonly ContentChange[],
  since: number,
): Promise<number> {
  const writes = editWritesOf(changes, () => since);
  return (await runTransaction(endpoint, writes)).generation;
}

type Call = WorkbenchSession['call'];

/** Maximum number of parallel requests. */
const maxParallel = 6;
/** Time limit for finding dependents, which are not needed here, in milliseconds. */
const minTimeoutMs = 1;

/** The stored state of every fact that the edits concern. Errors: those of `call`. */
async function lookUp(call: Call, edits: StagedEdits, signal?: AbortSignal): Promise<Presents> {
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
  const scope: ScopeSelection =
    fact.scope === null ? { kind: 'unscoped' } : { kind: 'named', name: fact.scope };
  const [stored] = await storedFactsOf(call, fact, scope, 1, optionsOf(signal));
  return stored?.id ?? null;
}

function optionsOf(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
