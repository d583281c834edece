/** The tabs of each space, kept in this browser: at once, and every two seconds while something is written. */
import { create } from 'zustand';
import type { Space } from '../../api/space.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { type AskTabs, firstTabs, readTabs, withDraft } from './ask-tabs.ts';

type Where = Pick<Space, 'database' | 'tenant'>;
type All = Readonly<Record<string, AskTabs>>;

const storageKey = 'corollary.ask-tabs';
const saveMs = 2_000;

function readAll(value: unknown): All | null {
  if (typeof value !== 'object' || value === null) return null;
  const read = Object.entries(value).flatMap(([name, tabs]) => {
    const kept = readTabs(tabs);
    return kept === null ? [] : [[name, kept] as const];
  });
  return Object.fromEntries(read);
}

const useStore = create<{ readonly all: All }>()(() => ({ all: readStoredState(storageKey, readAll, {}) }));

/** A name that no tab has, here or in another browser that a link may come from. */
export function freshId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => (byte % 36).toString(36)).join('');
}

function nameOf({ database, tenant }: Where): string {
  return `${database}/${tenant}`;
}

let timer: ReturnType<typeof setTimeout> | null = null;

function save(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  writeStored(storageKey, useStore.getState().all);
}

// What was typed since the last time, when the window closes.
window.addEventListener('pagehide', () => {
  if (timer !== null) save();
});

function set(space: Where, tabs: AskTabs): void {
  useStore.setState(({ all }) => ({ all: { ...all, [nameOf(space)]: tabs } }));
}

export function tabsOf(space: Where): AskTabs {
  const known = useStore.getState().all[nameOf(space)];
  if (known !== undefined) return known;
  const first = firstTabs(freshId());
  set(space, first);
  return first;
}

/** Changes the tabs of a space, and gives what they came to. */
export function changeTabs(space: Where, change: (tabs: AskTabs) => AskTabs): AskTabs {
  const before = tabsOf(space);
  const after = change(before);
  if (after !== before) {
    set(space, after);
    save();
  }
  return after;
}

/** Notes what is being written in a tab. */
export function noteDraft(space: Where, id: string, draft: string): void {
  set(space, withDraft(tabsOf(space), id, draft));
  timer ??= setTimeout(save, saveMs);
}

export function useTabs(space: Where): AskTabs | undefined {
  return useStore((state) => state.all[nameOf(space)]);
}
