/** The lists of an entity's page as grids; every other constant of a row is in its menu. */
import { Button } from '@mantine/core';
import {
  IconCircleDot,
  IconHistory,
  IconListSearch,
  IconRoute,
  IconRoute2,
  IconSchema,
  IconTable,
} from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { EntityPage } from '../../../engine/contract/entities.ts';
import { argumentVariables } from '../../api/declared.ts';
import { usePredicates } from '../../api/queries.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { CodeText } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatCount, formatRelative, formatTime, formatValidity } from '../../ui/format.ts';
import { useOpenEntity } from '../../ui/knowledge-links.tsx';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import type { RowMenuGroups, RowMenuItem } from '../../ui/row-menu.tsx';
import { Tag } from '../../ui/tags.tsx';
import type { EntityPart } from './entity-search.ts';

const icon = { size: 15, stroke: 1.6, 'aria-hidden': true } as const;
type Fact = EntityPage['facts'][number];
type Conclusion = EntityPage['conclusions'][number];
type Place = EntityPage['asArgument'][number];
type Rule = EntityPage['mentionsInRules'][number];
type Change = EntityPage['history'][number];

function atomOf({ predicate, args, truthVal }: Pick<Fact, 'predicate' | 'args' | 'truthVal'>): string {
  return renderAtom({ predicate, args, negated: !truthVal });
}

/** The menu items that open the other entities of an atom. */
function useOthers(names: ReadonlySet<string>): (args: readonly string[]) => RowMenuItem[] {
  const openEntity = useOpenEntity();
  return (args) =>
    [...new Set(args)]
      .filter((arg) => !names.has(arg))
      .map((arg) => ({
        label: `Open ${arg.length > 30 ? `${arg.slice(0, 29)}…` : arg}`,
        icon: <IconCircleDot {...icon} />,
        onClick: () => openEntity(arg),
      }));
}

const isLimited = ({ validFrom, validUntil }: Fact) => validFrom !== null || validUntil !== null;

/** The columns; scope and validity once a fact has any. */
function factColumnsOf(facts: readonly Fact[]): Column<Fact>[] {
  const columns: Column<Fact>[] = [
    {
      id: 'fact',
      title: 'Fact',
      width: 220,
      most: 720,
      cell: (fact) => <CodeText isLine text={atomOf(fact)} />,
    },
  ];
  if (facts.some(({ scope }) => scope !== null))
    columns.push({
      id: 'scope',
      title: 'Scope',
      width: 90,
      cell: ({ scope }) => (scope === null ? <span className="dim">none</span> : scope),
    });
  if (facts.some(isLimited))
    columns.push({
      id: 'valid',
      title: 'Valid',
      width: 150,
      cell: (fact) => (
        <span className={isLimited(fact) ? '' : 'dim'}>
          {formatValidity(fact.validFrom, fact.validUntil)}
        </span>
      ),
    });
  columns.push({
    id: 'updated',
    title: 'Updated',
    width: 110,
    cell: ({ updatedAt }) => (
      <span className="dim" title={formatTime(updatedAt)}>
        {formatRelative(updatedAt, Date.now())}
      </span>
    ),
  });
  return columns;
}

interface ListProps {
  page: EntityPage;
  names: ReadonlySet<string>;
}

function Facts({ page, names }: ListProps) {
  const navigate = useNavigate();
  const others = useOthers(names);
  const open = (fact: Fact) =>
    void navigate({
      to: '/facts',
      search: { predicate: fact.predicate, q: atomOf(fact), fact: fact.id ?? undefined },
    });
  const menu = (fact: Fact): RowMenuGroups => [
    [
      { label: 'Open the fact', icon: <IconTable {...icon} />, keys: 'Enter', onClick: () => open(fact) },
      {
        label: 'Why',
        icon: <IconRoute {...icon} />,
        onClick: () => void navigate({ to: '/proof', search: { question: atomOf(fact) } }),
      },
    ],
    others(fact.args),
  ];
  if (page.facts.length === 0)
    return <EmptyState title="No stored fact">No visible fact of this scope has the constant.</EmptyState>;
  return (
    <ListGrid label="Facts" columns={factColumnsOf(page.facts)} rows={page.facts} onOpen={open} menu={menu} />
  );
}

const conclusionColumns: Column<Conclusion>[] = [
  {
    id: 'conclusion',
    title: 'Conclusion',
    width: 240,
    most: 720,
    cell: ({ atom }) => <CodeText isLine text={atom} />,
  },
];

interface ConclusionsProps extends ListProps {
  onInfer: () => void;
}

function Conclusions({ page, names, onInfer }: ConclusionsProps) {
  const navigate = useNavigate();
  const others = useOthers(names);
  const why = ({ atom }: Conclusion) => void navigate({ to: '/proof', search: { question: atom } });
  const menu = (conclusion: Conclusion): RowMenuGroups => [
    [{ label: 'Why', icon: <IconRoute {...icon} />, keys: 'Enter', onClick: () => why(conclusion) }],
    others(conclusion.args),
  ];
  if (page.conclusions.length === 0)
    return (
      <EmptyState
        title={page.conclusionsComplete ? 'No conclusion' : 'No known conclusion'}
        actions={page.conclusionsComplete ? undefined : <Button onClick={onInfer}>Derive all</Button>}
      >
        {page.conclusionsComplete
          ? 'No rule concludes anything about it.'
          : 'Conclusions become known when a question derives them.'}
      </EmptyState>
    );
  return (
    <ListGrid
      label="Conclusions"
      columns={conclusionColumns}
      rows={page.conclusions}
      onOpen={why}
      menu={menu}
    />
  );
}

const placeColumns: Column<Place>[] = [
  {
    id: 'predicate',
    title: 'Predicate',
    width: 140,
    most: 320,
    cell: ({ predicate, arity }) => (
      <span className="mono">
        {predicate}/{arity}
      </span>
    ),
  },
  {
    id: 'argument',
    title: 'Argument',
    width: 110,
    cell: ({ position, name }) => (name === null ? `${position + 1}` : `${position + 1} · ${name}`),
  },
  { id: 'facts', title: 'Facts', width: 80, align: 'end', cell: ({ count }) => formatCount(count) },
  {
    id: 'derived',
    title: 'Conclusions',
    width: 100,
    align: 'end',
    cell: ({ derived }) => formatCount(derived),
  },
];

function Places({ page }: ListProps) {
  const navigate = useNavigate();
  const rows = usePredicates().data;
  const ask = ({ predicate, arity, position }: Place) => {
    const variables = argumentVariables(rows, predicate, arity);
    const args = variables.map((variable, at) => (at === position ? page.entity : variable));
    void navigate({ to: '/ask', search: { question: renderAtom({ predicate, args, negated: false }) } });
  };
  if (page.asArgument.length === 0)
    return (
      <EmptyState title="It occurs nowhere">Neither a fact nor a conclusion has the constant.</EmptyState>
    );
  return (
    <ListGrid
      label="Places"
      columns={placeColumns}
      rows={page.asArgument}
      onOpen={ask}
      menu={(place) => [
        [
          { label: 'Ask', icon: <IconListSearch {...icon} />, keys: 'Enter', onClick: () => ask(place) },
          {
            label: `Schema of ${place.predicate}/${place.arity}`,
            icon: <IconSchema {...icon} />,
            onClick: () =>
              void navigate({ to: '/schema', search: { predicate: `${place.predicate}/${place.arity}` } }),
          },
        ],
      ]}
    />
  );
}

const ruleColumns: Column<Rule>[] = [
  { id: 'rule', title: 'Rule', width: 260, most: 720, cell: ({ rule }) => <CodeText isLine text={rule} /> },
  { id: 'name', title: 'Name', width: 120, cell: ({ name }) => name ?? <span className="dim">none</span> },
  {
    id: 'state',
    title: 'State',
    width: 70,
    cell: ({ enabled }) => (enabled ? <Tag tone="good">on</Tag> : <Tag>off</Tag>),
  },
];

function Rules({ page }: ListProps) {
  const navigate = useNavigate();
  const open = ({ id }: Rule) => void navigate({ to: '/rules', search: { rule: id } });
  if (page.mentionsInRules.length === 0)
    return <EmptyState title="No rule names it">Rules speak of it only by their variables.</EmptyState>;
  return (
    <ListGrid
      label="Rules"
      columns={ruleColumns}
      rows={page.mentionsInRules}
      onOpen={open}
      menu={(rule) => [
        [
          {
            label: 'Open the rule',
            icon: <IconRoute2 {...icon} />,
            keys: 'Enter',
            onClick: () => open(rule),
          },
        ],
      ]}
    />
  );
}

const changeColumns: Column<Change>[] = [
  {
    id: 'time',
    title: 'When',
    width: 110,
    cell: ({ time }) => (
      <span className="dim" title={formatTime(time)}>
        {formatRelative(time, Date.now())}
      </span>
    ),
  },
  { id: 'change', title: 'Change', width: 84, cell: ({ change }) => change },
  { id: 'fact', title: 'Fact', width: 200, most: 720, cell: ({ atom }) => <CodeText isLine text={atom} /> },
  {
    id: 'generation',
    title: 'Generation',
    width: 96,
    align: 'end',
    cell: ({ generation }) => formatCount(generation),
  },
];

function Changes({ page }: ListProps) {
  const navigate = useNavigate();
  const why = ({ atom }: Change) => void navigate({ to: '/proof', search: { question: atom } });
  const all = (
    <Button
      variant="default"
      leftSection={<IconHistory {...icon} />}
      renderRoot={(props) => <Link to="/history" search={{ entity: page.entity }} {...props} />}
    >
      All changes, and who made them
    </Button>
  );
  if (page.history.length === 0)
    return (
      <EmptyState title="No fact of now has changed" actions={all}>
        Retracted facts are in the history of the tenant.
      </EmptyState>
    );
  return (
    <div className="flex-column full-height">
      <div className="flex-row spread gap-8 padded-6 line-below">
        <span className="small-print">Changes of the facts that it has now</span>
        {all}
      </div>
      <div className="rest-height">
        <ListGrid label="History" columns={changeColumns} rows={page.history} onOpen={why} />
      </div>
    </div>
  );
}

/** Shows one list of the page. */
export function EntityList({
  part,
  page,
  onInfer,
}: {
  part: EntityPart;
  page: EntityPage;
  onInfer: () => void;
}) {
  const names = useMemo(() => new Set([page.entity, ...page.aliases]), [page]);
  switch (part) {
    case 'facts':
      return <Facts page={page} names={names} />;
    case 'conclusions':
      return <Conclusions page={page} names={names} onInfer={onInfer} />;
    case 'places':
      return <Places page={page} names={names} />;
    case 'rules':
      return <Rules page={page} names={names} />;
    case 'history':
      return <Changes page={page} names={names} />;
  }
}
