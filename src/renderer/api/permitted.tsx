import type { ComponentProps } from 'react';
import type { OperationName } from '../../engine/contract/operations.ts';
import { Guarded } from '../ui/guarded.tsx';
import { useReason } from './rights.ts';

type PermittedProps = Omit<ComponentProps<typeof Guarded>, 'reason'> & { operation: OperationName };

/** Shows the button of an operation; if the current user may not perform it, the button explains why instead. */
export function Permitted({ operation, children }: PermittedProps) {
  return <Guarded reason={useReason(operation)}>{children}</Guarded>;
}
