/** Words on a tint, numbers as bars, shortcuts as key caps. */
import { IconEqual, IconMinus, IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import styles from './tags.module.css';

/** Meaning of a tag's colour. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'derived' | 'computed';

/** Shows a word on a tint. */
export function Tag({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`${styles.tag} ${tone === 'plain' ? '' : styles[tone]}`}>{children}</span>;
}

/** Shows a number from 0 to 1 as a bar and in digits. */
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
  /** Such as `Mod+K`; `Mod` is the platform's modifier. */
  keys: string;
  /** `plain` uses the surrounding colours, as on a button. */
  look?: 'plain';
}

/** Shows a shortcut as key caps. */
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

/** True on Apple platforms. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Returns a shortcut as text for the platform. */
export function keysLabel(keys: string): string {
  return keys.replaceAll('Mod', isMac ? '⌘' : 'Ctrl');
}

const looks = {
  gained: { word: 'gained', tone: 'good', icon: <IconPlus size={12} stroke={2.4} aria-hidden /> },
  lost: { word: 'lost', tone: 'bad', icon: <IconMinus size={12} stroke={2.4} aria-hidden /> },
  unchanged: { word: 'stays', tone: 'plain', icon: <IconEqual size={12} aria-hidden /> },
} as const;

/** Shows the change of a conclusion as a word with a sign. */
export function ChangeTag({ change }: { change: keyof typeof looks }) {
  const { word, tone, icon } = looks[change];
  return (
    <Tag tone={tone}>
      {icon}
      {word}
    </Tag>
  );
}
