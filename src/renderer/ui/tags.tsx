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

interface KeysProps {
  /** As `Mod+K`; `Mod` is the platform's own. */
  keys: string;
  /** `plain`: in the colours around it, as on a button. */
  look?: 'plain';
}

export function KeyCaps({ keys, look }: KeysProps) {
  const parts = keys === '+' ? ['+'] : keysLabel(keys).split('+');
  return (
    <span aria-hidden={look === 'plain'} className={styles.keys}>
      {parts.map((key) => (
        <kbd key={key} className={look === 'plain' ? styles.plainKey : styles.key}>
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
