/**
 * The Facts view: the vocabulary, the facts of what is chosen in it, and one fact whole.
 *
 * What is shown is said by the address alone; order, filter and paging are the service's.
 */
import { Button, Loader } from '@mantine/core';
import { IconPlus, IconTable } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { failureOf } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { DataGrid } from '../../ui/data-grid.tsx';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { type Pane, Split } from '../../ui/split.tsx';
import { factColumns } from './fact-columns.tsx';
import { FactDetail } from './fact-detail.tsx';
import { FactFilters } from './fact-filters.tsx';
import type { FactSortKey, FactsSearch } from './facts-search.ts';
import styles from './facts.module.css';
import { PredicateList } from './predicate-list.tsx';
import { RetractDialog } from './retract-dialog.tsx';
import { useFactPages } from './use-fact-pages.ts';

const AddFactsDialog = lazy(async () => ({
  default: (await import('./add-facts-dialog.tsx')).AddFactsDialog,
}));

interface FactsViewProps {
  search: FactsSearch;
  onSearch: (search: FactsSearch) => void;
}

/** Arguments of the widest predicate of that name; null where none is chosen. */
function useArity(predicate: string | undefined): number | null {
  const rows = usePredicates().data;
  if (predicate === undefined) return null;
  const arities = (rows ?? []).filter((row) => row.name === predicate).map((row) => row.arity);
  return arities.length === 0 ? null : Math.max(...arities);
}

function NoFacts({
  search,
  onAdd,
  onReset,
}: {
  search: FactsSearch;
  onAdd: () => void;
  onReset: () => void;
}) {
  const isFiltered = search.q !== undefined || search.truth !== undefined;
  if (isFiltered)
    return (
      <EmptyState
        icon={<IconTable size={30} stroke={1.3} aria-hidden />}
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
  return (
    <EmptyState
      icon={<IconTable size={30} stroke={1.3} aria-hidden />}
      title={search.predicate === undefined ? 'No facts yet' : 'No stored facts'}
      actions={
        <>
          <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={onAdd}>
            Add facts
          </Button>
          {search.predicate === undefined && (
            <Button variant="default" renderRoot={(props) => <Link to="/start" {...props} />}>
              Open a sample
            </Button>
          )}
        </>
      }
    >
      {search.predicate === undefined
        ? 'Facts are what you know: statements such as parent(alice, bob).'
        : `Nothing is stored under ${search.predicate}. Rules may conclude it: switch conclusions on to see them.`}
    </EmptyState>
  );
}

export function FactsView({ search, onSearch }: FactsViewProps) {
  const { pages, state } = useFactPages(search);
  const arity = useArity(search.predicate);
  const [selected, setSelected] = useState<number | null>(null);
  const [conclusion, setConclusion] = useState<StoredFact | null>(null);
  const [retracting, setRetracting] = useState<StoredFact | null>(null);
  const [isAdding, setIsAdding] = useState(false);

  const patch = useCallback(
    (part: Partial<FactsSearch>) => onSearch({ ...search, ...part }),
    [search, onSearch],
  );
  const { sort = 'predicate', order = 'asc' } = search;
  const columns = useMemo(
    () =>
      factColumns(arity, {
        key: sort,
        direction: order,
        toggle: (key: FactSortKey) =>
          patch({ sort: key, order: key === sort && order === 'asc' ? 'desc' : 'asc' }),
      }),
    [arity, sort, order, patch],
  );
  // The first rows are wanted before the grid knows that there are any.
  useEffect(() => pages.need(0, 1), [pages]);
  const onVisible = useCallback((first: number, last: number) => pages.need(first, last), [pages]);

  function select(index: number): void {
    setSelected(index);
    const fact = pages.rowAt(index);
    if (fact === undefined) return;
    setConclusion(fact.id === null ? fact : null);
    patch({ fact: fact.id ?? undefined });
  }

  function onKey(event: KeyboardEvent, index: number): void {
    const fact = pages.rowAt(index);
    if (event.key === 'Delete' && fact !== undefined && !fact.derived) setRetracting(fact);
  }

  const isEmpty = state.total === 0 && !state.isLoading;
  const grid = (
    <PaneFrame
      scroll="own"
      label="Facts"
      title={<h1 className={styles.viewTitle}>{search.predicate ?? 'All facts'}</h1>}
      actions={
        <FactFilters search={search} total={state.total} onSearch={patch} onAdd={() => setIsAdding(true)} />
      }
    >
      {state.error !== null ? (
        <div className={styles.padded}>
          <ProblemNotice failure={failureOf(state.error)} onRetry={() => pages.refresh()} />
        </div>
      ) : isEmpty ? (
        <NoFacts
          search={search}
          onAdd={() => setIsAdding(true)}
          onReset={() => patch({ q: undefined, truth: undefined })}
        />
      ) : (
        <>
          {state.total === null && (
            <Loader size={16} className={styles.firstLoad} aria-label="Loading facts" />
          )}
          <DataGrid
            key={`${search.predicate} ${search.q} ${search.truth} ${search.derived} ${sort} ${order}`}
            label="Facts"
            columns={columns}
            count={state.total ?? 0}
            rowAt={(index) => pages.rowAt(index)}
            selected={selected}
            onSelect={select}
            onKey={onKey}
            onVisible={onVisible}
          />
        </>
      )}
    </PaneFrame>
  );

  const shown = search.fact !== undefined ? { id: search.fact } : conclusion === null ? null : { conclusion };
  const panes: Pane[] = [
    {
      id: 'predicates',
      size: '230px',
      least: '140px',
      content: (
        <PredicateList
          selected={search.predicate}
          onSelect={(predicate, hasFacts) => {
            setSelected(null);
            setConclusion(null);
            onSearch({
              ...(predicate === undefined ? {} : { predicate }),
              ...(hasFacts && search.derived === undefined ? {} : { derived: 'true' }),
            });
          }}
        />
      ),
    },
    { id: 'grid', least: '320px', content: grid },
  ];
  if (shown !== null)
    panes.push({
      id: 'detail',
      size: '330px',
      least: '220px',
      content: (
        <FactDetail
          shown={shown}
          onClose={() => {
            setConclusion(null);
            patch({ fact: undefined });
          }}
          onRetract={setRetracting}
        />
      ),
    });

  return (
    <>
      <Split id="facts" orientation="horizontal" label="Resize" panes={panes} />
      {retracting !== null && <RetractDialog fact={retracting} onClose={() => setRetracting(null)} />}
      {isAdding && (
        <Suspense fallback={null}>
          <AddFactsDialog predicate={search.predicate} onClose={() => setIsAdding(false)} />
        </Suspense>
      )}
    </>
  );
}
