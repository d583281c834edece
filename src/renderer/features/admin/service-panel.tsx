/**
 * The service as a whole: its storage, with a snapshot and a backup on demand, and its metrics as plain
 * numbers.
 */
import { Button, Progress } from '@mantine/core';
import { IconCamera, IconDownload, IconPlayerStop } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { SnapshotTaken, StorageState } from '../../../engine/contract/administration.ts';
import { addressOf } from '../../api/client.ts';
import { type ApiFailure, apiFailureOf, isCancelled } from '../../api/problem.ts';
import { useStorageState } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import { chooseSink, saveAnswer } from '../../api/save-answer.ts';
import { useSession } from '../../api/session.tsx';
import { formatBytes, formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './admin.module.css';
import { metricsEveryMs, type MetricsNow } from './history.ts';
import {
  type LabelledValue,
  logReadingsOf,
  type MetricSample,
  readingsOf,
  storageTakesWrites,
} from './prometheus.ts';
import { useAdminWrite } from './rights.ts';

function Storage({ samples, isAdministered }: { samples: readonly MetricSample[]; isAdministered: boolean }) {
  const takesWrites = storageTakesWrites(samples);
  return (
    <section className={`flex-column gap-8 ${styles.group}`} aria-labelledby="admin-storage">
      <div className="flex-row spread gap-8">
        <h3 id="admin-storage" className="label-title">
          Storage
        </h3>
        {takesWrites === true && <Tag tone="good">takes writes</Tag>}
        {takesWrites === false && <Tag tone="bad">takes no writes</Tag>}
      </div>
      <Readings readings={logReadingsOf(samples)} />
      {isAdministered && <StoragePart />}
    </section>
  );
}

function Groups({ samples }: { samples: readonly MetricSample[] }) {
  return readingsOf(samples).map(({ title, readings }) => (
    <section key={title} className={`flex-column gap-8 ${styles.group}`} aria-label={title}>
      <h3 className="label-title">{title}</h3>
      <Readings readings={readings} />
    </section>
  ));
}

interface ServicePanelProps {
  metrics: MetricsNow;
  isAdministered: boolean;
}

/** The panel of the service, beside the dashboard. */
export function ServicePanel({ metrics, isAdministered }: ServicePanelProps) {
  const { samples, error } = metrics;
  return (
    <PaneFrame tone="panel" label="Service" title="Service">
      <Storage samples={samples ?? []} isAdministered={isAdministered} />
      {error === null && samples !== null && <Groups samples={samples} />}
    </PaneFrame>
  );
}

const syncing: Readonly<Record<StorageState['fsync'], string>> = {
  always: 'before every answer',
  interval: 'every 100 ms',
  never: 'left to the system',
};

function storageReadingsOf(state: StorageState): LabelledValue[] {
  const { place, position, log, snapshot, backup, fsync, parent, historyId } = state;
  const none = 'none yet';
  const branch = parent === null ? '' : `, branched off ${parent.historyId} at record ${parent.position}`;
  return [
    {
      label: 'Place',
      value: place ?? 'memory alone',
      isCode: place !== null,
      hint: state.node === null ? 'STORAGE_DIR' : 'STORE_URL',
    },
    { label: 'Last record', value: formatCount(position), hint: `Of the history ${historyId}${branch}` },
    { label: 'Log', value: formatBytes(log.bytes), hint: 'On disk, since the last snapshot' },
    { label: 'Segments', value: formatCount(log.segments), hint: 'Files of the log' },
    { label: 'Files', value: state.encrypted ? 'encrypted' : 'not encrypted', hint: 'ENCRYPTION_KEY' },
    { label: 'Synced', value: syncing[fsync], hint: 'FSYNC' },
    {
      label: 'Last snapshot',
      value: snapshot === null ? none : formatTime(snapshot.createdAt),
      hint: snapshot === null ? '' : `Up to record ${snapshot.position}`,
    },
    { label: 'Its size', value: snapshot === null ? none : formatBytes(snapshot.bytes), hint: 'On disk' },
    {
      label: 'Last backup',
      value: backup === null ? none : formatTime(backup.takenAt),
      hint: backup === null ? 'Since the service was started' : `Up to record ${backup.position}`,
    },
  ];
}

function Taken({ taken, at }: { taken: SnapshotTaken; at: number }) {
  const { position, bytes, elapsedMs } = taken;
  return (
    <div className={`boxed padded-8 ${styles.taken}`} role="status">
      <h4>Snapshot taken</h4>
      <Readings
        readings={[
          { label: 'Up to record', value: formatCount(position) },
          { label: 'Size', value: formatBytes(bytes) },
          { label: 'Took', value: formatDuration(elapsedMs) },
          { label: 'At', value: formatTime(at) },
        ]}
      />
    </div>
  );
}

interface Saving {
  readonly bytes: number;
  readonly of: number | null;
}

const failures = {
  brokenOff: 'The backup broke off',
  tooLarge: 'Take the backup with Chrome or Edge, or with curl as the documentation shows.',
};
const backupType = { label: 'Backup', type: 'application/octet-stream', extension: 'backup' };

/** `corollary-2026-11-21.backup`, by the user's local date. */
function backupName(now: Date): string {
  const [year, month, day] = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  return `corollary-${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}.backup`;
}

/** Streams a backup to a file that the user chooses; a backup that fails or is stopped leaves no file. */
function useBackup(onDone: () => void) {
  const { endpoint } = useSession();
  const [saving, setSaving] = useState<Saving | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  async function start(): Promise<void> {
    setFailure(null);
    try {
      const { sink, name } = await chooseSink(backupName(new Date()), backupType);
      const controller = new AbortController();
      stop.current = controller;
      setSaving({ bytes: 0, of: null });
      const url = addressOf(endpoint, 'takeBackup', {});
      const onBytes = (bytes: number, of: number | null): void => setSaving({ bytes, of });
      const call = { url, method: 'POST' } as const;
      const size = await saveAnswer(endpoint, call, failures, sink, controller.signal, onBytes);
      notifyDone(`${name}: ${formatBytes(size)} saved`);
      onDone();
    } catch (error) {
      if (!isCancelled(error)) setFailure(apiFailureOf(error));
    } finally {
      setSaving(null);
    }
  }

  return { saving, failure, start, stop: () => stop.current?.abort() };
}

function SavingBar({ saving: { bytes, of }, onStop }: { saving: Saving; onStop: () => void }) {
  const words = of === null ? formatBytes(bytes) : `${formatBytes(bytes)} of ${formatBytes(of)}`;
  return (
    <div className={styles.saving}>
      <Progress
        value={of === null || of === 0 ? 0 : (bytes / of) * 100}
        aria-label="Backup"
        aria-valuetext={words}
      />
      <span className="number">{words}</span>
      <Button
        variant="default"
        size="compact-xs"
        leftSection={<IconPlayerStop size={12} aria-hidden />}
        onClick={onStop}
      >
        Stop
      </Button>
    </div>
  );
}

/** What the storage contains, and its actions; for users who may administer. */
function StoragePart() {
  const { data: state, error, refetch } = useStorageState(metricsEveryMs);
  const taking = useAdminWrite('takeSnapshot', []);
  const backup = useBackup(() => void refetch());
  const against = useReason('takeBackup', { database: null, tenant: null });
  const { data: taken, submittedAt } = taking;
  const failed = backup.failure ?? (taking.error === null ? null : apiFailureOf(taking.error));
  return (
    <>
      {state !== undefined && <Readings readings={storageReadingsOf(state)} />}
      {error !== null && state === undefined && <ProblemNotice failure={apiFailureOf(error)} />}
      {taken !== undefined && <Taken taken={taken} at={submittedAt} />}
      {failed !== null && <ProblemNotice failure={failed} />}
      <div className="flex-wrap flex gap-8">
        <Button
          variant="default"
          leftSection={<IconCamera size={14} aria-hidden />}
          loading={taking.isPending}
          onClick={() => taking.mutate({}, { onSuccess: () => void refetch() })}
        >
          Snapshot now
        </Button>
        <Button
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          disabled={backup.saving !== null || against !== null}
          title={against ?? undefined}
          onClick={() => void backup.start()}
        >
          Back up to a file…
        </Button>
      </div>
      {backup.saving !== null && <SavingBar saving={backup.saving} onStop={backup.stop} />}
      <p className={`small-print no-margin ${styles.hint}`}>
        The service also takes snapshots from time to time and when it stops: a start reads the newest one,
        and only the log after it. A backup contains everything, encrypted with the same key if the storage is
        encrypted; <code>corollary --restore FILE</code> puts it into an empty folder.
      </p>
    </>
  );
}

/** Labels with their values, one below the other. */
function Readings({ readings }: { readings: readonly LabelledValue[] }) {
  return (
    <dl className={styles.readings}>
      {readings.map(({ label, value, isCode = false, hint }) => (
        <div key={label} title={hint}>
          <dt>{label}</dt>
          <dd className={isCode ? 'mono' : 'number'}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
