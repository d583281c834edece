import { UnstyledButton } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import type { ComponentPropsWithRef } from 'react';
import { useSession } from '../../api/session.tsx';
import styles from './shell.module.css';

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
