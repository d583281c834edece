/** The menu of a row and of the cell it was opened on. */
import {
  IconCircleDot,
  IconCopy,
  IconFilter,
  IconFlask,
  IconListDetails,
  IconListSearch,
  IconMinus,
  IconPencil,
  IconRestore,
  IconRoute,
  IconTrash,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import { argumentVariables, type PredicateRow } from '../../api/declared.ts';
import { usePredicates } from '../../api/queries.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { useOpenEntity } from '../../ui/knowledge-links.tsx';
import { copyText } from '../../ui/notify.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { RowMenu, type RowMenuGroups, type RowMenuItem, type RowMenuProps } from '../../ui/row-menu.tsx';
import { cellKindOf, cellText } from './cell-kinds.ts';
import type { FactsSearch } from './facts-search.ts';
import { renderFact } from './render-fact.ts';
import { type RowsFormat, rowsFormats, textOfRows } from './rows-text.ts';
import { type FactGridRow, removeRow, revertRow } from './staged-rows.ts';
import type { FactContent } from './staged-edits.ts';
import type { Staging } from './use-staging.ts';

interface MenuContext {
  readonly staging: Staging;
  readonly onSearch: (part: Partial<FactsSearch>) => void;
  readonly onChoose: (row: FactGridRow) => void;
  readonly onForm: (row: FactGridRow) => void;
  readonly onRetract: (fact: StoredFact) => void;
  readonly rowAt: (index: number) => FactGridRow | undefined;
  /** Opens the editor of a cell. */
  readonly begin: (index: number, column: string) => void;
  /** Why editing is not allowed; null: it is. */
  readonly reason: string | null;
}

const icon = { size: 15, stroke: 1.6, 'aria-hidden': true } as const;
const copied: readonly RowsFormat[] = ['tsv', 'json', 'statements'];

async function copy(text: string, what: string): Promise<void> {
  if (await copyText(text)) notifyDone(`Copied ${what}`);
}

/** A question with the constant of one argument, or none, and variables elsewhere. */
function questionAbout(
  { predicate, args, truthVal }: FactContent,
  index: number | null,
  rows: readonly PredicateRow[] | undefined,
): string {
  const variables = argumentVariables(rows, predicate, args.length);
  const asked = args.map((arg, at) => (at === index ? arg : (variables[at] as string)));
  return renderAtom({ predicate, args: asked, negated: !truthVal });
}

function shortened(text: string): string {
  return text.length > 30 ? `${text.slice(0, 29)}…` : text;
}

/** The items for a cell: open its entity, copy its value, filter by it, ask about it. */
function useCellItems({ onSearch }: MenuContext): (row: FactGridRow, column: string) => RowMenuItem[] {
  const navigate = useNavigate();
  const openEntity = useOpenEntity();
  const rows = usePredicates().data;
  return ({ fact }, column) => {
    const cell = cellKindOf(column);
    if (cell === null || cell.kind === 'form') return [];
    const text = cellText(fact, cell);
    const index = cell.kind === 'argument' ? cell.index : null;
    if (index !== null && index >= fact.args.length) return [];
    const ask: RowMenuItem = {
      label: index === null ? `Ask about ${shortened(fact.predicate)}` : `Ask about ${shortened(text)}`,
      icon: <IconListSearch {...icon} />,
      onClick: () => void navigate({ to: '/ask', search: { question: questionAbout(fact, index, rows) } }),
    };
    const entities = [...new Set(index === null ? fact.args : [text])].map((constant) => ({
      label: `Open ${shortened(constant)}`,
      icon: <IconCircleDot {...icon} />,
      onClick: () => openEntity(constant),
    }));
    if (cell.kind === 'fact') return [...entities, ask];
    const filter =
      cell.kind === 'truth' ? ({ truth: fact.truthVal ? 'true' : 'false' } as const) : { q: text };
    return [
      ...(index === null ? [] : entities),
      { label: 'Copy the value', icon: <IconCopy {...icon} />, onClick: () => void copy(text, 'the value') },
      ...(cell.kind === 'scope'
        ? []
        : [
            {
              label: `Filter by ${shortened(text)}`,
              icon: <IconFilter {...icon} />,
              onClick: () => onSearch(filter),
            },
          ]),
      ...(index === null ? [] : [ask]),
    ];
  };
}

function editItems(context: MenuContext, row: FactGridRow, index: number, column: string): RowMenuItem[] {
  const { staging, onForm, onRetract, begin, reason } = context;
  const { stored, edit } = row;
  if (stored?.derived === true) return [];
  const kind = cellKindOf(column)?.kind;
  const isCell = kind !== undefined && kind !== 'form';
  return [
    ...(isCell
      ? [
          {
            label: 'Edit the cell',
            icon: <IconPencil {...icon} />,
            keys: 'F2',
            reason,
            // The closing menu restores the focus; the editor takes it afterwards.
            onClick: () => void setTimeout(() => begin(index, column)),
          },
        ]
      : []),
    { label: 'Edit all fields…', icon: <IconPencil {...icon} />, reason, onClick: () => onForm(row) },
    ...(edit === null
      ? []
      : [
          {
            label: 'Revert the staged edit',
            icon: <IconRestore {...icon} />,
            keys: 'R',
            onClick: () => revertRow(staging, row),
          },
        ]),
    {
      label: edit?.kind === 'added' ? 'Do not add' : 'Mark removed',
      icon: <IconMinus {...icon} />,
      keys: 'Delete',
      reason,
      onClick: () => removeRow(staging, row),
    },
    ...(stored === null
      ? []
      : [
          {
            label: 'Retract…',
            icon: <IconTrash {...icon} />,
            isDangerous: true as const,
            reason,
            onClick: () => onRetract(stored),
          },
        ]),
  ];
}

/** The items of a row: explanations, cell items, copies, and edits. */
function useFactItems(context: MenuContext): (index: number, column: string) => RowMenuGroups {
  const navigate = useNavigate();
  const cellItems = useCellItems(context);
  return (index, column) => {
    const row = context.rowAt(index);
    if (row === undefined) return [];
    const { fact, stored } = row;
    const statement = renderFact(fact);
    const why: RowMenuItem[] = [
      {
        label: 'Why',
        icon: <IconRoute {...icon} />,
        onClick: () => void navigate({ to: '/proof', search: { question: statement } }),
      },
      ...(stored?.derived === false
        ? [
            {
              label: 'What if it were not true',
              icon: <IconFlask {...icon} />,
              onClick: () => void navigate({ to: '/what-if', search: { retract: `${statement}.` } }),
            },
          ]
        : []),
      {
        label: 'Show what depends on it',
        icon: <IconListDetails {...icon} />,
        onClick: () => context.onChoose(row),
      },
    ];
    return [
      stored === null ? [] : why,
      cellItems(row, column),
      copied.map((format) => ({
        label: `Copy as ${rowsFormats[format].label}`,
        icon: <IconCopy {...icon} />,
        ...(format === 'tsv' ? { keys: 'Mod+C' } : {}),
        onClick: () => void copy(textOfRows([fact], format), `as ${rowsFormats[format].label}`),
      })),
      editItems(context, row, index, column),
    ];
  };
}

interface FactMenuProps extends Omit<RowMenuProps, 'groups'> {
  context: MenuContext;
  index: number;
  column: string;
}

/** Shows the menu of a row. */
export function FactMenu({ context, index, column, ...shown }: FactMenuProps) {
  const itemsOf = useFactItems(context);
  const groups = itemsOf(index, column);
  return groups.length === 0 ? null : <RowMenu {...shown} groups={groups} />;
}
