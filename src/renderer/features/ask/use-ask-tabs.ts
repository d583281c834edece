/**
 * Keeps the tabs of the Ask view and its address in sync, and stores the tabs of each space in this browser:
 * structural changes at once, drafts every two seconds.
 */
import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useMemo, useState } from 'react';
import { create } from 'zustand';
import { useSession } from '../../api/session.tsx';
import type { Space } from '../../api/space.ts';
import { matchesKeys } from '../../ui/keys.ts';
import { onStoredElsewhere, readStoredState, writeStored } from '../../ui/stored-state.ts';
import { isMac } from '../../ui/tags.tsx';
import type { AskSearch } from './ask-search.ts';
import {
  activated,
  activeTab,
  type AskTab,
  type AskTabs,
  closed,
  firstTabs,
  landed,
  neighbour,
  opened,
  readTabs,
  renamed,
  reopened,
  type ShownInTab,
  withDraft,
  withTabsElsewhere,
  withTabShown,
} from './ask-tabs.ts';
import { forgetTab } from './runs-store.ts';
import { type TabActions, tabKeys } from './tab-bar.tsx';

const askKeys = { ...tabKeys, save: 'Mod+S' } as const;

/** Navigates within the Ask view. */
export type OnSearch = (search: AskSearch, options?: { replace: boolean }) => void;

/** The tabs of a view, with their actions. */
export interface AskTabsOfView {
  readonly tabs: AskTabs;
  readonly tab: AskTab;
  readonly actions: TabActions;
  /** The tab being renamed. */
  readonly renaming: AskTab | null;
  readonly onRename: (name: string) => void;
  readonly endRenaming: () => void;
  /** Shows something in the active tab. */
  readonly show: (shown: ShownInTab) => void;
  readonly setDraft: (text: string) => void;
  /** Opens a question where it fits: in its tab, the active one, or a new one. */
  readonly visit: (question: string) => AskTab;
}

/** Keys of the view, wherever the focus is; captured before the editor, which uses some of them itself. */
export function useAskKeys(actions: TabActions, active: string, onSave: () => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.target instanceof Element && event.target.closest('[role="dialog"]') !== null) return;
    const runs: Record<keyof typeof askKeys, () => void> = {
      save: onSave,
      open: actions.open,
      close: () => actions.close(active),
      reopen: actions.reopen,
      next: () => actions.step(1),
      previous: () => actions.step(-1),
    };
    for (const [name, keys] of Object.entries(askKeys)) {
      if (!matchesKeys(event, keys, isMac)) continue;
      event.preventDefault();
      event.stopPropagation();
      runs[name as keyof typeof askKeys]();
      return;
    }
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener('keydown', listener, { capture: true });
    return () => window.removeEventListener('keydown', listener, { capture: true });
  }, []);
}

/** The tabs of the current space, in sync with the address. */
export function useAskTabs(search: AskSearch, onSearch: OnSearch): AskTabsOfView {
  const { space } = useSession();
  const tabs = useTabs(space) ?? tabsOf(space);
  const tab = activeTab(tabs);
  const [renamingId, setRenamingId] = useState<string | null>(null);
  const address = JSON.stringify(search);

  const land = useEffectEvent(() => {
    const after = activeTab(changeTabs(space, (before) => landed(before, search, freshId())));
    const wanted: AskSearch = { ...after.shown, tab: after.id };
    if (search.tab !== after.id || search.question !== after.shown.question || search.unasked !== undefined)
      onSearch(wanted, { replace: true });
  });
  useLayoutEffect(() => land(), [address]);

  const go = useCallback(
    (change: (before: AskTabs) => AskTabs): AskTab => {
      const after = activeTab(changeTabs(space, change));
      onSearch({ ...after.shown, tab: after.id });
      return after;
    },
    [space, onSearch],
  );

  const actions = useMemo<TabActions>(
    () => ({
      show: (id) => void go((before) => activated(before, id)),
      open: () => void go((before) => opened(before, freshId())),
      close(id) {
        go((before) => closed(before, id, freshId()));
        forgetTab(id);
      },
      rename: setRenamingId,
      reopen: () => void go(reopened),
      step: (by) => void go((before) => activated(before, neighbour(before, by).id)),
    }),
    [go],
  );
  return {
    tabs,
    tab,
    actions,
    renaming: tabs.tabs.find(({ id }) => id === renamingId) ?? null,
    onRename: (name) => {
      if (renamingId !== null) changeTabs(space, (before) => renamed(before, renamingId, name));
    },
    endRenaming: () => setRenamingId(null),
    show: (shown) => void go((before) => withTabShown(before, tab.id, shown)),
    setDraft: (text) => noteDraft(space, tab.id, text),
    visit: (question) => go((before) => landed(before, { question }, freshId())),
  };
}

type Where = Pick<Space, 'database' | 'tenant'>;
type All = Readonly<Record<string, AskTabs>>;

const storageKey = 'corollary.ask-tabs';
const saveMs = 2_000;

function readAll(value: unknown): All | null {
  if (typeof value !== 'object' || value === null) return null;
  const read = Object.entries(value).flatMap(([name, tabs]) => {
    const valid = readTabs(tabs);
    return valid === null ? [] : [[name, valid] as const];
  });
  return Object.fromEntries(read);
}

const useStore = create<{ readonly all: All }>()(() => ({ all: readStoredState(storageKey, readAll, {}) }));

/** A random id, unique across browsers: links carry it. */
function freshId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => (byte % 36).toString(36)).join('');
}

function nameOf({ database, tenant }: Where): string {
  return `${database}/${tenant}`;
}

let timer: ReturnType<typeof setTimeout> | null = null;
/** Ids of the tabs whose drafts are not stored yet. */
const unstored = new Set<string>();

onStoredElsewhere(storageKey, () => {
  const others = readStoredState(storageKey, readAll, {});
  useStore.setState(({ all }) => ({
    all: Object.fromEntries(
      Object.entries({ ...all, ...others }).map(([name, tabs]) => {
        const own = all[name];
        return [name, own === undefined ? tabs : withTabsElsewhere(own, tabs, (id) => unstored.has(id))];
      }),
    ),
  }));
});

function save(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  unstored.clear();
  writeStored(storageKey, useStore.getState().all);
}

// Saves pending drafts when the window closes.
window.addEventListener('pagehide', () => {
  if (timer !== null) save();
});

function set(space: Where, tabs: AskTabs): void {
  useStore.setState(({ all }) => ({ all: { ...all, [nameOf(space)]: tabs } }));
}

function tabsOf(space: Where): AskTabs {
  const known = useStore.getState().all[nameOf(space)];
  if (known !== undefined) return known;
  const first = firstTabs(freshId());
  set(space, first);
  return first;
}

/** Changes the tabs of a space and returns the result. */
function changeTabs(space: Where, change: (tabs: AskTabs) => AskTabs): AskTabs {
  const before = tabsOf(space);
  const after = change(before);
  if (after !== before) {
    set(space, after);
    save();
  }
  return after;
}

/** Stores the draft of a tab. */
function noteDraft(space: Where, id: string, draft: string): void {
  set(space, withDraft(tabsOf(space), id, draft));
  unstored.add(id);
  timer ??= setTimeout(save, saveMs);
}

function useTabs(space: Where): AskTabs | undefined {
  return useStore((state) => state.all[nameOf(space)]);
}
