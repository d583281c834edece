/** The side pane about one thing that a list has open, with the button that closes it. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { PaneFrame } from './pane.tsx';

interface DetailPaneProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

export function DetailPane({ title, onClose, children }: DetailPaneProps) {
  return (
    <PaneFrame
      title={title}
      tone="panel"
      label="Detail"
      actions={
        <Tooltip label="Close">
          <ActionIcon aria-label="Close the detail" onClick={onClose}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      }
    >
      {children}
    </PaneFrame>
  );
}
