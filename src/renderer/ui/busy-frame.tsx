import type { ReactNode } from 'react';
import styles from './busy-frame.module.css';

interface BusyFrameProps {
  isBusy: boolean;
  /** Shown above the content, which fills the rest. */
  banner?: ReactNode;
  children: ReactNode;
}

/** Shows a result with a thin progress line while the next one is computed. */
export function BusyFrame({ isBusy, banner, children }: BusyFrameProps) {
  return (
    <div className={`flex-column full-height ${styles.frame}`} aria-busy={isBusy}>
      {banner}
      <div className="rest-height">{children}</div>
    </div>
  );
}
