/** What can be done with one answer, as the menu of its row. */
import { IconCopy, IconListSearch, IconRoute } from '@tabler/icons-react';
import { copyText } from '../../ui/copy-text.ts';
import { notifyDone } from '../../ui/notify.tsx';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import type { ShownAnswer } from './answer.ts';

const icon = { size: 15, stroke: 1.6, 'aria-hidden': true } as const;

interface MenuActions {
  readonly onWhy: (result: string) => void;
  readonly onAsk: (question: string) => void;
}

async function copy(text: string, what: string): Promise<void> {
  if (await copyText(text)) notifyDone(`Copied ${what}`);
}

/** `column`: the variable of the cell that was pointed at, or another column's id. */
export function answerMenu(
  { question, results, bindings }: ShownAnswer,
  index: number,
  column: string,
  { onWhy, onAsk }: MenuActions,
): RowMenuGroups {
  const result = results[index];
  const row = bindings[index] ?? {};
  if (result === undefined) return [];
  const value = row[column];
  const fields = question.variables.map((name) => (row[name] ?? '').replace(/[\t\r\n]+/g, ' '));
  return [
    [{ label: 'Why', icon: <IconRoute {...icon} />, keys: 'Enter', onClick: () => onWhy(result) }],
    [
      ...(value === undefined
        ? []
        : [
            {
              label: 'Copy the value',
              icon: <IconCopy {...icon} />,
              onClick: () => void copy(value, 'the value'),
            },
          ]),
      {
        label: 'Copy as TSV',
        icon: <IconCopy {...icon} />,
        onClick: () => void copy(fields.length === 0 ? result : fields.join('\t'), 'as TSV'),
      },
      {
        label: 'Copy as JSON',
        icon: <IconCopy {...icon} />,
        onClick: () => void copy(JSON.stringify(fields.length === 0 ? result : row), 'as JSON'),
      },
      {
        label: 'Copy as a statement',
        icon: <IconCopy {...icon} />,
        onClick: () => void copy(`${result}.`, 'as a statement'),
      },
    ],
    [{ label: 'Ask whether this holds', icon: <IconListSearch {...icon} />, onClick: () => onAsk(result) }],
  ];
}
