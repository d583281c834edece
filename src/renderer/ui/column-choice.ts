/**
 * Which columns of a table are shown: those whose rows differ from the norm, unless the user has chosen otherwise. Choices
 * are kept in this browser, by table.
 */
import { create } from 'zustand';
import { onStoredElsewhere, readStoredState, writeStored } from './stored-state.ts';

/** What the user has chosen, by id of the column; absent columns follow their rows. */
export type ColumnVisibility = Readonly<Record<string, boolean>>;

/** The columns to show, in the order of `ids`: as chosen, else those that differ and the one that the rows are sorted by. */
export function shownColumns<Id extends string>(
  ids: readonly Id[],
  choice: ColumnVisibility,
  differing: ReadonlySet<Id>,
  sorted: Id | null,
): Id[] {
  return ids.filter((id) => choice[id] ?? (differing.has(id) || id === sorted));
}

type Choices = Readonly<Record<string, ColumnVisibility>>;

const storageKey = 'corollary.columns';

/** Tables whose choices are kept; of more, the one chosen for first is forgotten. */
const MAX_TABLES = 200;

function isChoice(value: unknown): value is ColumnVisibility {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((isShown) => typeof isShown === 'boolean');
}

/** Reads stored choices by table; null if any is malformed. */
export function readColumnChoices(value: unknown): Choices | null {
  if (typeof value !== 'object' || value === null) return null;
  return Object.values(value).every(isChoice) ? (value as Choices) : null;
}

const stored = () => ({ choices: readStoredState<Choices>(storageKey, readColumnChoices, {}) });
const useChoices = create<{ readonly choices: Choices }>()(stored);
onStoredElsewhere(storageKey, () => useChoices.setState(stored()));

const nothing: ColumnVisibility = {};

/** The columns chosen for a table in this browser. */
export function useColumnChoice(table: string): ColumnVisibility {
  return useChoices(({ choices }) => (Object.hasOwn(choices, table) ? choices[table] : undefined) ?? nothing);
}

/** Stores the columns chosen for a table; an empty choice follows the rows again. */
export function chooseColumns(table: string, choice: ColumnVisibility): void {
  const others = Object.entries(useChoices.getState().choices).filter(([name]) => name !== table);
  const all = Object.keys(choice).length === 0 ? others : [...others, [table, choice] as const];
  const choices = Object.fromEntries(all.slice(-MAX_TABLES));
  writeStored(storageKey, choices);
  useChoices.setState({ choices });
}

/** The columns of a table that can be hidden. */
export interface ColumnMenuProps {
  /** Under this name the choice is kept. */
  table: string;
  /** What the table shows, where one table shows several things. */
  of?: string | undefined;
  /** Titles by id. */
  columns: Readonly<Record<string, string>>;
  shown: readonly string[];
  /** What the table shows without a choice. */
  norm: string;
}
