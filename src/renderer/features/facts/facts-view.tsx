/**
 * The Facts view: the vocabulary, the facts of what is chosen in it, one fact whole, and what is staged.
 *
 * What is shown is said by the address alone; order, filter and paging are the service's. Edits are staged here and
 * stored by Apply, all in one.
 */
import { lazy, type ReactNode, Suspense, useCallback, useState } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { pastedName, type PastedTable } from '../../api/delimited.ts';
import { formatAmount } from '../../ui/format.ts';
import { type Pane, Split } from '../../ui/split.tsx';
import { FactDetail, type ShownFact } from './fact-detail.tsx';
import { FactGrid } from './fact-grid.tsx';
import type { FactsSearch } from './facts-search.ts';
import { PasteRows } from './paste-rows.tsx';
import { PredicateList } from './predicate-list.tsx';
import { RetractDialog } from './retract-dialog.tsx';
import { StagedBar } from './staged-bar.tsx';
import { type FactContent, stageAdded } from './staged-edits.ts';
import type { FactRow } from './staged-rows.ts';
import { useStaging } from './use-staging.ts';
import { useApplyKey } from './use-apply-key.ts';

const AddFactsDialog = lazy(async () => ({
  default: (await import('./add-facts-dialog.tsx')).AddFactsDialog,
}));

interface FactsViewProps {
  search: FactsSearch;
  onSearch: (search: FactsSearch) => void;
  /** Opens the import of a file. */
  onImport: (file: File) => void;
}

/** What is open beside the grid has no address: a conclusion, or a row that is not stored yet. */
type Unaddressed = { readonly conclusion: StoredFact } | { readonly added: string };

type FormField = 'first' | 'validFrom';

interface ShownRow {
  readonly shown: ShownFact | null;
  /** The field of its form that is wanted; null: no form. */
  readonly form: FormField | null;
  readonly setForm: (form: FormField | null) => void;
  readonly showFact: (id: string) => void;
  readonly close: () => void;
  /** Opens a row; one that is open stays as it is. */
  readonly choose: (row: FactRow) => void;
  /** Opens a row with its form. */
  readonly chooseForm: (row: FactRow) => void;
  readonly choosePredicate: (predicate: string | undefined, hasFacts: boolean) => void;
}

/** What is open beside the grid. */
function useShownRow({ search, onSearch }: Pick<FactsViewProps, 'search' | 'onSearch'>): ShownRow {
  const [unaddressed, setUnaddressed] = useState<Unaddressed | null>(null);
  const [form, setForm] = useState<FormField | null>(null);

  function show(id: string | undefined, other: Unaddressed | null): void {
    setUnaddressed(other);
    setForm(null);
    onSearch({ ...search, fact: id });
  }

  function choose({ stored, edit }: FactRow): void {
    if (stored === null) {
      if (edit !== null) show(undefined, { added: edit.key });
    } else if (stored.id === null) show(undefined, { conclusion: stored });
    else if (stored.id !== search.fact) show(stored.id, null);
  }

  function choosePredicate(predicate: string | undefined, hasFacts: boolean): void {
    setUnaddressed(null);
    setForm(null);
    onSearch({
      ...(predicate === undefined ? {} : { predicate }),
      ...(hasFacts && search.derived === undefined ? {} : { derived: 'true' }),
    });
  }

  return {
    shown: search.fact !== undefined ? { id: search.fact } : unaddressed,
    form,
    setForm,
    showFact: (id) => show(id, null),
    close: () => show(undefined, null),
    choose,
    chooseForm(row) {
      choose(row);
      setForm('validFrom');
    },
    choosePredicate,
  };
}

/** `detail` null: nothing is open. */
function panesOf(predicates: ReactNode, grid: ReactNode, detail: ReactNode): Pane[] {
  return [
    { id: 'predicates', size: '230px', least: '140px', content: predicates },
    { id: 'grid', least: '320px', content: grid },
    ...(detail === null ? [] : [{ id: 'detail', size: '330px', least: '220px', content: detail }]),
  ];
}

/** Changes parts of what the address says. */
function usePatch({ search, onSearch }: FactsViewProps): (part: Partial<FactsSearch>) => void {
  return useCallback((part) => onSearch({ ...search, ...part }), [search, onSearch]);
}

/** The table as a file, whose name proposes that of the predicate. */
function fileOf({ text, kind }: PastedTable, predicate: string | undefined): File {
  return new File([text], `${predicate ?? pastedName}.${kind}`);
}

export function FactsView(props: FactsViewProps) {
  const { search } = props;
  const [retracting, setRetracting] = useState<StoredFact | null>(null);
  const [isAdding, setIsAdding] = useState(false);
  const row = useShownRow(props);
  const staging = useStaging();
  const patch = usePatch(props);

  async function onApply(): Promise<void> {
    const gone = await staging.apply();
    if (search.fact !== undefined && gone.includes(search.fact)) row.close();
  }

  function onStage(facts: readonly FactContent[]): void {
    staging.stage(`added ${formatAmount(facts.length, 'fact')}`, (edits) => facts.reduce(stageAdded, edits));
  }

  function onTable(table: PastedTable): void {
    setIsAdding(false);
    props.onImport(fileOf(table, search.predicate));
  }

  useApplyKey(() => void onApply());

  const grid = (
    <FactGrid
      search={search}
      staging={staging}
      onSearch={patch}
      onChoose={row.choose}
      onForm={row.chooseForm}
      onAdd={() => setIsAdding(true)}
      onRetract={setRetracting}
      footer={<StagedBar staging={staging} onApply={() => void onApply()} onShow={row.showFact} />}
    />
  );
  const detail =
    row.shown === null ? null : (
      <FactDetail
        shown={row.shown}
        staging={staging}
        form={row.form}
        onForm={row.setForm}
        onClose={row.close}
        onRetract={setRetracting}
      />
    );
  const predicates = <PredicateList selected={search.predicate} onSelect={row.choosePredicate} />;

  return (
    <>
      <Split id="facts" orientation="horizontal" label="Resize" panes={panesOf(predicates, grid, detail)} />
      {retracting !== null && (
        <RetractDialog
          fact={retracting}
          onClose={() => setRetracting(null)}
          onRetracted={() => {
            if (retracting.id === search.fact) row.close();
          }}
        />
      )}
      <PasteRows predicate={search.predicate} onStage={onStage} onTable={onTable} />
      {isAdding && (
        <Suspense fallback={null}>
          <AddFactsDialog
            predicate={search.predicate}
            onStage={onStage}
            onTable={onTable}
            onClose={() => setIsAdding(false)}
          />
        </Suspense>
      )}
    </>
  );
}
