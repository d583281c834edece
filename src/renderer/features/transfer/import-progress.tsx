/** Progress of an import or check: share, rate, time left, cancel. */
import { Button } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { formatBytes, formatCount } from '../../ui/format.ts';
import type { ImportState } from './import-run.ts';
import { isAllSent, progressOf, writtenLeft } from './progress.ts';
import { cancel, type ImportEntry } from './transfer-store.ts';
import styles from './transfer.module.css';

function useNow(): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 500);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Returns the current phase in words. */
export function phaseOf(state: ImportState, isDryRun: boolean): string {
  if (state.kind === 'preparing') return 'Reading the columns';
  if (state.kind === 'stopping') return 'Cancelling, and looking what is stored';
  if (state.kind !== 'sending') return '';
  if (isAllSent(state)) return isDryRun ? 'Checking what was sent' : 'Storing what was sent';
  return isDryRun ? 'Sending the file to be checked' : 'Importing';
}

/** Shows a progress bar; without a share it is indeterminate. */
export function ProgressBar({ label, share }: { label: string; share: number | null }) {
  return (
    <div
      className={styles.track}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(share === null ? {} : { 'aria-valuenow': Math.floor(share * 100) })}
    >
      <div
        className={`${styles.fill} ${share === null ? styles.unknown : ''}`}
        style={share === null ? {} : { width: `${share * 100}%` }}
      />
    </div>
  );
}

/** Shows the progress of an import. */
export function ImportProgressView({ entry }: { entry: ImportEntry }) {
  const { state, plan, number } = entry;
  const { share, bytesPerSecond, leftMs } = progressOf(state, plan.file.size, useNow());
  const phase = phaseOf(state, plan.isDryRun);
  // The last bytes are accepted long before the last fact is stored.
  const shown = state.kind === 'sending' && isAllSent(state) ? null : share;
  const told = state.kind === 'sending' ? state.progress : null;
  return (
    <div className={styles.outcome}>
      <div className="flex-row spread gap-8">
        <h3 role="status">{phase}…</h3>
        <Button
          color="red"
          variant="light"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          disabled={state.kind === 'stopping'}
          onClick={() => cancel(number)}
        >
          Cancel
        </Button>
      </div>
      <ProgressBar label={phase} share={shown} />
      <div className={`number ${styles.figures}`}>
        <span>
          {state.kind === 'sending' && `${formatBytes(state.bytes)} of ${formatBytes(state.total)}`}
          {state.kind === 'preparing' && `${formatBytes(state.bytes)} of ${formatBytes(plan.file.size)}`}
          {bytesPerSecond !== null && ` · ${formatBytes(bytesPerSecond)}/s`}
        </span>
        {leftMs !== null && <span>{writtenLeft(leftMs)}</span>}
        {told !== null && (
          <span>
            {`${formatCount(told.processed)} rows read, ${formatCount(told.asserted)} asserted, ${formatCount(told.failed)} failed`}
          </span>
        )}
      </div>
    </div>
  );
}
