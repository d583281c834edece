/**
 * The staged edits of one database and tenant in this browser: they survive a reload, the steps that led to them do not.
 *
 * There is one store for each space, for as long as the window is open, whatever view is shown. What was kept is
 * checked when it is read; what another version wrote, or somebody edited, counts as absent.
 */
import { create, type StoreApi, type UseBoundStore } from 'zustand';
import { storedFactSchema } from '../../../engine/contract/facts.ts';
import { validate } from '../../../engine/contract/validation.ts';
import { type Act, record } from '../../api/history.ts';
import type { Space } from '../../api/space.ts';
import { readStored, writeStored } from '../../ui/stored-state.ts';
import {
  contentOf,
  type FactContent,
  type SeenFact,
  type StagedEdit,
  type StagedEdits,
} from './staged-edits.ts';

interface EditState {
  readonly edits: StagedEdits;
  /** False: the browser has no room to keep the edits over a reload. */
  readonly isKept: boolean;
  /** The service is asked to apply them at the moment; nothing is staged meanwhile. */
  readonly isApplying: boolean;
}

export type EditStore = UseBoundStore<StoreApi<EditState>>;

const stores = new Map<string, EditStore>();

/** The store of a space, filled with the edits that were kept. */
export function editStoreOf({ database, tenant }: Pick<Space, 'database' | 'tenant'>): EditStore {
  const key = `corollary.staged.${database} ${tenant}`;
  const known = stores.get(key);
  if (known !== undefined) return known;
  const edits = readStored(key, readEdits, []);
  const store = create<EditState>()(() => ({ edits, isKept: true, isApplying: false }));
  store.subscribe((state, before) => {
    if (state.edits === before.edits) return;
    const isKept = keep(key, state.edits);
    if (isKept !== state.isKept) store.setState({ isKept });
  });
  followOtherWindows(key, store, { database, tenant });
  stores.set(key, store);
  return store;
}

/** What another window of this browser stages is staged here too, as a step: they keep one draft. */
function followOtherWindows(key: string, store: EditStore, space: Pick<Space, 'database' | 'tenant'>): void {
  window.addEventListener('storage', (event) => {
    if (event.key !== key) return;
    const before = store.getState();
    const edits = readStored(key, readEdits, []);
    if (before.isApplying || JSON.stringify(edits) === JSON.stringify(before.edits)) return;
    restage(store, space, 'edited in another window', edits);
  });
}

/** Takes up other edits as a step. The same edits are no step. */
export function restage(
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

/** Puts edits in the place of those there are. */
function swapped(store: EditStore, edits: StagedEdits): Act {
  return () => {
    const { edits: before } = store.getState();
    store.setState({ edits });
    return Promise.resolve(swapped(store, before));
  };
}

function keep(key: string, edits: StagedEdits): boolean {
  try {
    if (edits.length === 0) localStorage.removeItem(key);
    else writeStored(key, edits);
    return true;
  } catch (error) {
    // Full, or switched off: the view says so. An older version must not come back in their place.
    if (!(error instanceof DOMException)) throw error;
    localStorage.removeItem(key);
    return false;
  }
}

const contentSchema = storedFactSchema.pick({
  predicate: true,
  args: true,
  truthVal: true,
  scope: true,
  validFrom: true,
  validUntil: true,
  metadata: true,
});

function readContent(value: unknown): FactContent | null {
  const outcome = validate(contentSchema, value);
  return outcome.ok ? contentOf(outcome.value) : null;
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

/** The edits as they were kept; null where any of them cannot be read. */
export function readEdits(value: unknown): StagedEdits | null {
  if (!Array.isArray(value)) return null;
  const edits = value.map(readEdit);
  const isWhole = edits.every((edit) => edit !== null);
  return isWhole && new Set(edits.map(({ key }) => key)).size === edits.length ? edits : null;
}
