/** What narrows the grid: a text, a truth value, conclusions or not. Every filter is in the address. */
import { ActionIcon, Button, SegmentedControl, Switch, Tooltip } from '@mantine/core';
import { IconFileExport, IconFileImport, IconPlus } from '@tabler/icons-react';
import { memo } from 'react';
import { Permitted } from '../../api/permitted.tsx';
import { formatAmount } from '../../ui/format.ts';
import { TextFilter } from '../../ui/text-filter.tsx';
import type { FactsSearch } from './facts-search.ts';
import styles from './fact-filters.module.css';

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

/** Not rendered again for rows that come while the grid is scrolled. */
export const FactFilters = memo(PlainFactFilters);
