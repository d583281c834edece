/** Who is signed in: role, reach, expiry, sign-out. */
import { Button, Popover } from '@mantine/core';
import { IconAlertTriangle, IconKey } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import type { WhoAmI } from '../../../engine/contract/authentication.ts';
import { expiryOf, roleWords } from '../../api/key-text.ts';
import { useSignOut } from '../../api/session.tsx';
import { formatRelative, formatTime } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import styles from './shell.module.css';
import { useOpenAtOnce } from '../../ui/use-open-at-once.ts';
import { WhoButton } from './who-button.tsx';

function Names({ names }: { names: readonly string[] }) {
  if (names.length === 0) return 'all';
  return (
    <span className={styles.names}>
      {names.map((name) => (
        <Tag key={name}>{name}</Tag>
      ))}
    </span>
  );
}

function End({ who }: { who: WhoAmI }) {
  const { expiresAt } = who;
  if (expiresAt === null) return 'never';
  const isSoon = expiryOf(who, Date.now()) === 'soon';
  return (
    <>
      <span title={formatTime(expiresAt)}>{formatRelative(expiresAt, Date.now())}</span>
      {isSoon && (
        <Tag tone="warn">
          <IconAlertTriangle size={11} aria-hidden /> soon
        </Tag>
      )}
    </>
  );
}

function Who({ who, onDone }: { who: WhoAmI; onDone: () => void }) {
  const signOut = useSignOut();
  const { role, prefix, description, databases, tenants, mode } = who;
  return (
    <>
      <h2 className={styles.whoTitle}>
        Signed in as {role} {prefix !== null && <code className="mono">{prefix}…</code>}
      </h2>
      <p className={styles.whoHint}>
        {mode === 'legacy' || who.id === 'api-key'
          ? 'With API_KEY, the key that the service was started with.'
          : roleWords[role]}
      </p>
      <dl className={styles.facts}>
        {description !== null && (
          <>
            <dt>Description</dt>
            <dd>{description}</dd>
          </>
        )}
        <dt>Databases</dt>
        <dd>
          <Names names={databases} />
        </dd>
        <dt>Tenants</dt>
        <dd>
          <Names names={tenants} />
        </dd>
        <dt>Ends</dt>
        <dd>
          <End who={who} />
        </dd>
      </dl>
      <div className={`to-end flex gap-8 ${styles.whoActions}`}>
        {role === 'admin' && mode === 'rbac' && (
          <Button
            variant="default"
            leftSection={<IconKey size={14} aria-hidden />}
            renderRoot={(props) => <Link to="/admin/keys" {...props} />}
            onClick={onDone}
          >
            Keys
          </Button>
        )}
        <Button variant="default" onClick={signOut}>
          Sign out
        </Button>
      </div>
    </>
  );
}

/** Shows who is signed in, open at first, below the role. */
export function WhoPopover({ who }: { who: WhoAmI }) {
  const target = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useOpenAtOnce(target);
  return (
    <Popover position="bottom-end" width={340} trapFocus returnFocus opened={isOpen} onChange={setIsOpen}>
      <Popover.Target>
        <WhoButton ref={target} who={who} onClick={() => setIsOpen(!isOpen)} />
      </Popover.Target>
      <Popover.Dropdown aria-label="Who is signed in">
        <Who who={who} onDone={() => setIsOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}
