/**
 * The tabs of the Ask view, as values: what each shows, what is being written in it, which one is looked at.
 *
 * There is always one. An address that names a tab is shown in it; one that names none goes to the tab that shows the
 * question already, else to the one that is looked at where nothing is lost by that, else to a new one. What is
 * written in a tab is never overwritten by an address.
 */
import { type AskSearch, askSearchOf, newTab } from './ask-search.ts';

/** What a tab shows: an address without the tab. */
export type Shown = Omit<AskSearch, 'tab'>;

export interface AskTab {
  readonly id: string;
  /** null: called by its question. */
  readonly name: string | null;
  readonly draft: string;
  readonly shown: Shown;
}

export interface AskTabs {
  readonly tabs: readonly AskTab[];
  /** The id of the one that is looked at. */
  readonly active: string;
  /** Those that were closed, the last first. */
  readonly closed: readonly AskTab[];
}

const mostClosed = 10;
const longestTitle = 40;

function emptyTab(id: string): AskTab {
  return { id, name: null, draft: '', shown: {} };
}

export function firstTabs(id: string): AskTabs {
  return { tabs: [emptyTab(id)], active: id, closed: [] };
}

export function activeTab({ tabs, active }: AskTabs): AskTab {
  const tab = tabs.find(({ id }) => id === active) ?? tabs[0];
  if (tab === undefined) throw new Error('there is no tab');
  return tab;
}

/** What a tab is called. */
export function titleOf({ name, draft, shown }: AskTab): string {
  if (name !== null) return name;
  const text = (draft.trim() === '' ? (shown.question ?? '') : draft).trim().replace(/\s+/g, ' ');
  if (text === '') return 'New question';
  return text.length > longestTitle ? `${text.slice(0, longestTitle - 1)}…` : text;
}

/** True where something was written that was not asked. */
export function isUnasked({ draft, shown }: AskTab): boolean {
  const text = draft.trim();
  return text !== '' && text !== shown.question;
}

function isBlank(tab: AskTab): boolean {
  return tab.name === null && tab.draft.trim() === '' && tab.shown.question === undefined;
}

function changed(state: AskTabs, id: string, change: (tab: AskTab) => AskTab): AskTabs {
  return { ...state, tabs: state.tabs.map((tab) => (tab.id === id ? change(tab) : tab)) };
}

export function withDraft(state: AskTabs, id: string, draft: string): AskTabs {
  return changed(state, id, (tab) => ({ ...tab, draft }));
}

/** Shows something in a tab that asked for it itself: what is written in it stays. */
export function withShown(state: AskTabs, id: string, shown: Shown): AskTabs {
  return changed(state, id, (tab) => ({ ...tab, shown }));
}

/** `name`: an empty one gives the tab back to its question. */
export function renamed(state: AskTabs, id: string, name: string): AskTabs {
  const trimmed = name.trim();
  return changed(state, id, (tab) => ({ ...tab, name: trimmed === '' ? null : trimmed }));
}

/** With an empty tab after the one that is looked at, and there. */
export function opened(state: AskTabs, id: string): AskTabs {
  return inserted(state, emptyTab(id));
}

function inserted(state: AskTabs, tab: AskTab): AskTabs {
  const place = state.tabs.findIndex(({ id }) => id === state.active) + 1;
  return {
    ...state,
    tabs: [...state.tabs.slice(0, place), tab, ...state.tabs.slice(place)],
    active: tab.id,
  };
}

/** Without a tab; the last one leaves an empty one called `freshId`. Its right neighbour comes in its place. */
export function closed(state: AskTabs, id: string, freshId: string): AskTabs {
  const place = state.tabs.findIndex((tab) => tab.id === id);
  const gone = state.tabs[place];
  if (gone === undefined) return state;
  const left = state.tabs.filter((tab) => tab.id !== id);
  const tabs = left.length === 0 ? [emptyTab(freshId)] : left;
  const next = tabs[Math.min(place, tabs.length - 1)] as AskTab;
  return {
    tabs,
    active: state.active === id ? next.id : state.active,
    closed: isBlank(gone) ? state.closed : [gone, ...state.closed].slice(0, mostClosed),
  };
}

/** With the tab that was closed last, as it was. */
export function reopened(state: AskTabs): AskTabs {
  const [tab, ...rest] = state.closed;
  return tab === undefined ? state : { ...inserted(state, tab), closed: rest };
}

/** The tab that is `step` further on, round the ends. */
export function neighbour({ tabs, active }: AskTabs, step: number): AskTab {
  const place = tabs.findIndex(({ id }) => id === active);
  return tabs[(place + step + tabs.length) % tabs.length] as AskTab;
}

export function activated(state: AskTabs, id: string): AskTabs {
  return state.active === id || !state.tabs.some((tab) => tab.id === id) ? state : { ...state, active: id };
}

/** Shows something in a tab for which it comes from elsewhere: another question is written in it too. */
function landedIn(state: AskTabs, id: string, shown: Shown): AskTabs {
  const next = changed(state, id, (tab) =>
    shown.question === undefined || shown.question === tab.shown.question
      ? { ...tab, shown }
      : { ...tab, shown, draft: shown.question },
  );
  return { ...next, active: id };
}

/** The tabs for an address that was come to. `freshId`: for a tab that may have to be opened. */
export function landed(state: AskTabs, search: AskSearch, freshId: string): AskTabs {
  const { tab: wanted, ...shown } = search;
  const current = activeTab(state);
  if (wanted === newTab && shown.question === undefined)
    return isBlank(current) ? state : opened(state, freshId);
  if (wanted !== undefined && state.tabs.some(({ id }) => id === wanted))
    return landedIn(state, wanted, shown);
  if (shown.question === undefined) return state;
  const isSame = (tab: AskTab) => tab.shown.question === shown.question && tab.shown.stored === shown.stored;
  const same = isSame(current) ? current : state.tabs.find(isSame);
  if (same !== undefined) return landedIn(state, same.id, shown);
  const isFree = current.name === null && (!isUnasked(current) || current.draft.trim() === shown.question);
  if (isFree && wanted !== newTab) return landedIn(state, current.id, shown);
  return landedIn(opened(state, freshId), freshId, shown);
}

function readTab(value: unknown): AskTab | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, name, draft, shown } = value as Record<string, unknown>;
  if (typeof id !== 'string' || typeof draft !== 'string') return null;
  const { tab: _tab, ...kept } = askSearchOf(
    typeof shown === 'object' && shown !== null ? (shown as Record<string, unknown>) : {},
  );
  return { id, name: typeof name === 'string' ? name : null, draft, shown: kept };
}

function readList(value: unknown): AskTab[] {
  return Array.isArray(value) ? value.map(readTab).filter((tab) => tab !== null) : [];
}

/** Reads what was stored; null where it holds no tab. */
export function readTabs(value: unknown): AskTabs | null {
  if (typeof value !== 'object' || value === null) return null;
  const { tabs, active, closed: gone } = value as Record<string, unknown>;
  const list = readList(tabs);
  const [first] = list;
  if (first === undefined) return null;
  const id = list.some((tab) => tab.id === active) ? (active as string) : first.id;
  return { tabs: list, active: id, closed: readList(gone).slice(0, mostClosed) };
}
