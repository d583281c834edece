/**
 * Single-key actions on the current row of a grid. Grids look keys up here (`rowKeyOf`) and the shortcut sheet lists
 * them, so that every working key is documented.
 */
import type { KeyboardEvent } from 'react';

interface RowKey {
  /** Name of the key in events: `E`, `Delete`. */
  readonly key: string;
  /** Alternative keys. */
  readonly also?: readonly string[];
  readonly title: string;
}

interface GridKeys {
  readonly group: string;
  readonly keys: Readonly<Record<string, RowKey>>;
}

/** Row keys of each grid. */
export const rowKeys = {
  facts: {
    group: 'In the grid of facts',
    keys: {
      remove: { key: 'Delete', title: 'Mark the fact, or the chosen rows, removed' },
      revert: { key: 'R', title: 'Revert what is staged for the row' },
      drop: { key: 'Escape', title: 'Choose one row again' },
    },
  },
  rules: {
    group: 'In the list of rules',
    keys: {
      toggle: { key: 'E', title: 'Switch the rule on or off' },
      whatIf: { key: 'W', title: 'What if the rule were left out' },
      remove: { key: 'Delete', title: 'Delete the rule' },
    },
  },
  tests: {
    group: 'In the list of tests',
    keys: { remove: { key: 'Delete', title: 'Delete the test' } },
  },
  constraints: {
    group: 'In the list of constraints',
    keys: {
      mode: { key: 'M', title: 'Let the constraint refuse violations, or only list them' },
      remove: { key: 'Delete', title: 'Delete the constraint' },
    },
  },
  scopes: {
    group: 'In the list of scopes',
    keys: {
      source: { key: 'S', title: 'Merge from the scope' },
      target: { key: 'T', title: 'Merge into the scope' },
      base: { key: 'B', title: 'Take the scope as the base of both' },
      fork: { key: 'F', title: 'Fork the scope' },
      remove: { key: 'Delete', title: 'Delete the scope' },
    },
  },
  differences: {
    group: 'In a comparison of scopes',
    keys: {
      source: { key: 'S', title: 'Take the version of the scope that is merged from' },
      target: { key: 'T', title: 'Keep the version of the scope that is merged into' },
      both: { key: 'B', title: 'Take both' },
      none: { key: 'X', also: ['Delete', 'Backspace'], title: 'Take the choice back, as does Delete' },
      next: { key: 'N', title: 'The next unresolved conflict' },
    },
  },
  memory: {
    group: 'In a list of memory',
    keys: {
      boost: { key: 'B', title: 'Boost the fact' },
      pin: { key: 'P', title: 'Pin the fact, or let it fade again' },
      keep: { key: 'K', title: 'Keep a fact that expires' },
      forget: { key: 'Delete', title: 'Forget the fact' },
    },
  },
  summaries: {
    group: 'In the list of summaries',
    keys: { restore: { key: 'R', title: 'Restore what the summary stands for' } },
  },
  calls: {
    group: 'In the summary of a trace',
    keys: { events: { key: 'E', title: 'The events of the rule, or of the subgoal’s predicate' } },
  },
  events: {
    group: 'In the events of a trace',
    keys: { caller: { key: 'C', title: 'To the event that asked for this one' } },
  },
  places: {
    group: 'In a list of databases, tenants or scopes',
    keys: {
      remove: { key: 'Delete', title: 'Delete it; its name is asked for' },
      nuke: { key: 'N', title: 'Empty it; its name is asked for' },
    },
  },
  accessKeys: {
    group: 'In the list of keys',
    keys: { revoke: { key: 'Delete', title: 'Revoke the key' } },
  },
} as const satisfies Record<string, GridKeys>;

type Grid = keyof typeof rowKeys;
/** Name of a row key of a grid. */
type RowKeyName<Of extends Grid> = keyof (typeof rowKeys)[Of]['keys'];

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Returns which of the grid's keys was pressed; null for none or with a modifier. */
export function rowKeyOf<Of extends Grid>(press: Press, grid: Of): RowKeyName<Of> | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  const pressed = press.key.toLowerCase();
  const found = Object.entries<RowKey>(rowKeys[grid].keys).find(([, { key, also = [] }]) =>
    [key, ...also].some((each) => each.toLowerCase() === pressed),
  );
  // The names are those of this record.
  return found === undefined ? null : (found[0] as RowKeyName<Of>);
}
