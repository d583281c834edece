/** Progress of a running task, and the note after a cancel. */
import { Button, Loader } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { formatDuration } from './format.ts';

/** Shows how long a task has run, once noticeable. `since` is a `performance.now()` value. */
export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return now - since < 300 ? null : <span className="dim number">{formatDuration(now - since)}</span>;
}

/** Shows a running task in place of its result. */
export function Running({ what, since, onCancel }: { what: string; since: number; onCancel: () => void }) {
  return (
    <div className="flex-row gap-8 padded">
      <Loader size={18} aria-hidden />
      {/* Screen readers do not announce the elapsed time. */}
      <span role="status">{what}</span>
      <Elapsed since={since} />
      <Button size="compact-xs" variant="default" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}

/** Shows elapsed time and cancel in a pane's bar. */
export function RunningActions({ since, onCancel }: { since: number; onCancel: () => void }) {
  return (
    <>
      <Elapsed since={since} />
      <Button
        color="red"
        variant="light"
        leftSection={<IconPlayerStop size={14} aria-hidden />}
        onClick={onCancel}
      >
        Cancel
      </Button>
    </>
  );
}

/** Shows after how many milliseconds a task was cancelled. */
export function CancelledNote({ after }: { after: number }) {
  return (
    <span role="status" className="dim">
      Cancelled after {formatDuration(after)}
    </span>
  );
}
