/**
 * What staged edits ask of the service: to try them, to apply them, to take an applied step back.
 *
 * Every time what is stored is read first, so that conflicts are known by fact; the transaction is guarded by the
 * generations that were read, so that what changes in between is refused and not overwritten.
 */
import { runTransaction } from '../../api/transaction.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import type { ReportedConsequences } from '../../ui/consequences.ts';
import { lookUp } from './look-up.ts';
import { conflictsOf, type EditConflict } from './staged-conflicts.ts';
import { changesOf, type FactChange, type Presents, type StagedEdits, writesOf } from './staged-edits.ts';

type Service = Pick<WorkbenchSession, 'call' | 'endpoint'>;

/** What Apply would do, or what stands against it. */
export interface Preview {
  /** Where not empty, the rest is not known. */
  readonly conflicts: readonly EditConflict[];
  readonly changes: readonly FactChange[];
  /** What would follow, as far as it was worked out. */
  readonly consequences: ReportedConsequences;
}

/** The generation of an applied transaction, with what it changed; or the conflicts that kept it from being made. */
export type Applied =
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
export async function findConflicts({ call }: Service, edits: StagedEdits): Promise<EditConflict[]> {
  return conflictsOf(edits, await lookUp(call, edits));
}

/** Makes the edits in one transaction, unless they conflict. Errors: those of `runTransaction`. */
export async function applyEdits({ call, endpoint }: Service, edits: StagedEdits): Promise<Applied> {
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
export async function makeChanges(
  { endpoint }: Pick<Service, 'endpoint'>,
  changes: readonly FactChange[],
  since: number,
): Promise<number> {
  const writes = writesOf(changes, () => since);
  return (await runTransaction(endpoint, writes)).generation;
}
