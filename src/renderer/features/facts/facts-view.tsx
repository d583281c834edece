/**
 * The Facts view: the predicates, the facts of the selected one, the detail of one fact, and the staged
 * edits.
 *
 * The address alone determines what is shown; the service sorts, filters and pages. Edits are staged in the
 * browser, and Apply stores them in one transaction.
 */
import { type ReactNode, useCallback, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { Skeleton, TextInput } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import type { PredicateList as PredicateRows, StoredFact } from '../../../engine/contract/facts.ts';
import type { PastedTable } from '../../api/delimited.ts';
import { pastedName } from '../../api/delimited-writing.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { conclusionsInWords, type CountedConclusions, countOfConclusions } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { isInDialog, matchesKeys } from '../../ui/keys.ts';
import { later } from '../../ui/later.tsx';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { DetailPane, type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { isMac } from '../../ui/tags.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';
import type { ShownFact } from './fact-detail.tsx';
import { useWideDetail } from '../../ui/use-wide-detail.ts';
import { FactGrid } from './fact-grid.tsx';
import type { FactsSearch } from './facts-search.ts';
import styles from './facts.module.css';
import { PasteRows } from './paste-rows.tsx';
import { type FactContent, stageAdded } from './staged-edits.ts';
import type { FactGridRow } from './staged-rows.ts';
import { type Staging, useStaging } from './use-staging.ts';

const AddFactsDialog = later(async () => (await import('./add-facts-dialog.tsx')).AddFactsDialog);
const FactDetailPane = later(async () => (await import('./fact-detail.tsx')).FactDetailPane);
const RetractDialog = later(async () => (await import('./retract-dialog.tsx')).RetractDialog);
const StagedBar = later(async () => (await import('./staged-bar.tsx')).StagedBar);

interface FactsViewProps {
  search: FactsSearch;
  onSearch: (search: FactsSearch) => void;
  /** Opens the import dialog with a file. */
  onImport: (file: File) => void;
}

/** Rows without an address: a conclusion, or a row not yet stored. */
type Unaddressed = { readonly conclusion: StoredFact } | { readonly added: string };

type FormField = 'first' | 'validFrom';

interface ShownRow {
  readonly shown: ShownFact | null;
  /** The form field to focus; null: no form. */
  readonly form: FormField | null;
  readonly setForm: (form: FormField | null) => void;
  readonly showFact: (id: string) => void;
  readonly close: () => void;
  /** Opens a row; does nothing if it is open. */
  readonly choose: (row: FactGridRow) => void;
  /** Opens a row with its form. */
  readonly chooseForm: (row: FactGridRow) => void;
  readonly choosePredicate: (predicate: string | undefined, hasFacts: boolean) => void;
}

/** The row shown in the detail pane. */
function useShownRow({ search, onSearch }: Pick<FactsViewProps, 'search' | 'onSearch'>): ShownRow {
  const [unaddressed, setUnaddressed] = useState<Unaddressed | null>(null);
  const [form, setForm] = useState<FormField | null>(null);

  function show(id: string | undefined, other: Unaddressed | null): void {
    setUnaddressed(other);
    setForm(null);
    onSearch({ ...search, fact: id });
  }

  function choose({ stored, edit }: FactGridRow): void {
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

/** `detail` null: no detail pane. */
function panesOf(predicates: ReactNode, grid: ReactNode, detail: ReactNode): Pane[] {
  return [
    { id: 'predicates', size: '230px', least: '140px', content: predicates },
    { id: 'grid', least: '320px', content: grid },
    ...(detail === null ? [] : [{ id: 'detail', size: '330px', least: '220px', content: detail }]),
  ];
}

/** Changes some search parameters. */
function usePatch({ search, onSearch }: FactsViewProps): (part: Partial<FactsSearch>) => void {
  return useCallback((part) => onSearch({ ...search, ...part }), [search, onSearch]);
}

/** The table as a file named after the predicate. */
function fileOf({ text, kind }: PastedTable, predicate: string | undefined): File {
  return new File([text], `${predicate ?? pastedName}.${kind}`);
}

interface RetractingProps {
  /** null: none. */
  fact: StoredFact | null;
  onClose: () => void;
  onRetracted: () => void;
}

function Retracting({ fact, onClose, onRetracted }: RetractingProps) {
  return fact === null ? null : <RetractDialog fact={fact} onClose={onClose} onRetracted={onRetracted} />;
}

/** While something is staged, can be undone, or failed. */
function isStagedBarShown({ edits, history: { done, undone }, failure }: Staging): boolean {
  return edits.length + done.length + undone.length > 0 || failure !== null;
}

/** The details of the shown row; on a wide screen the pane stays for the next row until it is closed. */
function useDetail(row: ShownRow, staging: Staging, onRetract: (fact: StoredFact) => void): ReactNode {
  const wide = useWideDetail('facts', row.shown !== null);
  function onClose(): void {
    wide.close();
    row.close();
  }
  if (row.shown === null)
    return wide.isOpen ? (
      <DetailPane title="Fact" onClose={onClose}>
        <EmptyState title="No fact is chosen">
          Choose a row to see its metadata, its history, and what follows from it.
        </EmptyState>
      </DetailPane>
    ) : null;
  return (
    <FactDetailPane
      shown={row.shown}
      staging={staging}
      form={row.form}
      onForm={row.setForm}
      onClose={wide.isWide ? onClose : row.close}
      onRetract={onRetract}
    />
  );
}

/** The Facts view. */
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

  const onRetracted = () => {
    if (retracting?.id === search.fact) row.close();
  };

  function onStage(facts: readonly FactContent[]): void {
    staging.stage(`added ${formatAmount(facts.length, 'fact')}`, (edits) => facts.reduce(stageAdded, edits));
  }

  const onTable = (table: PastedTable) => {
    setIsAdding(false);
    props.onImport(fileOf(table, search.predicate));
  };

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
      footer={
        isStagedBarShown(staging) && (
          <StagedBar staging={staging} onApply={() => void onApply()} onShow={row.showFact} />
        )
      }
    />
  );
  const detail = useDetail(row, staging, setRetracting);

  return (
    <>
      <Split
        id="facts"
        orientation="horizontal"
        label="Resize"
        panes={panesOf(
          <PredicateList selected={search.predicate} onSelect={row.choosePredicate} />,
          grid,
          detail,
        )}
      />
      <Retracting fact={retracting} onClose={() => setRetracting(null)} onRetracted={onRetracted} />
      <PasteRows predicate={search.predicate} onStage={onStage} onTable={onTable} />
      {isAdding && (
        <AddFactsDialog
          predicate={search.predicate}
          onStage={onStage}
          onTable={onTable}
          onClose={() => setIsAdding(false)}
        />
      )}
    </>
  );
}

type PredicateRow = PredicateRows['predicates'][number];

interface PredicateListProps {
  selected: string | undefined;
  /** `hasFacts` false: the predicate has only conclusions. */
  onSelect: (predicate: string | undefined, hasFacts: boolean) => void;
}

interface RowProps {
  name: string;
  arity: string;
  /** null: not shown. */
  facts: number | null;
  /** null: not shown. */
  conclusions: CountedConclusions | null;
}

function Row({ name, arity, facts, conclusions }: RowProps) {
  return (
    <>
      <span className="truncate rest-width" title={name}>
        {name}
        <span className="dim">{arity}</span>
      </span>
      {conclusions !== null && (conclusions.derived > 0 || !conclusions.derivedComplete) && (
        <span className={`number ${styles.conclusions}`} title={conclusionsInWords(conclusions)}>
          {conclusions.derivedComplete && '+'}
          {countOfConclusions(conclusions)}
        </span>
      )}
      {facts !== null && (
        <span className="number dim" title={`${formatAmount(facts, 'stored fact')}, valid now`}>
          {formatCount(facts)}
        </span>
      )}
    </>
  );
}

/** All predicates with arity and counts, below an entry for all facts. */
function PredicateList({ selected, onSelect }: PredicateListProps) {
  const { data, error, isPending, refetch } = usePredicates();
  const [filter, setFilter] = useState('');
  const rows = useMemo<PredicateRow[]>(() => {
    const wanted = filter.trim().toLowerCase();
    return (data ?? []).filter((row) => `${row.name}/${row.arity}`.toLowerCase().includes(wanted));
  }, [data, filter]);
  const index = selected === undefined ? 0 : rows.findIndex((row) => row.name === selected) + 1;
  const isUnknown = selected !== undefined && index === 0;

  return (
    <PaneFrame title="Predicates" tone="panel" scroll="own" label="Predicates">
      <div className={styles.predicates}>
        <TextInput
          className="padded-6"
          aria-label="Filter predicates"
          placeholder="Filter"
          leftSection={<IconFilter size={14} aria-hidden />}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        {error !== null && data === undefined ? (
          <div className="padded">
            <ProblemNotice failure={apiFailureOf(error)} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <div className="padded">
            <Skeleton height={12} width="60%" mb={12} />
            <Skeleton height={12} width="75%" />
          </div>
        ) : (
          <VirtualList
            label="Predicates"
            count={rows.length + 1}
            selected={isUnknown ? -1 : index}
            onSelect={(at) => {
              const row = rows[at - 1];
              onSelect(row?.name, row === undefined || row.facts > 0);
            }}
            render={(at) => {
              const row = rows[at - 1];
              return row === undefined ? (
                <Row name="All facts" arity="" facts={null} conclusions={null} />
              ) : (
                <Row name={row.name} arity={`/${row.arity}`} facts={row.facts} conclusions={row} />
              );
            }}
          />
        )}
      </div>
    </PaneFrame>
  );
}

/** Applies the staged edits by key, wherever the focus is in the view. */
function useApplyKey(onApply: () => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    // A dialog has its own keys.
    if (event.defaultPrevented || isInDialog(event.target) || !matchesKeys(event, 'Mod+Enter', isMac)) return;
    event.preventDefault();
    onApply();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}
