/**
 * The tabs of the Ask view as values: what each shows, its draft, and which one is active. Pure.
 *
 * There is always at least one. An address that names a tab opens in it; any other goes to the tab that
 * already shows the question, else to the active tab if that loses no draft, else to a new tab. An address
 * never overwrites a draft.
 */
import { type AskSearch, askSearchOf, newTab } from './ask-search.ts';

/** What a tab shows: its address without the tab id. */
export type ShownInTab = Omit<AskSearch, 'tab' | 'unasked'>;

/** A tab with its draft. */
export interface AskTab {
  readonly id: string;
  /** null: the question serves as the name. */
  readonly name: string | null;
  readonly draft: string;
  readonly shown: ShownInTab;
}

/** All tabs of a space. */
export interface AskTabs {
  readonly tabs: readonly AskTab[];
  /** The id of the active tab. */
  readonly active: string;
  /** Closed tabs, the most recent first. */
  readonly closed: readonly AskTab[];
}

const maxClosed = 10;
const maxTitleLength = 40;

function emptyTab(id: string): AskTab {
  return { id, name: null, draft: '', shown: {} };
}

/** A single empty tab. */
export function firstTabs(id: string): AskTabs {
  return { tabs: [emptyTab(id)], active: id, closed: [] };
}

/** The active tab. */
export function activeTab({ tabs, active }: AskTabs): AskTab {
  const tab = tabs.find(({ id }) => id === active) ?? tabs[0];
  if (tab === undefined) throw new Error('there is no tab');
  return tab;
}

/** The title of a tab: its name, else its draft or question, shortened. */
export function titleOf({ name, draft, shown }: AskTab): string {
  if (name !== null) return name;
  const text = (draft.trim() === '' ? (shown.question ?? '') : draft).trim().replace(/\s+/g, ' ');
  if (text === '') return 'New question';
  return text.length > maxTitleLength ? `${text.slice(0, maxTitleLength - 1)}…` : text;
}

/** True if the draft differs from the question asked. */
export function isUnasked({ draft, shown }: AskTab): boolean {
  const text = draft.trim();
  return text !== '' && text !== shown.question;
}

/**
 * The tabs after another window has stored its own: a tab opened, asked, renamed or closed there is so here as well. What this
 * window shows stays, whatever became of it there, and so do tabs with drafts that are not stored yet.
 */
export function withTabsElsewhere(
  own: AskTabs,
  other: AskTabs,
  hasOwnDraft: (id: string) => boolean,
): AskTabs {
  const kept = own.tabs.filter(({ id }) => id === own.active || hasOwnDraft(id));
  const tabs = other.tabs.map((tab) => kept.find(({ id }) => id === tab.id) ?? tab);
  for (const tab of kept)
    if (!tabs.includes(tab)) tabs.splice(Math.min(own.tabs.indexOf(tab), tabs.length), 0, tab);
  return {
    tabs,
    active: own.active,
    closed: other.closed.filter(({ id }) => !tabs.some((tab) => tab.id === id)),
  };
}

function isBlank(tab: AskTab): boolean {
  return tab.name === null && tab.draft.trim() === '' && tab.shown.question === undefined;
}

function changed(state: AskTabs, id: string, change: (tab: AskTab) => AskTab): AskTabs {
  return { ...state, tabs: state.tabs.map((tab) => (tab.id === id ? change(tab) : tab)) };
}

/** Changes the draft of a tab. */
export function withDraft(state: AskTabs, id: string, draft: string): AskTabs {
  return changed(state, id, (tab) => ({ ...tab, draft }));
}

/** Changes what a tab shows, at its own request: its draft stays. */
export function withTabShown(state: AskTabs, id: string, shown: ShownInTab): AskTabs {
  return changed(state, id, (tab) => ({ ...tab, shown }));
}

/** Renames a tab; a blank name shows its question again. */
export function renamed(state: AskTabs, id: string, name: string): AskTabs {
  const trimmed = name.trim();
  return changed(state, id, (tab) => ({ ...tab, name: trimmed === '' ? null : trimmed }));
}

/** Adds an empty tab after the active one and activates it. */
export function opened(state: AskTabs, id: string): AskTabs {
  return inserted(state, emptyTab(id));
}

function inserted(state: AskTabs, tab: AskTab): AskTabs {
  const position = state.tabs.findIndex(({ id }) => id === state.active) + 1;
  return {
    ...state,
    tabs: [...state.tabs.slice(0, position), tab, ...state.tabs.slice(position)],
    active: tab.id,
  };
}

/** Closes a tab and activates its right neighbour; closing the only one leaves an empty tab `freshId`. */
export function closed(state: AskTabs, id: string, freshId: string): AskTabs {
  const position = state.tabs.findIndex((tab) => tab.id === id);
  const gone = state.tabs[position];
  if (gone === undefined) return state;
  const left = state.tabs.filter((tab) => tab.id !== id);
  const tabs = left.length === 0 ? [emptyTab(freshId)] : left;
  const next = tabs[Math.min(position, tabs.length - 1)] as AskTab;
  return {
    tabs,
    active: state.active === id ? next.id : state.active,
    closed: isBlank(gone) ? state.closed : [gone, ...state.closed].slice(0, maxClosed),
  };
}

/** Restores the tab closed last. */
export function reopened(state: AskTabs): AskTabs {
  const [tab, ...rest] = state.closed;
  return tab === undefined ? state : { ...inserted(state, tab), closed: rest };
}

/** The tab `step` positions further, wrapping around. */
export function neighbour({ tabs, active }: AskTabs, step: number): AskTab {
  const position = tabs.findIndex(({ id }) => id === active);
  return tabs[(position + step + tabs.length) % tabs.length] as AskTab;
}

/** Activates a tab, if it exists. */
export function activated(state: AskTabs, id: string): AskTabs {
  return state.active === id || !state.tabs.some((tab) => tab.id === id) ? state : { ...state, active: id };
}

/** Shows an address in a tab; another question replaces its draft. */
function landedIn(state: AskTabs, id: string, shown: ShownInTab): AskTabs {
  const next = changed(state, id, (tab) =>
    shown.question === undefined || shown.question === tab.shown.question
      ? { ...tab, shown }
      : { ...tab, shown, draft: shown.question },
  );
  return { ...next, active: id };
}

/** Fills in a question without asking it: in the tab that has it as its draft, a blank one, or a new one. */
function filledIn(state: AskTabs, question: string, freshId: string): AskTabs {
  const current = activeTab(state);
  const same = [current, ...state.tabs].find((tab) => tab.draft.trim() === question.trim());
  if (same !== undefined) return { ...state, active: same.id };
  const free = isBlank(current) ? state : opened(state, freshId);
  return withDraft(free, free.active, question);
}

/** The tabs after navigation to an address; `freshId`: the id of a tab it may open. */
export function landed(state: AskTabs, search: AskSearch, freshId: string): AskTabs {
  const { tab: wanted, unasked, ...shown } = search;
  if (unasked === 'true' && shown.question !== undefined) return filledIn(state, shown.question, freshId);
  const current = activeTab(state);
  if (wanted === newTab && shown.question === undefined)
    return isBlank(current) ? state : opened(state, freshId);
  if (wanted !== undefined && state.tabs.some(({ id }) => id === wanted))
    return landedIn(state, wanted, shown);
  if (shown.question === undefined) return state;
  const isSame = (tab: AskTab) =>
    tab.shown.question === shown.question &&
    tab.shown.stored === shown.stored &&
    tab.shown.words === shown.words;
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
  const {
    tab: _tab,
    unasked: _unasked,
    ...valid
  } = askSearchOf(typeof shown === 'object' && shown !== null ? (shown as Record<string, unknown>) : {});
  return { id, name: typeof name === 'string' ? name : null, draft, shown: valid };
}

function readList(value: unknown): AskTab[] {
  return Array.isArray(value) ? value.map(readTab).filter((tab) => tab !== null) : [];
}

/** Parses stored tabs; null if there are none. */
export function readTabs(value: unknown): AskTabs | null {
  if (typeof value !== 'object' || value === null) return null;
  const { tabs, active, closed: gone } = value as Record<string, unknown>;
  const list = readList(tabs);
  const [first] = list;
  if (first === undefined) return null;
  const id = list.some((tab) => tab.id === active) ? (active as string) : first.id;
  return { tabs: list, active: id, closed: readList(gone).slice(0, maxClosed) };
}
