import { ActionIcon } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import type { ColumnMenuProps } from './column-choice.ts';
import { lazyComponent } from './later.tsx';
import { OpenedLater } from './opened-later.tsx';

const fetchMenu = () => import('./column-menu.tsx');
const ColumnMenu = lazyComponent(async () => (await fetchMenu()).ColumnMenu);

/** The button that opens the choice of columns. */
export function ChooseColumns(props: ColumnMenuProps) {
  return (
    <OpenedLater
      button={
        <ActionIcon aria-label="Choose the columns" aria-haspopup="menu" title="Columns">
          <IconColumns3 size={17} stroke={1.6} aria-hidden />
        </ActionIcon>
      }
      fetch={fetchMenu}
    >
      <ColumnMenu {...props} />
    </OpenedLater>
  );
}
