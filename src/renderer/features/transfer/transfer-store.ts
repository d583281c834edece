/** Starts, follows, cancels and undoes the imports of this window. */
import type { QueryClient } from '@tanstack/react-query';
import { historyOf, move, record, type HistoryStep } from '../../api/history.ts';
import { call } from '../../api/client.ts';
import { desktopShell } from '../../api/desktop.ts';
import { invalidate, noteGeneration, topics } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import {
  findPartialImport,
  abortImport,
  type ImportPlan,
  type ImportState,
  runImportJob,
} from './import-run.ts';
import { notifyTrouble } from '../../ui/notify.tsx';
import { forgetPrepared } from './prepare-table.ts';
import { type ImportEntry, useTransfers } from './transfer-state.ts';

const maxCount = 20;
let lastNumber = 0;
const controllers = new Map<number, AbortController>();

/** Returns true while an import runs. */
export function isRunning({ state }: ImportEntry): boolean {
  return state.kind === 'preparing' || state.kind === 'sending' || state.kind === 'stopping';
}

/** Returns the id that undoes an import; null if unknown or nothing to undo. */
export function idOf({ state }: ImportEntry): string | null {
  if (state.kind === 'done') return state.outcome.id;
  if (state.kind === 'ended' && state.left.kind === 'known') return state.left.stored.id;
  return null;
}

function change(number: number, part: Partial<ImportEntry>): void {
  useTransfers.setState(({ imports, check }) => ({
    imports: imports.map((entry) => (entry.number === number ? { ...entry, ...part } : entry)),
    check: check?.number === number ? { ...check, ...part } : check,
  }));
}

/** The desktop application lists it among the recent files. */
function noteRecentFile(file: File): void {
  desktopShell()
    ?.noteFile(file)
    .catch((error: unknown) => notifyTrouble('The file is not among the recent ones', error));
}

/** Starts an import, or a check for a dry-run plan. Only one runs at a time. */
export function startImport(client: QueryClient, plan: ImportPlan): void {
  if (useTransfers.getState().imports.some(isRunning)) return;
  dropCheck();
  if (!plan.isDryRun) noteRecentFile(plan.file);
  const number = ++lastNumber;
  const controller = new AbortController();
  controllers.set(number, controller);
  const state: ImportState = { kind: 'preparing', bytes: 0 };
  const entry: ImportEntry = { number, plan, startedAt: Date.now(), state, undoing: { kind: 'none' } };
  useTransfers.setState(({ imports }) =>
    plan.isDryRun
      ? { check: entry }
      : { imports: [entry, ...imports].slice(0, maxCount), check: null, dismissed: null },
  );
  void runImportJob(plan, controller.signal, (next) => {
    change(number, { state: next });
    if (plan.isDryRun || next.kind === 'preparing' || next.kind === 'sending') return;
    if (next.kind === 'done') {
      noteGeneration(next.outcome.generation);
      forgetPrepared();
      recordImport(client, { ...entry, state: next });
    }
    // The change stream reports this too, but may be late or down; a refused key also requires fresh data.
    invalidate(client, plan.endpoint, topics);
  }).finally(() => controllers.delete(number));
}

/** Cancels an import. */
export function cancel(number: number): void {
  const controller = controllers.get(number);
  if (controller !== undefined) abortImport(controller);
}

/** Cancels a check and drops its result after a change of the form. */
export function dropCheck(): void {
  const { check } = useTransfers.getState();
  if (check === null) return;
  cancel(check.number);
  useTransfers.setState({ check: null });
}

/** Checks again what an import that ended early has stored. */
export async function lookAgain({ number, plan, state }: ImportEntry): Promise<void> {
  if (state.kind !== 'ended' || state.left.kind !== 'unknown') return;
  change(number, { state: { kind: 'stopping' } });
  change(number, { state: { ...state, left: await findPartialImport(plan.endpoint, state.left.trace) } });
}

/** History steps of imports, by number. */
const steps = new Map<number, HistoryStep>();

function recordImport(client: QueryClient, entry: ImportEntry): void {
  const id = idOf(entry);
  const { endpoint, file } = entry.plan;
  if (id === null) return;
  const step = record(endpoint, `imported ${file.name}`, async () => {
    await takeBack(client, entry, id);
    return 'import the file again';
  });
  steps.set(entry.number, step);
}

async function takeBack(client: QueryClient, { number, plan }: ImportEntry, id: string): Promise<void> {
  change(number, { undoing: { kind: 'running' } });
  try {
    const undone = await call(plan.endpoint, 'undoImport', { params: { id } });
    change(number, { undoing: { kind: 'undone', undone } });
    noteGeneration(undone.generation);
    invalidate(client, plan.endpoint, topics);
  } catch (error) {
    change(number, { undoing: { kind: 'failed', failure: apiFailureOf(error) } });
    throw error;
  }
}

/** Retracts what an import asserted. Never rejects: failures go into the entry. */
export async function undo(client: QueryClient, entry: ImportEntry): Promise<void> {
  const step = steps.get(entry.number);
  const id = idOf(entry);
  if (step !== undefined) await move(historyOf(entry.plan.endpoint), 'undo', step);
  else if (id !== null) await takeBack(client, entry, id).catch(() => undefined);
}

/** Returns and removes the dropped file. */
export function takeDropped(): File | null {
  const { dropped } = useTransfers.getState();
  if (dropped !== null) useTransfers.setState({ dropped: null });
  return dropped;
}

/** Closes the notice of an import. */
export function dismiss(number: number): void {
  useTransfers.setState({ dismissed: number });
}
