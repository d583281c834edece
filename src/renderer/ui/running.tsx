/** Work that is under way: for how long, and the way to end it; and what is said after it was ended. */
import { Button, Loader } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { formatDuration } from './format.ts';
import styles from './notices.module.css';

/** How long work has been running, once that is noticeable. `since`: a reading of `performance.now()`. */
export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return now - since < 300 ? null : <span className="dim number">{formatDuration(now - since)}</span>;
}

/** In place of a result that is being worked out. */
export function Running({ what, since, onCancel }: { what: string; since: number; onCancel: () => void }) {
  return (
    <div className={styles.running}>
      <Loader size={18} aria-hidden />
      {/* The time that passes is not said aloud. */}
      <span role="status">{what}</span>
      <Elapsed since={since} />
      <Button size="compact-xs" variant="default" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}

/** In the bar of a pane: the time that passes and a cancel. */
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

/** How long work ran before it was cancelled, in milliseconds. */
export function CancelledNote({ after }: { after: number }) {
  return (
    <span role="status" className="dim">
      Cancelled after {formatDuration(after)}
    </span>
  );
}
