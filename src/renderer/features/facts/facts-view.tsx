/**
 * The Facts view: the vocabulary, the facts of what is chosen in it, and one fact whole.
 *
 * What is shown is said by the address alone; order, filter and paging are the service's.
 */
import { lazy, Suspense, useCallback, useState } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { type Pane, Split } from '../../ui/split.tsx';
import { FactDetail } from './fact-detail.tsx';
import { FactGrid } from './fact-grid.tsx';
import type { FactsSearch } from './facts-search.ts';
import { PredicateList } from './predicate-list.tsx';
import { RetractDialog } from './retract-dialog.tsx';

const AddFactsDialog = lazy(async () => ({
  default: (await import('./add-facts-dialog.tsx')).AddFactsDialog,
}));

interface FactsViewProps {
  search: FactsSearch;
  onSearch: (search: FactsSearch) => void;
}

export function FactsView({ search, onSearch }: FactsViewProps) {
  const [conclusion, setConclusion] = useState<StoredFact | null>(null);
  const [retracting, setRetracting] = useState<StoredFact | null>(null);
  const [isAdding, setIsAdding] = useState(false);
  const patch = useCallback(
    (part: Partial<FactsSearch>) => onSearch({ ...search, ...part }),
    [search, onSearch],
  );

  /** Opens a fact by its address; a conclusion has none, and is open until another row is chosen. */
  function choose(fact: StoredFact | null): void {
    setConclusion(fact !== null && fact.id === null ? fact : null);
    patch({ fact: fact?.id ?? undefined });
  }

  function choosePredicate(predicate: string | undefined, hasFacts: boolean): void {
    setConclusion(null);
    onSearch({
      ...(predicate === undefined ? {} : { predicate }),
      ...(hasFacts && search.derived === undefined ? {} : { derived: 'true' }),
    });
  }

  const panes: Pane[] = [
    {
      id: 'predicates',
      size: '230px',
      least: '140px',
      content: <PredicateList selected={search.predicate} onSelect={choosePredicate} />,
    },
    {
      id: 'grid',
      least: '320px',
      content: (
        <FactGrid
          search={search}
          onSearch={patch}
          onChoose={choose}
          onRetract={setRetracting}
          onAdd={() => setIsAdding(true)}
        />
      ),
    },
  ];
  const shown = search.fact !== undefined ? { id: search.fact } : conclusion === null ? null : { conclusion };
  if (shown !== null)
    panes.push({
      id: 'detail',
      size: '330px',
      least: '220px',
      content: <FactDetail shown={shown} onClose={() => choose(null)} onRetract={setRetracting} />,
    });

  return (
    <>
      <Split id="facts" orientation="horizontal" label="Resize" panes={panes} />
      {retracting !== null && (
        <RetractDialog
          fact={retracting}
          onClose={() => setRetracting(null)}
          onRetracted={() => {
            if (retracting.id === search.fact) choose(null);
          }}
        />
      )}
      {isAdding && (
        <Suspense fallback={null}>
          <AddFactsDialog predicate={search.predicate} onClose={() => setIsAdding(false)} />
        </Suspense>
      )}
    </>
  );
}
