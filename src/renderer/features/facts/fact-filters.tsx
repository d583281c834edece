/** What narrows the grid: a text, a truth value, conclusions or not. Every filter is in the address. */
import { Button, CloseButton, SegmentedControl, Switch, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { formatAmount } from '../../ui/format.ts';
import type { FactsSearch } from './facts-search.ts';
import styles from './facts.module.css';

interface FactFiltersProps {
  search: FactsSearch;
  total: number | null;
  onSearch: (part: Partial<FactsSearch>) => void;
  onAdd: () => void;
}

/** A field that reports a moment after typing stops, or at once with Enter. */
function TextFilter({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const report = useDebouncedCallback(onValue, 250);
  useEffect(() => setTyped(value), [value]);
  function set(next: string): void {
    setTyped(next);
    report(next);
  }
  return (
    <TextInput
      className={styles.textFilter}
      aria-label="Filter facts by text"
      placeholder="Filter by text"
      leftSection={<IconSearch size={14} aria-hidden />}
      rightSection={
        typed === '' ? null : (
          <CloseButton size="xs" aria-label="Clear the text filter" onClick={() => set('')} />
        )
      }
      value={typed}
      onChange={(event) => set(event.currentTarget.value)}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === 'Enter') onValue(typed);
      }}
    />
  );
}

export function FactFilters({ search, total, onSearch, onAdd }: FactFiltersProps) {
  return (
    <>
      <TextFilter value={search.q ?? ''} onValue={(q) => onSearch({ q: q === '' ? undefined : q })} />
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
        classNames={{ label: styles.nowrap ?? '' }}
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
      <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={onAdd}>
        Add facts
      </Button>
    </>
  );
}
