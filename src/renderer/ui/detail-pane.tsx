import { ActionIcon, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { PaneFrame } from './pane.tsx';

interface DetailPaneProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Shows the side pane of a list's open item, with a close button. */
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
