import type { ReactNode } from 'react';
import styles from './pairs.module.css';

/** Shows names and values as a definition list of `dt` and `dd`. */
export function Pairs({ children }: { children: ReactNode }) {
  return <dl className={styles.pairs}>{children}</dl>;
}

/** Shows metadata as names and values, non-text values as JSON. */
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
