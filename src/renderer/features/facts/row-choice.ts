/**
 * Several selected rows of the grid, and their actions: copy, save to a file, mark removed.
 *
 * Rows not loaded yet are fetched first. When rows are added or removed the selection is dropped, since its
 * indexes would denote other rows.
 */
import { useState } from 'react';
import { apiFailureOf, isCancelled } from '../../api/problem.ts';
import { copyText } from '../../ui/notify.tsx';
import { download } from '../../ui/download.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { chosenRowCount, type RowRange, type RowRanges } from '../../ui/grid-cells.ts';
import { notifyDone, notifyFailure, notifyHint } from '../../ui/notify.tsx';
import type { FactPages } from './fact-pages.ts';
import { type RowsFormat, rowsFormats, textOfRows } from './rows-text.ts';
import { type FactGridRow, removeRows, storedRow } from './staged-rows.ts';
import type { Staging } from './use-staging.ts';

/** Maximum number of rows in a selection. */
const maxSelectedRows = 10_000;

/**
 * The ranges, shortened to the limit if they are a single range; several ranges beyond the limit leave the
 * selection unchanged.
 */
export function clampedRanges(before: RowRanges, next: RowRanges, most: number = maxSelectedRows): RowRanges {
  if (chosenRowCount(next) <= most) return next;
  const [only, ...others] = next;
  return only === undefined || others.length > 0
    ? before
    : [clampedRange(before.length === 1 ? (before[0] ?? null) : null, only, most)];
}

/** The part of a range within the limit, measured from the end that did not move. */
function clampedRange(before: RowRange | null, next: RowRange, most: number): RowRange {
  const isFromLast = before !== null && before.last === next.last && before.first !== next.first;
  return isFromLast
    ? { first: next.last - most, last: next.last }
    : { first: next.first, last: next.first + most };
}

/** The selected rows and what can be done with them. */
export interface RowChoice {
  /** Empty: no selection. */
  readonly ranges: RowRanges;
  /** Number of selected rows. */
  readonly count: number;
  readonly isBusy: boolean;
  readonly choose: (ranges: RowRanges) => void;
  readonly drop: () => void;
  /** Copies these rows, else the selected ones. */
  readonly copy: (format: RowsFormat, rows?: RowRanges) => Promise<void>;
  readonly save: (format: RowsFormat) => Promise<void>;
  readonly remove: () => Promise<void>;
  /** Of the list that they are chosen from. */
  readonly name: string;
  /** The selected rows as statements. */
  readonly written: () => Promise<string>;
}

interface ChosenFrom {
  readonly pages: FactPages;
  /** Staged rows above those of the service. */
  readonly added: readonly FactGridRow[];
  readonly total: number;
  readonly staging: Staging;
  /** Prefix of the file name. */
  readonly name: string;
}

async function rowsIn(ranges: RowRanges, { pages, added, staging }: ChosenFrom): Promise<FactGridRow[]> {
  const leading = added.length;
  const rows: FactGridRow[] = [];
  for (const { first, last } of ranges) {
    rows.push(...added.slice(first, last));
    if (last <= leading) continue;
    const stored = await pages.slice(Math.max(0, first - leading), last - leading);
    for (const fact of stored) rows.push(storedRow(fact, staging.byKey));
  }
  return rows;
}

const none: RowRanges = [];

/** The selection of rows in the grid, and its actions. */
export function useRowChoice(from: ChosenFrom): RowChoice {
  const size = `${from.added.length} ${from.total}`;
  const [chosen, setChosen] = useState<{ readonly ranges: RowRanges; readonly size: string } | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const ranges = chosen?.size === size ? chosen.ranges : none;
  const drop = () => setChosen(null);

  function choose(next: RowRanges): void {
    const taken = clampedRanges(ranges, next);
    if (taken !== next)
      notifyHint(
        `At most ${formatCount(maxSelectedRows)} rows can be selected at a time. Export takes all rows shown.`,
      );
    setChosen({ ranges: taken, size });
  }

  async function withRows(rows: RowRanges, act: (rows: FactGridRow[]) => unknown): Promise<void> {
    if (rows.length === 0 || isBusy) return;
    setIsBusy(true);
    try {
      await act(await rowsIn(rows, from));
    } catch (error) {
      if (!isCancelled(error)) notifyFailure(apiFailureOf(error));
    } finally {
      setIsBusy(false);
    }
  }

  return {
    ranges,
    count: chosenRowCount(ranges),
    isBusy,
    choose,
    drop,
    copy: (format, rows) =>
      withRows(rows ?? ranges, async (found) => {
        const text = textOfRows(
          found.map(({ fact }) => fact),
          format,
        );
        if (await copyText(text))
          notifyDone(`Copied ${formatAmount(found.length, 'row')} as ${rowsFormats[format].label}`);
      }),
    save: (format) =>
      withRows(ranges, (found) => {
        const { extension, type } = rowsFormats[format];
        const text = textOfRows(
          found.map(({ fact }) => fact),
          format,
        );
        download(`${from.name}.${extension}`, new Blob([text], { type }));
      }),
    name: from.name,
    written: async () => {
      const found = await rowsIn(ranges, from);
      return textOfRows(
        found.map(({ fact }) => fact),
        'statements',
      );
    },
    remove: () => withRows(ranges, (found) => removeRows(from.staging, found)),
  };
}
