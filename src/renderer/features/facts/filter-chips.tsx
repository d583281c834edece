/** The filters that were used in this space, as chips: each can be switched off and on again, and removed. */
import { IconFilter, IconFilterOff, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../../api/session.tsx';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import styles from './facts.module.css';
import type { FactsSearch } from './facts-search.ts';
import {
  chipsOf,
  type FactFilter,
  type FilterChip,
  isSameFilter,
  readFilters,
  switched,
  withActive,
} from './kept-filters.ts';

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

export function FilterChips(props: FilterChipsProps) {
  const { database, tenant } = useSession().space;
  const key = `corollary.filters.${database} ${tenant}`;
  return <ChipsOf key={key} storageKey={key} {...props} />;
}

function ChipsOf({ storageKey, search, onSearch }: FilterChipsProps & { storageKey: string }) {
  const [kept, setKept] = useState(() => readStoredState(storageKey, readFilters, []));
  const { q, truth } = search;
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    const was = before.current;
    before.current = q;
    setKept((filters) => withActive(filters, { q, truth }, was));
  }, [q, truth]);
  useEffect(() => writeStored(storageKey, kept), [storageKey, kept]);

  const chips = chipsOf(kept, search);
  if (chips.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label="Filters">
      {chips.map((chip) => (
        <Chip
          key={wordsOf(chip.filter)}
          chip={chip}
          onToggle={() => onSearch(switched(chip))}
          onRemove={() => {
            setKept((filters) => filters.filter((filter) => !isSameFilter(filter, chip.filter)));
            if (chip.isOn) onSearch(switched(chip));
          }}
        />
      ))}
    </ul>
  );
}
