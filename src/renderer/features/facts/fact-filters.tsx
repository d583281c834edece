/**
 * The filters of the grid: a text, a truth value, conclusions. The address contains them all; recent ones
 * remain as chips.
 */
import { ActionIcon, Button, SegmentedControl, Switch } from '@mantine/core';
import {
  IconFileExport,
  IconFileImport,
  IconFilter,
  IconFilterOff,
  IconPlus,
  IconX,
} from '@tabler/icons-react';
import { memo, useEffect, useRef, useState } from 'react';
import { Permitted } from '../../api/permitted.tsx';
import { useSession } from '../../api/session.tsx';
import { formatAmount } from '../../ui/format.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { ChooseColumns } from '../../ui/choose-columns.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { type ChoosableColumn, choosableColumns, factTable } from './column-choice.ts';
import styles from './facts.module.css';
import type { FactsSearch } from './facts-search.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/** A filter by text or by truth value. */
export type FactFilter =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'truth'; readonly value: 'true' | 'false' };

/** A filter, and whether the address contains it. */
interface FilterChip {
  readonly filter: FactFilter;
  readonly isOn: boolean;
}

type Filters = Pick<FactsSearch, 'q' | 'truth'>;

const maxFilters = 8;

/** True if both filter by the same value. */
function isSameFilter(one: FactFilter, other: FactFilter): boolean {
  if (one.kind === 'text') return other.kind === 'text' && one.text === other.text;
  return other.kind === 'truth' && one.value === other.value;
}

/** The filters in the address. */
function activeFilters({ q, truth }: Filters): FactFilter[] {
  return [
    ...(q === undefined ? [] : [{ kind: 'text', text: q } as const]),
    ...(truth === undefined ? [] : [{ kind: 'truth', value: truth } as const]),
  ];
}

/**
 * Adds the filters of the address to the list. A longer text replaces the prefix it was typed from, and a
 * text being deleted is not added, so that only intended filters remain. `before`: the previous text.
 */
export function withActiveFilters(
  recent: readonly FactFilter[],
  search: Filters,
  before: string | undefined,
): readonly FactFilter[] {
  const { q } = search;
  const isBeingDeleted =
    q !== undefined && before !== undefined && before.length > q.length && before.startsWith(q);
  const fresh = activeFilters(search).filter(
    (filter) =>
      !(filter.kind === 'text' && isBeingDeleted) && !recent.some((each) => isSameFilter(each, filter)),
  );
  if (fresh.length === 0) return recent;
  const isTypedOn = q !== undefined && before !== undefined && q.startsWith(before) && q !== before;
  const others = isTypedOn
    ? recent.filter((filter) => filter.kind !== 'text' || filter.text !== before)
    : recent;
  return [...others, ...fresh].slice(-maxFilters);
}

/** The listed filters and those of the address, without duplicates, in order of first use. */
export function chipsOf(recent: readonly FactFilter[], search: Filters): FilterChip[] {
  const active = activeFilters(search);
  const isIn = (list: readonly FactFilter[], filter: FactFilter) =>
    list.some((each) => isSameFilter(each, filter));
  const others = active.filter((filter) => !isIn(recent, filter));
  return [...recent, ...others].map((filter) => ({ filter, isOn: isIn(active, filter) }));
}

/** The change of the address when a filter is switched on or off. */
export function switched({ filter, isOn }: FilterChip): Partial<Filters> {
  return filter.kind === 'text'
    ? { q: isOn ? undefined : filter.text }
    : { truth: isOn ? undefined : filter.value };
}

/** Parses stored filters; null if malformed. */
export function readFilters(value: unknown): readonly FactFilter[] | null {
  if (!Array.isArray(value)) return null;
  const filters = value.map(readFilter).filter((filter) => filter !== null);
  return filters.length === value.length ? filters : null;
}

function readFilter(value: unknown): FactFilter | null {
  if (typeof value !== 'object' || value === null) return null;
  const { kind, text, value: truth } = value as Record<string, unknown>;
  if (kind === 'text' && typeof text === 'string' && text !== '') return { kind, text };
  return kind === 'truth' && (truth === 'true' || truth === 'false') ? { kind, value: truth } : null;
}

interface FactFiltersProps {
  search: FactsSearch;
  total: number | null;
  /** The columns shown after the arguments. */
  shown: readonly ChoosableColumn[];
  onSearch: (part: Partial<FactsSearch>) => void;
  onAdd: () => void;
}

function TransferButtons({ onSearch }: Pick<FactFiltersProps, 'onSearch'>) {
  return (
    <>
      <Tooltip label="Import a file">
        <ActionIcon aria-label="Import a file…" onClick={() => onSearch({ transfer: 'import' })}>
          <IconFileImport size={17} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Export to a file">
        <ActionIcon aria-label="Export to a file…" onClick={() => onSearch({ transfer: 'export' })}>
          <IconFileExport size={17} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </>
  );
}

function PlainFactFilters({ search, total, shown, onSearch, onAdd }: FactFiltersProps) {
  return (
    <div className={styles.filters}>
      <div className={`flex-row gap-4-6 flex-wrap to-end ${styles.line}`}>
        <span className={styles.text}>
          <TextFilter
            label="Filter facts by text"
            width="100%"
            value={search.q ?? ''}
            onValue={(q) => onSearch({ q: q === '' ? undefined : q })}
          />
        </span>
        <SegmentedControl
          aria-label="Truth"
          value={search.truth ?? 'any'}
          onChange={(value) => onSearch({ truth: value === 'true' || value === 'false' ? value : undefined })}
          data={[
            { value: 'any', label: 'Any' },
            { value: 'true', label: 'True' },
            { value: 'false', label: 'False' },
          ]}
        />
        <Switch
          label="Conclusions"
          classNames={{ label: styles.filterLabel ?? '' }}
          title={
            search.predicate === undefined
              ? 'Conclusions are shown for one predicate: choose it first'
              : 'Conclusions of rules beside the stored facts'
          }
          disabled={search.predicate === undefined}
          checked={search.derived === 'true'}
          onChange={(event) => onSearch({ derived: event.currentTarget.checked ? 'true' : undefined })}
        />
        <span className={`number dim ${styles.matches}`} role="status">
          {total === null ? '' : formatAmount(total, search.derived === 'true' ? 'row' : 'fact')}
        </span>
        <ChooseColumns
          table={factTable(search.predicate)}
          of={search.predicate}
          columns={choosableColumns}
          shown={shown}
          norm="Where rows differ"
        />
        <TransferButtons onSearch={onSearch} />
        <Permitted operation="assertFacts">
          <Button
            title="Add facts"
            aria-label="Add facts"
            classNames={{
              root: styles.add ?? '',
              label: styles.addWord ?? '',
              section: styles.addIcon ?? '',
            }}
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={onAdd}
          >
            Add facts
          </Button>
        </Permitted>
      </div>
    </div>
  );
}

/** The filters above the grid, with the buttons for import, export and adding facts. */
/** Not rendered again for rows that come while the grid is scrolled. */
export const FactFilters = memo(PlainFactFilters);

function wordsOf(filter: FactFilter): string {
  return filter.kind === 'text' ? `contains ${filter.text}` : `is ${filter.value}`;
}

interface ChipProps {
  chip: FilterChip;
  onToggle: () => void;
  onRemove: () => void;
}

function Chip({ chip: { filter, isOn }, onToggle, onRemove }: ChipProps) {
  const words = wordsOf(filter);
  const Icon = isOn ? IconFilter : IconFilterOff;
  return (
    <li className={isOn ? styles.chip : `${styles.chip} ${styles.chipOff}`}>
      <button
        type="button"
        className={styles.chipSwitch}
        aria-pressed={isOn}
        title={isOn ? 'On: press to switch it off and keep it' : 'Off: press to switch it on'}
        onClick={onToggle}
      >
        <Icon size={13} aria-hidden />
        <span className="truncate">{words}</span>
      </button>
      <button
        type="button"
        className={styles.chipRemove}
        aria-label={`Remove the filter: ${words}`}
        onClick={onRemove}
      >
        <IconX size={12} aria-hidden />
      </button>
    </li>
  );
}

interface FilterChipsProps {
  search: FactsSearch;
  onSearch: (part: Partial<FactsSearch>) => void;
}

/** The filters used recently in this space as chips, each of which can be switched on and off, or removed. */
export function FilterChips(props: FilterChipsProps) {
  const { database, tenant } = useSession().space;
  const key = `corollary.filters.${database} ${tenant}`;
  return <ChipsOf key={key} storageKey={key} {...props} />;
}

function ChipsOf({ storageKey, search, onSearch }: FilterChipsProps & { storageKey: string }) {
  const [recent, setRecent] = useState(() => readStoredState(storageKey, readFilters, []));
  const { q, truth } = search;
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    const was = before.current;
    before.current = q;
    setRecent((filters) => withActiveFilters(filters, { q, truth }, was));
  }, [q, truth]);
  useEffect(() => writeStored(storageKey, recent), [storageKey, recent]);

  const chips = chipsOf(recent, search);
  if (chips.length === 0) return null;
  return (
    <ul className={`fixed-size no-margin line-below on-panel ${styles.chips}`} aria-label="Filters">
      {chips.map((chip) => (
        <Chip
          key={wordsOf(chip.filter)}
          chip={chip}
          onToggle={() => onSearch(switched(chip))}
          onRemove={() => {
            setRecent((filters) => filters.filter((filter) => !isSameFilter(filter, chip.filter)));
            if (chip.isOn) onSearch(switched(chip));
          }}
        />
      ))}
    </ul>
  );
}
