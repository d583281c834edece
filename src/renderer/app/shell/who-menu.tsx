import { UnstyledButton } from '@mantine/core';
import { IconUserCircle } from '@tabler/icons-react';
import { askToSignIn, useCredential } from '../../api/credential.ts';
import { useAuthenticationMode, useWhoAmI } from '../../api/queries.ts';
import { lazyComponent } from '../../ui/later.tsx';
import { OpenedLater } from '../../ui/opened-later.tsx';
import styles from './shell.module.css';
import { WhoButton } from './who-button.tsx';

const fetchPopover = () => import('./who-popover.tsx');
const WhoPopover = lazyComponent(async () => (await fetchPopover()).WhoPopover);

/**
 * Shows in the title bar who is signed in: role, reach, expiry, sign-out. Shows nothing if the service requires no
 * key.
 */
export function WhoMenu() {
  const { key, refusal } = useCredential();
  const mode = useAuthenticationMode();
  const who = useWhoAmI().data;
  if (mode === undefined || mode === 'disabled') return null;
  if (key === null || refusal !== null || who === undefined)
    return (
      <UnstyledButton className={`flex-row gap-6 ${styles.who}`} onClick={askToSignIn}>
        <IconUserCircle size={16} stroke={1.6} aria-hidden />
        Sign in
      </UnstyledButton>
    );
  return (
    <OpenedLater
      button={<WhoButton who={who} aria-haspopup="dialog" aria-expanded={false} />}
      fetch={fetchPopover}
    >
      <WhoPopover who={who} />
    </OpenedLater>
  );
}
