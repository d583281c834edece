/** The facts of what the address says, with its filters; what is missing is said in place. */
import { Button, Loader } from '@mantine/core';
import { IconPlus, IconTable } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useState } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { failureOf } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { DataGrid } from '../../ui/data-grid.tsx';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { factColumns } from './fact-columns.tsx';
import { FactFilters } from './fact-filters.tsx';
import type { FactPages } from './fact-pages.ts';
import type { FactSortKey, FactsSearch } from './facts-search.ts';
import styles from './facts.module.css';
import { useFactPages } from './use-fact-pages.ts';

/** Arguments of the widest predicate of that name; null where none is chosen. */
function useArity(predicate: string | undefined): number | null {
  const rows = usePredicates().data;
  if (predicate === undefined) return null;
  const arities = (rows ?? []).filter((row) => row.name === predicate).map((row) => row.arity);
  return arities.length === 0 ? null : Math.max(...arities);
}

interface NoFactsProps {
  search: FactsSearch;
  onAdd: () => void;
  onReset: () => void;
}

function NoFacts({ search, onAdd, onReset }: NoFactsProps) {
  const icon = <IconTable size={30} stroke={1.3} aria-hidden />;
  if (search.q !== undefined || search.truth !== undefined)
    return (
      <EmptyState
        icon={icon}
        title="No fact matches"
        actions={
          <Button variant="default" onClick={onReset}>
            Clear the filters
          </Button>
        }
      >
        The filters leave nothing over.
      </EmptyState>
    );
  const { predicate } = search;
  return (
    <EmptyState
      icon={icon}
      title={predicate === undefined ? 'No facts yet' : 'No stored facts'}
      actions={
        <>
          <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={onAdd}>
            Add facts
          </Button>
          {predicate === undefined && (
            <Button variant="default" renderRoot={(props) => <Link to="/start" {...props} />}>
              Open a sample
            </Button>
          )}
        </>
      }
    >
      {predicate === undefined
        ? 'Facts are what you know: statements such as parent(alice, bob).'
        : search.derived === 'true'
          ? `Nothing is stored under ${predicate}, and no rule concludes it from what is known.`
          : `Nothing is stored under ${predicate}. Rules may conclude it: switch conclusions on to see them.`}
    </EmptyState>
  );
}

interface FactGridProps {
  search: FactsSearch;
  onSearch: (part: Partial<FactsSearch>) => void;
  onChoose: (fact: StoredFact) => void;
  onRetract: (fact: StoredFact) => void;
  onAdd: () => void;
}

/** The grid itself; made anew for every choice of facts, so that it starts at the top. */
function Rows({ pages, total, ...props }: FactGridProps & { pages: FactPages; total: number }) {
  const { search, onSearch, onChoose, onRetract } = props;
  const { sort = 'predicate', order = 'asc' } = search;
  const arity = useArity(search.predicate);
  const [selected, setSelected] = useState<number | null>(null);
  const columns = useMemo(
    () =>
      factColumns(arity, {
        key: sort,
        direction: order,
        toggle: (key: FactSortKey) =>
          onSearch({ sort: key, order: key === sort && order === 'asc' ? 'desc' : 'asc' }),
      }),
    [arity, sort, order, onSearch],
  );
  const onVisible = useCallback((first: number, last: number) => pages.need(first, last), [pages]);

  function onSelect(index: number): void {
    setSelected(index);
    const fact = pages.rowAt(index);
    if (fact !== undefined) onChoose(fact);
  }

  function onKey(event: KeyboardEvent, index: number): void {
    const fact = pages.rowAt(index);
    if (event.key === 'Delete' && fact !== undefined && !fact.derived) onRetract(fact);
  }

  return (
    <DataGrid
      label="Facts"
      columns={columns}
      count={total}
      rowAt={(index) => pages.rowAt(index)}
      selected={selected}
      onSelect={onSelect}
      onKey={onKey}
      onVisible={onVisible}
    />
  );
}

export function FactGrid(props: FactGridProps) {
  const { search, onSearch, onAdd } = props;
  const { pages, state } = useFactPages(search);
  // The first rows are wanted before the grid knows that there are any.
  useEffect(() => pages.need(0, 1), [pages]);
  const { predicate, q, truth, derived, sort, order } = search;
  return (
    <PaneFrame
      scroll="own"
      label="Facts"
      title={<h1 className={styles.viewTitle}>{predicate ?? 'All facts'}</h1>}
      actions={<FactFilters search={search} total={state.total} onSearch={onSearch} onAdd={onAdd} />}
    >
      {state.error !== null ? (
        <div className={styles.padded}>
          <ProblemNotice failure={failureOf(state.error)} onRetry={() => pages.refresh()} />
        </div>
      ) : state.total === null ? (
        <Loader size={16} className={styles.firstLoad} aria-label="Loading facts" />
      ) : state.total === 0 ? (
        <NoFacts search={search} onAdd={onAdd} onReset={() => onSearch({ q: undefined, truth: undefined })} />
      ) : (
        <Rows
          key={JSON.stringify([predicate, q, truth, derived, sort, order])}
          {...props}
          pages={pages}
          total={state.total}
        />
      )}
    </PaneFrame>
  );
}
