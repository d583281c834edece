/** An action that is not to be had, with the reason: it looks so, says why to pointer and keyboard, and does nothing. */
import { Tooltip } from '@mantine/core';
import { cloneElement, type MouseEvent, type ReactElement } from 'react';

interface Action {
  onClick?: ((event: MouseEvent<HTMLButtonElement>) => void) | undefined;
  disabled?: boolean | undefined;
  'aria-disabled'?: boolean;
  'data-disabled'?: boolean;
}

interface GuardedProps {
  /** A sentence; null: the action is as it stands. */
  reason: string | null;
  /** A button of Mantine's. */
  children: ReactElement<Action>;
}

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
