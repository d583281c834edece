/** The predicates with what is declared of them, how many facts and conclusions they have, and what violates them. */
import { Button, SegmentedControl } from '@mantine/core';
import {
  IconListSearch,
  IconPencil,
  IconPlus,
  IconRoute2,
  IconSchema,
  IconTable,
  IconTrash,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { renderAtom } from '../../../engine/language/print.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { argumentVariables, type PredicateRow, typeInWords } from '../../api/declared.ts';
import { Permitted } from '../../api/permitted.tsx';
import { usePredicates } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { conclusionsInWords, countOfConclusions } from '../../ui/consequences.ts';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState, FirstFacts } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { predicateText, type SchemaSearch } from './schema-search.ts';
import { listedPredicates, useViolationCounts, type ViolationCounts } from './use-schema.ts';
import { ViolationCount } from './violation-count.tsx';

const icon = { size: 15, stroke: 1.6, 'aria-hidden': true } as const;

function Arguments({ row }: { row: PredicateRow }) {
  const { declaration } = row;
  if (declaration === undefined) return <span className="dim">not declared</span>;
  if (declaration.arguments.length === 0) return <span className="dim">no names</span>;
  const said = declaration.arguments.map(({ name, type }) =>
    type === 'any' ? name : `${name}: ${typeInWords(type)}`,
  );
  return <span title={said.join('\n')}>{said.join(', ')}</span>;
}

const conflictWords = {
  warn: 'doubles listed',
  supersede: 'new ends old',
  reject: 'doubles refused',
} as const;

const declaredColumns: readonly Column<PredicateRow>[] = [
  {
    id: 'predicate',
    title: 'Predicate',
    width: 140,
    grow: 2,
    cell: (row) => (
      <span title={row.declaration?.description ?? undefined}>
        <span className="mono">{row.name}</span>
        <span className="dim">/{row.arity}</span>
      </span>
    ),
  },
  { id: 'arguments', title: 'Arguments', width: 150, grow: 4, cell: (row) => <Arguments row={row} /> },
  {
    id: 'key',
    title: 'Key',
    width: 88,
    grow: 1,
    cell: ({ declaration }) =>
      declaration === undefined || declaration.key.length === 0 ? null : (
        <span title={conflictWords[declaration.onConflict]}>{declaration.key.join(', ')}</span>
      ),
  },
];

function columnsOf(counts: ViolationCounts | undefined): Column<PredicateRow>[] {
  return [
    ...declaredColumns,
    {
      id: 'facts',
      title: 'Facts',
      width: 84,
      align: 'end',
      cell: ({ facts }) => <span className={`number ${facts === 0 ? 'dim' : ''}`}>{formatCount(facts)}</span>,
    },
    {
      id: 'derived',
      title: 'Derived',
      width: 96,
      align: 'end',
      cell: (row) =>
        row.rules === 0 ? (
          <span className="dim">–</span>
        ) : (
          <span
            className="number"
            title={`${conclusionsInWords(row)}, by ${formatAmount(row.rules, 'rule')}`}
          >
            {countOfConclusions(row)}
          </span>
        ),
    },
    {
      id: 'violations',
      title: 'Violations',
      width: 100,
      align: 'end',
      cell: (row) =>
        row.declaration === undefined ? null : (
          <ViolationCount
            count={counts?.byPredicate.get(predicateText(row)) ?? 0}
            isLeast={counts?.isWhole === false}
          />
        ),
    },
  ];
}

interface SchemaPredicatesProps {
  search: SchemaSearch;
  onSearch: (part: Partial<SchemaSearch>) => void;
  onWithdraw: (row: PredicateRow) => void;
}

function Filters({ search, onSearch }: Omit<SchemaPredicatesProps, 'onWithdraw'>) {
  return (
    <>
      <TextFilter
        label="Filter predicates"
        width={200}
        value={search.q ?? ''}
        onValue={(q) => onSearch({ q: q === '' ? undefined : q })}
      />
      <SegmentedControl
        aria-label="Which predicates"
        value={search.show ?? 'all'}
        onChange={(value) =>
          onSearch({ show: value === 'declared' || value === 'undeclared' ? value : undefined })
        }
        data={[
          { value: 'all', label: 'All' },
          { value: 'declared', label: 'Declared' },
          { value: 'undeclared', label: 'Undeclared' },
        ]}
      />
      <Permitted operation="declarePredicate">
        <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => onSearch({ predicate: '-' })}>
          Declare
        </Button>
      </Permitted>
    </>
  );
}

function useRowMenu({ onSearch, onWithdraw }: SchemaPredicatesProps): (row: PredicateRow) => RowMenuGroups {
  const navigate = useNavigate();
  const reason = useReason('withdrawPredicate');
  return (row) => {
    const question = renderAtom({
      predicate: row.name,
      args: argumentVariables([row], row.name, row.arity),
      negated: false,
    });
    return [
      [
        {
          label: row.declaration === undefined ? 'Declare' : 'Open the declaration',
          icon: <IconPencil {...icon} />,
          keys: 'Enter',
          onClick: () => onSearch({ predicate: predicateText(row) }),
        },
      ],
      [
        {
          label: 'Its facts',
          icon: <IconTable {...icon} />,
          onClick: () => void navigate({ to: '/facts', search: { predicate: row.name } }),
        },
        {
          label: 'Ask for all',
          icon: <IconListSearch {...icon} />,
          onClick: () => void navigate({ to: '/ask', search: { question } }),
        },
        {
          label: 'In the graph of rules',
          icon: <IconRoute2 {...icon} />,
          onClick: () => void navigate({ to: '/rules', search: { view: 'graph', at: predicateText(row) } }),
        },
      ],
      row.declaration === undefined
        ? []
        : [
            {
              label: 'Withdraw the declaration',
              icon: <IconTrash {...icon} />,
              isDangerous: true,
              reason,
              onClick: () => onWithdraw(row),
            },
          ],
    ];
  };
}

/** The list of predicates. Enter opens the declaration of a row. */
export function SchemaPredicates(props: SchemaPredicatesProps) {
  const { search, onSearch } = props;
  const asked = usePredicates();
  const counts = useViolationCounts();
  const columns = useMemo(() => columnsOf(counts), [counts]);
  const menu = useRowMenu(props);
  return (
    <PaneFrame
      scroll="own"
      label="Predicates"
      title="Predicates"
      actions={<Filters search={search} onSearch={onSearch} />}
    >
      <AnswerOrFailure asked={asked}>
        {(rows) => {
          const listed = listedPredicates(rows, search);
          if (rows.length === 0)
            return (
              <EmptyState
                icon={<IconSchema size={30} stroke={1.3} aria-hidden />}
                title="No predicates yet"
                actions={<FirstFacts />}
              >
                A predicate appears with its first fact, rule or declaration.
              </EmptyState>
            );
          if (listed.length === 0)
            return (
              <EmptyState
                title="No predicate matches"
                actions={
                  <Button variant="default" onClick={() => onSearch({ q: undefined, show: undefined })}>
                    Clear the filters
                  </Button>
                }
              />
            );
          return (
            <ListGrid
              label="Predicates"
              columns={columns}
              rows={listed}
              isSelected={(row) => predicateText(row) === search.predicate}
              onSelect={(row) => onSearch({ predicate: predicateText(row) })}
              onOpen={(row) => onSearch({ predicate: predicateText(row) })}
              menu={menu}
            />
          );
        }}
      </AnswerOrFailure>
    </PaneFrame>
  );
}
