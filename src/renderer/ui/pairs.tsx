/** Names with their values, as a list of definitions: `dt` and `dd` in turn. */
import type { ReactNode } from 'react';
import styles from './pairs.module.css';

export function Pairs({ children }: { children: ReactNode }) {
  return <dl className={styles.pairs}>{children}</dl>;
}

/** Metadata as pairs of their names and values, anything but text as JSON. */
export function MetadataPairs({ metadata }: { metadata: Readonly<Record<string, unknown>> }) {
  return (
    <Pairs>
      {Object.entries(metadata).map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </Pairs>
  );
}
