/**
 * The grid of facts selected by the address, with its filters and the staged edits; empty states explain what
 * is missing.
 */
import { Button, Loader } from '@mantine/core';
import { IconPlus, IconTable } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { declaredArgument, useDeclaredArguments } from '../../api/declared.ts';
import { type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { Permitted } from '../../api/permitted.tsx';
import { usePredicates } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { shownColumns, useColumnChoice } from '../../ui/column-choice.ts';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { matchesKeys } from '../../ui/keys.ts';
import { SchemaLink } from '../../ui/knowledge-links.tsx';
import { HintLines } from '../../ui/blocks.tsx';
import { AgeBanner, BusyFrame, EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { notifyHint } from '../../ui/notify.tsx';
import { later } from '../../ui/later.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { isMac } from '../../ui/tags.tsx';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { type CellKind, cellKindOf, cellText } from './cell-kinds.ts';
import { type ChoosableColumn, choosableIds, differingColumns, factTable } from './column-choice.ts';
import { factColumns, useArity } from './fact-columns.tsx';
import { FactFilters, FilterChips } from './fact-filters.tsx';
import { type FactPages, useFactPages } from './fact-pages.ts';
import type { FactSortKey, FactsSearch } from './facts-search.ts';
import styles from './facts.module.css';
import { renderFact } from './render-fact.ts';
import { useRowChoice } from './row-choice.ts';
import { addedRows, type FactGridRow, removeRow, revertRow, stageRow, storedRow } from './staged-rows.ts';
import type { Staging } from './use-staging.ts';

const RowChoiceBar = later(async () => (await import('./row-choice-bar.tsx')).RowChoiceBar);
const FactMenu = later(async () => (await import('./fact-menu.tsx')).FactMenu);
const CellEditor = later(async () => (await import('./cell-editor.tsx')).CellEditor);

interface NoFactsProps {
  search: FactsSearch;
  hints: readonly string[];
  onAdd: () => void;
  onImport: () => void;
  onReset: () => void;
}

function NoFacts({ search, hints, onAdd, onImport, onReset }: NoFactsProps) {
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
        No fact passes the filters.
        <HintLines hints={hints} />
      </EmptyState>
    );
  const { predicate } = search;
  return (
    <EmptyState
      icon={icon}
      title={predicate === undefined ? 'No facts yet' : 'No stored facts'}
      actions={
        <>
          <Permitted operation="assertFacts">
            <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={onAdd}>
              Add facts
            </Button>
          </Permitted>
          {predicate === undefined && (
            <>
              <Button variant="default" onClick={onImport}>
                Import a file…
              </Button>
              <Button variant="default" renderRoot={(props) => <Link to="/start" {...props} />}>
                Open a sample
              </Button>
            </>
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
  staging: Staging;
  onSearch: (part: Partial<FactsSearch>) => void;
  onChoose: (row: FactGridRow) => void;
  /** Opens the form of a row at the field that is too complex for a cell. */
  onForm: (row: FactGridRow) => void;
  onAdd: () => void;
  onRetract: (fact: StoredFact) => void;
}

/** Identifies a row while rows are added and removed. */
function keyOfRow(row: FactGridRow): string | null {
  return row.edit?.key ?? row.stored?.id ?? null;
}

/** A selection by index that follows its row when staged rows are added or removed above it. */
function useSelected(leading: number): [number | null, (index: number) => void] {
  const [selected, setSelected] = useState<number | null>(null);
  const [seen, setSeen] = useState(leading);
  if (seen !== leading) {
    setSeen(leading);
    setSelected((before) => (before === null ? null : Math.max(0, before + leading - seen)));
  }
  return [selected, setSelected];
}

interface EditedCell {
  readonly row: FactGridRow;
  /** The index of the row when editing began. */
  readonly index: number;
  readonly column: string;
  readonly cell: CellKind;
  readonly text: string;
}

/** Other writers may have moved the edited row: looks for it near its former index. */
function indexOfEdited(
  { row, index }: EditedCell,
  rowAt: (index: number) => FactGridRow | undefined,
  count: number,
): number {
  const key = keyOfRow(row);
  for (let distance = 0; distance < nearby; distance += 1)
    for (const at of [index - distance, index + distance]) {
      const found = at < 0 || at >= count ? undefined : rowAt(at);
      if (found !== undefined && keyOfRow(found) === key) return at;
    }
  return index;
}

const nearby = 300;
const notEdited = 'Conclusions cannot be edited: change the facts they depend on, or the rule.';
const ofTheService = 'The service computes this: it cannot be edited.';

interface CellEditing {
  readonly editing: { row: number; column: string; editor: ReactNode } | null;
  readonly begin: (index: number, column: string) => void;
}

function useCellEditing(
  { staging, onForm }: Pick<FactGridProps, 'staging' | 'onForm'>,
  rowAt: (index: number) => FactGridRow | undefined,
  count: number,
): CellEditing {
  const [edited, setEdited] = useState<EditedCell | null>(null);
  const reason = useReason('commitTransaction');
  const predicates = usePredicates().data;

  function begin(index: number, column: string): void {
    const row = rowAt(index);
    const cell = cellKindOf(column);
    if (row === undefined || staging.running !== null) return;
    if (cell === null) {
      if (column !== 'edit') notifyHint(ofTheService);
    } else if (reason !== null) notifyHint(reason);
    else if (row.stored?.derived === true) notifyHint(notEdited);
    else if (cell.kind === 'form') onForm(row);
    else if (cell.kind !== 'argument' || cell.index < row.fact.args.length)
      setEdited({ row, index, column, cell, text: cellText(row.fact, cell) });
  }

  if (edited === null) return { editing: null, begin };
  const { fact } = edited.row;
  const argument =
    edited.cell.kind === 'argument'
      ? declaredArgument(predicates, fact.predicate, fact.args.length, edited.cell.index)
      : null;
  const editor = (
    <CellEditor
      key={`${keyOfRow(edited.row)} ${edited.column}`}
      fact={edited.row.fact}
      cell={edited.cell}
      argument={argument}
      label={`${argument?.name ?? edited.column.replace('argument-', 'argument ')} of ${renderFact(fact)}`}
      text={edited.text}
      onText={(text) => setEdited({ ...edited, text })}
      onTake={(fact) => {
        stageRow(staging, edited.row, fact);
        setEdited(null);
      }}
      onCancel={() => setEdited(null)}
    />
  );
  return { editing: { row: indexOfEdited(edited, rowAt, count), column: edited.column, editor }, begin };
}

function fileNameOf(predicate: string | undefined): string {
  return (predicate ?? 'facts').replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 100);
}

/** The order after a click on a column header: ascending, descending, then the service's order. */
function nextOrder(
  { sort, order }: { sort: FactSortKey | null; order: 'asc' | 'desc' },
  key: FactSortKey,
): Pick<FactsSearch, 'sort' | 'order'> {
  if (sort !== key) return { sort: key, order: 'asc' };
  return order === 'asc' ? { sort: key, order: 'desc' } : { sort: undefined, order: undefined };
}

/** The columns for the selected facts; for all predicates a single one with the whole fact. */
function useColumns(
  { search, staging, onSearch }: Pick<FactGridProps, 'search' | 'staging' | 'onSearch'>,
  added: readonly FactGridRow[],
  shown: readonly ChoosableColumn[],
): readonly Column<FactGridRow>[] {
  const { sort = null, order = 'asc', predicate } = search;
  const known = useArity(predicate);
  const arity = known ?? (predicate === undefined ? null : (added[0]?.fact.args.length ?? null));
  const clashes = staging.edits.length === 0 ? null : staging.clashes;
  const declared = useDeclaredArguments(predicate, arity);
  return useMemo(
    () =>
      factColumns(
        arity,
        {
          key: sort,
          direction: order,
          toggle: (key: FactSortKey) => onSearch(nextOrder({ sort, order }, key)),
        },
        clashes,
        shown,
        declared,
      ),
    [arity, sort, order, onSearch, clashes, shown, declared],
  );
}

/** The staged additions that belong to the selection. */
function useAdded({ edits }: Staging, predicate: string | undefined): readonly FactGridRow[] {
  const { scope } = useSession().space;
  return useMemo(() => addedRows(edits, predicate, scope), [edits, predicate, scope]);
}

/** The fact of an address is looked for among this many first rows. */
const maxLooked = 200;

/** The row of the fact that the address names, as far as it is loaded: a link opens it in its list. */
function positionOf(
  fact: string | undefined,
  pages: FactPages,
  total: number,
  leading: number,
): number | null {
  if (fact === undefined) return null;
  for (let index = 0; index < Math.min(total, maxLooked); index++)
    if (pages.rowAt(index)?.id === fact) return leading + index;
  return null;
}

const sortedColumns: Readonly<Partial<Record<FactSortKey, ChoosableColumn>>> = {
  scope: 'scope',
  truthVal: 'truth',
  salience: 'salience',
  validUntil: 'validity',
  derived: 'origin',
  updatedAt: 'updated',
};

/**
 * The columns to show. A column whose rows differ stays as long as the selection, also if those rows are scrolled away.
 * `seen`: the rows last visible.
 */
function useShownColumns(
  { predicate, sort }: FactsSearch,
  rowAt: (index: number) => FactGridRow | undefined,
  count: number,
  seen: RefObject<{ readonly first: number; readonly last: number }>,
  onColumns: (shown: readonly ChoosableColumn[]) => void,
): readonly ChoosableColumn[] {
  const choice = useColumnChoice(factTable(predicate));
  const [known, setKnown] = useState('');
  const { first, last } = seen.current;
  const indexes = new Set<number>();
  for (let index = 0; index < Math.min(count, maxLooked); index++) indexes.add(index);
  for (let index = first; index < Math.min(count, last); index++) indexes.add(index);
  const rows = [...indexes].map(rowAt).filter((row) => row !== undefined);
  const before = known.split(' ') as ChoosableColumn[];
  const differing = new Set([...before, ...differingColumns(rows)]);
  const now = [...differing].join(' ');
  if (now !== known) setKnown(now);
  const sorted = sort === undefined ? null : (sortedColumns[sort] ?? null);
  const names = shownColumns(choosableIds, choice, differing, sorted).join(' ');
  const shown = useMemo(() => (names === '' ? [] : (names.split(' ') as ChoosableColumn[])), [names]);
  useEffect(() => onColumns(shown), [shown, onColumns]);
  return shown;
}

interface GridBodyProps extends FactGridProps {
  pages: FactPages;
  /** Told which columns are shown. */
  onColumns: (shown: readonly ChoosableColumn[]) => void;
}

/** The grid itself; remounted for every selection, so that it starts at the top. */
function Rows({ pages, total, ...props }: GridBodyProps & { total: number }) {
  const { search, staging, onChoose } = props;
  const reason = useReason('commitTransaction');
  const added = useAdded(staging, search.predicate);
  const leading = added.length;
  const [selected, setSelected] = useSelected(leading);
  const seen = useRef({ first: 0, last: 0 });
  const onVisible = useCallback(
    (first: number, last: number) => {
      seen.current = { first, last };
      if (last > leading) pages.need(Math.max(0, first - leading), last - leading);
    },
    [pages, leading],
  );

  function rowAt(index: number): FactGridRow | undefined {
    if (index < leading) return added[index];
    const stored = pages.rowAt(index - leading);
    return stored === undefined ? undefined : storedRow(stored, staging.byKey);
  }

  const shown = useShownColumns(search, rowAt, leading + total, seen, props.onColumns);
  const columns = useColumns(props, added, shown);
  const { editing, begin } = useCellEditing(props, rowAt, leading + total);
  const choice = useRowChoice({ pages, added, total, staging, name: fileNameOf(search.predicate) });
  const context = { ...props, begin, reason, rowAt };

  function onSelect(index: number): void {
    // Ahead of a key that opens it: what is typed next is for its field.
    if (reason === null) CellEditor.load();
    choice.drop();
    setSelected(index);
    const row = rowAt(index);
    if (row !== undefined) onChoose(row);
  }

  function onKey(event: KeyboardEvent, index: number): void {
    if (matchesKeys(event, 'Mod+C', isMac)) {
      // A text selection elsewhere in the view takes precedence.
      if (window.getSelection()?.isCollapsed === false) return;
      event.preventDefault();
      void choice.copy('tsv', choice.count > 0 ? choice.ranges : [{ first: index, last: index + 1 }]);
    }
    const [row, key] = [rowAt(index), rowKeyOf(event, 'facts')];
    if (row === undefined || key === null) return;
    if (key === 'drop') choice.drop();
    else if (key === 'revert') revertRow(staging, row);
    else if (reason !== null) notifyHint(reason);
    else if (choice.count > 0) void choice.remove();
    else removeRow(staging, row);
  }

  return (
    <div className="flex-column tall">
      <div className={styles.rowsGrid}>
        <DataGrid
          label="Facts"
          columns={columns}
          count={leading + total}
          rowAt={rowAt}
          selected={selected ?? positionOf(search.fact, pages, total, leading)}
          onSelect={onSelect}
          ranges={choice.ranges}
          onRanges={choice.choose}
          onEdit={begin}
          editing={editing}
          renderMenu={(index, column, at) => <FactMenu {...at} {...{ context, index, column }} />}
          onKey={onKey}
          onVisible={onVisible}
          leading={leading}
          rowClass={(row) => (row.edit === null ? undefined : styles[row.edit.kind])}
        />
      </div>
      {choice.count > 0 && <RowChoiceBar choice={choice} />}
    </div>
  );
}

/** Shows above rows that they could not be loaded again. */
function OutOfDate({ failure, onAgain }: { failure: ApiFailure; onAgain: () => void }) {
  return (
    <AgeBanner action="Try again" onAgain={onAgain}>
      These facts may be out of date. {failure.detail}{' '}
      {failure.requestId !== '' && (
        <span className="dim">
          Request <code className="mono">{failure.requestId}</code>
        </span>
      )}
    </AgeBanner>
  );
}

function GridBody(props: GridBodyProps & Pick<ReturnType<typeof useFactPages>, 'state'>) {
  const { search, staging, onSearch, onAdd, pages, state } = props;
  const { space } = useSession();
  const { predicate, q, truth, derived, sort, order } = search;
  const isEmpty = state.total === 0 && addedRows(staging.edits, predicate, space.scope).length === 0;
  if (state.error !== null && (state.total === null || isEmpty))
    return (
      <div className="padded">
        <ProblemNotice failure={apiFailureOf(state.error)} onRetry={() => pages.refresh()} />
      </div>
    );
  if (state.total === null)
    return <Loader size={16} className={styles.firstLoad} role="status" aria-label="Loading facts" />;
  if (isEmpty)
    return (
      <NoFacts
        search={search}
        hints={state.hints}
        onAdd={onAdd}
        onImport={() => onSearch({ transfer: 'import' })}
        onReset={() => onSearch({ q: undefined, truth: undefined })}
      />
    );
  const outOfDate = state.error !== null && (
    <OutOfDate failure={apiFailureOf(state.error)} onAgain={() => pages.refresh()} />
  );
  return (
    <BusyFrame isBusy={false} banner={outOfDate}>
      <Rows
        key={JSON.stringify([predicate, q, truth, derived, sort, order])}
        {...props}
        pages={pages}
        total={state.total}
      />
    </BusyFrame>
  );
}

/** The pane with the grid, its filters, and a footer. */
export function FactGrid(props: FactGridProps & { footer: ReactNode }) {
  const { search, onSearch, onAdd, footer } = props;
  const arity = useArity(search.predicate);
  const { pages, state } = useFactPages(search);
  const [shown, setShown] = useState<readonly ChoosableColumn[]>([]);
  // Requests the first rows before the grid knows that there are any.
  useEffect(() => pages.need(0, 1), [pages]);
  return (
    <PaneFrame
      scroll="own"
      label="Facts"
      title={
        <>
          <h1 className={`pane-title truncate ${styles.viewTitle}`}>{search.predicate ?? 'All facts'}</h1>
          {search.predicate !== undefined && arity !== null && (
            <SchemaLink name={search.predicate} arity={arity} />
          )}
        </>
      }
      actions={
        <FactFilters search={search} total={state.total} shown={shown} onSearch={onSearch} onAdd={onAdd} />
      }
    >
      <div className="flex-column tall">
        <FilterChips search={search} onSearch={onSearch} />
        <div className={styles.gridBody}>
          <GridBody {...props} pages={pages} state={state} onColumns={setShown} />
        </div>
        {footer}
      </div>
    </PaneFrame>
  );
}
