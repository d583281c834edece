import { UnstyledButton } from '@mantine/core';
import { IconAlertTriangle, IconChevronDown, IconUserCircle } from '@tabler/icons-react';
import { type ComponentPropsWithRef } from 'react';
import type { WhoAmI } from '../../../engine/contract/authentication.ts';
import { askToSignIn, useCredential } from '../../api/credential.ts';
import { expiryOf } from '../../api/key-text.ts';
import { useAuthenticationMode, useWhoAmI } from '../../api/queries.ts';
import { lazyComponent } from '../../ui/later.tsx';
import { OpenedLater } from '../../ui/opened-later.tsx';
import styles from './shell.module.css';

const fetchPopover = () => import('./who-popover.tsx');
const WhoPopover = lazyComponent(async () => (await fetchPopover()).WhoPopover);

/** Shows the role of who is signed in. */
export function WhoButton({
  who,
  className = '',
  ...props
}: ComponentPropsWithRef<'button'> & { who: WhoAmI }) {
  const isSoon = expiryOf(who, Date.now()) === 'soon';
  return (
    <UnstyledButton
      {...props}
      className={`flex-row gap-6 ${styles.who} ${className}`}
      aria-label={`Signed in as ${who.role}${isSoon ? ', the key ends soon' : ''}`}
    >
      {isSoon ? (
        <IconAlertTriangle size={16} stroke={1.6} aria-hidden className="text-warn" />
      ) : (
        <IconUserCircle size={16} stroke={1.6} aria-hidden />
      )}
      {who.role}
      <IconChevronDown size={13} aria-hidden className="dim" />
    </UnstyledButton>
  );
}

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
