import { ActionIcon, Menu } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import { useRef } from 'react';
import { chooseColumns, type ColumnMenuProps, useColumnChoice } from './column-choice.ts';
import { useOpenAtOnce } from './use-open-at-once.ts';

/** Chooses the columns of a table. */
export function ColumnMenu({ table, of, columns, shown, norm }: ColumnMenuProps) {
  const choice = useColumnChoice(table);
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
        <Menu.Label>Columns{of === undefined ? '' : ` of ${of}`}</Menu.Label>
        {Object.entries(columns).map(([id, title]) => {
          const isShown = shown.includes(id);
          return (
            <Menu.CheckboxItem
              key={id}
              checked={isShown}
              onChange={() => chooseColumns(table, { ...choice, [id]: !isShown })}
            >
              {title}
            </Menu.CheckboxItem>
          );
        })}
        <Menu.Divider />
        <Menu.Item disabled={!isChosen} onClick={() => chooseColumns(table, {})}>
          {norm}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
