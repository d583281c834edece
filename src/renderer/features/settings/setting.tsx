import type { ReactNode } from 'react';
import styles from './settings.module.css';

interface SettingProps {
  title: string;
  hint: string;
  children: ReactNode;
}

/** One line of the settings: title, explanation, and control. */
export function Setting({ title, hint, children }: SettingProps) {
  return (
    <div className={`flex-row gap-24 ${styles.setting}`}>
      <div>
        <h3>{title}</h3>
        <p>{hint}</p>
      </div>
      <div className={`flex-row gap-6 ${styles.control}`}>{children}</div>
    </div>
  );
}
