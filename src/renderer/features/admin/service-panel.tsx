/** The service as a whole: its storage, and its metrics as plain numbers. */
import { PaneFrame } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './admin.module.css';
import type { Sample } from './prometheus.ts';
import { logReadingsOf, readingsOf, storageTakesWrites } from './readings.ts';
import { Readings } from './reading-list.tsx';
import { StoragePart } from './storage-part.tsx';
import type { MetricsNow } from './use-history.ts';

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
      {isAdministered && <StoragePart />}
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
