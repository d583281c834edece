/** Small marks: a word on a tint, a share of one as a bar with its number, a key of the keyboard. */
import type { ReactNode } from 'react';
import styles from './tags.module.css';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'derived' | 'computed';

export function Tag({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`${styles.tag} ${tone === 'plain' ? '' : styles[tone]}`}>{children}</span>;
}

/** A number from 0 to 1. */
export function Meter({ value }: { value: number }) {
  return (
    <span className={styles.meter}>
      <span className={styles.track} aria-hidden>
        <span className={styles.fill} style={{ display: 'block', width: `${Math.round(value * 100)}%` }} />
      </span>
      <span className="number">{value.toFixed(2)}</span>
    </span>
  );
}

/** A key combination, as `Ctrl+K`; `Mod` is the platform's own. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span aria-label={keysLabel(keys)} role="img">
      {keysLabel(keys)
        .split('+')
        .map((key) => (
          <kbd key={key} className={styles.key} style={{ marginRight: 2 }}>
            {key}
          </kbd>
        ))}
    </span>
  );
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function keysLabel(keys: string): string {
  return keys.replaceAll('Mod', isMac ? '⌘' : 'Ctrl');
}
