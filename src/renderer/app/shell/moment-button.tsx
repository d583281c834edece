import { UnstyledButton } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import type { ComponentPropsWithRef } from 'react';
import { useSession } from '../../api/session.tsx';
import { lazyComponent } from '../../ui/later.tsx';
import { OpenedLater } from '../../ui/opened-later.tsx';
import styles from './shell.module.css';

const fetchPopover = () => import('./moment-popover.tsx');
const MomentPopover = lazyComponent(async () => (await fetchPopover()).MomentPopover);

/** Shows in the title bar whether the workbench shows the present or the past. */
export function MomentButton({ className = '', ...props }: ComponentPropsWithRef<'button'>) {
  const isPast = useSession().moment !== null;
  const label = isPast ? 'Past' : 'Now';
  return (
    <UnstyledButton
      aria-haspopup="dialog"
      aria-expanded={false}
      {...props}
      aria-label={`Moment: ${label}`}
      data-past={isPast}
      className={`flex-row gap-6 ${styles.moment} ${className}`}
    >
      <IconHistory size={15} aria-hidden />
      <span className={styles.statusWords}>{label}</span>
    </UnstyledButton>
  );
}

/** The button, and on demand the choice of another moment. */
export function MomentSwitcher() {
  return (
    <OpenedLater button={<MomentButton />} fetch={fetchPopover}>
      <MomentPopover />
    </OpenedLater>
  );
}
