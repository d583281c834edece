/** The columns of the fact grid: the staged mark, the arguments, then the properties of the fact. */
import { IconMinus, IconPencil, IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { misfitOf } from '../../api/declared.ts';
import { argumentTitle, isNumeric, type ShownArgument } from '../../api/declared.ts';
import { usePredicates } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatCount, formatRelative, formatTime, formatValidity } from '../../ui/format.ts';
import { Meter, Tag } from '../../ui/tags.tsx';
import type { ChoosableColumn } from './column-choice.ts';
import type { FactSortKey } from './facts-search.ts';
import styles from './facts.module.css';
import { renderFact } from './render-fact.ts';
import type { FactContent, StagedEdit } from './staged-edits.ts';
import type { FactGridRow } from './staged-rows.ts';

interface FactOrder {
  /** null: the order of the service. */
  readonly key: FactSortKey | null;
  readonly direction: 'asc' | 'desc';
  readonly toggle: (key: FactSortKey) => void;
}

function sortBy(order: FactOrder, key: FactSortKey): NonNullable<Column<FactGridRow>['sort']> {
  return { direction: order.key === key ? order.direction : null, toggle: () => order.toggle(key) };
}

/** A truth value: the exception has the tag. */
export function TruthTag({ value }: { value: boolean }) {
  return value ? <span className="dim">true</span> : <Tag tone="bad">false</Tag>;
}

/** The origin of a fact: a conclusion has the tag. */
export function OriginTag({ derived }: { derived: boolean }) {
  return derived ? <Tag tone="derived">derived</Tag> : <span className="dim">asserted</span>;
}

/** The validity of a fact relative to `now`, with its bounds in the tooltip. */
export function Validity({ fact, now }: { fact: Pick<StoredFact, 'validFrom' | 'validUntil'>; now: number }) {
  const { validFrom, validUntil } = fact;
  const title = [
    validFrom === null ? null : `from ${formatTime(validFrom)}`,
    validUntil === null ? null : `until ${formatTime(validUntil)}`,
  ].filter((part) => part !== null);
  if (title.length === 0) return <span className="dim">always</span>;
  const isEarly = validFrom !== null && validFrom > now;
  const isSoon = validUntil !== null && validUntil - now < 86_400_000;
  return (
    <span title={title.join(', ')}>
      {isEarly && <Tag tone="warn">not yet</Tag>}{' '}
      {isSoon && !isEarly && validUntil !== null
        ? `ends ${formatRelative(validUntil, now)}`
        : formatValidity(validFrom, validUntil)}
    </span>
  );
}

const editWords = {
  added: { tone: 'good', icon: IconPlus },
  changed: { tone: 'warn', icon: IconPencil },
  removed: { tone: 'bad', icon: IconMinus },
} as const;

/** A tag for a staged edit, or for a number of them. */
export function EditMark({ kind, count }: { kind: StagedEdit['kind']; count?: number }) {
  const { tone, icon: Icon } = editWords[kind];
  return (
    <Tag tone={tone}>
      <Icon size={11} stroke={2.4} aria-hidden />
      {count === undefined ? kind : `${formatCount(count)} ${kind}`}
    </Tag>
  );
}

/** A part of a row, marked if it is staged to change. */
function Part({
  row,
  isChanged,
  was,
  children,
}: {
  row: FactGridRow;
  isChanged: boolean;
  was: string;
  children: ReactNode;
}) {
  if (!isChanged || row.edit?.kind !== 'changed') return children;
  return (
    <span className={styles.changedPart} title={`now ${was === '' ? 'empty' : was}`}>
      {children}
    </span>
  );
}

function baseOf(row: FactGridRow): FactContent {
  return row.edit?.kind === 'changed' ? row.edit.base : row.fact;
}

function argumentColumn(
  index: number,
  arity: number,
  order: FactOrder,
  argument: ShownArgument | undefined,
): Column<FactGridRow> {
  return {
    id: `argument-${index}`,
    title: arity === 0 ? 'No arguments' : argumentTitle(argument, index),
    width: 132,
    most: 320,
    ...(argument !== undefined && isNumeric(argument.type) ? { align: 'end' } : { grow: 1 }),
    ...(arity === 0 ? {} : { sort: sortBy(order, `arg${index}`) }),
    cell: (row) => {
      const was = baseOf(row).args[index] ?? '';
      const value = row.fact.args[index] ?? '';
      // Declarations judge stored facts, never conclusions.
      const wrong = row.stored?.derived === true ? null : misfitOf(argument, value);
      return (
        <Part row={row} isChanged={was !== value} was={was}>
          <span className={wrong === null ? 'mono' : `mono ${styles.misfit}`} title={wrong ?? value}>
            {value}
          </span>
        </Part>
      );
    },
  };
}

function wholeColumn(order: FactOrder): Column<FactGridRow> {
  return {
    id: 'fact',
    title: 'Fact',
    width: 280,
    most: 720,
    sort: sortBy(order, 'predicate'),
    cell: (row) => (
      <Part
        row={row}
        isChanged={row.changed.has('args') || row.changed.has('predicate')}
        was={renderFact(baseOf(row))}
      >
        <CodeText isLine text={renderFact(row.fact)} />
      </Part>
    ),
  };
}

function editColumn(clashes: ReadonlySet<string>): Column<FactGridRow> {
  return {
    id: 'edit',
    title: 'Staged',
    width: 102,
    cell: ({ edit }) => {
      if (edit === null) return null;
      if (!clashes.has(edit.key)) return <EditMark kind={edit.kind} />;
      return (
        <span title="Another staged row is the same fact">
          <Tag tone="bad">twice</Tag>
        </span>
      );
    },
  };
}

function contentColumns(order: FactOrder): Column<FactGridRow>[] {
  return [
    {
      id: 'scope',
      title: 'Scope',
      width: 100,
      sort: sortBy(order, 'scope'),
      cell: (row) => (
        <Part row={row} isChanged={row.changed.has('scope')} was={baseOf(row).scope ?? 'none'}>
          {row.fact.scope === null ? <span className="dim">none</span> : row.fact.scope}
        </Part>
      ),
    },
    {
      id: 'truth',
      title: 'Truth',
      width: 78,
      sort: sortBy(order, 'truthVal'),
      cell: (row) => (
        <Part row={row} isChanged={row.changed.has('truthVal')} was={String(baseOf(row).truthVal)}>
          <TruthTag value={row.fact.truthVal} />
        </Part>
      ),
    },
    {
      id: 'salience',
      title: 'Salience',
      width: 112,
      sort: sortBy(order, 'salience'),
      cell: ({ stored }) => (stored === null ? notYet : <Meter value={stored.salience} />),
    },
    {
      id: 'validity',
      title: 'Valid',
      width: 170,
      sort: sortBy(order, 'validUntil'),
      cell: (row) => {
        const { validFrom, validUntil } = baseOf(row);
        return (
          <Part
            row={row}
            isChanged={row.changed.has('validFrom') || row.changed.has('validUntil')}
            was={formatValidity(validFrom, validUntil)}
          >
            <Validity fact={row.fact} now={Date.now()} />
          </Part>
        );
      },
    },
  ];
}

const notYet = <span className="dim">–</span>;

/**
 * The columns of the grid. `arity`: one column per argument; null: one column with the whole fact. `clashes`:
 * null if nothing is staged, else the keys of rows that would become the same fact as another. `declared`: the declared
 * arguments, by position; empty: they have no names. `shown`: the columns after the arguments.
 */
export function factColumns(
  arity: number | null,
  order: FactOrder,
  clashes: ReadonlySet<string> | null,
  shown: readonly ChoosableColumn[],
  declared: readonly ShownArgument[],
): Column<FactGridRow>[] {
  const what =
    arity === null
      ? [wholeColumn(order)]
      : Array.from({ length: Math.max(1, arity) }, (_, index) =>
          argumentColumn(index, arity, order, declared[index]),
        );
  const properties: Column<FactGridRow>[] = [
    ...contentColumns(order),
    {
      id: 'origin',
      title: 'Origin',
      width: 92,
      sort: sortBy(order, 'derived'),
      cell: ({ stored }) => (stored === null ? notYet : <OriginTag derived={stored.derived} />),
    },
    {
      id: 'updated',
      title: 'Updated',
      width: 120,
      sort: sortBy(order, 'updatedAt'),
      cell: ({ stored }) =>
        stored === null ? (
          notYet
        ) : (
          <span className="dim" title={formatTime(stored.updatedAt)}>
            {formatRelative(stored.updatedAt, Date.now())}
          </span>
        ),
    },
  ];
  return [
    ...(clashes === null ? [] : [editColumn(clashes)]),
    ...what,
    ...properties.filter(({ id }) => shown.some((each) => each === id)),
  ];
}

/**
 * The number of arguments of a predicate, the largest if it has several arities; null if none is selected or
 * it is unknown.
 */
export function useArity(predicate: string | undefined): number | null {
  const rows = usePredicates().data;
  if (predicate === undefined) return null;
  const arities = (rows ?? []).filter((row) => row.name === predicate).map((row) => row.arity);
  return arities.length === 0 ? null : Math.max(...arities);
}
