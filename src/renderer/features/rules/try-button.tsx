import { Button, Tooltip } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';

interface TryButtonProps {
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}

/** Shows the button that toggles the Try panel. */
export function TryButton({ isOpen, onOpen }: TryButtonProps) {
  return (
    <Tooltip label="What it would add and take away, before it is saved">
      <Button
        variant={isOpen ? 'light' : 'default'}
        leftSection={<IconFlask size={14} aria-hidden />}
        aria-pressed={isOpen}
        onClick={() => onOpen(!isOpen)}
      >
        Try
      </Button>
    </Tooltip>
  );
}
