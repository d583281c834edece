/**
 * Which columns of the grid are shown: those whose rows differ from the norm, unless the user has chosen otherwise for the
 * predicate.
 */
import { create } from 'zustand';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import type { FactGridRow } from './staged-rows.ts';

/** The columns that can be hidden, in order, with their titles. */
export const choosableColumns = {
  scope: 'Scope',
  truth: 'Truth',
  salience: 'Salience',
  validity: 'Valid',
  origin: 'Origin',
  updated: 'Updated',
} as const;

/** A column that can be hidden. */
export type ChoosableColumn = keyof typeof choosableColumns;

const columnIds = Object.keys(choosableColumns) as ChoosableColumn[];

/** What the user has chosen; absent columns follow their rows. */
export type FactColumnChoice = Readonly<Partial<Record<ChoosableColumn, boolean>>>;

/** Saliences closer than this look the same in their bars; they drift apart with the times of the writes. */
const tellingSalience = 0.05;

/** The columns in which a row is not as almost all are, or in which two rows differ. */
export function differingColumns(rows: readonly FactGridRow[]): Set<ChoosableColumn> {
  const found = new Set<ChoosableColumn>(['updated']);
  let least = 1;
  let greatest = 0;
  for (const row of rows) {
    const { scope, truthVal, validFrom, validUntil } = row.fact;
    if (scope !== null || row.changed.has('scope')) found.add('scope');
    if (!truthVal || row.changed.has('truthVal')) found.add('truth');
    if (validFrom !== null || validUntil !== null) found.add('validity');
    if (row.changed.has('validFrom') || row.changed.has('validUntil')) found.add('validity');
    if (row.stored?.derived === true) found.add('origin');
    if (row.stored !== null) {
      least = Math.min(least, row.stored.salience);
      greatest = Math.max(greatest, row.stored.salience);
    }
  }
  if (greatest - least >= tellingSalience) found.add('salience');
  return found;
}

/** The columns to show, in order: as chosen, else those that differ and the one that the rows are sorted by. */
export function shownColumns(
  choice: FactColumnChoice,
  differing: ReadonlySet<ChoosableColumn>,
  sorted: ChoosableColumn | null,
): ChoosableColumn[] {
  return columnIds.filter((id) => choice[id] ?? (differing.has(id) || id === sorted));
}

type Choices = Readonly<Record<string, FactColumnChoice>>;

const storageKey = 'corollary.columns';

function readChoice(value: unknown): FactColumnChoice | null {
  if (typeof value !== 'object' || value === null) return null;
  const isRead = Object.entries(value).every(
    ([id, isShown]) => Object.hasOwn(choosableColumns, id) && typeof isShown === 'boolean',
  );
  return isRead ? value : null;
}

/** Reads stored choices by predicate; null if any is malformed. */
export function readColumnChoices(value: unknown): Choices | null {
  if (typeof value !== 'object' || value === null) return null;
  return Object.values(value).every((choice) => readChoice(choice) !== null) ? (value as Choices) : null;
}

const useChoices = create<{ readonly choices: Choices }>()(() => ({
  choices: readStoredState<Choices>(storageKey, readColumnChoices, {}),
}));

const nothing: FactColumnChoice = {};
/** All facts together; no predicate is empty. */
const ofAll = '';

/** The columns chosen for a predicate in this browser; undefined: for the list of all facts. */
export function useColumnChoice(predicate: string | undefined): FactColumnChoice {
  return useChoices(({ choices }) => choices[predicate ?? ofAll] ?? nothing);
}

/** Stores the columns chosen for a predicate; an empty choice follows the rows again. */
export function chooseColumns(predicate: string | undefined, choice: FactColumnChoice): void {
  const { [predicate ?? ofAll]: _, ...others } = useChoices.getState().choices;
  const choices = Object.keys(choice).length === 0 ? others : { ...others, [predicate ?? ofAll]: choice };
  writeStored(storageKey, choices);
  useChoices.setState({ choices });
}
