import { ActionIcon, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

interface RowActionProps {
  label: string;
  icon: ReactNode;
  onClick: () => void;
}

/** Shows a mouse-only button in a grid row; by keyboard the same acts on the row. It does not select the row. */
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
