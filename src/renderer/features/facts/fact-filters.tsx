/**
 * The filters of the grid: a text, a truth value, conclusions. The address contains them all; recent ones
 * remain as chips.
 */
import { ActionIcon, Button, SegmentedControl, Switch, Tooltip } from '@mantine/core';
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
import { TextFilter } from '../../ui/text-filter.tsx';
import styles from './fact-filters.module.css';
import type { FactsSearch } from './facts-search.ts';
import chipStyles from './facts.module.css';
import {
  chipsOf,
  type FactFilter,
  type FilterChip,
  isSameFilter,
  readFilters,
  switched,
  withActiveFilters,
} from './recent-filters.ts';

interface FactFiltersProps {
  search: FactsSearch;
  total: number | null;
  onSearch: (part: Partial<FactsSearch>) => void;
  onAdd: () => void;
}

function PlainFactFilters({ search, total, onSearch, onAdd }: FactFiltersProps) {
  return (
    <div className={styles.filters}>
      <div className={styles.line}>
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
          classNames={{ label: styles.label ?? '' }}
          title={
            search.predicate === undefined
              ? 'Conclusions are shown for one predicate: choose it first'
              : 'Conclusions of rules beside the stored facts'
          }
          disabled={search.predicate === undefined}
          checked={search.derived === 'true'}
          onChange={(event) => onSearch({ derived: event.currentTarget.checked ? 'true' : undefined })}
        />
        <span className={`number dim ${styles.total}`} role="status">
          {total === null ? '' : formatAmount(total, search.derived === 'true' ? 'row' : 'fact')}
        </span>
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
    <li className={isOn ? chipStyles.chip : `${chipStyles.chip} ${chipStyles.chipOff}`}>
      <button
        type="button"
        className={chipStyles.chipSwitch}
        aria-pressed={isOn}
        title={isOn ? 'On: press to switch it off and keep it' : 'Off: press to switch it on'}
        onClick={onToggle}
      >
        <Icon size={13} aria-hidden />
        <span className="truncate">{words}</span>
      </button>
      <button
        type="button"
        className={chipStyles.chipRemove}
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
    <ul className={chipStyles.chips} aria-label="Filters">
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
