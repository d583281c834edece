/** In place of the keys where there are none to be seen: because nobody is asked for one, or this is not an admin. */
import { IconKeyOff, IconLock, IconLockOpen } from '@tabler/icons-react';
import type { AuthenticationMode, KeyRole } from '../../../engine/contract/authentication.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import styles from './keys.module.css';

const big = { size: 30, stroke: 1.3, 'aria-hidden': true } as const;

const settings = 'AUTH_ENABLED=true\nSERVICE_ADMIN_PASS=a password of your own';

function HowTo({ after }: { after: string }) {
  return (
    <div className={styles.how}>
      <p>To have keys with roles, start the service with these in its environment:</p>
      <div className={styles.settings}>
        <pre className="mono" tabIndex={0} aria-label="Settings that turn keys on">
          {settings}
        </pre>
        <CopyButton text={settings} label="Copy the settings" />
      </div>
      <p>{after}</p>
    </div>
  );
}

/** `rbac` is where there are keys. */
export function KeysAreOff({ mode }: { mode: Exclude<AuthenticationMode, 'rbac'> }) {
  return mode === 'disabled' ? (
    <div>
      <EmptyState icon={<IconLockOpen {...big} />} title="Authentication is off">
        Whoever reaches this service may do everything: nobody is asked for a key, and there are none.
      </EmptyState>
      <HowTo after="The workbench then asks for the user name (SERVICE_ADMIN_USER, admin unless set) and that password, and makes the first admin key." />
    </div>
  ) : (
    <div>
      <EmptyState icon={<IconLock {...big} />} title="There is one key for everything">
        The service was started with API_KEY: whoever has that key is an admin. It is changed where the
        service is started.
      </EmptyState>
      <HowTo after="API_KEY stays good beside them, as an admin's, until you leave it out." />
    </div>
  );
}

export function NotAnAdmin({ role }: { role: KeyRole }) {
  return (
    <EmptyState icon={<IconKeyOff {...big} />} title="Keys are seen to by admins">
      You are signed in as {role}. Sign in with an admin's key to see keys, make and revoke them.
    </EmptyState>
  );
}
