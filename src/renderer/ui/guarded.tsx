import { Tooltip } from '@mantine/core';
import { cloneElement, type MouseEvent, type ReactElement } from 'react';

interface Action {
  onClick?: ((event: MouseEvent<HTMLButtonElement>) => void) | undefined;
  disabled?: boolean | undefined;
  'aria-disabled'?: boolean;
  'data-disabled'?: boolean;
}

interface GuardedProps {
  /** A sentence; null if the action is available. */
  reason: string | null;
  /** A Mantine button. */
  children: ReactElement<Action>;
}

/** Shows an unavailable action: disabled in look and effect, with the reason for pointer and keyboard. */
export function Guarded({ reason, children }: GuardedProps) {
  if (reason === null) return children;
  return (
    <Tooltip
      label={reason}
      multiline
      maw={300}
      openDelay={150}
      events={{ hover: true, focus: true, touch: true }}
    >
      {cloneElement(children, {
        // It stays in the tab order, so that the reason can be read.
        disabled: false,
        'aria-disabled': true,
        'data-disabled': true,
        onClick: (event) => {
          event.preventDefault();
          event.stopPropagation();
        },
      })}
    </Tooltip>
  );
}
