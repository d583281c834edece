/**
 * The three lists of the Admin view: the databases, the tenants of one database, the scopes of one tenant.
 */
import { Button } from '@mantine/core';
import {
  IconDatabase,
  IconEraser,
  IconExternalLink,
  IconGauge,
  IconLogin2,
  IconPlus,
  IconStack2,
  IconTrash,
  IconUsers,
} from '@tabler/icons-react';
import type { KeyboardEvent, ReactNode } from 'react';
import type { DatabaseList, TenantList } from '../../../engine/contract/administration.ts';
import type { OperationName } from '../../../engine/contract/operations.ts';
import type { ScopeList } from '../../../engine/contract/scopes.ts';
import { useDatabases, useScopesOf, useTenants, useWhoAmI } from '../../api/queries.ts';
import { type ActionTarget, reasonAgainst } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { defaultName, type Space } from '../../api/space.ts';
import type { Column } from '../../ui/data-grid.tsx';
import { formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { PaneTitle } from '../../ui/pane.tsx';
import { RowAction } from '../../ui/row-menu.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { Tag } from '../../ui/tags.tsx';
import { type AdminSearch, scopesAddress } from './admin-search.ts';
import styles from './admin.module.css';
import type { Erasure } from './erasing.ts';
import { NamedList } from './named-list.tsx';
import type { QuotaTarget } from './quota-form.ts';

/** How often the lists are reread while visible, in milliseconds: other spaces send no change events. */
const listsEveryMs = 5_000;

type Database = DatabaseList['databases'][number];
type Tenant = TenantList['tenants'][number];
type Scope = ScopeList['scopes'][number];

/** What every list of the Admin view takes. */
export interface ListProps {
  search: AdminSearch;
  onSearch: (part: Partial<AdminSearch>) => void;
  goTo: (space: Space) => void;
  /** Null if administration is not offered. */
  administer: {
    readonly onErase: (erasure: Erasure) => void;
    readonly onQuota: (target: QuotaTarget) => void;
    readonly onCreate: () => void;
  } | null;
}

const bigIcon = { size: 30, stroke: 1.3, 'aria-hidden': true } as const;

/** Tells whether an operation is not known to be refused. */
function useMay(): (name: OperationName, place: ActionTarget) => boolean {
  const who = useWhoAmI().data;
  return (name, place) => who === undefined || reasonAgainst(who, name, place) === null;
}

function onRowKey<Row>(actions: RowActions<Row>): (event: KeyboardEvent, row: Row) => void {
  return (event, row) => {
    const key = rowKeyOf(event, 'places');
    const act = key === null ? null : actions[key](row);
    if (act === null) return;
    // Keeps the key from being typed into the dialog it opens.
    event.preventDefault();
    act();
  };
}

interface CreateButtonProps {
  isMain?: boolean;
  children: ReactNode;
  onClick: () => void;
}

function CreateButton({ isMain = false, children, onClick }: CreateButtonProps) {
  return (
    <Button
      variant={isMain ? 'filled' : 'default'}
      leftSection={<IconPlus size={14} aria-hidden />}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

/** The list of databases. */
export function DatabaseRows({ search, onSearch, goTo, administer, chosen }: ListProps & { chosen: string }) {
  const { space } = useSession();
  const asked = useDatabases({ everyMs: listsEveryMs });
  const may = useMay();
  const erase = (how: Erasure['how'], row: Database) =>
    administer === null ||
    !may(how === 'nuke' ? 'nukeDatabase' : 'deleteDatabase', { database: row.name, tenant: null })
      ? null
      : () =>
          administer.onErase({
            how,
            target: {
              kind: 'database',
              name: row.name,
              tenants: row.tenants,
              facts: row.facts,
              rules: row.rules,
            },
          });
  const isHere = (row: Database) => row.name === space.database;
  const actions: RowActions<Database> = {
    enter: (row) =>
      isHere(row) ? null : () => goTo({ ...space, database: row.name, scope: { kind: 'all' } }),
    nuke: (row) => erase('nuke', row),
    quota: ({ name }) =>
      administer === null || !may('setDatabaseQuota', { database: name, tenant: null })
        ? null
        : () => administer.onQuota({ database: name, tenant: null }),
    // The default database cannot be deleted.
    remove: (row) => (row.name === defaultName ? null : erase('delete', row)),
  };
  const columns: Column<Database>[] = [
    nameColumn('Database', isHere),
    createdColumn(),
    countColumn('tenants', 'Tenants', (row) => row.tenants),
    countColumn('facts', 'Facts', (row) => row.facts),
    countColumn('rules', 'Rules', (row) => row.rules),
    actionsColumn(actions),
  ];
  return (
    <NamedList
      label="Databases"
      title={<PaneTitle isWhole>Databases</PaneTitle>}
      one="database"
      asked={asked}
      columns={columns}
      selected={chosen}
      onSelect={({ name }) => onSearch({ of: name, tenantOf: undefined, tenants: undefined })}
      onOpen={(row) => actions.enter(row)?.()}
      onKey={onRowKey(actions)}
      filter={{ part: search.databases, onPart: (part) => onSearch({ databases: part }) }}
      actions={
        administer !== null && (
          <CreateButton isMain onClick={administer.onCreate}>
            New database…
          </CreateButton>
        )
      }
      empty={
        <EmptyState icon={<IconDatabase {...bigIcon} />} title="No databases">
          This key reaches no database.
        </EmptyState>
      }
    />
  );
}

interface TenantRowsProps extends ListProps {
  database: string;
  chosen: string | null;
}

/** The list of the tenants of a database. */
export function TenantRows({ search, onSearch, goTo, administer, database, chosen }: TenantRowsProps) {
  const { space } = useSession();
  const asked = useTenants(database, { everyMs: listsEveryMs });
  const may = useMay();
  const erase = (how: Erasure['how'], { name, facts }: Tenant) =>
    administer === null || !may(how === 'nuke' ? 'nukeTenant' : 'deleteTenant', { database, tenant: name })
      ? null
      : () => administer.onErase({ how, target: { kind: 'tenant', database, name, facts } });
  const isHere = (row: Tenant) => database === space.database && row.name === space.tenant;
  const actions: RowActions<Tenant> = {
    enter: (row) => (isHere(row) ? null : () => goTo({ database, tenant: row.name, scope: { kind: 'all' } })),
    nuke: (row) => erase('nuke', row),
    quota: ({ name }) =>
      administer === null || !may('setTenantQuota', { database, tenant: name })
        ? null
        : () => administer.onQuota({ database, tenant: name }),
    remove: (row) => erase('delete', row),
  };
  const columns: Column<Tenant>[] = [
    nameColumn('Tenant', isHere),
    createdColumn(),
    countColumn('facts', 'Facts', (row) => row.facts),
    actionsColumn(actions),
  ];
  return (
    <NamedList
      label="Tenants"
      title={
        <h2 className={`pane-title truncate ${styles.title}`}>
          Tenants <span className="dim">of {database}</span>
        </h2>
      }
      one="tenant"
      asked={asked}
      columns={columns}
      selected={chosen ?? undefined}
      onSelect={({ name }) => onSearch({ tenantOf: name })}
      onOpen={(row) => actions.enter(row)?.()}
      onKey={onRowKey(actions)}
      filter={{ part: search.tenants, onPart: (part) => onSearch({ tenants: part }) }}
      actions={administer !== null && <CreateButton onClick={administer.onCreate}>New tenant…</CreateButton>}
      empty={
        <EmptyState icon={<IconUsers {...bigIcon} />} title="No tenants yet">
          A tenant is created by its first fact.
        </EmptyState>
      }
    />
  );
}

const scopeColumns = (where: Omit<Space, 'scope'>): Column<Scope>[] => [
  {
    id: 'name',
    title: 'Scope',
    width: 180,
    most: 320,
    cell: ({ name }) => (
      <a
        className={styles.link}
        tabIndex={-1}
        title={`${name}: open in Scopes`}
        href={scopesAddress(where, name)}
      >
        {name}
      </a>
    ),
  },
  {
    id: 'forked',
    title: 'Forked from',
    width: 140,
    cell: ({ forkedFrom }) => (forkedFrom === null ? <span className="dim">none</span> : forkedFrom),
  },
  createdColumn(),
  countColumn('facts', 'Facts', (row) => row.facts),
  countColumn('rules', 'Rules', (row) => row.rules),
];

/** The list of the scopes of a tenant; Enter on a row, or its name, opens the Scopes view. */
export function ScopeRows({ database, tenant }: { database: string; tenant: string }) {
  const where = { database, tenant };
  const asked = useScopesOf(where, { everyMs: listsEveryMs });
  const address = scopesAddress(where);
  return (
    <NamedList
      label="Scopes"
      title={
        <h2 className={`pane-title truncate ${styles.title}`}>
          Scopes <span className="dim">of {tenant}</span>
        </h2>
      }
      one="scope"
      asked={asked}
      columns={scopeColumns(where)}
      onSelect={() => undefined}
      onOpen={({ name }) => window.location.assign(scopesAddress(where, name))}
      actions={
        <Button
          component="a"
          variant="default"
          href={address}
          leftSection={<IconExternalLink size={14} aria-hidden />}
        >
          Open in Scopes
        </Button>
      }
      empty={
        <EmptyState icon={<IconStack2 {...bigIcon} />} title="No scopes">
          All facts of this tenant are without a scope.
        </EmptyState>
      }
    />
  );
}

interface Named {
  readonly name: string;
}

/** The name, with a tag on the one the workbench is in. */
function nameColumn<Row extends Named>(title: string, isHere: (row: Row) => boolean): Column<Row> {
  return {
    id: 'name',
    title,
    width: 180,
    most: 320,
    cell: (row) => (
      <span className={`flex-row gap-8 ${styles.name}`}>
        <span className="truncate" title={row.name}>
          {row.name}
        </span>
        {isHere(row) && <Tag tone="good">in use</Tag>}
      </span>
    ),
  };
}

function countColumn<Row>(id: string, title: string, countOf: (row: Row) => number): Column<Row> {
  return {
    id,
    title,
    width: 90,
    align: 'end',
    cell: (row) => <span className="number">{formatCount(countOf(row))}</span>,
  };
}

function createdColumn<Row extends { readonly createdAt: number }>(): Column<Row> {
  return {
    id: 'created',
    title: 'Created',
    width: 110,
    cell: ({ createdAt }) => (
      <span className="dim" title={formatTime(createdAt)}>
        {formatRelative(createdAt, Date.now())}
      </span>
    ),
  };
}

/** The actions of a row; null if not possible, which hides the button. */
interface RowActions<Row> {
  readonly enter: (row: Row) => (() => void) | null;
  readonly nuke: (row: Row) => (() => void) | null;
  readonly quota: (row: Row) => (() => void) | null;
  readonly remove: (row: Row) => (() => void) | null;
}

/** The same keys work on the row: Enter uses it, N empties it, Delete deletes it. */
function actionsColumn<Row extends Named>({ enter, nuke, quota, remove }: RowActions<Row>): Column<Row> {
  const size = { size: 15, 'aria-hidden': true } as const;
  return {
    id: 'actions',
    title: 'Actions',
    width: 136,
    holds: 'controls',
    cell: (row) => {
      const actions = [
        { act: enter(row), label: `Use ${row.name}`, icon: <IconLogin2 {...size} /> },
        { act: quota(row), label: `Quota of ${row.name}`, icon: <IconGauge {...size} /> },
        { act: nuke(row), label: `Empty ${row.name}`, icon: <IconEraser {...size} /> },
        { act: remove(row), label: `Delete ${row.name}`, icon: <IconTrash {...size} /> },
      ];
      return actions.map(({ act, label, icon }) =>
        act === null ? (
          <span key={label} className={styles.noAction} />
        ) : (
          <RowAction key={label} label={label} icon={icon} onClick={act} />
        ),
      );
    },
  };
}
