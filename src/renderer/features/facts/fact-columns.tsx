/** The columns of the fact grid: the arguments, then what is known about the fact. */
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { renderAtom } from '../../../engine/logic/print.ts';
import { CodeText } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatRelative, formatTime, formatValidity } from '../../ui/format.ts';
import { Meter, Tag } from '../../ui/tags.tsx';
import type { FactSortKey } from './facts-search.ts';

/** The fact as the language writes it. */
export function renderFact(fact: Pick<StoredFact, 'predicate' | 'args' | 'truthVal'>): string {
  return renderAtom({ predicate: fact.predicate, args: fact.args, negated: !fact.truthVal });
}

export interface FactOrder {
  readonly key: FactSortKey;
  readonly direction: 'asc' | 'desc';
  readonly toggle: (key: FactSortKey) => void;
}

function sortBy(order: FactOrder, key: FactSortKey): NonNullable<Column<StoredFact>['sort']> {
  return { direction: order.key === key ? order.direction : null, toggle: () => order.toggle(key) };
}

export function Truth({ value }: { value: boolean }) {
  return value ? <Tag tone="good">true</Tag> : <Tag tone="bad">false</Tag>;
}

export function Origin({ derived }: { derived: boolean }) {
  return derived ? <Tag tone="derived">derived</Tag> : <Tag>asserted</Tag>;
}

/** Whether a fact holds at `now`, with its bounds as text. */
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

/** `arity`: a column an argument; null: one column with the whole fact. */
export function factColumns(arity: number | null, order: FactOrder): Column<StoredFact>[] {
  const now = Date.now();
  const what: Column<StoredFact>[] =
    arity === null
      ? [
          {
            id: 'fact',
            title: 'Fact',
            width: 280,
            grow: 1,
            sort: sortBy(order, 'predicate'),
            cell: (fact) => <CodeText isLine text={renderFact(fact)} />,
          },
        ]
      : Array.from(
          { length: Math.max(1, arity) },
          (_, index): Column<StoredFact> => ({
            id: `argument-${index}`,
            title: arity === 0 ? 'No arguments' : `Argument ${index + 1}`,
            width: 132,
            grow: 1,
            ...(index === 0 ? { sort: sortBy(order, 'predicate') } : {}),
            cell: (fact) => (
              <span className="mono" title={fact.args[index]}>
                {fact.args[index] ?? ''}
              </span>
            ),
          }),
        );
  return [
    ...what,
    {
      id: 'scope',
      title: 'Scope',
      width: 100,
      cell: (fact) => (fact.scope === null ? <span className="dim">none</span> : fact.scope),
    },
    { id: 'truth', title: 'Truth', width: 78, cell: (fact) => <Truth value={fact.truthVal} /> },
    {
      id: 'salience',
      title: 'Salience',
      width: 112,
      sort: sortBy(order, 'salience'),
      cell: (fact) => <Meter value={fact.salience} />,
    },
    {
      id: 'validity',
      title: 'Valid',
      width: 170,
      sort: sortBy(order, 'validUntil'),
      cell: (fact) => <Validity fact={fact} now={now} />,
    },
    { id: 'origin', title: 'Origin', width: 92, cell: (fact) => <Origin derived={fact.derived} /> },
    {
      id: 'updated',
      title: 'Updated',
      width: 120,
      sort: sortBy(order, 'updatedAt'),
      cell: (fact) => (
        <span className="dim" title={formatTime(fact.updatedAt)}>
          {formatRelative(fact.updatedAt, now)}
        </span>
      ),
    },
  ];
}
