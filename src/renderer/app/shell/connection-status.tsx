/** The state of the connection: always in the title bar, and above the view when the connection is lost. */
import { Button } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import type { StreamState } from '../../api/event-stream.ts';
import { useLive } from '../../api/live.ts';
import { useSecondsUntil } from '../../ui/use-seconds-until.ts';
import { lazyComponent } from '../../ui/later.tsx';
import { OpenedLater } from '../../ui/opened-later.tsx';
import styles from './shell.module.css';
import { StatusButton } from './status-button.tsx';

const fetchPopover = () => import('./service-popover.tsx');
const ServicePopover = lazyComponent(async () => (await fetchPopover()).ServicePopover);

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
