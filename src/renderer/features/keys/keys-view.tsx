/**
 * The keys of the service: who may do what, where and until when.
 *
 * The address holds the filter and the key being changed. A key's secret is shown once, by the dialog that
 * makes it; it is never part of an address nor stored here.
 */
import { Button, TextInput } from '@mantine/core';
import { IconKey, IconKeyOff, IconLock, IconLockOpen, IconPlus, IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import type { AuthenticationMode, KeyRole, KeyView } from '../../../engine/contract/authentication.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useAuthentication, useWhoAmI } from '../../api/queries.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { Banner, EmptyState, Loading, PaneProblem } from '../../ui/notices.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { ChangeKeyDialog, MakeKeyDialog, RevokeKeyDialog } from './key-dialogs.tsx';
import { keyColumns, keysWith } from './key-columns.tsx';
import type { KeysSearch } from './keys-search.ts';
import styles from './keys.module.css';
import { useKeys } from './key-form.ts';

interface KeysViewProps {
  search: KeysSearch;
  onSearch: (search: KeysSearch) => void;
}

interface RowsProps {
  rows: readonly KeyView[];
  ownId: string | null;
  onChange: (row: KeyView) => void;
  onRevoke: (row: KeyView) => void;
}

function Rows({ rows, ownId, onChange, onRevoke }: RowsProps) {
  const [selected, setSelected] = useState<string | null>(null);
  const columns = useMemo(() => keyColumns({ ownId, onChange, onRevoke }), [ownId, onChange, onRevoke]);
  function onKey(event: KeyboardEvent, row: KeyView): void {
    if (rowKeyOf(event, 'accessKeys') !== 'revoke') return;
    event.preventDefault();
    onRevoke(row);
  }
  return (
    <ListGrid
      label="Keys"
      columns={columns}
      rows={rows}
      isSelected={({ id }) => id === selected}
      onSelect={({ id }) => setSelected(id)}
      onOpen={onChange}
      onKey={onKey}
    />
  );
}

function Content({ search, asked, ...actions }: Omit<RowsProps, 'rows'> & Shown) {
  const { data, error } = asked;
  const rows = useMemo(() => keysWith(data ?? [], search.q ?? '', Date.now()), [data, search.q]);
  if (data === undefined)
    return error === null ? (
      <Loading />
    ) : (
      <PaneProblem failure={apiFailureOf(error)} onRetry={() => void asked.refetch()} />
    );
  if (data.length === 0)
    return (
      <EmptyState icon={<IconKey size={30} stroke={1.3} aria-hidden />} title="No keys yet">
        Make one for each agent, service and person, with no more rights than it needs.
      </EmptyState>
    );
  if (rows.length === 0) return <EmptyState title="No key matches">No key contains this text.</EmptyState>;
  return <Rows rows={rows} {...actions} />;
}

interface Shown {
  search: KeysSearch;
  asked: ReturnType<typeof useKeys>;
}

function Actions({ search, onSearch, asked }: KeysViewProps & Shown) {
  const total = asked.data?.length;
  const found = asked.data === undefined ? 0 : keysWith(asked.data, search.q ?? '', Date.now()).length;
  return (
    <>
      <span className="dim number" role="status">
        {total === undefined
          ? ''
          : found === total
            ? formatAmount(total, 'key')
            : `${formatCount(found)} of ${formatAmount(total, 'key')}`}
      </span>
      <TextInput
        className={styles.filter}
        aria-label="Filter keys"
        placeholder="Filter"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={search.q ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onSearch({ ...search, q: value === '' ? undefined : value })
        }
      />
      <Button
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => onSearch({ ...search, make: 'true' })}
      >
        New key…
      </Button>
    </>
  );
}

function Notices({ asked, isByApiKey }: Pick<Shown, 'asked'> & { isByApiKey: boolean }) {
  return (
    <>
      {asked.data !== undefined && asked.error !== null && (
        <Banner
          action={
            <Button size="compact-xs" variant="default" onClick={() => void asked.refetch()}>
              Try again
            </Button>
          }
        >
          The list could not be refreshed: {apiFailureOf(asked.error).detail}
        </Banner>
      )}
      {isByApiKey && (
        <Banner>
          You are signed in with API_KEY. It is an admin key too, is not listed here, and is set where the
          service is started.
        </Banner>
      )}
    </>
  );
}

interface DialogsProps extends KeysViewProps {
  keys: readonly KeyView[] | undefined;
  revoked: KeyView | null;
  onKept: () => void;
  focusAfter: () => HTMLElement | null;
}

function Dialogs({ search, onSearch, keys = [], revoked, onKept, focusAfter }: DialogsProps) {
  const changed = keys.find(({ id }) => id === search.key);
  return (
    <>
      {search.make === 'true' && <MakeKeyDialog onClose={() => onSearch({ ...search, make: undefined })} />}
      {changed !== undefined && (
        <ChangeKeyDialog
          key={changed.id}
          stored={changed}
          onClose={() => onSearch({ ...search, key: undefined })}
        />
      )}
      {revoked !== null && (
        <RevokeKeyDialog stored={revoked} keys={keys} onClose={onKept} focusAfter={focusAfter} />
      )}
    </>
  );
}

function KeyList({ search, onSearch, ownId }: KeysViewProps & { ownId: string | null }) {
  const asked = useKeys(true);
  const [revoked, setRevoked] = useState<KeyView | null>(null);
  const list = useRef<HTMLDivElement>(null);
  return (
    <div className="flex-column full-height" ref={list}>
      <Notices asked={asked} isByApiKey={ownId === 'api-key'} />
      <div className="rest-height">
        <PaneFrame
          scroll="own"
          label="Keys"
          title={<PaneTitle isWhole>Keys</PaneTitle>}
          actions={<Actions search={search} onSearch={onSearch} asked={asked} />}
        >
          <Content
            search={search}
            asked={asked}
            ownId={ownId}
            onChange={({ id }) => onSearch({ ...search, key: id })}
            onRevoke={setRevoked}
          />
        </PaneFrame>
      </div>
      <Dialogs
        search={search}
        onSearch={onSearch}
        keys={asked.data}
        revoked={revoked}
        onKept={() => setRevoked(null)}
        focusAfter={() => list.current?.querySelector<HTMLElement>('[role="grid"]') ?? null}
      />
    </div>
  );
}

/** The Keys view; explains why if there is no list to show. */
export function KeysView(props: KeysViewProps) {
  const authentication = useAuthentication();
  const who = useWhoAmI();
  const mode = authentication.data?.mode;
  if (mode === 'rbac' && who.data?.role === 'admin') return <KeyList {...props} ownId={who.data.id} />;
  const error = authentication.error ?? who.error;
  const title = <PaneTitle isWhole>Keys</PaneTitle>;
  return (
    <PaneFrame label="Keys" title={title}>
      {mode !== undefined && mode !== 'rbac' ? (
        <KeysAreOff mode={mode} />
      ) : mode === 'rbac' && who.data !== undefined ? (
        <NotAnAdmin role={who.data.role} />
      ) : error !== null ? (
        <PaneProblem
          failure={apiFailureOf(error)}
          onRetry={() => {
            void authentication.refetch();
            void who.refetch();
          }}
        />
      ) : (
        <Loading />
      )}
    </PaneFrame>
  );
}

const big = { size: 30, stroke: 1.3, 'aria-hidden': true } as const;

const settings = 'AUTH_ENABLED=true\nSERVICE_ADMIN_PASS=a password of your own';

function HowTo({ after }: { after: string }) {
  return (
    <div className={`flex-column gap-8 flat-text ${styles.how}`}>
      <p>To have keys with roles, start the service with these in its environment:</p>
      <div className={`boxed gap-8 align-start flex padded-8 ${styles.settings}`}>
        <pre className="mono" tabIndex={0} aria-label="Settings that turn keys on">
          {settings}
        </pre>
        <CopyButton text={settings} label="Copy the settings" />
      </div>
      <p>{after}</p>
    </div>
  );
}

/** Explains how to turn on keys with roles; with `rbac` they are on. */
/** `rbac` is where there are keys. */
function KeysAreOff({ mode }: { mode: Exclude<AuthenticationMode, 'rbac'> }) {
  return mode === 'disabled' ? (
    <div>
      <EmptyState icon={<IconLockOpen {...big} />} title="Authentication is off">
        Anyone who can reach this service may do everything: it requires no key, and there are none.
      </EmptyState>
      <HowTo after="The workbench then asks for the user name (SERVICE_ADMIN_USER, admin unless set) and that password, and makes the first admin key." />
    </div>
  ) : (
    <div>
      <EmptyState icon={<IconLock {...big} />} title="There is one key for everything">
        The service was started with API_KEY: anyone with that key is an admin. Change it where the service is
        started.
      </EmptyState>
      <HowTo after="API_KEY remains valid beside them, as an admin key, until you remove it." />
    </div>
  );
}

/** Shown to callers who may not see keys. */
function NotAnAdmin({ role }: { role: KeyRole }) {
  return (
    <EmptyState icon={<IconKeyOff {...big} />} title="Admins manage keys">
      You are signed in as {role}. Sign in with an admin's key to see keys, make and revoke them.
    </EmptyState>
  );
}
