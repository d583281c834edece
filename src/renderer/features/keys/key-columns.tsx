/** The columns of the list of keys. */
import { IconAlertTriangle, IconClockOff, IconPencil, IconTrash } from '@tabler/icons-react';
import type { KeyView } from '../../../engine/contract/authentication.ts';
import { expiryOf } from '../../api/key-text.ts';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatRelative, formatTime } from '../../ui/format.ts';
import { RowAction } from '../../ui/row-menu.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './keys.module.css';

type Restrictions = Pick<KeyView, 'databases' | 'tenants'>;

function namesInWords(names: readonly string[], one: string): string | null {
  if (names.length === 0) return null;
  return names.length === 1 ? `${one} ${names[0]}` : formatAmount(names.length, one);
}

/** What a key can access, such as `database shop, 2 tenants`; `everything` without restrictions. */
export function reachInWords({ databases, tenants }: Restrictions): string {
  const parts = [namesInWords(databases, 'database'), namesInWords(tenants, 'tenant')];
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? 'everything' : said.join(', ');
}

type KeyStanding = 'valid' | 'ending' | 'expired';

const standingWords: Readonly<Record<KeyStanding, string>> = {
  valid: 'in force',
  ending: 'ends soon',
  expired: 'has expired',
};

/** The status of a key. */
export function standingOf(key: KeyView, now: number): KeyStanding {
  const expiry = expiryOf(key, now);
  if (expiry === 'over') return 'expired';
  return expiry === 'soon' ? 'ending' : 'valid';
}

/** The keys with a word that contains `part`, ignoring case. */
export function keysWith(keys: readonly KeyView[], part: string, now: number): KeyView[] {
  const wanted = part.trim().toLowerCase();
  return keys.filter((key) =>
    [
      key.prefix,
      key.role,
      key.description ?? '',
      standingWords[standingOf(key, now)],
      ...key.databases,
      ...key.tenants,
    ].some((word) => word.toLowerCase().includes(wanted)),
  );
}

/**
 * Warnings before a key is revoked, beyond that it cannot be undone. `keys` are all keys the caller can see;
 * `isWhole`: the caller is unrestricted.
 */
export function revocationWarnings(
  key: KeyView,
  {
    keys,
    ownId,
    isWhole,
  }: { readonly keys: readonly KeyView[]; readonly ownId: string | null; readonly isWhole: boolean },
): string[] {
  const warnings: string[] = [];
  if (key.id === ownId) warnings.push('You are signed in with this key: you will be signed out.');
  const admins = keys.filter(({ role }) => role === 'admin');
  if (key.role === 'admin' && admins.length === 1)
    warnings.push(
      isWhole
        ? 'It is the last admin key: without it, the bootstrap is open again to anyone with the user name and password of the service.'
        : 'It is the last admin key that you can see.',
    );
  return warnings;
}

function Time({ time, none }: { time: number | null; none: string }) {
  if (time === null) return <span className="dim">{none}</span>;
  return (
    <span className="dim" title={formatTime(time)}>
      {formatRelative(time, Date.now())}
    </span>
  );
}

function Standing({ row }: { row: KeyView }) {
  const standing = standingOf(row, Date.now());
  const words = standingWords[standing];
  if (standing === 'valid') return <Tag tone="good">{words}</Tag>;
  return standing === 'ending' ? (
    <Tag tone="warn">
      <IconAlertTriangle size={11} aria-hidden /> {words}
    </Tag>
  ) : (
    <Tag tone="bad">
      <IconClockOff size={11} aria-hidden /> {words}
    </Tag>
  );
}

/** All restrictions of a key, one name per line. */
function restrictionsOf({ databases, tenants }: KeyView): string {
  return [...databases.map((name) => `database ${name}`), ...tenants.map((name) => `tenant ${name}`)].join(
    '\n',
  );
}

interface KeyActions {
  readonly ownId: string | null;
  readonly onChange: (row: KeyView) => void;
  readonly onRevoke: (row: KeyView) => void;
}

function describingColumns({ ownId }: KeyActions): Column<KeyView>[] {
  return [
    {
      id: 'key',
      title: 'Key',
      width: 190,
      cell: (row) => (
        <span className={`flex-row gap-8 ${styles.name}`}>
          <code className="mono">{row.prefix}…</code>
          {row.id === ownId && <Tag tone="computed">yours</Tag>}
        </span>
      ),
    },
    { id: 'role', title: 'Role', width: 76, cell: ({ role }) => role },
    {
      id: 'description',
      title: 'Description',
      width: 140,
      grow: 2,
      cell: ({ description }) => <span title={description ?? undefined}>{description}</span>,
    },
    {
      id: 'reach',
      title: 'Good for',
      width: 140,
      grow: 1,
      cell: (row) => (
        <span
          className={row.databases.length + row.tenants.length === 0 ? 'dim' : ''}
          title={restrictionsOf(row) || undefined}
        >
          {reachInWords(row)}
        </span>
      ),
    },
  ];
}

/** The columns of the list. The same actions work by key on the row: Enter changes it, Delete revokes it. */
export function keyColumns(actions: KeyActions): Column<KeyView>[] {
  const { onChange, onRevoke } = actions;
  return [
    ...describingColumns(actions),
    { id: 'status', title: 'Status', width: 108, cell: (row) => <Standing row={row} /> },
    {
      id: 'ends',
      title: 'Ends',
      width: 100,
      cell: ({ expiresAt }) => <Time time={expiresAt} none="never" />,
    },
    {
      id: 'used',
      title: 'Last used',
      width: 104,
      cell: ({ lastUsedAt }) => <Time time={lastUsedAt} none="never" />,
    },
    {
      id: 'created',
      title: 'Created',
      width: 104,
      cell: ({ createdAt }) => <Time time={createdAt} none="" />,
    },
    {
      id: 'actions',
      title: 'Actions',
      width: 80,
      holds: 'controls',
      cell: (row) => (
        <>
          <RowAction
            label={`Change ${row.prefix}`}
            icon={<IconPencil size={15} aria-hidden />}
            onClick={() => onChange(row)}
          />
          <RowAction
            label={`Revoke ${row.prefix}`}
            icon={<IconTrash size={15} aria-hidden />}
            onClick={() => onRevoke(row)}
          />
        </>
      ),
    },
  ];
}
