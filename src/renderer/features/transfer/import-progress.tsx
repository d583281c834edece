/** Progress of an import or check: share, rate, time left, cancel. */
import { Button } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { formatBytes, formatCount } from '../../ui/format.ts';
import type { ImportState } from './import-run.ts';
import type { ImportEntry } from './transfer-state.ts';
import { cancel } from './transfer-store.ts';
import styles from './transfer.module.css';

/** The progress. */
interface Progress {
  /** 0 to 1; null if unknown. */
  readonly share: number | null;
  /** Bytes per second; null until measurable. */
  readonly bytesPerSecond: number | null;
  /** Milliseconds; null if unknown. */
  readonly leftMs: number | null;
}

/** Returns true once all bytes are sent and the service processes the rest. */
export function isAllSent(state: Extract<ImportState, { kind: 'sending' }>): boolean {
  return state.bytes >= state.total;
}

/** Returns the progress. `total`: size of the file in bytes, for its conversion. */
export function progressOf(state: ImportState, total: number, now: number): Progress {
  if (state.kind === 'preparing')
    return {
      share: total === 0 ? null : Math.min(1, state.bytes / total),
      bytesPerSecond: null,
      leftMs: null,
    };
  if (state.kind !== 'sending') return { share: null, bytesPerSecond: null, leftMs: null };
  const elapsed = now - state.since;
  const share = state.total === 0 ? 1 : Math.min(1, state.bytes / state.total);
  // The first bytes only fill the connection's buffers and say nothing about the rate.
  if (elapsed < 1_000 || state.bytes === 0) return { share, bytesPerSecond: null, leftMs: null };
  const bytesPerSecond = state.bytes / (elapsed / 1_000);
  const leftMs = isAllSent(state) ? null : ((state.total - state.bytes) / bytesPerSecond) * 1_000;
  return { share, bytesPerSecond, leftMs };
}

/** Returns `about 3 min left`. */
export function writtenLeft(leftMs: number): string {
  const seconds = Math.ceil(leftMs / 1_000);
  if (seconds < 60) return `about ${seconds} s left`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `about ${minutes} min left` : `about ${(minutes / 60).toFixed(1)} h left`;
}

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
      <div className={`number small-print flex-wrap spread flex ${styles.figures}`}>
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
