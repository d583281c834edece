/** Buttons of operations that the user may not be allowed to perform. */
import { cloneElement, type ComponentProps, type MouseEvent, type ReactElement } from 'react';
import type { OperationName } from '../../engine/contract/operations.ts';
import { useReason } from './rights.ts';
import { Tooltip } from '../ui/tooltip.tsx';

type PermittedProps = Omit<ComponentProps<typeof Guarded>, 'reason'> & { operation: OperationName };

/** Shows the button of an operation; if the current user may not perform it, the button explains why instead. */
export function Permitted({ operation, children }: PermittedProps) {
  return <Guarded reason={useReason(operation)}>{children}</Guarded>;
}

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
    <Tooltip label={reason} maxWidth={300} isReason>
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
