/** How the connection to the service stands: in the title bar at all times, over the view when it is lost. */
import { Button, Popover, UnstyledButton } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import type { StreamState } from '../../api/event-stream.ts';
import { useLive } from '../../api/live.ts';
import { useHealth } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import { useSecondsUntil } from '../../ui/use-seconds-until.ts';
import styles from './shell.module.css';

function stateLabel(stream: StreamState): string {
  if (stream.kind === 'live') return 'Live';
  if (stream.kind === 'refused') return 'Not signed in';
  return stream.kind === 'connecting' ? 'Connecting' : 'Not connected';
}

export function ConnectionStatus() {
  const stream = useLive((state) => state.stream);
  const generation = useLive((state) => state.generation);
  const { endpoint } = useSession();
  const health = useHealth().data;
  const label = stateLabel(stream);
  return (
    <Popover position="bottom-end" width={340}>
      <Popover.Target>
        <UnstyledButton className={styles.status} data-state={stream.kind}>
          <span className={styles.dot} data-state={stream.kind} aria-hidden />
          <span role="status">{label}</span>
          {generation !== null && generation > 0 && (
            <span className="dim number">generation {formatCount(generation)}</span>
          )}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <dl className={styles.facts}>
          <dt>Service</dt>
          <dd>
            <code className="mono">{endpoint.origin}</code>
            <CopyButton text={endpoint.origin} label="Copy the address" />
          </dd>
          <dt>For agents</dt>
          <dd>
            <code className="mono">{endpoint.origin}/mcp</code>
            <CopyButton text={`${endpoint.origin}/mcp`} label="Copy the MCP address" />
          </dd>
          <dt>Version</dt>
          <dd>{health?.version ?? 'unknown'}</dd>
          <dt>Up for</dt>
          <dd>{health === undefined ? 'unknown' : formatDuration(health.uptimeMs)}</dd>
          <dt>Changes</dt>
          <dd>{label}</dd>
        </dl>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Says that the service is away, why, and when it is tried again. */
export function ConnectionBanner({ onRetry }: { onRetry: () => void }) {
  const stream = useLive((state) => state.stream);
  const [lost, setLost] = useState<Extract<StreamState, { kind: 'waiting' }> | null>(null);
  const seconds = useSecondsUntil(stream.kind === 'waiting' ? stream.retryAt : null);
  // While an attempt is under way the banner stays, so that it does not blink.
  useEffect(() => {
    if (stream.kind === 'waiting') setLost(stream);
    else if (stream.kind !== 'connecting') setLost(null);
  }, [stream]);
  if (lost === null) return null;
  return (
    <div className={styles.lost} role="alert">
      <IconPlugConnectedX size={17} aria-hidden />
      <span>
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
