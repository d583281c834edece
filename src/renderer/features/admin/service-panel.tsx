/** The service as a whole: its storage with a snapshot on demand, and its metrics as plain numbers. */
import { Button } from '@mantine/core';
import { IconCamera } from '@tabler/icons-react';
import type { SnapshotTaken } from '../../../engine/contract/administration.ts';
import { failureOf } from '../../api/problem.ts';
import { formatBytes, formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './admin.module.css';
import type { Sample } from './prometheus.ts';
import { logReadingsOf, type Reading, readingsOf, storageTakesWrites } from './readings.ts';
import { useAdminWrite } from './rights.ts';
import type { MetricsNow } from './use-history.ts';

function Readings({ readings }: { readings: readonly Reading[] }) {
  return (
    <dl className={styles.readings}>
      {readings.map(({ label, value, hint }) => (
        <div key={label} title={hint}>
          <dt>{label}</dt>
          <dd className="number">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Taken({ taken, at }: { taken: SnapshotTaken; at: number }) {
  const { position, bytes, elapsedMs } = taken;
  return (
    <div className={styles.taken} role="status">
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

function Snapshot() {
  const { mutate, isPending, data, error, submittedAt } = useAdminWrite('takeSnapshot', []);
  return (
    <>
      {data !== undefined && <Taken taken={data} at={submittedAt} />}
      {error !== null && <ProblemNotice failure={failureOf(error)} />}
      <div>
        <Button
          variant="default"
          leftSection={<IconCamera size={14} aria-hidden />}
          loading={isPending}
          onClick={() => mutate({})}
        >
          Snapshot now
        </Button>
      </div>
      <p className={styles.hint}>
        A snapshot is also taken every so often and when the service ends. A start reads the newest one, and
        only the log after it.
      </p>
    </>
  );
}

function Storage({ samples, isAdministered }: { samples: readonly Sample[]; isAdministered: boolean }) {
  const takesWrites = storageTakesWrites(samples);
  return (
    <section className={styles.group} aria-labelledby="admin-storage">
      <div className={styles.groupTitle}>
        <h3 id="admin-storage">Storage</h3>
        {takesWrites === true && <Tag tone="good">takes writes</Tag>}
        {takesWrites === false && <Tag tone="bad">takes no writes</Tag>}
      </div>
      <Readings readings={logReadingsOf(samples)} />
      {isAdministered && <Snapshot />}
    </section>
  );
}

function Groups({ samples }: { samples: readonly Sample[] }) {
  return readingsOf(samples).map(({ title, readings }) => (
    <section key={title} className={styles.group} aria-label={title}>
      <h3>{title}</h3>
      <Readings readings={readings} />
    </section>
  ));
}

interface ServicePanelProps {
  metrics: MetricsNow;
  isAdministered: boolean;
}

export function ServicePanel({ metrics, isAdministered }: ServicePanelProps) {
  const { samples, error } = metrics;
  return (
    <PaneFrame tone="panel" label="Service" title="Service">
      <Storage samples={samples ?? []} isAdministered={isAdministered} />
      {error === null && samples !== null && <Groups samples={samples} />}
    </PaneFrame>
  );
}
