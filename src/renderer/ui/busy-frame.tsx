/** A result that stays while the next one is worked out: a thin line over it says that something runs. */
import type { ReactNode } from 'react';
import styles from './busy-frame.module.css';

interface BusyFrameProps {
  isBusy: boolean;
  /** Over the content, which fills what is left. */
  banner?: ReactNode;
  children: ReactNode;
}

export function BusyFrame({ isBusy, banner, children }: BusyFrameProps) {
  return (
    <div className={styles.frame} aria-busy={isBusy}>
      {banner}
      <div className={styles.content}>{children}</div>
    </div>
  );
}
