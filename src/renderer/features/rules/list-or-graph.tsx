import { ActionIcon, SegmentedControl, TextInput } from '@mantine/core';
import { IconReplace, IconSearch } from '@tabler/icons-react';
import { Tooltip } from '../../ui/tooltip.tsx';
import { otherViews, type RulesSearch } from './rules-search.ts';
import styles from './rules.module.css';

interface ListOrGraphProps {
  search: RulesSearch;
  onSearch: (search: RulesSearch) => void;
}

const filterLabels: Partial<Record<string, string>> = { tests: 'Filter tests', packages: 'Filter packages' };

/** Shows the filter of the lower pane and the switch between list, graph, document, tests and packages. */
export function ListOrGraph({ search, onSearch }: ListOrGraphProps) {
  const { view, q = '' } = search;
  return (
    <>
      <TextInput
        className={styles.filter}
        aria-label={filterLabels[view ?? 'list'] ?? 'Filter rules'}
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
        onChange={(value) => onSearch({ ...search, view: otherViews.find((each) => each === value) })}
        data={[
          { value: 'list', label: 'List' },
          { value: 'graph', label: 'Graph' },
          { value: 'document', label: 'Document' },
          { value: 'tests', label: 'Tests' },
          { value: 'packages', label: 'Packages' },
        ]}
      />
    </>
  );
}

/** Shows the button that opens the dialog that finds and replaces. */
export function ReplaceButton({ search, onSearch }: ListOrGraphProps) {
  return (
    <Tooltip label="Find and replace in rules and facts">
      <ActionIcon
        size={26}
        variant="default"
        aria-label="Find and replace"
        onClick={() => onSearch({ ...search, find: '' })}
      >
        <IconReplace size={15} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
