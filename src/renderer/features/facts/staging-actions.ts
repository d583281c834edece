/**
 * What can be done with staged edits: stage others, apply them. Each changes the store of the space and is a step of the
 * history, in which it is undone.
 *
 * One thing at a time: while the service is asked, nothing else is staged or applied. What is refused changes nothing and
 * says why.
 */
import { type Act, historyOf, record, withoutStaged } from '../../api/history.ts';
import { noteGeneration, noteGone } from '../../api/live.ts';
import { ApiError, type Failure, failureOf } from '../../api/problem.ts';
import type { Session } from '../../api/session.tsx';
import { runTransaction } from '../../api/transaction.ts';
import type { ToldConsequences } from '../../ui/consequences.ts';
import { notifyDone, notifyFailure } from '../../ui/notify.tsx';
import { type EditStore, restage } from './edit-store.ts';
import { lookUp } from './look-up.ts';
import { conflictsOf, type EditConflict } from './staged-conflicts.ts';
import {
  changesOf,
  clashesOf,
  countsOfChanges,
  countsText,
  type FactChange,
  identityOf,
  inverseOf,
  mostStaged,
  type Presents,
  type StagedEdits,
  writesOf,
} from './staged-edits.ts';

interface Context {
  readonly session: Session;
  readonly store: EditStore;
  /** Why something was refused; null when something else is begun. */
  readonly onFailure: (failure: Failure | null) => void;
  readonly onConflicts: (conflicts: readonly EditConflict[]) => void;
  /** Facts were stored: what is shown is to be fetched again. */
  readonly onStored: () => void;
}

export interface StagingActions {
  /** Makes other edits of those there are, as one step that can be undone. */
  readonly stage: (label: string, change: (edits: StagedEdits) => StagedEdits) => void;
  /** Resolves with the ids of the facts that are no more, empty where nothing was applied. */
  readonly apply: () => Promise<readonly string[]>;
}

export function stagingActions(context: Context): StagingActions {
  return {
    stage: (label, change) => stage(context, label, change),
    apply: () => apply(context),
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'Conflict';
}

/** True while the service is asked for something that edits are part of. */
function isBusy({ store, session }: Context): boolean {
  return store.getState().isApplying || historyOf(session.space).getState().running !== null;
}

function stage(context: Context, label: string, change: (edits: StagedEdits) => StagedEdits): void {
  const { store, session, onFailure } = context;
  const { edits } = store.getState();
  if (isBusy(context)) return;
  const next = change(edits);
  if (next === edits) return;
  if (next.length > mostStaged && next.length > edits.length) {
    const detail = `At most ${mostStaged.toLocaleString('en')} rows are staged at a time. Apply or revert those there are first.`;
    notifyFailure({ title: 'Too many staged rows', detail, requestId: '', errors: [] });
    return;
  }
  onFailure(null);
  restage(store, session.space, label, next);
}

/** Ids of the facts that an Apply of these edits makes go: those removed, and those that became others. */
function goneBy(edits: StagedEdits): string[] {
  return edits.flatMap((edit) => {
    if (edit.kind === 'added') return [];
    const isKept = edit.kind === 'changed' && identityOf(edit.base) === identityOf(edit.fact);
    return isKept ? [] : [edit.base.id];
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
    onFailure(failureOf(error));
    return [];
  } finally {
    store.setState({ isApplying: false });
  }
}

async function applyAlone(context: Context, wanted: StagedEdits): Promise<readonly string[]> {
  const { session, store, onConflicts, onStored } = context;
  const outcome = await applyEdits(session, wanted).catch(async (error: unknown) => {
    // Somebody came between reading and writing: by now it can be read who stands against what.
    if (isConflict(error)) onConflicts(await findConflicts(session, wanted));
    throw error;
  });
  const history = historyOf(session.space);
  if (outcome.kind === 'conflicts') {
    onConflicts(outcome.conflicts);
    history.setState({ said: 'Nothing was applied: somebody else changed what you edited.' });
    return [];
  }
  const { changes, generation } = outcome;
  const what = countsText(countsOfChanges(changes));
  const gone = goneBy(wanted);
  noteGone(gone);
  noteGeneration(generation);
  store.setState({ edits: [] });
  // What was staged is one step now.
  history.setState(withoutStaged);
  recordChanges(session, `applied ${what}`, changes, generation);
  notifyDone(what === '' ? 'There was nothing left to do: all was so already.' : `Applied: ${what}`);
  onStored();
  return gone;
}

/** Takes up changes that were made in a transaction of that generation as a step. No changes are no step. */
export function recordChanges(
  session: Session,
  label: string,
  changes: readonly FactChange[],
  generation: number,
): void {
  if (changes.length > 0) record(session.space, label, changing(session, inverseOf(changes), generation));
}

/** Makes changes of facts that nobody touched since that generation. */
function changing(session: Session, changes: readonly FactChange[], since: number): Act {
  return async () => {
    const generation = await makeChanges(session, changes, since);
    noteGeneration(generation);
    return changing(session, inverseOf(changes), generation);
  };
}

// HEAD staging-runs.ts: What staged edits ask of the service: to try them, to apply them, to take an applied step back. Every time what is stored is read first, so that conflicts are known by fact; the transaction is guarded by the generations that were read, so that what changes in between is refused and not overwritten.

type Service = Pick<Session, 'call' | 'endpoint'>;

/** What Apply would do, or what stands against it. */
export interface Preview {
  /** Where not empty, the rest is not known. */
  readonly conflicts: readonly EditConflict[];
  readonly changes: readonly FactChange[];
  /** What would follow, as far as it was worked out. */
  readonly consequences: ToldConsequences;
}

/** The generation of an applied transaction, with what it changed; or the conflicts that kept it from being made. */
type Applied =
  | { readonly kind: 'applied'; readonly changes: readonly FactChange[]; readonly generation: number }
  | { readonly kind: 'conflicts'; readonly conflicts: readonly EditConflict[] };

function guardsOf(presents: Presents): (identity: string) => number | null {
  return (identity) => presents.get(identity)?.generation ?? null;
}

/** Tries the edits and changes nothing. Errors: those of `call`. */
export async function previewEdits(
  { call, endpoint }: Service,
  edits: StagedEdits,
  signal: AbortSignal,
): Promise<Preview> {
  const presents = await lookUp(call, edits, signal);
  const conflicts = conflictsOf(edits, presents);
  const changes = conflicts.length > 0 ? [] : changesOf(edits, presents);
  if (changes.length === 0) return { conflicts, changes, consequences: {} };
  const options = { dryRun: true, signal };
  const consequences = await runTransaction(endpoint, writesOf(changes, guardsOf(presents)), options);
  return { conflicts, changes, consequences };
}

/** The conflicts of the edits as things stand. Errors: those of `call`. */
async function findConflicts({ call }: Service, edits: StagedEdits): Promise<EditConflict[]> {
  return conflictsOf(edits, await lookUp(call, edits));
}

/** Makes the edits in one transaction, unless they conflict. Errors: those of `runTransaction`. */
async function applyEdits({ call, endpoint }: Service, edits: StagedEdits): Promise<Applied> {
  const presents = await lookUp(call, edits);
  const conflicts = conflictsOf(edits, presents);
  if (conflicts.length > 0) return { kind: 'conflicts', conflicts };
  const changes = changesOf(edits, presents);
  if (changes.length === 0) return { kind: 'applied', changes, generation: 0 };
  const { generation } = await runTransaction(endpoint, writesOf(changes, guardsOf(presents)));
  return { kind: 'applied', changes, generation };
}

/**
 * Makes changes whose facts nobody touched since `generation`, and answers the generation of that. Errors: those of
 * `runTransaction`; Conflict where somebody did.
 */
async function makeChanges(
  { endpoint }: Pick<Service, 'endpoint'>,
  changes: readonly FactChange[],
  since: number,
): Promise<number> {
  const writes = writesOf(changes, () => since);
  return (await runTransaction(endpoint, writes)).generation;
}
