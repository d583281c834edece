import { SegmentedControl, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { RulesSearch } from './rules-search.ts';
import styles from './rules.module.css';

interface ListOrGraphProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

/** Shows the filter of the lower pane and the switch between list and graph. */
export function ListOrGraph({ search, onSearch }: ListOrGraphProps) {
  const { view, q = '' } = search;
  return (
    <>
      <TextInput
        className={styles.filter}
        aria-label="Filter rules"
        placeholder="Filter"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={q}
        onChange={(event) => {
          const text = event.currentTarget.value;
          onSearch({ ...search, q: text === '' ? undefined : text });
        }}
      />
      <SegmentedControl
        aria-label="Show rules as"
        value={view ?? 'list'}
        onChange={(value) => onSearch({ ...search, view: value === 'graph' ? 'graph' : undefined })}
        data={[
          { value: 'list', label: 'List' },
          { value: 'graph', label: 'Graph' },
        ]}
      />
    </>
  );
}
