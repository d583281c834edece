import { UnstyledButton } from '@mantine/core';
import { IconAlertTriangle, IconChevronDown, IconUserCircle } from '@tabler/icons-react';
import type { ComponentPropsWithRef } from 'react';
import type { WhoAmI } from '../../../engine/contract/authentication.ts';
import { expiryOf } from '../../api/key-text.ts';
import styles from './shell.module.css';

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
