/**
 * The staged edits of one database and tenant in this browser: they survive a reload; the history of steps
 * does not.
 *
 * There is one store per space for as long as the window is open, whichever view is shown. Stored edits are
 * validated when read; edits from another version, or tampered ones, are ignored.
 */
import { create, type StoreApi, type UseBoundStore } from 'zustand';
import type { Metadata } from '../../../engine/contract/facts.ts';
import { type Act, record } from '../../api/history.ts';
import type { Space } from '../../api/space.ts';
import { onStoredElsewhere, readStoredState, writeStored } from '../../ui/stored-state.ts';
import { noteUnsaved } from '../../ui/unsaved.ts';
import type { FactContent, SeenFact, StagedEdit, StagedEdits } from './staged-edits.ts';

interface EditState {
  readonly edits: StagedEdits;
  /** False: the browser has no room to persist the edits. */
  readonly isPersisted: boolean;
  /** The service is applying the edits; nothing can be staged meanwhile. */
  readonly isApplying: boolean;
}

/** The store of a space's staged edits. */
export type EditStore = UseBoundStore<StoreApi<EditState>>;

const stores = new Map<string, EditStore>();

/** The store of a space, initialized with its persisted edits. */
export function editStoreOf({ database, tenant }: Pick<Space, 'database' | 'tenant'>): EditStore {
  const key = `corollary.staged.${database} ${tenant}`;
  const known = stores.get(key);
  if (known !== undefined) return known;
  const edits = readStoredState(key, readEdits, []);
  const store = create<EditState>()(() => ({ edits, isPersisted: true, isApplying: false }));
  store.subscribe((state, before) => {
    noteUnsaved(key, lossOf(state));
    if (state.edits === before.edits) return;
    const isPersisted = persist(key, state.edits);
    if (isPersisted !== state.isPersisted) store.setState({ isPersisted });
  });
  followOtherWindows(key, store, { database, tenant });
  stores.set(key, store);
  return store;
}

/** What the end of the page would lose; null if it loses nothing. */
function lossOf({ edits, isPersisted, isApplying }: EditState): string | null {
  if (isApplying) return 'Staged facts are being stored.';
  return isPersisted || edits.length === 0 ? null : 'Staged facts are neither stored nor kept as a draft.';
}

/** Takes over what another window of this browser stages, as a step: all windows share one draft. */
function followOtherWindows(key: string, store: EditStore, space: Pick<Space, 'database' | 'tenant'>): void {
  onStoredElsewhere(key, () => {
    const before = store.getState();
    const edits = readStoredState(key, readEdits, []);
    if (before.isApplying || JSON.stringify(edits) === JSON.stringify(before.edits)) return;
    replaceEdits(store, space, 'edited in another window', edits);
  });
}

/** Replaces the edits, as a step of the history; identical edits are no step. */
export function replaceEdits(
  store: EditStore,
  space: Pick<Space, 'database' | 'tenant'>,
  label: string,
  edits: StagedEdits,
): void {
  const { edits: before } = store.getState();
  if (edits === before) return;
  store.setState({ edits });
  record(space, label, swapped(store, before), 'staged');
}

/** A step that replaces the current edits; its result undoes it. */
function swapped(store: EditStore, edits: StagedEdits): Act {
  return () => {
    const { edits: before } = store.getState();
    store.setState({ edits });
    return Promise.resolve(swapped(store, before));
  };
}

function persist(key: string, edits: StagedEdits): boolean {
  try {
    if (edits.length === 0) localStorage.removeItem(key);
    else writeStored(key, edits);
    return true;
  } catch (error) {
    // Full, or disabled: the view reports it. An older version must not come back instead.
    if (!(error instanceof DOMException)) throw error;
    localStorage.removeItem(key);
    return false;
  }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isTimeOrNull(value: unknown): value is number | null {
  return value === null || Number.isSafeInteger(value);
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isRecord(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** By shape alone: Apply has the service check the values. */
function readContent(value: unknown): FactContent | null {
  if (!isRecord(value)) return null;
  const { predicate, args, truthVal, scope, validFrom, validUntil, metadata } = value;
  if (typeof predicate !== 'string' || !isTextList(args) || typeof truthVal !== 'boolean') return null;
  if (!isTextOrNull(scope) || !isTimeOrNull(validFrom) || !isTimeOrNull(validUntil)) return null;
  return isRecord(metadata) ? { predicate, args, truthVal, scope, validFrom, validUntil, metadata } : null;
}

function readSeen(value: unknown): SeenFact | null {
  const content = readContent(value);
  if (content === null || typeof value !== 'object' || value === null) return null;
  return 'id' in value && typeof value.id === 'string' ? { id: value.id, ...content } : null;
}

function readEdit(value: unknown): StagedEdit | null {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, key, base, fact, over } = value as Record<string, unknown>;
  if (typeof key !== 'string') return null;
  const seen = readSeen(base);
  const wanted = readContent(fact);
  const known = over === null ? null : readContent(over);
  if (kind === 'added' && wanted !== null) return { kind, key, fact: wanted, over: known };
  if (kind === 'changed' && wanted !== null && seen !== null)
    return { kind, key, base: seen, fact: wanted, over: known };
  return kind === 'removed' && seen !== null ? { kind, key, base: seen } : null;
}

/** Parses persisted edits; null if any of them is malformed. */
export function readEdits(value: unknown): StagedEdits | null {
  if (!Array.isArray(value)) return null;
  const edits = value.map(readEdit);
  const isWhole = edits.every((edit) => edit !== null);
  return isWhole && new Set(edits.map(({ key }) => key)).size === edits.length ? edits : null;
}
