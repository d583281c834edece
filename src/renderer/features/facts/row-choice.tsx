/**
 * Several selected rows of the grid, and their actions: copy, save to a file, mark removed.
 *
 * Rows not loaded yet are fetched first. When rows are added or removed the selection is dropped, since its
 * indexes would denote other rows.
 */
import { ActionIcon, Button, Loader, Menu } from '@mantine/core';
import { IconChevronDown, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { draggedName, dragOutOf } from '../../api/drag-out.ts';
import { Permitted } from '../../api/permitted.tsx';
import { apiFailureOf, isCancelled } from '../../api/problem.ts';
import { copyText } from '../../ui/notify.tsx';
import { download } from '../../ui/download.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { chosenRowCount, type RowRange, type RowRanges } from '../../ui/grid-cells.ts';
import { notifyDone, notifyFailure, notifyHint } from '../../ui/notify.tsx';
import { keysLabel } from '../../ui/tags.tsx';
import type { FactPages } from './fact-pages.ts';
import styles from './facts.module.css';
import { type RowsFormat, rowsFormats, textOfRows } from './rows-text.ts';
import { type FactGridRow, removeRows, storedRow } from './staged-rows.ts';
import type { Staging } from './use-staging.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

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

interface RowChoice {
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

interface FormatMenuProps {
  title: string;
  /** The keys that do the same in that format. */
  keys?: { readonly format: RowsFormat; readonly keys: string };
  formats: readonly RowsFormat[];
  onFormat: (format: RowsFormat) => void;
  isBusy: boolean;
  /** What the button drags out of the window. */
  dragged?: ReturnType<typeof dragOutOf>;
}

function FormatMenu({ title, keys, formats, onFormat, isBusy, dragged = {} }: FormatMenuProps) {
  return (
    <Menu position="top-start">
      <Menu.Target>
        <Button
          variant="default"
          disabled={isBusy}
          rightSection={<IconChevronDown size={13} aria-hidden />}
          {...dragged}
        >
          {title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map((format) => (
          <Menu.Item
            key={format}
            rightSection={
              keys?.format === format ? <span className="dim">{keysLabel(keys.keys)}</span> : null
            }
            onClick={() => onFormat(format)}
          >
            As {rowsFormats[format].label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The bar below the grid while rows are selected. */
export function RowChoiceBar({ choice }: { choice: RowChoice }) {
  const { count, isBusy } = choice;
  if (count === 0) return null;
  return (
    <section className={`controls-bar gap-4-8 on-panel ${styles.choice}`} aria-label="Selected rows">
      <strong className="number" role="status">
        {formatAmount(count, 'row')} selected
      </strong>
      <FormatMenu
        title="Copy"
        keys={{ format: 'tsv', keys: 'Mod+C' }}
        formats={['tsv', 'json', 'statements']}
        isBusy={isBusy}
        onFormat={(format) => void choice.copy(format)}
      />
      <FormatMenu
        title="Save to a file"
        formats={['ndjson', 'tsv', 'statements']}
        isBusy={isBusy}
        onFormat={(format) => void choice.save(format)}
        dragged={dragOutOf(() => draggedName(choice.name, 'dl'), choice.written)}
      />
      <Permitted operation="commitTransaction">
        <Button variant="default" disabled={isBusy} onClick={() => void choice.remove()}>
          Mark removed
        </Button>
      </Permitted>
      {isBusy && <Loader size={14} role="status" aria-label="Reading rows" />}
      <span className="flex-row gap-6 to-right">
        <Tooltip label={`Drop the selection (${keysLabel('Escape')})`}>
          <ActionIcon aria-label="Drop the selection" onClick={choice.drop}>
            <IconX size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </span>
    </section>
  );
}
