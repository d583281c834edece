import { ActionIcon, Menu } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { useRef } from 'react';
import { useOpenAtOnce } from '../../ui/use-open-at-once.ts';
import { type ChoosableColumn, choosableColumns, chooseColumns, useColumnChoice } from './column-choice.ts';

interface ColumnMenuProps {
  predicate: string | undefined;
  shown: readonly ChoosableColumn[];
}

/** Chooses the columns of the grid, kept for each predicate. */
export function ColumnMenu({ predicate, shown }: ColumnMenuProps) {
  const choice = useColumnChoice(predicate);
  const isChosen = Object.keys(choice).length > 0;
  const target = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useOpenAtOnce(target);
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position="bottom-end" width={220} closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon ref={target} aria-label="Choose the columns" title="Columns">
          <IconColumns3 size={17} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Columns{predicate === undefined ? '' : ` of ${predicate}`}</Menu.Label>
        {Object.entries(choosableColumns).map(([key, title]) => {
          const id = key as ChoosableColumn;
          const isShown = shown.includes(id);
          return (
            <Menu.CheckboxItem
              key={id}
              checked={isShown}
              onChange={() => chooseColumns(predicate, { ...choice, [id]: !isShown })}
            >
              {title}
            </Menu.CheckboxItem>
          );
        })}
        <Menu.Divider />
        <Menu.Item disabled={!isChosen} onClick={() => chooseColumns(predicate, {})}>
          Where rows differ
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
