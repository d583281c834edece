/** A button for an operation: where that would be refused to the one who is signed in, it says so in its place. */
import type { ComponentProps } from 'react';
import type { OperationName } from '../../engine/contract/operations.ts';
import { Guarded } from '../ui/guarded.tsx';
import { useReason } from './rights.ts';

type PermittedProps = Omit<ComponentProps<typeof Guarded>, 'reason'> & { operation: OperationName };

export function Permitted({ operation, children }: PermittedProps) {
  return <Guarded reason={useReason(operation)}>{children}</Guarded>;
}
