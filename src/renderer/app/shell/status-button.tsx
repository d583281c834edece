import { UnstyledButton } from '@mantine/core';
import type { ComponentPropsWithRef } from 'react';
import type { StreamState } from '../../api/event-stream.ts';
import { useLive } from '../../api/live.ts';
import { formatCount } from '../../ui/format.ts';
import styles from './shell.module.css';

/** The state of the connection in words. */
export function stateLabel(stream: StreamState): string {
  if (stream.kind === 'live') return 'Live';
  if (stream.kind === 'refused') return 'Not signed in';
  return stream.kind === 'connecting' ? 'Connecting' : 'Not connected';
}

/** Shows the connection state and the generation. */
export function StatusButton({ className = '', ...props }: ComponentPropsWithRef<'button'>) {
  const stream = useLive((state) => state.stream);
  const generation = useLive((state) => state.generation);
  const label = stateLabel(stream);
  const shown = generation === null || generation === 0 ? null : `generation ${formatCount(generation)}`;
  return (
    <UnstyledButton
      data-state={stream.kind}
      aria-label={`Service: ${label}${shown === null ? '' : ` ${shown}`}`}
      {...props}
      className={`flex-row gap-8 ${styles.status} ${className}`}
    >
      <span className={styles.dot} data-state={stream.kind} aria-hidden />
      <span role="status" className={styles.statusWords}>
        {label}
      </span>
      {shown !== null && <span className={`dim number ${styles.statusWords}`}>{shown}</span>}
    </UnstyledButton>
  );
}
