import { ActionIcon, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

interface RowActionProps {
  label: string;
  icon: ReactNode;
  onClick: () => void;
}

/** A button in a row of a grid, for the mouse: the keyboard acts on the row, which the button does not choose. */
export function RowAction({ label, icon, onClick }: RowActionProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        size={24}
        tabIndex={-1}
        aria-label={label}
        onClick={(event) => {
          event.stopPropagation();
          onClick();
        }}
        onDoubleClick={(event) => event.stopPropagation()}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
