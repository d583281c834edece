/** The state of the connection: always in the title bar, and above the view when the connection is lost. */
import { Button, UnstyledButton } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { type ComponentPropsWithRef, useEffect, useState } from 'react';
import type { StreamState } from '../../api/event-stream.ts';
import { useLive } from '../../api/live.ts';
import { formatCount } from '../../ui/format.ts';
import { useSecondsUntil } from '../../ui/use-seconds-until.ts';
import { lazyComponent } from '../../ui/later.tsx';
import { OpenedLater } from '../../ui/opened-later.tsx';
import styles from './shell.module.css';

const fetchPopover = () => import('./service-popover.tsx');
const ServicePopover = lazyComponent(async () => (await fetchPopover()).ServicePopover);

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

/** Shows the connection state, with the service's addresses and version on demand. */
export function ConnectionStatus() {
  return (
    <OpenedLater button={<StatusButton aria-haspopup="dialog" aria-expanded={false} />} fetch={fetchPopover}>
      <ServicePopover />
    </OpenedLater>
  );
}

/** Shows that the service is unreachable, why, and when the next retry runs. */
export function ConnectionBanner({ onRetry }: { onRetry: () => void }) {
  const stream = useLive((state) => state.stream);
  const [lost, setLost] = useState<Extract<StreamState, { kind: 'waiting' }> | null>(null);
  const seconds = useSecondsUntil(stream.kind === 'waiting' ? stream.retryAt : null);
  // The banner stays during a retry, so that it does not blink.
  useEffect(() => {
    if (stream.kind === 'waiting') setLost(stream);
    else if (stream.kind !== 'connecting') setLost(null);
  }, [stream]);
  if (lost === null) return null;
  return (
    <div className={`flex-row gap-8 ${styles.lost}`}>
      <IconPlugConnectedX size={17} aria-hidden />
      {/* Screen readers do not announce the countdown. */}
      <span role="alert">
        <strong>{lost.failure.title}.</strong>{' '}
        {lost.failure.code === 'Unreachable'
          ? 'What is shown may be out of date; what you typed is kept.'
          : lost.failure.detail}
      </span>
      <span className={styles.lostWhen}>
        {stream.kind === 'waiting' ? `Trying again in ${seconds} s` : 'Trying again…'}
      </span>
      <Button size="compact-xs" variant="default" onClick={onRetry}>
        Try now
      </Button>
    </div>
  );
}
